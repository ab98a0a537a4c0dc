//! Indices that bodies compute: how they differ between lanes, and loads at them, whose bounds are checked.
//!
//! A gather of rows computes an index for each row, and takes the index along the row as it is. With lanes along the row the first one is
//! the same in all lanes and the second one steps by one: the row is loaded by whole vectors, and one comparison checks all of it.

use super::Error;
use super::emitter::{Buffer, Emitter, INDEX_OUT_OF_BOUNDS};
use super::lanes::{self, Across, Index};
use super::memory;
use super::near::Places;
use crate::num::Num;
use strata_core::ir::{ElementType, Op, Value};
use strata_core::upstream::{arith, scf};
use strata_dialects::loops;
use strata_dialects::loops::growth::step;
use strata_dialects::loops::ranges::{lies_inside, range};

impl<'c> Emitter<'c> {
    /// How a computed index differs between lanes.
    pub(super) fn computed(&self, value: Value<'c>) -> Index<'c> {
        if !value.ty().is_vector() {
            return Index::uniform(Num::of(value));
        }
        let stepping = self.stepping.get(&value).copied();
        stepping.unwrap_or(Index { base: Num::Const(0), across: Across::Free(value) })
    }

    /// Remembers that the lanes of an index differ by a step, where they do: sums and differences of indices that step, and products of
    /// such a one with what is the same in all lanes. `result` is what the op of a body gives for these operands.
    pub(super) fn note_step(&mut self, op: Op<'c>, operands: &[Value<'c>], result: Value<'c>) {
        let steps = result.ty().is_vector() && operands.iter().any(|operand| self.stepping.contains_key(operand));
        if !steps || !self.is_exact(op.result(0)) {
            return;
        }
        if let (arith::IndexCast::NAME, &[index]) = (op.name(), operands) {
            let index = self.computed(index);
            self.stepping.insert(result, index);
            return;
        }
        let &[lhs, rhs] = operands else { return };
        let indices = [lhs, rhs]
            .map(|value| if value.ty().is_vector() { Some(self.computed(value)) } else { self.as_index(value).map(Index::uniform) });
        let [Some(lhs), Some(rhs)] = indices else { return };
        let free = |index: Index<'c>| matches!(index.across, Across::Free(_));
        if free(lhs) || free(rhs) {
            return;
        }
        let width = self.width;
        let stepping = match (op.name(), lhs.across, rhs.across) {
            (arith::AddI::NAME, ..) => lhs.add(&mut self.b, rhs, width),
            (arith::SubI::NAME, ..) => {
                let minus = rhs.scale(&mut self.b, Num::Const(-1), width);
                lhs.add(&mut self.b, minus, width)
            }
            (arith::MulI::NAME, _, Across::Uniform) => lhs.scale(&mut self.b, rhs.base, width),
            (arith::MulI::NAME, Across::Uniform, _) => rhs.scale(&mut self.b, lhs.base, width),
            _ => return,
        };
        self.stepping.insert(result, stepping);
    }

    /// Whether an integer of a body is an index, or is known not to wrap around.
    fn is_exact(&self, value: Value<'c>) -> bool {
        let ty = value.ty();
        ty.is_index() || range(&self.kernel, value).is_some() || (ty.element_type() == Some(ElementType::I64) && step(value, 0).is_some())
    }

    /// A load at computed indices: out of bounds it gives zero and stores the status.
    pub(super) fn computed_load(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<Value<'c>, Error> {
        let buffer = self.buffers.get(&op.operand(0)).cloned().ok_or_else(|| Error::at(op, "its tensor is nowhere in memory"))?;
        let indices: Vec<_> = operands[1..].iter().map(|&value| self.computed(value)).collect();
        if op.attr("in_bounds").is_some() {
            return Ok(self.load(&buffer, &indices, None, Places::of(op)));
        }
        // Copies that load from the same row check it once.
        let values = op.operands();
        let open =
            operands[1..].iter().zip(&values[1..]).zip(&buffer.shape).filter(|((_, value), extent)| !self.is_in_bounds(**value, **extent));
        let key = (op, open.map(|((operand, _), _)| *operand).collect::<Vec<_>>());
        let inside = match self.checked.get(&key) {
            Some(&inside) => inside,
            None => {
                let inside = self.check_bounds(&buffer, &values[1..], &indices);
                self.checked.insert(key, inside);
                inside
            }
        };
        Ok(self.load(&buffer, &indices, inside, Places::of(op)))
    }

    /// Whether computed indices are in bounds, none where they are sure to be; stores the status for lanes that are on and out of bounds.
    /// `values` are what the body calls them.
    pub(super) fn check_bounds(&mut self, buffer: &Buffer<'c>, values: &[Value<'c>], indices: &[Index<'c>]) -> Option<Value<'c>> {
        let mut inside = None;
        for ((&value, &index), &extent) in values.iter().zip(indices).zip(&buffer.shape) {
            if self.is_in_bounds(value, extent) {
                continue;
            }
            let test = lanes::inside(&mut self.b, index, extent, self.width);
            inside = lanes::both(&mut self.b, inside, Some(test), self.width);
        }
        let inside = inside?;
        let on = self.b.const_int(self.cx.int(1), 1);
        let on = if inside.ty().is_vector() { memory::broadcast(&mut self.b, on, self.width) } else { on };
        let ty = inside.ty();
        let outside = arith::xori(&mut self.b, inside, on);
        let outside = if ty.is_vector() {
            let active = match self.mask {
                Some(mask) => arith::andi(&mut self.b, outside, mask),
                None => outside,
            };
            self.any(active)
        } else {
            outside
        };
        let (status, code_type) = (self.status, self.cx.int(32));
        scf::when(&mut self.b, outside, |b| {
            let code = b.const_int(code_type, INDEX_OUT_OF_BOUNDS);
            memory::store(b, status, Num::Const(0), code, ElementType::I32);
        });
        Some(inside)
    }

    /// Whether an index of a body is known to lie in `0..extent` for all points.
    pub(super) fn is_in_bounds(&self, value: Value<'c>, extent: Num<'c>) -> bool {
        let dim = value.defining_op().filter(|op| op.isa::<loops::Index>()).and_then(|op| usize::try_from(op.int("dim")?).ok());
        if dim.is_some_and(|dim| self.sizes.get(dim) == Some(&extent)) {
            return true;
        }
        matches!(extent, Num::Const(extent) if lies_inside(&self.kernel, value, extent))
    }
}
