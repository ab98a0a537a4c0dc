//! The reverse sweep: from cotangents of what a block gives to cotangents of what it reads.

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Block, Op, Value};
use strata_core::pass::PassError;
use strata_dialects::aten;
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::capture;
use strata_dialects::prim_builder::{Prim, Tensor};

use super::rule::{At, Cotangents, Rule, wide};
use super::signature::is_differentiable;
use super::{Gradient, Reason, row};

/// Cotangents of the values of a program while they are summed up.
pub(super) struct Reverse<'c> {
    prim: &'c Prim<'c>,
    /// Values that depend on what is differentiated by.
    active: HashSet<Value<'c>>,
    /// The sums so far; those of halves are in `f32`, and are rounded once.
    cotangents: HashMap<Value<'c>, Tensor<'c>>,
}

impl<'c> Reverse<'c> {
    /// A sweep for the gradients by some values.
    pub fn new(prim: &'c Prim<'c>, wrt: &[Value<'c>]) -> Self {
        Self { prim, active: wrt.iter().copied().collect(), cotangents: HashMap::new() }
    }

    /// Adds to the cotangent of a value.
    pub fn add(&mut self, value: Value<'c>, cotangent: Tensor<'c>) {
        let cotangent = wide(cotangent);
        let sum = match self.cotangents.get(&value) {
            Some(sum) => *sum + cotangent,
            None => cotangent,
        };
        self.cotangents.insert(value, sum);
    }

    /// The cotangent of a value.
    pub fn cotangent(&self, value: Value<'c>) -> Option<Tensor<'c>> {
        self.cotangents.get(&value).copied()
    }

    /// Whether a value depends on what is differentiated by.
    pub fn is_active(&self, value: Value<'c>) -> bool {
        self.active.contains(&value)
    }

    /// Sweeps a block that gives its cotangents already; says how many ops had a part in it.
    pub fn block(&mut self, block: Block<'c>) -> Result<usize, PassError> {
        // What the sweep itself makes is no part of what it differentiates.
        let ops = block.ops();
        ops.iter().for_each(|op| self.activate(*op));
        let mut done = 0;
        for op in ops.into_iter().rev() {
            done += usize::from(self.op(op)?);
        }
        Ok(done)
    }

    /// Marks the results of an op that depend on active values.
    fn activate(&mut self, op: Op<'c>) {
        let stops = row(op).is_some_and(|row| matches!(row.rule, Rule::Zero)) && op.attr(capture::OVERWRITTEN).is_none();
        if !stops && reads(op).iter().any(|value| self.is_active(*value)) {
            // What has no elements has no gradient to compute.
            let has_gradient = |result: &Value<'c>| is_differentiable(result.ty()) && result.ty().num_elements() != Some(0);
            self.active.extend(op.results().into_iter().filter(has_gradient));
        }
    }

    /// Hands the cotangents of an op's results on to its operands; says whether there were any.
    fn op(&mut self, op: Op<'c>) -> Result<bool, PassError> {
        let reads = reads(op);
        let wanted: Vec<_> = reads.iter().map(|value| self.is_active(*value)).collect();
        if !wanted.contains(&true) || op.results().iter().all(|result| self.cotangent(*result).is_none()) {
            return Ok(false);
        }
        let cotangents = op.results().into_iter().map(|result| self.cotangents.remove(&result)).collect();
        self.prim.build(|builder| builder.set_location(op.location()));
        let at = At { prim: self.prim, op, cotangents, wanted };
        let found = gradient(&at).map_err(|reason| reason.at(op))?;
        if let Some(message) = self.prim.take_error() {
            return Err(Reason::Row(message).at(op));
        }
        for ((value, wanted), cotangent) in reads.iter().zip(&at.wanted).zip(found) {
            if let (true, Some(cotangent)) = (*wanted, cotangent) {
                self.add(*value, shaped(self.prim, cotangent, *value));
            }
        }
        if let Some(message) = self.prim.take_error() {
            return Err(Reason::Row(message).at(op));
        }
        Ok(true)
    }
}

/// A cotangent as a sum for its value is kept: of its shape, and complex as it is.
fn shaped<'c>(prim: &'c Prim<'c>, cotangent: Tensor<'c>, value: Value<'c>) -> Tensor<'c> {
    let like = prim.tensor(value);
    let cotangent = if cotangent.dtype().is_complex() && !like.dtype().is_complex() { cotangent.real() } else { cotangent };
    let fits = cotangent.rank() == like.rank()
        && cotangent.shape().iter().zip(like.shape().iter()).all(|(a, b)| match (a.known(), b.known()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        });
    if !fits {
        prim.fail(format!("the cotangent of {} is computed as {}", value.ty(), cotangent.ty()));
    }
    cotangent.convert(like.dtype().compute()).reshape(&like.shape())
}

/// What an op reads: its operands, then the values from outside that its regions read. An operand that a region reads too is there twice.
pub(super) fn reads<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let mut values = op.operands();
    if op.regions().is_empty() {
        return values;
    }
    let mut seen = HashSet::new();
    op.walk(&mut |inner| {
        for value in inner.operands() {
            let home = value.defining_op().or_else(|| value.owner_block().and_then(Block::parent_op));
            let inside = home.is_some_and(|home| home.is_inside(op));
            if inner != op && !inside && seen.insert(value) {
                values.push(value);
            }
        }
    });
    values
}

fn gradient<'c>(at: &At<'c>) -> Result<Cotangents<'c>, Reason> {
    if let Some(own) = at.op.interface::<dyn Gradient>() {
        return Ok(own.gradient(at));
    }
    match row(at.op) {
        Some(row) => Ok(row.rule.apply(at)),
        None if aten::is_operator(at.op) => Err(Reason::NotDecomposed),
        None => Err(Reason::NoRow),
    }
}
