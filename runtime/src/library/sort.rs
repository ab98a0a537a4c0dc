//! `strata_lib_sort` and `strata_lib_lexsort`: a stable sort along one dimension with NaN as the largest value, as `prim.sort` says.
//! Elements become integers whose order is the wanted one, so one comparison serves every type.

use std::ffi::c_void;
use std::sync::OnceLock;

use half::{bf16, f16};

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

/// The stable order of the rows of dense `n x m` matrices that compares first elements, then second ones, and so on.
///
/// `dtype` is the position in [`DType::ALL`]. Returns 0, or 1 when the type cannot be ordered.
///
/// # Safety
/// `input` points at `batch * n * m` elements, `order` at `batch * n`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_lexsort(
    call: *mut StrataCall,
    dtype: i32,
    input: *const c_void,
    order: *mut i64,
    batch: i64,
    n: i64,
    m: i64,
    _options: i32,
) -> i32 {
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let matrices = Matrices { input, order, batch: size(batch), n: size(n), m: size(m) };
    // SAFETY: the caller promises the sizes; the element type is the one that `dtype` names.
    i32::from(unsafe { with_key(call, dtype, matrices) }.is_none())
}

/// What is sorted, of any element type.
trait Sorted {
    /// Sorts by the keys of elements.
    ///
    /// # Safety
    /// The memory holds elements of type `T`.
    unsafe fn sort<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError>;
}

/// An empty list with room for so many values.
fn room<T>(n: usize) -> Result<Vec<T>, MemoryError> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(|_| MemoryError::System { bytes: n.saturating_mul(size_of::<T>()) })?;
    Ok(list)
}

/// Sorts by the order of the element type that a code names; None when it has no order. The call fails where there is no memory for it.
///
/// # Safety
/// The memory holds elements of that type; the call is running, or null.
unsafe fn with_key(call: *mut StrataCall, dtype: i32, sorted: impl Sorted) -> Option<()> {
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
    match bits & (sign - 1) {
        magnitude if magnitude > infinity => sign + infinity + 1,
        magnitude if bits & sign != 0 => sign - magnitude,
        magnitude => sign + magnitude,
    }
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
        let grain = (4096 / self.n.max(1)).max(1);
        let outcome = OnceLock::new();
        pool::global().each(self.count, grain, |begin, end| {
            let mut order: Vec<(u64, i64)> = match room(self.n as usize) {
                Ok(order) => order,
                Err(error) => return drop(outcome.set(error)),
            };
            for row in begin..end {
                let start = (row / self.inner) * self.n * self.inner + row % self.inner;
                let at = |k: i64| (start + k * self.inner) as usize;
                order.clear();
                // SAFETY: `at` stays inside the row, which the caller promised is readable.
                order.extend((0..self.n).map(|k| (key(unsafe { *self.input.cast::<T>().add(at(k)) }), k)));
                // Positions make the order total, so that a sort which needs no memory is stable.
                if self.descending {
                    order.sort_unstable_by_key(|&(key, from)| (!key, from));
                } else {
                    order.sort_unstable();
                }
                for (k, &(_, from)) in order.iter().enumerate() {
                    // SAFETY: as above, for the outputs; no other thread has this row.
                    unsafe {
                        if !self.values.is_null() {
                            *self.values.cast::<T>().add(at(k as i64)) = *self.input.cast::<T>().add(at(from));
                        }
                        if !self.indices.is_null() {
                            *self.indices.add(at(k as i64)) = from;
                        }
                    }
                }
            }
        });
        outcome.into_inner().map_or(Ok(()), Err)
    }
}

/// Matrices whose rows to order.
struct Matrices {
    input: *const c_void,
    order: *mut i64,
    batch: usize,
    n: usize,
    m: usize,
}

impl Sorted for Matrices {
    unsafe fn sort<T: Copy>(&self, key: impl Fn(T) -> u64 + Sync) -> Result<(), MemoryError> {
        let (mut keys, mut order) = (room(self.n * self.m)?, room(self.n)?);
        for item in 0..self.batch {
            // SAFETY: the caller promises that many matrices.
            let at = |k: usize| key(unsafe { *self.input.cast::<T>().add(item * self.n * self.m + k) });
            keys.clear();
            keys.extend((0..self.n * self.m).map(at));
            order.clear();
            order.extend(0..self.n);
            let row = |r: usize| &keys[r * self.m..(r + 1) * self.m];
            order.sort_unstable_by(|a, b| row(*a).cmp(row(*b)).then(a.cmp(b)));
            for (k, &row) in order.iter().enumerate() {
                // SAFETY: the caller promises that many orders.
                unsafe { *self.order.add(item * self.n + k) = row as i64 };
            }
        }
        Ok(())
    }
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

    #[test]
    fn rows_are_compared_element_by_element() {
        let (input, mut order) = ([2i32, 0, 1, 9, 1, -3, 2, 0], [0i64; 4]);
        let code = DType::ALL.iter().position(|&known| known == DType::I32).unwrap() as i32;
        // SAFETY: four rows of two.
        let status = unsafe { strata_lib_lexsort(std::ptr::null_mut(), code, input.as_ptr().cast(), order.as_mut_ptr(), 1, 4, 2, 0) };
        assert_eq!((status, order), (0, [2, 1, 0, 3]));
    }

    #[test]
    fn rows_may_be_strided() {
        let (values, indices) = sort(DType::F32, &[3., 1., 2., 5., 1., 9.], (1, 3, 2), false);
        assert_eq!(values, [1., 1., 2., 5., 3., 9.]);
        assert_eq!(indices, [2, 0, 1, 1, 0, 2]);
    }
}
