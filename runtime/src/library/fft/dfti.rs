//! Transforms by the host's MKL, where it has one: DFTI, its interface of C. Descriptors are kept, since making one takes longer than most
//! transforms.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use num_complex::Complex;

use super::super::array::{Array, Cost, pieces};
use super::super::host;
use super::{Lines, Matrices, Precision};

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(handle: *mut Handle, domain: i32, length: i64) -> i64;
type SetValue = unsafe extern "C" fn(handle: Handle, parameter: i32, ...) -> i64;
type Commit = unsafe extern "C" fn(handle: Handle) -> i64;
type Compute = unsafe extern "C" fn(handle: Handle, from: *mut c_void, ...) -> i64;
type Free = unsafe extern "C" fn(handle: *mut Handle) -> i64;

// Parameters and values of `mkl_dfti.h`.
const NUMBER_OF_TRANSFORMS: i32 = 7;
const CONJUGATE_EVEN_STORAGE: i32 = 10;
const PLACEMENT: i32 = 11;
const INPUT_STRIDES: i32 = 12;
const OUTPUT_STRIDES: i32 = 13;
const INPUT_DISTANCE: i32 = 14;
const OUTPUT_DISTANCE: i32 = 15;
const COMPLEX: i32 = 32;
const REAL: i32 = 33;
const COMPLEX_COMPLEX: i32 = 39;
const NOT_INPLACE: i32 = 44;

/// Descriptors that are kept at most; then all are made anew.
const KEPT: usize = 256;

/// What a line becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Complex lines.
    Forward,
    /// Complex lines, the other way.
    Backward,
    /// Real lines, of whose spectrum the first half is kept.
    FromReal,
    /// Real lines from the first half of their spectrum.
    ToReal,
}

/// The functions.
struct Dfti {
    create: [Create; 2],
    set: SetValue,
    commit: Commit,
    compute: [Compute; 2],
    free: Free,
}

impl Dfti {
    fn of_host() -> Option<&'static Dfti> {
        static FOUND: OnceLock<Option<Dfti>> = OnceLock::new();
        let find = || {
            // SAFETY: these are the types of `mkl_dfti.h`.
            unsafe {
                Some(Dfti {
                    create: [host::function("DftiCreateDescriptor_s_1d")?, host::function("DftiCreateDescriptor_d_1d")?],
                    set: host::function("DftiSetValue")?,
                    commit: host::function("DftiCommitDescriptor")?,
                    compute: [host::function("DftiComputeForward")?, host::function("DftiComputeBackward")?],
                    free: host::function("DftiFreeDescriptor")?,
                })
            }
        };
        host::functions(&FOUND, find)
    }

    /// Whether lines were transformed.
    ///
    /// # Safety
    /// The arrays are as the descriptor says.
    unsafe fn computes(&self, plan: &Plan, kind: Kind, x: *mut c_void, y: *mut c_void) -> bool {
        let compute = self.compute[usize::from(matches!(kind, Kind::Backward | Kind::ToReal))];
        // SAFETY: the caller's.
        unsafe { compute(plan.handle, x, y) == 0 }
    }
}

/// A committed descriptor, which any thread may compute with.
struct Plan {
    handle: Handle,
    free: Free,
}

// SAFETY: nothing changes a descriptor after it was committed.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the handle is this plan's own.
        unsafe { (self.free)(&raw mut self.handle) };
    }
}

/// Transforms lines whose spectrum, if they are real, has `n / 2 + 1` frequencies; gives whether it did.
///
/// # Safety
/// The arrays hold these lines.
pub(super) unsafe fn transform<T: Precision>(kind: Kind, x: Array, y: Array, lines: Lines) -> bool {
    let (n, batch) = (lines.n, lines.batch);
    if batch <= 0 || !is_fast(n, matches!(kind, Kind::FromReal | Kind::ToReal)) {
        return false;
    }
    let half = n / 2 + 1;
    let apart = match kind {
        Kind::Forward | Kind::Backward => [n, n],
        Kind::FromReal => [n, half],
        Kind::ToReal => [half, n],
    };
    let Some(dfti) = Dfti::of_host() else { return false };
    let Some(plan) = plan(dfti, Shape { double: size_of::<T>() == 8, kind, n, lines: batch, apart, strides: [1; 2] }) else { return false };
    // SAFETY: the descriptor is of arrays of these sizes.
    unsafe { dfti.computes(&plan, kind, x.start(), y.start()) }
}

/// Columns that are shared among threads, and packed, at a time.
const BLOCK: usize = 16;

/// Rows that are a multiple of so many bytes apart fall into few sets of the first cache: their columns are packed.
const SAME_SETS: usize = 1024;

/// Transforms the columns of matrices of complex numbers; gives whether it did.
///
/// # Safety
/// The arrays hold these matrices.
pub(super) unsafe fn columns<T: Precision>(kind: Kind, x: Array, y: Array, lines: Lines, matrices: Matrices) -> bool {
    let Matrices { rows, columns, turned } = matrices;
    let Some(dfti) = Dfti::of_host().filter(|_| lines.batch > 0 && is_fast(lines.n, false)) else { return false };
    let packs = (columns * size_of::<Complex<T>>()).is_multiple_of(SAME_SETS);
    let (call, batch, n) = (lines.call, lines.batch, lines.n);
    let of = |count: usize| {
        let stride = if packs { count } else { columns } as i64;
        let (apart, strides) = if turned { ([1, n], [stride, 1]) } else { ([1, 1], [stride; 2]) };
        plan(dfti, Shape { double: size_of::<T>() == 8, kind, n, lines: count as i64, apart, strides })
    };
    let blocks = columns.div_ceil(BLOCK);
    let failed = AtomicBool::new(false);
    let some = |items: Range<usize>| {
        let mut packed = vec![Complex::new(T::zero(), T::zero()); if packs { 2 * rows * BLOCK } else { 0 }];
        let mut at = items.start;
        while at < items.end {
            let (matrix, block) = (at / blocks, at % blocks);
            let taken = if packs { 1 } else { (blocks - block).min(items.end - at) };
            at += taken;
            let (begin, end) = (block * BLOCK, columns.min((block + taken) * BLOCK));
            let Some(plan) = of(end - begin) else { return failed.store(true, Ordering::Relaxed) };
            // SAFETY: the caller promises the sizes; what becomes of a column is written by one thread.
            let done = unsafe {
                let x = x.start().cast::<Complex<T>>().add(matrix * rows * columns + begin);
                let y = y.start().cast::<Complex<T>>().add(matrices.place(matrix, 0, begin));
                if packs {
                    let count = end - begin;
                    let (from, to) = packed.split_at_mut(rows * BLOCK);
                    (0..rows).for_each(|row| from.as_mut_ptr().add(row * count).copy_from_nonoverlapping(x.add(row * columns), count));
                    let done = dfti.computes(&plan, kind, from.as_mut_ptr().cast(), if turned { y } else { to.as_mut_ptr() }.cast());
                    if !turned {
                        (0..rows).for_each(|row| y.add(row * columns).copy_from_nonoverlapping(to.as_ptr().add(row * count), count));
                    }
                    done
                } else {
                    dfti.computes(&plan, kind, x.cast(), y.cast())
                }
            };
            failed.fetch_or(!done, Ordering::Relaxed);
        }
    };
    let cost = Cost { work: 8 * rows * BLOCK, room: 2 * rows * BLOCK * size_of::<Complex<T>>() };
    // SAFETY: the call is the caller's.
    unsafe { pieces(call, batch * blocks as i64, cost, some) };
    !failed.into_inner()
}

/// Whether MKL transforms lines of this length sooner than a line in each lane does. On two threads of an Emerald Rapids it takes a third to a
/// sixth of the time where factors are 2, 3, 5 and 7, twice to six times as long where there is a prime of 17 to 500, and for real lines of odd
/// length the double; in very long lines it is ahead whatever they are.
fn is_fast(n: i64, real: bool) -> bool {
    const LONG: i64 = 512;
    const SHORT: i64 = 16;
    let rest = |n: i64, prime: i64| {
        let mut n = n;
        while n % prime == 0 {
            n /= prime;
        }
        n
    };
    let (least, primes): (i64, &[i64]) = if real { (2, &[2, 3, 5, 7]) } else { (6, &[2, 3, 5, 7, 11, 13]) };
    let smooth = n > 0 && primes.iter().copied().fold(n, rest) == 1;
    n > LONG || n >= least && (smooth && (!real || n % 2 == 0) || real && n <= SHORT)
}

/// What a descriptor is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    /// Whether numbers have 64 bits.
    double: bool,
    kind: Kind,
    /// Numbers of a line.
    n: i64,
    lines: i64,
    /// From the beginning of a line to that of the next one, read and written.
    apart: [i64; 2],
    /// From a number of a line to the next one, read and written.
    strides: [i64; 2],
}

fn plan(dfti: &Dfti, shape: Shape) -> Option<Arc<Plan>> {
    static PLANS: OnceLock<Mutex<HashMap<Shape, Arc<Plan>>>> = OnceLock::new();
    let plans = PLANS.get_or_init(Mutex::default);
    let known = || plans.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known().get(&shape) {
        return Some(Arc::clone(plan));
    }
    let plan = Arc::new(made(dfti, shape)?);
    let mut plans = known();
    if plans.len() >= KEPT {
        plans.clear();
    }
    plans.insert(shape, Arc::clone(&plan));
    Some(plan)
}

fn made(dfti: &Dfti, shape: Shape) -> Option<Plan> {
    let Shape { double, kind, n, lines, apart: [from, to], strides } = shape;
    let domain = if matches!(kind, Kind::Forward | Kind::Backward) { COMPLEX } else { REAL };
    let mut plan = Plan { handle: null_mut(), free: dfti.free };
    // SAFETY: parameters have values of the types that `mkl_dfti.h` says: enumerations, long integers and arrays of them, which are copied.
    unsafe {
        let mut failed = (dfti.create[usize::from(double)])(&raw mut plan.handle, domain, n);
        failed |= (dfti.set)(plan.handle, PLACEMENT, NOT_INPLACE);
        failed |= (dfti.set)(plan.handle, NUMBER_OF_TRANSFORMS, lines);
        failed |= (dfti.set)(plan.handle, INPUT_DISTANCE, from);
        failed |= (dfti.set)(plan.handle, OUTPUT_DISTANCE, to);
        if strides != [1; 2] {
            for (parameter, stride) in [INPUT_STRIDES, OUTPUT_STRIDES].into_iter().zip(strides) {
                failed |= (dfti.set)(plan.handle, parameter, [0, stride].as_ptr());
            }
        }
        if domain == REAL {
            failed |= (dfti.set)(plan.handle, CONJUGATE_EVEN_STORAGE, COMPLEX_COMPLEX);
        }
        failed |= (dfti.commit)(plan.handle);
        (failed == 0).then_some(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::is_fast;

    #[test]
    fn lengths_with_large_primes_are_ours() {
        let (fast, slow) = ([6, 8, 22, 49, 100, 256, 1009, 4096], [2, 5, 17, 34, 97, 187, 289]);
        assert!(fast.iter().all(|n| is_fast(*n, false)) && !slow.iter().any(|n| is_fast(*n, false)));
        let (fast, slow) = ([2, 11, 100, 256, 513, 2310], [22, 33, 49, 81, 97, 243, 0]);
        assert!(fast.iter().all(|n| is_fast(*n, true)) && !slow.iter().any(|n| is_fast(*n, true)));
    }
}
