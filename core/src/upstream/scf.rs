//! `scf`: structured control flow.

use super::ops;
use crate::ir::{Block, Builder, Op, OpSpec, Type, Value};

ops! {
    /// Ends the first region of a `scf.while`: whether to go on, and with what.
    op Condition "scf.condition";
    /// A counted loop.
    op For "scf.for";
    /// One of two regions, by a condition.
    op If "scf.if";
    /// A loop with a condition.
    op While "scf.while";
    /// Ends a region with its values.
    op Yield "scf.yield";
}

/// Ends a region with its values.
pub fn yield_<'c>(b: &mut Builder<'c>, values: &[Value<'c>]) -> Op<'c> {
    b.effect(Yield::NAME, values, &[])
}

/// Ends the first region of a `scf.while`: whether to go on, and with what.
pub fn condition<'c>(b: &mut Builder<'c>, holds: Value<'c>, carried: &[Value<'c>]) -> Op<'c> {
    b.effect(Condition::NAME, &[&[holds], carried].concat(), &[])
}

/// An `scf.if` with one empty block in each region, which still need their terminators.
pub fn branches<'c>(b: &mut Builder<'c>, condition: Value<'c>, results: &[Type<'c>]) -> (Op<'c>, [Block<'c>; 2]) {
    let op = b.op(OpSpec { name: If::NAME, operands: &[condition], results, regions: 2, ..OpSpec::default() });
    let location = b.location();
    (op, [0, 1].map(|region| op.region(region).append_block(&[], location)))
}

/// An `scf.if` without results and without an else region; gives its block, which still needs its terminator.
pub fn guarded<'c>(b: &mut Builder<'c>, condition: Value<'c>) -> Block<'c> {
    let op = b.op(OpSpec { name: If::NAME, operands: &[condition], regions: 2, ..OpSpec::default() });
    op.region(0).append_block(&[], b.location())
}

/// What `then` builds runs when the condition holds.
pub fn when<'c>(b: &mut Builder<'c>, condition: Value<'c>, then: impl FnOnce(&mut Builder<'c>)) {
    let block = guarded(b, condition);
    b.within(block, |b| {
        then(b);
        yield_(b, &[]);
    });
}

/// The value that `then` builds when the condition holds, else the one that `otherwise` builds; both of type `ty`.
pub fn choose<'c>(
    b: &mut Builder<'c>,
    condition: Value<'c>,
    ty: Type<'c>,
    then: impl FnOnce(&mut Builder<'c>) -> Value<'c>,
    otherwise: impl FnOnce(&mut Builder<'c>) -> Value<'c>,
) -> Value<'c> {
    let (op, [yes, no]) = branches(b, condition, &[ty]);
    b.within(yes, |b| {
        let value = then(b);
        yield_(b, &[value]);
    });
    b.within(no, |b| {
        let value = otherwise(b);
        yield_(b, &[value]);
    });
    op.result(0)
}

/// Runs what `then` builds when the condition holds, else what `otherwise` builds.
pub fn either<'c>(
    b: &mut Builder<'c>,
    condition: Value<'c>,
    then: impl FnOnce(&mut Builder<'c>),
    otherwise: impl FnOnce(&mut Builder<'c>),
) {
    let (_, [yes, no]) = branches(b, condition, &[]);
    b.within(yes, |b| {
        then(b);
        yield_(b, &[]);
    });
    b.within(no, |b| {
        otherwise(b);
        yield_(b, &[]);
    });
}
