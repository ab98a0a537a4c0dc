//! Blocks that meet: the last one that is done goes on alone with what needs the results of all.
//!
//! When what its threads wrote is to be seen by all, each block counts itself in a word of the kernel's own. The one that finds all others
//! counted is the last; the count wraps to zero with it, for the next launch. Which block that is differs from run to run, but it does
//! all of the rest, in one order: results do not depend on it.

use crate::emit::Error;
use crate::emit::cooperative_block::CooperativeBlock;
use crate::emit::emitter::Emitter;
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::llvm::AtomicBinOp;
use strata_dialects::loops::view::KernelView;

/// Where the count is, in words behind the status.
const COUNT: i64 = 1;

impl<'c> Emitter<'c> {
    /// All stages of the rest at all points, in the last block; `word` is shared memory for one number.
    pub(super) fn in_last_block(&mut self, rest: KernelView<'c>, word: Value<'c>, start: &Copy<'c>) -> Result<(), Error> {
        let Some(block) = self.cooperative else { return Ok(()) };
        let last = self.is_last_block(block, word);
        self.kernel = rest;
        self.registers.clear();
        self.when(last, |emitter| {
            let points = emitter.points();
            emitter.repeat(Num::Const(0), points, 1, Vec::new(), &mut |emitter, number, carried| {
                emitter.as_block(start, number)?;
                Ok(carried)
            })?;
            Ok(())
        })
    }

    /// Points of the outer loops.
    fn points(&mut self) -> Num<'c> {
        let sizes = self.outer_sizes();
        sizes.into_iter().fold(Num::Const(1), |all, (_, size)| all.mul(&mut self.b, size))
    }

    /// Whether all other blocks are done, and what they wrote is seen here.
    fn is_last_block(&mut self, block: CooperativeBlock<'c>, word: Value<'c>) -> Value<'c> {
        // (A block is at a point of the outer loops.)
        let blocks = self.points();
        let bound = blocks.sub(&mut self.b, Num::Const(1)).value(&mut self.b);
        let count = memory::element_pointer(&mut self.b, self.status, Num::Const(COUNT), ElementType::I32);
        // What the first thread fences is what all threads have written.
        self.barrier();
        let first = self.is_zero(Num::Value(block.thread));
        let int = self.cx.int(32);
        let bound = arith::index_cast(&mut self.b, bound, int);
        self.when(first, |emitter| {
            let b = &mut emitter.b;
            memory::device_fence(b);
            let before = memory::combine(b, count, Num::Const(0), bound, ElementType::I32, AtomicBinOp::UIncWrap);
            memory::device_fence(b);
            memory::store(b, word, Num::Const(0), before, ElementType::I32);
        });
        self.barrier();
        let before = memory::load(&mut self.b, word, Num::Const(0), ElementType::I32);
        arith::cmpi(&mut self.b, CmpIPredicate::Eq, before, bound)
    }
}
