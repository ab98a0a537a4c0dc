//! The only way in which a pattern changes IR: drivers hear of every change made here.

use crate::erased;
use crate::ir::{Attr, Block, Builder, Op, Region, Value};
use mlir_sys::*;
use std::ops::{Deref, DerefMut};

/// Changes IR under a driver. It is a [`Builder`] too, placed before the matched op.
pub struct Rewriter<'c> {
    raw: MlirRewriterBase,
    builder: Builder<'c>,
}

impl<'c> Deref for Rewriter<'c> {
    type Target = Builder<'c>;
    fn deref(&self) -> &Builder<'c> {
        &self.builder
    }
}

impl<'c> DerefMut for Rewriter<'c> {
    fn deref_mut(&mut self) -> &mut Builder<'c> {
        &mut self.builder
    }
}

fn raws(values: &[Value<'_>]) -> Vec<MlirValue> {
    values.iter().map(|value| value.to_raw()).collect()
}

// SAFETY of this impl: the rewriter is alive while a pattern runs, and handles given are alive.
impl<'c> Rewriter<'c> {
    /// # Safety
    /// `raw` must be alive as long as the rewriter is used.
    pub(crate) unsafe fn new(raw: MlirRewriterBase, op: Op<'c>) -> Self {
        Self { raw, builder: Builder::rewriting(raw, op) }
    }

    /// The raw rewriter.
    pub fn to_raw(&self) -> MlirRewriterBase {
        self.raw
    }

    /// Replaces all results of `op` by `values` and erases it.
    pub fn replace(&mut self, op: Op<'c>, values: &[Value<'c>]) {
        assert_eq!(values.len(), op.num_results(), "'{}' is replaced by a wrong number of values", op.name());
        let values = raws(values);
        erased::add(op.to_raw(), op.name());
        // SAFETY: see the impl; there is one value per result.
        unsafe { mlirRewriterBaseReplaceOpWithValues(self.raw, op.to_raw(), values.len() as isize, values.as_ptr()) }
    }

    /// Replaces `op` by another op with as many results and erases it.
    pub fn replace_with_op(&mut self, op: Op<'c>, new: Op<'c>) {
        self.replace(op, &new.results());
    }

    /// Erases an op that nothing uses.
    pub fn erase(&mut self, op: Op<'c>) {
        assert!(op.is_unused(), "'{}' is erased while it is used", op.name());
        erased::add(op.to_raw(), op.name());
        // SAFETY: see the impl; nothing uses the op.
        unsafe { mlirRewriterBaseEraseOp(self.raw, op.to_raw()) }
    }

    /// Changes an op in place: attributes, operands, types of results.
    pub fn modify(&mut self, op: Op<'c>, change: impl FnOnce(Op<'c>)) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseStartOpModification(self.raw, op.to_raw()) };
        change(op);
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseFinalizeOpModification(self.raw, op.to_raw()) }
    }

    /// Sets one attribute.
    pub fn set_attr(&mut self, op: Op<'c>, name: &str, attr: Attr<'c>) {
        self.modify(op, |op| op.set_attr(name, attr));
    }

    /// Replaces one operand.
    pub fn set_operand(&mut self, op: Op<'c>, index: usize, value: Value<'c>) {
        self.modify(op, |op| op.set_operand(index, value));
    }

    /// Makes all users of `from` use `to`.
    pub fn replace_uses(&mut self, from: Value<'c>, to: Value<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseReplaceAllUsesWith(self.raw, from.to_raw(), to.to_raw()) }
    }

    /// Moves an op before another one.
    pub fn move_before(&mut self, op: Op<'c>, other: Op<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseMoveOpBefore(self.raw, op.to_raw(), other.to_raw()) }
    }

    /// Moves an op after another one.
    pub fn move_after(&mut self, op: Op<'c>, other: Op<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseMoveOpAfter(self.raw, op.to_raw(), other.to_raw()) }
    }

    /// Moves the ops of `block` before `op`, its arguments becoming `args`; the block is gone afterwards.
    pub fn inline_block_before(&mut self, block: Block<'c>, op: Op<'c>, args: &[Value<'c>]) {
        assert_eq!(args.len(), block.args().len(), "a block is inlined with a wrong number of arguments");
        let args = raws(args);
        // SAFETY: see the impl; there is one value per block argument.
        unsafe { mlirRewriterBaseInlineBlockBefore(self.raw, block.to_raw(), op.to_raw(), args.len() as isize, args.as_ptr()) }
    }

    /// Appends the ops of `source` to `target`, its arguments becoming `args`; `source` is gone afterwards.
    pub fn merge_blocks(&mut self, source: Block<'c>, target: Block<'c>, args: &[Value<'c>]) {
        assert_eq!(args.len(), source.args().len(), "a block is merged with a wrong number of arguments");
        let args = raws(args);
        // SAFETY: see the impl; there is one value per block argument.
        unsafe { mlirRewriterBaseMergeBlocks(self.raw, source.to_raw(), target.to_raw(), args.len() as isize, args.as_ptr()) }
    }

    /// Moves all blocks of a region before `block`.
    pub fn inline_region_before(&mut self, region: Region<'c>, block: Block<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseInlineRegionBefore(self.raw, region.to_raw(), block.to_raw()) }
    }

    /// Erases a block that nothing refers to.
    pub fn erase_block(&mut self, block: Block<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseEraseBlock(self.raw, block.to_raw()) }
    }
}
