//! Sorting by an order that a region tells.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::op;

use super::attributes::int;
use super::importer::{Importer, dtype, ty};
use super::{bits, region};
use crate::args::{b, d, i, is, s, t};

/// Tensors sorted together. The region compares numbers of the first tensors, in the order of their weight.
pub(super) fn sort<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, xs: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
    let (block, dim) = (region::block(op, 0)?, int(op, "dimension")?);
    let first = *xs.first().ok_or("it has no operands")?;
    let rank = first.ty().rank() as i64;
    let dim = if dim < 0 { dim + rank } else { dim };
    let mut order: Option<ir::Value<'c>> = None;
    // A stable sort by each key, the lightest one first.
    for (key, descending) in keys(block, xs)?.into_iter().rev() {
        let x = match order {
            Some(order) => m.emit(op::GATHER, &[t(xs[key]), i(dim), t(order)])?,
            None => xs[key],
        };
        let [_, places] = m.emit_many(op::SORT_STABLE, &[t(x), b(true), i(dim), b(descending)])?[..] else {
            return Err("a sort gives no places".to_owned());
        };
        order = Some(match order {
            Some(order) => m.emit(op::GATHER, &[t(order), i(dim), t(places)])?,
            None => places,
        });
    }
    let order = order.ok_or("its region compares nothing")?;
    xs.iter().map(|x| m.emit(op::GATHER, &[t(*x), i(dim), t(order)])).collect()
}

/// The tensors whose numbers are compared and whether the greatest come first, from what the region says of pairs.
fn keys(block: ir::Block<'_>, xs: &[ir::Value<'_>]) -> Result<Vec<(usize, bool)>, String> {
    let unknown = || "its region is no order that is known: comparisons of numbers, one tensor after the other".to_owned();
    let before = |pairs: &[(f64, f64)]| -> Result<bool, String> {
        let args: Vec<_> = pairs.iter().flat_map(|(x, y)| [*x, *y]).collect();
        region::answer(block, &args).ok_or_else(unknown)
    };
    let same = vec![(1.0, 1.0); xs.len()];
    let with = |key: usize, x: f64, y: f64| {
        let mut pairs = same.clone();
        pairs[key] = (x, y);
        pairs
    };
    let mut found = Vec::new();
    for (key, x) in xs.iter().enumerate() {
        let (up, down) = (before(&with(key, 0.0, 1.0))?, before(&with(key, 1.0, 0.0))?);
        if up == down {
            continue;
        }
        // Zeros are equal, and NaN is more than all others, as `aten.sort` has it.
        let float = dtype(*x).is_float();
        if float && (before(&with(key, -0.0, 0.0))? || before(&with(key, 0.0, -0.0))? || before(&with(key, f64::NAN, f64::NAN))?) {
            return Err("it tells zeros apart, which is not imported".to_owned());
        }
        if float && (before(&with(key, 1.0, f64::NAN))? != up || before(&with(key, f64::NAN, 1.0))? != down) {
            return Err("its NaNs do not come last of the ascending order, which is not imported".to_owned());
        }
        found.push((key, down));
    }
    // A key is asked only where all before it are equal.
    for pair in found.windows(2) {
        let ((heavy, heavy_down), (light, light_down)) = (pair[0], pair[1]);
        let mut pairs = with(heavy, f64::from(u8::from(heavy_down)), f64::from(u8::from(!heavy_down)));
        pairs[light] = (f64::from(u8::from(!light_down)), f64::from(u8::from(light_down)));
        if !before(&pairs)? {
            return Err(unknown());
        }
    }
    if before(&same)? || found.is_empty() { Err(unknown()) } else { Ok(found) }
}

/// The greatest numbers of the last dimension, and their places: by the total order, and of equal numbers the first come first.
pub(super) fn top_k<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>) -> Result<Vec<ir::Value<'c>>, String> {
    let key = if dtype(x).is_float() { bits::total_order(m, x)? } else { x };
    let place = m.emit(op::FULL, &[is(&[]), s(0), d(ElementType::I64)])?;
    let results = first_of(m, key, true, &[x, place], int(op, "k")?, x.ty().rank() as i64 - 1)?;
    let place = ty(m.cx, op.result(1).ty())?.element_type().unwrap_or(ElementType::I32);
    Ok(vec![results[0], m.emit(op::TO_DTYPE, &[t(results[1]), d(place)])?])
}

/// The greatest or least numbers along a dimension, as the function of a custom call compares them, with what stands at their places. They
/// are exact here.
pub(super) fn approximate_top_k<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    x: ir::Value<'c>,
    places: ir::Value<'c>,
    count: i64,
    dim: i64,
) -> Result<Vec<ir::Value<'c>>, String> {
    let name = op.attr("called_computations").and_then(|list| list.as_array()?.first()?.as_symbol()).unwrap_or_default();
    let block = m.function(&name).ok_or_else(|| format!("there is no function `{name}`"))?;
    let before = |x: f64, y: f64| region::answer(block, &[x, y, 0.0, 0.0]);
    let greatest = match (before(2.0, 1.0), before(1.0, 2.0)) {
        (Some(true), Some(false)) => true,
        (Some(false), Some(true)) => false,
        _ => return Err("its function is no comparison of two numbers".to_owned()),
    };
    first_of(m, x, greatest, &[x, places], count, dim)
}

/// The first of tensors sorted by a key, along a dimension; a tensor of no dimensions stands for the places themselves.
fn first_of<'c>(
    m: &mut Importer<'_, '_, 'c>,
    key: ir::Value<'c>,
    descending: bool,
    xs: &[ir::Value<'c>],
    count: i64,
    dim: i64,
) -> Result<Vec<ir::Value<'c>>, String> {
    let size =
        usize::try_from(dim).ok().and_then(|dim| key.ty().shape().get(dim).copied()).ok_or("its dimension is none of its operand")?;
    if !(0..=size).contains(&count) {
        return Err(format!("it takes {count} of {size} numbers"));
    }
    let [_, places] = m.emit_many(op::SORT_STABLE, &[t(key), b(true), i(dim), b(descending)])?[..] else {
        return Err("a sort gives no places".to_owned());
    };
    let first = m.emit(op::SLICE_TENSOR, &[t(places), i(dim), i(0), i(count), i(1)])?;
    xs.iter().map(|x| if x.ty().rank() == 0 { Ok(first) } else { m.emit(op::GATHER, &[t(*x), i(dim), t(first)]) }).collect()
}
