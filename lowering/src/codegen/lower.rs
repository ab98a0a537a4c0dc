//! The last MLIR stage: everything becomes the llvm dialect.

use super::{Error, passes, simplify};
use crate::expand_math::{MathTarget, expand_math};
use std::collections::BTreeSet;
use strata_core::ir::Op;

/// Lowers a module of `func`, `scf`, `cf`, `arith`, `math`, `complex`, `vector`, `index` and `memref` ops, mixed
/// with `llvm` ops, to the llvm dialect.
///
/// Only the passes run that the module has ops for: an upstream pass costs about 0.2 ms even when it finds nothing.
pub fn lower_to_llvm(module: Op<'_>, math: &MathTarget) -> Result<(), Error> {
    let before = Content::of(module);
    if before.has_dialect("complex") {
        passes::run(module, &["convert-complex-to-standard"])?;
    }
    expand_math(module, math)?;
    simplify::simplify(module);
    let content = Content::of(module);
    let mut list = Vec::new();
    if content.has_dialect("scf") {
        list.push("convert-scf-to-cf");
    }
    if content.has_dialect("memref") {
        list.extend(["expand-strided-metadata", "lower-affine"]);
    }
    if content.ops.iter().any(|name| NEEDS_ARITH_EXPAND.contains(&name.as_str())) {
        list.push("arith-expand{include-bf16=true}");
    }
    if content.has_dialect("vector") {
        list.push("convert-vector-to-llvm");
    }
    if content.has_dialect("memref") {
        list.push("finalize-memref-to-llvm");
    }
    list.extend(["convert-to-llvm", "reconcile-unrealized-casts"]);
    passes::run(module, &list)
}

/// Ops that LLVM has no instruction for, or only with a library call (conversions of bf16).
const NEEDS_ARITH_EXPAND: &[&str] = &[
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.extf",
    "arith.floordivsi",
    "arith.maximumf",
    "arith.maxnumf",
    "arith.minimumf",
    "arith.minnumf",
    "arith.truncf",
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
