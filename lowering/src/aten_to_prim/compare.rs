//! Comparisons, logic, bits, predicates and selection.

use strata_dialects::aten::dtype::{DType, Numeric};

use super::args::Args;
use super::builder::Scalar;
use super::pointwise::{pair, signbit};
use super::rule::Precision::Exact;
use super::rule::{Rule, one, unary};
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[
    one("aten.__and__.Scalar", Exact, |a| pair(a, Tensor::and)),
    one("aten.__and__.Tensor", Exact, |a| pair(a, Tensor::and)),
    one("aten.__lshift__.Scalar", Exact, |a| pair(a, Tensor::shift_left)),
    one("aten.__lshift__.Tensor", Exact, |a| pair(a, Tensor::shift_left)),
    one("aten.__or__.Scalar", Exact, |a| pair(a, Tensor::or)),
    one("aten.__or__.Tensor", Exact, |a| pair(a, Tensor::or)),
    one("aten.__rshift__.Scalar", Exact, |a| pair(a, Tensor::shift_right)),
    one("aten.__rshift__.Tensor", Exact, |a| pair(a, Tensor::shift_right)),
    one("aten.__xor__.Scalar", Exact, |a| pair(a, Tensor::xor)),
    one("aten.__xor__.Tensor", Exact, |a| pair(a, Tensor::xor)),
    one("aten.bitwise_and.Scalar", Exact, |a| pair(a, Tensor::and)),
    one("aten.bitwise_and.Scalar_Tensor", Exact, |a| pair(a, Tensor::and)),
    one("aten.bitwise_and.Tensor", Exact, |a| pair(a, Tensor::and)),
    one("aten.bitwise_left_shift.Scalar_Tensor", Exact, |a| pair(a, Tensor::shift_left)),
    one("aten.bitwise_left_shift.Tensor", Exact, |a| pair(a, Tensor::shift_left)),
    one("aten.bitwise_left_shift.Tensor_Scalar", Exact, |a| pair(a, Tensor::shift_left)),
    unary("aten.bitwise_not", Exact, |x| !x),
    one("aten.bitwise_or.Scalar", Exact, |a| pair(a, Tensor::or)),
    one("aten.bitwise_or.Scalar_Tensor", Exact, |a| pair(a, Tensor::or)),
    one("aten.bitwise_or.Tensor", Exact, |a| pair(a, Tensor::or)),
    one("aten.bitwise_right_shift.Scalar_Tensor", Exact, |a| pair(a, Tensor::shift_right)),
    one("aten.bitwise_right_shift.Tensor", Exact, |a| pair(a, Tensor::shift_right)),
    one("aten.bitwise_right_shift.Tensor_Scalar", Exact, |a| pair(a, Tensor::shift_right)),
    one("aten.bitwise_xor.Scalar", Exact, |a| pair(a, Tensor::xor)),
    one("aten.bitwise_xor.Scalar_Tensor", Exact, |a| pair(a, Tensor::xor)),
    one("aten.bitwise_xor.Tensor", Exact, |a| pair(a, Tensor::xor)),
    one("aten.eq.Scalar", Exact, |a| pair(a, Tensor::equal)),
    one("aten.eq.Tensor", Exact, |a| pair(a, Tensor::equal)),
    one("aten.ge.Scalar", Exact, |a| pair(a, Tensor::greater_equal)),
    one("aten.ge.Tensor", Exact, |a| pair(a, Tensor::greater_equal)),
    one("aten.greater.Scalar", Exact, |a| pair(a, Tensor::greater)),
    one("aten.greater.Tensor", Exact, |a| pair(a, Tensor::greater)),
    one("aten.greater_equal.Scalar", Exact, |a| pair(a, Tensor::greater_equal)),
    one("aten.greater_equal.Tensor", Exact, |a| pair(a, Tensor::greater_equal)),
    one("aten.gt.Scalar", Exact, |a| pair(a, Tensor::greater)),
    one("aten.gt.Tensor", Exact, |a| pair(a, Tensor::greater)),
    one("aten.isclose", Exact, isclose),
    unary("aten.isfinite", Exact, isfinite),
    unary("aten.isinf", Exact, isinf),
    unary("aten.isnan", Exact, |x| x.is_nan()),
    unary("aten.isneginf", Exact, |x| is_value(x, f64::NEG_INFINITY)),
    unary("aten.isposinf", Exact, |x| is_value(x, f64::INFINITY)),
    unary("aten.isreal", Exact, isreal),
    one("aten.le.Scalar", Exact, |a| pair(a, Tensor::less_equal)),
    one("aten.le.Tensor", Exact, |a| pair(a, Tensor::less_equal)),
    one("aten.less.Scalar", Exact, |a| pair(a, Tensor::less)),
    one("aten.less.Tensor", Exact, |a| pair(a, Tensor::less)),
    one("aten.less_equal.Scalar", Exact, |a| pair(a, Tensor::less_equal)),
    one("aten.less_equal.Tensor", Exact, |a| pair(a, Tensor::less_equal)),
    one("aten.logical_and", Exact, |a| logical(a, Tensor::and)),
    unary("aten.logical_not", Exact, |x| !truth(x)),
    one("aten.logical_or", Exact, |a| logical(a, Tensor::or)),
    one("aten.logical_xor", Exact, |a| logical(a, Tensor::xor)),
    one("aten.lt.Scalar", Exact, |a| pair(a, Tensor::less)),
    one("aten.lt.Tensor", Exact, |a| pair(a, Tensor::less)),
    one("aten.masked_fill.Scalar", Exact, masked_fill),
    one("aten.masked_fill.Tensor", Exact, masked_fill),
    one("aten.ne.Scalar", Exact, |a| pair(a, Tensor::not_equal)),
    one("aten.ne.Tensor", Exact, |a| pair(a, Tensor::not_equal)),
    one("aten.not_equal.Scalar", Exact, |a| pair(a, Tensor::not_equal)),
    one("aten.not_equal.Tensor", Exact, |a| pair(a, Tensor::not_equal)),
    unary("aten.signbit", Exact, signbit),
    one("aten.where.Scalar", Exact, select),
    one("aten.where.ScalarOther", Exact, select),
    one("aten.where.ScalarSelf", Exact, select),
    one("aten.where.self", Exact, select),
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
