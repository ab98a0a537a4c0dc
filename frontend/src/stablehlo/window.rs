//! Windows that move over tensors.

use strata_core::ir::{self, Block, ElementType, Op};
use strata_dialects::aten::op;

use super::attributes::{in_pairs, ints, pairs};
use super::importer::{Importer, dtype};
use super::operators::{Made, interleaved, padded};
use super::sizes::known;
use super::{reduce, region};
use crate::args::{b, d, f, i, is, s, t};

/// The windows of an op.
struct Windows {
    sizes: Vec<i64>,
    steps: Vec<i64>,
    dilations: Vec<i64>,
    base: Vec<i64>,
    /// Pads of each dimension, in front and behind.
    pads: Vec<[i64; 2]>,
}

impl Windows {
    fn of(op: Op<'_>, rank: usize) -> Result<Self, String> {
        let list = |name: &str| op.ints(name).unwrap_or_else(|| vec![1; rank]);
        let (sizes, steps, dilations, base) =
            (ints(op, "window_dimensions")?, list("window_strides"), list("window_dilations"), list("base_dilations"));
        Self { sizes, steps, dilations, base, pads: pairs(op, "padding", rank) }.checked(rank)
    }

    /// The windows themselves, where they are some of a tensor of this rank.
    fn checked(self, rank: usize) -> Result<Self, String> {
        let lists = [&self.sizes, &self.steps, &self.dilations, &self.base];
        let fits = lists.iter().all(|list| list.len() == rank) && self.pads.len() == rank;
        let positive = lists.into_iter().flatten().all(|number| *number > 0);
        if fits && positive { Ok(self) } else { Err("its windows do not fit its operands".to_owned()) }
    }

    /// A tensor with what stands around it and between its elements.
    fn spread<'c>(&self, m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, first: ir::Value<'c>) -> Made<'c> {
        let gaps: Vec<_> = self.base.iter().map(|step| step - 1).collect();
        let x = interleaved(m, x, &gaps, first)?;
        padded(m, x, &self.pads, first)
    }

    /// The windows along one dimension as a last dimension.
    fn along<'c>(&self, m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, dim: usize) -> Made<'c> {
        let (size, step, dilation) = (self.sizes[dim], self.steps[dim], self.dilations[dim]);
        if dilation == 1 {
            return m.emit(op::UNFOLD, &[t(x), i(dim as i64), i(size), i(step)]);
        }
        let length = x.ty().shape()[dim];
        let windows =
            (length.saturating_sub(dilation.saturating_mul(size - 1)).saturating_sub(1)).div_euclid(step).saturating_add(1).max(0);
        if size.checked_mul(dilation).and_then(|_| windows.checked_mul(step)).is_none() {
            return Err("its windows are too large".to_owned());
        }
        let places = m.emit(op::ARANGE_START_STEP, &[s(0), s(windows * step), s(step), d(ElementType::I64)])?;
        let places = m.emit(op::RESHAPE, &[t(places), is(&[-1, 1])])?;
        let inner = m.emit(op::ARANGE_START_STEP, &[s(0), s(size * dilation), s(dilation), d(ElementType::I64)])?;
        let places = m.emit(op::ADD_TENSOR, &[t(places), t(inner)])?;
        let places = m.emit(op::RESHAPE, &[t(places), is(&[-1])])?;
        let found = m.emit(op::INDEX_SELECT, &[t(x), i(dim as i64), t(places)])?;
        let mut sizes = found.ty().shape();
        sizes.splice(dim..=dim, [windows, size]);
        let found = m.emit(op::RESHAPE, &[t(found), is(&sizes)])?;
        m.emit(op::MOVEDIM_INT, &[t(found), i(dim as i64 + 1), i(-1)])
    }

    /// The dimension along which the windows hold all elements up to their own, if they do, and whether from behind.
    fn running(&self, shape: &[i64]) -> Option<(usize, bool)> {
        let ones = |list: &[i64]| list.iter().all(|number| *number == 1);
        let mut dims = (0..shape.len()).filter(|dim| self.sizes[*dim] != 1);
        let (dim, None) = (dims.next()?, dims.next()) else { return None };
        let others = (0..shape.len()).filter(|other| *other != dim).all(|other| self.pads[other] == [0, 0]);
        let whole = self.sizes[dim] == shape[dim] && others && ones(&self.steps) && ones(&self.dilations) && ones(&self.base);
        let before = shape[dim] - 1;
        match self.pads[dim] {
            [low, 0] if whole && low == before => Some((dim, false)),
            [0, high] if whole && high == before => Some((dim, true)),
            _ => None,
        }
    }
}

/// A reduction of each window by the op's region.
pub(super) fn reduce<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
    let rank = operands.first().ok_or("it has no operands")?.ty().rank();
    reduced(m, op, operands, &Windows::of(op, rank)?, region::block(op, 0)?)
}

/// The same of windows that are operands, by a function.
pub(super) fn dynamic_reduce<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, String> {
    let [tensors @ .., sizes, steps, base, dilations, pads] = operands else { return Err("it has fewer operands than windows".to_owned()) };
    let rank = tensors.first().ok_or("it has no operands")?.ty().rank();
    let [sizes, steps, base, dilations, pads] =
        [known(m, *sizes)?, known(m, *steps)?, known(m, *base)?, known(m, *dilations)?, known(m, *pads)?];
    let windows = Windows { sizes, steps, dilations, base, pads: in_pairs(&pads) }.checked(rank)?;
    let called = op.attr("called_computations").and_then(|list| list.as_array()).and_then(|list| list.first()?.as_symbol());
    let block = called.and_then(|name| m.function(&name)).ok_or("it calls no function with a body")?;
    reduced(m, op, tensors, &windows, block)
}

/// A reduction of each window: dimension by dimension, the windows of one become a dimension of their own, which is reduced.
fn reduced<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
    windows: &Windows,
    block: Block<'s>,
) -> Result<Vec<ir::Value<'c>>, String> {
    let (xs, firsts) = operands.split_at(operands.len() / 2);
    let shape = xs.first().ok_or("it has no operands")?.ty().shape();
    if xs.iter().any(|x| x.ty().shape() != shape) {
        return Err("its operands have different sizes".to_owned());
    }
    if let (Some((dim, backward)), [x], [first]) = (windows.running(&shape), xs, firsts)
        && let Some(result) = reduce::running(m, block, *x, dim as i64, backward, *first)?
    {
        return Ok(vec![result]);
    }
    let mut xs = xs.iter().zip(firsts).map(|(x, first)| windows.spread(m, *x, *first)).collect::<Result<Vec<_>, _>>()?;
    for dim in 0..shape.len() {
        if (windows.sizes[dim], windows.steps[dim]) != (1, 1) {
            xs = xs.into_iter().map(|x| windows.along(m, x, dim)).collect::<Result<Vec<_>, _>>()?;
            xs = reduce::alone(m, op, block, &xs, &[shape.len() as i64])?;
        }
    }
    reduce::joined(m, block, firsts, xs)
}

/// The number that each window chooses gets the window's own number of `source`.
pub(super) fn select_and_scatter<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, String> {
    let [x, source, first] = *operands else { return Err("it has other operands than three".to_owned()) };
    let shape = x.ty().shape();
    let rank = shape.len();
    let windows = Windows::of(op, rank)?;
    let block = region::block(op, 0)?;
    let chosen = |x: f64, y: f64| region::answer(block, &[x, y]);
    let greatest = match (chosen(2.0, 1.0), chosen(1.0, 2.0)) {
        (Some(true), Some(false)) => true,
        (Some(false), Some(true)) => false,
        _ => return Err("its region chooses neither the greatest nor the least".to_owned()),
    };
    if chosen(1.0, 1.0) != Some(true) {
        return Err("its region chooses the last of equal numbers, which is not imported".to_owned());
    }
    if region::only_op(region::block(op, 1)?) != Some("add") {
        return Err("what is chosen is not added up".to_owned());
    }
    // What stands around the tensor is chosen by no window.
    let kind = dtype(x);
    let bits = 8 * kind.bytes() as u32;
    let around = match (kind.is_float(), greatest) {
        (true, true) => f(f64::NEG_INFINITY),
        (true, false) => f(f64::INFINITY),
        (false, true) if kind.is_unsigned() => s(0),
        (false, false) if kind.is_unsigned() && bits < 64 => s((1 << bits) - 1),
        (false, true) if kind.is_signed() && bits < 64 => s(-1 << (bits - 1)),
        (false, false) if kind.is_signed() => s(i64::MAX >> (64 - bits)),
        _ if windows.pads.iter().flatten().all(|pad| *pad == 0) && windows.base.iter().all(|step| *step == 1) => s(0),
        _ => return Err(format!("it chooses of {kind} with pads around, which is not imported")),
    };
    let around = m.emit(op::FULL, &[is(&[]), around, d(kind)])?;
    let mut numbers = windows.spread(m, x, around)?;
    let count: i64 = shape.iter().product();
    let places = m.emit(op::ARANGE_START_STEP, &[s(0), s(count), s(1), d(ElementType::I64)])?;
    let places = m.emit(op::RESHAPE, &[t(places), is(&shape)])?;
    let none = m.emit(op::FULL, &[is(&[]), s(count), d(ElementType::I64)])?;
    let mut places = windows.spread(m, places, none)?;
    for dim in 0..rank {
        (numbers, places) = (windows.along(m, numbers, dim)?, windows.along(m, places, dim)?);
    }
    let flat: Vec<_> = numbers.ty().shape()[..rank].iter().copied().chain([-1]).collect();
    let (numbers, places) = (m.emit(op::RESHAPE, &[t(numbers), is(&flat)])?, m.emit(op::RESHAPE, &[t(places), is(&flat)])?);
    let which = m.emit(if greatest { op::ARGMAX } else { op::ARGMIN }, &[t(numbers), i(-1), b(true)])?;
    let place = m.emit(op::GATHER, &[t(places), i(-1), t(which)])?;
    let (place, source) = (m.emit(op::RESHAPE, &[t(place), is(&[-1])])?, m.emit(op::RESHAPE, &[t(source), is(&[-1])])?);
    let into = m.emit(op::EXPAND, &[t(first), is(&[count + 1])])?;
    let sums = m.emit(op::INDEX_ADD, &[t(into), i(0), t(place), t(source)])?;
    let sums = m.emit(op::SLICE_TENSOR, &[t(sums), i(0), i(0), i(count), i(1)])?;
    Ok(vec![m.emit(op::RESHAPE, &[t(sums), is(&shape)])?])
}
