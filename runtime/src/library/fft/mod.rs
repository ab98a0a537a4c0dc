//! Fourier transforms of lines, unscaled: `strata_lib_fft`, `strata_lib_rfft`, `strata_lib_irfft`. Plans of each length are
//! made once and kept for the process; short ones have closed forms.

mod short;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use num_complex::Complex;
use rustfft::{Fft, FftNum, FftPlanner};

use super::array::{Array, Cost, each};
use crate::abi::StrataCall;
use crate::dtype::DType;

/// A precision that lines are transformed in.
trait Precision: FftNum {
    fn planner() -> &'static Mutex<FftPlanner<Self>>;
}

macro_rules! precisions {
    ($($float:ty)*) => {$(
        impl Precision for $float {
            fn planner() -> &'static Mutex<FftPlanner<Self>> {
                static PLANNER: OnceLock<Mutex<FftPlanner<$float>>> = OnceLock::new();
                PLANNER.get_or_init(|| Mutex::new(FftPlanner::new()))
            }
        }
    )*};
}

precisions!(f32 f64);

fn plan<T: Precision>(n: usize, inverse: bool) -> Arc<dyn Fft<T>> {
    let mut planner = T::planner().lock().unwrap_or_else(PoisonError::into_inner);
    if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) }
}

/// What a transform costs: steps, and numbers for the line, its copy, and what a plan for any length works on.
fn cost<T>(n: i64) -> Cost {
    let n = n.max(1) as usize;
    Cost { work: 8 * n, room: 8 * n * size_of::<Complex<T>>() }
}

/// A transform of lines of one length, in place.
type Turn<T> = Box<dyn Fn(&mut [Complex<T>]) + Send + Sync>;

fn turn<T: Precision>(n: usize, inverse: bool) -> Turn<T> {
    if short::fits(n) {
        return Box::new(move |line| line.copy_from_slice(&if inverse { short::inverse(line) } else { short::forward(line) }));
    }
    let plan = plan::<T>(n, inverse);
    Box::new(move |line| plan.process(line))
}

/// The first half of the spectrum of real lines; the rest of a line is left as it may be.
fn turn_real<T: Precision>(n: usize) -> Turn<T> {
    if !short::fits(n) {
        return turn(n, false);
    }
    Box::new(|line| {
        let half = short::of_real(&line.iter().map(|z| z.re).collect::<Vec<_>>());
        line[..half.len()].copy_from_slice(&half);
    })
}

/// Whole spectra to real lines.
fn turn_back<T: Precision>(n: usize) -> Turn<T> {
    if !short::fits(n) {
        return turn(n, true);
    }
    Box::new(|line| short::to_real(line).into_iter().zip(line).for_each(|(x, z)| *z = Complex::new(x, T::zero())))
}

/// A call with its lines: how many, and how long.
#[derive(Clone, Copy)]
struct Lines {
    call: *mut StrataCall,
    batch: i64,
    n: i64,
}

impl Lines {
    /// Transforms lines; `read` fills a line, `write` takes it.
    ///
    /// # Safety
    /// The call is running on this thread, or null.
    unsafe fn turn<T: Precision>(
        self,
        plan: fn(usize) -> Turn<T>,
        read: impl Fn(usize, &mut [Complex<T>]) + Sync,
        write: impl Fn(usize, &[Complex<T>]) + Sync,
    ) {
        let Lines { call, batch, n } = self;
        if n <= 0 {
            return;
        }
        // The plan is made by the first thread that has memory for its line.
        let turn = OnceLock::new();
        // SAFETY: the caller's.
        unsafe {
            each(call, batch, cost::<T>(n), |item| {
                let mut line = vec![Complex::new(T::zero(), T::zero()); n as usize];
                read(item, &mut line);
                turn.get_or_init(|| plan(n as usize))(&mut line);
                write(item, &line);
            });
        }
    }
}

/// Complex lines.
unsafe fn complex<T: Precision>(x: Array, y: Array, lines: Lines, inverse: bool) {
    // SAFETY: the caller promises the sizes; each line is written by one thread.
    let read = |item: usize, line: &mut [Complex<T>]| unsafe { x.get_plain(item, line) };
    // SAFETY: as above.
    let write = |item: usize, line: &[Complex<T>]| unsafe { y.put_plain(item, line) };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn(if inverse { |n| turn(n, true) } else { |n| turn(n, false) }, read, write) }
}

/// Real lines, of whose spectrum the first `k` frequencies are kept.
unsafe fn from_real<T: Precision>(x: Array, y: Array, lines: Lines, k: i64) {
    let read = |item: usize, line: &mut [Complex<T>]| {
        let mut real = vec![T::zero(); line.len()];
        // SAFETY: the caller promises the sizes.
        unsafe { x.get_plain(item, &mut real) };
        line.iter_mut().zip(real).for_each(|(to, x)| *to = Complex::new(x, T::zero()));
    };
    // SAFETY: the caller promises the sizes; each line is written by one thread.
    let write = |item: usize, line: &[Complex<T>]| unsafe { y.put_plain(item, &line[..k as usize]) };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn(turn_real, read, write) }
}

/// Real lines from the first `k` frequencies of their spectrum. What must be real in it is taken to be.
unsafe fn to_real<T: Precision>(x: Array, y: Array, k: i64, lines: Lines) {
    let read = |item: usize, line: &mut [Complex<T>]| {
        let n = line.len();
        let mut half = vec![Complex::new(T::zero(), T::zero()); k as usize];
        // SAFETY: the caller promises the sizes.
        unsafe { x.get_plain(item, &mut half) };
        for (k, &x) in half.iter().enumerate().take(n / 2 + 1) {
            let real = k == 0 || 2 * k == n;
            line[k] = if real { Complex::new(x.re, T::zero()) } else { x };
            if !real {
                line[n - k] = x.conj();
            }
        }
    };
    let write = |item: usize, line: &[Complex<T>]| {
        let real: Vec<T> = line.iter().map(|x| x.re).collect();
        // SAFETY: the caller promises the sizes; each line is written by one thread.
        unsafe { y.put_plain(item, &real) };
    };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn(turn_back, read, write) }
}

fn dtype(code: i32) -> Option<DType> {
    usize::try_from(code).ok().and_then(|at| DType::ALL.get(at)).copied()
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold `batch` lines of `n` complex numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_lib_fft(call: *mut StrataCall, code: i32, x: Array, y: Array, batch: i64, n: i64, options: i32) {
    // SAFETY: the caller's.
    unsafe {
        match dtype(code) {
            Some(DType::C64) => complex::<f32>(x, y, Lines { call, batch, n }, options & 1 != 0),
            Some(DType::C128) => complex::<f64>(x, y, Lines { call, batch, n }, options & 1 != 0),
            _ => {}
        }
    }
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold `batch` lines of `n` real and `k <= n` complex numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_lib_rfft(call: *mut StrataCall, code: i32, x: Array, y: Array, batch: i64, n: i64, k: i64, _: i32) {
    // SAFETY: the caller's.
    unsafe {
        match dtype(code) {
            Some(DType::F32) => from_real::<f32>(x, y, Lines { call, batch, n }, k),
            Some(DType::F64) => from_real::<f64>(x, y, Lines { call, batch, n }, k),
            _ => {}
        }
    }
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold `batch` lines of `k` complex and `n` real numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_lib_irfft(call: *mut StrataCall, code: i32, x: Array, y: Array, batch: i64, k: i64, n: i64, _: i32) {
    // SAFETY: the caller's.
    unsafe {
        match dtype(code) {
            Some(DType::C64) => to_real::<f32>(x, y, k, Lines { call, batch, n }),
            Some(DType::C128) => to_real::<f64>(x, y, k, Lines { call, batch, n }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<T>(data: &mut [T]) -> Array {
        Array::over(data.as_mut_ptr().cast())
    }

    #[test]
    fn real_lines_come_back() {
        for n in [1usize, 2, 5, 8, 12] {
            let k = n / 2 + 1;
            let mut x: Vec<f64> = (0..2 * n).map(|i| ((i * 37) % 11) as f64 - 5.0).collect();
            let lines = Lines { call: std::ptr::null_mut(), batch: 2, n: n as i64 };
            let mut half = vec![Complex::new(0.0, 0.0); 2 * k];
            let mut back = vec![0.0; 2 * n];
            // SAFETY: two lines each.
            unsafe {
                from_real::<f64>(array(&mut x), array(&mut half), lines, k as i64);
                to_real::<f64>(array(&mut half), array(&mut back), k as i64, lines);
            }
            assert!((half[0].re - x[..n].iter().sum::<f64>()).abs() < 1e-12);
            assert!(x.iter().zip(&back).all(|(x, y)| (x * n as f64 - y).abs() < 1e-11), "{n}");
        }
    }
}
