//! Operations.

use super::{Attr, Block, Cx, Location, Region, Type, Value, identity, printed, string_from, string_ref};
use crate::erased;
use mlir_sys::*;
use std::marker::PhantomData;

/// An operation.
#[derive(Clone, Copy)]
pub struct Op<'c> {
    pub(crate) raw: MlirOperation,
    pub(crate) marker: PhantomData<&'c ()>,
}

identity!(Op);
printed!(Op, mlirOperationPrint);

// SAFETY of this impl: `self` is alive, and indices are below the counts that MLIR gives.
impl<'c> Op<'c> {
    /// # Safety
    /// The operation must be alive wherever the handle is used.
    pub unsafe fn from_raw(raw: MlirOperation) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw operation.
    pub fn to_raw(self) -> MlirOperation {
        self.raw
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: see the impl.
        Cx { raw: unsafe { mlirOperationGetContext(self.raw) }, marker: PhantomData }
    }

    /// Its full name, `prim.add`. The text lives as long as the context.
    pub fn name(self) -> &'c str {
        erased::check(self.raw);
        // SAFETY: identifiers are uniqued in the context and live for `'c`; op names are UTF-8.
        unsafe {
            let raw = mlirIdentifierStr(mlirOperationGetName(self.raw));
            std::str::from_utf8_unchecked(std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length))
        }
    }

    /// Whether this is the op of that full name.
    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// The dialect's namespace, the part of the name before the first dot.
    pub fn dialect(self) -> &'c str {
        self.name().split('.').next().unwrap_or_default()
    }

    /// Where it came from.
    pub fn location(self) -> Location<'c> {
        erased::check(self.raw);
        // SAFETY: see the impl.
        Location { raw: unsafe { mlirOperationGetLocation(self.raw) }, marker: PhantomData }
    }

    // Operands and results.

    /// Number of operands.
    pub fn num_operands(self) -> usize {
        erased::check(self.raw);
        // SAFETY: see the impl.
        unsafe { mlirOperationGetNumOperands(self.raw) as usize }
    }

    /// One operand. Panics when there is none of that index.
    pub fn operand(self, index: usize) -> Value<'c> {
        assert!(index < self.num_operands(), "'{}' has no operand {index}", self.name());
        // SAFETY: see the impl.
        unsafe { Value::from_raw(mlirOperationGetOperand(self.raw, index as isize)) }
    }

    /// All operands.
    pub fn operands(self) -> Vec<Value<'c>> {
        (0..self.num_operands()).map(|index| self.operand(index)).collect()
    }

    /// Replaces one operand.
    pub(crate) fn set_operand(self, index: usize, value: Value<'c>) {
        assert!(index < self.num_operands(), "'{}' has no operand {index}", self.name());
        // SAFETY: see the impl.
        unsafe { mlirOperationSetOperand(self.raw, index as isize, value.raw) }
    }

    /// Replaces all operands, possibly by another number of them.
    pub(crate) fn set_operands(self, values: &[Value<'c>]) {
        let values: Vec<_> = values.iter().map(|value| value.raw).collect();
        // SAFETY: see the impl.
        unsafe { mlirOperationSetOperands(self.raw, values.len() as isize, values.as_ptr()) }
    }

    /// Number of results.
    pub fn num_results(self) -> usize {
        erased::check(self.raw);
        // SAFETY: see the impl.
        unsafe { mlirOperationGetNumResults(self.raw) as usize }
    }

    /// One result. Panics when there is none of that index.
    pub fn result(self, index: usize) -> Value<'c> {
        assert!(index < self.num_results(), "'{}' has no result {index}", self.name());
        // SAFETY: see the impl.
        unsafe { Value::from_raw(mlirOperationGetResult(self.raw, index as isize)) }
    }

    /// All results.
    pub fn results(self) -> Vec<Value<'c>> {
        (0..self.num_results()).map(|index| self.result(index)).collect()
    }

    /// Whether no result is used.
    pub fn is_unused(self) -> bool {
        self.results().into_iter().all(Value::is_unused)
    }

    // Attributes.

    /// An attribute by name.
    pub fn attr(self, name: &str) -> Option<Attr<'c>> {
        erased::check(self.raw);
        // SAFETY: see the impl.
        let raw = unsafe { mlirOperationGetAttributeByName(self.raw, string_ref(name)) };
        (!raw.ptr.is_null()).then_some(Attr { raw, marker: PhantomData })
    }

    /// Sets an attribute.
    pub(crate) fn set_attr(self, name: &str, attr: Attr<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirOperationSetAttributeByName(self.raw, string_ref(name), attr.raw) }
    }

    /// Removes an attribute; says whether there was one.
    pub(crate) fn remove_attr(self, name: &str) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirOperationRemoveAttributeByName(self.raw, string_ref(name)) }
    }

    /// All attributes, by name.
    pub fn attrs(self) -> Vec<(String, Attr<'c>)> {
        // SAFETY: see the impl.
        unsafe {
            (0..mlirOperationGetNumAttributes(self.raw))
                .map(|index| {
                    let named = mlirOperationGetAttribute(self.raw, index);
                    (string_from(mlirIdentifierStr(named.name)), Attr::from_raw(named.attribute))
                })
                .collect()
        }
    }

    /// Calls `visit` for each attribute, without copying names.
    pub fn for_each_attr(self, visit: &mut dyn FnMut(&'c str, Attr<'c>)) {
        // SAFETY: see the impl; names are UTF-8 and live as long as the context.
        unsafe {
            for index in 0..mlirOperationGetNumAttributes(self.raw) {
                let named = mlirOperationGetAttribute(self.raw, index);
                let name = mlirIdentifierStr(named.name);
                let name = std::slice::from_raw_parts(name.data.cast::<u8>(), name.length);
                visit(std::str::from_utf8_unchecked(name), Attr::from_raw(named.attribute));
            }
        }
    }

    /// An integer attribute.
    pub fn int(self, name: &str) -> Option<i64> {
        self.attr(name)?.as_int()
    }

    /// An `array<i64: ..>` attribute.
    pub fn ints(self, name: &str) -> Option<Vec<i64>> {
        self.attr(name)?.as_i64s()
    }

    /// A string attribute.
    pub fn str(self, name: &str) -> Option<String> {
        self.attr(name)?.as_str()
    }

    // Structure.

    /// Its regions.
    pub fn regions(self) -> Vec<Region<'c>> {
        erased::check(self.raw);
        // SAFETY: see the impl.
        unsafe {
            (0..mlirOperationGetNumRegions(self.raw)).map(|index| Region::from_raw(mlirOperationGetRegion(self.raw, index))).collect()
        }
    }

    /// One region. Panics when there is none of that index.
    pub fn region(self, index: usize) -> Region<'c> {
        self.regions()[index]
    }

    /// The entry block of region `index`. Panics when there is none.
    pub fn body(self, index: usize) -> Block<'c> {
        self.region(index).entry().unwrap_or_else(|| panic!("region {index} of '{}' is empty", self.name()))
    }

    /// Number of successor blocks.
    pub fn num_successors(self) -> usize {
        // SAFETY: see the impl.
        unsafe { mlirOperationGetNumSuccessors(self.raw) as usize }
    }

    /// One successor block. Panics when there is none of that index.
    pub fn successor(self, index: usize) -> Block<'c> {
        assert!(index < self.num_successors(), "'{}' has no successor {index}", self.name());
        // SAFETY: see the impl.
        unsafe { Block::from_raw(mlirOperationGetSuccessor(self.raw, index as isize)) }
    }

    /// The block that the op stands in.
    pub fn block(self) -> Option<Block<'c>> {
        erased::check(self.raw);
        // SAFETY: see the impl.
        let block = unsafe { mlirOperationGetBlock(self.raw) };
        // SAFETY: a block that is not null is alive.
        (!block.ptr.is_null()).then(|| unsafe { Block::from_raw(block) })
    }

    /// The op that the op stands in.
    pub fn parent(self) -> Option<Op<'c>> {
        self.block()?.parent_op()
    }

    /// Next op in the block.
    pub fn next(self) -> Option<Op<'c>> {
        // SAFETY: see the impl.
        let op = unsafe { mlirOperationGetNextInBlock(self.raw) };
        // SAFETY: an op that is not null is alive.
        (!op.ptr.is_null()).then(|| unsafe { Op::from_raw(op) })
    }

    /// Whether this stands before `other` in the same block.
    pub fn is_before(self, other: Op<'c>) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirOperationIsBeforeInBlock(self.raw, other.raw) }
    }

    /// Whether this op is `other` or stands somewhere inside it.
    pub fn is_inside(self, other: Op<'c>) -> bool {
        let mut op = Some(self);
        while let Some(current) = op {
            if current == other {
                return true;
            }
            op = current.parent();
        }
        false
    }

    /// Calls `visit` for this op and all ops nested in it, parents first, in order. Works on snapshots of blocks.
    pub fn walk(self, visit: &mut dyn FnMut(Op<'c>)) {
        visit(self);
        for region in self.regions() {
            for block in region.blocks() {
                for op in block.ops() {
                    op.walk(visit);
                }
            }
        }
    }

    /// All nested ops of a full name, in order.
    pub fn find_all(self, name: &str) -> Vec<Op<'c>> {
        let mut found = Vec::new();
        self.walk(&mut |op| {
            if op.is(name) {
                found.push(op);
            }
        });
        found
    }

    /// The op defined as symbol `name` directly inside this one.
    pub fn lookup_symbol(self, name: &str) -> Option<Op<'c>> {
        let regions = self.regions();
        regions.into_iter().flat_map(Region::blocks).flat_map(Block::ops).find(|op| op.str("sym_name").as_deref() == Some(name))
    }

    // Changes.

    /// Moves this op before `other`.
    pub(crate) fn move_before(self, other: Op<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirOperationMoveBefore(self.raw, other.raw) }
    }

    /// Moves this op after `other`.
    pub(crate) fn move_after(self, other: Op<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirOperationMoveAfter(self.raw, other.raw) }
    }

    /// Changes the location.
    pub(crate) fn set_location(self, location: Location<'c>) {
        // SAFETY: see the impl.
        unsafe { mlirOperationSetLocation(self.raw, location.raw) }
    }

    /// Erases the op. Panics when a result is still used. Handles to it must not be used any more.
    pub(crate) fn erase(self) {
        assert!(self.is_unused(), "'{}' is erased while it is used", self.name());
        erased::add(self.raw, self.name());
        // SAFETY: nothing uses the op; the handle is not used after this.
        unsafe { mlirOperationDestroy(self.raw) }
    }

    /// Verifies the op and all in it; diagnostics go to the context's handler.
    pub fn verify(self) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirOperationVerify(self.raw) }
    }

    /// [`Op::verify`] with the errors as text.
    pub fn check(self) -> Result<(), String> {
        let (valid, errors) = crate::diagnostic::collect_errors(self.cx(), || self.verify());
        if valid { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// Reports an error at the op, with its name in front as MLIR does.
    pub fn error(self, message: &str) {
        crate::guard::report(self, message);
    }

    /// Types of the operands.
    pub fn operand_types(self) -> Vec<Type<'c>> {
        self.operands().into_iter().map(Value::ty).collect()
    }

    /// Types of the results.
    pub fn result_types(self) -> Vec<Type<'c>> {
        self.results().into_iter().map(Value::ty).collect()
    }

    /// The op in MLIR's generic form, which needs no dialect to be read.
    pub fn to_generic_text(self) -> String {
        let mut text = String::new();
        // SAFETY: see the impl; the flags live through the call.
        unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            mlirOpPrintingFlagsPrintGenericOpForm(flags);
            mlirOperationPrintWithFlags(self.raw, flags, Some(super::print_into), (&raw mut text).cast());
            mlirOpPrintingFlagsDestroy(flags);
        }
        text
    }

    /// The op as text with locations.
    pub fn to_text_with_locations(self) -> String {
        let mut text = String::new();
        // SAFETY: see the impl; the flags live through the call.
        unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
            mlirOperationPrintWithFlags(self.raw, flags, Some(super::print_into), (&raw mut text).cast());
            mlirOpPrintingFlagsDestroy(flags);
        }
        text
    }
}
