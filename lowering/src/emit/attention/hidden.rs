//! Blocks of keys that a mask in memory hides from all rows of a tile: nothing is computed for them.

use super::Job;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::lanes::Coord;
use crate::emit::memory;
use crate::emit::nest::Copy;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::attention::{AttentionView, OnlineTiles};
use strata_dialects::loops::mean_reach::condition;
use strata_dialects::loops::view::StageView;

/// Elements of a mask that are looked at together.
const TOGETHER: i64 = 32;

impl<'c> Emitter<'c> {
    /// The operand of the mean that is false where a row does not see a key, if its elements for a row lie side by side.
    pub(super) fn mask(&self, view: &AttentionView, online: &OnlineTiles) -> Option<usize> {
        let mean = &self.kernel.stages[view.mean];
        let at = condition(mean).filter(|(_, truth)| *truth).and_then(|(condition, _)| argument(mean, condition))?;
        let buffer = self.buffers.get(&mean.op.operand(at)).filter(|buffer| buffer.kept.is_none())?;
        let in_rows = stride(mean.maps[at], mean.op.operand(at), view.key) == Stride::One && !mean.guarded[at];
        let whole = self.kernel.static_size(view.key).is_some_and(|keys| keys >= online.block) && online.block % TOGETHER == 0;
        (buffer.element == ElementType::Bool && in_rows && whole && online.width > 1).then_some(at)
    }

    /// Whether some row of the tile sees some key of the block that begins with `first`. The last block may be looked at with keys before it.
    pub(super) fn seen(&mut self, job: &Job<'c>, copy: &Copy<'c>, first: Num<'c>) -> Result<Option<Value<'c>>, Error> {
        let (Some(at), Some(keys)) = (job.mask, self.kernel.static_size(job.view.key)) else { return Ok(None) };
        let (stage, online) = (StageView::new(self.kernel.stages[job.view.mean].op), job.online);
        let Some(buffer) = self.buffers.get(&stage.op.operand(at)).cloned() else { return Ok(None) };
        let first = first.min(&mut self.b, Num::Const(keys - online.block));
        let exprs = stage.maps[at].results();
        let row = online.row.filter(|&row| exprs.iter().any(|expr| expr.uses_dim(row)));
        let zero = self.b.const_int(self.cx.int(8), 0);
        let none = memory::broadcast(&mut self.b, zero, TOGETHER);
        let lines = Num::Const(row.map_or(1, |_| online.rows));
        let around = std::mem::replace(&mut self.width, 1);
        let some = self.repeat(Num::Const(0), lines, 1, vec![none], &mut |emitter, line, carried| {
            let mut point = copy.point.clone();
            point[job.view.key] = Some(Coord { base: first, lanes: false, block: None });
            if let Some(row) = row {
                point[row] = Some(Coord { base: job.begin.add(&mut emitter.b, line), lanes: false, block: None });
            }
            let indices: Vec<_> = exprs.iter().map(|&expr| emitter.index(&point, expr)).collect();
            let begin = emitter.linear(&buffer, &indices).base;
            let mut some = carried[0];
            for along in (0..online.block).step_by(TOGETHER as usize) {
                let at = begin.add(&mut emitter.b, Num::Const(along));
                let part = memory::load_vector(&mut emitter.b, buffer.base, at, ElementType::U8, TOGETHER, None);
                some = arith::ori(&mut emitter.b, some, part);
            }
            Ok(vec![some])
        })?;
        self.width = around;
        let set = arith::cmpi(&mut self.b, CmpIPredicate::Ne, some[0], none);
        Ok(Some(self.any(set)))
    }
}

/// The argument of a body that has to be true for a condition to be.
fn argument(stage: &StageView<'_>, condition: Value<'_>) -> Option<usize> {
    match condition.defining_op() {
        None => (condition.owner_block() == Some(stage.op.body(0))).then(|| condition.index()),
        Some(op) if op.isa::<arith::AndI>() => op.operands().into_iter().find_map(|part| argument(stage, part)),
        Some(_) => None,
    }
}
