//! `--outline-regions`: the layers of a flat program become private functions; equal layers become one function.
//!
//! Exactly where operations say in their location that they were captured in a numbered module (`encoder.layer.3.attention`): the
//! importer takes this from the export's `nn_module_stack`. Of the numbered modules around an operation the outermost one is
//! outlined that has an equal sibling, and with it its siblings that are not equal to any other (one layer that was edited).
//! A function none of whose operations names such a module is searched for operations that come again in the same order, eight
//! or more; these are its layers.
//! What a layer reads from outside are the function's arguments in the order of first use, weights among them; so layers are
//! equal when their operations, attributes and types are, whatever their weights are called.
//! Refused, with a remark: a layer through which the program runs more than once, and symbolic sizes, of which the function would
//! know less than its caller, and effects whose order would change. Small layers stay where they are. `--inline` takes functions back.
//!
//! ```mlir
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = aten.neg %x : tensor<4xf32> loc("neg"("layers.0"(unknown)))
//!   %1 = aten.exp %0 : tensor<4xf32> loc("exp"("layers.0"(unknown)))
//!   %2 = aten.sin %1 : tensor<4xf32> loc("sin"("layers.0"(unknown)))
//!   %3 = aten.cos %2 : tensor<4xf32> loc("cos"("layers.0"(unknown)))
//!   %4 = aten.neg %3 : tensor<4xf32> loc("neg_1"("layers.1"(unknown)))
//!   %5 = aten.exp %4 : tensor<4xf32> loc("exp_1"("layers.1"(unknown)))
//!   %6 = aten.sin %5 : tensor<4xf32> loc("sin_1"("layers.1"(unknown)))
//!   %7 = aten.cos %6 : tensor<4xf32> loc("cos_1"("layers.1"(unknown)))
//!   return %7 : tensor<4xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = call @layers.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = call @layers.0(%0) : (tensor<4xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! func.func private @layers.0(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = aten.neg %arg0 : tensor<4xf32>
//!   %1 = aten.exp %0 : tensor<4xf32>
//!   %2 = aten.sin %1 : tensor<4xf32>
//!   %3 = aten.cos %2 : tensor<4xf32>
//!   return %3 : tensor<4xf32>
//! }
//! ```

mod function;
mod region;
mod repeats;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use function::Weights;
use region::{Modules, Refusal, Region};
use strata_core::ir::{Builder, Op};
use strata_core::likeness::Likeness;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::upstream::func;
use strata_dialects::capture::is_part;

/// Makes functions of repeated modules.
#[derive(Pass)]
#[pass(dependents("func"))]
pub struct OutlineRegions {
    /// Layers of fewer operations stay where they are.
    #[option(default = 4)]
    min_ops: i64,
    /// Layers that became calls.
    calls: Counter,
    /// Functions that they call.
    functions: Counter,
}

impl Pass for OutlineRegions {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        for entry in module.body(0).ops().into_iter().filter(|op| op.isa::<func::Func>() && is_part(*op)) {
            let (calls, functions) = self.outline(module, entry, cx.remarks());
            self.calls.add(calls);
            self.functions.add(functions);
        }
        Ok(())
    }
}

/// A module of the captured program that might become a function.
struct Candidate<'c> {
    modules: Modules<'c>,
    /// What it consists of: equal candidates have equal functions.
    like: Rc<Likeness<'c>>,
}

impl OutlineRegions {
    /// Gives the numbers of calls and of functions.
    fn outline<'c>(&self, module: Op<'c>, entry: Op<'c>, remarks: Remarks) -> (usize, usize) {
        let refused = |modules: &Modules<'c>, reason: Refusal| {
            remarks.missed(modules.ops[0], format_args!("'{}' is not outlined: {reason}", modules.name));
        };
        let (mut candidates, weights) = (Vec::new(), Weights::of(entry));
        let named = region::modules(entry);
        let layers = if named.is_empty() { repeats::repeats(entry) } else { named };
        for modules in layers.into_iter().filter(|modules| modules.ops.len() as i64 >= self.min_ops) {
            match Region::of(entry, &modules.ops) {
                Ok(region) => candidates.push(Candidate { like: Rc::new(function::likeness(&region, &weights)), modules }),
                Err(reason) => refused(&modules, reason),
            }
        }
        let mut symbols: HashMap<Rc<Likeness<'c>>, String> = HashMap::new();
        let mut calls = 0;
        for candidate in choose(candidates) {
            // Layers that became calls before may stand between the operations of this one.
            let region = match Region::of(entry, &candidate.modules.ops) {
                Ok(region) => region,
                Err(reason) => {
                    refused(&candidate.modules, reason);
                    continue;
                }
            };
            let symbol = symbols.entry(candidate.like).or_insert_with(|| {
                let symbol = fresh(module, &candidate.modules.name);
                function::make(&mut Builder::at_end(module.body(0), entry.location()), &region, &weights, &symbol);
                symbol
            });
            region.call(symbol);
            calls += 1;
        }
        (calls, symbols.len())
    }
}

/// The candidates to outline, in the order of the program: no operation is in two of them.
fn choose(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let mut times: HashMap<Rc<Likeness<'_>>, usize> = HashMap::new();
    candidates.iter().for_each(|candidate| *times.entry(candidate.like.clone()).or_default() += 1);
    let repeated: Vec<bool> = candidates.iter().map(|candidate| times[&candidate.like] > 1).collect();
    // The outermost first; among modules of one depth none is in another.
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&at| candidates[at].modules.depth);
    let (mut taken, mut kinds, mut chosen) = (HashSet::new(), HashSet::new(), vec![false; candidates.len()]);
    for siblings in [false, true] {
        for &at in &order {
            let Modules { ops, kind, .. } = &candidates[at].modules;
            let wanted = if siblings { kinds.contains(kind) } else { repeated[at] };
            if wanted && !chosen[at] && ops.iter().all(|op| !taken.contains(op)) {
                taken.extend(ops.iter().copied());
                kinds.insert(kind.clone());
                chosen[at] = true;
            }
        }
    }
    candidates.into_iter().zip(chosen).filter_map(|(candidate, chosen)| chosen.then_some(candidate)).collect()
}

/// The name, or one with a number where it is taken.
fn fresh(module: Op<'_>, name: &str) -> String {
    let numbered = (1..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| module.lookup_symbol(name).is_none());
    free.unwrap_or_default()
}
