//! Products of tensors, and convolutions.

use strata_core::ir::{self, ElementType, Op, Type};
use strata_dialects::aten::{Input, op};

use super::attributes::{field, layouts, text};
use super::importer::{self, Importer, dtype};
use super::index::put_back;
use super::operators::Made;
use crate::args::{self, Arg, b, d, i, is, t, ts};

/// Operands in the element type of the result, where that one is another.
fn widened<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, to: Option<ElementType>) -> Made<'c> {
    match to {
        Some(to) if to != dtype(x) => m.emit(op::TO_DTYPE, &[t(x), d(to)]),
        _ => Ok(x),
    }
}

/// A product of tensors as a sum over letters.
pub(super) fn dot<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, y: ir::Value<'c>, result: Type<'c>) -> Made<'c> {
    let (x, y) = (widened(m, x, result.element_type())?, widened(m, y, result.element_type())?);
    let numbers = text(op, "dot_dimension_numbers");
    let list = |name: &str| field(&numbers, name);
    let (x_batch, y_batch) = (list("lhs_batching_dimensions"), list("rhs_batching_dimensions"));
    let (x_sum, y_sum) = (list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions"));
    let (ranks, mut letters) = ([x.ty().rank(), y.ty().rank()], ('a'..='z').chain('A'..='Z'));
    let mut names = [vec![None; ranks[0]], vec![None; ranks[1]]];
    let (mut out, none) = (String::new(), || "its dimensions are none of its operands".to_owned());
    for (summed, pairs) in [(false, x_batch.iter().zip(&y_batch)), (true, x_sum.iter().zip(&y_sum))] {
        for (a, b) in pairs {
            let letter = letters.next().ok_or_else(none)?;
            for (side, dim) in [a, b].into_iter().enumerate() {
                *usize::try_from(*dim).ok().and_then(|dim| names[side].get_mut(dim)).ok_or_else(none)? = Some(letter);
            }
            if !summed {
                out.push(letter);
            }
        }
    }
    for side in &mut names {
        for name in side.iter_mut().filter(|name| name.is_none()) {
            let letter = letters.next().ok_or_else(none)?;
            *name = Some(letter);
            out.push(letter);
        }
    }
    let spelled = |side: &[Option<char>]| side.iter().flatten().collect::<String>();
    let equation = format!("{},{}->{out}", spelled(&names[0]), spelled(&names[1]));
    m.emit(op::EINSUM, &[args::text(&equation), ts(&[x, y])])
}

/// Batch and features first, then the spatial dimensions, as `aten` has them.
pub(super) fn convolution<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    x: ir::Value<'c>,
    weight: ir::Value<'c>,
    pads: Vec<[i64; 2]>,
) -> Made<'c> {
    let result = importer::result(m.cx, op, 0)?;
    if result.shape().contains(&0) {
        return m.emit(op::FULL, &[is(&result.shape()), args::s(0), d(result.element_type().unwrap_or(ElementType::F32))]);
    }
    let layouts = layouts(&text(op, "dimension_numbers")).ok_or("its dimension_numbers are not read")?;
    let rank = x.ty().rank().checked_sub(2).ok_or("it has no spatial dimensions")?;
    let order = |layout: &[String], first: [&str; 2]| -> Result<Vec<i64>, String> {
        let spatial: Vec<_> = (0..rank).map(|dim| dim.to_string()).collect();
        let wanted = first.into_iter().chain(spatial.iter().map(String::as_str));
        let place = |name: &str| layout.iter().position(|part| part == name).map(|place| place as i64);
        wanted.map(|name| place(name).ok_or_else(|| format!("its layout has no dimension `{name}`"))).collect()
    };
    let list = |name: &str| op.ints(name).unwrap_or_else(|| vec![1; rank]);
    let (x, weight) = (widened(m, x, result.element_type())?, widened(m, weight, result.element_type())?);
    let mut x = m.emit(op::PERMUTE, &[t(x), is(&order(&layouts[0], ["b", "f"])?)])?;
    let mut weight = m.emit(op::PERMUTE, &[t(weight), is(&order(&layouts[1], ["o", "i"])?)])?;
    if let Some(flags) = op.attr("window_reversal").and_then(|flags| flags.as_bools()) {
        let turned: Vec<_> = flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(dim, _)| dim as i64 + 2).collect();
        if !turned.is_empty() {
            weight = m.emit(op::FLIP, &[t(weight), is(&turned)])?;
        }
    }
    let (images, mut groups) = (op.int("batch_group_count").unwrap_or(1), op.int("feature_group_count").unwrap_or(1));
    if images > 1 && x.ty().shape()[0] % images == 0 {
        // Each group of images is convolved with its own weights: the groups stand side by side as features of fewer images.
        let shape = x.ty().shape();
        let split = [&[images, shape[0] / images], &shape[1..]].concat();
        let (split, joined) = (m.emit(op::RESHAPE, &[t(x), is(&split)])?, [&[shape[0] / images, images * shape[1]], &shape[2..]].concat());
        let moved = m.emit(op::MOVEDIM_INT, &[t(split), i(0), i(1)])?;
        (x, groups) = (m.emit(op::RESHAPE, &[t(moved), is(&joined)])?, images.saturating_mul(groups));
    }
    let window = Window { steps: list("window_strides"), dilations: list("rhs_dilation"), gaps: list("lhs_dilation"), pads, groups };
    let fits = weight.ty().rank() == rank + 2 && groups > 0 && weight.ty().shape()[0] % groups == 0;
    if !fits || [&window.steps, &window.dilations, &window.gaps].into_iter().any(|list| list.len() != rank) || window.pads.len() != rank {
        return Err("its window does not fit its operands".to_owned());
    }
    let made = if window.gaps.iter().all(|gap| *gap == 1) { window.plain(m, x, weight)? } else { window.transposed(m, x, weight)? };
    let back = order(&layouts[2], ["b", "f"])?;
    put_back(m, made, &back)
}

/// How a convolution moves over its input.
struct Window {
    steps: Vec<i64>,
    dilations: Vec<i64>,
    /// From one element of the input to the next, with zeros between them.
    gaps: Vec<i64>,
    pads: Vec<[i64; 2]>,
    groups: i64,
}

impl Window {
    fn plain<'c>(&self, m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, weight: ir::Value<'c>) -> Made<'c> {
        let zeros: Arg<'c> = is(&vec![0; self.steps.len()]);
        let (mut x, mut pads) = (x, zeros.clone());
        if self.pads.iter().all(|[low, high]| low == high && *low >= 0) {
            pads = is(&self.pads.iter().map(|[low, _]| *low).collect::<Vec<_>>());
        } else {
            let flat: Vec<_> = self.pads.iter().rev().flatten().copied().collect();
            x = m.emit(op::CONSTANT_PAD_ND, &[t(x), is(&flat), args::s(0)])?;
        }
        let (steps, dilations) = (is(&self.steps), is(&self.dilations));
        m.emit(op::CONVOLUTION, &[t(x), t(weight), Some(Input::None), steps, pads, dilations, b(false), zeros, i(self.groups)])
    }

    /// A convolution of an input with gaps is a transposed one by the weights turned around. What it has around its result is as wide as
    /// the weights less one; the pads say how much of that is wanted.
    fn transposed<'c>(&self, m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, weight: ir::Value<'c>) -> Made<'c> {
        let (rank, shape) = (self.steps.len(), weight.ty().shape());
        let spatial: Vec<_> = (2..shape.len() as i64).collect();
        let turned = m.emit(op::FLIP, &[t(weight), is(&spatial)])?;
        // Outputs and inputs change places inside of each group.
        let outputs = shape[0] / self.groups.max(1);
        let split = [&[self.groups, outputs], &shape[1..]].concat();
        let split = m.emit(op::RESHAPE, &[t(turned), is(&split)])?;
        let split = m.emit(op::TRANSPOSE_INT, &[t(split), i(1), i(2)])?;
        let weight = m.emit(op::RESHAPE, &[t(split), is(&[&[self.groups * shape[1], outputs], &shape[2..]].concat())])?;
        let zeros: Arg<'c> = is(&vec![0; rank]);
        let (gaps, dilations) = (is(&self.gaps), is(&self.dilations));
        let inputs = [t(x), t(weight), Some(Input::None), gaps, zeros.clone(), dilations, b(true), zeros, i(self.groups)];
        let whole = m.emit(op::CONVOLUTION, &inputs)?;
        let around = |dim: usize| self.dilations[dim].saturating_mul(shape[dim + 2] - 1);
        let pads: Vec<_> = (0..rank).rev().flat_map(|dim| self.pads[dim].map(|pad| pad.saturating_sub(around(dim)))).collect();
        let mut result = m.emit(op::CONSTANT_PAD_ND, &[t(whole), is(&pads), args::s(0)])?;
        for (dim, step) in self.steps.iter().enumerate().filter(|(_, step)| **step != 1) {
            let size = result.ty().shape()[dim + 2];
            result = m.emit(op::SLICE_TENSOR, &[t(result), i(dim as i64 + 2), i(0), i(size), i(*step)])?;
        }
        Ok(result)
    }
}
