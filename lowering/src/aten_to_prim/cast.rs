//! Conversions, copies, complex parts, and questions about a tensor.

use strata_core::ir::Value;
use strata_dialects::aten::dtype::{Category, DType, Numeric};

use super::args::Args;
use super::builder::Scalar;
use super::rule::Precision::{Exact, Float};
use super::rule::{Rule, one, scalar, unary};
use super::size::Size;
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[
    scalar("aten._assert_async", |_| None),
    scalar("aten._assert_async.msg", |_| None),
    scalar("aten._assert_scalar", |_| None),
    scalar("aten._assert_tensor_metadata", |_| None),
    one("aten._cast_Byte", Exact, to_declared),
    one("aten._cast_Char", Exact, to_declared),
    one("aten._cast_Double", Exact, to_declared),
    one("aten._cast_Float", Exact, to_declared),
    one("aten._cast_Half", Exact, to_declared),
    one("aten._cast_Int", Exact, to_declared),
    one("aten._cast_Long", Exact, to_declared),
    one("aten._cast_Short", Exact, to_declared),
    unary("aten._conj", Exact, conj),
    unary("aten._conj_physical", Exact, conj),
    scalar("aten._local_scalar_dense", item),
    one("aten._to_copy", Exact, to_declared),
    unary("aten.alias", Exact, same),
    unary("aten.alias_copy", Exact, same),
    unary("aten.angle", Exact, angle),
    unary("aten.clone", Exact, same),
    one("aten.complex", Exact, |a| a.tensor("real").complex(a.tensor("imag"))),
    unary("aten.conj", Exact, conj),
    unary("aten.conj_physical", Exact, conj),
    unary("aten.contiguous", Exact, same),
    one("aten.copy", Exact, |a| a.as_type("src", a.result_dtype(0)).broadcast_to(&a.tensor("self").shape())),
    unary("aten.detach", Exact, same),
    unary("aten.detach_copy", Exact, same),
    unary("aten.imag", Exact, |x| x.imag()),
    scalar("aten.item", item),
    unary("aten.lift", Exact, same),
    unary("aten.lift_fresh", Exact, same),
    unary("aten.lift_fresh_copy", Exact, same),
    one("aten.native_dropout_backward", Float, native_dropout_backward),
    one("aten.polar", Exact, polar),
    unary("aten.real", Exact, |x| x.real()),
    unary("aten.resolve_conj", Exact, same),
    unary("aten.resolve_neg", Exact, same),
    scalar("aten.sym_numel", |a| Some(a.prim.index(a.raw("self").numel()))),
    scalar("aten.sym_size.int", sym_size),
    scalar("aten.sym_storage_offset", |a| Some(a.prim.index(Size::Const(0)))),
    one("aten.to.device", Exact, to_declared),
    one("aten.to.dtype", Exact, to_declared),
    one("aten.to.dtype_layout", Exact, to_declared),
    one("aten.to.other", Exact, to_declared),
    one("aten.type_as", Exact, to_declared),
    unary("aten.view_as_complex", Exact, view_as_complex),
    unary("aten.view_as_complex_copy", Exact, view_as_complex),
    unary("aten.view_as_real", Exact, view_as_real),
    unary("aten.view_as_real_copy", Exact, view_as_real),
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
