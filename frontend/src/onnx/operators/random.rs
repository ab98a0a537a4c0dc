//! Random numbers: other ones at each call; a seed that the model brings is not that of Strata's numbers.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Operator, op};

use crate::onnx::call::{Call, d, f, i, ns, one, t};
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Bernoulli", |c| {
        let x = c.tensor(0)?;
        let to = asked(c)?.unwrap_or(c.dtype(0)?);
        let drawn = c.op(op::BERNOULLI, &[t(x)])?;
        c.cast(drawn, to).map(one)
    }),
    row("Multinomial", |c| {
        let x = c.tensor(0)?;
        // Logarithms of probabilities that need not sum to one.
        let likely = c.op(op::SOFTMAX_INT, &[t(x), i(-1)])?;
        let drawn = c.op(op::MULTINOMIAL, &[t(likely), i(c.int("sample_size", 1)), crate::onnx::call::b(true)])?;
        c.cast(drawn, asked(c)?.unwrap_or(ElementType::I32)).map(one)
    }),
    row("RandomNormal", |c| drawn(c, op::RANDN)),
    row("RandomNormalLike", |c| drawn(c, op::RANDN)),
    row("RandomUniform", |c| drawn(c, op::RAND)),
    row("RandomUniformLike", |c| drawn(c, op::RAND)),
];

/// The element type that the node asks for.
fn asked(c: &Call<'_, '_, '_>) -> Eval<Option<ElementType>> {
    c.attr("dtype").map(|attr| dtype::element(attr.i)).transpose().map_err(Into::into)
}

/// Numbers of a shape, or of an input's shape: normal ones of a mean and scale, or uniform ones between two bounds.
fn drawn<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let (sizes, default) = match c.ints("shape") {
        Some(shape) => (shape.into_iter().map(Num::Int).collect(), ElementType::F32),
        None => {
            let like = c.input(0);
            (c.importer.sizes_of(&like)?, c.dtype(0)?)
        }
    };
    let to = asked(c)?.unwrap_or(default);
    let (scale, start) = if operator == op::RANDN {
        (c.float("scale", 1.0), c.float("mean", 0.0))
    } else {
        let low = c.float("low", 0.0);
        (c.float("high", 1.0) - low, low)
    };
    let numbers: ir::Value<'c> = c.op(operator, &[ns(&sizes), d(to)])?;
    let scaled = c.op(op::MUL_SCALAR, &[t(numbers), f(scale)])?;
    c.op(op::ADD_SCALAR, &[t(scaled), f(start)]).map(one)
}
