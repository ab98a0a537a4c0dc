//! `strata_lib_true_positions`: where a mask holds. The threads count the true elements of their pieces first, which says where the positions
//! of each piece go.

use std::iter::zip;
use std::slice::from_raw_parts_mut;

use super::array::Array;
use super::linalg::matrix::with_vectors;
use super::linalg::product::Rows;
use crate::abi::StrataCall;
use crate::pool;

/// Elements of a piece: some microseconds, and few enough counts to add up on one thread.
const PIECE: usize = 1 << 14;

/// The positions of the first `k` elements of each line of `n` that are true, then -1.
///
/// # Safety
/// `mask` holds `batch * n` bytes, `positions` has room for `batch * k` integers of 64 bits and does not overlap it.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_true_positions(
    _call: *mut StrataCall,
    _dtype: i32,
    mask: Array,
    positions: Array,
    batch: i64,
    n: i64,
    k: i64,
    _options: i32,
) {
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    for line in 0..size(batch) {
        // SAFETY: the caller's.
        find(unsafe { mask.item(line, size(n)) }, unsafe { positions.item_mut(line, size(k)) });
    }
}

fn find(mask: &[u8], positions: &mut [i64]) {
    let pieces: Vec<&[u8]> = mask.chunks(PIECE).collect();
    let mut ends = vec![0; pieces.len()];
    by_pieces(&mut ends, |piece, count| {
        *count = with_vectors(
            #[inline(always)]
            || pieces[piece].iter().filter(|truth| **truth != 0).count(),
        )
    });
    let mut end = 0;
    for count in &mut ends {
        end += *count;
        *count = end;
    }
    let (found, rest) = positions.split_at_mut(end.min(positions.len()));
    rest.fill(-1);
    let mut parts = Vec::with_capacity(pieces.len());
    let (mut left, mut begin) = (found, 0);
    for end in ends {
        let (part, after) = left.split_at_mut((end - begin).min(left.len()));
        parts.push(part);
        (left, begin) = (after, end);
    }
    by_pieces(&mut parts, |piece, part| write(pieces[piece], (piece * PIECE) as i64, part));
}

/// Calls `f` with the number of each piece and what is its own, by all threads where there are many.
fn by_pieces<T: Send>(own: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    let count = own.len();
    let own = &Rows(own.as_mut_ptr(), count);
    pool::global().each(count as i64, 2, |from, to| {
        // SAFETY: each piece is one thread's.
        let mine = unsafe { from_raw_parts_mut(own.0.add(from as usize), (to - from) as usize) };
        zip(from as usize.., mine).for_each(|(piece, own)| f(piece, own));
    });
}

/// Writes the positions of as many true elements as there is room for, counted from `begin`.
fn write(mask: &[u8], mut begin: i64, positions: &mut [i64]) {
    /// Elements that are looked at together, as one integer.
    const WORD: usize = size_of::<u64>();
    let (words, rest) = mask.as_chunks::<WORD>();
    let mut at = 0;
    for word in words {
        if u64::from_ne_bytes(*word) != 0 {
            if let Some(room) = positions.get_mut(at..).and_then(|left| left.first_chunk_mut::<WORD>()) {
                // Each is written, and stays if it is true: nothing is to be predicted.
                let mut count = 0;
                for (k, truth) in word.iter().enumerate() {
                    room[count % WORD] = begin + k as i64;
                    count += usize::from(*truth != 0);
                }
                at += count;
            } else {
                at += write_last(word, begin, &mut positions[at..]);
            }
        }
        begin += WORD as i64;
    }
    write_last(rest, begin, &mut positions[at..]);
}

/// The same where each element may be the last one that there is room for; how many were written.
fn write_last(mask: &[u8], begin: i64, positions: &mut [i64]) -> usize {
    let found = zip(begin.., mask).filter(|(_, truth)| **truth != 0);
    zip(found, positions).map(|((position, _), to)| *to = position).count()
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn positions_are_those_of_the_definition() {
        for n in [0, 1, 7, 8, 63, 64, 1000, 3 * PIECE + 5, 9 * PIECE] {
            for every in [1, 2, 3, 17, 40_000, usize::MAX] {
                let mut mask: Vec<u8> = (0..n).map(|at| u8::from((at * 7 + at / 5) % every == 0)).collect();
                let wanted: Vec<i64> = (0..n).filter(|at| mask[*at] != 0).map(|at| at as i64).collect();
                for k in [wanted.len(), wanted.len() / 2, wanted.len() + 3, 0] {
                    let mut found = vec![7; k];
                    let arrays = (Array::over(mask.as_mut_ptr().cast()), Array::over(found.as_mut_ptr().cast()));
                    // SAFETY: the arrays have these sizes.
                    unsafe { strata_lib_true_positions(null_mut(), 0, arrays.0, arrays.1, 1, n as i64, k as i64, 0) };
                    let padded: Vec<i64> = wanted.iter().copied().chain(std::iter::repeat(-1)).take(k).collect();
                    assert_eq!(found, padded, "{n} elements, each {every}th, {k} asked for");
                }
            }
        }
    }
}
