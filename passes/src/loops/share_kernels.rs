//! `--share-kernels`: equal kernels become one, so that what follows looks at each kernel once, however many layers call it.
//!
//! Exactly where two kernels are the same but for their names and locations, and their calls pass weights at the same places: what
//! reads a weight may be packed before the program runs (`--pack-operands`), and then it is another kernel. The last one in the module stays.
//!
//! Of four kernels and more that differ only in fixed indices at which they read, as the steps of an unrolled recurrence do, one stays too.
//! The index is an argument of it. An access that is guarded keeps its index. So does one of those that differ only in numbers that elements are
//! added to or multiplied by, as the scales of quantised layers: a tensor of these numbers is an argument.
//!
//! ```mlir
//! %0 = loop.call @k0(%x)
//! %1 = loop.call @k1(%0)                 // k1 is written as k0 is
//! // becomes
//! %0 = loop.call @k0(%x)
//! %1 = loop.call @k0(%0)
//! ```

mod fixed_indices;
mod fixed_numbers;

use std::collections::HashMap;

use strata_core::ir::{Attr, Op, Value};
use strata_core::likeness::Likeness;
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::loops;

use crate::loops::copy_kernel::calls;

/// Makes one kernel of equal ones.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ShareKernels {
    /// Kernels that another one stands for.
    shared: Counter,
}

impl Pass for ShareKernels {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut calls = calls_by_callee(module);
        let (mut weights, mut rewriter) = (Weights::default(), cx.rewriter());
        // Of kernels that are written alike, the first one for each choice of operands that are weights.
        let mut known: HashMap<Likeness<'c>, HashMap<Vec<bool>, Attr<'c>>> = HashMap::new();
        // `--prim-to-loop` writes the kernels of later calls above those of earlier ones.
        for kernel in module.body(0).ops().into_iter().rev().filter(|op| op.isa::<loops::Kernel>()) {
            let name = kernel.str("sym_name").unwrap_or_default();
            let calls = calls.remove(&name).unwrap_or_default();
            let alike = known.entry(Likeness::of_body(kernel, &|_, name, attr| (name != "sym_name").then_some(attr))).or_default();
            let among = !alike.is_empty();
            let first = *alike.entry(weights.of_calls(&calls)).or_insert_with(|| {
                if among {
                    cx.remarks().missed(kernel, "an equal kernel is called with weights as other operands");
                }
                module.cx().symbol_attr(&name)
            });
            if first.as_symbol().is_some_and(|first| first != name) {
                calls.iter().for_each(|call| rewriter.set_attr(*call, "callee", first));
                rewriter.erase(kernel);
                self.shared.add(1);
            }
        }
        self.shared.add(fixed_indices::merge(module, &mut rewriter));
        self.shared.add(fixed_numbers::merge(module, &mut rewriter));
        Ok(())
    }
}

/// So many kernels that differ in numbers become one: fewer keep these, which the code for them knows.
const FEWEST: usize = 4;

/// Kernels of one likeness whose calls pass weights at the same places, each with its calls.
fn alike<'c>(module: Op<'c>, likeness: impl Fn(Op<'c>) -> Likeness<'c>) -> Vec<Vec<(Op<'c>, Vec<Op<'c>>)>> {
    let (mut calls, mut weights) = (calls_by_callee(module), Weights::default());
    let mut groups = Vec::new();
    let mut known: HashMap<(Likeness<'c>, Vec<bool>), usize> = HashMap::new();
    for kernel in module.body(0).ops().into_iter().rev().filter(|op| op.isa::<loops::Kernel>()) {
        let calls = calls.remove(&kernel.str("sym_name").unwrap_or_default()).unwrap_or_default();
        let group = *known.entry((likeness(kernel), weights.of_calls(&calls))).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push((kernel, calls));
    }
    groups
}

/// The calls of each kernel, by its name.
fn calls_by_callee<'c>(module: Op<'c>) -> HashMap<String, Vec<Op<'c>>> {
    let mut calls: HashMap<String, Vec<Op<'c>>> = HashMap::new();
    for function in module.body(0).ops().into_iter().filter(|op| op.isa::<func::Func>()) {
        for call in function.find_all(loops::Call::NAME) {
            calls.entry(callee(call).unwrap_or_default()).or_default().push(call);
        }
    }
    calls
}

fn callee(call: Op<'_>) -> Option<String> {
    call.attr("callee")?.as_symbol()
}

/// Whether every call of a kernel passes a weight as this argument: a copy of it is made before the program runs.
pub(crate) fn is_weight(module: Op<'_>, kernel: Op<'_>, argument: usize) -> bool {
    let mut weights = Weights::default();
    calls(module, kernel).into_iter().all(|call| weights.contains(call.operand(argument)))
}

/// Columns of the numbers of some kernels, a row for each, and those among them that are not one number throughout, each once.
fn columns<T: Copy + PartialEq>(rows: &[Vec<T>]) -> (Vec<Vec<T>>, Vec<Vec<T>>) {
    let columns: Vec<Vec<T>> = (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
    let mut differ: Vec<Vec<T>> = Vec::new();
    for column in columns.iter().filter(|column| column.iter().any(|number| *number != column[0])) {
        if !differ.contains(column) {
            differ.push(column.clone());
        }
    }
    (columns, differ)
}

/// Which values are weights of their functions, or made by kernels of weights alone; what was found is kept.
#[derive(Default)]
pub(crate) struct Weights<'c>(HashMap<Value<'c>, bool>);

impl<'c> Weights<'c> {
    /// Which operands are weights in all of these calls.
    fn of_calls(&mut self, calls: &[Op<'c>]) -> Vec<bool> {
        let operands = calls.first().map_or(0, |call| call.num_operands());
        (0..operands).map(|at| calls.iter().all(|call| self.contains(call.operand(at)))).collect()
    }

    /// Whether a value is one of them.
    pub(crate) fn contains(&mut self, value: Value<'c>) -> bool {
        if let Some(&known) = self.0.get(&value) {
            return known;
        }
        let Some(op) = value.defining_op() else { return self.arguments(value) };
        let weight =
            (op.isa::<loops::Call>() || op.isa::<loops::Words>()) && op.operands().into_iter().all(|operand| self.contains(operand));
        self.0.insert(value, weight);
        weight
    }

    /// Finds out about all arguments of a function where one is asked for; says what that one is.
    fn arguments(&mut self, asked: Value<'c>) -> bool {
        let Some(block) = asked.owner_block() else { return false };
        let dicts = block.parent_op().and_then(|function| function.attr("arg_attrs")?.as_array()).unwrap_or_default();
        let weight = |dict: &Attr<'c>| dict.entry(capture::KIND).and_then(Attr::as_str).is_some_and(|kind| kind != "input");
        let found = block.args().into_iter().enumerate().map(|(at, argument)| (argument, dicts.get(at).is_some_and(weight)));
        self.0.extend(found);
        self.0.get(&asked).copied().unwrap_or(false)
    }
}
