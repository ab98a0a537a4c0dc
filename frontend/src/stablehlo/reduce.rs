//! Reductions by regions.

use strata_core::ir::{self, Block, ElementType, Op};
use strata_dialects::aten::{Scalar, op};

use super::attributes::{int, ints};
use super::importer::{Importer, dtype};
use super::operators::Made;
use super::region;
use crate::args::{b, d, i, is, t};

/// Tensors reduced together with their first values.
pub(super) fn reduce<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
    let (xs, firsts) = operands.split_at(operands.len() / 2);
    let (dims, block) = (ints(op, "dimensions")?, region::block(op, 0)?);
    if dims.is_empty() {
        return joined(m, block, firsts, xs.to_vec());
    }
    let shape = xs.first().ok_or("it has no operands")?.ty().shape();
    let counted = (0..shape.len() as i64).filter(|dim| dims.contains(dim)).count();
    if counted != dims.len() || xs.iter().any(|x| x.ty().shape() != shape) {
        return Err("its dimensions are none of its operands".to_owned());
    }
    if dims.iter().any(|dim| shape.get(*dim as usize) == Some(&0)) {
        let kept: Vec<_> = (0..shape.len()).filter(|dim| !dims.contains(&(*dim as i64))).map(|dim| shape[dim]).collect();
        return firsts.iter().map(|first| m.emit(op::EXPAND, &[t(*first), is(&kept)])).collect();
    }
    let results = alone(m, op, block, xs, &dims)?;
    joined(m, block, firsts, results)
}

/// Reduced values joined with first values.
pub(super) fn joined<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    block: Block<'s>,
    firsts: &[ir::Value<'c>],
    results: Vec<ir::Value<'c>>,
) -> Result<Vec<ir::Value<'c>>, String> {
    let shape = results.first().ok_or("it has no operands")?.ty().shape();
    let all = region::apply(m, block, &[firsts, &results[..]].concat())?;
    all.into_iter().map(|result| m.emit(op::EXPAND, &[t(result), is(&shape)])).collect()
}

/// Tensors reduced along dimensions, without first values; no dimension is empty.
pub(super) fn alone<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    block: Block<'s>,
    xs: &[ir::Value<'c>],
    dims: &[i64],
) -> Result<Vec<ir::Value<'c>>, String> {
    if let ([x], Some(name)) = (xs, region::only_op(block))
        && let Some(result) = known(m, name, *x, dims)?
    {
        return Ok(vec![result]);
    }
    if let ([x, places], [dim]) = (xs, dims)
        && let Some(results) = extremum(m, op, block, *x, *places, *dim)?
    {
        return Ok(results);
    }
    by_halves(m, block, xs, dims)
}

/// A reduction by one op that `aten` has.
fn known<'c>(m: &mut Importer<'_, '_, 'c>, name: &str, x: ir::Value<'c>, dims: &[i64]) -> Result<Option<ir::Value<'c>>, String> {
    let kind = dtype(x);
    let bool = kind == ElementType::Bool;
    Ok(Some(match name {
        "add" if !bool => m.emit(op::SUM_DIM_INTLIST, &[t(x), is(dims), b(false), d(kind)])?,
        "maximum" if !bool && !kind.is_complex() => m.emit(op::AMAX, &[t(x), is(dims)])?,
        "minimum" if !bool && !kind.is_complex() => m.emit(op::AMIN, &[t(x), is(dims)])?,
        "and" | "minimum" | "multiply" if bool => m.emit(op::ALL_DIMS, &[t(x), is(dims)])?,
        "or" | "maximum" | "add" if bool => m.emit(op::ANY_DIMS, &[t(x), is(dims)])?,
        "multiply" => {
            let (mut dims, mut product) = (dims.to_vec(), x);
            dims.sort_unstable();
            for dim in dims.into_iter().rev() {
                product = m.emit(op::PROD_DIM_INT, &[t(product), i(dim), b(false), d(kind)])?;
            }
            product
        }
        _ => return Ok(None),
    }))
}

/// The greatest or least number and its place, as `argmax` is written: a region of comparisons, and places that count along the dimension.
fn extremum<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    block: Block<'s>,
    x: ir::Value<'c>,
    places: ir::Value<'c>,
    dim: i64,
) -> Result<Option<Vec<ir::Value<'c>>>, String> {
    let counted = op.operand(1).defining_op().is_some_and(|iota| iota.is("stablehlo.iota") && int(iota, "iota_dimension") == Ok(dim));
    if !counted || !op.is("stablehlo.reduce") {
        return Ok(None);
    }
    // The region is given every order of two numbers, the first of which stands in front.
    let first = |x: f64, y: f64| match region::compared(block, &[x, 0.0, y, 1.0]).as_deref() {
        Some([number, place]) if *place == 0.0 && number.total_cmp(&x).is_eq() => Some(true),
        Some([number, place]) if *place == 1.0 && number.total_cmp(&y).is_eq() => Some(false),
        _ => None,
    };
    let float = dtype(x).is_float();
    let orders = |pairs: &[(f64, f64)]| pairs.iter().all(|(x, y)| first(*x, *y) == Some(true));
    let nan = f64::NAN;
    let nans = !float || (orders(&[(nan, 1.0), (nan, nan)]) && first(1.0, nan) == Some(false));
    let (operator, extremum) = if !nans || !orders(&[(1.0, 1.0)]) {
        return Ok(None);
    } else if orders(&[(2.0, 1.0)]) && first(1.0, 2.0) == Some(false) {
        (op::ARGMAX, op::AMAX)
    } else if orders(&[(1.0, 2.0)]) && first(2.0, 1.0) == Some(false) {
        (op::ARGMIN, op::AMIN)
    } else {
        return Ok(None);
    };
    let bool = dtype(x) == ElementType::Bool;
    let numbers = if bool { m.emit(op::TO_DTYPE, &[t(x), d(ElementType::U8)])? } else { x };
    let place = m.emit(operator, &[t(numbers), i(dim), b(false)])?;
    let place = m.emit(op::TO_DTYPE, &[t(place), d(dtype(places))])?;
    let number = m.emit(extremum, &[t(numbers), is(&[dim])])?;
    let number = if bool { m.emit(op::TO_DTYPE, &[t(number), d(ElementType::Bool)])? } else { number };
    Ok(Some(vec![number, place]))
}

/// Neighbours joined in pairs until one is left: what a region must allow, as it has no order of its own.
fn by_halves<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    block: Block<'s>,
    xs: &[ir::Value<'c>],
    dims: &[i64],
) -> Result<Vec<ir::Value<'c>>, String> {
    let shape = xs.first().ok_or("it has no operands")?.ty().shape();
    let kept: Vec<_> = (0..shape.len() as i64).filter(|dim| !dims.contains(dim)).collect();
    let order = [&kept[..], dims].concat();
    let outer: Vec<_> = kept.iter().map(|dim| shape[*dim as usize]).collect();
    let mut length: i64 = dims.iter().map(|dim| shape[*dim as usize]).product();
    let flat = [&outer[..], &[length]].concat();
    let mut xs = xs.to_vec();
    for x in &mut xs {
        let ordered = m.emit(op::PERMUTE, &[t(*x), is(&order)])?;
        *x = m.emit(op::RESHAPE, &[t(ordered), is(&flat)])?;
    }
    while length > 1 {
        let pairs = length / 2;
        let part = |m: &mut Importer<'_, 's, 'c>, x: ir::Value<'c>, from: i64, to: i64, step: i64| {
            m.emit(op::SLICE_TENSOR, &[t(x), i(-1), i(from), i(to), i(step)])
        };
        let left = xs.iter().map(|x| part(m, *x, 0, 2 * pairs, 2)).collect::<Result<Vec<_>, _>>()?;
        let right = xs.iter().map(|x| part(m, *x, 1, 2 * pairs, 2)).collect::<Result<Vec<_>, _>>()?;
        let results = region::apply(m, block, &[&left[..], &right[..]].concat())?;
        let sizes = [&outer[..], &[pairs]].concat();
        let mut next = Vec::new();
        for (x, result) in xs.iter().zip(results) {
            let result = m.emit(op::EXPAND, &[t(result), is(&sizes)])?;
            next.push(if length % 2 == 1 {
                let rest = part(m, *x, 2 * pairs, length, 1)?;
                m.emit(op::CAT, &[crate::args::ts(&[result, rest]), i(-1)])?
            } else {
                result
            });
        }
        (xs, length) = (next, length - pairs);
    }
    xs.into_iter().map(|x| m.emit(op::RESHAPE, &[t(x), is(&outer)])).collect()
}

/// A running reduction, if its op is one that `aten` has.
pub(super) fn running<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    block: Block<'s>,
    x: ir::Value<'c>,
    dim: i64,
    backward: bool,
    first: ir::Value<'c>,
) -> Result<Option<ir::Value<'c>>, String> {
    let kind = dtype(x);
    // First values stand around the tensor as well.
    let alone = |number: f64| match m.number(first) {
        Some(Scalar::Int(value)) => value as f64 == number,
        Some(Scalar::Float(value)) => value == number,
        _ => false,
    };
    let (operator, dtype) = match region::only_op(block) {
        _ if kind == ElementType::Bool => return Ok(None),
        Some("add") if alone(0.0) => (op::CUMSUM, Some(d(kind))),
        Some("multiply") if alone(1.0) => (op::CUMPROD, Some(d(kind))),
        Some("maximum") if !kind.is_complex() => (op::CUMMAX, None),
        Some("minimum") if !kind.is_complex() => (op::CUMMIN, None),
        _ => return Ok(None),
    };
    let turned = |m: &mut Importer<'_, 's, 'c>, x: ir::Value<'c>| -> Made<'c> {
        if backward { m.emit(op::FLIP, &[t(x), is(&[dim])]) } else { Ok(x) }
    };
    let x = turned(m, x)?;
    let inputs: Vec<_> = [t(x), i(dim)].into_iter().chain(dtype).collect();
    let result = m.emit_many(operator, &inputs)?.first().copied().unwrap_or(x);
    let result = turned(m, result)?;
    Ok(Some(region::apply(m, block, &[first, result])?.first().copied().ok_or("its region gives nothing")?))
}
