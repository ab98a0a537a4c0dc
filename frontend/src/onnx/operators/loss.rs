//! Losses of classes.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::op;

use crate::onnx::call::{Call, b, d, i, is, many, one, s, t};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("NegativeLogLikelihoodLoss", |c| {
        let x = c.tensor(0)?;
        likelihood(c, x).map(one)
    }),
    row("SoftmaxCrossEntropyLoss", |c| {
        let x = c.tensor(0)?;
        let log = c.op(op::LOG_SOFTMAX_INT, &[t(x), i(1)])?;
        let loss = likelihood(c, log)?;
        Ok(many(vec![loss, log]))
    }),
];

/// Minus the weighted logarithm of the target's probability; `x` has the classes in dimension 1.
fn likelihood<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let (target, weight) = (c.tensor(1)?, c.optional(2)?);
    let dtype = x.ty().element_type().ok_or("it has no element type")?;
    let target = c.cast(target, ElementType::I64)?;
    // What is ignored stands for class 0, with weight 0.
    let counted = match c.attr("ignore_index") {
        Some(attr) => Some(c.op(op::NE_SCALAR, &[t(target), s(attr.i)])?),
        None => None,
    };
    let zero = c.op(op::ZEROS_LIKE, &[t(target)])?;
    let target = match counted {
        Some(counted) => c.op(op::WHERE_SELF, &[t(counted), t(target), t(zero)])?,
        None => target,
    };
    let mut weights = match weight {
        Some(weight) => {
            let flat = c.op(op::RESHAPE, &[t(target), is(&[-1])])?;
            let chosen = c.op(op::INDEX_SELECT, &[t(weight), i(0), t(flat)])?;
            let sizes = c.sizes(target);
            c.reshape(chosen, &sizes)?
        }
        None => c.op(op::ONES_LIKE, &[t(target), d(dtype)])?,
    };
    if let Some(counted) = counted {
        let none = c.op(op::ZEROS_LIKE, &[t(weights)])?;
        weights = c.op(op::WHERE_SELF, &[t(counted), t(weights), t(none)])?;
    }
    let places = c.op(op::UNSQUEEZE, &[t(target), i(1)])?;
    let chosen = c.op(op::GATHER, &[t(x), i(1), t(places)])?;
    let chosen = c.op(op::SELECT_INT, &[t(chosen), i(1), i(0)])?;
    let negative = c.op(op::NEG, &[t(chosen)])?;
    let loss = c.op(op::MUL_TENSOR, &[t(negative), t(weights)])?;
    let axes: Vec<_> = (0..loss.ty().rank() as i64).collect();
    let total = |c: &mut Call<'_, '_, 'c>, value| c.op(op::SUM_DIM_INTLIST, &[t(value), is(&axes), b(false), d(dtype)]);
    match c.text("reduction", "mean")? {
        "none" => Ok(loss),
        "sum" => total(c, loss),
        "mean" => {
            let (sum, count) = (total(c, loss)?, total(c, weights)?);
            c.op(op::DIV_TENSOR, &[t(sum), t(count)])
        }
        other => Err(format!("its reduction {other:?} is none of none, sum and mean").into()),
    }
}
