//! Types of tensors as the IR has them.

use strata_core::ir::{Cx, DYNAMIC, Type};

use crate::pt2::dtype::ScalarType;

/// More elements than an address has room for are refused here, so that nothing below multiplies them.
const MAX_ELEMENTS: i64 = 1 << 46;

/// The type of a tensor; sizes may be symbolic.
pub(super) fn tensor<'c>(cx: Cx<'c>, dtype: ScalarType, sizes: &[i64]) -> Result<Type<'c>, String> {
    let spelling = dtype.spelling().ok_or_else(|| format!("element type {dtype:?} has no counterpart in the IR"))?;
    spelled(cx, spelling, sizes)
}

/// The same, of an element type as the IR spells it.
pub(super) fn spelled<'c>(cx: Cx<'c>, dtype: &str, sizes: &[i64]) -> Result<Type<'c>, String> {
    let element = cx.parse_type(dtype).ok_or_else(|| format!("`{dtype}` is no element type"))?;
    let known = sizes.iter().filter(|size| **size != DYNAMIC);
    let count = known.clone().try_fold(1i64, |count, size| count.checked_mul((*size).max(1)));
    match count {
        Some(count) if count <= MAX_ELEMENTS && known.clone().all(|size| *size >= 0) => Ok(cx.tensor(sizes, element)),
        _ => Err(format!("a tensor of sizes {sizes:?} is too large")),
    }
}
