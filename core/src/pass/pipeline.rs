//! Running textual pipelines from Rust.

use super::manager_pool::{self, Manager};
use crate::ir::{Cx, Op, print_into, string_ref};
use crate::registry::Registry;
use mlir_sys::*;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

/// A pipeline with a name, as a row of a crate's table.
#[derive(Clone, Copy, Debug)]
pub struct PipelineDef {
    /// On the command line.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its passes as text, with those that a registry adds to it.
    pub text: fn(&Registry) -> String,
    /// The names of the passes in it that others may be added behind.
    pub passes: fn() -> Vec<&'static str>,
}

/// A pass that a registry adds to a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    /// The pipeline.
    pub pipeline: &'static str,
    /// The pass that it runs behind: the last one of this name in the pipeline.
    pub behind: &'static str,
    /// The pass, with its options in braces.
    pub pass: &'static str,
}

impl Addition {
    /// The name of the pass, without its options.
    pub fn name(&self) -> &'static str {
        self.pass.split_once('{').map_or(self.pass, |(name, _)| name)
    }
}

/// A pipeline that could not be read, or a pass in it that failed.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The text names an unknown pass or option, or nests passes wrongly.
    #[error("cannot read the pipeline '{pipeline}': {message}")]
    Text {
        /// The text.
        pipeline: String,
        /// MLIR's message.
        message: String,
    },
    /// A pass failed or left invalid IR.
    #[error("{diagnostics}")]
    Failed {
        /// The text.
        pipeline: String,
        /// All errors, one per line.
        diagnostics: String,
    },
}

/// MLIR's pass manager with passes given as text.
pub struct PassManager<'c> {
    manager: ManuallyDrop<Manager>,
    cx: Cx<'c>,
    anchor: String,
    text: String,
    /// Nothing was asked of it, and nothing went wrong, that another user would notice.
    plain: Cell<bool>,
}

impl<'c> PassManager<'c> {
    /// A pass manager for ops named `anchor` (`builtin.module`) with the passes of `text`.
    pub fn parse(cx: Cx<'c>, anchor: &str, text: &str) -> Result<Self, PipelineError> {
        let own = |manager, plain| Self {
            manager: ManuallyDrop::new(manager),
            cx,
            anchor: anchor.to_owned(),
            text: text.to_owned(),
            plain: Cell::new(plain),
        };
        if let Some(manager) = manager_pool::take(cx, anchor, text) {
            return Ok(own(manager, true));
        }
        let mut message = String::new();
        // SAFETY: the context and the strings are alive for the calls; the handle owns the pass manager.
        let (manager, parsed) = unsafe {
            let raw = mlirPassManagerCreateOnOperation(cx.to_raw(), string_ref(anchor));
            let manager = own(Manager { raw, count: None }, false);
            let passes = mlirPassManagerGetAsOpPassManager(raw);
            let user = (&raw mut message).cast();
            let wrapped = text.trim_start().strip_prefix(anchor).is_some_and(|rest| rest.starts_with('('));
            let parsed = if wrapped {
                mlirParsePassPipeline(passes, string_ref(text), Some(print_into), user)
            } else {
                mlirOpPassManagerAddPipeline(passes, string_ref(text), Some(print_into), user)
            };
            (manager, parsed)
        };
        if parsed.value == 0 {
            return Err(PipelineError::Text { pipeline: text.to_owned(), message: message.trim().to_owned() });
        }
        manager.plain.set(true);
        Ok(manager)
    }

    fn raw(&self) -> MlirPassManager {
        self.manager.raw
    }

    /// Verifies the IR after each pass, or not.
    pub fn verify_each(self, on: bool) -> Self {
        // SAFETY: the pass manager is alive.
        unsafe { mlirPassManagerEnableVerifier(self.raw(), on) };
        self
    }

    /// Prints the time of each pass to standard error.
    pub fn with_timing(self) -> Self {
        self.plain.set(false);
        // SAFETY: the pass manager is alive.
        unsafe { mlirPassManagerEnableTiming(self.raw()) };
        self
    }

    /// [`run`](Self::run), and how many passes ran on an op meanwhile, as MLIR's own instrumentation counts them.
    pub fn run_counted(mut self, op: Op<'c>) -> (Result<(), PipelineError>, u64) {
        let count = self.manager.counter();
        count.store(0, Ordering::Relaxed);
        let result = self.run(op);
        let count = count.load(Ordering::Relaxed);
        (result, count)
    }

    /// Runs the passes. Errors are collected; warnings and remarks go on to the context's other handlers.
    pub fn run(&self, op: Op<'c>) -> Result<(), PipelineError> {
        crate::erased::clear();
        let cx = op.cx();
        let (result, errors) = crate::diagnostic::collect_errors(cx, || {
            // SAFETY: the op and the pass manager are alive.
            unsafe { mlirPassManagerRunOnOp(self.raw(), op.to_raw()) }
        });
        if result.value != 0 && errors.is_empty() {
            return Ok(());
        }
        self.plain.set(false);
        Err(PipelineError::Failed { pipeline: self.text.clone(), diagnostics: errors.join("\n") })
    }
}

impl Drop for PassManager<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody comes to the pass manager after this.
        let manager = unsafe { ManuallyDrop::take(&mut self.manager) };
        // Nobody knows what a panic left behind.
        if self.plain.get() && !std::thread::panicking() {
            manager_pool::give(self.cx, std::mem::take(&mut self.anchor), std::mem::take(&mut self.text), manager);
        }
    }
}

/// Runs a textual pipeline on an op, usually a module: `run_pipeline(module.op(), "cse,func.func(fuse-elementwise)")`.
pub fn run_pipeline(op: Op<'_>, text: &str) -> Result<(), PipelineError> {
    PassManager::parse(op.cx(), op.name(), text)?.run(op)
}
