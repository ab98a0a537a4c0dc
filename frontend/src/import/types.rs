//! Types of values from the archive's descriptions.

use strata_core::ir::{Cx, DYNAMIC, ElementType, Type};

use super::error::Refusal;
use crate::pt2::{
    dtype::{Layout, ScalarType},
    expr::Expr,
    schema::{SymInt, TensorMeta},
};

/// The element type in the IR, where it has one.
pub(super) fn element(dtype: ScalarType) -> Result<ElementType, Refusal> {
    Ok(match dtype {
        ScalarType::U8 => ElementType::U8,
        ScalarType::I8 => ElementType::I8,
        ScalarType::I16 => ElementType::I16,
        ScalarType::I32 => ElementType::I32,
        ScalarType::I64 => ElementType::I64,
        ScalarType::F16 => ElementType::F16,
        ScalarType::F32 => ElementType::F32,
        ScalarType::F64 => ElementType::F64,
        ScalarType::C64 => ElementType::C64,
        ScalarType::C128 => ElementType::C128,
        ScalarType::Bool => ElementType::Bool,
        ScalarType::BF16 => ElementType::BF16,
        ScalarType::F8E4M3FN => ElementType::F8E4M3FN,
        ScalarType::F8E5M2 => ElementType::F8E5M2,
        ScalarType::U16 => ElementType::U16,
        ScalarType::U32 => ElementType::U32,
        ScalarType::U64 => ElementType::U64,
        other => return Err(Refusal::unsupported(format!("element type {other:?} has no counterpart in the IR"))),
    })
}

/// A size that is known, also when it was written as an expression.
pub(super) fn known(size: &SymInt) -> Option<i64> {
    match size {
        SymInt::Int(size) => Some(*size),
        SymInt::Expr(size) => size.expr_str.as_int(),
    }
}

/// The expression of a size.
pub(super) fn expr(size: &SymInt) -> Expr {
    match size {
        SymInt::Int(size) => Expr::Int(*size),
        SymInt::Expr(size) => size.expr_str.clone(),
    }
}

/// The tensor type; what is not known becomes `?`.
pub(super) fn tensor<'c>(cx: Cx<'c>, meta: &TensorMeta) -> Result<Type<'c>, Refusal> {
    if meta.layout != Layout::Strided {
        return Err(Refusal::unsupported(format!("a tensor of layout {} has no counterpart in the IR", meta.layout.name())));
    }
    let sizes: Vec<_> = meta.sizes.iter().map(|size| known(size).unwrap_or(DYNAMIC)).collect();
    if let Some(size) = sizes.iter().find(|size| **size < 0 && **size != DYNAMIC) {
        return Err(Refusal::broken(format!("{size} is not a size")));
    }
    Ok(cx.tensor(&sizes, cx.element(element(meta.dtype)?)))
}
