//! The levels as phases: what runs to reach each, in one list.

use crate::options::{Options, Target};
use strata_core::pass::PipelineDef;

/// A level of the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Its name, as in `--to=LEVEL`.
    pub name: &'static str,
    /// What holds at it.
    pub description: &'static str,
    /// The passes that lead to it from the level before, for the module.
    passes: &'static [&'static [Step]],
    /// The named pipeline that runs them.
    pipeline: &'static str,
    text: fn() -> String,
}

/// One pass of a level's pipeline.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// With its nesting, as in `func.func(cse)`.
    text: &'static str,
    /// The flag by which it may be left out, when it only makes programs faster.
    optional: Option<&'static str>,
}

/// Passes that ask how closely results follow the program.
const NUMERIC: &[&str] = &[
    "fold-scales",
    "fuse-attention",
    "pair-halves",
    "schedule-gpu",
    "share-reciprocals",
    "simplify-algebra",
    "simplify-sums",
    "split-scans",
    "winograd",
];

/// Runs when the runtime is to say where the time of a call goes.
const PROFILE: &str = "mark-launches";

/// Runs when the sizes of the call's inputs are told.
const SPECIALISE: &str = "func.func(specialise-sizes)";

const fn needed(text: &'static str) -> Step {
    Step { text, optional: None }
}

const fn optional(text: &'static str, flag: &'static str) -> Step {
    Step { text, optional: Some(flag) }
}

macro_rules! level {
    ($at:literal, $($rest:tt)*) => {
        level!(LEVELS, $at, $($rest)*)
    };
    ($list:ident, $at:literal, $name:literal, $description:literal, $pipeline:literal, $($shared:ident,)? [$($step:expr),* $(,)?]) => {
        Level {
            name: $name,
            description: $description,
            passes: &[$($shared,)? &[$($step),*]],
            pipeline: $pipeline,
            text: || $list[$at].text(&Options::default()),
        }
    };
}

/// From PyTorch's operators to `prim`, layer by layer.
const DECOMPOSE: &[Step] = &[
    needed("func.func(decompose-aten)"),
    needed("func.func(apply-dim-orders)"),
    optional("func.func(canonicalize)", "canonicalize"),
    optional("func.func(cse)", "cse"),
    optional("func.func(simplify-sizes)", "simplify-sizes"),
    optional("func.func(simplify-constants)", "simplify-constants"),
    optional("func.func(simplify-converts)", "simplify-converts"),
    optional("func.func(simplify-algebra)", "simplify-algebra"),
    optional("func.func(simplify-views)", "simplify-views"),
    optional("func.func(simplify-sums)", "simplify-sums"),
];

/// Layers that gain from what is around them go back to where they are called.
const BORDERS: Step = needed("inline-layers");

/// All layers go back: their kernels are made, and what follows shares and places those of the whole program.
const WHOLE: Step = needed("inline-layers{all}");

/// All levels on the road to the CPU, from the top.
pub const LEVELS: &[Level] = &[
    level!(0, "capture", "the program as it was captured", "strata-to-capture", [needed(SPECIALISE), needed("canonicalize")]),
    level!(
        1,
        "aten",
        "functional PyTorch operators",
        "strata-to-aten",
        [
            needed("split-breaks"),
            needed("func.func(functionalise)"),
            optional("cse", "cse"),
            optional("outline-regions", "outline-regions"),
        ]
    ),
    level!(
        2,
        "prim",
        "a small closed set of tensor operators",
        "strata-to-prim",
        DECOMPOSE,
        [
            optional("func.func(fuse-attention)", "fuse-attention"),
            optional("func.func(narrow-dots)", "narrow-dots"),
            BORDERS,
            optional("func.func(fold-scales)", "fold-scales"),
            optional("cse", "cse"),
            optional("func.func(channels-last)", "channels-last"),
            optional("func.func(simplify-views)", "simplify-views"),
            optional("cse", "cse"),
            // Its windows and transposes stand as kernels read them.
            optional("func.func(winograd)", "winograd"),
            optional("hoist-weights", "hoist-weights"),
        ]
    ),
    level!(
        3,
        "prim-fused",
        "one fusion per kernel",
        "strata-to-prim-fused",
        [optional("func.func(fuse-elementwise)", "fuse-elementwise"), optional("func.func(fuse-reductions)", "fuse-reductions"),]
    ),
    level!(4, "loop", "kernels of stages", "strata-to-loop", [needed("prim-to-loop"), optional("cse", "cse")]),
    level!(
        5,
        "loop-scheduled",
        "kernels with schedules for the target",
        "strata-to-loop-scheduled",
        [
            optional("narrow-indices", "narrow-indices"),
            optional("share-reciprocals", "share-reciprocals"),
            optional("split-reductions", "split-reductions"),
            optional("keep-rows", "keep-rows"),
            WHOLE,
            optional("cse", "cse"),
            optional("share-kernels", "share-kernels"),
            optional("pair-halves", "pair-halves"),
            optional("pack-operands", "pack-operands"),
            optional("hoist-weights", "hoist-weights"),
            optional("schedule-cpu", "schedule-cpu"),
        ]
    ),
    level!(
        6,
        "host",
        "buffers and launches",
        "strata-to-host",
        [needed("loop-to-host"), optional("cse", "cse"), optional("func.func(plan-memory)", "plan-memory"), needed(PROFILE)]
    ),
    level!(7, "cpu", "vector loops and the native entry", "strata-to-cpu", [needed("loop-to-cpu"), optional("cse", "cse")]),
];

/// The levels on the road to a CUDA device that are other than the CPU's of their name, or that the CPU has not.
pub const CUDA: &[Level] = &[
    level!(
        CUDA,
        0,
        "prim",
        "a small closed set of tensor operators",
        "strata-to-cuda-prim",
        DECOMPOSE,
        [
            optional("func.func(fuse-attention)", "fuse-attention"),
            optional("func.func(narrow-dots)", "narrow-dots"),
            BORDERS,
            optional("func.func(sort-by-ranks)", "sort-by-ranks"),
            optional("func.func(split-scans)", "split-scans"),
            optional("func.func(fold-scales)", "fold-scales"),
            optional("cse", "cse"),
            optional("hoist-weights", "hoist-weights"),
        ]
    ),
    level!(
        CUDA,
        1,
        "loop-scheduled",
        "kernels with schedules for the target",
        "strata-to-cuda-loop-scheduled",
        [
            optional("narrow-indices", "narrow-indices"),
            optional("share-reciprocals", "share-reciprocals"),
            optional("split-reductions{device}", "split-reductions"),
            WHOLE,
            optional("cse", "cse"),
            optional("schedule-gpu", "schedule-gpu")
        ]
    ),
    level!(
        CUDA,
        2,
        "gpu",
        "kernels of blocks and threads",
        "strata-to-gpu",
        [
            needed("loop-to-gpu"),
            // What stays with the host.
            optional("schedule-cpu", "schedule-cpu"),
            optional("cse", "cse"),
        ]
    ),
    level!(CUDA, 3, "nvvm", "kernels in LLVM's form, ready for PTX", "strata-to-nvvm", [needed("gpu-to-nvvm")]),
];

/// The levels from the top down to machine code for a target.
pub fn road(target: Target) -> Vec<&'static Level> {
    let shared = LEVELS.iter().filter(|level| level.name != "cpu");
    match target {
        Target::Cpu => LEVELS.iter().collect(),
        Target::Cuda(_) => {
            let own = |level: &'static Level| CUDA.iter().find(|own| own.name == level.name).unwrap_or(level);
            shared.map(own).chain(CUDA.iter().filter(|level| LEVELS.iter().all(|other| other.name != level.name))).collect()
        }
    }
}

/// The levels of every road, each once.
pub fn all_levels() -> impl Iterator<Item = &'static Level> {
    LEVELS.iter().chain(CUDA)
}

impl Level {
    /// The level of that name on a target's road.
    pub fn named(name: &str, target: Target) -> Option<&'static Level> {
        road(target).into_iter().find(|level| level.name == name)
    }

    /// The textual pipeline that leads here from the level before; empty when nothing runs.
    pub fn text(&self, options: &Options) -> String {
        let sizes = options.sizes.as_deref().unwrap_or_default();
        if self.name == "capture" && sizes.is_empty() {
            return String::new();
        }
        let skipped = |flag: &str| options.skip.iter().any(|skip| skip == flag);
        let kept = self
            .passes
            .iter()
            .copied()
            .flatten()
            .filter(|step| !step.optional.is_some_and(skipped) && (options.profile || step.text != PROFILE));
        let text = |step: &Step| match step.optional {
            _ if step.text == SPECIALISE => format!("func.func(specialise-sizes{{sizes={sizes}}})"),
            _ if step.text == "split-breaks" && !options.part.is_empty() => format!("split-breaks{{only={}}}", options.part),
            Some(flag) if NUMERIC.contains(&flag) => step.text.replace(flag, &format!("{flag}{{numerics={}}}", options.numerics)),
            _ => step.text.to_owned(),
        };
        kept.map(text).collect::<Vec<_>>().join(",")
    }

    /// Flags of all optimisation passes: programs stay right without any of them.
    pub fn optional_passes() -> Vec<&'static str> {
        let mut flags: Vec<_> =
            all_levels().flat_map(|level| level.passes.iter().copied().flatten()).filter_map(|step| step.optional).collect();
        flags.sort_unstable();
        flags.dedup();
        flags
    }

    /// The level's named pipeline.
    pub fn pipeline(&self) -> PipelineDef {
        PipelineDef { name: self.pipeline, description: self.description, text: self.text }
    }
}
