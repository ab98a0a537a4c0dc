//! `--drop-zero`: `x + 0` is `x`, saturating or not.

use crate::dialect::Add;
use strata_core::prelude::*;
use strata_core::rewrite::{Greedy, apply_greedily};

/// Removes additions of zero.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("sat"))]
pub struct DropZero {
    /// Additions removed.
    dropped: Counter,
}

impl Pass for DropZero {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> std::result::Result<(), PassError> {
        let before = op.find_all(Add::NAME).len();
        let mut patterns = Patterns::new(op.cx());
        patterns.on::<Add>("add-zero", 1, |add, rewriter| {
            let constant = add.rhs().defining_op().filter(|op| op.is("arith.constant")).ok_or("the right operand is no constant")?;
            if constant.int("value") != Some(0) {
                return Err("the constant is not zero".into());
            }
            rewriter.replace(add.op(), &[add.lhs()]);
            Ok(())
        });
        apply_greedily(op, patterns, Greedy::default())?;
        self.dropped.add(before - op.find_all(Add::NAME).len());
        Ok(())
    }
}
