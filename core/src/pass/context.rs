//! What a running pass may ask of MLIR, and how it fails.

use super::analysis::{Analysis, cached};
use crate::diagnostic::{Note, Severity, emit_at_op};
use crate::ir::{Op, print_into, string_ref};
use crate::remark::Remarks;
use crate::rewrite::{NotConverged, Rewriter};
use std::sync::Arc;
use strata_core_sys::*;

/// Why a pass gave up. The message becomes an error at the op.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// Already reported where it belongs.
    #[error("failed, see the error above")]
    Reported,
    /// To be reported at the op that the pass works on.
    #[error("{0}")]
    Message(String),
}

impl PassError {
    /// An error at the op that the pass works on.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// Reports an error at an op.
    pub fn at(op: Op<'_>, message: &str) -> Self {
        emit_at_op(op, Severity::Error, message, &[]);
        Self::Reported
    }

    /// Reports an error at an op with notes at others.
    pub fn with_notes(op: Op<'_>, message: &str, notes: &[Note<'_, '_>]) -> Self {
        emit_at_op(op, Severity::Error, message, notes);
        Self::Reported
    }
}

impl From<NotConverged> for PassError {
    fn from(error: NotConverged) -> Self {
        Self::new(error.to_string())
    }
}

/// A running pass as MLIR sees it.
pub struct PassContext<'c> {
    pub(crate) raw: *mut StrataPass,
    pub(crate) op: Op<'c>,
    pub(crate) remarks: Remarks,
}

// SAFETY of this impl: `raw` is the running pass, and the ops given are alive.
impl<'c> PassContext<'c> {
    /// What the pass changes IR with. It builds before the pass's op until it is sent elsewhere ([`Rewriter::go_before`]).
    pub fn rewriter(&self) -> Rewriter<'c> {
        Rewriter::before(self.op)
    }

    /// Where the pass reports why it leaves an op as it is.
    pub fn remarks(&self) -> Remarks {
        self.remarks
    }

    /// Runs a textual pipeline on `op`, which is the pass's op or stands in it.
    pub fn run_pipeline(&mut self, op: Op<'c>, text: &str) -> Result<(), PassError> {
        crate::erased::clear();
        let mut message = String::new();
        // SAFETY: see the impl; `message` outlives the call.
        let ok = unsafe { strata_pass_run_pipeline(self.raw, string_ref(text), op.to_raw(), print_into, (&raw mut message).cast()) };
        match (ok, message.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(PassError::Reported),
            (false, false) => Err(PassError::new(format!("cannot run the pipeline '{text}': {}", message.trim()))),
        }
    }

    /// The analysis `A` of an op in reach, computed at the first question and kept until a pass changes the op.
    pub fn analysis<A: Analysis>(&self, op: Op<'c>) -> Arc<A::Of<'c>> {
        assert!(op.is_inside(self.op), "'{}' is analysed by a pass that runs on '{}' beside it", op.name(), self.op.name());
        cached::<A>(self.raw, op)
    }

    /// Says that the pass changed nothing, so that all analyses stay.
    pub fn preserve_all(&mut self) {
        // SAFETY: see the impl.
        unsafe { strata_pass_preserve_all(self.raw) }
    }

    /// Says that what the pass changed leaves `A` true.
    pub fn preserve<A: Analysis>(&mut self) {
        // SAFETY: see the impl; the key lives forever.
        unsafe { strata_pass_preserve(self.raw, super::analysis::key::<A>()) }
    }
}
