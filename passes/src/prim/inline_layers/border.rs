//! Whether a value that crosses the border of a layer is in memory whatever is fused.

use std::collections::{HashMap, HashSet};

use crate::prim::fusion::class::{Class, View, classify};
use strata_core::ir::{Block, Op, Value};
use strata_core::upstream::func;

/// The values that cross the borders of layers in some programs.
pub(super) struct Borders<'c> {
    calls: Vec<Op<'c>>,
    known: HashMap<Asked<'c>, Found>,
}

/// A value, as a question.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Asked<'c> {
    value: Value<'c>,
    /// Whether the kernel that computes it has a contraction.
    contracts: bool,
    /// Arguments beside it that wait for its kernel.
    far: Vec<Value<'c>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Some reader cannot join the kernel that computes the value.
    InMemory,
    /// All readers could; whether all that the block gives waits for another kernel in between.
    Open { far: bool },
}

impl<'c> Borders<'c> {
    pub fn of(programs: &[Op<'c>]) -> Self {
        let blocks = programs.iter().flat_map(|program| program.region(0).blocks());
        let calls = blocks.flat_map(|block| block.ops()).filter(|op| op.isa::<func::Call>());
        Self { calls: calls.collect(), known: HashMap::new() }
    }

    /// The functions with a border that is crossed by a value which need not be in memory.
    pub fn open(mut self) -> HashSet<Op<'c>> {
        let mut open = HashSet::new();
        for call in self.calls.clone() {
            for value in call.operands().into_iter().chain(call.results()) {
                let Some(producer) = value.defining_op() else { continue };
                let contracts = is_last_of_contraction(made_in(value));
                if self.find(Asked { value, contracts, far: Vec::new() }) != Found::InMemory {
                    open.extend([call, producer].into_iter().filter_map(|op| op.callee()));
                    open.extend(value.uses().into_iter().filter_map(|user| user.op.callee()));
                }
            }
        }
        open
    }

    fn find(&mut self, asked: Asked<'c>) -> Found {
        if let Some(&known) = self.known.get(&asked) {
            return known;
        }
        // What calls itself asks again, and is no layer.
        self.known.insert(asked.clone(), Found::InMemory);
        let block = asked.value.defining_op().map_or_else(|| asked.value.owner_block(), Op::block);
        let found = block.map_or(Found::InMemory, |block| self.look(&asked, block));
        self.known.insert(asked, found);
        found
    }

    fn look(&mut self, asked: &Asked<'c>, block: Block<'c>) -> Found {
        let (value, contracts) = (asked.value, asked.contracts);
        let start = value.defining_op().map_or_else(|| block.first_op(), Op::next);
        let (mut near, mut derived, mut far) = (HashSet::from([value]), HashSet::new(), HashSet::new());
        far.extend(asked.far.iter().copied());
        for op in std::iter::successors(start, |op| op.next()) {
            let mut operands = op.operands();
            if !op.regions().is_empty() {
                op.walk(&mut |inner| operands.extend(inner.operands()));
            }
            let reads = |values: &HashSet<Value<'c>>| operands.iter().any(|operand| values.contains(operand));
            let (reads_near, reads_derived, reads_far) = (reads(&near), reads(&derived), reads(&far));
            if !(reads_near || reads_derived || reads_far) {
                continue;
            }
            let results = op.results();
            if op.isa::<func::Call>() {
                let Some(arguments) = op.callee().and_then(|callee| callee.region(0).entry()).map(|body| body.args()) else {
                    return Found::InMemory;
                };
                let passed = |values: &HashSet<Value<'c>>| -> Vec<Value<'c>> {
                    operands.iter().zip(&arguments).filter(|(operand, _)| values.contains(operand)).map(|(_, argument)| *argument).collect()
                };
                let (taken, late) = (passed(&near), passed(&far));
                let mut waits = !reads_derived;
                for argument in taken {
                    match self.find(Asked { value: argument, contracts, far: late.clone() }) {
                        Found::InMemory => return Found::InMemory,
                        Found::Open { far } => waits &= far,
                    }
                }
                if waits {
                    far.extend(results)
                } else {
                    derived.extend(results)
                }
                continue;
            }
            if op.isa::<func::Return>() && !reads_near {
                return Found::Open { far: !reads_derived };
            }
            match classify(op) {
                Class::View(View::Plain | View::Reshape | View::Guarded) if reads_near && !reads_far && !reads_derived => {
                    near.extend(results)
                }
                // Its kernel reads operands from memory, or is no kernel of ours.
                Class::Contract | Class::InOrder | Class::Alone if reads_near => return Found::InMemory,
                Class::Gather if near.contains(&operands[0]) => return Found::InMemory,
                Class::Reduce if contracts && reads_near => return Found::InMemory,
                // To join, it would have to wait for a kernel that waits for this one.
                _ if reads_near && reads_far => return Found::InMemory,
                Class::Contract | Class::InOrder | Class::Alone => far.extend(results),
                Class::Reduce if contracts => far.extend(results),
                _ if reads_far => far.extend(results),
                _ => derived.extend(results),
            }
        }
        // What nobody reads is in no kernel.
        if value.is_unused() { Found::InMemory } else { Found::Open { far: true } }
    }
}

/// The value that a call gives, in the function that computes it.
fn made_in(value: Value<'_>) -> Value<'_> {
    returned(value).unwrap_or(value)
}

fn returned(value: Value<'_>) -> Option<Value<'_>> {
    let call = value.defining_op().filter(|op| op.isa::<func::Call>())?;
    Some(call.callee()?.region(0).entry()?.terminator()?.operand(value.index()))
}

/// Whether a value is computed by the last steps of a contraction's kernel, which no reduction can join.
fn is_last_of_contraction(value: Value<'_>) -> bool {
    let (mut open, mut seen, mut found) = (vec![value], HashSet::new(), false);
    while let Some(value) = open.pop() {
        let Some(op) = value.defining_op() else { continue };
        match classify(op) {
            Class::Contract => found = true,
            Class::Reduce => return false,
            Class::Pointwise(_) | Class::View(_) => open.extend(op.operands().into_iter().filter(|operand| seen.insert(*operand))),
            Class::Source | Class::Gather | Class::InOrder | Class::Alone => {}
        }
    }
    found
}
