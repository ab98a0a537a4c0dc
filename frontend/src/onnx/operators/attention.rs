//! Attention, and what stands beside it in language models.

use strata_core::ir::{self, DYNAMIC, ElementType};
use strata_dialects::aten::{Input, Scalar, op};

use super::shape::arange;
use crate::onnx::call::{Call, b, f, i, is, known_shape, many, one, s, t, ts};
use crate::onnx::dtype;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Attention", attention),
    row("RotaryEmbedding", rotary),
    row("SwiGLU", |c| {
        let (x, gate, alpha) = (c.tensor(0)?, c.tensor(1)?, c.float("alpha", 1.0));
        let scaled = c.op(op::MUL_SCALAR, &[t(x), f(alpha)])?;
        let sigmoid = c.op(op::SIGMOID, &[t(scaled)])?;
        let swish = c.op(op::MUL_TENSOR, &[t(x), t(sigmoid)])?;
        c.op(op::MUL_TENSOR, &[t(swish), t(gate)]).map(one)
    }),
];

/// `[batch, length, heads * size]` as `[batch, heads, length, size]`.
fn heads<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, heads: i64) -> Eval<ir::Value<'c>> {
    if x.ty().rank() == 4 {
        return Ok(x);
    }
    let sizes = c.sizes(x);
    let [batch, length, width] = sizes[..] else { return Err(format!("tensors of rank 3 or 4 are wanted, not {}", sizes.len()).into()) };
    let Num::Int(width) = width else { return Err("the size of its heads depends on a call".into()) };
    if heads < 1 || width % heads != 0 {
        return Err(format!("{width} elements are no {heads} heads").into());
    }
    let split = c.reshape(x, &[batch, length, Num::Int(heads), Num::Int(width / heads)])?;
    c.op(op::TRANSPOSE_INT, &[t(split), i(1), i(2)])
}

/// Minus infinity where a condition does not hold, zero elsewhere.
fn bias<'c>(c: &mut Call<'_, '_, 'c>, holds: ir::Value<'c>, dtype: ElementType) -> Eval<ir::Value<'c>> {
    let (zero, low) = (c.number(0.0, dtype)?, c.number(f64::NEG_INFINITY, dtype)?);
    c.op(op::WHERE_SELF, &[t(holds), t(zero), t(low)])
}

/// What is added to the scores: the mask, the order of time, a window, the lengths of each batch.
fn biases<'c>(c: &mut Call<'_, '_, 'c>, q: ir::Value<'c>, k: ir::Value<'c>, past: Num<'c>) -> Eval<Option<ir::Value<'c>>> {
    let dtype = q.ty().element_type().ok_or("it has no element type")?;
    let (rows, columns) = (c.importer.size_of(q, 2), c.importer.size_of(k, 2));
    let mut sum: Option<ir::Value<'c>> = None;
    let mut add = |c: &mut Call<'_, '_, 'c>, more: ir::Value<'c>| -> Eval<()> {
        sum = Some(match sum {
            None => more,
            Some(sum) => c.op(op::ADD_TENSOR, &[t(sum), t(more)])?,
        });
        Ok(())
    };
    if let Some(mut mask) = c.optional(3)? {
        let bool = mask.ty().element_type() == Some(ElementType::Bool);
        let last = mask.ty().shape().last().copied().unwrap_or(DYNAMIC);
        if let Num::Int(columns) = columns
            && last != DYNAMIC
            && last < columns
        {
            let fill = if bool { Scalar::Bool(false) } else { Scalar::Float(f64::NEG_INFINITY) };
            mask = c.op(op::CONSTANT_PAD_ND, &[t(mask), is(&[0, columns - last]), Some(Input::Scalar(fill))])?;
        }
        let mask = if bool { bias(c, mask, dtype)? } else { mask };
        add(c, mask)?;
    }
    let lengths = c.optional(6)?;
    let (left, right) = (c.int("left_window_size", -1), c.int("right_window_size", -1));
    let causal = c.flag("is_causal", false);
    let column = arange(c, columns, ElementType::I64)?;
    if causal || left >= 0 || right >= 0 {
        let row = arange(c, rows, ElementType::I64)?;
        let row = c.op(op::RESHAPE, &[t(row), is(&[-1, 1])])?;
        // The first row's place among the columns.
        let first = match lengths {
            Some(lengths) => {
                let rows = c.importer.tensor(&Value::number(ElementType::I64, rows))?;
                let first = c.op(op::SUB_TENSOR, &[t(lengths), t(rows)])?;
                c.op(op::RESHAPE, &[t(first), is(&[-1, 1, 1, 1])])?
            }
            None => c.importer.tensor(&Value::number(ElementType::I64, past))?,
        };
        let place = c.op(op::ADD_TENSOR, &[t(row), t(first)])?;
        let distance = c.op(op::SUB_TENSOR, &[t(place), t(column)])?;
        if causal {
            let allowed = c.op(op::GE_SCALAR, &[t(distance), s(0)])?;
            let more = bias(c, allowed, dtype)?;
            add(c, more)?;
        }
        for (limit, operator, sign) in [(left, op::LE_SCALAR, 1), (right, op::GE_SCALAR, -1)] {
            if limit >= 0 {
                let allowed = c.op(operator, &[t(distance), s(sign * limit)])?;
                let more = bias(c, allowed, dtype)?;
                add(c, more)?;
            }
        }
    }
    if let Some(lengths) = lengths {
        let lengths = c.op(op::RESHAPE, &[t(lengths), is(&[-1, 1, 1, 1])])?;
        let inside = c.op(op::LT_TENSOR, &[t(column), t(lengths)])?;
        let more = bias(c, inside, dtype)?;
        add(c, more)?;
    }
    Ok(sum)
}

fn attention<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (q, k, v) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
    let (dtype, flat) = (c.dtype(0)?, q.ty().rank() == 3);
    let (q_heads, kv_heads) = (c.int("q_num_heads", 0), c.int("kv_num_heads", 0));
    let (q, mut k, mut v) = (heads(c, q, q_heads)?, heads(c, k, kv_heads)?, heads(c, v, kv_heads)?);
    let mut past = Num::Int(0);
    if let (Some(old_k), Some(old_v)) = (c.optional(4)?, c.optional(5)?) {
        past = c.importer.size_of(old_k, 2);
        k = c.op(op::CAT, &[ts(&[old_k, k]), i(2)])?;
        v = c.op(op::CAT, &[ts(&[old_v, v]), i(2)])?;
    }
    let (present_k, present_v) = (k, v);
    let (of_q, of_k) = (q.ty().shape()[1], k.ty().shape()[1]);
    if of_q != of_k && of_q > 0 && of_k > 0 {
        if of_q % of_k != 0 {
            return Err(format!("{of_q} heads share no {of_k}").into());
        }
        k = c.op(op::REPEAT_INTERLEAVE_SELF_INT, &[t(k), i(of_q / of_k), i(1)])?;
        v = c.op(op::REPEAT_INTERLEAVE_SELF_INT, &[t(v), i(of_q / of_k), i(1)])?;
    }
    let biases = biases(c, q, k, past)?;
    let size = q.ty().shape()[3];
    let scale = match c.attr("scale") {
        Some(attr) => f64::from(attr.f),
        None if size > 0 => 1.0 / (size as f64).sqrt(),
        None => return Err("the size of its heads depends on a call, and no scale is given".into()),
    };
    // Half of the scale on either side, as the standard rounds it.
    let half = scale.abs().sqrt();
    let (scaled_q, scaled_k) = (c.op(op::MUL_SCALAR, &[t(q), f(half.copysign(scale))])?, c.op(op::MUL_SCALAR, &[t(k), f(half)])?);
    let turned = c.op(op::TRANSPOSE_INT, &[t(scaled_k), i(2), i(3)])?;
    let product = c.op(op::MATMUL, &[t(scaled_q), t(turned)])?;
    let softcap = c.float("softcap", 0.0);
    let mut capped = product;
    if softcap > 0.0 {
        let small = c.op(op::DIV_SCALAR, &[t(product), f(softcap)])?;
        let bent = c.op(op::TANH, &[t(small)])?;
        capped = c.op(op::MUL_SCALAR, &[t(bent), f(softcap)])?;
    }
    let scores = match biases {
        Some(biases) => c.op(op::ADD_TENSOR, &[t(capped), t(biases)])?,
        None => capped,
    };
    let wide = match c.int("softmax_precision", 0) {
        0 => dtype,
        number => dtype::element(number)?,
    };
    let wide_scores = c.cast(scores, wide)?;
    let mut weights = c.op(op::SOFTMAX_INT, &[t(wide_scores), i(-1)])?;
    if let Some(biases) = biases {
        // A row that may look at nothing gives zeros.
        let largest = c.op(op::AMAX, &[t(biases), is(&[-1]), b(true)])?;
        let none = c.op(op::EQ_SCALAR, &[t(largest), f(f64::NEG_INFINITY)])?;
        let zero = c.number(0.0, wide)?;
        weights = c.op(op::WHERE_SELF, &[t(none), t(zero), t(weights)])?;
    }
    let weights = c.cast(weights, dtype)?;
    let mut result = c.op(op::MATMUL, &[t(weights), t(v)])?;
    if flat {
        let turned = c.op(op::TRANSPOSE_INT, &[t(result), i(1), i(2)])?;
        let sizes = c.sizes(turned);
        let width = super::shape::product(c, &sizes[2..]);
        result = c.reshape(turned, &[sizes[0], sizes[1], width])?;
    }
    let shown = match c.int("qk_matmul_output_mode", 0) {
        0 => product,
        1 => capped,
        2 => scores,
        3 => weights,
        other => return Err(format!("its qk_matmul_output_mode {other} is none of 0 to 3").into()),
    };
    Ok(many(vec![result, present_k, present_v, shown]))
}

/// Pairs of elements turned by angles of their places.
fn rotary<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, mut cos, mut sin, places) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?, c.optional(3)?);
    let shape = c.sizes(x);
    let flat = shape.len() == 3;
    // `[batch, length, heads, size]`.
    let mut y = if flat {
        let count = c.int("num_heads", 0);
        let known =
            known_shape(x).and_then(|shape| shape.last().copied()).or(Some(x.ty().shape()[2])).filter(|width| *width > 0 && count > 0);
        let width = known.ok_or("the size of its heads is not known")?;
        c.reshape(x, &[shape[0], shape[1], Num::Int(count), Num::Int(width / count)])?
    } else {
        c.op(op::TRANSPOSE_INT, &[t(x), i(1), i(2)])?
    };
    let size = y.ty().shape()[3];
    let turned = match c.int("rotary_embedding_dim", 0) {
        0 => size,
        turned => turned,
    };
    if turned < 2 || turned > size {
        return Err("the size of its heads is not known, or smaller than what is turned".into());
    }
    if let Some(places) = places {
        let places = c.cast(places, ElementType::I64)?;
        let chosen = |c: &mut Call<'_, '_, 'c>, table| c.op(op::INDEX_TENSOR, &[t(table), Some(Input::OptTensors(vec![Some(places)]))]);
        (cos, sin) = (chosen(c, cos)?, chosen(c, sin)?);
    }
    (cos, sin) = (c.op(op::UNSQUEEZE, &[t(cos), i(2)])?, c.op(op::UNSQUEEZE, &[t(sin), i(2)])?);
    let rest = if turned < size { Some(c.slice(y, 3, turned, size)?) } else { None };
    let part = c.slice(y, 3, 0, turned)?;
    let interleaved = c.flag("interleaved", false);
    let half = |c: &mut Call<'_, '_, 'c>, place: i64| {
        if interleaved {
            c.op(op::SLICE_TENSOR, &[t(part), i(3), i(place), i(turned), i(2)])
        } else {
            c.slice(part, 3, place * (turned / 2), (place + 1) * (turned / 2))
        }
    };
    let (first, second) = (half(c, 0)?, half(c, 1)?);
    let times = |c: &mut Call<'_, '_, 'c>, a, b| c.op(op::MUL_TENSOR, &[t(a), t(b)]);
    let (a, b_) = (times(c, cos, first)?, times(c, sin, second)?);
    let real = c.op(op::SUB_TENSOR, &[t(a), t(b_)])?;
    let (a, b_) = (times(c, sin, first)?, times(c, cos, second)?);
    let imaginary = c.op(op::ADD_TENSOR, &[t(a), t(b_)])?;
    let joined = if interleaved {
        let pairs = c.op(op::STACK, &[ts(&[real, imaginary]), i(-1)])?;
        let sizes = c.sizes(part);
        c.reshape(pairs, &sizes)?
    } else {
        c.op(op::CAT, &[ts(&[real, imaginary]), i(3)])?
    };
    y = match rest {
        Some(rest) => c.op(op::CAT, &[ts(&[joined, rest]), i(3)])?,
        None => joined,
    };
    if flat { c.reshape(y, &shape).map(one) } else { c.op(op::TRANSPOSE_INT, &[t(y), i(1), i(2)]).map(one) }
}
