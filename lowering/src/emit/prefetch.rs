//! Asking for memory ahead: what the stages after a long sum read and write once arrives while the sum runs.

use super::emitter::{Buffer, Emitter};
use super::memory;
use super::nest::Copy;
use strata_core::ir::{AffineExpr, Value};
use strata_core::upstream::llvm;
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// Asks for the elements that the maps after `sum` touch at the present points. Only those that no other point touches: the
    /// others are in the cache already. Results that go past the caches are not wanted in them.
    pub(super) fn prefetch_after(&mut self, sum: &StageView<'c>, copies: &[Copy<'c>]) {
        let stages: Vec<_> = self.kernel.stages.iter().map(|stage| StageView::new(stage.op)).collect();
        let after = stages.iter().skip_while(|stage| stage.op != sum.op).skip(1).filter(|stage| stage.reduce.is_empty());
        for stage in after.filter(|stage| stage.scan.is_none() && !stage.is_scatter()) {
            for (operand, map) in stage.op.operands().into_iter().zip(&stage.maps) {
                self.prefetch(operand, &map.results(), copies, false);
            }
            if stage.schedule().non_temporal == Some(true) {
                continue;
            }
            let dims: Vec<_> = stage.result_dims().into_iter().map(|dim| self.cx.dim(dim)).collect();
            for result in stage.op.results() {
                self.prefetch(result, &dims, copies, true);
            }
        }
    }

    fn prefetch(&mut self, tensor: Value<'c>, exprs: &[AffineExpr<'c>], copies: &[Copy<'c>], write: bool) {
        let Some(buffer) = self.buffers.get(&tensor).filter(|buffer| buffer.kept.is_none()).cloned() else { return };
        let moves = |dim: &usize| self.kernel.static_size(*dim) == Some(1) || exprs.iter().any(|expr| expr.uses_dim(*dim));
        if !self.kernel.outer.iter().all(moves) {
            return;
        }
        for copy in copies {
            let at = self.prefetched(&buffer, exprs, copy);
            let int = |value: i64| self.cx.int_attr(self.cx.int(32), value);
            // To all levels of the cache for data.
            let attrs = [("rw", int(i64::from(write))), ("hint", int(3)), ("cache", int(1))];
            self.b.effect(llvm::Prefetch::NAME, &[at], &attrs);
        }
    }

    /// The address of the first lane.
    fn prefetched(&mut self, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], copy: &Copy<'c>) -> Value<'c> {
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&copy.point, expr)).collect();
        let at = self.linear(buffer, &indices).base;
        memory::element_pointer(&mut self.b, buffer.base, at, buffer.element)
    }
}
