//! Types of tensors as the IR has them.

use strata_core::ir::{Cx, DYNAMIC, Type};

use crate::pt2::dtype::ScalarType;

/// More elements than an address has room for are refused here, so that nothing below multiplies them.
const MAX_ELEMENTS: i64 = 1 << 46;

/// The type of a tensor; sizes may be symbolic.
pub(crate) fn tensor<'c>(cx: Cx<'c>, dtype: ScalarType, sizes: &[i64]) -> Result<Type<'c>, String> {
    let spelling = dtype.spelling().ok_or_else(|| format!("element type {dtype:?} has no counterpart in the IR"))?;
    spelled(cx, spelling, sizes)
}

/// The same, of an element type as the IR spells it.
pub(crate) fn spelled<'c>(cx: Cx<'c>, dtype: &str, sizes: &[i64]) -> Result<Type<'c>, String> {
    let element = cx.parse_type(dtype).ok_or_else(|| format!("`{dtype}` is no element type"))?;
    match checked_count(sizes) {
        Some(_) => Ok(cx.tensor(sizes, element)),
        None => Err(format!("a tensor of sizes {sizes:?} is too large")),
    }
}

/// The number of elements of sizes, those that are symbolic left out; `None` where it is more than an address has room for, or a size is
/// negative.
pub(crate) fn checked_count(sizes: &[i64]) -> Option<i64> {
    let known = sizes.iter().filter(|size| **size != DYNAMIC);
    let room = known.clone().try_fold(1i64, |count, size| count.checked_mul((*size).max(1)));
    let fits = room.is_some_and(|count| count <= MAX_ELEMENTS) && known.clone().all(|size| *size >= 0);
    fits.then(|| known.product())
}

/// The type of both: sizes that differ are symbolic.
pub(crate) fn widened<'c>(a: Type<'c>, b: Type<'c>) -> Result<Type<'c>, String> {
    if a == b {
        return Ok(a);
    }
    if !a.is_tensor() || !b.is_tensor() || a.element() != b.element() || a.rank() != b.rank() {
        return Err(format!("values of types {a} and {b} are no one variable"));
    }
    let shape: Vec<_> = a.shape().iter().zip(b.shape()).map(|(a, b)| if *a == b { *a } else { DYNAMIC }).collect();
    Ok(a.with_shape(&shape))
}
