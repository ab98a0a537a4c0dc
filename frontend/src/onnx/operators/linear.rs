//! Products of matrices.

use strata_core::ir::ElementType;
use strata_dialects::aten::op;

use super::activation::plain;
use crate::onnx::call::{Call, f, one, s, t, text, ts};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Det", |c| plain(c, op::LINALG_DET)),
    row("Einsum", |c| {
        let (inputs, equation) = (c.tensors()?, c.text("equation", "")?);
        let equation: String = equation.chars().filter(|character| !character.is_whitespace()).collect();
        c.op(op::EINSUM, &[text(&equation), ts(&inputs)]).map(one)
    }),
    row("Gemm", gemm),
    row("MatMul", |c| {
        let (a, b) = (c.tensor(0)?, c.tensor(1)?);
        c.op(op::MATMUL, &[t(a), t(b)]).map(one)
    }),
    row("MatMulInteger", |c| {
        let a = super::quantise::centred(c, 0, 2, ElementType::I32, -2)?;
        let b = super::quantise::centred(c, 1, 3, ElementType::I32, -1)?;
        c.op(op::MATMUL, &[t(a), t(b)]).map(one)
    }),
    row("QLinearMatMul", |c| {
        let a = super::quantise::centred(c, 0, 2, ElementType::I32, -2)?;
        let b = super::quantise::centred(c, 3, 5, ElementType::I32, -1)?;
        let product = c.op(op::MATMUL, &[t(a), t(b)])?;
        let rows = |c: &mut Call<'_, '_, '_>| c.rank(0);
        let (rank, columns) = (rows(c)?, c.rank(3)?);
        super::quantise::rescaled(c, product, [(1, rank.max(columns), -2), (4, rank.max(columns), -1)], 6, 7).map(one)
    }),
];

/// `alpha * a @ b + beta * c`, either matrix transposed.
fn gemm<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut a, mut b, bias) = (c.tensor(0)?, c.tensor(1)?, c.optional(2)?);
    if c.flag("transA", false) {
        a = c.op(op::T, &[t(a)])?;
    }
    if c.flag("transB", false) {
        b = c.op(op::T, &[t(b)])?;
    }
    let integer = c.dtype(0)?.is_integer();
    let number = |value: f64| if integer { s(value as i64) } else { f(value) };
    let (alpha, beta) = (c.float("alpha", 1.0), c.float("beta", 1.0));
    let mut product = c.op(op::MM, &[t(a), t(b)])?;
    if alpha != 1.0 {
        product = c.op(op::MUL_SCALAR, &[t(product), number(alpha)])?;
    }
    let Some(mut bias) = bias.filter(|_| beta != 0.0) else { return Ok(one(product)) };
    if beta != 1.0 {
        bias = c.op(op::MUL_SCALAR, &[t(bias), number(beta)])?;
    }
    c.op(op::ADD_TENSOR, &[t(product), t(bias)]).map(one)
}
