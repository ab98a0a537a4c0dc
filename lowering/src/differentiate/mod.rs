//! `--differentiate`: a program becomes its joint program, which computes gradients as well.
//!
//! Reverse mode. The joint program takes a cotangent for each output (inputs `cot_0`, `cot_1`, .. after all others) and gives the
//! program's outputs, the gradients of the arguments in `wrt`, then the mutations. It is an ordinary program: every later pass
//! reads it as any other, and it can be differentiated again: with `gradients` it is its gradients that have the cotangents.
//!
//! Each op has a row in the table of its family, which says how cotangents of its results become cotangents of its operands; an op
//! of another dialect brings its own ([`Gradient`]). Gradients are taken at `prim`. Operators whose gradient in PyTorch is another than
//! that of their decomposition (at ties, at 0, at a border) have a row at `aten`, and are kept until here:
//! `--decompose-aten=keep=..`, `--differentiate`, `--decompose-aten`.
//!
//! With `mode=jvp` it is forward mode: tangents of the arguments in `wrt` (inputs `tan_x`) become tangents of the outputs (`tan_0`).
//!
//! It refuses, at the op: what has no row, loops whose number of steps is not known, and random numbers inside of regions.
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = prim.exp %x : tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %g: tensor<4xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"}) -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes {capture.entry} {
//!   %0 = prim.exp %x : tensor<4xf32>
//!   %1 = prim.mul %g, %0 : tensor<4xf32>
//!   return %0, %1 : tensor<4xf32>, tensor<4xf32>
//! }
//! ```

mod forward;
mod own;
mod reverse;
mod rule;
mod signature;

mod aten;
mod contract;
mod control;
mod counted_loop;
mod custom;
mod factor;
mod index;
mod library;
mod order;
mod pointwise;
mod reduce;
mod view;

use std::collections::HashMap;
use std::sync::LazyLock;

use strata_core::ir::Op;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::aten::Operator;
use strata_dialects::aten::alias::meaning;
use strata_dialects::capture;

use signature::Seeds;

pub use own::Gradient;
pub use rule::{At, Cotangents, Point, Row, Rule};

/// All tables, by family.
pub static FAMILIES: &[(&str, &[&[Row]])] = &[
    ("pointwise", &[pointwise::ROWS]),
    ("view", &[view::ROWS]),
    ("reduce", &[reduce::ROWS]),
    ("contract", &[contract::ROWS]),
    ("index", &[index::ROWS]),
    ("order", &[order::ROWS]),
    ("library", &[library::ROWS]),
    ("control", &[control::ROWS]),
    ("custom", &[custom::ROWS]),
    ("aten", aten::ROWS),
];

/// The rows of all tables.
fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|(_, tables)| tables.iter().copied().flatten())
}

static ROWS: LazyLock<HashMap<&'static str, &'static Row>> = LazyLock::new(|| rows().map(|row| (row.name, row)).collect());

/// The row of an op, maybe under its other name.
fn row(op: Op<'_>) -> Option<&'static Row> {
    let name = Operator::of(op).map_or(op.name(), |operator| meaning(operator).name());
    ROWS.get(name).copied()
}

/// What `--decompose-aten` keeps before `--differentiate`: the operators of PyTorch that have a row of their own, and gradients of the user's.
pub fn kept() -> Vec<&'static str> {
    let operators = Operator::all().filter(|operator| ROWS.contains_key(meaning(*operator).name())).map(Operator::name);
    operators.chain([capture::CustomGradient::NAME]).collect()
}

/// Makes a program compute its gradients.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "capture", "scf", "aten"))]
pub struct Differentiate {
    /// The arguments to differentiate by, by name or as `in_0`, `in_1`, ..; those with `capture.requires_grad` where none is named.
    wrt: Vec<String>,
    /// The places of the outputs that have a cotangent; all outputs of floats where none is named.
    cotangents: Vec<i64>,
    /// Differentiate the gradients of a joint program once more: it is they that have a cotangent.
    gradients: bool,
    /// `vjp`: gradients of arguments from cotangents of outputs. `jvp`: tangents of outputs from tangents of arguments, also of a joint program.
    mode: String,
    /// Ops differentiated.
    differentiated: Counter,
}

impl Pass for Differentiate {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        let forward = match self.mode.as_str() {
            "" | "vjp" => false,
            "jvp" => true,
            other => return Err(Reason::Options(format!("mode={other}: there are vjp, gradients, and jvp, tangents")).at(op)),
        };
        if forward && forward::is_joint(op) {
            self.differentiated.add(forward::forward(op)?);
            return Ok(());
        }
        let seeds = if self.gradients { Seeds::Gradients } else { Seeds::Outputs(&self.cotangents) };
        let count = signature::joint(op, &self.wrt, seeds)?;
        self.differentiated.add(count + if forward { forward::forward(op)? } else { 0 });
        Ok(())
    }
}

/// Why a program is not differentiated.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The op has no row.
    #[error("has no gradient; take it out of the gradient with `detach()`, or add a row to lowering/src/differentiate")]
    NoRow,
    /// An operator that was to be decomposed.
    #[error("has no gradient of its own; run --decompose-aten first, which keeps those that have one with keep=..")]
    NotDecomposed,
    /// The row cannot do what the op asks for.
    #[error("has no gradient here: {0}")]
    Row(String),
    /// The options name what is not there.
    #[error("{0}")]
    Options(String),
}

impl Reason {
    /// The error of a pass, at an op.
    fn at(self, op: Op<'_>) -> PassError {
        PassError::at(op, &self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_has_one_row() {
        assert_eq!(rows().count(), ROWS.len());
    }

    #[test]
    fn every_row_says_its_formula() {
        for row in rows() {
            assert!(row.doc.trim().len() > 3, "{}", row.name);
        }
    }
}
