//! Blocks.

use super::{Location, Op, Region, Type, Value, identity};
use mlir_sys::*;
use std::marker::PhantomData;

/// A block.
#[derive(Clone, Copy)]
pub struct Block<'c> {
    pub(crate) raw: MlirBlock,
    pub(crate) marker: PhantomData<&'c ()>,
}

identity!(Block);

impl<'c> Block<'c> {
    /// # Safety
    /// The block must be alive wherever the handle is used.
    pub unsafe fn from_raw(raw: MlirBlock) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw block.
    pub fn to_raw(self) -> MlirBlock {
        self.raw
    }

    /// Its operations, in order. A snapshot: erasing one while walking it is fine.
    pub fn ops(self) -> Vec<Op<'c>> {
        let mut ops = Vec::new();
        // SAFETY: the list of operations is walked without changing it.
        unsafe {
            let mut op = mlirBlockGetFirstOperation(self.raw);
            while !op.ptr.is_null() {
                ops.push(Op::from_raw(op));
                op = mlirOperationGetNextInBlock(op);
            }
        }
        ops
    }

    /// The first operation.
    pub fn first_op(self) -> Option<Op<'c>> {
        // SAFETY: the block is alive.
        let op = unsafe { mlirBlockGetFirstOperation(self.raw) };
        // SAFETY: an op that is not null is alive.
        (!op.ptr.is_null()).then(|| unsafe { Op::from_raw(op) })
    }

    /// The terminator.
    pub fn terminator(self) -> Option<Op<'c>> {
        // SAFETY: the block is alive.
        let op = unsafe { mlirBlockGetTerminator(self.raw) };
        // SAFETY: an op that is not null is alive.
        (!op.ptr.is_null()).then(|| unsafe { Op::from_raw(op) })
    }

    /// Its arguments.
    pub fn args(self) -> Vec<Value<'c>> {
        // SAFETY: the block is alive, and only existing arguments are read.
        unsafe { (0..mlirBlockGetNumArguments(self.raw)).map(|index| Value::from_raw(mlirBlockGetArgument(self.raw, index))).collect() }
    }

    /// One argument.
    pub fn arg(self, index: usize) -> Value<'c> {
        self.args()[index]
    }

    /// Adds an argument.
    pub fn add_arg(self, ty: Type<'c>, location: Location<'c>) -> Value<'c> {
        // SAFETY: all handles are alive.
        unsafe { Value::from_raw(mlirBlockAddArgument(self.raw, ty.raw, location.raw)) }
    }

    /// Removes an argument that nothing uses.
    pub(crate) fn erase_arg(self, index: usize) {
        assert!(self.arg(index).is_unused(), "argument {index} of the block is still used");
        // SAFETY: the argument exists and has no uses.
        unsafe { mlirBlockEraseArgument(self.raw, index as u32) }
    }

    /// The operation that the block stands in.
    pub fn parent_op(self) -> Option<Op<'c>> {
        // SAFETY: the block is alive.
        let op = unsafe { mlirBlockGetParentOperation(self.raw) };
        // SAFETY: an op that is not null is alive.
        (!op.ptr.is_null()).then(|| unsafe { Op::from_raw(op) })
    }

    /// The region that the block stands in.
    pub fn parent_region(self) -> Option<Region<'c>> {
        // SAFETY: the block is alive.
        let region = unsafe { mlirBlockGetParentRegion(self.raw) };
        // SAFETY: a region that is not null is alive.
        (!region.ptr.is_null()).then(|| unsafe { Region::from_raw(region) })
    }
}
