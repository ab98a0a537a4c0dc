//! Conversions, copies, complex parts, and questions about a tensor.

use strata_core::ir::Value;
use strata_dialects::aten::dtype::{Category, DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::rule::Precision::{Exact, Float};
use super::rule::{Rule, one, scalar, unary};

pub(super) const RULES: &[Rule] = &[
    scalar(_ASSERT_ASYNC, |a| asserted(a, "a tensor that the program asserts is zero")),
    scalar(_ASSERT_ASYNC_MSG, |a| asserted(a, &a.str("assert_msg"))),
    scalar(_ASSERT_SCALAR, |_| None),
    scalar(_ASSERT_TENSOR_METADATA, |_| None),
    one(_CAST_BYTE, Exact, to_declared),
    one(_CAST_CHAR, Exact, to_declared),
    one(_CAST_DOUBLE, Exact, to_declared),
    one(_CAST_FLOAT, Exact, to_declared),
    one(_CAST_HALF, Exact, to_declared),
    one(_CAST_INT, Exact, to_declared),
    one(_CAST_LONG, Exact, to_declared),
    one(_CAST_SHORT, Exact, to_declared),
    unary(_CONJ, Exact, conj),
    unary(_CONJ_PHYSICAL, Exact, conj),
    one(_FUNCTIONAL_ASSERT_ASYNC_MSG, Exact, |a| {
        asserted(a, &a.str("assert_msg"));
        a.tensor("dep_token")
    }),
    scalar(_LOCAL_SCALAR_DENSE, item),
    one(_TO_COPY, Exact, to_declared),
    unary(ALIAS, Exact, same),
    unary(ALIAS_COPY, Exact, same),
    unary(ANGLE, Exact, angle),
    unary(CLONE, Exact, same),
    one(COMPLEX, Exact, |a| a.tensor("real").complex(a.tensor("imag"))),
    unary(CONJ, Exact, conj),
    unary(CONJ_PHYSICAL, Exact, conj),
    unary(CONTIGUOUS, Exact, same),
    one(COPY, Exact, |a| a.as_type("src", a.result_dtype(0)).broadcast_to(&a.tensor("self").shape())),
    unary(DETACH, Exact, same),
    unary(DETACH_COPY, Exact, same),
    unary(IMAG, Exact, |x| x.imag()),
    scalar(ITEM, item),
    unary(LIFT, Exact, same),
    unary(LIFT_FRESH, Exact, same),
    unary(LIFT_FRESH_COPY, Exact, same),
    one(NATIVE_DROPOUT_BACKWARD, Float, native_dropout_backward),
    one(POLAR, Exact, polar),
    unary(REAL, Exact, |x| x.real()),
    unary(RESOLVE_CONJ, Exact, same),
    unary(RESOLVE_NEG, Exact, same),
    scalar(SYM_NUMEL, |a| Some(a.prim.index(a.raw("self").numel()))),
    scalar(SYM_SIZE_INT, sym_size),
    scalar(SYM_STORAGE_OFFSET, |a| Some(a.prim.index(Size::Const(0)))),
    one(TO_DEVICE, Exact, to_declared),
    one(TO_DTYPE, Exact, to_declared),
    one(TO_DTYPE_LAYOUT, Exact, to_declared),
    one(TO_OTHER, Exact, to_declared),
    one(TYPE_AS, Exact, to_declared),
    unary(VIEW_AS_COMPLEX, Exact, view_as_complex),
    unary(VIEW_AS_COMPLEX_COPY, Exact, view_as_complex),
    unary(VIEW_AS_REAL, Exact, view_as_real),
    unary(VIEW_AS_REAL_COPY, Exact, view_as_real),
];

fn same(x: Tensor<'_>) -> Tensor<'_> {
    x
}

/// Device, layout and memory format do not exist below `aten`; the element type is the declared one.
fn to_declared<'c>(a: &Args<'c>) -> Tensor<'c> {
    a.tensor("self").convert(a.result_dtype(0))
}

fn conj(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x.real().complex(-x.imag()) } else { x }
}

/// The angle of a complex number; of a real one 0 or pi.
fn angle(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() {
        return x.imag().atan2(x.real());
    }
    let x = x.convert(x.dtype().to_float());
    let half_turn = x.less(0).select(x.number(Scalar::Float(std::f64::consts::PI)), 0.0);
    x.is_nan().select(x, half_turn)
}

fn polar<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [radius, angle] = a.prim.broadcast([a.tensor("abs"), a.tensor("angle")]);
    (radius * angle.cos()).complex(radius * angle.sin())
}

pub(super) fn view_as_real(x: Tensor<'_>) -> Tensor<'_> {
    let rank = x.rank();
    x.prim().concat(&[x.real().unsqueeze(rank), x.imag().unsqueeze(rank)], rank)
}

pub(super) fn view_as_complex(x: Tensor<'_>) -> Tensor<'_> {
    match x.rank().checked_sub(1) {
        Some(last) => x.at(last, 0).complex(x.at(last, 1)),
        None => {
            x.prim().fail("a complex view needs a last dimension of size 2");
            x
        }
    }
}

/// The one element of a tensor is not zero, or the call fails.
fn asserted<'c>(a: &Args<'c>, text: &str) -> Option<Value<'c>> {
    a.prim.guard(a.tensor("self").convert(DType::Bool).reshape(&[]), text, &[]);
    None
}

fn item<'c>(a: &Args<'c>) -> Option<Value<'c>> {
    let x = a.raw("self").reshape(&[]);
    Some(match x.dtype() {
        DType::Bool => x.item(),
        dtype if dtype.category() == Category::Float => x.convert(DType::F64).item(),
        _ => x.convert(DType::I64).item(),
    })
}

fn sym_size<'c>(a: &Args<'c>) -> Option<Value<'c>> {
    let x = a.raw("self");
    Some(a.prim.index(x.size(a.dim("dim", x.rank()))))
}

fn native_dropout_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let grad = a.tensor("grad_output");
    grad * a.raw("mask").convert(grad.dtype()) * a.float("scale")
}
