//! One of MLIR's sets of patterns, as its drivers want it.

use crate::ir::Cx;
use mlir_sys::*;

/// A set that is destroyed unless it is given away.
pub(super) struct PatternSet(MlirRewritePatternSet);

impl PatternSet {
    /// An empty set.
    pub(super) fn new(cx: Cx<'_>) -> Self {
        // SAFETY: the context is alive.
        Self(unsafe { mlirRewritePatternSetCreate(cx.to_raw()) })
    }

    /// The raw set.
    pub(super) fn to_raw(&self) -> MlirRewritePatternSet {
        self.0
    }

    /// The raw set, which the callee then owns.
    pub(super) fn into_raw(self) -> MlirRewritePatternSet {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for PatternSet {
    fn drop(&mut self) {
        // SAFETY: the set was made by `new` and not given away.
        unsafe { mlirRewritePatternSetDestroy(self.0) }
    }
}
