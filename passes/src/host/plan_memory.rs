//! `--plan-memory`: buffers that are never needed at the same time share memory.
//!
//! Allocations of known size become slices of one arena: each gets the lowest offset at which it meets no other buffer that is alive
//! at the same time (largest first). A buffer is alive from its allocation to its last use at the top level of the program; one that
//! is made inside control flow is alive as long as the whole statement, and what a region hands on lives as long as the results.
//! Allocations of symbolic size take over the memory of a dead buffer of the very same size. Nothing is done for symbolic sizes
//! inside control flow.
//!
//! ```mlir
//! %a = host.alloc %c1024 : (index) -> memref<?xf32>
//! host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
//! // becomes
//! %arena = host.arena %c4096 : (index) -> memref<?xi8>
//! %a = host.slice %arena, %c0 : (memref<?xi8>, index) -> memref<?xf32>
//! host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
//! ```

use std::collections::{HashMap, HashSet};
use strata_core::ir::{Block, DYNAMIC, ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, scf};
use strata_dialects::host;

/// Every buffer starts at a multiple of this many bytes.
const ALIGN: i64 = 64;

/// Lets buffers of the call share memory.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("host", "arith"))]
pub struct PlanMemory {
    /// Bytes asked for before.
    requested: Counter,
    /// Bytes of the arena.
    planned: Counter,
    /// Buffers of symbolic size that took over another's memory.
    reused: Counter,
}

impl Pass for PlanMemory {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(host::ENTRY).is_none() && op.attr(host::PREPARE).is_none() {
            return Ok(());
        }
        let mut rewriter = cx.rewriter();
        self.reused.add(reuse_symbolic(op, cx.remarks(), &mut rewriter));
        let plan = plan(op);
        self.requested.add(plan.buffers.iter().map(|buffer| buffer.bytes as usize).sum());
        self.planned.add(plan.bytes as usize);
        apply(op, &plan, &mut rewriter);
        rewriter.set_attr(op, host::ARENA_BYTES, op.cx().i64_attr(plan.bytes));
        Ok(())
    }
}

/// Where the allocations of a program lie in its arena.
pub struct Plan<'c> {
    /// Those of known size.
    pub buffers: Vec<Buffer<'c>>,
    /// The size of the arena.
    pub bytes: i64,
}

/// An allocation of known size.
pub struct Buffer<'c> {
    /// The `host.alloc`.
    pub op: Op<'c>,
    /// Its size, with what aligns the next one.
    pub bytes: i64,
    /// The position of the first statement that needs it.
    pub first: usize,
    /// The position of the last statement that needs it.
    pub last: usize,
    /// Where it begins in the arena.
    pub offset: i64,
}

/// Positions of the statements of the top level.
fn positions(block: Block<'_>) -> HashMap<Op<'_>, usize> {
    block.ops().into_iter().enumerate().map(|(at, op)| (op, at)).collect()
}

/// The statement of the top level that an op is, or stands in.
fn statement<'c>(block: Block<'c>, op: Op<'c>) -> Op<'c> {
    let mut op = op;
    while op.block() != Some(block) {
        let Some(parent) = op.parent() else { break };
        op = parent;
    }
    op
}

/// The last statement that needs a buffer, through slices and through what regions hand on; each of these values is looked at once.
fn last_use<'c>(block: Block<'c>, at: &HashMap<Op<'c>, usize>, value: Value<'c>) -> usize {
    let (mut last, mut todo, mut seen) = (0, vec![value], HashSet::from([value]));
    while let Some(value) = todo.pop() {
        for using in value.uses() {
            let statement = statement(block, using.op);
            last = last.max(at.get(&statement).copied().unwrap_or(0));
            let handed = matches!(using.op.name(), scf::Yield::NAME | scf::Condition::NAME);
            // A loop that takes no step gives what it was given.
            let passes = using.op.isa::<host::Slice>() || matches!(using.op.name(), scf::For::NAME | scf::While::NAME);
            let results = if handed { using.op.parent().map(Op::results) } else { passes.then(|| using.op.results()) };
            todo.extend(results.into_iter().flatten().filter(|result| result.ty().is_memref() && seen.insert(*result)));
        }
    }
    last
}

/// Bytes that a process can address.
const ADDRESSABLE: i64 = 1 << 47;

fn element_bytes(op: Op<'_>) -> i64 {
    op.result(0).ty().element_type().map_or(1, |element: ElementType| element.bytes() as i64)
}

/// The constant number of elements of an allocation.
fn constant_elements(op: Op<'_>) -> Option<i64> {
    op.operand(0).defining_op().filter(|def| def.isa::<arith::Constant>())?.attr("value")?.as_int()
}

fn known_sizes(block: Block<'_>) -> Vec<Buffer<'_>> {
    let at = positions(block);
    let mut buffers = Vec::new();
    for op in block.parent_op().map(|function| function.find_all(host::Alloc::NAME)).unwrap_or_default() {
        let bytes = constant_elements(op).and_then(|elements| elements.max(0).checked_mul(element_bytes(op)));
        // What no process can address fails where it is asked for.
        let Some(bytes) = bytes.filter(|bytes| *bytes <= ADDRESSABLE) else { continue };
        let first = at.get(&statement(block, op)).copied().unwrap_or(0);
        let last = last_use(block, &at, op.result(0)).max(first);
        let bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
        buffers.push(Buffer { op, bytes: bytes.max(ALIGN), first, last, offset: 0 });
    }
    buffers
}

/// Gives every allocation of known size in a program an offset.
pub fn plan(function: Op<'_>) -> Plan<'_> {
    let mut buffers = known_sizes(function.body(0));
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(buffers[index].bytes), index));
    for (count, &index) in order.iter().enumerate() {
        let buffer = &buffers[index];
        let placed = order[..count].iter().map(|&other| &buffers[other]);
        let alive = placed.filter(|other| other.first <= buffer.last && buffer.first <= other.last);
        let mut taken: Vec<(i64, i64)> = alive.map(|other| (other.offset, other.offset + other.bytes)).collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (begin, end) in taken {
            if offset + buffer.bytes <= begin {
                break;
            }
            offset = offset.max(end);
        }
        buffers[index].offset = offset;
    }
    let bytes = buffers.iter().map(|buffer| buffer.offset + buffer.bytes).max().unwrap_or(0);
    Plan { buffers, bytes }
}

/// Replaces the allocations by slices of one arena.
fn apply<'c>(function: Op<'c>, plan: &Plan<'c>, rewriter: &mut Rewriter<'c>) {
    if plan.buffers.is_empty() {
        return;
    }
    let cx = function.cx();
    rewriter.set_at_start(function.body(0));
    let bytes = rewriter.const_index(plan.bytes);
    let arena = rewriter.value(host::Arena::NAME, &[bytes], cx.memref(&[DYNAMIC], cx.int(8)), &[]);
    for Buffer { op, offset, .. } in &plan.buffers {
        rewriter.go_before(*op);
        let offset = rewriter.const_index(*offset);
        let slice = rewriter.value(host::Slice::NAME, &[arena, offset], op.result(0).ty(), &[]);
        rewriter.replace(*op, &[slice]);
    }
}

/// Lets an allocation of symbolic size take over the memory of a dead one of the same size; says how many did.
fn reuse_symbolic<'c>(function: Op<'c>, remarks: Remarks, rewriter: &mut Rewriter<'c>) -> usize {
    let block = function.body(0);
    let at = positions(block);
    let mut free: Vec<(Value<'c>, usize)> = Vec::new();
    let mut reused = 0;
    for op in function.find_all(host::Alloc::NAME).into_iter().filter(|op| constant_elements(*op).is_none()) {
        if op.block() != Some(block) {
            remarks.missed(op, "its size is not known, and it is inside of control flow");
            continue;
        }
        let (now, last) = (at[&op], last_use(block, &at, op.result(0)));
        let fits =
            |value: &Value<'c>| value.ty() == op.result(0).ty() && value.defining_op().is_some_and(|def| def.operand(0) == op.operand(0));
        match free.iter().position(|(value, until)| *until < now && fits(value)) {
            Some(index) => {
                let value = free[index].0;
                free[index].1 = last;
                rewriter.replace(op, &[value]);
                reused += 1;
            }
            None => {
                remarks.missed(op, "its size is not known, and no buffer of the same size is dead");
                free.push((op.result(0), last));
            }
        }
    }
    reused
}
