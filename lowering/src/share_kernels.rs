//! `--share-kernels`: equal kernels become one, so that what follows looks at each kernel once, however many layers call it.
//!
//! Exactly where two kernels are the same but for their names and locations, and their calls pass weights at the same places: what
//! reads a weight may be packed before the program runs (`--pack-operands`), and then it is another kernel. The last one in the module stays.
//!
//! ```mlir
//! %0 = loop.call @k0(%x)
//! %1 = loop.call @k1(%0)                 // k1 is written as k0 is
//! // becomes
//! %0 = loop.call @k0(%x)
//! %1 = loop.call @k0(%0)
//! ```

use std::collections::HashMap;

use strata_core::ir::{Attr, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};

/// Makes one kernel of equal ones.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ShareKernels {
    /// Kernels that another one stands for.
    shared: Counter,
}

impl Pass for ShareKernels {
    fn run<'c>(&self, module: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut calls: HashMap<String, Vec<Op<'c>>> = HashMap::new();
        for function in module.body(0).ops().into_iter().filter(|op| op.is("func.func")) {
            for call in function.find_all("loop.call") {
                calls.entry(callee(call).unwrap_or_default()).or_default().push(call);
            }
        }
        let mut weights = Weights::default();
        let mut known: HashMap<(Vec<Word<'c>>, Vec<bool>), Attr<'c>> = HashMap::new();
        // `--prim-to-loop` writes the kernels of later calls above those of earlier ones.
        for kernel in module.body(0).ops().into_iter().rev().filter(|op| op.is("loop.kernel")) {
            let name = kernel.str("sym_name").unwrap_or_default();
            let calls = calls.remove(&name).unwrap_or_default();
            let first = *known.entry((words(kernel), weights.of_calls(&calls))).or_insert_with(|| module.cx().symbol_attr(&name));
            if first.as_symbol().is_some_and(|first| first != name) {
                calls.iter().for_each(|call| call.set_attr("callee", first));
                kernel.erase();
                self.shared.add(1);
            }
        }
        Ok(())
    }
}

fn callee(call: Op<'_>) -> Option<String> {
    call.attr("callee")?.as_symbol()
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
        let weight = match value.defining_op() {
            Some(op) => op.is("loop.call") && op.operands().into_iter().all(|operand| self.contains(operand)),
            None => is_weight_argument(value),
        };
        self.0.insert(value, weight);
        weight
    }
}

fn is_weight_argument(value: Value<'_>) -> bool {
    let function = value.owner_block().and_then(|block| block.parent_op());
    let kind = function.and_then(|function| function.attr("arg_attrs")?.as_array()?.get(value.index())?.entry("capture.kind")?.as_str());
    kind.is_some_and(|kind| kind != "input")
}

/// What a kernel consists of. Attributes and types are one object each in a context, values go by their number.
#[derive(PartialEq, Eq, Hash)]
enum Word<'c> {
    Op(&'c str, usize),
    Attr(&'c str, Attr<'c>),
    Result(Type<'c>),
    Operand(usize),
    Block,
    Argument(Type<'c>),
}

fn words(kernel: Op<'_>) -> Vec<Word<'_>> {
    let (mut words, mut numbers) = (Vec::new(), HashMap::new());
    kernel.for_each_attr(&mut |name, attr| words.extend((name != "sym_name").then_some(Word::Attr(name, attr))));
    bodies(kernel, &mut words, &mut numbers);
    words
}

fn bodies<'c>(op: Op<'c>, words: &mut Vec<Word<'c>>, numbers: &mut HashMap<Value<'c>, usize>) {
    for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
        words.push(Word::Block);
        for argument in block.args() {
            words.push(Word::Argument(argument.ty()));
            numbers.insert(argument, numbers.len());
        }
        for op in block.ops() {
            words.push(Word::Op(op.name(), op.regions().len()));
            words.extend(op.operands().iter().map(|operand| Word::Operand(numbers.get(operand).copied().unwrap_or(usize::MAX))));
            op.for_each_attr(&mut |name, attr| words.push(Word::Attr(name, attr)));
            for result in op.results() {
                words.push(Word::Result(result.ty()));
                numbers.insert(result, numbers.len());
            }
            bodies(op, words, numbers);
        }
    }
}
