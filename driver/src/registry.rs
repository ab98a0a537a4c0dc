//! What the compiler is made of: every dialect and every pass, as plain arrays.

use crate::levels;
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
    levels::all_levels().map(|level| level.pipeline()).collect()
}

/// All dialects, ours and MLIR's.
pub fn registry() -> Registry {
    Registry::new().with_upstream().with_dialects(&dialects())
}
