//! `cf`: branches between blocks.

use super::ops;
use crate::ir::{Block, Builder, Op, OpSpec, Value};

ops! {
    /// Goes on in a block.
    op Branch "cf.br";
    /// Goes on in one of two blocks.
    op CondBranch "cf.cond_br";
}

/// Goes on in `to`, handing it its arguments.
pub fn br<'c>(b: &mut Builder<'c>, to: Block<'c>, arguments: &[Value<'c>]) -> Op<'c> {
    b.op(OpSpec { name: Branch::NAME, operands: arguments, successors: &[to], ..OpSpec::default() })
}
