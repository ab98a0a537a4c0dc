//! Activations of one tensor.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Operator, op};

use super::shape::product;
use crate::onnx::call::{Call, b, d, f, i, is, one, s, t, text};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::Value;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Celu", |c| scaled(c, op::CELU, "alpha", 1.0)),
    row("Elu", |c| scaled(c, op::ELU, "alpha", 1.0)),
    row("Gelu", |c| {
        let (x, approximate) = (c.tensor(0)?, c.text("approximate", "none")?);
        c.op(op::GELU, &[t(x), text(approximate)]).map(one)
    }),
    row("HardSigmoid", hard_sigmoid),
    row("HardSwish", |c| plain(c, op::HARDSWISH)),
    row("Hardmax", hardmax),
    row("LeakyRelu", |c| scaled(c, op::LEAKY_RELU, "alpha", 0.01)),
    row("LogSoftmax", |c| along(c, op::LOG_SOFTMAX_INT)),
    row("Mish", |c| plain(c, op::MISH)),
    row("PRelu", prelu),
    row("Relu", |c| plain(c, op::RELU)),
    row("Selu", selu),
    row("Shrink", shrink),
    row("Sigmoid", |c| plain(c, op::SIGMOID)),
    row("Softmax", |c| along(c, op::SOFTMAX_INT)),
    row("Softplus", softplus),
    row("Softsign", softsign),
    row("Swish", swish),
    row("ThresholdedRelu", thresholded),
];

/// An operator of one tensor alone.
pub(super) fn plain<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    c.op(operator, &[t(x)]).map(one)
}

/// An operator of a tensor and one float.
fn scaled<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator, attr: &str, default: f32) -> Eval<Vec<Value<'c>>> {
    let (x, alpha) = (c.tensor(0)?, c.float(attr, default));
    c.op(operator, &[t(x), f(alpha)]).map(one)
}

/// An operator along `axis`; before version 13 along all dimensions from there on.
fn along<'c>(c: &mut Call<'_, '_, 'c>, operator: Operator) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    if c.version < 13 {
        let (axis, sizes) = (c.axis(1, x.ty().rank())? as usize, c.sizes(x));
        let flat = [product(c, &sizes[..axis]), product(c, &sizes[axis..])];
        let flat = c.reshape(x, &flat)?;
        let result = c.op(operator, &[t(flat), i(1)])?;
        return c.reshape(result, &sizes).map(one);
    }
    let axis = c.axis(-1, x.ty().rank())?;
    c.op(operator, &[t(x), i(axis)]).map(one)
}

/// `max(0, min(1, alpha * x + beta))`.
fn hard_sigmoid<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, alpha, beta) = (c.tensor(0)?, c.float("alpha", 0.2), c.float("beta", 0.5));
    let scaled = c.op(op::MUL_SCALAR, &[t(x), f(alpha)])?;
    let moved = c.op(op::ADD_SCALAR, &[t(scaled), f(beta)])?;
    c.op(op::CLAMP, &[t(moved), f(0.0), f(1.0)]).map(one)
}

/// One at the first of the largest elements along `axis`, zero elsewhere.
fn hardmax<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let rank = x.ty().rank();
    let axis = c.axis(-1, rank)?;
    let largest = c.op(op::ARGMAX, &[t(x), i(axis), b(true)])?;
    let mask = places_equal(c, x, axis, largest)?;
    c.cast(mask, x.ty().element_type().unwrap_or(ElementType::F32)).map(one)
}

/// Whether the place of each element along `axis` is that of a tensor of places, whose size there is 1.
fn places_equal<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, axis: i64, places: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let rank = x.ty().rank();
    let size = c.importer.size_of(x, axis as usize);
    let line = super::shape::arange(c, size, ElementType::I64)?;
    let sizes: Vec<_> = (0..rank as i64).map(|dim| if dim == axis { -1 } else { 1 }).collect();
    let line = c.op(op::RESHAPE, &[t(line), is(&sizes)])?;
    c.op(op::EQ_TENSOR, &[t(places), t(line)])
}

/// `slope * x` below zero; the slope broadcasts to the tensor.
fn prelu<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, slope) = (c.tensor(0)?, c.tensor(1)?);
    let below = c.op(op::LT_SCALAR, &[t(x), s(0)])?;
    let scaled = c.op(op::MUL_TENSOR, &[t(x), t(slope)])?;
    c.op(op::WHERE_SELF, &[t(below), t(scaled), t(x)]).map(one)
}

/// `gamma * (alpha * (exp(x) - 1))` below zero, `gamma * x` above.
fn selu<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, alpha, gamma) = (c.tensor(0)?, c.float("alpha", 1.673_263_2), c.float("gamma", 1.050_701));
    c.op(op::ELU, &[t(x), f(alpha), f(gamma)]).map(one)
}

/// Towards zero by `bias` outside of `-lambd..lambd`, zero inside.
fn shrink<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, bias, limit) = (c.tensor(0)?, c.float("bias", 0.0), c.float("lambd", 0.5));
    let dtype = c.dtype(0)?;
    let (low, high) = (c.op(op::LT_SCALAR, &[t(x), f(-limit)])?, c.op(op::GT_SCALAR, &[t(x), f(limit)])?);
    let bias = c.number(bias, dtype)?;
    let (up, down) = (c.op(op::ADD_TENSOR, &[t(x), t(bias)])?, c.op(op::SUB_TENSOR, &[t(x), t(bias)])?);
    let zero = c.number(0.0, dtype)?;
    let above = c.op(op::WHERE_SELF, &[t(high), t(down), t(zero)])?;
    c.op(op::WHERE_SELF, &[t(low), t(up), t(above)]).map(one)
}

/// `ln(1 + exp(x))`, without overflow.
fn softplus<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let zero = c.number(0.0, c.dtype(0)?)?;
    c.op(op::LOGADDEXP, &[t(x), t(zero)]).map(one)
}

/// `x / (1 + |x|)`.
fn softsign<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let size = c.op(op::ABS, &[t(x)])?;
    let below = c.op(op::ADD_SCALAR, &[t(size), s(1)])?;
    c.op(op::DIV_TENSOR, &[t(x), t(below)]).map(one)
}

/// `x * sigmoid(alpha * x)`.
fn swish<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, alpha) = (c.tensor(0)?, c.float("alpha", 1.0));
    let scaled = c.op(op::MUL_SCALAR, &[t(x), f(alpha)])?;
    let gate = c.op(op::SIGMOID, &[t(scaled)])?;
    c.op(op::MUL_TENSOR, &[t(x), t(gate)]).map(one)
}

/// `x` above `alpha`, zero elsewhere.
fn thresholded<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, alpha) = (c.tensor(0)?, c.float("alpha", 1.0));
    let above = c.op(op::GT_SCALAR, &[t(x), f(alpha)])?;
    let zero = c.op(op::SCALAR_TENSOR, &[f(0.0), d(c.dtype(0)?)])?;
    c.op(op::WHERE_SELF, &[t(above), t(x), t(zero)]).map(one)
}
