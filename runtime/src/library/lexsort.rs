//! `strata_lib_lexsort`: the order of rows.

use std::ffi::c_void;

use super::sort::{Sorted, room, with_key};
use crate::abi::StrataCall;
use crate::memory::MemoryError;

/// The stable order of the rows of dense `n x m` matrices that compares first elements, then second ones, and so on.
///
/// `dtype` is the position in [`DType::ALL`](crate::dtype::DType::ALL). Returns 0, or 1 when the type cannot be ordered.
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
    use crate::dtype::DType;

    #[test]
    fn rows_are_compared_element_by_element() {
        let (input, mut order) = ([2i32, 0, 1, 9, 1, -3, 2, 0], [0i64; 4]);
        let code = DType::ALL.iter().position(|&known| known == DType::I32).unwrap() as i32;
        // SAFETY: four rows of two.
        let status = unsafe { strata_lib_lexsort(std::ptr::null_mut(), code, input.as_ptr().cast(), order.as_mut_ptr(), 1, 4, 2, 0) };
        assert_eq!((status, order), (0, [2, 1, 0, 3]));
    }
}
