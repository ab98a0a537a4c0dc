//! `strata_lib_sort` and `strata_lib_order_statistics`: a stable sort along one dimension with NaN as the largest value, as `prim.sort` says,
//! or of it only some places.
//! Elements become integers whose order is the wanted one, so one comparison serves every type.

use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};

use half::{bf16, f16};

use super::bracket::bracket;
use super::least::{self, least};
use super::linalg::matrix::with_vectors;
use super::ranks;
use crate::abi::StrataCall;
use crate::dtype::DType;
use crate::imports::state;
use crate::memory::MemoryError;
use crate::pool;

/// Sorts every row of a dense `outer x n x inner` tensor along `n`.
///
/// `dtype` is the position in [`DType::ALL`]. `values` (of the same type) and `indices` may each be null.
/// Returns 0, or 1 when the type cannot be ordered.
///
/// # Safety
/// `input`, `values` and `indices` point at `outer * n * inner` elements; outputs do not overlap the input.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_sort(
    call: *mut StrataCall,
    dtype: i32,
    input: *const c_void,
    values: *mut c_void,
    indices: *mut i64,
    outer: i64,
    n: i64,
    inner: i64,
    descending: i32,
) -> i32 {
    let rows = Rows { input, values, indices, n, inner, count: outer * inner, descending: descending != 0 };
    // SAFETY: the caller promises the sizes; the element type is the one that `dtype` names.
    i32::from(unsafe { with_key(call, dtype, rows) }.is_none())
}

/// The elements that a stable sort of each line of `n` puts at its `k` places, and their positions; bit 0 of `options` sorts from the
/// largest down.
///
/// `dtype` is the position in [`DType::ALL`]. Returns 0, or 1 when the type cannot be ordered.
///
/// # Safety
/// `input` points at `batch * n` elements, the others at `batch * k`; outputs do not overlap the operands.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_order_statistics(
    call: *mut StrataCall,
    dtype: i32,
    input: *const c_void,
    places: *const i64,
    values: *mut c_void,
    positions: *mut i64,
    batch: i64,
    n: i64,
    k: i64,
    options: i32,
) -> i32 {
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let lines = Lines { input, places, values, positions, batch, n: size(n), k: size(k), descending: options & 1 != 0 };
    // SAFETY: the caller promises the sizes; the element type is the one that `dtype` names.
    i32::from(unsafe { with_key(call, dtype, lines) }.is_none())
}

/// What is sorted, of any element type.
pub(super) trait Sorted {
    /// Sorts by the keys of elements.
    ///
    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn sort<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError>;
}

/// An empty list with room for so many values.
pub(super) fn room<T>(n: usize) -> Result<Vec<T>, MemoryError> {
    let mut list = Vec::new();
    reserve(&mut list, n)?;
    Ok(list)
}

/// Empties a list and makes room in it for so many values.
fn reserve<T>(list: &mut Vec<T>, n: usize) -> Result<(), MemoryError> {
    list.clear();
    list.try_reserve_exact(n).map_err(|_| MemoryError::System { bytes: n.saturating_mul(size_of::<T>()) })
}

/// Sorts by the order of the element type that a code names; None when it has no order. The call fails where there is no memory for it.
///
/// # Safety
/// The memory holds elements of that type; the call is running, or null.
pub(super) unsafe fn with_key(call: *mut StrataCall, dtype: i32, sorted: impl Sorted) -> Option<()> {
    let dtype = usize::try_from(dtype).ok().and_then(|at| DType::ALL.get(at))?;
    // SAFETY: the caller's; each arm reads the type that `dtype` names.
    let done = unsafe {
        match dtype {
            DType::F64 => sorted.sort(|v: f64| float_key(v.to_bits(), 52, 11)),
            DType::F32 => sorted.sort(|v: f32| float_key(v.to_bits().into(), 23, 8)),
            DType::F16 => sorted.sort(|v: f16| float_key(v.to_bits().into(), 10, 5)),
            DType::BF16 => sorted.sort(|v: bf16| float_key(v.to_bits().into(), 7, 8)),
            DType::I64 => sorted.sort(|v: i64| (v as u64) ^ 1 << 63),
            DType::I32 => sorted.sort(|v: i32| u64::from(v as u32 ^ 1 << 31)),
            DType::I16 => sorted.sort(|v: i16| u64::from(v as u16 ^ 1 << 15)),
            DType::I8 => sorted.sort(|v: i8| u64::from(v as u8 ^ 1 << 7)),
            DType::U8 | DType::Bool => sorted.sort(|v: u8| u64::from(v)),
            DType::U16 => sorted.sort(|v: u16| u64::from(v)),
            DType::U32 => sorted.sort(|v: u32| u64::from(v)),
            DType::U64 => sorted.sort(|v: u64| v),
            DType::C64 | DType::C128 | DType::F8E4M3FN | DType::F8E5M2 => return None,
        }
    };
    if let Err(error) = done
        && !call.is_null()
    {
        // SAFETY: the call is running, on this thread.
        unsafe { state(call) }.refused = Some(error);
    }
    Some(())
}

/// The bits of a float as an integer in the same order: -0 equals 0, every NaN is the one largest value.
fn float_key(bits: u64, mantissa: u32, exponent: u32) -> u64 {
    let sign = 1 << (mantissa + exponent);
    let infinity = ((1 << exponent) - 1) << mantissa;
    let magnitude = bits & (sign - 1);
    // Signs of data are not to be predicted: no branch looks at them.
    let negative = (bits >> (mantissa + exponent) & 1).wrapping_neg();
    let key = sign.wrapping_add((magnitude ^ negative).wrapping_sub(negative));
    if magnitude > infinity { sign + infinity + 1 } else { key }
}

/// Rows to sort; row `r` starts at `(r / inner) * n * inner + r % inner` and steps by `inner`.
struct Rows {
    input: *const c_void,
    values: *mut c_void,
    indices: *mut i64,
    n: i64,
    inner: i64,
    count: i64,
    descending: bool,
}

// SAFETY: threads read the input and write disjoint rows of the outputs.
unsafe impl Sync for Rows {}

impl Sorted for Rows {
    unsafe fn sort<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe {
            match self.n as usize {
                n if n <= ranks::MOST => self.rank(key),
                n if u64::holds::<T>(n) => self.sort_as::<T, u64>(key),
                _ => self.sort_as::<T, u128>(key),
            }
        }
    }
}

impl Rows {
    /// Where a row begins.
    fn start(&self, row: i64) -> i64 {
        (row / self.inner) * self.n * self.inner + row % self.inner
    }

    /// The place of element `k` of the row that begins there.
    fn place(&self, start: i64, k: usize) -> usize {
        (start + k as i64 * self.inner) as usize
    }

    /// Element `k` of the row that begins there.
    ///
    /// # Safety
    /// The memory holds elements of type `T`.
    #[inline(always)]
    unsafe fn element<T: Copy>(&self, start: i64, k: usize) -> T {
        // SAFETY: the place is inside of the row, which the caller promised is readable.
        unsafe { *self.input.cast::<T>().add(self.place(start, k)) }
    }

    /// Puts the element `from` of the row that begins there at the place `k` of its order.
    ///
    /// # Safety
    /// The memory holds elements of type `T`, and the place is no other thread's.
    #[inline(always)]
    unsafe fn put<T: Copy>(&self, start: i64, k: usize, from: usize) {
        let to = self.place(start, k);
        // SAFETY: both are inside of the row, which the caller promised is there.
        unsafe {
            if !self.values.is_null() {
                *self.values.cast::<T>().add(to) = self.element::<T>(start, from);
            }
            if !self.indices.is_null() {
                *self.indices.add(to) = from as i64;
            }
        }
    }

    /// Sorts short rows.
    ///
    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn rank<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        let key = |start: i64, k: usize| key(unsafe { self.element::<T>(start, k) });
        rank(
            self.count,
            (self.n as usize, self.descending),
            |row| self.start(row),
            key,
            |start, order| {
                // SAFETY: the caller's; each row is one thread's.
                order.iter().enumerate().for_each(|(k, &from)| unsafe { self.put::<T>(start, k, from.into()) });
            },
        )
    }

    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn sort_as<T: Copy, E: Entry>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        let n = self.n as usize;
        share(self.count, n, |begin, end| {
            let (mut entries, mut scratch) = (room(n)?, room(n)?);
            for row in begin..end {
                let start = self.start(row);
                // SAFETY: the caller's.
                fill(&mut entries, n, |k| E::new(key(unsafe { self.element::<T>(start, k) }), k, self.descending));
                sort(&mut entries, &mut scratch, size_of::<T>());
                pool::global().each(n as i64, GRAIN as i64, |begin, end| {
                    for (k, entry) in (begin as usize..).zip(&entries[begin as usize..end as usize]) {
                        // SAFETY: each place of the row is one thread's.
                        unsafe { self.put::<T>(start, k, entry.position()) };
                    }
                });
            }
            Ok(())
        })
    }
}

/// Lines of which some places of their order are wanted.
struct Lines {
    input: *const c_void,
    places: *const i64,
    values: *mut c_void,
    positions: *mut i64,
    batch: i64,
    n: usize,
    k: usize,
    descending: bool,
}

// SAFETY: threads read the operands and write disjoint lines of the outputs.
unsafe impl Sync for Lines {}

impl Sorted for Lines {
    unsafe fn sort<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        // SAFETY: the caller's.
        unsafe {
            match self.n {
                0 => Ok(()),
                n if n <= RANKED => self.rank(key),
                n if u64::holds::<T>(n) => self.select_as::<T, u64>(key),
                _ => self.select_as::<T, u128>(key),
            }
        }
    }
}

impl Lines {
    /// An element of a line.
    ///
    /// # Safety
    /// The memory holds elements of type `T`, and a line has so many.
    #[inline(always)]
    unsafe fn element<T: Copy>(&self, line: usize, at: usize) -> T {
        // SAFETY: the caller's.
        unsafe { *self.input.cast::<T>().add(line * self.n + at) }
    }

    /// The place of the order that result `at` of a line asks for.
    ///
    /// # Safety
    /// A line has so many.
    #[inline(always)]
    unsafe fn place(&self, line: usize, at: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { *self.places.add(line * self.k + at) }.clamp(0, self.n as i64 - 1) as usize
    }

    /// Puts the element `from` of a line into its result `at`.
    ///
    /// # Safety
    /// The memory holds elements of type `T`, and no other thread has this line.
    #[inline(always)]
    unsafe fn put<T: Copy>(&self, line: usize, at: usize, from: usize) {
        // SAFETY: the caller's.
        unsafe {
            *self.values.cast::<T>().add(line * self.k + at) = self.element::<T>(line, from);
            *self.positions.add(line * self.k + at) = from as i64;
        }
    }

    /// Takes what is wanted out of short lines.
    ///
    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn rank<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        // SAFETY: the caller promises that many lines of `n` elements.
        let key = |line: usize, at: usize| key(unsafe { self.element::<T>(line, at) });
        rank(
            self.batch,
            (self.n, self.descending),
            |line| line as usize,
            key,
            |line, order| {
                // SAFETY: and of `k` places and results; each line is one thread's.
                (0..self.k).for_each(|at| unsafe { self.put::<T>(line, at, order[self.place(line, at)].into()) });
            },
        )
    }

    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn select_as<T: Copy, E: Entry>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        let (n, k) = (self.n, self.k);
        /// One in so many entries at the beginning of the order is worth a pass that keeps nothing else.
        const FEW: usize = 8;
        share(self.batch, n, |begin, end| {
            let (mut entries, mut wanted) = (Vec::new(), room(k)?);
            for line in begin as usize..end as usize {
                // SAFETY: the caller promises that many lines of `n` elements, and of `k` places.
                let element = |at: usize| unsafe { self.element::<T>(line, at) };
                // SAFETY: likewise.
                let place = |at: usize| unsafe { self.place(line, at) };
                let entry = |at: usize| E::new(key(element(at)), at, self.descending);
                wanted.clear();
                wanted.extend((0..k).map(place));
                wanted.sort_unstable();
                wanted.dedup();
                // Lines that are enough for all threads are each sorted out by one of them, for which two passes are no gain.
                let few = (self.batch as usize) < pool::global().threads();
                let ends = wanted.first().copied().zip(wanted.last().copied()).filter(|_| few);
                let count = wanted.last().map_or(0, |last| last + 1);
                let below = match ends.and_then(|ends| bracket(n, entry, ends)) {
                    Some((below, part)) => {
                        entries = part;
                        below
                    }
                    None if (1..=n / FEW).contains(&count) => {
                        reserve(&mut entries, least::room(n, count))?;
                        with_vectors(
                            #[inline(always)]
                            || least(n, entry, count, &mut entries),
                        );
                        0
                    }
                    None => {
                        reserve(&mut entries, n)?;
                        entries.extend((0..n).map(entry));
                        0
                    }
                };
                select(&mut entries, below, &wanted);
                for at in 0..k {
                    // SAFETY: no other thread has this line.
                    unsafe { self.put::<T>(line, at, entries[place(at) - below].position()) };
                }
            }
            Ok(())
        })
    }
}

/// Lines of so many elements are sorted whole, whatever is wanted of them. The five largest integers of 64 bits of 4,000 lines of 33 take two threads
/// of a Zen 4 436 us so, and 490 as a selection; the largest floats of 4,000 lines of 40 take 393 and 221.
const RANKED: usize = 32;

/// Elements whose sort takes longer than to wake a thread.
const GRAIN: usize = 4096;

/// Shares lines of `n` elements among the threads; the first error of one is the result. Where one thread has them all, the threads share what
/// is done with each line.
fn share(lines: i64, n: usize, body: impl Fn(i64, i64) -> Result<(), MemoryError> + Sync) -> Result<(), MemoryError> {
    let outcome = OnceLock::new();
    pool::global().each(lines, (GRAIN / n.max(1)).max(1) as i64, |begin, end| {
        if let Err(error) = body(begin, end) {
            drop(outcome.set(error));
        }
    });
    outcome.into_inner().map_or(Ok(()), Err)
}

/// Gives `put` the place of each of so many short lines of `n` elements, and the positions of its elements in the order of their keys.
fn rank<P: Copy>(
    lines: i64,
    (n, descending): (usize, bool),
    place: impl Fn(i64) -> P + Sync,
    key: impl Fn(P, usize) -> u64 + Sync,
    put: impl Fn(P, &[u8]) + Sync,
) -> Result<(), MemoryError> {
    share(lines, n, |begin, end| {
        with_vectors(
            #[inline(always)]
            || {
                for line in (begin..end).map(&place) {
                    let order = ranks::order(n, |at| if descending { !key(line, at) } else { key(line, at) });
                    put(line, &order[..n]);
                }
            },
        );
        Ok(())
    })
}

/// An element as one integer: its key, then its position, which makes the order total and every sort stable.
pub(super) trait Entry: Copy + Ord + Send + Sync {
    /// Bytes of a key.
    const BYTES: usize;
    /// Of a key and a position; keys are reversed where the largest comes first.
    fn new(key: u64, position: usize, descending: bool) -> Self;
    /// The position.
    fn position(self) -> usize;
    /// Byte `at` of the key, from the least significant one.
    fn byte(self, at: usize) -> usize;
    /// Whether it has room for the keys of `T` and for `n` positions.
    fn holds<T>(n: usize) -> bool {
        size_of::<T>() <= Self::BYTES && n.checked_shr(8 * Self::BYTES as u32).unwrap_or(0) == 0
    }
}

macro_rules! entries {
    ($($entry:ty, $half:ty;)*) => {$(
        impl Entry for $entry {
            const BYTES: usize = size_of::<$half>();

            fn new(key: u64, position: usize, descending: bool) -> $entry {
                let key = if descending { !key } else { key };
                <$entry>::from(key as $half) << <$half>::BITS | position as $entry
            }

            fn position(self) -> usize {
                self as $half as usize
            }

            fn byte(self, at: usize) -> usize {
                usize::from((self >> (<$half>::BITS as usize + 8 * at)) as u8)
            }
        }
    )*};
}

entries! {
    u64, u32;
    u128, u64;
}

/// Memory that threads write at different places.
struct Places<E>(*mut E);

// SAFETY: whoever writes sees to it that no place is two threads'.
unsafe impl<E: Send> Sync for Places<E> {}

impl<E> Places<E> {
    /// # Safety
    /// The place is there, and no other thread's.
    unsafe fn put(&self, at: usize, entry: E) {
        // SAFETY: the caller's.
        unsafe { self.0.add(at).write(entry) }
    }
}

/// Makes a list, which has room for it, of `n` entries.
fn fill<E: Entry>(list: &mut Vec<E>, n: usize, entry: impl Fn(usize) -> E + Sync) {
    list.clear();
    let places = Places(list.spare_capacity_mut()[..n].as_mut_ptr().cast::<E>());
    pool::global().each(n as i64, GRAIN as i64, |begin, end| {
        // SAFETY: each place up to `n` is in one of the ranges.
        (begin as usize..end as usize).for_each(|k| unsafe { places.put(k, entry(k)) });
    });
    // SAFETY: all of them are written.
    unsafe { list.set_len(n) };
}

/// Sorts entries that stand in the order of their positions by keys of so many bytes: long lists by a radix sort from the least significant byte
/// on, which passes over bytes that all keys share. Threads share the passes over very long lists, each its part of the list.
fn sort<E: Entry>(list: &mut Vec<E>, scratch: &mut Vec<E>, bytes: usize) {
    /// A pass over the 256 counters of a byte costs about as much as comparisons of so many entries.
    const SHORT: usize = 512;
    /// A pass over so many entries takes 50 us, and is worth the counters of a thread.
    const SHARED: usize = 1 << 15;
    let n = list.len();
    if n < SHORT {
        return list.sort_unstable();
    }
    let threads = if n < SHARED { 1 } else { pool::global().threads() };
    let part = n.div_ceil(threads);
    let entries = |thread: usize| (thread * part).min(n)..((thread + 1) * part).min(n);
    let each = |body: &(dyn Fn(usize) + Sync)| {
        pool::global().each(threads as i64, i64::from(threads == 1), |begin, end| (begin as usize..end as usize).for_each(body));
    };
    for at in 0..bytes.min(E::BYTES) {
        let mut next: Vec<_> = (0..threads).map(|_| Mutex::new([0_usize; 256])).collect();
        each(&|thread| {
            let mut counts = next[thread].lock().unwrap_or_else(PoisonError::into_inner);
            list[entries(thread)].iter().for_each(|entry| counts[entry.byte(at)] += 1);
        });
        let mut counts: Vec<_> = next.iter_mut().map(|counts| counts.get_mut().unwrap_or_else(PoisonError::into_inner)).collect();
        let first = list[0].byte(at);
        if counts.iter().map(|counts| counts[first]).sum::<usize>() == n {
            continue;
        }
        let mut sum = 0;
        for value in 0..256 {
            counts.iter_mut().for_each(|counts| sum += std::mem::replace(&mut counts[value], sum));
        }
        scratch.clear();
        scratch.reserve(n);
        let places = Places(scratch.spare_capacity_mut()[..n].as_mut_ptr().cast::<E>());
        each(&|thread| {
            let mut next = next[thread].lock().unwrap_or_else(PoisonError::into_inner);
            for entry in &list[entries(thread)] {
                let to = &mut next[entry.byte(at)];
                // SAFETY: the counters of all threads and bytes divide the places up to `n` among the entries.
                unsafe { places.put(*to, *entry) };
                *to += 1;
            }
        });
        // SAFETY: each place is written.
        unsafe { scratch.set_len(n) };
        std::mem::swap(list, scratch);
    }
}

/// Brings the entries of the ascending places to where a sort puts them; `list` holds the places from `from` on.
fn select<E: Ord>(list: &mut [E], from: usize, places: &[usize]) {
    /// To sort a few entries between two places is sooner than another partition.
    const DENSE: usize = 4;
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return };
    let span = last - first;
    if span < DENSE * places.len() {
        list.select_nth_unstable(first - from);
        let list = &mut list[first - from..];
        if span > 0 {
            list.select_nth_unstable(span);
        }
        return list[..span].sort_unstable();
    }
    let middle = places.len() / 2;
    let (left, _, right) = list.select_nth_unstable(places[middle] - from);
    select(left, from, &places[..middle]);
    select(right, places[middle] + 1, &places[middle + 1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(dtype: DType, input: &[f32], shape: (i64, i64, i64), descending: bool) -> (Vec<f32>, Vec<i64>) {
        let (mut values, mut indices) = (vec![0f32; input.len()], vec![0i64; input.len()]);
        let code = DType::ALL.iter().position(|&known| known == dtype).unwrap() as i32;
        let (outer, n, inner) = shape;
        // SAFETY: all three hold outer * n * inner elements.
        let status = unsafe {
            let (from, to) = (input.as_ptr().cast(), values.as_mut_ptr().cast());
            let call = std::ptr::null_mut();
            strata_lib_sort(call, code, from, to, indices.as_mut_ptr(), outer, n, inner, descending.into())
        };
        assert_eq!(status, 0);
        (values, indices)
    }

    #[test]
    fn nan_is_largest_and_zeros_keep_their_order() {
        let input = [0.0, f32::NAN, -1.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 0.0];
        let (values, indices) = sort(DType::F32, &input, (1, 7, 1), false);
        assert_eq!(indices, [5, 2, 0, 3, 6, 4, 1]);
        assert!(values[6].is_nan() && values[5] == f32::INFINITY);
        let (_, indices) = sort(DType::F32, &input, (1, 7, 1), true);
        assert_eq!(indices, [1, 4, 0, 3, 6, 2, 5]);
    }

    /// Numbers without order, some of them equal.
    fn noise(n: usize) -> Vec<f32> {
        (0..n).map(|k| ((k * 7919 + 13) % 1009) as f32 - 504.0).collect()
    }

    #[test]
    fn long_lines_are_sorted_stably() {
        // Threads share the passes over the longer one, whose parts are not all of one length.
        for (n, descending) in [(3000, false), (3000, true), (70_001, false), (70_001, true)] {
            let input = noise(n);
            let (values, indices) = sort(DType::F32, &input, (1, n as i64, 1), descending);
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| if descending { input[b].total_cmp(&input[a]) } else { input[a].total_cmp(&input[b]) });
            assert!(order.iter().zip(&indices).all(|(a, b)| *a as i64 == *b));
            assert!(order.iter().zip(&values).all(|(a, b)| input[*a] == *b));
        }
    }

    #[test]
    fn entries_of_both_widths_order_alike() {
        let keys: Vec<u64> = (0..2000).map(|k| ((k * 7919 + 13) % 257) << 20).collect();
        let mut narrow: Vec<u64> = keys.iter().enumerate().map(|(at, key)| Entry::new(*key, at, true)).collect();
        let mut wide: Vec<u128> = keys.iter().enumerate().map(|(at, key)| Entry::new(*key, at, true)).collect();
        super::sort(&mut narrow, &mut Vec::new(), 4);
        super::sort(&mut wide, &mut Vec::new(), 4);
        assert!(narrow.is_sorted() && wide.is_sorted());
        assert!(narrow.iter().zip(&wide).all(|(a, b)| a.position() == b.position()));
    }

    #[test]
    fn places_of_a_selection_are_those_of_the_sort() {
        let input = noise(2000);
        let sets: [Vec<i64>; 6] =
            [vec![0], vec![1999], (0..30).collect(), (990..1010).collect(), vec![1500, 3, 3, 700, 1999, 0], (0..2000).rev().collect()];
        for (places, descending) in sets.iter().flat_map(|places| [(places, false), (places, true)]) {
            let (values, indices) = sort(DType::F32, &input, (1, 2000, 1), descending);
            let (mut found, mut at) = (vec![0f32; places.len()], vec![0i64; places.len()]);
            let code = DType::ALL.iter().position(|&known| known == DType::F32).unwrap() as i32;
            // SAFETY: one line of 2000 elements, and as many places as results.
            let status = unsafe {
                let (from, to) = (input.as_ptr().cast(), found.as_mut_ptr().cast());
                let (call, k) = (std::ptr::null_mut(), places.len() as i64);
                strata_lib_order_statistics(call, code, from, places.as_ptr(), to, at.as_mut_ptr(), 1, 2000, k, descending.into())
            };
            assert_eq!(status, 0);
            assert!(places.iter().zip(found.iter().zip(&at)).all(|(p, (v, i))| (*v, *i) == (values[*p as usize], indices[*p as usize])));
        }
    }

    #[test]
    fn rows_may_be_strided() {
        let (values, indices) = sort(DType::F32, &[3., 1., 2., 5., 1., 9.], (1, 3, 2), false);
        assert_eq!(values, [1., 1., 2., 5., 3., 9.]);
        assert_eq!(indices, [2, 0, 1, 1, 0, 2]);
    }
}
