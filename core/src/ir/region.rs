//! Regions.

use super::{Block, identity};
use mlir_sys::*;
use std::marker::PhantomData;

/// A region of an operation.
#[derive(Clone, Copy)]
pub struct Region<'c> {
    pub(crate) raw: MlirRegion,
    pub(crate) marker: PhantomData<&'c ()>,
}

identity!(Region);

impl<'c> Region<'c> {
    /// # Safety
    /// The region must be alive wherever the handle is used.
    pub unsafe fn from_raw(raw: MlirRegion) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw region.
    pub fn to_raw(self) -> MlirRegion {
        self.raw
    }

    /// Its blocks.
    pub fn blocks(self) -> Vec<Block<'c>> {
        let mut blocks = Vec::new();
        // SAFETY: the list of blocks is walked without changing it.
        unsafe {
            let mut block = mlirRegionGetFirstBlock(self.raw);
            while !block.ptr.is_null() {
                blocks.push(Block::from_raw(block));
                block = mlirBlockGetNextInRegion(block);
            }
        }
        blocks
    }

    /// The first block.
    pub fn entry(self) -> Option<Block<'c>> {
        // SAFETY: the region is alive.
        let block = unsafe { mlirRegionGetFirstBlock(self.raw) };
        // SAFETY: a block that is not null is alive.
        (!block.ptr.is_null()).then(|| unsafe { Block::from_raw(block) })
    }

    /// Adds an empty block with these argument types.
    pub fn append_block(self, arguments: &[super::Type<'c>], location: super::Location<'c>) -> Block<'c> {
        let types: Vec<_> = arguments.iter().map(|ty| ty.raw).collect();
        let locations = vec![location.raw; types.len()];
        // SAFETY: the two lists have the same length; the region takes the block over.
        unsafe {
            let block = mlirBlockCreate(types.len() as isize, types.as_ptr(), locations.as_ptr());
            mlirRegionAppendOwnedBlock(self.raw, block);
            Block::from_raw(block)
        }
    }

    /// Moves all blocks of `other` here, replacing the present ones.
    pub(crate) fn take_body(self, other: Region<'c>) {
        // SAFETY: both regions are alive.
        unsafe { mlirRegionTakeBody(self.raw, other.raw) }
    }
}
