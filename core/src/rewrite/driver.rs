//! Drivers: apply patterns until nothing changes, or once.

use super::Patterns;
use crate::ir::Op;
use strata_core_sys::{StrataGreedyConfig, strata_apply_greedily, strata_walk_and_apply};

/// How the greedy driver works.
#[derive(Clone, Copy, Debug)]
pub struct Greedy {
    /// Sweeps over the IR; `None` is no limit.
    pub max_iterations: Option<u32>,
    /// Rewrites in all; `None` is no limit. Patterns that undo each other loop inside one sweep, only this stops them.
    pub max_rewrites: Option<u32>,
    /// Parents before what is inside.
    pub top_down: bool,
    /// Fold ops and remove dead ones too.
    pub fold: bool,
    /// Simplify control flow (dead blocks, dead arguments).
    pub simplify_regions: bool,
}

impl Default for Greedy {
    fn default() -> Self {
        Self { max_iterations: Some(10), max_rewrites: Some(1_000_000), top_down: true, fold: true, simplify_regions: false }
    }
}

/// The driver stopped at its limit with patterns still matching.
#[derive(Debug, thiserror::Error)]
#[error("patterns on '{op}' did not come to rest; raise the limit or remove a pair of patterns that undo each other")]
pub struct NotConverged {
    /// The op worked on.
    pub op: String,
}

/// Applies patterns in and below `op` until none matches; says whether anything changed.
pub fn apply_greedily(op: Op<'_>, patterns: Patterns<'_>, config: Greedy) -> Result<bool, NotConverged> {
    crate::erased::clear();
    let limit = |limit: Option<u32>| limit.map_or(-1, i64::from);
    let raw = StrataGreedyConfig {
        max_iterations: limit(config.max_iterations),
        max_rewrites: limit(config.max_rewrites),
        top_down: config.top_down,
        fold: config.fold,
        strictness: 0,
        simplify_regions: i32::from(config.simplify_regions),
    };
    // SAFETY: the op is alive, and the driver takes the set over.
    match unsafe { strata_apply_greedily(op.to_raw(), patterns.into_set().into_raw(), &raw const raw) } {
        0 => Err(NotConverged { op: op.name().to_owned() }),
        changed => Ok(changed == 2),
    }
}

/// Applies patterns below `op` in one walk, without looking at what they made.
pub fn apply_once(op: Op<'_>, patterns: Patterns<'_>) {
    // SAFETY: the op is alive, and the driver takes the set over.
    unsafe { strata_walk_and_apply(op.to_raw(), patterns.into_set().into_raw()) }
}
