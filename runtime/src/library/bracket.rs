//! Selection from a long list: a sample says between which entries the wanted places are, and one pass on all threads takes what lies there.
//! See R. Floyd and R. Rivest, Expected time bounds for selection.

use std::sync::{Mutex, PoisonError};

use crate::pool;

/// Entries of the sample, spread evenly. Sorting it takes a fraction of a pass over [`LONG`] entries.
const SAMPLE: usize = 512;

/// How far, in entries of the sample, a bound lies beyond the wanted place: some three standard deviations of where the place may be in it, for
/// which half the root of its size is one.
const MARGIN: usize = 36;

/// A list that is worth several threads.
pub(super) const LONG: usize = 1 << 13;

/// Entries that a thread looks at at a time: some ten microseconds.
const PIECE: i64 = 1 << 13;

/// The entries of a part of the order of `n` different entries that holds the places from `first` to `last`, unsorted, and how many are below
/// it; nothing where the sample does not say where they are, or that is most of them.
pub(super) fn bracket<E: Copy + Ord + Send + Sync>(
    n: usize,
    entry: impl Fn(usize) -> E + Sync,
    (first, last): (usize, usize),
) -> Option<(usize, Vec<E>)> {
    if n < LONG || last - first > n / 8 {
        return None;
    }
    let mut sample: Vec<E> = (0..SAMPLE).map(|k| entry(k * n / SAMPLE)).collect();
    sample.sort_unstable();
    let low = (first * SAMPLE / n).checked_sub(MARGIN).map(|k| sample[k]);
    let high = sample.get(last * SAMPLE / n + MARGIN).copied();
    let found = Mutex::new((0, Vec::new()));
    pool::global().each(n as i64, PIECE, |begin, end| {
        let (mut below, mut between) = (0, Vec::new());
        for at in begin as usize..end as usize {
            let entry = entry(at);
            let (is_below, is_above) = (low.is_some_and(|low| entry < low), high.is_some_and(|high| entry > high));
            below += usize::from(is_below);
            if !is_below && !is_above {
                between.push(entry);
            }
        }
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.0 += below;
        found.1.append(&mut between);
    });
    let (below, between) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    (below <= first && last < below + between.len()).then_some((below, between))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without an order, each once.
    fn entry(at: usize, n: usize) -> usize {
        at * 7_919 % n
    }

    #[test]
    fn the_part_holds_the_places() {
        let n = 50_021;
        for (first, last) in [(0, 0), (25_000, 25_001), (n - 1, n - 1), (n - 700, n - 3), (1, 4000)] {
            let (below, mut part) = bracket(n, |at| entry(at, n), (first, last)).unwrap();
            part.sort_unstable();
            assert!(below <= first && part.len() < n / 2);
            assert_eq!((part[first - below], part[last - below]), (first, last));
        }
    }

    #[test]
    fn what_a_sample_does_not_show_is_not_guessed() {
        // Every entry of the sample is small, and the others are in the way of none.
        let n = 1 << 16;
        let hidden = |at: usize| if at.is_multiple_of(n / SAMPLE) { at } else { at + n };
        assert!(bracket(n, hidden, (n / 2, n / 2)).is_none_or(|(below, part)| below <= n / 2 && n / 2 < below + part.len()));
        assert!(bracket(100, |at| at, (50, 50)).is_none() && bracket(n, |at| at, (0, n - 1)).is_none());
    }
}
