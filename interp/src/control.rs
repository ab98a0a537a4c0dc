//! Upstream control flow: `scf.if`, `scf.while`, `scf.for`, and calls of functions.
//!
//! Values are handed on as they are bound, so buffers and shared tensors keep their storage.

use strata_core::ir::{Block, Op};
use strata_core::upstream::{func, scf};

use super::run::{Machine, Slot, unsupported};
use super::value::{InterpError, Value, fail};

/// Calls in each other; functions come from layers, which nest a few deep.
const MAX_CALLS: usize = 64;

type Slots = Result<Vec<Slot>, InterpError>;

/// Runs an op and binds its results.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let results = match op.name() {
        scf::If::NAME => branch(m, op)?,
        scf::While::NAME => repeat(m, op)?,
        scf::For::NAME => count(m, op)?,
        func::Call::NAME => call(m, op)?,
        _ => return Err(unsupported(op)),
    };
    if results.len() != op.num_results() {
        return Err(fail(format!("{} values for {} results", results.len(), op.num_results())));
    }
    for (at, slot) in op.results().into_iter().zip(results) {
        m.bind_slot(at, slot);
    }
    Ok(())
}

fn entry<'c>(op: Op<'c>, region: usize) -> Option<Block<'c>> {
    op.regions().get(region).and_then(|r| r.entry())
}

fn branch<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Slots {
    let taken = if m.scalar(op.operand(0))?.truthy() { 0 } else { 1 };
    entry(op, taken).map_or(Ok(vec![]), |b| m.block(b))
}

fn enter<'c>(m: &mut Machine<'c>, block: Block<'c>, values: Vec<Slot>) -> Slots {
    let arguments = block.args();
    if arguments.len() != values.len() {
        return Err(fail(format!("{} values for a block of {} arguments", values.len(), arguments.len())));
    }
    for (at, slot) in arguments.into_iter().zip(values) {
        m.bind_slot(at, slot);
    }
    m.block(block)
}

fn operands<'c>(m: &Machine<'c>, op: Op<'c>, from: usize) -> Slots {
    op.operands().into_iter().skip(from).map(|v| m.slot(v).cloned()).collect()
}

fn repeat<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Slots {
    let (before, after) = (entry(op, 0).ok_or_else(|| fail("no condition"))?, entry(op, 1).ok_or_else(|| fail("no body"))?);
    let mut carried = operands(m, op, 0)?;
    loop {
        let mut checked = enter(m, before, carried)?;
        if checked.is_empty() {
            return Err(fail("the condition gives nothing"));
        }
        let go = match m.load(&checked.remove(0))? {
            Value::Scalar(s) => s.truthy(),
            Value::Tensor(t) => t.item()?.truthy(),
            other => return Err(fail(format!("{} as a condition", other.kind()))),
        };
        if !go {
            return Ok(checked);
        }
        carried = enter(m, after, checked)?;
    }
}

fn count<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Slots {
    let (from, to, step) = (m.int(op.operand(0))?, m.int(op.operand(1))?, m.int(op.operand(2))?);
    let body = entry(op, 0).ok_or_else(|| fail("no body"))?;
    if step < 1 {
        return Err(fail("the step of a loop must be positive"));
    }
    let mut carried = operands(m, op, 3)?;
    let mut at = from;
    while at < to {
        carried.insert(0, Slot::Plain(Value::int(at)));
        carried = enter(m, body, carried)?;
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    Ok(carried)
}

fn call<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Slots {
    let name = op.attr("callee").and_then(|a| a.as_symbol()).unwrap_or_default();
    let callee = m.module.lookup_symbol(&name).and_then(|f| entry(f, 0)).ok_or_else(|| fail(format!("`@{name}` has no body")))?;
    let values = operands(m, op, 0)?;
    if m.calls == MAX_CALLS {
        return Err(fail(format!("more than {MAX_CALLS} calls in each other: `@{name}` calls itself")));
    }
    m.calls += 1;
    let results = enter(m, callee, values);
    m.calls -= 1;
    results
}
