//! PyTorch's `prims`: those that `aten` has under the same name and arguments are its decompositions; here are the others.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::prims::*;
use strata_dialects::aten::{Operator, Schema};
use strata_dialects::prim_builder::{Size, Tensor, product};

use super::args::Args;
use super::reduce::extreme;
use super::rule::Precision::{Compute, Exact, Wide};
use super::rule::{Rule, one, unary};
use super::special::ndtri;

pub(super) const RULES: &[Rule] = &[
    one(AMAX, Exact, |a| extreme(a.tensor("inp"), "max", &dims(a), false)),
    one(AMIN, Exact, |a| extreme(a.tensor("inp"), "min", &dims(a), false)),
    one(AS_STRIDED_SCATTER, Exact, super::scatter::as_strided_scatter),
    one(BROADCAST_IN_DIM, Exact, broadcast_in_dim),
    one(CAT, Exact, |a| a.prim.concat(&a.tensors("tensors"), a.int("dim").max(0) as usize)),
    one(COLLAPSE, Exact, collapse),
    one(COLLAPSE_VIEW, Exact, collapse),
    one(CONJ, Exact, |a| conj(a.tensor("a"))),
    one(CONVERT_ELEMENT_TYPE, Exact, |a| a.tensor("a").convert(a.result_dtype(0))),
    one(DIV, Exact, |a| a.tensor("self") / a.tensor("other")),
    unary(ERF_INV, Compute, |x| x.erfinv()),
    one(FMA, Wide, fma),
    one(FULL, Exact, |a| a.prim.full(a.result_dtype(0), a.scalar("fill_value"), &a.sizes("shape"))),
    one(FULL_LIKE, Exact, |a| a.prim.full(a.result_dtype(0), a.scalar("fill_value"), &a.tensor("a").shape())),
    one(IOTA, Exact, iota),
    unary(NDTRI, Compute, ndtri),
    one(POW, Exact, |a| a.tensor("self").pow(a.tensor("other"))),
    one(PROD, Exact, |a| total(a, "prod")),
    one(RESHAPE, Exact, |a| a.tensor("a").reshape(&a.sizes("shape"))),
    one(REV, Exact, |a| a.tensor("a").reverse(&a.dims("dims", a.tensor("a").rank()))),
    one(SHIFT_LEFT, Exact, |a| a.tensor("self").shift_left(a.tensor("other"))),
    one(SHIFT_RIGHT_ARITHMETIC, Exact, |a| a.tensor("self").shift_right(a.tensor("other"))),
    one(SPLIT_DIM, Exact, split_dim),
    one(SQUEEZE, Exact, |a| a.tensor("a").squeeze(&a.dims("dimensions", a.tensor("a").rank()))),
    one(SUM, Exact, |a| total(a, "sum")),
    one(TRANSPOSE, Exact, |a| a.tensor("a").transpose(&a.dims("permutation", a.tensor("a").rank()))),
    one(VAR, Compute, variance),
    one(VIEW_OF, Exact, |a| a.tensor("a")),
    one(WHERE, Exact, |a| a.tensor("pred").convert(DType::Bool).select(a.tensor("a"), a.tensor("b"))),
];

/// The `aten` operator that does the same with arguments of the same names.
pub(super) fn counterpart(operator: Operator) -> Option<Operator> {
    let short = operator.name().strip_prefix("prims.")?;
    let renamed = match short {
        "bessel_i0" => "i0",
        "bessel_i0e" => "special_i0e",
        "bessel_i1" => "special_i1",
        "bessel_i1e" => "special_i1e",
        "bessel_j0" => "special_bessel_j0",
        "bessel_j1" => "special_bessel_j1",
        "erfcx" => "special_erfcx",
        "spherical_bessel_j0" => "special_spherical_bessel_j0",
        "zeta" => "special_zeta",
        same => same,
    };
    let same = |found: &Schema| operator.schema().args.iter().all(|arg| found.arg(arg.name).is_some_and(|other| other.ty == arg.ty));
    let named = |overload: &&str| Operator::named(&format!("aten.{renamed}{overload}"));
    ["", ".Tensor", ".Scalar"].iter().filter_map(named).find(|found| same(found.schema()))
}

fn fma<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y, z] = a.promoted(["a", "b", "c"]);
    x * y + z
}

fn dims(a: &Args<'_>) -> Vec<usize> {
    a.dims_or_all("dims", a.raw("inp").rank())
}

fn total<'c>(a: &Args<'c>, kind: &str) -> Tensor<'c> {
    a.tensor("inp").convert(a.result_dtype(0)).reduce(kind, &dims(a), false)
}

fn variance<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, dims) = (a.tensor("inp"), dims(a));
    let spread = (x - x.mean(&dims, true)).abs().square().reduce("sum", &dims, false);
    let count = product(&dims.iter().map(|d| x.size(*d)).collect::<Vec<_>>());
    spread / (a.prim.size_tensor(spread.dtype(), count) - a.opt_float("correction").unwrap_or(1.0)).maximum(0.0)
}

fn conj(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x.real().complex(-x.imag()) } else { x }
}

fn broadcast_in_dim<'c>(a: &Args<'c>) -> Tensor<'c> {
    let shape = a.sizes("shape");
    a.tensor("a").broadcast_dims(&shape, &a.dims("broadcast_dimensions", shape.len()))
}

/// Merges the dimensions from `start` to `end`, the end included.
fn collapse<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("a");
    if x.rank() == 0 {
        return x.reshape(&[Size::Const(1)]);
    }
    let (start, end, shape) = (a.dim("start", x.rank()), a.dim("end", x.rank()), x.shape());
    if start > end {
        a.fail("the dimensions to collapse end before they start");
        return x;
    }
    x.reshape(&[&shape[..start], &[product(&shape[start..=end])], &shape[end + 1..]].concat())
}

fn split_dim<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("a");
    let (dim, outer, shape) = (a.dim("dim", x.rank()), a.size("outer_length"), x.shape());
    x.reshape(&[&shape[..dim], &[outer, x.size(dim) / outer], &shape[dim + 1..]].concat())
}

fn iota<'c>(a: &Args<'c>) -> Tensor<'c> {
    let positions = a.prim.range(DType::I64, a.size("length"));
    let (start, step) = (a.size("start"), a.size("step"));
    let scaled = if step.is_one() { positions } else { positions * step };
    let moved = if start.known() == Some(0) { scaled } else { scaled + start };
    moved.convert(a.result_dtype(0))
}
