//! The forward and the backward of a program.

use std::collections::HashSet;

use strata_core::ir::{Attr, Block, DYNAMIC, Op, Value};
use strata_dialects::capture;

use crate::prim::fusion::class::is_free;

/// The size that stands for one that is not known.
const UNKNOWN: i64 = 64;

/// The ops of a joint program or of a step of training, in their order.
pub(crate) struct Halves<'c> {
    block: Block<'c>,
    /// What the outputs are computed from.
    pub forward: Vec<Op<'c>>,
    /// All else.
    pub backward: Vec<Op<'c>>,
    members: HashSet<Op<'c>>,
}

/// Bytes of an op's tensors that somebody reads.
pub(crate) fn bytes(op: Op<'_>) -> u64 {
    op.results().into_iter().filter(|result| !result.is_unused()).map(value_bytes).sum()
}

fn value_bytes(value: Value<'_>) -> u64 {
    let ty = value.ty();
    if !ty.is_tensor() {
        return 0;
    }
    let element = ty.element_type().map_or(1, |element| element.bytes() as u64);
    elements(value) * element
}

/// Elements of a tensor; sizes that are not known count as [`UNKNOWN`].
pub(crate) fn elements(value: Value<'_>) -> u64 {
    let size = |size: i64| if size == DYNAMIC { UNKNOWN } else { size.max(0) } as u64;
    value.ty().shape().into_iter().map(size).fold(1, u64::saturating_mul)
}

impl<'c> Halves<'c> {
    /// Of a function; nothing where one of them is empty.
    pub fn of(function: Op<'c>) -> Option<Self> {
        Self::new(function).filter(|halves| !halves.backward.is_empty() && !halves.forward.is_empty())
    }

    /// Of a function with a body.
    pub fn new(function: Op<'c>) -> Option<Self> {
        let block = function.body(0);
        let end = block.terminator()?;
        let attrs = function.attr("res_attrs").and_then(Attr::as_array).unwrap_or_default();
        let is_forward = |at: usize| {
            let attr = attrs.get(at);
            let kind = attr.and_then(|attr| attr.entry(capture::KIND)).and_then(Attr::as_str);
            kind.is_none_or(|kind| kind == "output") && attr.is_none_or(|attr| attr.entry(capture::GRADIENT).is_none())
        };
        let mut halves = Self { block, forward: Vec::new(), backward: Vec::new(), members: HashSet::new() };
        let mut next: Vec<Value<'c>> =
            end.operands().into_iter().enumerate().filter(|(at, _)| is_forward(*at)).map(|(_, value)| value).collect();
        while let Some(value) = next.pop() {
            if let Some(op) = value.defining_op().and_then(|op| halves.statement(op)).filter(|op| halves.members.insert(*op)) {
                next.extend(halves.reads(op));
            }
        }
        let ops = block.ops().into_iter().filter(|op| *op != end);
        (halves.forward, halves.backward) = ops.partition(|op| halves.members.contains(op));
        Some(halves)
    }

    /// The op of the body that an op is, or stands in.
    pub fn statement(&self, op: Op<'c>) -> Option<Op<'c>> {
        let mut op = op;
        while op.block() != Some(self.block) {
            op = op.parent()?;
        }
        Some(op)
    }

    /// The values that an op reads, in its regions too.
    pub fn reads(&self, op: Op<'c>) -> Vec<Value<'c>> {
        let mut values = op.operands();
        if !op.regions().is_empty() {
            op.walk(&mut |inner| values.extend(inner.operands().into_iter().filter(|value| self.is_outside(*value, op))));
        }
        values
    }

    fn is_outside(&self, value: Value<'c>, op: Op<'c>) -> bool {
        let home = value.defining_op().or_else(|| value.owner_block().and_then(Block::parent_op));
        home.is_none_or(|home| home == op || !home.is_inside(op))
    }

    /// Whether an op of the forward makes tensors: numbers are always at hand.
    pub fn is_value(&self, op: Op<'c>) -> bool {
        self.members.contains(&op) && op.results().iter().any(|result| result.ty().is_tensor())
    }

    /// Bytes that are kept for so many ops: a view is kept by what it is of, and a constant takes none.
    pub fn kept(&self, ops: impl IntoIterator<Item = Op<'c>>) -> u64 {
        let base = |op: Op<'c>| {
            let mut op = op;
            while is_free(op) {
                op = op.operands().first().copied().and_then(Value::defining_op).filter(|op| self.is_value(*op))?;
            }
            Some(op)
        };
        ops.into_iter().filter_map(base).collect::<HashSet<_>>().into_iter().map(bytes).sum()
    }

    /// The ops of the forward whose tensors the backward reads.
    pub fn read(&self) -> HashSet<Op<'c>> {
        let values = self.backward.iter().flat_map(|op| self.reads(*op));
        values.filter_map(Value::defining_op).filter(|op| self.is_value(*op)).collect()
    }
}
