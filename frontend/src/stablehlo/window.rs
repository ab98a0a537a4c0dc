//! Windows that move over a tensor, and slices at places that a tensor tells.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::{Input, op};

use super::attributes::{field, ints, text};
use super::importer::Importer;
use super::operators::{Made, padded, reduced};
use crate::args::{d, i, is, s, t};

/// A reduction of each window: dimension by dimension, the windows of one become a dimension of their own, which is reduced.
pub(super) fn reduce<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, first: ir::Value<'c>) -> Made<'c> {
    let rank = x.ty().rank();
    let list = |name: &str| op.ints(name).unwrap_or_else(|| vec![1; rank]);
    let (sizes, steps) = (ints(op, "window_dimensions")?, list("window_strides"));
    let dilated = |name: &str| list(name).iter().any(|step| *step != 1);
    if dilated("base_dilations") || dilated("window_dilations") {
        return Err("dilated windows are not imported".to_owned());
    }
    let mut x = x;
    if let Some((bytes, splat)) = op.attr("padding").and_then(|pads| pads.as_dense()) {
        let pads: Vec<i64> = bytes.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect();
        let pads = if splat { vec![pads.first().copied().unwrap_or(0); 2 * rank] } else { pads };
        if pads.iter().any(|pad| *pad != 0) {
            let flat: Vec<_> = pads.chunks_exact(2).rev().flatten().copied().collect();
            x = padded(m, x, &flat, first)?;
        }
    }
    for (dim, (size, step)) in sizes.iter().zip(&steps).enumerate() {
        if (*size, *step) != (1, 1) {
            x = m.emit(op::UNFOLD, &[t(x), i(dim as i64), i(*size), i(*step)])?;
            x = reduced(m, op, x, vec![rank as i64], first)?;
        }
    }
    Ok(x)
}

/// Slices at the places of a tensor: each dimension of the operand is chosen by its start plus the place in the slice.
pub(super) fn gather<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, starts: ir::Value<'c>) -> Made<'c> {
    let numbers = text(op, "dimension_numbers");
    let (offset, collapsed, map) =
        (field(&numbers, "offset_dims"), field(&numbers, "collapsed_slice_dims"), field(&numbers, "start_index_map"));
    if !field(&numbers, "operand_batching_dims").is_empty() {
        return Err("batching dimensions of a gather are not imported".to_owned());
    }
    let sizes = ints(op, "slice_sizes")?;
    let (rank, shape) = (x.ty().rank(), x.ty().shape());
    let after = numbers.split("index_vector_dim").nth(1).map(|rest| rest.trim_start_matches([' ', '=']));
    let vector = after.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>()).and_then(|digits| digits.parse().ok());
    let vector: usize = vector.unwrap_or(0);
    let starts = m.emit(op::TO_DTYPE, &[t(starts), d(ElementType::I64)])?;
    // The numbers of a place come last.
    let starts = if vector == starts.ty().rank() {
        m.emit(op::UNSQUEEZE, &[t(starts), i(-1)])?
    } else {
        m.emit(op::MOVEDIM_INT, &[t(starts), i(vector as i64), i(-1)])?
    };
    let batch = starts.ty().rank() - 1;
    let mut list = Vec::new();
    for (dim, whole) in shape.iter().enumerate() {
        let size = *sizes.get(dim).ok_or("it has fewer sizes of a slice than dimensions")?;
        let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(size), s(1), d(ElementType::I64)])?;
        let across: Vec<_> = (0..batch + rank).map(|place| if place == batch + dim { -1 } else { 1 }).collect();
        let mut places = m.emit(op::RESHAPE, &[t(line), is(&across)])?;
        if let Some(number) = map.iter().position(|mapped| *mapped == dim as i64) {
            let start = m.emit(op::SELECT_INT, &[t(starts), i(-1), i(number as i64)])?;
            let start = m.emit(op::CLAMP, &[t(start), s(0), s(whole.saturating_sub(size).max(0))])?;
            let sizes: Vec<_> = start.ty().shape().into_iter().chain(vec![1; rank]).collect();
            let start = m.emit(op::RESHAPE, &[t(start), is(&sizes)])?;
            places = m.emit(op::ADD_TENSOR, &[t(start), t(places)])?;
        }
        list.push(Some(places));
    }
    let slices = m.emit(op::INDEX_TENSOR, &[t(x), Some(Input::OptTensors(list))])?;
    let kept: Vec<_> = (0..rank).filter(|dim| !collapsed.contains(&(*dim as i64))).collect();
    let shape = slices.ty().shape();
    let sizes: Vec<_> = shape[..batch].iter().copied().chain(kept.iter().map(|dim| shape[batch + dim])).collect();
    let slices = m.emit(op::RESHAPE, &[t(slices), is(&sizes)])?;
    // Slices stand at the dimensions that the result names for them.
    let (mut next_batch, mut next_kept) = (0..batch as i64, batch as i64..);
    let order = (0..sizes.len() as i64).map(|dim| if offset.contains(&dim) { next_kept.next() } else { next_batch.next() });
    let order = order.collect::<Option<Vec<_>>>().ok_or("its offset_dims are none of its result")?;
    m.emit(op::PERMUTE, &[t(slices), is(&order)])
}
