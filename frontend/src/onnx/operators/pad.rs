//! Padding, and what is cut to a size.

use strata_core::ir::{self, DYNAMIC, ElementType};
use strata_dialects::aten::{Input, Scalar, op};

use crate::onnx::call::{Call, b, d, i, is, ns, one, s, t, unknown, wrapped};
use crate::onnx::data::Data;
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

/// The largest padding whose elements are found one by one.
const MAX_PAD: u64 = 1 << 20;

pub(in crate::onnx) const ROWS: &[Row] = &[row("CenterCropPad", center_crop_pad), row("Pad", pad)];

/// Padding before and behind each dimension.
fn pad<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut x, pads) = (c.tensor(0)?, c.numbers(1)?);
    let rank = x.ty().rank();
    let axes = match c.has(3) {
        true => c.known_ints(3)?.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>()?,
        false => (0..rank as i64).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(format!("{} pads are given for {} axes", pads.len(), axes.len()).into());
    }
    let mut both = vec![[Num::Int(0); 2]; rank];
    for (place, axis) in axes.iter().enumerate() {
        both[*axis as usize] = [pads[place], pads[place + axes.len()]];
    }
    let mode = c.text("mode", "constant")?;
    if mode == "constant" {
        // The last dimension first.
        let flat: Vec<_> = both.iter().rev().flatten().copied().collect();
        let dtype = c.dtype(0)?;
        let (floats, ints) = match c.input(2) {
            Value::Absent => (Some(vec![0.0]), Some(vec![0])),
            value => (c.importer.floats(&value), c.importer.known(&value).and_then(|known| known.ints())),
        };
        let scalar = match (floats.as_deref(), ints.as_deref()) {
            (Some([value]), _) if dtype.is_float() => Some(Scalar::Float(*value)),
            (_, Some([value])) => Some(if dtype == ElementType::Bool { Scalar::Bool(*value != 0) } else { Scalar::Int(*value) }),
            _ => None,
        };
        if let Some(scalar) = scalar {
            return c.op(op::CONSTANT_PAD_ND, &[t(x), ns(&flat), Some(Input::Scalar(scalar))]).map(one);
        }
        // A value of the call stands where the padded tensor has none of its own.
        let value = c.tensor(2)?;
        let value = c.op(op::RESHAPE, &[t(value), is(&[])])?;
        let inside = c.op(op::ONES_LIKE, &[t(x), d(ElementType::Bool)])?;
        let inside = c.op(op::CONSTANT_PAD_ND, &[t(inside), ns(&flat), b(false)])?;
        let padded = c.op(op::CONSTANT_PAD_ND, &[t(x), ns(&flat), s(0)])?;
        return c.op(op::WHERE_SELF, &[t(inside), t(padded), t(value)]).map(one);
    }
    for (axis, pads) in both.into_iter().enumerate() {
        let [Num::Int(before), Num::Int(behind)] = pads else {
            return Err(unknown("its pads").into());
        };
        if before.unsigned_abs().max(behind.unsigned_abs()) > MAX_PAD {
            return Err("its pads are too large".into());
        }
        if (before, behind) != (0, 0) {
            x = repeated(c, x, axis, before, behind, mode)?;
        }
    }
    Ok(one(x))
}

/// A dimension with elements of its own before and behind it.
fn repeated<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, axis: usize, before: i64, behind: i64, mode: &str) -> Eval<ir::Value<'c>> {
    let size = x.ty().shape()[axis];
    if size == DYNAMIC || size == 0 {
        return Err(format!("padding of mode {mode:?} along a size that only a call knows, or that is 0, is not imported").into());
    }
    let mut places = Vec::new();
    let end = size.checked_add(behind).filter(|end| *end <= 1 << 24).ok_or("its pads are too large")?;
    for place in -before..end {
        places.push(match mode {
            "edge" => place.clamp(0, size - 1),
            "wrap" => place.rem_euclid(size),
            "reflect" if size == 1 => 0,
            "reflect" => {
                let period = 2 * (size - 1);
                let place = place.rem_euclid(period);
                place.min(period - place)
            }
            other => return Err(format!("its mode {other:?} is none of constant, edge, reflect and wrap").into()),
        });
    }
    let bytes = places.iter().flat_map(|place| place.to_le_bytes()).collect();
    let places = Data::inline("", ElementType::I64, &[places.len() as i64], bytes);
    let places = c.importer.tensor(&Value::Data(places.into()))?;
    c.op(op::INDEX_SELECT, &[t(x), i(axis as i64), t(places)])
}

/// A shape's middle: larger dimensions are cut, smaller ones padded with zeros.
fn center_crop_pad<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut x, sizes) = (c.tensor(0)?, c.known_ints(1)?);
    let rank = x.ty().rank();
    let axes = match c.ints("axes") {
        Some(axes) => axes.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>()?,
        None => (0..rank as i64).collect(),
    };
    for (axis, wanted) in axes.into_iter().zip(sizes) {
        let size = x.ty().shape()[axis as usize];
        if !(0..=1 << 40).contains(&wanted) {
            return Err(format!("{wanted} is no size").into());
        }
        if size == DYNAMIC {
            return Err("the middle of a size that only a call knows is not imported".into());
        }
        if size > wanted {
            let start = (size - wanted) / 2;
            x = c.slice(x, axis, start, start + wanted)?;
        } else if size < wanted {
            let mut pads = vec![0; 2 * rank];
            let place = 2 * (rank - 1 - axis as usize);
            pads[place] = (wanted - size) / 2;
            pads[place + 1] = wanted - size - pads[place];
            x = c.op(op::CONSTANT_PAD_ND, &[t(x), is(&pads), s(0)])?;
        }
    }
    Ok(one(x))
}
