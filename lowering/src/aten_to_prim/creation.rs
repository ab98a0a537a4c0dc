//! Tensors made from numbers. The declared result type tells the element type.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::rule::Precision::Exact;
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_EFFICIENTZEROTENSOR, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(ARANGE, Exact, arange),
    one(ARANGE_START, Exact, arange),
    one(ARANGE_START_STEP, Exact, arange),
    one(EMPTY_MEMORY_FORMAT, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(EMPTY_LIKE, Exact, |a| filled_like(a, Scalar::Int(0))),
    one(EMPTY_PERMUTED, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(EMPTY_STRIDED, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(EYE, Exact, eye),
    one(EYE_M, Exact, eye),
    one(FILL_SCALAR, Exact, |a| filled_like(a, a.scalar("value"))),
    one(FILL_TENSOR, Exact, |a| a.as_type("value", a.result_dtype(0)).broadcast_to(&a.tensor("self").shape())),
    one(FULL, Exact, |a| filled(a, a.scalar("fill_value"), "size")),
    one(FULL_LIKE, Exact, |a| filled_like(a, a.scalar("fill_value"))),
    one(LINALG_VANDER, Exact, |a| vander(a, "N", false)),
    one(LINSPACE, Exact, linspace),
    one(LINSPACE_SCALAR_TENSOR, Exact, linspace),
    one(LINSPACE_TENSOR_SCALAR, Exact, linspace),
    one(LINSPACE_TENSOR_TENSOR, Exact, linspace),
    one(LOGSPACE, Exact, logspace),
    one(LOGSPACE_SCALAR_TENSOR, Exact, logspace),
    one(LOGSPACE_TENSOR_SCALAR, Exact, logspace),
    one(LOGSPACE_TENSOR_TENSOR, Exact, logspace),
    one(NEW_EMPTY, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(NEW_EMPTY_STRIDED, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(NEW_FULL, Exact, |a| filled(a, a.scalar("fill_value"), "size")),
    one(NEW_ONES, Exact, |a| filled(a, Scalar::Int(1), "size")),
    one(NEW_ZEROS, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(ONES, Exact, |a| filled(a, Scalar::Int(1), "size")),
    one(ONES_LIKE, Exact, |a| filled_like(a, Scalar::Int(1))),
    one(SCALAR_TENSOR, Exact, |a| a.prim.constant(a.result_dtype(0), a.scalar("s"))),
    one(TRIL_INDICES, Exact, |a| triangle_indices(a, |row, col, offset| col <= row + offset)),
    one(TRIU_INDICES, Exact, |a| triangle_indices(a, |row, col, offset| col >= row + offset)),
    one(VANDER, Exact, |a| vander(a, "N", !a.bool("increasing"))),
    one(ZERO, Exact, |a| filled_like(a, Scalar::Int(0))),
    one(ZEROS, Exact, |a| filled(a, Scalar::Int(0), "size")),
    one(ZEROS_LIKE, Exact, |a| filled_like(a, Scalar::Int(0))),
];

fn filled<'c>(a: &Args<'c>, number: Scalar<'c>, size: &str) -> Tensor<'c> {
    a.prim.full(a.result_dtype(0), number, &a.sizes(size))
}

fn filled_like<'c>(a: &Args<'c>, number: Scalar<'c>) -> Tensor<'c> {
    a.prim.full(a.result_dtype(0), number, &a.tensor("self").shape())
}

/// `start, start + step, ..` below `end`.
fn arange<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.result_dtype(0);
    let start = if a.has("start") { a.scalar("start") } else { Scalar::Int(0) };
    let step = if a.has("step") { a.scalar("step") } else { Scalar::Int(1) };
    let end = a.scalar("end");
    let count = match (number(start), number(end), number(step)) {
        (Some(start), Some(end), Some(step)) if step != 0.0 => Size::Const(((end - start) / step).ceil().max(0.0) as i64),
        _ => {
            let (start, step, end) = (integer(a, start), integer(a, step), integer(a, end));
            match step.known() {
                Some(0) => a.fail("a range needs a step other than 0"),
                Some(_) => {}
                None => a.guard_at_most(Size::Const(1), step, "a range of symbolic step {0} goes up", &[step]),
            }
            let (from, to) = if step.known().is_some_and(|step| step < 0) { (end, start) } else { (start, end) };
            let span = to - from;
            if !(from.known() == Some(0) && to.is_of_tensor()) {
                let text = "a range from {0} to {1}: upper bound and lower bound are inconsistent with the sign of the step";
                a.guard_at_most(from, to, text, &[start, end]);
                a.guard_at_most(Size::Const(0), span, "a range from {0} to {1} has more elements than can be counted", &[start, end]);
            }
            match step.known() {
                Some(step) => span.ceil_div(step.abs().max(1)),
                None => (span + step - 1) / step,
            }
        }
    };
    // PyTorch computes float ranges in f64.
    let work = if dtype.is_float() { DType::F64 } else { dtype };
    let positions = a.prim.range(work, count);
    let scaled = if number(step) == Some(1.0) { positions } else { positions * step };
    let moved = if number(start) == Some(0.0) { scaled } else { scaled + start };
    moved.convert(dtype)
}

fn number(scalar: Scalar<'_>) -> Option<f64> {
    match scalar {
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        Scalar::Bool(value) => Some(f64::from(u8::from(value))),
        Scalar::Complex(..) | Scalar::Value(_) => None,
    }
}

fn integer<'c>(a: &Args<'c>, scalar: Scalar<'c>) -> Size<'c> {
    match scalar {
        Scalar::Int(value) => Size::Const(value),
        Scalar::Value(value) if value.ty().is_index() => a.prim.symbol(value),
        _ => {
            a.fail("a symbolic range must be of integers");
            Size::Const(1)
        }
    }
}

fn eye<'c>(a: &Args<'c>) -> Tensor<'c> {
    let rows = a.size("n");
    let shape = [rows, if a.has("m") { a.size("m") } else { rows }];
    let diagonal = a.prim.iota(DType::I64, &shape, 0).equal(a.prim.iota(DType::I64, &shape, 1));
    diagonal.convert(a.result_dtype(0))
}

/// Evenly spaced numbers, computed from both ends so that the last one is exact.
fn spaced<'c>(a: &Args<'c>, work: DType) -> Tensor<'c> {
    // Integers are cut before they are spaced.
    let bound = |name| a.as_type(name, a.result_dtype(0)).convert(work);
    let (start, end, steps) = (bound("start"), bound("end"), a.int("steps"));
    let positions = a.prim.range(work.real_part(), steps);
    if steps <= 1 {
        return start.broadcast_to(&positions.shape());
    }
    let step = (end - start) / (steps - 1) as f64;
    let low = start + step * positions.convert(work);
    let high = end - step * (-positions + (steps - 1) as f64).convert(work);
    positions.less((steps / 2) as f64).select(low, high)
}

fn spaced_type(dtype: DType) -> DType {
    if dtype.is_complex() { dtype } else { DType::F64 }
}

fn linspace<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.result_dtype(0);
    spaced(a, spaced_type(dtype)).convert(dtype)
}

fn logspace<'c>(a: &Args<'c>) -> Tensor<'c> {
    let dtype = a.result_dtype(0);
    let exponents = spaced(a, spaced_type(dtype));
    exponents.number(Scalar::Float(a.float("base"))).pow(exponents).convert(dtype)
}

/// The positions of a triangle of a matrix: row numbers, then column numbers.
fn triangle_indices<'c>(a: &Args<'c>, inside: fn(i64, i64, i64) -> bool) -> Tensor<'c> {
    let (rows, cols, offset) = (a.int("row"), a.int("col"), a.int("offset"));
    let (rows, cols) = if a.may_write("a triangle", rows.max(0), cols.max(0)) { (rows, cols) } else { (0, 0) };
    let all = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let kept: Vec<(i64, i64)> = all.filter(|(row, col)| inside(*row, *col, offset)).collect();
    let flat: Vec<i64> = kept.iter().map(|p| p.0).chain(kept.iter().map(|p| p.1)).collect();
    a.prim.int_vector(&flat).reshape(&[2.into(), (kept.len() as i64).into()]).convert(a.result_dtype(0))
}

/// Powers of a vector's elements as columns: running products, as PyTorch has them.
fn vander<'c>(a: &Args<'c>, count: &str, decreasing: bool) -> Tensor<'c> {
    let x = if a.has("x") { a.tensor("x") } else { a.tensor("self") };
    let x = if x.dtype().is_integral() { x.convert(DType::I64) } else { x };
    let x = if x.rank() == 0 { x.unsqueeze(0) } else { x };
    let last = x.rank() - 1;
    let n = a.opt_size(count).unwrap_or(x.size(last));
    let mut shape = x.shape().to_vec();
    shape.push(n);
    let factors = x.unsqueeze(last + 1).broadcast_to(&shape);
    let first = a.prim.range(DType::I64, n).equal(0);
    let powers = factors.fill_where(first, 1).scan("prod", last + 1);
    if decreasing { powers.reverse(&[last + 1]) } else { powers }
}
