//! Comparisons, logic, bits, predicates and selection.

use strata_core::ir::Value;
use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::pointwise::{pair, signbit};
use super::rule::Precision::Exact;
use super::rule::{Rule, one, scalar, unary};

pub(super) const RULES: &[Rule] = &[
    one(__AND___SCALAR, Exact, |a| pair(a, Tensor::and)),
    one(__AND___TENSOR, Exact, |a| pair(a, Tensor::and)),
    one(__LSHIFT___SCALAR, Exact, |a| pair(a, Tensor::shift_left)),
    one(__LSHIFT___TENSOR, Exact, |a| pair(a, Tensor::shift_left)),
    one(__OR___SCALAR, Exact, |a| pair(a, Tensor::or)),
    one(__OR___TENSOR, Exact, |a| pair(a, Tensor::or)),
    one(__RSHIFT___SCALAR, Exact, |a| pair(a, Tensor::shift_right)),
    one(__RSHIFT___TENSOR, Exact, |a| pair(a, Tensor::shift_right)),
    one(__XOR___SCALAR, Exact, |a| pair(a, Tensor::xor)),
    one(__XOR___TENSOR, Exact, |a| pair(a, Tensor::xor)),
    scalar(ALLCLOSE, allclose),
    one(BITWISE_AND_SCALAR, Exact, |a| pair(a, Tensor::and)),
    one(BITWISE_AND_SCALAR_TENSOR, Exact, |a| pair(a, Tensor::and)),
    one(BITWISE_AND_TENSOR, Exact, |a| pair(a, Tensor::and)),
    one(BITWISE_LEFT_SHIFT_SCALAR_TENSOR, Exact, |a| pair(a, Tensor::shift_left)),
    one(BITWISE_LEFT_SHIFT_TENSOR, Exact, |a| pair(a, Tensor::shift_left)),
    one(BITWISE_LEFT_SHIFT_TENSOR_SCALAR, Exact, |a| pair(a, Tensor::shift_left)),
    unary(BITWISE_NOT, Exact, |x| !x),
    one(BITWISE_OR_SCALAR, Exact, |a| pair(a, Tensor::or)),
    one(BITWISE_OR_SCALAR_TENSOR, Exact, |a| pair(a, Tensor::or)),
    one(BITWISE_OR_TENSOR, Exact, |a| pair(a, Tensor::or)),
    one(BITWISE_RIGHT_SHIFT_SCALAR_TENSOR, Exact, |a| pair(a, Tensor::shift_right)),
    one(BITWISE_RIGHT_SHIFT_TENSOR, Exact, |a| pair(a, Tensor::shift_right)),
    one(BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, Exact, |a| pair(a, Tensor::shift_right)),
    one(BITWISE_XOR_SCALAR, Exact, |a| pair(a, Tensor::xor)),
    one(BITWISE_XOR_SCALAR_TENSOR, Exact, |a| pair(a, Tensor::xor)),
    one(BITWISE_XOR_TENSOR, Exact, |a| pair(a, Tensor::xor)),
    one(EQ_SCALAR, Exact, |a| pair(a, Tensor::equal)),
    one(EQ_TENSOR, Exact, |a| pair(a, Tensor::equal)),
    scalar(EQUAL, equal),
    one(GE_SCALAR, Exact, |a| pair(a, Tensor::greater_equal)),
    one(GE_TENSOR, Exact, |a| pair(a, Tensor::greater_equal)),
    one(GREATER_SCALAR, Exact, |a| pair(a, Tensor::greater)),
    one(GREATER_TENSOR, Exact, |a| pair(a, Tensor::greater)),
    one(GREATER_EQUAL_SCALAR, Exact, |a| pair(a, Tensor::greater_equal)),
    one(GREATER_EQUAL_TENSOR, Exact, |a| pair(a, Tensor::greater_equal)),
    one(GT_SCALAR, Exact, |a| pair(a, Tensor::greater)),
    one(GT_TENSOR, Exact, |a| pair(a, Tensor::greater)),
    one(ISCLOSE, Exact, isclose),
    unary(ISFINITE, Exact, isfinite),
    unary(ISINF, Exact, isinf),
    unary(ISNAN, Exact, |x| x.is_nan()),
    unary(ISNEGINF, Exact, |x| is_value(x, f64::NEG_INFINITY)),
    unary(ISPOSINF, Exact, |x| is_value(x, f64::INFINITY)),
    unary(ISREAL, Exact, isreal),
    one(LE_SCALAR, Exact, |a| pair(a, Tensor::less_equal)),
    one(LE_TENSOR, Exact, |a| pair(a, Tensor::less_equal)),
    one(LESS_SCALAR, Exact, |a| pair(a, Tensor::less)),
    one(LESS_TENSOR, Exact, |a| pair(a, Tensor::less)),
    one(LESS_EQUAL_SCALAR, Exact, |a| pair(a, Tensor::less_equal)),
    one(LESS_EQUAL_TENSOR, Exact, |a| pair(a, Tensor::less_equal)),
    one(LOGICAL_AND, Exact, |a| logical(a, Tensor::and)),
    unary(LOGICAL_NOT, Exact, |x| !truth(x)),
    one(LOGICAL_OR, Exact, |a| logical(a, Tensor::or)),
    one(LOGICAL_XOR, Exact, |a| logical(a, Tensor::xor)),
    one(LT_SCALAR, Exact, |a| pair(a, Tensor::less)),
    one(LT_TENSOR, Exact, |a| pair(a, Tensor::less)),
    one(MASKED_FILL_SCALAR, Exact, masked_fill),
    one(MASKED_FILL_TENSOR, Exact, masked_fill),
    one(NE_SCALAR, Exact, |a| pair(a, Tensor::not_equal)),
    one(NE_TENSOR, Exact, |a| pair(a, Tensor::not_equal)),
    one(NOT_EQUAL_SCALAR, Exact, |a| pair(a, Tensor::not_equal)),
    one(NOT_EQUAL_TENSOR, Exact, |a| pair(a, Tensor::not_equal)),
    unary(SIGNBIT, Exact, signbit),
    one(WHERE_SCALAR, Exact, select),
    one(WHERE_SCALAROTHER, Exact, select),
    one(WHERE_SCALARSELF, Exact, select),
    one(WHERE_SELF, Exact, select),
];

/// Which elements are not zero.
pub(super) fn truth(x: Tensor<'_>) -> Tensor<'_> {
    x.convert(DType::Bool)
}

fn logical<'c>(a: &Args<'c>, f: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    f(truth(a.tensor("self")), truth(a.tensor("other")))
}

fn is_value(x: Tensor<'_>, value: f64) -> Tensor<'_> {
    if x.dtype().is_integral() { none(x) } else { x.equal(value) }
}

fn none(x: Tensor<'_>) -> Tensor<'_> {
    x.prim().full(DType::Bool, Scalar::Bool(false), &x.shape())
}

fn isinf(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() {
        return isinf(x.real()).or(isinf(x.imag()));
    }
    if x.dtype().is_integral() { none(x) } else { x.abs().equal(f64::INFINITY) }
}

fn isfinite(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() {
        return isfinite(x.real()).and(isfinite(x.imag()));
    }
    if x.dtype().is_integral() { !none(x) } else { x.abs().less(f64::INFINITY) }
}

fn isreal(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x.imag().equal(0) } else { !none(x) }
}

/// Whether two tensors have the same sizes and equal elements.
fn equal<'c>(a: &Args<'c>) -> Option<Value<'c>> {
    let (x, y) = (a.tensor("self"), a.tensor("other"));
    let (some, others) = (x.shape(), y.shape());
    let known = |(a, b): (&Size<'c>, &Size<'c>)| a.known().zip(b.known()).map(|(a, b)| a == b);
    let alike: Vec<_> = some.iter().zip(others.iter()).map(known).collect();
    if some.len() != others.len() || alike.contains(&Some(false)) {
        return Some(a.prim.constant(DType::Bool, Scalar::Int(0)).item());
    }
    if alike.contains(&None) {
        a.fail("whether the tensors have the same sizes is known at a call only");
    }
    Some(x.equal(y).reduce("and", &x.all_dims(), false).item())
}

fn allclose<'c>(a: &Args<'c>) -> Option<Value<'c>> {
    let close = isclose(a);
    Some(close.reduce("and", &close.all_dims(), false).item())
}

fn isclose<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    let mut close = x.equal(y);
    if a.bool("equal_nan") {
        close = close.or(x.is_nan().and(y.is_nan()));
    }
    let (rtol, atol) = (a.float("rtol"), a.float("atol"));
    if rtol == 0.0 && atol == 0.0 {
        return close;
    }
    let work = x.dtype().to_float();
    let (x, y) = (x.convert(work), y.convert(work));
    let error = (x - y).abs();
    close.or(isfinite(error).and(error.less_equal((y * rtol).abs() + atol)))
}

/// `where`: numbers and 0-d tensors promote as in arithmetic.
fn select<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    truth(a.tensor("condition")).select(x, y)
}

fn masked_fill<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    truth(a.tensor("mask")).select(a.as_type("value", x.dtype()), x)
}
