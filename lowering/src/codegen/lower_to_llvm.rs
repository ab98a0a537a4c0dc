//! The last MLIR stage: everything becomes the llvm dialect.

use super::{Error, emulate_bf16, simplify};
use crate::expand_math::expand_math;
use crate::target::{MathTarget, Target};
use std::collections::BTreeSet;
use std::sync::Once;
use strata_core::ir::{Cx, Op};
use strata_core::pass::{Pass, PassContext, PassError, PassManager};
use strata_core::registry::Registry;
use strata_core::upstream::arith;

/// Lowers vector loops to the llvm dialect by MLIR's conversions, mathematics included.
#[derive(Pass)]
#[pass(dependents("affine", "arith", "cf", "func", "llvm", "math", "memref", "scf", "tensor", "vector"))]
pub struct LowerToLlvm;

impl Pass for LowerToLlvm {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut run = |passes: &str| cx.run_pipeline(op, passes).map_err(|error| Error::Lower { diagnostics: error.to_string() });
        let lowered = lower(op, &MathTarget::of(&Target::of(op)?), &mut run);
        lowered.map_err(|error| PassError::new(error.to_string()))
    }
}

/// Lowers a module of `func`, `scf`, `cf`, `arith`, `math`, `complex`, `vector`, `index` and `memref` ops, mixed
/// with `llvm` ops, to the llvm dialect.
pub fn lower_to_llvm(module: Op<'_>, math: &MathTarget) -> Result<(), Error> {
    static PASSES: Once = Once::new();
    PASSES.call_once(|| drop(Registry::new().with_upstream_passes()));
    load_dialects(module.cx());
    let mut run = |passes: &str| {
        let manager = PassManager::parse(module.cx(), module.name(), passes).map(|manager| manager.verify_each(cfg!(debug_assertions)));
        manager.and_then(|manager| manager.run(module)).map_err(|error| Error::Lower { diagnostics: error.to_string() })
    };
    lower(module, math, &mut run)
}

/// Only the passes run that the module has ops for: an upstream pass costs about 0.2 ms even when it finds nothing.
pub(crate) fn lower(module: Op<'_>, math: &MathTarget, run: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
    if Content::of(module).has_dialect("complex") {
        run("convert-complex-to-standard")?;
    }
    expand_math(module, math)?;
    simplify::simplify(module, math);
    if !math.bf16 {
        emulate_bf16::emulate_bf16(module);
    } else if math.vector_bits > 0 {
        emulate_bf16::round_scalars(module);
    }
    let content = Content::of(module);
    let mut list = Vec::new();
    if content.has_dialect("scf") {
        list.push("convert-scf-to-cf");
    }
    if content.has_dialect("memref") {
        list.extend(["expand-strided-metadata", "lower-affine"]);
    }
    if content.ops.iter().any(|name| NEEDS_ARITH_EXPAND.contains(&name.as_str())) {
        // A CPU that has an instruction for it rounds to bf16 by that.
        list.push(if math.bf16 && math.vector_bits > 0 { "arith-expand" } else { "arith-expand{include-bf16=true}" });
    }
    if content.has_dialect("vector") {
        list.push("convert-vector-to-llvm");
    }
    if content.has_dialect("memref") {
        list.push("finalize-memref-to-llvm");
    }
    list.extend(["convert-to-llvm", "reconcile-unrealized-casts"]);
    run(&list.join(","))
}

/// Contexts load dialects as they parse them; these are made here.
fn load_dialects(cx: Cx<'_>) {
    for name in ["arith", "func", "llvm", "math", "scf", "vector"] {
        cx.load_dialect(name);
    }
}

/// Ops that LLVM has no instruction for, or only with a library call (conversions of bf16).
const NEEDS_ARITH_EXPAND: &[&str] = &[
    arith::CeilDivSI::NAME,
    arith::CeilDivUI::NAME,
    arith::ExtF::NAME,
    arith::FloorDivSI::NAME,
    arith::MaximumF::NAME,
    arith::MaxNumF::NAME,
    arith::MinimumF::NAME,
    arith::MinNumF::NAME,
    arith::TruncF::NAME,
];

/// Which ops a module has.
struct Content {
    ops: BTreeSet<String>,
}

impl Content {
    fn of(module: Op<'_>) -> Self {
        let mut ops = BTreeSet::new();
        module.walk(&mut |op| {
            if !ops.contains(op.name()) {
                ops.insert(op.name().to_owned());
            }
        });
        Self { ops }
    }

    fn has_dialect(&self, dialect: &str) -> bool {
        self.ops.iter().any(|name| name.strip_prefix(dialect).is_some_and(|rest| rest.starts_with('.')))
    }
}
