//! Slices at places that a tensor tells: read by `gather`, written by `scatter`.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::{Operator, op};
use strata_dialects::capture::inverse;

use super::attributes::{field, number, text};
use super::importer::{Importer, dtype};
use super::operators::Made;
use super::region;
use crate::args::{self, d, i, is, s, t};

/// How the slices of a tensor lie, in the words of `gather`; `scatter` has others for the same.
struct Slices {
    /// Dimensions of the slices' tensor that run inside of a slice.
    offset: Vec<i64>,
    /// Dimensions that a slice does not have.
    collapsed: Vec<i64>,
    /// Dimensions that run with one of the tensor of places.
    batching: Vec<i64>,
    /// Those of the tensor of places.
    starts_batching: Vec<i64>,
    /// The dimension of each number of a place.
    map: Vec<i64>,
    /// The dimension of the tensor of places that holds the numbers of one.
    vector: usize,
    /// Sizes of a slice, one for each dimension.
    sizes: Vec<i64>,
}

/// A tensor as rows, one for each place that its indexed dimensions have, and the row of each slice's part.
struct Rows<'c> {
    /// Dimensions that are indexed, then those that slices hold whole.
    order: Vec<i64>,
    /// Rows of the tensor, and the sizes of one.
    count: i64,
    row: Vec<i64>,
    /// The row of each part, in the order of the places and of the indexed dimensions of a slice; 64-bit integers.
    rows: ir::Value<'c>,
    /// Whether it is one of the tensor's; only where places are not clamped.
    inside: Option<ir::Value<'c>>,
}

/// Where places are: tensors of all places, then one dimension for each indexed dimension of the operand.
fn rows<'c>(
    m: &mut Importer<'_, '_, 'c>,
    shape: &[i64],
    slices: &Slices,
    starts: ir::Value<'c>,
    clamped: bool,
) -> Result<Rows<'c>, String> {
    let rank = shape.len();
    let starts = m.emit(op::TO_DTYPE, &[t(starts), d(ElementType::I64)])?;
    // The numbers of a place come last.
    let starts = if slices.vector == starts.ty().rank() {
        m.emit(op::UNSQUEEZE, &[t(starts), i(-1)])?
    } else {
        m.emit(op::MOVEDIM_INT, &[t(starts), i(slices.vector as i64), i(-1)])?
    };
    let starts_shape = starts.ty().shape();
    let (batch, wrong) = (starts_shape.len() - 1, || "its dimension_numbers do not fit its operands".to_owned());
    if slices.sizes.len() != rank || slices.starts_batching.len() != slices.batching.len() {
        return Err(wrong());
    }
    let whole = |dim: usize| {
        let named = |list: &[i64]| list.contains(&(dim as i64));
        slices.sizes[dim] == shape[dim] && !named(&slices.collapsed) && !named(&slices.batching) && !named(&slices.map)
    };
    let indexed: Vec<usize> = (0..rank).filter(|dim| !whole(*dim)).collect();
    let full: Vec<usize> = (0..rank).filter(|dim| whole(*dim)).collect();
    let across = batch + indexed.len();
    let line = |m: &mut Importer<'_, '_, 'c>, size: i64, at: usize| {
        let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(size), s(1), d(ElementType::I64)])?;
        let sizes: Vec<_> = (0..across).map(|place| if place == at { size } else { 1 }).collect();
        m.emit(op::RESHAPE, &[t(line), is(&sizes)])
    };
    let mut stride: i64 = indexed.iter().map(|dim| shape[*dim]).product();
    let count = stride;
    let start: Vec<_> = starts_shape[..batch].iter().copied().chain(vec![1; indexed.len()]).collect();
    let mut place = m.emit(op::FULL, &[is(&start), s(0), d(ElementType::I64)])?;
    let mut inside = None;
    for (at, dim) in indexed.iter().enumerate() {
        let size = shape[*dim];
        stride /= size.max(1);
        let mut number = line(m, slices.sizes[*dim], batch + at)?;
        if let Some(pair) = slices.batching.iter().position(|named| *named == *dim as i64) {
            // Dimensions of the places without their numbers.
            let from = usize::try_from(slices.starts_batching[pair]).map_err(|_| wrong())?;
            number = line(m, size, from - usize::from(from > slices.vector))?;
        }
        if let Some(part) = slices.map.iter().position(|mapped| *mapped == *dim as i64) {
            let mut first = m.emit(op::SELECT_INT, &[t(starts), i(-1), i(part as i64)])?;
            let last = size.saturating_sub(slices.sizes[*dim]);
            if clamped {
                first = m.emit(op::CLAMP, &[t(first), s(0), s(last.max(0))])?;
            }
            let first = m.emit(op::RESHAPE, &[t(first), is(&start)])?;
            if !clamped {
                // A slice is written whole or not at all.
                let (low, high) = (m.emit(op::GE_SCALAR, &[t(first), s(0)])?, m.emit(op::LE_SCALAR, &[t(first), s(last)])?);
                let both = m.emit(op::LOGICAL_AND, &[t(low), t(high)])?;
                inside = Some(match inside {
                    Some(others) => m.emit(op::LOGICAL_AND, &[t(others), t(both)])?,
                    None => both,
                });
            }
            number = m.emit(op::ADD_TENSOR, &[t(first), t(number)])?;
        }
        let scaled = m.emit(op::MUL_SCALAR, &[t(number), s(stride)])?;
        place = m.emit(op::ADD_TENSOR, &[t(place), t(scaled)])?;
    }
    let order = indexed.iter().chain(&full).map(|dim| *dim as i64).collect();
    Ok(Rows { order, count, row: full.iter().map(|dim| shape[*dim]).collect(), rows: place, inside })
}

impl<'c> Rows<'c> {
    /// A tensor as its rows.
    fn of(&self, m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>) -> Made<'c> {
        let x = m.emit(op::PERMUTE, &[t(x), is(&self.order)])?;
        m.emit(op::RESHAPE, &[t(x), is(&[&[self.count], &self.row[..]].concat())])
    }
}

/// A tensor whose dimensions stand in this order, with each back at its own place.
pub(super) fn put_back<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, order: &[i64]) -> Made<'c> {
    let order: Vec<_> = order.iter().map(|dim| *dim as usize).collect();
    let back: Vec<_> = inverse(&order).into_iter().map(|dim| dim as i64).collect();
    m.emit(op::PERMUTE, &[t(x), is(&back)])
}

/// The order of the slices' tensor that brings its places in front, then what is indexed of a slice, then what is whole.
fn slice_order(slices: &Slices, rows: &Rows<'_>, rank: usize) -> Result<Vec<i64>, String> {
    let wrong = || "its offset dimensions are none of its slices".to_owned();
    let named = |list: &[i64], dim: i64| list.contains(&dim);
    // The dimensions of the operand that a slice has, in the order in which they stand in it.
    let kept: Vec<_> =
        (0..slices.sizes.len() as i64).filter(|dim| !named(&slices.collapsed, *dim) && !named(&slices.batching, *dim)).collect();
    if kept.len() != slices.offset.len() {
        return Err(wrong());
    }
    let mut order: Vec<_> = (0..rank as i64).filter(|dim| !named(&slices.offset, *dim)).collect();
    for dim in &rows.order {
        if let Some(place) = kept.iter().position(|kept| kept == dim) {
            order.push(slices.offset[place]);
        }
    }
    let mut seen = order.clone();
    seen.sort_unstable();
    if seen.iter().copied().eq(0..rank as i64) { Ok(order) } else { Err(wrong()) }
}

/// Reads slices; places that lie outside are moved inside.
pub(super) fn gather<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    x: ir::Value<'c>,
    starts: ir::Value<'c>,
    sizes: Vec<i64>,
) -> Made<'c> {
    let numbers = text(op, "dimension_numbers");
    let list = |name: &str| field(&numbers, name);
    let slices = Slices {
        offset: list("offset_dims"),
        collapsed: list("collapsed_slice_dims"),
        batching: list("operand_batching_dims"),
        starts_batching: list("start_indices_batching_dims"),
        map: list("start_index_map"),
        vector: number(&numbers, "index_vector_dim"),
        sizes,
    };
    let rows = rows(m, &x.ty().shape(), &slices, starts, true)?;
    let rank = op.result(0).ty().rank();
    let order = slice_order(&slices, &rows, rank)?;
    let places = rows.rows.ty().shape();
    let flat = m.emit(op::RESHAPE, &[t(rows.rows), is(&[-1])])?;
    let from = rows.of(m, x)?;
    let found = m.emit(op::INDEX_SELECT, &[t(from), i(0), t(flat)])?;
    // Those of the places, then what is left of a slice.
    let kept = rows.order.iter().filter(|dim| !slices.collapsed.contains(dim) && !slices.batching.contains(dim));
    let slice = kept.map(|dim| slices.sizes[*dim as usize]);
    let batch = (0..).zip(starts.ty().shape()).filter(|(dim, _)| *dim != slices.vector).map(|(_, size)| size);
    let sizes: Vec<_> = batch.chain(slice).collect();
    if sizes.iter().product::<i64>() != places.iter().chain(&rows.row).product::<i64>() {
        return Err("its result has other sizes than its slices".to_owned());
    }
    let found = m.emit(op::RESHAPE, &[t(found), is(&sizes)])?;
    put_back(m, found, &order)
}

/// Writes slices; those that do not lie inside are left out.
pub(super) fn scatter<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
    let count = operands.len() / 2;
    let (xs, [starts, updates @ ..]) = operands.split_at(count) else { return Err("it has no places".to_owned()) };
    let first = *updates.first().ok_or("it has no updates")?;
    let numbers = text(op, "scatter_dimension_numbers");
    let list = |name: &str| field(&numbers, name);
    let shape = xs.first().ok_or("it has no operand")?.ty().shape();
    let (offset, collapsed, batching) = (list("update_window_dims"), list("inserted_window_dims"), list("input_batching_dims"));
    let mut windows = offset.iter();
    let mut sizes = Vec::new();
    for dim in 0..shape.len() as i64 {
        let none = collapsed.contains(&dim) || batching.contains(&dim);
        let of = if none { None } else { Some(*windows.next().ok_or("it has fewer update_window_dims than dimensions")?) };
        let size = of.map(|of| usize::try_from(of).ok().and_then(|of| first.ty().shape().get(of).copied()));
        sizes.push(size.unwrap_or(Some(1)).ok_or("its update_window_dims are none of its updates")?);
    }
    let (starts_batching, map) = (list("scatter_indices_batching_dims"), list("scatter_dims_to_operand_dims"));
    let slices = Slices { offset, collapsed, batching, starts_batching, map, vector: number(&numbers, "index_vector_dim"), sizes };
    let rows = rows(m, &shape, &slices, *starts, false)?;
    let order = slice_order(&slices, &rows, first.ty().rank())?;
    let parts = rows.rows.ty().shape();
    let mut places = rows.rows;
    if let Some(inside) = rows.inside {
        // A row behind the last takes what lies outside.
        places = m.emit(op::WHERE_SCALAROTHER, &[t(inside), t(places), s(rows.count)])?;
    }
    let places = m.emit(op::RESHAPE, &[t(places), is(&[-1])])?;
    let mut from = Vec::new();
    for update in updates {
        let update = m.emit(op::PERMUTE, &[t(*update), is(&order)])?;
        from.push(m.emit(op::RESHAPE, &[t(update), is(&[&[parts.iter().product()], &rows.row[..]].concat())])?);
    }
    let mut into = Vec::new();
    for x in xs {
        let x = rows.of(m, *x)?;
        let mut pads = vec![0; 2 * (1 + rows.row.len())];
        *pads.last_mut().ok_or("it has no dimensions")? = i64::from(rows.inside.is_some());
        into.push(m.emit(op::CONSTANT_PAD_ND, &[t(x), is(&pads), s(0)])?);
    }
    let written = write(m, op, &into, places, &from)?;
    let permuted: Vec<_> = rows.order.iter().map(|dim| shape[*dim as usize]).collect();
    let back = |m: &mut Importer<'_, 's, 'c>, x: ir::Value<'c>| {
        let x = m.emit(op::SLICE_TENSOR, &[t(x), i(0), i(0), i(rows.count), i(1)])?;
        let x = m.emit(op::RESHAPE, &[t(x), is(&permuted)])?;
        put_back(m, x, &rows.order)
    };
    written.into_iter().map(|x| back(m, x)).collect()
}

/// Joins rows with those at their places, as the region says.
fn write<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    into: &[ir::Value<'c>],
    places: ir::Value<'c>,
    from: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, String> {
    let block = region::block(op, 0)?;
    let args = block.args();
    let last = block.ops().last().map(|last| last.operands()).unwrap_or_default();
    let rows = |operator: Operator, x: ir::Value<'c>, y: ir::Value<'c>, how: Option<&str>| {
        let mut inputs = vec![t(x), i(0), t(places), t(y)];
        inputs.extend(how.map(args::text));
        (operator, inputs)
    };
    if last == args[into.len()..] {
        let each = into.iter().zip(from);
        return each.map(|(x, y)| rows(op::INDEX_COPY, *x, *y, None)).map(|(operator, inputs)| m.emit(operator, &inputs)).collect();
    }
    if let ([x], [y], Some(name)) = (into, from, region::only_op(block)) {
        let kind = dtype(*x);
        let (name, x, y) = if kind == ElementType::Bool {
            let name = match name {
                "or" | "maximum" | "add" => "maximum",
                "and" | "minimum" | "multiply" => "minimum",
                other => return Err(format!("truth values are not scattered by `{other}`")),
            };
            let byte = d(ElementType::U8);
            (name, m.emit(op::TO_DTYPE, &[t(*x), byte.clone()])?, m.emit(op::TO_DTYPE, &[t(*y), byte])?)
        } else {
            (name, *x, *y)
        };
        let made = match name {
            "add" => Some(rows(op::INDEX_ADD, x, y, None)),
            "subtract" => Some(rows(op::INDEX_ADD, x, m.emit(op::NEG, &[t(y)])?, None)),
            "multiply" => Some(rows(op::INDEX_REDUCE, x, y, Some("prod"))),
            "maximum" => Some(rows(op::INDEX_REDUCE, x, y, Some("amax"))),
            "minimum" => Some(rows(op::INDEX_REDUCE, x, y, Some("amin"))),
            _ => None,
        };
        if let Some((operator, inputs)) = made {
            let result = m.emit(operator, &inputs)?;
            return Ok(vec![m.emit(op::TO_DTYPE, &[t(result), d(kind)])?]);
        }
    }
    if op.attr("unique_indices").and_then(|unique| unique.as_bool()) != Some(true) {
        return Err("its region is no single op, and its places are not told to be different (unique_indices)".to_owned());
    }
    let old = into.iter().map(|x| m.emit(op::INDEX_SELECT, &[t(*x), i(0), t(places)])).collect::<Result<Vec<_>, _>>()?;
    let new = region::apply(m, block, &[&old[..], from].concat())?;
    let mut results = Vec::new();
    for ((x, old), new) in into.iter().zip(&old).zip(new) {
        let new = m.emit(op::EXPAND, &[t(new), is(&old.ty().shape())])?;
        let (operator, inputs) = rows(op::INDEX_COPY, *x, new, None);
        results.push(m.emit(operator, &inputs)?);
    }
    Ok(results)
}
