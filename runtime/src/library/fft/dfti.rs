//! Transforms by the host's MKL, where it has one: DFTI, its interface of C. Descriptors are kept, since making one takes longer than most
//! transforms.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::array::Array;
use super::super::host;
use super::{Lines, Precision};

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
    let Some(dfti) = Dfti::of_host() else { return false };
    let Some(plan) = plan(dfti, size_of::<T>() == 8, kind, (n, batch)) else { return false };
    let compute = dfti.compute[usize::from(matches!(kind, Kind::Backward | Kind::ToReal))];
    // SAFETY: the descriptor is of arrays of these sizes.
    unsafe { compute(plan.handle, x.start(), y.start()) == 0 }
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

fn plan(dfti: &Dfti, double: bool, kind: Kind, (n, batch): (i64, i64)) -> Option<Arc<Plan>> {
    type Plans = HashMap<(bool, Kind, i64, i64), Arc<Plan>>;
    static PLANS: OnceLock<Mutex<Plans>> = OnceLock::new();
    let key = (double, kind, n, batch);
    let plans = PLANS.get_or_init(Mutex::default);
    let known = || plans.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known().get(&key) {
        return Some(Arc::clone(plan));
    }
    let plan = Arc::new(made(dfti, double, kind, (n, batch))?);
    let mut plans = known();
    if plans.len() >= KEPT {
        plans.clear();
    }
    plans.insert(key, Arc::clone(&plan));
    Some(plan)
}

fn made(dfti: &Dfti, double: bool, kind: Kind, (n, batch): (i64, i64)) -> Option<Plan> {
    let half = n / 2 + 1;
    let (domain, from, to) = match kind {
        Kind::Forward | Kind::Backward => (COMPLEX, n, n),
        Kind::FromReal => (REAL, n, half),
        Kind::ToReal => (REAL, half, n),
    };
    let mut plan = Plan { handle: null_mut(), free: dfti.free };
    // SAFETY: parameters have values of the types that `mkl_dfti.h` says: enumerations and long integers.
    unsafe {
        let mut failed = (dfti.create[usize::from(double)])(&raw mut plan.handle, domain, n);
        failed |= (dfti.set)(plan.handle, PLACEMENT, NOT_INPLACE);
        failed |= (dfti.set)(plan.handle, NUMBER_OF_TRANSFORMS, batch);
        failed |= (dfti.set)(plan.handle, INPUT_DISTANCE, from);
        failed |= (dfti.set)(plan.handle, OUTPUT_DISTANCE, to);
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
