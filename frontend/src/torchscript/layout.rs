//! How tensors lie in memory, as far as the operators that made them tell: `contiguous`, `reshape` and their kin give a view where that
//! can be one and a copy otherwise, which matters to whoever writes to what they give.

use strata_core::ir::{Op, Value};
use strata_dialects::aten::{AtenOp, Operator, op, storage};
use strata_dialects::capture;

use super::evaluate::Evaluator;

/// The sizes other than 1 of a tensor, each with the elements from one to the next.
pub(super) type Layout = Vec<(i64, i64)>;

/// A tensor that is row-major.
fn row_major(sizes: &[i64]) -> Layout {
    let (mut layout, mut stride) = (Vec::new(), 1i64);
    for size in sizes.iter().rev().filter(|size| **size != 1) {
        layout.push((*size, stride));
        stride = stride.saturating_mul(*size);
    }
    layout.reverse();
    layout
}

impl<'c> Evaluator<'_, 'c> {
    /// How a tensor lies; nothing where that is not known.
    fn layout(&self, value: Value<'c>) -> Option<Layout> {
        match self.facts.layouts.get(&value) {
            Some(known) => known.clone(),
            None => value.ty().is_static().then(|| row_major(&value.ty().shape())),
        }
    }

    /// Whether a tensor is contiguous; nothing where that is not known.
    pub fn is_contiguous(&self, value: Value<'c>) -> Option<bool> {
        match self.facts.layouts.get(&value) {
            Some(known) => known.as_ref().map(|layout| *layout == row_major(&value.ty().shape())),
            None => Some(true),
        }
    }

    /// Notes how the results of an operator lie, and whether it gives a copy.
    pub fn note_layout(&mut self, op: Op<'c>) {
        let Ok(view) = AtenOp::new(op) else { return };
        let (schema, operator) = (view.schema(), view.schema().operator());
        let Some(of) = op.operands().first().copied().filter(|of| of.ty().is_tensor()) else { return };
        let known = |value: &Value<'c>| self.facts.layouts.contains_key(value);
        if !storage::shares(op, schema) {
            // What is computed of tensors lies as they do, mostly.
            if operator != op::CLONE && op.operands().iter().any(known) {
                self.facts.layouts.extend(op.results().into_iter().map(|result| (result, None)));
            }
            return;
        }
        if operator == op::CONTIGUOUS {
            match self.is_contiguous(of) {
                Some(true) => {}
                Some(false) => self.builder.set_attr(op, capture::COPIES, self.cx.unit()),
                None => self.facts.open.push(op.result(0)),
            }
            return;
        }
        let may_copy = matches!(operator, op::RESHAPE | op::RESHAPE_AS | op::FLATTEN_USING_INTS | op::RAVEL);
        if may_copy && self.is_contiguous(of) == Some(true) {
            return;
        }
        let from = self.layout(of).filter(|_| of.ty().is_static());
        for result in op.results() {
            let sizes = result.ty().shape();
            let layout = from.as_ref().filter(|_| result.ty().is_static()).and_then(|from| seen(op, operator, from, &sizes));
            match layout {
                Some(layout) if layout == row_major(&sizes) => {}
                None if may_copy && from.is_some() => self.builder.set_attr(op, capture::COPIES, self.cx.unit()),
                // Without known sizes, what keeps the order of a contiguous tensor is contiguous.
                None if from.is_none() && keeps(operator) && self.is_contiguous(of) == Some(true) => {}
                None if may_copy => self.facts.open.push(result),
                layout => drop(self.facts.layouts.insert(result, layout)),
            }
        }
    }
}

/// The layout of a view of these sizes; nothing where that is not known, or where the tensor cannot be seen so.
fn seen(op: Op<'_>, operator: Operator, from: &Layout, sizes: &[i64]) -> Option<Layout> {
    let of = op.operand(0).ty().shape();
    // Of every dimension, those of one element among them.
    let mut strides: Vec<(i64, i64)> = Vec::new();
    let mut rest = from.iter();
    for size in &of {
        strides.push(if *size == 1 { (1, 0) } else { *rest.next()? });
    }
    let place = |name: &str| {
        let dim = op.int(name)?;
        usize::try_from(if dim < 0 { dim + of.len() as i64 } else { dim }).ok().filter(|dim| *dim < of.len())
    };
    match operator {
        op::ALIAS | op::DETACH => {}
        op::T | op::NUMPY_T => strides.reverse(),
        op::TRANSPOSE_INT => strides.swap(place("dim0")?, place("dim1")?),
        op::PERMUTE => {
            let dims = op.ints("dims")?;
            let at = |dim: &i64| strides.get(usize::try_from(if *dim < 0 { dim + of.len() as i64 } else { *dim }).ok()?).copied();
            strides = dims.iter().map(at).collect::<Option<_>>()?;
        }
        op::SELECT_INT => drop(strides.remove(place("dim")?)),
        op::UNBIND_INT => drop(strides.remove(place("dim").or((!of.is_empty()).then_some(0))?)),
        op::SLICE_TENSOR => {
            let (dim, step) = (place("dim").or((!of.is_empty()).then_some(0))?, op.int("step").unwrap_or(1));
            strides[dim] = (*sizes.get(dim)?, strides[dim].1.checked_mul(step)?);
        }
        op::SPLIT_TENSOR | op::SPLIT_WITH_SIZES | op::CHUNK if sizes.len() == of.len() => {
            strides.iter_mut().zip(sizes).for_each(|(stride, size)| stride.0 = *size);
        }
        op::EXPAND if sizes.len() >= of.len() => {
            strides.splice(0..0, std::iter::repeat_n((1, 0), sizes.len() - of.len()));
            strides.iter_mut().zip(sizes).for_each(|(stride, size)| *stride = if stride.0 == *size { *stride } else { (*size, 0) });
        }
        operator if keeps(operator) => return regrouped(from, sizes),
        _ => return None,
    }
    Some(strides.into_iter().filter(|(size, _)| *size != 1).collect())
}

/// Views that keep the order of the elements.
fn keeps(operator: Operator) -> bool {
    matches!(
        operator,
        op::ALIAS
            | op::DETACH
            | op::FLATTEN_USING_INTS
            | op::RAVEL
            | op::RESHAPE
            | op::RESHAPE_AS
            | op::SQUEEZE
            | op::SQUEEZE_DIM
            | op::SQUEEZE_DIMS
            | op::UNFLATTEN_INT
            | op::UNSQUEEZE
            | op::VIEW
            | op::VIEW_AS
    )
}

/// A tensor seen in other sizes, where its dimensions lie so that it can be.
fn regrouped(from: &Layout, sizes: &[i64]) -> Option<Layout> {
    let sizes: Vec<i64> = sizes.iter().copied().filter(|size| *size != 1).collect();
    if from.iter().chain(&row_major(&sizes)).any(|(size, _)| *size == 0) {
        return Some(row_major(&sizes));
    }
    let (mut seen, mut next) = (Vec::new(), sizes.iter().rev().peekable());
    let mut dims = from.iter().rev().peekable();
    while let Some((size, stride)) = dims.next() {
        // Dimensions that lie like one.
        let (mut count, base) = (*size, *stride);
        while let Some((size, _)) = dims.next_if(|(_, stride)| *stride == count.saturating_mul(base)) {
            count *= size;
        }
        let mut filled = 1;
        while filled < count {
            let size = next.next()?;
            seen.push((*size, base.checked_mul(filled)?));
            filled = filled.checked_mul(*size)?;
        }
        if filled != count {
            return None;
        }
    }
    seen.reverse();
    next.peek().is_none().then_some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_apart_is_not_seen_as_one() {
        let turned = vec![(4, 1), (3, 4)];
        assert_eq!(regrouped(&turned, &[12]), None);
        assert_eq!(regrouped(&turned, &[2, 2, 3]), Some(vec![(2, 2), (2, 1), (3, 4)]));
        assert_eq!(regrouped(&row_major(&[3, 4]), &[2, 1, 6]), Some(vec![(2, 6), (6, 1)]));
    }
}
