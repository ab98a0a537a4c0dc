//! Elements by their places: gather, scatter, and what chooses by conditions.

use strata_core::ir::{self, DYNAMIC, ElementType};
use strata_dialects::aten::{Input, op};

use super::shape::{arange, product};
use crate::onnx::call::{Call, b, i, is, many, one, s, t, text, wrapped};
use crate::onnx::error::Eval;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("Compress", compress),
    row("Gather", gather),
    row("GatherElements", |c| {
        let x = c.tensor(0)?;
        let axis = c.axis(0, x.ty().rank())?;
        let places = places(c, 1, x, axis)?;
        c.op(op::GATHER, &[t(x), i(axis), t(places)]).map(one)
    }),
    row("GatherND", gather_nd),
    row("NonZero", |c| {
        let x = c.tensor(0)?;
        let places = c.op(op::NONZERO, &[t(x)])?;
        c.op(op::PERMUTE, &[t(places), is(&[1, 0])]).map(one)
    }),
    row("OneHot", one_hot),
    row("ReverseSequence", reverse_sequence),
    row("Scatter", scatter_elements),
    row("ScatterElements", scatter_elements),
    row("ScatterND", scatter_nd),
    row("TensorScatter", tensor_scatter),
    row("Unique", unique),
];

/// Indices of an input as `i64`, where negative ones count from the end of `axis`.
fn places<'c>(c: &mut Call<'_, '_, 'c>, place: usize, x: ir::Value<'c>, axis: i64) -> Eval<ir::Value<'c>> {
    let input = c.input(place);
    let known = c.importer.known(&input).and_then(|known| known.ints());
    let indices = c.tensor(place)?;
    let indices = c.cast(indices, ElementType::I64)?;
    if known.is_some_and(|known| known.iter().all(|index| *index >= 0)) {
        return Ok(indices);
    }
    let size = c.importer.size_of(x, axis as usize);
    from_end(c, indices, size)
}

/// Negative indices count from the end.
fn from_end<'c>(c: &mut Call<'_, '_, 'c>, indices: ir::Value<'c>, size: Num<'c>) -> Eval<ir::Value<'c>> {
    let size = c.importer.tensor(&Value::number(ElementType::I64, size))?;
    let below = c.op(op::LT_SCALAR, &[t(indices), s(0)])?;
    let counted = c.op(op::ADD_TENSOR, &[t(indices), t(size)])?;
    c.op(op::WHERE_SELF, &[t(below), t(counted), t(indices)])
}

fn gather<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let rank = x.ty().rank();
    let axis = c.axis(0, rank)?;
    let indices = c.input(1);
    if let Some(known) = c.importer.known(&indices)
        && known.shape.is_empty()
        && let Some(&[index]) = known.ints().as_deref()
    {
        return c.op(op::SELECT_INT, &[t(x), i(axis), i(index)]).map(one);
    }
    let indices = places(c, 1, x, axis)?;
    let mut list = vec![None; axis as usize];
    list.push(Some(indices));
    c.op(op::INDEX_TENSOR, &[t(x), Some(Input::OptTensors(list))]).map(one)
}

/// The indices of a tuple of places, one tensor for each dimension that they choose in.
fn tuple<'c>(c: &mut Call<'_, '_, 'c>, x: ir::Value<'c>, place: usize, batch: usize) -> Eval<Vec<ir::Value<'c>>> {
    let indices = c.tensor(place)?;
    let indices = c.cast(indices, ElementType::I64)?;
    let last = indices.ty().rank().checked_sub(1).ok_or("its indices have no dimensions")?;
    let count = indices.ty().shape()[last];
    if count == DYNAMIC || batch as i64 + count > x.ty().rank() as i64 {
        return Err("its indices choose in more dimensions than there are, or in as many as only a call knows".into());
    }
    let mut list = Vec::new();
    for dim in 0..count {
        let one = c.op(op::SELECT_INT, &[t(indices), i(last as i64), i(dim)])?;
        let size = c.importer.size_of(x, batch + dim as usize);
        list.push(from_end(c, one, size)?);
    }
    Ok(list)
}

fn gather_nd<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let batch = usize::try_from(c.int("batch_dims", 0)).map_err(|_| "its batch_dims are negative")?;
    let tuple = tuple(c, x, 1, batch)?;
    // Each batch dimension is chosen by its own place.
    let mut list = Vec::new();
    let rank = tuple.first().map_or(batch, |indices| indices.ty().rank());
    if batch > rank {
        return Err("its indices have fewer dimensions than there are batch dimensions".into());
    }
    for dim in 0..batch {
        let size = c.importer.size_of(x, dim);
        let line = arange(c, size, ElementType::I64)?;
        let sizes: Vec<_> = (0..rank).map(|place| if place == dim { -1 } else { 1 }).collect();
        list.push(Some(c.op(op::RESHAPE, &[t(line), is(&sizes)])?));
    }
    list.extend(tuple.into_iter().map(Some));
    c.op(op::INDEX_TENSOR, &[t(x), Some(Input::OptTensors(list))]).map(one)
}

/// How updates meet what is there, as `aten.scatter_reduce` spells it.
fn reduction<'c>(c: &Call<'_, '_, 'c>) -> Eval<Option<&'static str>> {
    Ok(match c.text("reduction", "none")? {
        "none" => None,
        "add" => Some("sum"),
        "mul" => Some("prod"),
        "max" => Some("amax"),
        "min" => Some("amin"),
        other => return Err(format!("its reduction {other:?} is none of none, add, mul, max and min").into()),
    })
}

fn scatter_elements<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, updates) = (c.tensor(0)?, c.tensor(2)?);
    let axis = c.axis(0, x.ty().rank())?;
    let places = places(c, 1, x, axis)?;
    match reduction(c)? {
        None => c.op(op::SCATTER_SRC, &[t(x), i(axis), t(places), t(updates)]).map(one),
        Some(reduce) => c.op(op::SCATTER_REDUCE_TWO, &[t(x), i(axis), t(places), t(updates), text(reduce)]).map(one),
    }
}

fn scatter_nd<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, updates) = (c.tensor(0)?, c.tensor(2)?);
    let tuple = tuple(c, x, 1, 0)?;
    let reduce = reduction(c)?;
    if matches!(reduce, None | Some("sum")) {
        let list = tuple.into_iter().map(Some).collect();
        return c.op(op::INDEX_PUT, &[t(x), Some(Input::OptTensors(list)), t(updates), b(reduce.is_some())]).map(one);
    }
    // The chosen dimensions become one, and so do the others.
    let sizes = c.sizes(x);
    let (chosen, rest) = sizes.split_at(tuple.len());
    let mut flat: Option<ir::Value<'c>> = None;
    for (places, size) in tuple.iter().zip(chosen) {
        flat = Some(match flat {
            None => *places,
            Some(flat) => {
                let size = c.importer.tensor(&Value::number(ElementType::I64, *size))?;
                let scaled = c.op(op::MUL_TENSOR, &[t(flat), t(size)])?;
                c.op(op::ADD_TENSOR, &[t(scaled), t(*places)])?
            }
        });
    }
    let flat = flat.ok_or("its indices choose in no dimension")?;
    let sizes_of_updates = c.sizes(flat);
    let (count, rest, rows) = (product(c, &sizes_of_updates), product(c, rest), product(c, chosen));
    let x_flat = c.reshape(x, &[rows, rest])?;
    let updates = c.reshape(updates, &[count, rest])?;
    let flat = c.reshape(flat, &[count, Num::Int(1)])?;
    let flat = c.op(op::EXPAND, &[t(flat), crate::onnx::call::ns(&[count, rest])])?;
    let result = c.op(op::SCATTER_REDUCE_TWO, &[t(x_flat), i(0), t(flat), t(updates), text(reduce.unwrap_or("sum"))])?;
    c.reshape(result, &sizes).map(one)
}

/// Updates of a cache at the places of each batch.
fn tensor_scatter<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, updates) = (c.tensor(0)?, c.tensor(1)?);
    let rank = x.ty().rank();
    let axis = c.axis(-2, rank)?;
    let count = c.importer.size_of(updates, axis as usize);
    let mut places = arange(c, count, ElementType::I64)?;
    places = c.op(op::RESHAPE, &[t(places), is(&line(rank, axis))])?;
    if c.has(2) {
        let first = c.tensor(2)?;
        let first = c.cast(first, ElementType::I64)?;
        let first = c.op(op::RESHAPE, &[t(first), is(&line(rank, 0))])?;
        places = c.op(op::ADD_TENSOR, &[t(places), t(first)])?;
    }
    match c.text("mode", "linear")? {
        "linear" => {}
        "circular" => {
            let size = c.importer.size_of(x, axis as usize);
            let size = c.importer.tensor(&Value::number(ElementType::I64, size))?;
            places = c.op(op::REMAINDER_TENSOR, &[t(places), t(size)])?;
        }
        other => return Err(format!("its mode {other:?} is neither linear nor circular").into()),
    }
    let places = c.op(op::EXPAND_AS, &[t(places), t(updates)])?;
    c.op(op::SCATTER_SRC, &[t(x), i(axis), t(places), t(updates)]).map(one)
}

/// Sizes of a line along an axis.
fn line(rank: usize, axis: i64) -> Vec<i64> {
    (0..rank as i64).map(|dim| if dim == axis { -1 } else { 1 }).collect()
}

/// The slices along `axis` whose condition holds.
fn compress<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (mut x, condition) = (c.tensor(0)?, c.tensor(1)?);
    let axis = match c.attr("axis") {
        Some(attr) => wrapped(attr.i, x.ty().rank())?,
        None => {
            x = c.op(op::RESHAPE, &[t(x), is(&[-1])])?;
            0
        }
    };
    let chosen = c.op(op::NONZERO, &[t(condition)])?;
    let chosen = c.op(op::SELECT_INT, &[t(chosen), i(1), i(0)])?;
    c.op(op::INDEX_SELECT, &[t(x), i(axis), t(chosen)]).map(one)
}

/// A new axis, on at the places of the indices.
fn one_hot<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (indices, values) = (c.tensor(0)?, c.tensor(2)?);
    let depth = if c.dtype(1)?.is_float() {
        Num::Int(*c.known_floats(1)?.first().ok_or("its depth is no number")? as i64)
    } else {
        *c.numbers(1)?.first().ok_or("its depth is no number")?
    };
    let rank = indices.ty().rank() + 1;
    let axis = c.axis(-1, rank)?;
    let indices = c.cast(indices, ElementType::I64)?;
    let indices = from_end(c, indices, depth)?;
    let indices = c.op(op::UNSQUEEZE, &[t(indices), i(axis)])?;
    let places = arange(c, depth, ElementType::I64)?;
    let places = c.op(op::RESHAPE, &[t(places), is(&line(rank, axis))])?;
    let mask = c.op(op::EQ_TENSOR, &[t(indices), t(places)])?;
    let (off, on) = (c.op(op::SELECT_INT, &[t(values), i(0), i(0)])?, c.op(op::SELECT_INT, &[t(values), i(0), i(1)])?);
    c.op(op::WHERE_SELF, &[t(mask), t(on), t(off)]).map(one)
}

/// The first elements of each sequence in the other order.
fn reverse_sequence<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let (x, lengths) = (c.tensor(0)?, c.tensor(1)?);
    let rank = x.ty().rank();
    let (time, batch) = (wrapped(c.int("time_axis", 0), rank)?, wrapped(c.int("batch_axis", 1), rank)?);
    let size = c.importer.size_of(x, time as usize);
    let places = arange(c, size, ElementType::I64)?;
    let places = c.op(op::RESHAPE, &[t(places), is(&line(rank, time))])?;
    let lengths = c.op(op::RESHAPE, &[t(lengths), is(&line(rank, batch))])?;
    let inside = c.op(op::LT_TENSOR, &[t(places), t(lengths)])?;
    let last = c.op(op::SUB_SCALAR, &[t(lengths), s(1)])?;
    let turned = c.op(op::SUB_TENSOR, &[t(last), t(places)])?;
    let places = c.op(op::WHERE_SELF, &[t(inside), t(turned), t(places)])?;
    let places = c.op(op::EXPAND_AS, &[t(places), t(x)])?;
    c.op(op::GATHER, &[t(x), i(time), t(places)]).map(one)
}

/// The different elements or slices: sorted, or in the order in which they come first.
fn unique<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let mut x = c.tensor(0)?;
    let axis = match c.attr("axis") {
        Some(attr) => wrapped(attr.i, x.ty().rank())?,
        None => {
            x = c.op(op::RESHAPE, &[t(x), is(&[-1])])?;
            0
        }
    };
    let found = c.ops(op::UNIQUE_DIM, &[t(x), i(axis), b(true), b(true), b(true)])?;
    let [mut values, mut inverse, mut counts] = found[..] else { return Err("three results are expected".into()) };
    let size = c.importer.size_of(x, axis as usize);
    // Where each comes first.
    let line = arange(c, size, ElementType::I64)?;
    let start = c.op(op::ZEROS_LIKE, &[t(counts)])?;
    let mut first = c.op(op::SCATTER_REDUCE_TWO, &[t(start), i(0), t(inverse), t(line), text("amin"), b(false)])?;
    if !c.flag("sorted", true) {
        let order = c.op(op::ARGSORT, &[t(first)])?;
        values = c.op(op::INDEX_SELECT, &[t(values), i(axis), t(order)])?;
        counts = c.op(op::INDEX_SELECT, &[t(counts), i(0), t(order)])?;
        first = c.op(op::INDEX_SELECT, &[t(first), i(0), t(order)])?;
        let rank = c.op(op::ARGSORT, &[t(order)])?;
        inverse = c.op(op::INDEX_SELECT, &[t(rank), i(0), t(inverse)])?;
    }
    Ok(many(vec![values, first, inverse, counts]))
}
