//! Tensors scaled along their dimensions: each dimension by itself, by weighted sums of the elements around a place.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input, Scalar, op};

use super::shape::{arange, number};
use crate::import::floats::to_float;
use crate::import::symbols::apply;
use crate::onnx::call::{Arg, Call, d, f, i, is, one, s, t, unknown, wrapped};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};
use crate::pt2::expr::Func;

pub(in crate::onnx) const ROWS: &[Row] = &[row("Resize", resize), row("Upsample", resize)];

/// A scale: known, or an `f64` of the call.
#[derive(Debug, Clone, Copy)]
enum Factor<'c> {
    Known(f64),
    Value(ir::Value<'c>),
}

/// A dimension that is scaled.
struct Axis<'c> {
    dim: usize,
    scale: Factor<'c>,
    /// The new size.
    size: Num<'c>,
    /// The part of the tensor that is looked at, from 0 to 1.
    roi: Option<(f64, f64)>,
}

/// How places and weights are computed.
struct Rule<'t> {
    mode: &'t str,
    nearest: &'t str,
    places: &'t str,
    cubic: f64,
    antialias: bool,
    exclude_outside: bool,
}

fn scalar<'c>(factor: Factor<'c>) -> Arg<'c> {
    Some(Input::Scalar(match factor {
        Factor::Known(value) => Scalar::Float(value),
        Factor::Value(value) => Scalar::Value(value),
    }))
}

/// A size times a scale, rounded down.
fn scaled<'c>(c: &mut Call<'_, '_, 'c>, size: Num<'c>, scale: Factor<'c>) -> Eval<Num<'c>> {
    if let (Num::Int(size), Factor::Known(scale)) = (size, scale) {
        // What is a whole number but for rounding is that number.
        let exact = size as f64 * scale;
        let near = exact.round();
        return Ok(Num::Int(if (exact - near).abs() < 1e-6 * near.abs().max(1.0) { near } else { exact.floor() } as i64));
    }
    let builder = &mut c.importer.builder;
    let float = builder.cx().f64();
    let size = match size {
        Num::Int(size) => builder.const_float(float, size as f64),
        Num::Value(size) => to_float(builder, size).ok_or("it is no number")?,
    };
    let scale = match scale {
        Factor::Known(scale) => builder.const_float(float, scale),
        Factor::Value(scale) => scale,
    };
    let product = apply(builder, Func::Mul, &[size, scale]).ok_or("it is no number")?;
    apply(builder, Func::FloorToInt, &[product]).map(Num::Value).ok_or_else(|| "it is no number".into())
}

fn resize<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let rank = x.ty().rank();
    // `Upsample` has its scales where `Resize` has the region.
    let (of_roi, of_scales, of_sizes) = if c.node.op_type == "Upsample" { (8, 1, 9) } else { (1, 2, 3) };
    let axes = match c.ints("axes") {
        Some(axes) => axes.into_iter().map(|axis| wrapped(axis, rank)).collect::<Eval<Vec<_>>>()?,
        None => (0..rank as i64).collect(),
    };
    let default = if of_scales == 1 { "asymmetric" } else { "half_pixel" };
    let rule = Rule {
        mode: c.text("mode", "nearest")?,
        nearest: if of_scales == 1 { "floor" } else { c.text("nearest_mode", "round_prefer_floor")? },
        places: c.text("coordinate_transformation_mode", default)?,
        cubic: c.float("cubic_coeff_a", -0.75),
        antialias: c.flag("antialias", false),
        exclude_outside: c.flag("exclude_outside", false),
    };
    let scaled_axes = scaled_axes(c, x, &axes, [of_roi, of_scales, of_sizes], rule.places)?;
    let dtype = c.dtype(0)?;
    let float = if dtype == ElementType::F64 { dtype } else { ElementType::F32 };
    let (mut result, mut outside) = (if rule.mode == "nearest" { x } else { c.cast(x, float)? }, None);
    for axis in &scaled_axes {
        let whole = matches!(axis.scale, Factor::Known(scale) if scale == 1.0) && rule.places != "tf_crop_and_resize";
        if whole {
            continue;
        }
        let places = places(c, axis, result, rule.places)?;
        if rule.places == "tf_crop_and_resize" {
            let more = beyond(c, result, axis.dim, places)?;
            outside = Some(match outside {
                None => more,
                Some(outside) => c.op(op::LOGICAL_OR, &[t(outside), t(more)])?,
            });
        }
        result = interpolated(c, result, axis, places, &rule)?;
    }
    result = c.cast(result, dtype)?;
    if let Some(outside) = outside {
        let value = c.number(c.float("extrapolation_value", 0.0), dtype)?;
        result = c.op(op::WHERE_SELF, &[t(outside), t(value), t(result)])?;
    }
    Ok(one(result))
}

/// The dimensions with their scales and new sizes.
fn scaled_axes<'c>(
    c: &mut Call<'_, '_, 'c>,
    x: ir::Value<'c>,
    axes: &[i64],
    [of_roi, of_scales, of_sizes]: [usize; 3],
    places: &str,
) -> Eval<Vec<Axis<'c>>> {
    let empty = |c: &Call<'_, '_, 'c>, place| c.input(place).shape().is_some_and(|shape| shape == [0]);
    let given = |c: &Call<'_, '_, 'c>, place| c.has(place) && !empty(c, place);
    let roi = if places == "tf_crop_and_resize" { Some(c.known_floats(of_roi)?) } else { None };
    let part = |place: usize| Some((*roi.as_ref()?.get(place)?, *roi.as_ref()?.get(place + axes.len())?));
    let mut found = Vec::new();
    if given(c, of_sizes) {
        let sizes = c.numbers(of_sizes)?;
        if sizes.len() != axes.len() {
            return Err(format!("it has {} sizes for {} axes", sizes.len(), axes.len()).into());
        }
        let old: Vec<_> = axes.iter().map(|axis| c.importer.size_of(x, *axis as usize)).collect();
        let policy = c.text("keep_aspect_ratio_policy", "stretch")?;
        let mut scales = Vec::new();
        for (new, old) in sizes.iter().zip(&old) {
            scales.push(quotient(c, *new, *old)?);
        }
        let known: Option<Vec<f64>> =
            scales.iter().map(|scale| if let Factor::Known(scale) = scale { Some(*scale) } else { None }).collect();
        let one_scale = match policy {
            "stretch" => None,
            "not_larger" | "not_smaller" => {
                let known = known.ok_or_else(|| unknown("its sizes"))?;
                let pick = if policy == "not_larger" { f64::min } else { f64::max };
                known.into_iter().reduce(pick)
            }
            other => return Err(format!("its keep_aspect_ratio_policy {other:?} is not known").into()),
        };
        for (place, axis) in axes.iter().enumerate() {
            let (scale, size) = match (one_scale, old[place]) {
                (Some(scale), Num::Int(old)) => (Factor::Known(scale), Num::Int((scale * old as f64 + 0.5).floor() as i64)),
                _ => (scales[place], sizes[place]),
            };
            found.push(Axis { dim: *axis as usize, scale, size, roi: part(place) });
        }
        return Ok(found);
    }
    if !given(c, of_scales) {
        return Err("it has neither scales nor sizes".into());
    }
    let input = c.input(of_scales);
    let scales: Vec<Factor<'c>> = match c.importer.floats(&input) {
        Some(scales) => scales.into_iter().map(Factor::Known).collect(),
        None => {
            let tensor = c.tensor(of_scales)?;
            let mut scales = Vec::new();
            for place in 0..axes.len() as i64 {
                let one = c.op(op::SELECT_INT, &[t(tensor), i(0), i(place)])?;
                scales.push(Factor::Value(c.op(op::ITEM, &[t(one)])?));
            }
            scales
        }
    };
    if scales.len() != axes.len() {
        return Err(format!("it has {} scales for {} axes", scales.len(), axes.len()).into());
    }
    for (place, (axis, scale)) in axes.iter().zip(scales).enumerate() {
        if matches!(scale, Factor::Known(scale) if !(scale.is_finite() && scale > 0.0)) {
            return Err("its scales are not all positive".into());
        }
        let old = c.importer.size_of(x, *axis as usize);
        let size = scaled(c, old, scale)?;
        found.push(Axis { dim: *axis as usize, scale, size, roi: part(place) });
    }
    Ok(found)
}

/// A scale that makes one size of another.
fn quotient<'c>(c: &mut Call<'_, '_, 'c>, new: Num<'c>, old: Num<'c>) -> Eval<Factor<'c>> {
    if new == old {
        return Ok(Factor::Known(1.0));
    }
    if let (Num::Int(new), Num::Int(old)) = (new, old) {
        return Ok(Factor::Known(new as f64 / old as f64));
    }
    let builder = &mut c.importer.builder;
    let value = |builder: &mut strata_core::rewrite::Rewriter<'c>, size| match size {
        Num::Int(size) => builder.const_index(size),
        Num::Value(size) => size,
    };
    let sizes = [value(builder, new), value(builder, old)];
    apply(builder, Func::FloatTrueDiv, &sizes).map(Factor::Value).ok_or_else(|| "a scale is no number".into())
}

/// A number of the call or a known one, as a tensor of rank 0 in `f64`.
fn wide<'c>(c: &mut Call<'_, '_, 'c>, value: Arg<'c>) -> Eval<ir::Value<'c>> {
    c.op(op::SCALAR_TENSOR, &[value, d(ElementType::F64)])
}

/// The place of each new element among the old ones.
fn places<'c>(c: &mut Call<'_, '_, 'c>, axis: &Axis<'c>, x: ir::Value<'c>, mode: &str) -> Eval<ir::Value<'c>> {
    let old = c.importer.size_of(x, axis.dim);
    let line = arange(c, axis.size, ElementType::F64)?;
    let by = |c: &mut Call<'_, '_, 'c>, operator, a, b| c.op(operator, &[t(a), t(b)]);
    let scale = wide(c, scalar(axis.scale))?;
    let old = wide(c, number(old))?;
    let last = c.op(op::SUB_SCALAR, &[t(old), s(1)])?;
    // The size as the scale makes it, which need not be whole.
    let new = by(c, op::MUL_TENSOR, scale, old)?;
    let single = c.op(op::LE_SCALAR, &[t(new), f(1.0)])?;
    let half = |c: &mut Call<'_, '_, 'c>| {
        let centre = c.op(op::ADD_SCALAR, &[t(line), f(0.5)])?;
        let moved = by(c, op::DIV_TENSOR, centre, scale)?;
        c.op(op::SUB_SCALAR, &[t(moved), f(0.5)])
    };
    let steps = |c: &mut Call<'_, '_, 'c>, range: ir::Value<'c>| {
        let gaps = c.op(op::SUB_SCALAR, &[t(new), s(1)])?;
        let gaps = c.op(op::CLAMP_MIN, &[t(gaps), f(1e-9)])?;
        let step = by(c, op::DIV_TENSOR, range, gaps)?;
        by(c, op::MUL_TENSOR, line, step)
    };
    match mode {
        "asymmetric" => by(c, op::DIV_TENSOR, line, scale),
        "half_pixel" => half(c),
        "pytorch_half_pixel" => {
            let (usual, only) = (half(c)?, wide(c, f(-0.5))?);
            c.op(op::WHERE_SELF, &[t(single), t(only), t(usual)])
        }
        "half_pixel_symmetric" => {
            let size = wide(c, number(axis.size))?;
            let adjusted = by(c, op::DIV_TENSOR, size, new)?;
            let rest = c.op(op::RSUB_SCALAR, &[t(adjusted), s(1)])?;
            let centre = c.op(op::MUL_SCALAR, &[t(old), f(0.5)])?;
            let offset = by(c, op::MUL_TENSOR, centre, rest)?;
            let usual = half(c)?;
            by(c, op::ADD_TENSOR, usual, offset)
        }
        "align_corners" => {
            let (usual, only) = (steps(c, last)?, wide(c, f(0.0))?);
            c.op(op::WHERE_SELF, &[t(single), t(only), t(usual)])
        }
        "tf_crop_and_resize" => {
            let (start, end) = axis.roi.ok_or("its region has another number of dimensions")?;
            let range = c.op(op::MUL_SCALAR, &[t(last), f(end - start)])?;
            let (usual, only) = (steps(c, range)?, c.op(op::MUL_SCALAR, &[t(range), f(0.5)])?);
            let place = c.op(op::WHERE_SELF, &[t(single), t(only), t(usual)])?;
            let first = c.op(op::MUL_SCALAR, &[t(last), f(start)])?;
            by(c, op::ADD_TENSOR, place, first)
        }
        other => Err(format!("its coordinate_transformation_mode {other:?} is not known").into()),
    }
}

/// Sizes of a line along a dimension.
fn line(rank: usize, dim: usize) -> Vec<i64> {
    (0..rank).map(|place| if place == dim { -1 } else { 1 }).collect()
}

/// Whether places lie outside of a dimension.
fn beyond<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, dim: usize, places: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let last = c.importer.size_of(x, dim);
    let last = wide(c, number(last))?;
    let last = c.op(op::SUB_SCALAR, &[t(last), s(1)])?;
    let (below, above) = (c.op(op::LT_SCALAR, &[t(places), s(0)])?, c.op(op::GT_TENSOR, &[t(places), t(last)])?);
    let outside = c.op(op::LOGICAL_OR, &[t(below), t(above)])?;
    c.op(op::RESHAPE, &[t(outside), is(&line(x.ty().rank(), dim))])
}

/// The elements at places along a dimension; those outside are the ones at its ends.
fn taken<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, dim: usize, places: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let places = c.cast(places, ElementType::I64)?;
    let places = c.op(op::CLAMP_MIN, &[t(places), s(0)])?;
    let places = match c.importer.size_of(x, dim) {
        Num::Int(size) => c.op(op::CLAMP_MAX, &[t(places), s(size - 1)])?,
        size => {
            let size = c.importer.tensor(&Value::number(ElementType::I64, size))?;
            let last = c.op(op::SUB_SCALAR, &[t(size), s(1)])?;
            c.op(op::MINIMUM, &[t(places), t(last)])?
        }
    };
    c.op(op::INDEX_SELECT, &[t(x), i(dim as i64), t(places)])
}

fn interpolated<'c>(
    c: &mut Call<'_, '_, 'c>,
    x: ir::Value<'c>,
    axis: &Axis<'c>,
    places: ir::Value<'c>,
    rule: &Rule<'_>,
) -> Eval<ir::Value<'c>> {
    let dim = axis.dim;
    if rule.mode == "nearest" {
        let nearest = match rule.nearest {
            "floor" => c.op(op::FLOOR, &[t(places)])?,
            "ceil" => c.op(op::CEIL, &[t(places)])?,
            "round_prefer_floor" => {
                let moved = c.op(op::SUB_SCALAR, &[t(places), f(0.5)])?;
                c.op(op::CEIL, &[t(moved)])?
            }
            "round_prefer_ceil" => {
                let moved = c.op(op::ADD_SCALAR, &[t(places), f(0.5)])?;
                c.op(op::FLOOR, &[t(moved)])?
            }
            other => return Err(format!("its nearest_mode {other:?} is not known").into()),
        };
        return taken(c, x, dim, nearest);
    }
    let cubic = match rule.mode {
        "linear" | "bilinear" | "trilinear" => false,
        "cubic" | "bicubic" => true,
        other => return Err(format!("its mode {other:?} is none of nearest, linear and cubic").into()),
    };
    let reach = if cubic { 2.0 } else { 1.0 };
    // Smaller images average over as many elements as one stands for.
    let shrink = match (rule.antialias, axis.scale) {
        (false, _) => 1.0,
        (true, Factor::Known(scale)) => scale.min(1.0),
        (true, Factor::Value(_)) => return Err(unknown("a scale with antialias").into()),
    };
    let first = (-reach / shrink).floor() as i64 + 1;
    let floor = c.op(op::FLOOR, &[t(places)])?;
    let part = c.op(op::SUB_TENSOR, &[t(places), t(floor)])?;
    let size = c.importer.size_of(x, dim);
    let size = wide(c, number(size))?;
    let (mut sum, mut total): (Option<ir::Value<'c>>, Option<ir::Value<'c>>) = (None, None);
    let dtype = x.ty().element_type().unwrap_or(ElementType::F32);
    let shape = line(x.ty().rank(), dim);
    for tap in first..=1 - first {
        let place = c.op(op::ADD_SCALAR, &[t(floor), s(tap)])?;
        let distance = c.op(op::RSUB_SCALAR, &[t(part), s(tap)])?;
        let distance = c.op(op::ABS, &[t(distance)])?;
        let distance = c.op(op::MUL_SCALAR, &[t(distance), f(shrink)])?;
        let mut weight = if cubic { cubic_weight(c, distance, rule.cubic)? } else { linear_weight(c, distance)? };
        if rule.exclude_outside {
            let (above, below) = (c.op(op::GE_SCALAR, &[t(place), s(0)])?, c.op(op::LT_TENSOR, &[t(place), t(size)])?);
            let inside = c.op(op::LOGICAL_AND, &[t(above), t(below)])?;
            let zero = wide(c, f(0.0))?;
            weight = c.op(op::WHERE_SELF, &[t(inside), t(weight), t(zero)])?;
        }
        let elements = taken(c, x, dim, place)?;
        let narrow = c.cast(weight, dtype)?;
        let narrow = c.op(op::RESHAPE, &[t(narrow), is(&shape)])?;
        let product = c.op(op::MUL_TENSOR, &[t(elements), t(narrow)])?;
        sum = Some(sum.map_or(Ok(product), |sum| c.op(op::ADD_TENSOR, &[t(sum), t(product)]))?);
        total = Some(total.map_or(Ok(weight), |total| c.op(op::ADD_TENSOR, &[t(total), t(weight)]))?);
    }
    let (sum, total) = (sum.ok_or("it looks at nothing")?, total.ok_or("it looks at nothing")?);
    if !rule.antialias && !rule.exclude_outside {
        return Ok(sum);
    }
    let total = c.cast(total, dtype)?;
    let total = c.op(op::RESHAPE, &[t(total), is(&shape)])?;
    c.op(op::DIV_TENSOR, &[t(sum), t(total)])
}

/// `max(0, 1 - d)`.
fn linear_weight<'c>(c: &mut Call<'_, '_, 'c>, distance: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    let rest = c.op(op::RSUB_SCALAR, &[t(distance), s(1)])?;
    c.op(op::CLAMP_MIN, &[t(rest), s(0)])
}

/// Keys' kernel: `(a + 2) d^3 - (a + 3) d^2 + 1` up to 1, `a d^3 - 5 a d^2 + 8 a d - 4 a` up to 2, zero beyond.
fn cubic_weight<'c>(c: &mut Call<'_, '_, 'c>, distance: ir::Value<'c>, a: f64) -> Eval<ir::Value<'c>> {
    let polynomial = |c: &mut Call<'_, '_, 'c>, factors: [f64; 4]| {
        let mut value = c.op(op::MUL_SCALAR, &[t(distance), f(factors[0])])?;
        for (place, factor) in factors[1..].iter().enumerate() {
            value = c.op(op::ADD_SCALAR, &[t(value), f(*factor)])?;
            if place < 2 {
                value = c.op(op::MUL_TENSOR, &[t(value), t(distance)])?;
            }
        }
        Ok::<_, crate::onnx::error::Stop>(value)
    };
    let (near, far) = (polynomial(c, [a + 2.0, -(a + 3.0), 0.0, 1.0])?, polynomial(c, [a, -5.0 * a, 8.0 * a, -4.0 * a])?);
    let zero = wide(c, f(0.0))?;
    let (in_one, in_two) = (c.op(op::LE_SCALAR, &[t(distance), s(1)])?, c.op(op::LT_SCALAR, &[t(distance), s(2)])?);
    let far = c.op(op::WHERE_SELF, &[t(in_two), t(far), t(zero)])?;
    c.op(op::WHERE_SELF, &[t(in_one), t(near), t(far)])
}
