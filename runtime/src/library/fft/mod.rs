//! Fourier transforms of lines, unscaled: `strata_lib_fft`, `strata_lib_fft_columns`, `strata_lib_fft_turned`, `strata_lib_rfft`,
//! `strata_lib_irfft`. Plans of each length are made once and kept for the process; short ones have closed forms. Real lines take the
//! transform of half their length.

mod dfti;
mod groups;
mod plan;
mod short;
mod vector;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use num_complex::Complex;
use realfft::RealFftPlanner;
use rustfft::FftPlanner;

use super::array::{Array, Cost, pieces};
use crate::abi::StrataCall;
use crate::dtype::DType;
use dfti::Kind;
use short::Short;

/// A precision that lines are transformed in, with what is kept for it.
trait Precision: groups::Grouped {
    fn complex() -> &'static Mutex<FftPlanner<Self>>;
    fn real() -> &'static Mutex<RealFftPlanner<Self>>;
    fn short() -> &'static Short<Self>;
}

macro_rules! precisions {
    ($($float:ty)*) => {$(
        impl Precision for $float {
            fn complex() -> &'static Mutex<FftPlanner<Self>> {
                static PLANNER: OnceLock<Mutex<FftPlanner<$float>>> = OnceLock::new();
                PLANNER.get_or_init(|| Mutex::new(FftPlanner::new()))
            }

            fn real() -> &'static Mutex<RealFftPlanner<Self>> {
                static PLANNER: OnceLock<Mutex<RealFftPlanner<$float>>> = OnceLock::new();
                PLANNER.get_or_init(|| Mutex::new(RealFftPlanner::new()))
            }

            fn short() -> &'static Short<Self> {
                static SHORT: OnceLock<Short<$float>> = OnceLock::new();
                SHORT.get_or_init(Short::new)
            }
        }
    )*};
}

precisions!(f32 f64);

fn locked<T>(planner: &Mutex<T>) -> MutexGuard<'_, T> {
    planner.lock().unwrap_or_else(PoisonError::into_inner)
}

fn zeros<T: Precision>(n: usize) -> Vec<Complex<T>> {
    vec![Complex::new(T::zero(), T::zero()); n]
}

/// A call with its lines: how many, and how long.
#[derive(Clone, Copy)]
struct Lines {
    call: *mut StrataCall,
    batch: i64,
    n: i64,
}

impl Lines {
    /// Transforms lines, some at a time, which share a plan and its memory.
    ///
    /// # Safety
    /// The call is running on this thread, or null.
    unsafe fn turn<T: Precision>(self, some: impl Fn(Range<usize>) + Sync) {
        let Lines { call, batch, n } = self;
        if n <= 0 {
            return;
        }
        // Steps, and numbers for the line, its copy, and what a plan for any length works on.
        let n = n as usize;
        let cost = Cost { work: 8 * n, room: 8 * n * size_of::<Complex<T>>() };
        // SAFETY: the caller's.
        unsafe { pieces(call, batch, cost, some) }
    }
}

/// Complex lines.
unsafe fn complex<T: Precision>(x: Array, y: Array, lines: Lines, inverse: bool) {
    let n = lines.n as usize;
    // SAFETY: the caller's.
    if unsafe { dfti::transform::<T>(if inverse { Kind::Backward } else { Kind::Forward }, x, y, lines) } {
        return;
    }
    // SAFETY: the caller's.
    if !short::fits(n) && unsafe { groups::complex::<T>(x, y, lines, inverse) } {
        return;
    }
    let some = |items: Range<usize>| {
        // SAFETY: the caller promises the sizes; each line is written by one thread.
        let (x, y) = unsafe { (x.lines::<Complex<T>>(items.clone(), n), y.lines_mut::<Complex<T>>(items, n)) };
        if short::fits(n) {
            let short = T::short();
            x.chunks_exact(n).zip(y.chunks_exact_mut(n)).for_each(|(x, y)| if inverse { short.inverse(x, y) } else { short.forward(x, y) });
            return;
        }
        let plan = {
            let mut planner = locked(T::complex());
            if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) }
        };
        plan.process_immutable_with_scratch(x, y, &mut zeros(plan.get_immutable_scratch_len()));
    };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn::<T>(some) }
}

/// The matrices of a batch, whose columns are lines.
#[derive(Clone, Copy)]
struct Matrices {
    rows: usize,
    columns: usize,
    /// Whether columns become rows.
    turned: bool,
}

impl Matrices {
    /// Where a number of a transformed column is.
    fn place(self, matrix: usize, row: usize, column: usize) -> usize {
        let Self { rows, columns, turned } = self;
        if turned { (matrix * columns + column) * rows + row } else { (matrix * rows + row) * columns + column }
    }
}

/// Complex lines that are the columns of matrices, of which `lines` has one each.
unsafe fn complex_columns<T: Precision>(x: Array, y: Array, lines: Lines, matrices: Matrices, inverse: bool) {
    let Matrices { rows: n, columns, .. } = matrices;
    if n == 0 || columns == 0 {
        return;
    }
    // SAFETY: the caller's.
    if unsafe { dfti::columns::<T>(if inverse { Kind::Backward } else { Kind::Forward }, x, y, lines, matrices) } {
        return;
    }
    // SAFETY: the caller's.
    if !short::fits(n) && unsafe { groups::complex_columns::<T>(x, y, lines, matrices, inverse) } {
        return;
    }
    let some = |items: Range<usize>| {
        let plan = (!short::fits(n)).then(|| {
            let mut planner = locked(T::complex());
            if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) }
        });
        let mut scratch = zeros(plan.as_ref().map_or(0, |plan| plan.get_immutable_scratch_len()));
        let (mut line, mut turned) = (zeros::<T>(n), zeros::<T>(n));
        for item in items {
            let (matrix, column) = (item / columns, item % columns);
            // SAFETY: the caller promises the sizes.
            let from = unsafe { x.item::<Complex<T>>(matrix, n * columns) };
            line.iter_mut().zip(from[column..].iter().step_by(columns)).for_each(|(to, from)| *to = *from);
            match &plan {
                None if inverse => T::short().inverse(&line, &mut turned),
                None => T::short().forward(&line, &mut turned),
                Some(plan) => plan.process_immutable_with_scratch(&line, &mut turned, &mut scratch),
            }
            for (row, number) in turned.iter().enumerate() {
                // SAFETY: as above; a column is written by one thread.
                unsafe { y.write(matrices.place(matrix, row, column), *number) };
            }
        }
    };
    // SAFETY: the call is the caller's.
    unsafe { Lines { batch: lines.batch * columns as i64, ..lines }.turn::<T>(some) }
}

/// Real lines, of whose spectrum the first `k` frequencies are kept.
unsafe fn from_real<T: Precision>(x: Array, y: Array, lines: Lines, k: i64) {
    // SAFETY: the caller's.
    if k == lines.n / 2 + 1 && unsafe { dfti::transform::<T>(Kind::FromReal, x, y, lines) } {
        return;
    }
    // SAFETY: the caller's.
    if !short::fits(lines.n as usize) && unsafe { groups::from_real::<T>(x, y, lines, k) } {
        return;
    }
    let (n, k) = (lines.n as usize, k as usize);
    let some = |items: Range<usize>| {
        // SAFETY: the caller promises the sizes; each line is written by one thread.
        let (x, y) = unsafe { (x.lines::<T>(items.clone(), n), y.lines_mut::<Complex<T>>(items, k)) };
        let mut half = zeros::<T>(n / 2 + 1);
        let plan = (!short::fits(n)).then(|| locked(T::real()).plan_fft_forward(n));
        let mut scratch = zeros(plan.as_ref().map_or(0, |plan| plan.get_scratch_len()));
        let mut line = vec![T::zero(); n];
        for (at, x) in x.chunks_exact(n).enumerate() {
            match &plan {
                None => T::short().of_real(x, &mut half),
                Some(plan) => {
                    line.copy_from_slice(x);
                    // It fails for lengths other than the plan's alone.
                    let _ = plan.process_with_scratch(&mut line, &mut half, &mut scratch);
                }
            }
            y[at * k..][..k].iter_mut().enumerate().for_each(|(k, y)| *y = half.get(k).map_or_else(|| half[n - k].conj(), |z| *z));
        }
    };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn::<T>(some) }
}

/// Real lines from the first `k` frequencies of their spectrum. What must be real in it is taken to be.
unsafe fn to_real<T: Precision>(x: Array, y: Array, k: i64, lines: Lines) {
    // SAFETY: the caller's.
    if k == lines.n / 2 + 1 && unsafe { dfti::transform::<T>(Kind::ToReal, x, y, lines) } {
        return;
    }
    // SAFETY: the caller's.
    if !short::fits(lines.n as usize) && unsafe { groups::to_real::<T>(x, y, k, lines) } {
        return;
    }
    let (n, k) = (lines.n as usize, k as usize);
    let some = |items: Range<usize>| {
        // SAFETY: the caller promises the sizes; each line is written by one thread.
        let (x, y) = unsafe { (x.lines::<Complex<T>>(items.clone(), k), y.lines_mut::<T>(items, n)) };
        let plan = (!short::fits(n)).then(|| locked(T::real()).plan_fft_inverse(n));
        let mut scratch = zeros(plan.as_ref().map_or(0, |plan| plan.get_scratch_len()));
        let mut half = zeros::<T>(n / 2 + 1);
        let given = k.min(half.len());
        for (at, y) in y.chunks_exact_mut(n).enumerate() {
            // The plan works in what it is given.
            half[given..].fill(Complex::new(T::zero(), T::zero()));
            half[..given].copy_from_slice(&x[at * k..][..given]);
            half[0].im = T::zero();
            if n.is_multiple_of(2) {
                half[n / 2].im = T::zero();
            }
            match &plan {
                None => T::short().to_real(&half, y),
                Some(plan) => {
                    // As above.
                    let _ = plan.process_with_scratch(&mut half, y, &mut scratch);
                }
            }
        }
    };
    // SAFETY: the call is the caller's.
    unsafe { lines.turn::<T>(some) }
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

macro_rules! of_columns {
    ($($name:ident: $turned:literal)*) => {$(
        /// See `prim.library` for what it computes.
        ///
        /// # Safety
        /// The arrays hold `batch` matrices of complex numbers, of `n` rows and `m` columns and what becomes of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(call: *mut StrataCall, code: i32, x: Array, y: Array, batch: i64, n: i64, m: i64, options: i32) {
            let [rows, columns] = [n, m].map(|size| usize::try_from(size).unwrap_or(0));
            let (lines, matrices) = (Lines { call, batch, n }, Matrices { rows, columns, turned: $turned });
            // SAFETY: the caller's.
            unsafe {
                match dtype(code) {
                    Some(DType::C64) => complex_columns::<f32>(x, y, lines, matrices, options & 1 != 0),
                    Some(DType::C128) => complex_columns::<f64>(x, y, lines, matrices, options & 1 != 0),
                    _ => {}
                }
            }
        }
    )*};
}

of_columns! {
    strata_lib_fft_columns: false
    strata_lib_fft_turned: true
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
        for n in [1usize, 2, 5, 8, 12, 16, 17, 30, 101] {
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
            assert!((half[0].re - x[..n].iter().sum::<f64>()).abs() < 1e-11);
            assert!(x.iter().zip(&back).all(|(x, y)| (x * n as f64 - y).abs() < 1e-10), "{n}");
        }
    }

    #[test]
    fn lines_without_points_are_left_alone() {
        let mut y = vec![Complex::new(7.0, 7.0); 8];
        let lines = Lines { call: std::ptr::null_mut(), batch: 8, n: 0 };
        // SAFETY: nothing is read, and one frequency of each line would be written.
        unsafe { from_real::<f64>(array(&mut [0.0; 0]), array(&mut y), lines, 1) };
        assert!(y.iter().all(|z| *z == Complex::new(7.0, 7.0)));
    }

    #[test]
    fn columns_are_lines() {
        for (n, m) in [(1usize, 3usize), (5, 1), (12, 7), (17, 5), (17, 8), (32, 21), (34, 2)] {
            let x: Vec<_> = (0..2 * n * m).map(|i| Complex::new(((i * 37) % 11) as f64 - 5.0, ((i * 13) % 7) as f64)).collect();
            let turned = |x: &[Complex<f64>], rows: usize, columns: usize| -> Vec<_> {
                let place = |at: usize| at / (n * m) * n * m + at % rows * columns + at / rows % columns;
                (0..x.len()).map(|at| x[place(at)]).collect()
            };
            let mut lines = turned(&x, n, m);
            let (mut y, mut rows, mut z) = (x.clone(), x.clone(), x.clone());
            let all = |batch: usize| Lines { call: std::ptr::null_mut(), batch: batch as i64, n: n as i64 };
            for inverse in [false, true] {
                // SAFETY: two matrices, and as many lines as these have columns.
                unsafe {
                    let matrices = Matrices { rows: n, columns: m, turned: false };
                    complex_columns::<f64>(array(&mut x.clone()), array(&mut y), all(2), matrices, inverse);
                    complex_columns::<f64>(array(&mut x.clone()), array(&mut rows), all(2), Matrices { turned: true, ..matrices }, inverse);
                    complex::<f64>(array(&mut lines), array(&mut z), all(2 * m), inverse);
                }
                assert!(y.iter().zip(turned(&z, m, n)).all(|(y, z)| (y - z).norm() < 1e-11), "{n} {m}");
                assert!(rows.iter().zip(&z).all(|(y, z)| (y - z).norm() < 1e-11), "{n} {m}, as rows");
            }
        }
    }

    #[test]
    fn several_lines_are_what_the_definition_says() {
        for n in [15usize, 16, 21, 32] {
            let mut x: Vec<_> = (0..3 * n).map(|i| Complex::new(((i * 37) % 11) as f64 - 5.0, ((i * 13) % 7) as f64)).collect();
            for inverse in [false, true] {
                let mut y = vec![Complex::new(0.0, 0.0); 3 * n];
                // SAFETY: three lines each.
                unsafe {
                    complex::<f64>(array(&mut x), array(&mut y), Lines { call: std::ptr::null_mut(), batch: 3, n: n as i64 }, inverse)
                };
                let turn = std::f64::consts::TAU / n as f64 * if inverse { 1.0 } else { -1.0 };
                for (x, y) in x.chunks(n).zip(y.chunks(n)) {
                    for (k, y) in y.iter().enumerate() {
                        let sum: Complex<f64> =
                            x.iter().enumerate().map(|(j, x)| x * Complex::from_polar(1.0, turn * (j * k % n) as f64)).sum();
                        assert!((sum - y).norm() < 1e-10, "{n} {k}");
                    }
                }
            }
        }
    }
}
