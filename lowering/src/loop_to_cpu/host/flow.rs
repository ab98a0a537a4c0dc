//! The entry's control flow: branches between its blocks, so that the call can end anywhere.

use super::{Host, layout};
use crate::emit::{Error, memory};
use crate::num::Num;
use strata_core::ir::{Block, ElementType, Op, OpSpec, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{cf, func, scf};

impl<'c> Host<'c, '_> {
    /// An op with regions.
    pub(super) fn control(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let results: Vec<_> = op.result_types().into_iter().map(|ty| self.ty(ty)).collect();
        let values = match op.name() {
            scf::If::NAME => {
                let after = self.append(&results);
                let blocks = [0, 1].map(|region| op.region(region).entry().map(|block| (block, self.append(&[]))));
                let [then, otherwise] = blocks.map(|known| known.map_or(after, |(_, block)| block));
                self.branch_if(operands[0], then, otherwise);
                for (block, place) in blocks.into_iter().flatten() {
                    self.b.set_at_end(place);
                    let handed = self.body(block)?;
                    self.branch(after, &handed);
                }
                self.b.set_at_end(after);
                after.args()
            }
            scf::For::NAME => {
                let [begin, end, step] = [operands[0], operands[1], operands[2]];
                let head = self.append(&[&[self.cx.index()], results.as_slice()].concat());
                let (body, after) = (self.append(&[]), self.append(&[]));
                self.branch(head, &[&[begin], &operands[3..]].concat());
                self.b.set_at_end(head);
                let at = head.arg(0);
                let more = arith::cmpi(&mut self.b, CmpIPredicate::Slt, at, end);
                self.branch_if(more, body, after);
                self.values.extend(op.body(0).args().into_iter().zip(head.args()));
                self.b.set_at_end(body);
                let handed = self.body(op.body(0))?;
                let next = arith::addi(&mut self.b, at, step);
                self.branch(head, &[&[next], handed.as_slice()].concat());
                self.b.set_at_end(after);
                head.args()[1..].to_vec()
            }
            _ => {
                let (test, turn) = (op.body(0), op.body(1));
                let types: Vec<_> = test.args().into_iter().map(|arg| self.ty(arg.ty())).collect();
                let head = self.append(&types);
                let (body, after) = (self.append(&[]), self.append(&[]));
                self.branch(head, operands);
                self.values.extend(test.args().into_iter().zip(head.args()));
                self.b.set_at_end(head);
                let passed = self.body(test)?;
                self.branch_if(passed[0], body, after);
                self.values.extend(turn.args().into_iter().zip(passed[1..].iter().copied()));
                self.b.set_at_end(body);
                let handed = self.body(turn)?;
                self.branch(head, &handed);
                self.b.set_at_end(after);
                passed[1..].to_vec()
            }
        };
        self.values.extend(op.results().into_iter().zip(values));
        Ok(())
    }

    /// Writes the ops of a region but its terminator, whose operands are given back.
    fn body(&mut self, block: Block<'c>) -> Result<Vec<Value<'c>>, Error> {
        let mut handed = Vec::new();
        for op in block.ops() {
            self.b.set_location(op.location());
            match op.next() {
                Some(_) => self.op(op, false)?,
                None => handed = op.operands().into_iter().map(|operand| self.value(operand)).collect(),
            }
        }
        Ok(handed)
    }

    /// A new block of the entry.
    fn append(&mut self, arguments: &[Type<'c>]) -> Block<'c> {
        self.func.region(0).append_block(arguments, self.b.location())
    }

    fn branch(&mut self, to: Block<'c>, operands: &[Value<'c>]) {
        cf::br(&mut self.b, to, operands);
    }

    fn branch_if(&mut self, condition: Value<'c>, then: Block<'c>, otherwise: Block<'c>) {
        self.b.op(OpSpec {
            name: cf::CondBranch::NAME,
            operands: &[condition],
            attrs: &[("operandSegmentSizes", self.cx.i32s_attr(&[1, 0, 0]))],
            successors: &[then, otherwise],
            ..OpSpec::default()
        });
    }

    /// Ends the call with a status, which has these details, unless the condition holds.
    pub(super) fn require(&mut self, condition: Value<'c>, status: i64, details: &[Value<'c>]) {
        self.leave_unless(condition, |host| {
            for (slot, &detail) in details.iter().take(4).enumerate() {
                let detail = host.i64(detail);
                host.store_word(host.call, layout::DETAIL + 8 * slot as i64, detail);
            }
            host.b.const_int(host.cx.int(32), status)
        });
    }

    /// Ends the call with the status that kernels have left, unless it is 0.
    pub(super) fn settle(&mut self) {
        let status = memory::load(&mut self.b, self.status, Num::Const(0), ElementType::I32);
        let zero = self.b.const_int(self.cx.int(32), 0);
        let good = arith::cmpi(&mut self.b, CmpIPredicate::Eq, status, zero);
        self.leave_unless(good, |_| status);
    }

    /// Ends the call with the status that `status` gives in a block of its own, unless the condition holds.
    fn leave_unless(&mut self, condition: Value<'c>, status: impl FnOnce(&mut Self) -> Value<'c>) {
        let (next, failed) = (self.append(&[]), self.append(&[]));
        self.branch_if(condition, next, failed);
        self.b.set_at_end(failed);
        let status = status(self);
        func::ret(&mut self.b, &[status]);
        self.b.set_at_end(next);
    }

    /// The status that says what an op's text says.
    pub(super) fn message(&mut self, op: Op<'c>) -> i64 {
        let text = op.str("text").unwrap_or_default();
        let known = self.messages.iter().position(|known| *known == text);
        let at = known.unwrap_or_else(|| {
            self.messages.push(text);
            self.messages.len() - 1
        });
        at as i64 + 1
    }
}
