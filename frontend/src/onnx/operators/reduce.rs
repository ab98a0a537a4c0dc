//! Reductions, running sums, sorting.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Operator, op};

use crate::onnx::call::{Call, b, d, i, is, many, n, one, s, t, wrapped};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("ArgMax", |c| arg(c, op::ARGMAX)),
    row("ArgMin", |c| arg(c, op::ARGMIN)),
    row("CumProd", |c| running(c, op::CUMPROD, 1)),
    row("CumSum", |c| running(c, op::CUMSUM, 0)),
    row("ReduceL1", |c| reduce(c, Kind::Sum, Some(op::ABS), None)),
    row("ReduceL2", |c| reduce(c, Kind::Sum, Some(op::SQUARE), Some(op::SQRT))),
    row("ReduceLogSum", |c| reduce(c, Kind::Sum, None, Some(op::LOG))),
    row("ReduceLogSumExp", |c| reduce(c, Kind::LogSumExp, None, None)),
    row("ReduceMax", |c| reduce(c, Kind::Max, None, None)),
    row("ReduceMean", |c| reduce(c, Kind::Mean, None, None)),
    row("ReduceMin", |c| reduce(c, Kind::Min, None, None)),
    row("ReduceProd", |c| reduce(c, Kind::Prod, None, None)),
    row("ReduceSum", |c| reduce(c, Kind::Sum, None, None)),
    row("ReduceSumSquare", |c| reduce(c, Kind::Sum, Some(op::SQUARE), None)),
    row("TopK", top_k),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sum,
    Mean,
    Prod,
    Max,
    Min,
    LogSumExp,
}

/// A reduction, with what is computed of each element before and of the result after it.
fn reduce<'c>(c: &mut Call<'_, '_, 'c>, kind: Kind, before: Option<Operator>, after: Option<Operator>) -> Eval<Vec<Value<'c>>> {
    let mut x = c.tensor(0)?;
    let rank = x.ty().rank();
    let keep = c.flag("keepdims", true);
    let mut axes = c.axes(1, rank)?.unwrap_or_default();
    if let Some(before) = before {
        x = c.op(before, &[t(x)])?;
    }
    let noop = axes.is_empty() && c.flag("noop_with_empty_axes", false);
    if axes.is_empty() {
        axes = (0..rank as i64).collect();
    }
    let mut result = if noop { x } else { reduced(c, x, kind, &axes, keep)? };
    if let Some(after) = after {
        result = c.op(after, &[t(result)])?;
    }
    Ok(one(result))
}

fn reduced<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, kind: Kind, axes: &[i64], keep: bool) -> Eval<ir::Value<'c>> {
    let dtype = x.ty().element_type().ok_or("it has no element type")?;
    if axes.is_empty() {
        return Ok(x);
    }
    // Of no elements at all the largest and smallest are the ends of the type.
    let none = axes.iter().any(|axis| x.ty().shape()[*axis as usize] == 0);
    if none && matches!(kind, Kind::Max | Kind::Min) {
        let kept = c.op(op::SUM_DIM_INTLIST, &[t(x), is(axes), b(keep), d(dtype)])?;
        let end = end(c, dtype, kind == Kind::Min)?;
        return c.op(op::EXPAND_AS, &[t(end), t(kept)]);
    }
    match kind {
        Kind::Sum => c.op(op::SUM_DIM_INTLIST, &[t(x), is(axes), b(keep), d(dtype)]),
        Kind::Mean if dtype.is_float() || dtype.is_complex() => c.op(op::MEAN_DIM, &[t(x), is(axes), b(keep)]),
        Kind::Mean => {
            let sum = c.op(op::SUM_DIM_INTLIST, &[t(x), is(axes), b(keep), d(dtype)])?;
            let counted: i64 = axes.iter().map(|axis| x.ty().shape()[*axis as usize]).filter(|size| *size > 0).product();
            let known = axes.iter().all(|axis| x.ty().shape()[*axis as usize] > 0);
            if !known {
                return Err("the mean of integers over a size that only a call knows is not imported".into());
            }
            c.op(op::DIV_SCALAR_MODE, &[t(sum), s(counted), crate::onnx::call::text("trunc")])
        }
        Kind::Max => c.op(op::AMAX, &[t(x), is(axes), b(keep)]),
        Kind::Min => c.op(op::AMIN, &[t(x), is(axes), b(keep)]),
        Kind::LogSumExp => c.op(op::LOGSUMEXP, &[t(x), is(axes), b(keep)]),
        Kind::Prod => {
            let (mut axes, mut result) = (axes.to_vec(), x);
            axes.sort_unstable();
            for axis in axes.into_iter().rev() {
                result = c.op(op::PROD_DIM_INT, &[t(result), i(axis), b(keep), d(dtype)])?;
            }
            Ok(result)
        }
    }
}

/// The least or largest number of a type.
fn end<'c>(c: &mut Call<'_, '_, 'c>, dtype: ElementType, largest: bool) -> Eval<ir::Value<'c>> {
    use ElementType::*;
    let float = if largest { f64::INFINITY } else { f64::NEG_INFINITY };
    let (low, high) = match dtype {
        I8 => (i8::MIN.into(), i8::MAX.into()),
        I16 => (i16::MIN.into(), i16::MAX.into()),
        I32 => (i32::MIN.into(), i32::MAX.into()),
        I64 => (i64::MIN, i64::MAX),
        Bool => (0, 1),
        U8 => (0, u8::MAX.into()),
        U16 => (0, u16::MAX.into()),
        U32 => (0, u32::MAX.into()),
        _ => return c.number(float, dtype),
    };
    c.op(op::SCALAR_TENSOR, &[s(if largest { high } else { low.max(i64::MIN + 1) }), d(dtype)])
}

/// The place of the largest or smallest element along `axis`: the first, or the last.
fn arg<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let axis = c.axis(0, x.ty().rank())?;
    let keep = c.flag("keepdims", true);
    if !c.flag("select_last_index", false) {
        return c.op(operator, &[t(x), i(axis), b(keep)]).map(one);
    }
    let flipped = c.op(op::FLIP, &[t(x), is(&[axis])])?;
    let from_end = c.op(operator, &[t(flipped), i(axis), b(keep)])?;
    let size = c.importer.size_of(x, axis as usize);
    let size = c.importer.tensor(&Value::number(ElementType::I64, size))?;
    let last = c.op(op::SUB_TENSOR, &[t(size), t(from_end)])?;
    c.op(op::SUB_SCALAR, &[t(last), s(1)]).map(one)
}

/// A running sum or product, which leaves its own element out, or runs backwards.
fn running<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator, neutral: i64) -> Eval<Vec<Value<'c>>> {
    let mut x = c.tensor(0)?;
    let (rank, dtype) = (x.ty().rank(), c.dtype(0)?);
    let axis = wrapped(c.known_int(1)?, rank)?;
    let reverse = c.flag("reverse", false);
    if reverse {
        x = c.op(op::FLIP, &[t(x), is(&[axis])])?;
    }
    let mut result = c.op(operator, &[t(x), i(axis), d(dtype)])?;
    if c.flag("exclusive", false) {
        // One neutral element before, one less behind.
        let mut pads = vec![0; 2 * rank];
        pads[2 * (rank - 1 - axis as usize)] = 1;
        pads[2 * (rank - 1 - axis as usize) + 1] = -1;
        result = c.op(op::CONSTANT_PAD_ND, &[t(result), is(&pads), s(neutral)])?;
    }
    if reverse {
        result = c.op(op::FLIP, &[t(result), is(&[axis])])?;
    }
    Ok(one(result))
}

/// The largest or smallest elements with their places; of equal ones the first.
fn top_k<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let axis = c.axis(-1, x.ty().rank())?;
    let count = match c.numbers(1)?[..] {
        [count] => count,
        ref other => return Err(format!("its input 1 is {} numbers and not one", other.len()).into()),
    };
    if let Num::Int(count) = count
        && let size @ 0.. = x.ty().shape()[axis as usize]
        && !(0..=size).contains(&count)
    {
        return Err(format!("{count} elements are wanted of {size}").into());
    }
    let sorted = c.ops(op::SORT_STABLE, &[t(x), b(true), i(axis), b(c.flag("largest", true))])?;
    let first = |c: &mut Call<'_, '_, 'c>, value| c.op(op::SLICE_TENSOR, &[t(value), i(axis), i(0), n(count)]);
    Ok(many(vec![first(c, sorted[0])?, first(c, sorted[1])?]))
}
