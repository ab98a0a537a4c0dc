//! What the compiler is made of: every dialect, pass and pipeline, as plain arrays and as the registry that the driver works with.
//!
//! A tool with more in it starts from [`registry`] and adds its own dialects and passes.

use crate::BUILD;
use crate::pipelines::{Pipeline, all_pipelines};
use std::sync::OnceLock;
use strata_core::dialect::DialectDef;
use strata_core::pass::{PassEntry, PipelineDef};
use strata_core::registry::Registry;
use strata_dialects::{aten, capture, host, loops, prim};

/// Our dialects.
pub fn dialects() -> Vec<&'static DialectDef> {
    [aten::OPERATORS.as_slice(), &[&capture::CAPTURE, &host::HOST, &loops::LOOP, &prim::PRIM]].concat()
}

/// All our passes.
pub fn passes() -> Vec<PassEntry> {
    let mut passes = [strata_lowering::PASSES, strata_passes::PASSES].concat();
    passes.sort_by_key(|pass| pass.def.argument);
    passes
}

/// Our named pipelines: one for each level.
pub fn pipelines() -> Vec<PipelineDef> {
    all_pipelines().map(Pipeline::definition).collect()
}

/// All dialects, passes and pipelines, ours and MLIR's.
pub fn registry() -> Registry {
    let ours = Registry::new().with_upstream().with_upstream_passes().with_dialects(&dialects()).with_passes(&passes());
    ours.with_pipelines(&pipelines()).with_build(&BUILD.to_string_lossy())
}

/// [`registry`] for those who add nothing to it, made once.
pub fn standard() -> &'static Registry {
    static STANDARD: OnceLock<Registry> = OnceLock::new();
    STANDARD.get_or_init(registry)
}
