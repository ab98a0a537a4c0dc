//! Operations of a function that could be one call: what they read, what others read of them, and whether a call can stand for them.

use std::collections::{BTreeMap, HashSet};

use strata_core::ir::{Builder, Op, OpSpec, Value};
use strata_core::upstream::func;
use strata_dialects::capture::CAPTURE;

/// The operations that were captured in one numbered module, or that come again.
pub(super) struct Modules<'c> {
    /// Its path, `encoder.layer.3`.
    pub name: String,
    /// The path without its numbers: that of its siblings.
    pub kind: String,
    /// How many names its path has.
    pub depth: usize,
    /// In the order of the program.
    pub ops: Vec<Op<'c>>,
}

/// The operations of a function that may go elsewhere, in order: guards and symbols are its own, and so is its end.
pub(super) fn steps(function: Op<'_>) -> Vec<Op<'_>> {
    let terminator = function.body(0).terminator();
    let stays = |op: &Op<'_>| terminator == Some(*op) || op.dialect() == CAPTURE.name;
    function.body(0).ops().into_iter().filter(|op| !stays(op)).collect()
}

/// All numbered modules of a function, in the order of the program.
pub(super) fn modules<'c>(function: Op<'c>) -> Vec<Modules<'c>> {
    let mut found: BTreeMap<String, Vec<Op<'c>>> = BTreeMap::new();
    for op in steps(function) {
        let Some(path) = op.location().names().into_iter().nth(1) else { continue };
        let names: Vec<&str> = path.split('.').collect();
        for depth in (1..=names.len()).filter(|depth| is_number(names[depth - 1])) {
            found.entry(names[..depth].join(".")).or_default().push(op);
        }
    }
    let modules = found.into_iter().map(|(name, ops)| {
        let kind = name.split('.').map(|part| if is_number(part) { "*" } else { part }).collect::<Vec<_>>().join(".");
        Modules { depth: name.split('.').count(), kind, name, ops }
    });
    let mut modules: Vec<_> = modules.collect();
    let place: std::collections::HashMap<_, _> = function.body(0).ops().into_iter().enumerate().map(|(at, op)| (op, at)).collect();
    modules.sort_by_key(|modules| place[&modules.ops[0]]);
    modules
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Why operations stay where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the program leaves it and comes back, so it is not one step")]
    ComesBack,
    #[error("it has symbolic sizes, of which a function would know less than its caller")]
    Symbolic,
    #[error("nothing reads it")]
    Unread,
    #[error("it has effects, and so has what stands between its operations: their order would be another")]
    Order,
}

/// Operations with what crosses their border.
pub(super) struct Region<'c> {
    pub function: Op<'c>,
    pub ops: Vec<Op<'c>>,
    /// What they read from outside, in the order of first use.
    pub inputs: Vec<Value<'c>>,
    /// What others read of them.
    pub outputs: Vec<Value<'c>>,
    /// Operations between them that read what they compute.
    after: Vec<Op<'c>>,
}

impl<'c> Region<'c> {
    /// The region of these operations of a function's body.
    pub fn of(function: Op<'c>, ops: &[Op<'c>]) -> Result<Self, Refusal> {
        let members: HashSet<_> = ops.iter().copied().collect();
        let (mut inputs, mut known) = (Vec::new(), HashSet::new());
        for value in ops.iter().flat_map(|op| reads(*op)) {
            let inside = value.defining_op().is_some_and(|op| members.contains(&op));
            if !inside && known.insert(value) {
                inputs.push(value);
            }
        }
        let inside = |op: Op<'c>| members.contains(&op) || ops.iter().any(|member| op.is_inside(*member));
        let read = |value: &Value<'c>| value.uses().iter().any(|user| !inside(user.op));
        let outputs: Vec<_> = ops.iter().flat_map(|op| op.results()).filter(read).collect();
        if outputs.is_empty() {
            return Err(Refusal::Unread);
        }
        let inner = ops.iter().flat_map(|op| op.results());
        if inputs.iter().copied().chain(inner).any(|value| value.ty().is_tensor() && !value.ty().is_static()) {
            return Err(Refusal::Symbolic);
        }
        let (mut after, mut late, mut left) = (Vec::new(), HashSet::new(), ops.len());
        let computed: HashSet<_> = ops.iter().flat_map(|op| op.results()).collect();
        let (first, effects) = (ops.first().copied(), ops.iter().any(|op| !op.is_effect_free()));
        for op in std::iter::successors(first, |op| op.next()) {
            if members.contains(&op) {
                left -= 1;
                if reads(op).iter().any(|value| late.contains(value)) {
                    return Err(Refusal::ComesBack);
                }
            } else if reads(op).iter().any(|value| late.contains(value) || computed.contains(value)) {
                late.extend(op.results());
                after.push(op);
            }
            if effects && !members.contains(&op) && !op.is_effect_free() {
                return Err(Refusal::Order);
            }
            if left == 0 {
                break;
            }
        }
        Ok(Self { function, ops: ops.to_vec(), inputs, outputs, after })
    }

    /// Puts a call in the place of the operations.
    pub fn call(self, symbol: &str) {
        let Some(&last) = self.ops.last() else { return };
        let callee = self.function.cx().symbol_attr(symbol);
        let results: Vec<_> = self.outputs.iter().map(|value| value.ty()).collect();
        let attrs = [("callee", callee)];
        let call = OpSpec { name: func::Call::NAME, operands: &self.inputs, results: &results, attrs: &attrs, ..OpSpec::default() };
        let call = Builder::before(last).op(call);
        self.after.iter().for_each(|op| op.move_before(last));
        for (output, result) in self.outputs.iter().zip(call.results()) {
            output.replace_all_uses_with(result);
        }
        self.ops.iter().rev().for_each(|op| op.erase());
    }
}

/// All that an operation, and what is in it, reads from outside of it.
fn reads<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let mut values = Vec::new();
    op.walk(&mut |inner| {
        for value in inner.operands() {
            let owner = value.defining_op().or_else(|| value.owner_block().and_then(|block| block.parent_op()));
            if inner == op || !owner.is_some_and(|owner| owner.is_inside(op)) {
                values.push(value);
            }
        }
    });
    values
}
