//! The arrays that an image hands to a library kernel: a batch of dense matrices, lines or numbers each.

use std::any::TypeId;
use std::ffi::c_void;
use std::ops::Range;

use super::host;
use super::linalg::matrix::Matrix;
use super::linalg::number::Number;
use crate::abi::StrataCall;
use crate::imports::state;
use crate::pool;

/// Memory of one operand or result. An operand is never written.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Array(*mut c_void);

// SAFETY: items of a batch are disjoint, and each is written by the one thread that computes it.
unsafe impl Sync for Array {}
// SAFETY: as above.
unsafe impl Send for Array {}

impl Array {
    /// The memory from an address on.
    #[cfg(test)]
    pub fn over(memory: *mut c_void) -> Array {
        Array(memory)
    }

    /// Where the array begins.
    pub fn start(self) -> *mut c_void {
        self.0
    }

    /// Element `at` of an array of `T`.
    ///
    /// # Safety
    /// The array holds more than `at` elements of `T`.
    unsafe fn read<T: Copy>(self, at: usize) -> T {
        // SAFETY: the caller's.
        unsafe { *self.0.cast::<T>().add(at) }
    }

    /// Writes element `at` of an array of `T`.
    ///
    /// # Safety
    /// The array holds more than `at` elements of `T`, and no other thread uses this one.
    pub unsafe fn write<T>(self, at: usize, value: T) {
        // SAFETY: the caller's.
        unsafe { self.0.cast::<T>().add(at).write(value) }
    }

    /// Matrix `item` of a batch, as numbers of another precision.
    ///
    /// # Safety
    /// The array holds that many matrices of `T`.
    pub unsafe fn matrix<T: Number, N: Number>(self, item: usize, rows: usize, cols: usize) -> Matrix<N> {
        // SAFETY: the caller's.
        Matrix { rows, cols, data: unsafe { self.line::<T, N>(item, rows * cols) } }
    }

    /// Line `item` of a batch, as numbers of another precision.
    ///
    /// # Safety
    /// The array holds that many lines of `T`.
    pub unsafe fn line<T: Number, N: Number>(self, item: usize, n: usize) -> Vec<N> {
        // SAFETY: the caller's.
        let line = unsafe { self.lines::<T>(item..item + 1, n) };
        converted(line, |x| N::of(x.re(), x.im()))
    }

    /// Line `item` of a batch of integers.
    ///
    /// # Safety
    /// The array holds that many lines of `i32`.
    pub unsafe fn integers(self, item: usize, n: usize) -> Vec<i32> {
        // SAFETY: the caller's.
        (0..n).map(|k| unsafe { self.read::<i32>(item * n + k) }).collect()
    }

    /// Reads line `item` of a batch of numbers that are stored as they are.
    ///
    /// # Safety
    /// The array holds that many lines of `T`.
    pub unsafe fn get_plain<T: Copy>(self, item: usize, line: &mut [T]) {
        let n = line.len();
        // SAFETY: the caller's.
        line.iter_mut().enumerate().for_each(|(k, x)| *x = unsafe { self.read(item * n + k) });
    }

    /// Item `item` of a batch, which has `n` numbers.
    ///
    /// # Safety
    /// As for [`Array::lines`].
    pub unsafe fn item<'a, T>(self, item: usize, n: usize) -> &'a [T] {
        // SAFETY: the caller's.
        unsafe { self.lines(item..item + 1, n) }
    }

    /// The same, to write.
    ///
    /// # Safety
    /// As for [`Array::lines_mut`].
    pub unsafe fn item_mut<'a, T>(self, item: usize, n: usize) -> &'a mut [T] {
        // SAFETY: the caller's.
        unsafe { self.lines_mut(item..item + 1, n) }
    }

    /// Some lines of `n` numbers each that are stored as they are.
    ///
    /// # Safety
    /// The array holds these lines of `T`, and nobody writes them meanwhile.
    pub unsafe fn lines<'a, T>(self, lines: Range<usize>, n: usize) -> &'a [T] {
        if lines.is_empty() || n == 0 {
            return &[];
        }
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts(self.0.cast::<T>().add(lines.start * n), lines.len() * n) }
    }

    /// The same, to write.
    ///
    /// # Safety
    /// The array holds these lines of `T`, and nobody else uses them meanwhile.
    pub unsafe fn lines_mut<'a, T>(self, lines: Range<usize>, n: usize) -> &'a mut [T] {
        if lines.is_empty() || n == 0 {
            return &mut [];
        }
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.0.cast::<T>().add(lines.start * n), lines.len() * n) }
    }

    /// Writes line `item` of a batch, rounded to its elements; a matrix is the line of these.
    ///
    /// # Safety
    /// The array holds that many lines of `T`, and no other thread uses this one.
    pub unsafe fn put<T: Number, N: Number>(self, item: usize, line: &[N]) {
        // SAFETY: the caller's.
        let to = unsafe { self.lines_mut::<T>(item..item + 1, line.len()) };
        match same::<N, T>(line) {
            Some(line) => to.copy_from_slice(line),
            None => to.iter_mut().zip(line).for_each(|(to, x)| *to = T::of(x.re(), x.im())),
        }
    }

    /// Writes line `item` of a batch of numbers that are stored as they are.
    ///
    /// # Safety
    /// The array holds that many lines of `T`, and no other thread uses this one.
    pub unsafe fn put_plain<T: Copy>(self, item: usize, line: &[T]) {
        // SAFETY: the caller's.
        line.iter().enumerate().for_each(|(k, x)| unsafe { self.write(item * line.len() + k, *x) });
    }
}

/// Numbers as those of a type that is their own.
fn same<T: 'static, N: 'static>(line: &[T]) -> Option<&[N]> {
    // SAFETY: the types are the same.
    (TypeId::of::<T>() == TypeId::of::<N>()).then(|| unsafe { std::slice::from_raw_parts(line.as_ptr().cast(), line.len()) })
}

/// A copy of numbers, each converted where its type is another one.
fn converted<T: Copy + 'static, N: Copy + 'static>(line: &[T], convert: impl Fn(T) -> N) -> Vec<N> {
    same(line).map_or_else(|| line.iter().map(|x| convert(*x)).collect(), <[N]>::to_vec)
}

/// What an item of a batch costs.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Steps.
    pub work: usize,
    /// Bytes that are put aside for it.
    pub room: usize,
}

/// Computes every item of a batch, on several threads when the work of an item is worth it. Where there is no memory for what items
/// put aside the call fails, and no item is computed.
///
/// # Safety
/// The call is running on this thread, or null.
pub unsafe fn each(call: *mut StrataCall, batch: i64, cost: Cost, item: impl Fn(usize) + Sync) {
    // SAFETY: the caller's.
    unsafe { pieces(call, batch, cost, |items| items.for_each(&item)) }
}

/// The same for items that share what they put aside: computes a range of them at a time.
///
/// # Safety
/// As for [`each`].
pub unsafe fn pieces(call: *mut StrataCall, batch: i64, cost: Cost, piece: impl Fn(Range<usize>) + Sync) {
    const GRAIN: usize = 1 << 15;
    let (pool, grain) = (pool::global(), (GRAIN / cost.work.max(1)).max(1) as i64);
    let at_once = pool.threads().min(usize::try_from(batch).unwrap_or(0));
    // SAFETY: the caller's.
    let share = (!call.is_null()).then(|| unsafe { state(call) }.aside(cost.room.saturating_mul(at_once)));
    if share.as_ref().is_none_or(Option::is_some) {
        pool.each(batch, grain, |begin, end| match at_once {
            0 | 1 => piece(begin as usize..end as usize),
            _ => host::side_by_side(|| piece(begin as usize..end as usize)),
        });
    }
}

/// Runs the body for each item of a batch, with `$T` the element type that the code says, and `$N` the numbers that are computed with: its
/// own where `$single` holds, those of double precision elsewhere. `$room` counts the numbers that are put aside.
macro_rules! batched {
    ($call:expr, $dtype:expr, $batch:expr, ($work:expr, $room:expr), $single:expr, |$T:ident, $N:ident, $item:ident| $body:expr) => {{
        use $crate::dtype::DType;
        macro_rules! each {
            ($element:ty, $number:ty) => {{
                type $T = $element;
                #[allow(dead_code)] // Some functions have a precision of their own.
                type $N = $number;
                let bytes = size_of::<<$T as $crate::library::linalg::number::Element>::Double>();
                let cost = $crate::library::array::Cost { work: $work, room: bytes.saturating_mul($room) };
                // It says whose threads run the items, so it is asked before they do.
                let _ = <$T as $crate::library::linalg::number::Number>::lapack();
                $crate::library::array::each($call, $batch, cost, |$item| $body)
            }};
        }
        match usize::try_from($dtype).ok().and_then(|at| DType::ALL.get(at)) {
            Some(DType::F32) if $single => each!(f32, f32),
            Some(DType::F32) => each!(f32, f64),
            Some(DType::F64) => each!(f64, f64),
            Some(DType::C64) if $single => each!(num_complex::Complex32, num_complex::Complex32),
            Some(DType::C64) => each!(num_complex::Complex32, num_complex::Complex64),
            Some(DType::C128) => each!(num_complex::Complex64, num_complex::Complex64),
            _ => {}
        }
    }};
}
pub(super) use batched;
