//! `--inline-layers`: layers that are functions go back to where they are called, those that gain from what stands around them.
//!
//! A layer stays a function where its kernels would be the same in the program around it; then it is compiled once, however often it
//! is called. It goes back, with a remark (`remarks`), where
//! - it has a convolution: those choose the layout of what is around them;
//! - a value that crosses its border could stay out of memory: each op that reads it could join the kernel that computes it;
//! - it is called with weights alone: what it computes is prepared, or is read in the form that they have;
//! - its call does not stand in the program itself, or it calls others.
//!
//! What a layer computes from values that other layers are given, too (a mask), goes to its calls first, and is computed once for all.
//! So nothing is lost but that a kernel which reads what is in memory anyway could have become a part of the kernel that wrote it.
//! With `all`, every function goes back: kernels are made, and what follows (sharing, memory) looks at the whole program.
//!
//! ```mlir
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = call @layers.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = call @layers.0(%0) : (tensor<4xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! func.func private @layers.0(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = prim.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! ```

mod border;

use std::collections::{HashMap, HashSet};

use border::Borders;
use strata_core::ir::{Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::query::CallGraph;
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture::is_part;
use strata_dialects::prim;

use crate::prim::hoist_weights::Cone;
use crate::prim::hoist_weights::lift::move_to_calls;

/// Takes functions back into the program.
#[derive(Pass)]
#[pass(dependents("func"))]
pub struct InlineLayers {
    /// All functions, whatever they gain.
    all: bool,
    /// Calls that were replaced by what they call.
    inlined: Counter,
}

/// Why a layer goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("its convolutions choose the layout of what is around it")]
    Layout,
    #[error("a value that crosses its border need not be in memory")]
    Border,
    #[error("it is called with weights alone, of which each reader may take what it wants")]
    Weights,
    #[error("only a call in the program itself, of what calls nothing, can stay")]
    Nested,
}

impl Pass for InlineLayers {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let (graph, mut rewriter) = (CallGraph::new(module), cx.rewriter());
        let functions: Vec<_> = graph.functions.iter().copied().filter(|function| can_go(*function)).collect();
        let moved = !self.all && functions.iter().filter(|function| move_shared(module, **function, &mut rewriter)).count() > 0;
        if moved {
            cx.run_pipeline(module, "cse").map_err(|error| PassError::new(error.to_string()))?;
        }
        let stay = if self.all { HashSet::new() } else { Self::stay(&graph, &functions, cx.remarks()) };
        let go: HashMap<String, Op<'c>> =
            functions.iter().filter(|function| !stay.contains(*function)).filter_map(|op| Some((op.str("sym_name")?, *op))).collect();
        // Callees first, so that what is copied calls nothing that goes.
        for function in graph.bottom_up() {
            for call in function.find_all(func::Call::NAME) {
                let callee = call.attr("callee").and_then(|name| go.get(&name.as_symbol()?)).filter(|callee| **callee != function);
                if let Some(&callee) = callee {
                    inline(call, callee, &mut rewriter);
                    self.inlined.add(1);
                }
            }
        }
        // Callers first: what only they called goes with them.
        for function in graph.bottom_up().into_iter().rev().filter(|function| go.values().any(|gone| gone == function)) {
            if function.symbol_users(module).is_some_and(|users| users.is_empty()) {
                rewriter.erase(function);
            }
        }
        Ok(())
    }
}

impl InlineLayers {
    /// The functions that stay.
    fn stay<'c>(graph: &CallGraph<'c>, functions: &[Op<'c>], remarks: Remarks) -> HashSet<Op<'c>> {
        let mut reasons: HashMap<Op<'c>, Reason> = HashMap::new();
        for &function in functions {
            if let Some(reason) = alone(graph, function) {
                reasons.insert(function, reason);
            }
        }
        for &caller in &graph.functions {
            let program = is_part(caller);
            let cone = program.then(|| Cone::of(caller));
            for call in caller.find_all(func::Call::NAME) {
                let weights = cone.as_ref().is_some_and(|cone| call.operands().into_iter().all(|operand| cone.holds(operand)));
                if let Some(callee) = call.callee().filter(|_| weights) {
                    reasons.entry(callee).or_insert(Reason::Weights);
                }
                if let Some(callee) = call.callee().filter(|_| !program || call.parent() != Some(caller)) {
                    reasons.entry(callee).or_insert(Reason::Nested);
                }
            }
        }
        let parts: Vec<_> = graph.functions.iter().copied().filter(|function| is_part(*function)).collect();
        for function in Borders::of(&parts).open() {
            reasons.entry(function).or_insert(Reason::Border);
        }
        for &function in functions {
            if let Some(reason) = reasons.get(&function) {
                let name = function.str("sym_name").unwrap_or_default();
                remarks.missed(function, format_args!("'{name}' goes back to where it is called: {reason}"));
            }
        }
        functions.iter().copied().filter(|function| !reasons.contains_key(function)).collect()
    }
}

/// Whether calls of a function can be replaced by its body at all.
fn can_go(function: Op<'_>) -> bool {
    let private = function.str("sym_visibility").as_deref() == Some("private");
    private && function.isa::<func::Func>() && matches!(function.region(0).blocks()[..], [_])
}

/// Why a function goes back, as far as it says that itself.
fn alone<'c>(graph: &CallGraph<'c>, function: Op<'c>) -> Option<Reason> {
    if !graph.callees(function).is_empty() {
        Some(Reason::Nested)
    } else if !function.find_all(prim::Conv::NAME).is_empty() {
        Some(Reason::Layout)
    } else {
        None
    }
}

/// What a function computes from arguments that other calls are given, too, goes to its calls: there it is the same
/// for all of them. Says whether there was something.
fn move_shared<'c>(module: Op<'c>, function: Op<'c>, rewriter: &mut Rewriter<'c>) -> bool {
    let calls = function.symbol_users(module).unwrap_or_default();
    let [first, ..] = calls[..] else { return false };
    if !calls.iter().all(|call| call.isa::<func::Call>() && call.parent().is_some_and(is_part)) {
        return false;
    }
    let shared = |at: usize| {
        let value = first.operand(at);
        let users = value.uses().into_iter().filter(|user| user.op.isa::<func::Call>());
        calls.iter().all(|call| call.operand(at) == value) && users.count() > 1
    };
    let values = Cone::from(function, &shared).frontier(function, Remarks::default());
    move_to_calls(function, &calls, &values, &mut |_| function.cx().dict_attr(&[]), rewriter);
    !values.is_empty()
}

/// Puts the body of a function into the place of a call.
fn inline<'c>(call: Op<'c>, callee: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let body = callee.body(0);
    let mut known: HashMap<Value<'c>, Value<'c>> = body.args().into_iter().zip(call.operands()).collect();
    let mapped = |known: &HashMap<Value<'c>, Value<'c>>, op: Op<'c>| -> Vec<Value<'c>> {
        op.operands().into_iter().map(|operand| known.get(&operand).copied().unwrap_or(operand)).collect()
    };
    let mut ops = body.ops();
    let Some(end) = ops.pop() else { return };
    rewriter.go_before(call);
    for op in ops {
        let copy = match op.regions().is_empty() {
            true => rewriter.clone_op(op, &mapped(&known, op)),
            false => rewriter.insert(op.clone_with(&known.iter().map(|(from, to)| (*from, *to)).collect::<Vec<_>>())),
        };
        known.extend(op.results().into_iter().zip(copy.results()));
    }
    rewriter.replace(call, &mapped(&known, end));
}
