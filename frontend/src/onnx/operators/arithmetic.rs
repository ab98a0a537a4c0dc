//! Pointwise arithmetic, comparisons, logic and casts.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Operator, op};

use super::activation::plain;
use crate::onnx::call::{Call, f, one, ot, t, text};
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Abs", |c| plain(c, op::ABS)),
    row("Acos", |c| plain(c, op::ACOS)),
    row("Acosh", |c| plain(c, op::ACOSH)),
    row("Add", |c| binary(c, op::ADD_TENSOR)),
    row("And", |c| binary(c, op::LOGICAL_AND)),
    row("Asin", |c| plain(c, op::ASIN)),
    row("Asinh", |c| plain(c, op::ASINH)),
    row("Atan", |c| plain(c, op::ATAN)),
    row("Atanh", |c| plain(c, op::ATANH)),
    row("BitCast", bit_cast),
    row("BitShift", bit_shift),
    row("BitwiseAnd", |c| binary(c, op::BITWISE_AND_TENSOR)),
    row("BitwiseNot", |c| plain(c, op::BITWISE_NOT)),
    row("BitwiseOr", |c| binary(c, op::BITWISE_OR_TENSOR)),
    row("BitwiseXor", |c| binary(c, op::BITWISE_XOR_TENSOR)),
    row("Cast", |c| {
        let (x, to) = (c.tensor(0)?, dtype::element(c.int("to", 0))?);
        c.cast(x, to).map(one)
    }),
    row("CastLike", |c| {
        let (x, to) = (c.tensor(0)?, c.dtype(1)?);
        c.cast(x, to).map(one)
    }),
    row("Ceil", |c| plain(c, op::CEIL)),
    row("Clip", clip),
    row("Cos", |c| plain(c, op::COS)),
    row("Cosh", |c| plain(c, op::COSH)),
    row("Div", divide),
    row("Equal", |c| binary(c, op::EQ_TENSOR)),
    row("Erf", |c| plain(c, op::ERF)),
    row("Exp", |c| plain(c, op::EXP)),
    row("Floor", |c| plain(c, op::FLOOR)),
    row("Greater", |c| binary(c, op::GT_TENSOR)),
    row("GreaterOrEqual", |c| binary(c, op::GE_TENSOR)),
    row("IsInf", is_inf),
    row("IsNaN", |c| plain(c, op::ISNAN)),
    row("Less", |c| binary(c, op::LT_TENSOR)),
    row("LessOrEqual", |c| binary(c, op::LE_TENSOR)),
    row("Log", |c| plain(c, op::LOG)),
    row("Max", |c| variadic(c, op::MAXIMUM).map(one)),
    row("Mean", mean),
    row("Min", |c| variadic(c, op::MINIMUM).map(one)),
    row("Mod", |c| binary(c, if c.flag("fmod", false) { op::FMOD_TENSOR } else { op::REMAINDER_TENSOR })),
    row("Mul", |c| binary(c, op::MUL_TENSOR)),
    row("Neg", |c| plain(c, op::NEG)),
    row("Not", |c| plain(c, op::LOGICAL_NOT)),
    row("Or", |c| binary(c, op::LOGICAL_OR)),
    row("Pow", power),
    row("Reciprocal", |c| plain(c, op::RECIPROCAL)),
    row("Round", |c| plain(c, op::ROUND)),
    row("Sign", |c| plain(c, op::SIGN)),
    row("Sin", |c| plain(c, op::SIN)),
    row("Sinh", |c| plain(c, op::SINH)),
    row("Sqrt", |c| plain(c, op::SQRT)),
    row("Sub", |c| binary(c, op::SUB_TENSOR)),
    row("Sum", |c| variadic(c, op::ADD_TENSOR).map(one)),
    row("Tan", |c| plain(c, op::TAN)),
    row("Tanh", |c| plain(c, op::TANH)),
    row("Where", |c| {
        let (condition, yes, no) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
        c.op(op::WHERE_SELF, &[t(condition), t(yes), t(no)]).map(one)
    }),
    row("Xor", |c| binary(c, op::LOGICAL_XOR)),
];

fn binary<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let (a, b) = (c.tensor(0)?, c.tensor(1)?);
    c.op(operator, &[t(a), t(b)]).map(one)
}

/// An operator of two tensors over all inputs.
fn variadic<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<ir::Value<'c>> {
    let inputs = c.tensors()?;
    let (first, rest) = inputs.split_first().ok_or("it has no inputs")?;
    rest.iter().try_fold(*first, |result, next| c.op(operator, &[t(result), t(*next)]))
}

fn mean<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (sum, count) = (variadic(c, op::ADD_TENSOR)?, c.inputs.len());
    c.op(op::DIV_SCALAR, &[t(sum), f(count as f64)]).map(one)
}

/// Quotients of integers are rounded to zero.
fn divide<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (a, b) = (c.tensor(0)?, c.tensor(1)?);
    match c.dtype(0)?.is_integer() {
        true => c.op(op::DIV_TENSOR_MODE, &[t(a), t(b), text("trunc")]).map(one),
        false => c.op(op::DIV_TENSOR, &[t(a), t(b)]).map(one),
    }
}

/// The result has the base's type, whatever the exponent's.
fn power<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut base, mut exponent) = (c.tensor(0)?, c.tensor(1)?);
    let (to, of) = (c.dtype(0)?, c.dtype(1)?);
    if to.is_integer() && of.is_float() {
        base = c.cast(base, of)?;
    } else {
        exponent = c.cast(exponent, to)?;
    }
    let result = c.op(op::POW_TENSOR_TENSOR, &[t(base), t(exponent)])?;
    c.cast(result, to).map(one)
}

fn clip<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, low, high) = (c.tensor(0)?, c.optional(1)?, c.optional(2)?);
    if low.is_none() && high.is_none() {
        return Ok(one(x));
    }
    c.op(op::CLAMP_TENSOR, &[t(x), ot(low), ot(high)]).map(one)
}

fn bit_shift<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    match c.text("direction", "")? {
        "LEFT" => binary(c, op::BITWISE_LEFT_SHIFT_TENSOR),
        "RIGHT" => binary(c, op::BITWISE_RIGHT_SHIFT_TENSOR),
        other => Err(format!("its direction {other:?} is neither LEFT nor RIGHT").into()),
    }
}

fn bit_cast<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, from, to) = (c.tensor(0)?, c.dtype(0)?, dtype::element(c.int("to", 0))?);
    if from.bytes() != to.bytes() {
        return Err(format!("the bits of {from} are no {to}").into());
    }
    if from == ElementType::Bool || to == ElementType::Bool {
        return c.cast(x, to).map(one);
    }
    c.op(op::VIEW_DTYPE, &[t(x), crate::onnx::call::d(to)]).map(one)
}

fn is_inf<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    match (c.flag("detect_negative", true), c.flag("detect_positive", true)) {
        (true, true) => plain(c, op::ISINF),
        (true, false) => plain(c, op::ISNEGINF),
        (false, true) => plain(c, op::ISPOSINF),
        (false, false) => {
            let x = c.tensor(0)?;
            c.op(op::ZEROS_LIKE, &[t(x), crate::onnx::call::d(ElementType::Bool)]).map(one)
        }
    }
}
