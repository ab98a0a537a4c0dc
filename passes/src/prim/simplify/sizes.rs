//! `--simplify-sizes`: says each size by what it was computed from.
//!
//! Exactly when: `prim.dim` of a tensor whose size the analysis `Dims` knows as an expression of values that are there already is that
//! expression. So a tensor that is only asked for its size needs not be in memory, which is what fusion wants.
//! Refused: sizes that the tensor itself is the only source of.
//!
//! ```mlir
//! func.func @f(%x: tensor<?xf32>) -> index {
//!   %0 = prim.sin %x : (tensor<?xf32>) -> tensor<?xf32>
//!   %1 = prim.dim %0 {dim = 0 : i64} : (tensor<?xf32>) -> index
//!   return %1 : index
//! }
//! // becomes
//! func.func @f(%x: tensor<?xf32>) -> index {
//!   %0 = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
//!   return %0 : index
//! }
//! ```

use super::rewriter::{BuildSized, Simplified, SizedPatterns, SizedRewriter, simplification};
use crate::analysis::Symbol;
use strata_core::ir::Op;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::prim;

simplification! {
    /// Says each size by what it was computed from.
    pub struct SimplifySizes: dependents("prim", "arith");
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Dim>("known-size", 1, known_size);
}

/// dim(x, i) = what the analysis says it is.
fn known_size<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    let sizes = rewriter.analysis().sizes(x);
    let Some(size) = op.int("dim").and_then(|dim| usize::try_from(dim).ok()).and_then(|dim| sizes.get(dim)) else {
        return Err("no such dimension".into());
    };
    let mut inputs = Vec::new();
    rewriter.analysis().inputs(size, &mut inputs);
    if inputs.iter().any(|input| matches!(input, Symbol::Size(tensor, _) if *tensor == x) || *input == Symbol::Value(op.result(0))) {
        return Err("the tensor is the only source of this size".into());
    }
    if !rewriter.analysis().is_available(size, op) {
        return Err("the size comes from a value that is not there yet".into());
    }
    let size = size.clone();
    Ok(rewriter.emit(&size))
}
