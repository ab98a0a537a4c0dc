//! `--functionalise`: operators that write to their arguments become operators that give new values.
//!
//! Every tensor is a view of a base: the value that owns the storage, and a chain of view operators. A write to a
//! view makes a new value for the whole base, by undoing the chain from the end (`select_scatter` for `select`, the
//! inverse permutation for `permute`, ...); whoever reads another view of that base later reads it from the new
//! value. New values of an entry's arguments become results of kind `mutation`.
//!
//! `as_strided` and its kin count in the storage of their operand: they are given the base, in the order of its storage.
//!
//! It refuses, with an error at the op: a write through a view that cannot be undone, a write from inside a region to
//! a tensor outside of it, an operator that has no functional counterpart, and `as_strided` of a storage of which more
//! or less than the base is not known.
//! A view operator with the attribute `capture.copies` made a copy when the program was captured.
//!
//! ```mlir
//! func.func @main(%x: tensor<2x3xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = aten.clone %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//!   %1 = aten.select.int %0 {dim = 0 : i64, index = 1 : i64} : (tensor<2x3xf32>) -> tensor<3xf32>
//!   %2 = aten.relu_ %1 : (tensor<3xf32>) -> tensor<3xf32>
//!   return %0 : tensor<2x3xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<2x3xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = aten.clone %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//!   %1 = aten.select.int %0 {dim = 0 : i64, index = 1 : i64} : (tensor<2x3xf32>) -> tensor<3xf32>
//!   %2 = aten.relu %1 : (tensor<3xf32>) -> tensor<3xf32>
//!   %3 = aten.select_scatter %0, %2 {dim = 0 : i64, index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//!   return %3 : tensor<2x3xf32>
//! }
//! ```

mod alias;
mod counterpart;
mod entry;
mod norm;
mod storage;
mod undo;
mod write;

use strata_core::ir::{Block, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::Operator;
use strata_dialects::aten::storage::shares;

use alias::Aliases;

/// Turns operators that write to their arguments into operators that give new values.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("aten"))]
pub struct Functionalise {
    /// Arguments of entries whose new values became results.
    mutations: Counter,
}

impl Pass for Functionalise {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mutations = functionalise(op, &mut cx.rewriter()).map_err(|(at, refusal)| PassError::at(at, &refusal))?;
        self.mutations.add(mutations);
        Ok(())
    }
}

/// Why an op cannot be made functional, for a diagnostic at it.
type Refusal = String;

/// Makes a function functional; gives the number of arguments whose new values became results.
fn functionalise<'c>(function: Op<'c>, rewriter: &mut Rewriter<'c>) -> Result<usize, (Op<'c>, Refusal)> {
    let Some(entry) = function.regions().first().and_then(|region| region.entry()) else { return Ok(0) };
    let mut aliases = Aliases::default();
    block(entry, &mut aliases, rewriter)?;
    if aliases.asked {
        storage::forget(function, rewriter);
    }
    entry::mutations(function, entry, &aliases, rewriter).map_err(|refusal| (function, refusal))
}

/// Works through a block in order; regions see the tensors of the blocks around them.
fn block<'c>(block: Block<'c>, aliases: &mut Aliases<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), (Op<'c>, Refusal)> {
    for op in block.ops() {
        rewriter.go_before(op);
        let blame = |refusal| (op, refusal);
        match Operator::of(op).map(Operator::schema) {
            Some(schema) if schema.is_mutable() => write::make_functional(op, schema, aliases, rewriter).map_err(blame)?,
            Some(_) if norm::updates_statistics(op) => norm::make_functional(op, aliases, rewriter).map_err(blame)?,
            Some(schema) if schema.addresses_storage() => {
                storage::give_storage(op, schema, schema.operator(), aliases, rewriter).map_err(blame)?;
            }
            Some(schema) if shares(op, schema) => {
                let source = op.operand(0);
                aliases.refresh_operands(op, rewriter);
                aliases.add_view(source, schema.operator(), op);
            }
            _ => {
                aliases.refresh_operands(op, rewriter);
                for region in op.regions() {
                    for nested in region.blocks() {
                        self::block(nested, aliases, rewriter)?;
                    }
                }
            }
        }
    }
    Ok(())
}
