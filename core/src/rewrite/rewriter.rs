//! The only way in which patterns and passes change IR: drivers hear of every change made here.

use crate::erased;
use crate::ir::{Attr, Block, Builder, Location, Op, Region, Type, Value};
use crate::pass::Incremental;
use mlir_sys::*;
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};

/// Changes IR. It is a [`Builder`] too; a driver places it before the matched op.
///
/// A pass makes one with [`Rewriter::before`]; a pattern is given that of its driver, with the analysis `A` that the driver keeps.
pub struct Rewriter<'c, A: Incremental = ()> {
    builder: Builder<'c>,
    host: Host<'c>,
    facts: A::Of<'c>,
    /// How many of the ops that the builder lists the analysis has taken in.
    taken_in: usize,
}

/// Who must hear of changes.
enum Host<'c> {
    /// Nobody.
    Pass,
    /// One of MLIR's drivers.
    Mlir(MlirRewriterBase),
    /// The driver in order. Ops erased stay until its end: the analysis knows them by address.
    InOrder(HashSet<Op<'c>>),
}

impl<'c, A: Incremental> Deref for Rewriter<'c, A> {
    type Target = Builder<'c>;
    fn deref(&self) -> &Builder<'c> {
        &self.builder
    }
}

impl<'c, A: Incremental> DerefMut for Rewriter<'c, A> {
    fn deref_mut(&mut self) -> &mut Builder<'c> {
        &mut self.builder
    }
}

fn raws(values: &[Value<'_>]) -> Vec<MlirValue> {
    values.iter().map(|value| value.to_raw()).collect()
}

impl<'c> Rewriter<'c> {
    /// # Safety
    /// `raw` must be alive as long as the rewriter is used.
    pub(crate) unsafe fn of_driver(raw: MlirRewriterBase, op: Op<'c>) -> Self {
        Self { builder: Builder::rewriting(raw, op), host: Host::Mlir(raw), facts: (), taken_in: 0 }
    }

    /// A pass's own, which builds with this builder.
    pub fn new(builder: Builder<'c>) -> Self {
        Self { builder, host: Host::Pass, facts: (), taken_in: 0 }
    }

    /// A pass's own, which builds before `op`.
    pub fn before(op: Op<'c>) -> Self {
        Self::new(Builder::before(op))
    }

    /// A pass's own, which builds after `op`.
    pub fn after(op: Op<'c>) -> Self {
        Self::new(Builder::after(op))
    }

    /// A pass's own, which builds at the end of `block`.
    pub fn at_end(block: Block<'c>, location: Location<'c>) -> Self {
        Self::new(Builder::at_end(block, location))
    }

    /// The raw rewriter of MLIR's driver. Panics outside of one.
    pub(super) fn to_raw(&self) -> MlirRewriterBase {
        match self.host {
            Host::Mlir(raw) => raw,
            Host::Pass | Host::InOrder(_) => panic!("this rewriter is none of MLIR's"),
        }
    }
}

impl<'c, A: Incremental> Rewriter<'c, A> {
    /// That of the driver in order, which visits what is in `scope`.
    pub(super) fn in_order(scope: Op<'c>) -> Self {
        Self { builder: Builder::listing(scope), host: Host::InOrder(HashSet::new()), facts: A::compute(scope), taken_in: 0 }
    }

    /// Goes on before `op`.
    pub(super) fn visit(&mut self, op: Op<'c>) {
        self.take_made();
        self.builder.set_before(op);
        self.builder.set_location(op.location());
    }

    /// Whether an op waits to be erased.
    pub(super) fn is_erased(&self, op: Op<'c>) -> bool {
        matches!(&self.host, Host::InOrder(erased) if erased.contains(&op))
    }

    /// The ops made since the last [`Rewriter::visit`].
    pub(super) fn take_made(&mut self) -> Vec<Op<'c>> {
        self.take_in();
        self.taken_in = 0;
        self.builder.take_made()
    }

    fn take_in(&mut self) {
        for op in &self.builder.made()[self.taken_in..] {
            A::made(&mut self.facts, *op);
        }
        self.taken_in = self.builder.made().len();
    }

    /// The analysis, with all that was made so far.
    pub fn analysis(&mut self) -> &mut A::Of<'c> {
        self.take_in();
        &mut self.facts
    }

    /// The analysis, and the builder of what it says is to be built.
    pub fn analysis_and_builder(&mut self) -> (&mut A::Of<'c>, &mut Builder<'c>) {
        self.take_in();
        (&mut self.facts, &mut self.builder)
    }
}

// SAFETY of this impl: a rewriter of MLIR's is alive while a pattern runs, and handles given are alive.
impl<'c, A: Incremental> Rewriter<'c, A> {
    /// Replaces all results of `op` by `values` and erases it.
    pub fn replace(&mut self, op: Op<'c>, values: &[Value<'c>]) {
        assert_eq!(values.len(), op.num_results(), "'{}' is replaced by a wrong number of values", op.name());
        match &mut self.host {
            Host::Mlir(raw) => {
                let values = raws(values);
                erased::add(op.to_raw(), op.name());
                // SAFETY: see the impl; there is one value per result.
                unsafe { mlirRewriterBaseReplaceOpWithValues(*raw, op.to_raw(), values.len() as isize, values.as_ptr()) }
            }
            Host::Pass | Host::InOrder(_) => {
                for (from, to) in op.results().into_iter().zip(values) {
                    from.replace_all_uses_with(*to);
                }
                self.erase(op);
            }
        }
    }

    /// Replaces `op` by another op with as many results and erases it.
    pub fn replace_with_op(&mut self, op: Op<'c>, new: Op<'c>) {
        self.replace(op, &new.results());
    }

    /// Erases an op that nothing uses.
    pub fn erase(&mut self, op: Op<'c>) {
        assert!(op.is_unused(), "'{}' is erased while it is used", op.name());
        match &mut self.host {
            Host::Mlir(raw) => {
                erased::add(op.to_raw(), op.name());
                // SAFETY: see the impl; nothing uses the op.
                unsafe { mlirRewriterBaseEraseOp(*raw, op.to_raw()) }
            }
            Host::InOrder(waiting) => {
                waiting.insert(op);
            }
            Host::Pass => op.erase(),
        }
    }

    /// Changes an op in place: attributes, operands, types of results.
    pub fn modify(&mut self, op: Op<'c>, change: impl FnOnce(Op<'c>)) {
        if let Host::Mlir(raw) = self.host {
            // SAFETY: see the impl.
            unsafe { mlirRewriterBaseStartOpModification(raw, op.to_raw()) };
            change(op);
            // SAFETY: see the impl.
            unsafe { mlirRewriterBaseFinalizeOpModification(raw, op.to_raw()) }
        } else {
            change(op);
        }
    }

    /// Sets one attribute.
    pub fn set_attr(&mut self, op: Op<'c>, name: &str, attr: Attr<'c>) {
        self.modify(op, |op| op.set_attr(name, attr));
    }

    /// Takes an attribute away; whether there was one.
    pub fn remove_attr(&mut self, op: Op<'c>, name: &str) -> bool {
        let mut was = false;
        self.modify(op, |op| was = op.remove_attr(name));
        was
    }

    /// Replaces one operand.
    pub fn set_operand(&mut self, op: Op<'c>, index: usize, value: Value<'c>) {
        self.modify(op, |op| op.set_operand(index, value));
    }

    /// Replaces all operands, by any number of others.
    pub fn set_operands(&mut self, op: Op<'c>, values: &[Value<'c>]) {
        self.modify(op, |op| op.set_operands(values));
    }

    /// Gives a value another type; its users must want that.
    pub fn set_type(&mut self, value: Value<'c>, ty: Type<'c>) {
        match value.defining_op() {
            Some(op) => self.modify(op, |_| value.set_type(ty)),
            None => value.set_type(ty),
        }
    }

    /// Makes all users of `from` use `to`.
    pub fn replace_uses(&mut self, from: Value<'c>, to: Value<'c>) {
        match self.host {
            // SAFETY: see the impl.
            Host::Mlir(raw) => unsafe { mlirRewriterBaseReplaceAllUsesWith(raw, from.to_raw(), to.to_raw()) },
            Host::Pass | Host::InOrder(_) => from.replace_all_uses_with(to),
        }
    }

    /// Moves an op before another one.
    pub fn move_before(&mut self, op: Op<'c>, other: Op<'c>) {
        match self.host {
            // SAFETY: see the impl.
            Host::Mlir(raw) => unsafe { mlirRewriterBaseMoveOpBefore(raw, op.to_raw(), other.to_raw()) },
            Host::Pass | Host::InOrder(_) => op.move_before(other),
        }
    }

    /// Moves an op after another one.
    pub fn move_after(&mut self, op: Op<'c>, other: Op<'c>) {
        match self.host {
            // SAFETY: see the impl.
            Host::Mlir(raw) => unsafe { mlirRewriterBaseMoveOpAfter(raw, op.to_raw(), other.to_raw()) },
            Host::Pass | Host::InOrder(_) => op.move_after(other),
        }
    }

    /// Takes an argument of a block away that nothing uses.
    pub fn erase_arg(&mut self, block: Block<'c>, index: usize) {
        block.erase_arg(index);
    }

    /// Moves all blocks of one region to another, which had none.
    pub fn move_body(&mut self, from: Region<'c>, to: Region<'c>) {
        to.take_body(from);
    }
}

// SAFETY of this impl: as above.
impl<'c> Rewriter<'c> {
    /// Moves the ops of `block` before `op`, its arguments becoming `args`; the block is gone afterwards.
    pub fn inline_block_before(&mut self, block: Block<'c>, op: Op<'c>, args: &[Value<'c>]) {
        assert_eq!(args.len(), block.args().len(), "a block is inlined with a wrong number of arguments");
        let args = raws(args);
        // SAFETY: see the impl; there is one value per block argument.
        unsafe { mlirRewriterBaseInlineBlockBefore(self.to_raw(), block.to_raw(), op.to_raw(), args.len() as isize, args.as_ptr()) }
    }

    /// Appends the ops of `source` to `target`, its arguments becoming `args`; `source` is gone afterwards.
    pub fn merge_blocks(&mut self, source: Block<'c>, target: Block<'c>, args: &[Value<'c>]) {
        assert_eq!(args.len(), source.args().len(), "a block is merged with a wrong number of arguments");
        let args = raws(args);
        // SAFETY: see the impl; there is one value per block argument.
        unsafe { mlirRewriterBaseMergeBlocks(self.to_raw(), source.to_raw(), target.to_raw(), args.len() as isize, args.as_ptr()) }
    }

    /// Moves all blocks of a region before `block`.
    pub fn inline_region_before(&mut self, region: Region<'c>, block: Block<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseInlineRegionBefore(self.to_raw(), region.to_raw(), block.to_raw()) }
    }

    /// Erases a block that nothing refers to.
    pub fn erase_block(&mut self, block: Block<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirRewriterBaseEraseBlock(self.to_raw(), block.to_raw()) }
    }
}
