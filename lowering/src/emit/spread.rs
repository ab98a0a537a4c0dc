//! Stages whose body runs once for all points of some dims, and yields an element for each.

use super::emitter::Emitter;
use super::lanes::{self, Across, Coord, Index};
use super::nest::Copy;
use super::{Error, memory};
use crate::num::Num;
use strata_core::ir::{AffineExpr, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// What each copy yields: copies that differ along the spread dims only share one run of the body.
    pub(super) fn spread(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<Vec<Vec<Value<'c>>>, Error> {
        let mut ran: Vec<(Copy<'c>, Vec<Value<'c>>)> = Vec::new();
        let mut yields = Vec::new();
        for copy in copies {
            let mut once = copy.clone();
            stage.spread.iter().for_each(|&dim| once.point[dim] = None);
            let known = match ran.iter().position(|(other, _)| other.point == once.point) {
                Some(known) => known,
                None => {
                    let values = self.line_by_line(stage, &once)?;
                    ran.push((once, values));
                    ran.len() - 1
                }
            };
            let chosen = self.chosen(stage, copy, &ran[known].1);
            yields.push(vec![chosen]);
        }
        Ok(yields)
    }

    /// Runs the body for one copy; an operand is read just before its first use, for there are more of them than registers.
    fn line_by_line(&mut self, stage: &StageView<'c>, copy: &Copy<'c>) -> Result<Vec<Value<'c>>, Error> {
        let block = stage.op.body(0);
        let arguments = block.args();
        let mut known = self.scalars.clone();
        for op in block.ops() {
            let mut operands = op.operands();
            for operand in &mut operands {
                if let Some(argument) = arguments.iter().position(|argument| argument == operand).filter(|_| !known.contains_key(operand)) {
                    let value = self.read(stage, argument, copy)?;
                    known.insert(*operand, value);
                }
                *operand = known.get(operand).copied().unwrap_or(*operand);
            }
            if op.isa::<loops::Yield>() {
                return Ok(operands);
            }
            let results = self.scalar_op(op, &operands, copy)?;
            known.extend(op.results().into_iter().zip(results));
        }
        Err(Error::at(stage.op, "its body has no terminator"))
    }

    /// The element of a copy among those of all points of the spread dims, in row-major order.
    fn chosen(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, values: &[Value<'c>]) -> Value<'c> {
        let number = stage.spread.iter().fold(self.cx.constant(0), |number: AffineExpr<'c>, &dim| {
            let size = self.kernel.static_size(dim).unwrap_or(1);
            number * self.cx.constant(size) + self.cx.dim(dim)
        });
        let plain = |dim: &usize| matches!(copy.point[*dim], Some(Coord { base: Num::Const(_), lanes: false, .. }));
        let number = self.index(&copy.point, number);
        if let (Num::Const(number), true) = (number.base, stage.spread.iter().all(plain)) {
            return values[number as usize];
        }
        let mut chosen = values[0];
        for (at, &value) in values.iter().enumerate().skip(1) {
            chosen = self.choose(number, at as i64, value, chosen);
        }
        chosen
    }

    /// `value` where the index is this one, else `other`.
    fn choose(&mut self, index: Index<'c>, at: i64, value: Value<'c>, other: Value<'c>) -> Value<'c> {
        let (b, width) = (&mut self.b, self.width);
        let at = b.const_index(at);
        if let Across::Uniform = index.across {
            let index = index.base.value(b);
            let test = arith::cmpi(b, CmpIPredicate::Eq, index, at);
            return lanes::select(b, test, value, other, width);
        }
        let (index, at) = (index.vector(b, width), memory::broadcast(b, at, width));
        let test = arith::cmpi(b, CmpIPredicate::Eq, index, at);
        let (value, other) = (lanes::in_lanes(b, value, width), lanes::in_lanes(b, other, width));
        lanes::select(b, test, value, other, width)
    }
}
