//! The pipelines of a target: the passes that lead to each level from the one before, in one list.

use crate::levels::Level;
use crate::options::{Options, Target};
use crate::pass_list::Nest;
use strata_core::pass::{Addition, PipelineDef};
use strata_core::registry::Registry;
use strata_core::upstream::func;
use strata_lowering::differentiate;

/// The passes that lead to a level from the one before.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// The level.
    pub level: Level,
    /// Its name as a pipeline of `rs-opt`.
    pub name: &'static str,
    /// In order, in groups that pipelines share.
    steps: &'static [&'static [Step]],
    /// Its text without options.
    text: fn(&Registry) -> String,
    /// The names of its passes.
    names: fn() -> Vec<&'static str>,
}

/// One pass of a pipeline.
#[derive(Clone, Copy, Debug)]
struct Step {
    pass: &'static str,
    on: Nest,
    setting: Setting,
    /// Whether programs are right without it: it may be left out.
    optional: bool,
}

/// Where the options of a pass come from, or whether it runs at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// It has none, or these.
    Fixed(&'static str),
    /// How closely results follow the program.
    Numerics,
    /// The part of a divided program that is compiled.
    Part,
    /// The sizes of the call's inputs; it runs where they are told.
    Sizes,
    /// It has none, and runs where sizes are told.
    WithSizes,
    /// What is differentiated by; it runs where gradients are asked for.
    Gradient,
    /// The operators that have a gradient of their own; it runs where gradients are asked for.
    Kept,
    /// The same, where gradients are differentiated once more.
    KeptAgain,
    /// What gradients are differentiated by; it runs where gradients of gradients are asked for.
    Again,
    /// The type that is computed in; it runs where that is asked for.
    Autocast,
    /// The optimizer; it runs where a step of training is asked for.
    Train,
    /// It has none, and runs where no gradients are asked for.
    Forward,
    /// What may be saved for a backward; it runs where that is asked for.
    Rematerialise,
    /// The program of the pair; it runs where one is asked for.
    Half,
    /// It runs where the runtime is to say where the time of a call goes.
    Profile,
}

impl Step {
    const fn new(pass: &'static str, on: Nest) -> Step {
        Step { pass, on, setting: Setting::Fixed(""), optional: false }
    }

    const fn with(self, setting: Setting) -> Step {
        Step { setting, ..self }
    }

    /// A pass that only makes programs faster.
    const fn optional(self) -> Step {
        Step { optional: true, ..self }
    }

    /// The pass with its options; nothing where it does not run.
    fn text(&self, options: &Options) -> Option<String> {
        if self.optional && options.skip.iter().any(|skip| skip == self.pass) {
            return None;
        }
        let set = match self.setting {
            Setting::Fixed(set) => set.to_owned(),
            Setting::Numerics => format!("numerics={}", options.numerics),
            Setting::Part if options.part.is_empty() => String::new(),
            Setting::Part => format!("only={}", options.part),
            Setting::Sizes => format!("sizes={}", options.sizes.as_deref().filter(|sizes| !sizes.is_empty())?),
            Setting::WithSizes => options.sizes.as_deref().filter(|sizes| !sizes.is_empty()).map(|_| String::new())?,
            Setting::Gradient => options.gradient()?.text(),
            Setting::Kept => options.gradient().map(|_| format!("keep={}", differentiate::kept().join(",")))?,
            Setting::KeptAgain => options.gradient()?.again().map(|_| format!("keep={}", differentiate::kept().join(",")))?,
            Setting::Again => options.gradient()?.again()?,
            Setting::Autocast => format!("dtype={}", options.autocast?),
            Setting::Train => options.train_step()?,
            Setting::Forward if options.gradient().is_some() => return None,
            Setting::Forward => String::new(),
            Setting::Rematerialise => options.rematerialise.clone()?.replace(',', " "),
            Setting::Half => format!("only={}", options.gradient.as_ref()?.half?),
            Setting::Profile if !options.profile => return None,
            Setting::Profile => String::new(),
        };
        Some(if set.is_empty() { self.pass.to_owned() } else { format!("{}{{{set}}}", self.pass) })
    }
}

/// A pass that must run, on the module.
const fn module(pass: &'static str) -> Step {
    Step::new(pass, Nest::Module)
}

/// A pass that must run, on each function.
const fn each(pass: &'static str) -> Step {
    Step::new(pass, Nest::Functions)
}

macro_rules! pipeline {
    ($list:ident[$at:literal] $level:ident $name:literal $($shared:ident +)? [$($step:expr),* $(,)?]) => {
        Pipeline {
            level: Level::$level,
            name: $name,
            steps: &[$($shared,)? &[$($step),*]],
            text: |registry| $list[$at].text(registry, &Options::default()),
            names: || $list[$at].steps().map(|step| step.pass).collect(),
        }
    };
}

/// From PyTorch's operators to `prim`, layer by layer.
const DECOMPOSE: &[Step] = &[
    each("decompose-aten").with(Setting::Kept),
    each("differentiate").with(Setting::Gradient),
    each("decompose-aten").with(Setting::KeptAgain),
    each("differentiate").with(Setting::Again),
    each("train-step").with(Setting::Train),
    each("decompose-aten"),
    // Before any pass takes in that sizes which must be equal are.
    each("guard-sizes"),
    each("apply-dim-orders"),
    each("canonicalize").optional(),
    each("cse").optional(),
    each("simplify-sizes").optional(),
    each("simplify-constants").optional(),
    each("simplify-converts").optional(),
    each("simplify-algebra").with(Setting::Numerics).optional(),
    each("simplify-views").optional(),
    each("simplify-sums").with(Setting::Numerics).optional(),
    each("fuse-attention").with(Setting::Numerics).optional(),
    each("narrow-dots").optional(),
    // Layers that gain from what is around them go back to where they are called.
    module("inline-layers"),
];

/// All layers go back: their kernels are made, and what follows shares and places those of the whole program.
const WHOLE: Step = module("inline-layers").with(Setting::Fixed("all"));

/// The pipelines to the CPU, from the top.
const CPU: &[Pipeline] = &[
    pipeline!(CPU[0] Capture "strata-to-capture" [
        each("specialise-sizes").with(Setting::Sizes),
        module("canonicalize").with(Setting::WithSizes),
        each("specialise-zero-points").optional(),
    ]),
    pipeline!(CPU[1] Aten "strata-to-aten" [
        module("split-breaks").with(Setting::Part),
        each("autocast").with(Setting::Autocast),
        each("functionalise"),
        module("cse").optional(),
        // Layers are differentiated where they are called.
        module("outline-regions").with(Setting::Forward).optional(),
    ]),
    pipeline!(CPU[2] Prim "strata-to-prim" DECOMPOSE + [
        each("integer-products").with(Setting::Numerics).optional(),
        each("guard-indices").optional(),
        each("fold-scales").with(Setting::Numerics).optional(),
        each("split-phases").optional(),
        module("cse").optional(),
        each("channels-last").optional(),
        each("simplify-views").optional(),
        module("cse").optional(),
        // Its windows and transposes stand as kernels read them.
        each("winograd").with(Setting::Numerics).optional(),
        each("fold-channels").optional(),
        // What is the same is shared no more behind it.
        each("rematerialise").with(Setting::Rematerialise),
        module("split-joint").with(Setting::Half),
        module("hoist-weights").optional(),
    ]),
    pipeline!(CPU[3] PrimFused "strata-to-prim-fused" [each("fuse-elementwise").optional(), each("fuse-reductions").optional()]),
    pipeline!(CPU[4] Loop "strata-to-loop" [module("prim-to-loop"), module("cse").optional()]),
    pipeline!(CPU[5] LoopScheduled "strata-to-loop-scheduled" [
        // Layers that are written alike are one kernel to all that follows.
        module("share-kernels").optional(),
        module("narrow-indices").optional(),
        module("share-reciprocals").with(Setting::Numerics).optional(),
        module("split-reductions").optional(),
        module("keep-rows").optional(),
        WHOLE,
        module("cse").optional(),
        module("share-kernels").optional(),
        module("pair-halves").with(Setting::Numerics).optional(),
        module("quad-bytes").optional(),
        module("pack-operands").optional(),
        module("turn-operands").optional(),
        // Kernels that read one weight in one order read one copy of it.
        module("share-kernels").optional(),
        module("cse").optional(),
        module("hoist-invariants").optional(),
        module("hoist-weights").optional(),
        module("expand-complex").optional(),
        module("schedule-cpu").optional(),
        module("write-in-place").optional(),
        module("copy-ahead").optional(),
    ]),
    pipeline!(CPU[6] Host "strata-to-host" [
        module("loop-to-host"),
        module("cse").optional(),
        each("plan-memory").optional(),
        module("mark-launches").with(Setting::Profile),
    ]),
    pipeline!(CPU[7] Cpu "strata-to-cpu" [module("loop-to-cpu"), module("cse").optional()]),
];

/// The pipelines to a CUDA device that are other than the CPU's, or that the CPU has not.
const CUDA: &[Pipeline] = &[
    pipeline!(CUDA[0] Prim "strata-to-cuda-prim" DECOMPOSE + [
        each("sort-by-ranks").optional(),
        each("positions-by-scan").optional(),
        each("split-scans").with(Setting::Numerics).optional(),
        each("fold-scales").with(Setting::Numerics).optional(),
        module("cse").optional(),
        each("rematerialise").with(Setting::Rematerialise),
        module("split-joint").with(Setting::Half),
        module("hoist-weights").optional(),
    ]),
    pipeline!(CUDA[1] LoopScheduled "strata-to-cuda-loop-scheduled" [
        module("narrow-indices").optional(),
        module("share-reciprocals").with(Setting::Numerics).optional(),
        module("split-reductions").with(Setting::Fixed("device")).optional(),
        WHOLE,
        module("cse").optional(),
        module("schedule-gpu").with(Setting::Numerics).optional(),
    ]),
    pipeline!(CUDA[2] Gpu "strata-to-gpu" [
        module("loop-to-gpu"),
        // What stays with the host.
        module("schedule-cpu").optional(),
        module("cse").optional(),
    ]),
    pipeline!(CUDA[3] Nvvm "strata-to-nvvm" [module("gpu-to-nvvm")]),
];

/// The pipelines from the top down to machine code for a target.
pub fn pipelines(target: Target) -> Vec<&'static Pipeline> {
    match target {
        Target::Cpu => CPU.iter().collect(),
        Target::Cuda(_) => {
            let own = |level: Level| CUDA.iter().find(|own| own.level == level);
            let shared = CPU.iter().filter(|shared| shared.level < Level::Cpu);
            let added = CUDA.iter().filter(|own| own.level > Level::Cpu);
            shared.map(|shared| own(shared.level).unwrap_or(shared)).chain(added).collect()
        }
    }
}

/// The pipeline to a level on the way to a target.
pub fn pipeline_to(level: Level, target: Target) -> Option<&'static Pipeline> {
    pipelines(target).into_iter().find(|pipeline| pipeline.level == level)
}

/// The pipelines of all targets, each once.
pub fn all_pipelines() -> impl Iterator<Item = &'static Pipeline> {
    CPU.iter().chain(CUDA)
}

/// Flags of the optimisation passes on the way to a target, ours and those that the registry adds: programs stay right without any of them.
pub fn optional_passes(registry: &Registry, target: Target) -> Vec<&'static str> {
    let mut flags: Vec<_> = pipelines(target).into_iter().flat_map(|pipeline| pipeline.optional(registry)).collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}

impl Pipeline {
    fn steps(&self) -> impl Iterator<Item = &'static Step> + use<> {
        self.steps.iter().copied().flatten()
    }

    /// Flags of the passes that may be left out.
    pub fn optional<'r>(&self, registry: &'r Registry) -> impl Iterator<Item = &'static str> + use<'r> {
        let name = self.name;
        let ours = self.steps().filter(|step| step.optional).map(|step| step.pass);
        ours.chain(registry.additions().iter().filter(move |addition| addition.pipeline == name).map(Addition::name))
    }

    /// The passes that run with these options, with those that the registry adds: where each runs, and its text.
    pub fn passes(&self, registry: &Registry, options: &Options) -> Vec<(Nest, String)> {
        let mut passes: Vec<_> = self.steps().map(|step| (step.pass, step.on, step.text(options))).collect();
        // What runs behind the same pass keeps its order, since each is put before those that were added earlier.
        for addition in registry.additions().iter().rev().filter(|addition| addition.pipeline == self.name) {
            let last = passes.iter().rposition(|(pass, ..)| *pass == addition.behind);
            let text = (!options.skip.iter().any(|skip| skip == addition.name())).then(|| addition.pass.to_owned());
            passes.insert(last.map_or(passes.len(), |last| last + 1), (addition.pass, nest_of(registry, addition), text));
        }
        passes.into_iter().filter_map(|(_, on, text)| Some((on, text?))).collect()
    }

    /// As a textual pipeline; empty when nothing runs.
    pub fn text(&self, registry: &Registry, options: &Options) -> String {
        self.passes(registry, options).into_iter().map(|(on, pass)| on.around(&pass)).collect::<Vec<_>>().join(",")
    }

    /// As a pipeline of `rs-opt`.
    pub fn definition(&self) -> PipelineDef {
        PipelineDef { name: self.name, description: self.level.description(), text: self.text, passes: self.names }
    }
}

/// Where a pass that was added runs: on what it is anchored at. Passes of MLIR's, which any op may have, run on the module.
fn nest_of(registry: &Registry, addition: &Addition) -> Nest {
    let def = registry.passes().iter().map(|entry| entry.def).find(|def| def.argument == addition.name());
    def.filter(|def| def.anchor == func::Func::NAME).map_or(Nest::Module, |_| Nest::Functions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass_list::nest;

    #[test]
    fn every_pass_is_one_that_there_is() {
        for step in all_pipelines().flat_map(Pipeline::steps) {
            assert!(nest(crate::standard(), step.pass).is_some(), "{}", step.pass);
        }
    }

    #[test]
    fn options_reach_their_passes() {
        let text = |options: &Options| {
            pipelines(Target::Cpu).into_iter().map(|pipeline| pipeline.text(crate::standard(), options)).collect::<Vec<_>>()
        };
        assert_eq!(text(&Options::default())[0], "func.func(specialise-zero-points)");
        let sizes = Options { sizes: Some("4x8:3".into()), ..Options::default() };
        assert_eq!(text(&sizes)[0], "func.func(specialise-sizes{sizes=4x8:3}),canonicalize,func.func(specialise-zero-points)");
        let part = Options { part: "main".into(), skip: vec!["cse".into()], profile: true, ..Options::default() };
        assert_eq!(text(&part)[1], "split-breaks{only=main},func.func(functionalise),outline-regions");
        assert_eq!(text(&part)[6], "loop-to-host,func.func(plan-memory),mark-launches");
        assert!(text(&part)[2].contains("func.func(simplify-sums{numerics=ulp})"));
    }

    #[test]
    fn passes_are_added_where_the_registry_says() {
        let registry = crate::registry().with_pass_in("strata-to-prim-fused", "fuse-elementwise", "simplify-views");
        let registry = registry.with_pass_in("strata-to-prim-fused", "fuse-elementwise", "symbol-dce");
        let text = |skip: &[&str]| {
            let options = Options { skip: skip.iter().map(|skip| (*skip).to_owned()).collect(), ..Options::default() };
            pipeline_to(Level::PrimFused, Target::Cpu).map(|pipeline| pipeline.text(&registry, &options)).unwrap_or_default()
        };
        let added = "func.func(simplify-views),symbol-dce,func.func(fuse-reductions)";
        assert_eq!(text(&[]), format!("func.func(fuse-elementwise),{added}"));
        // What is left out stands for the place of others all the same.
        assert_eq!(text(&["fuse-elementwise"]), added);
        assert_eq!(text(&["symbol-dce", "fuse-reductions"]), "func.func(fuse-elementwise),func.func(simplify-views)");
        assert!(optional_passes(&registry, Target::Cpu).contains(&"symbol-dce"));
        let cuda: Target = "cuda:sm_90".parse().expect("an architecture");
        assert!(
            optional_passes(&registry, cuda).contains(&"schedule-gpu")
                && !optional_passes(&registry, Target::Cpu).contains(&"schedule-gpu")
        );
    }
}
