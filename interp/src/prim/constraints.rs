//! What an op needs of the sizes that it is given: its dialect's constraints, in numbers.

use super::Node;
use crate::value::{InterpError, fail};
use strata_dialects::prim::sizes::{self, Arithmetic, Constraint};

/// Sees to it that the operands have the sizes that the op needs.
pub(super) fn check(node: &Node<'_>) -> Result<(), InterpError> {
    for constraint in sizes::constraints(node.op) {
        let (a, b, holds): (_, _, fn(i64, i64) -> bool) = match &constraint {
            Constraint::Equal(a, b) => (a, b, |a, b| a == b),
            Constraint::AtMost(a, b) => (a, b, |a, b| a <= b),
        };
        let (a, b) = (a.eval(&mut Given(node))?, b.eval(&mut Given(node))?);
        if !holds(a, b) {
            let wanted = if matches!(constraint, Constraint::Equal(..)) { "equal" } else { "at most" };
            return Err(fail(format!("the size {a} must be {wanted} {b}")));
        }
    }
    Ok(())
}

/// Sizes as the operands have them.
struct Given<'n, 'c>(&'n Node<'c>);

impl Given<'_, '_> {
    fn small(size: Option<i64>) -> Result<i64, InterpError> {
        size.ok_or_else(|| fail("a size is out of range"))
    }
}

impl Arithmetic for Given<'_, '_> {
    type Size = i64;
    type Error = InterpError;

    fn known(&mut self, size: i64) -> i64 {
        size
    }

    fn of(&mut self, operand: usize, dim: usize) -> Result<i64, InterpError> {
        let size = self.0.tensor(operand)?.shape().get(dim).copied();
        Self::small(size.and_then(|size| i64::try_from(size).ok()))
    }

    fn index(&mut self, operand: usize) -> Result<i64, InterpError> {
        Self::small(i64::try_from(self.0.scalar(operand)?.int()).ok())
    }

    fn add(&mut self, a: i64, b: i64) -> Result<i64, InterpError> {
        Self::small(a.checked_add(b))
    }

    fn sub(&mut self, a: i64, b: i64) -> Result<i64, InterpError> {
        Self::small(a.checked_sub(b))
    }

    fn mul(&mut self, a: i64, b: i64) -> Result<i64, InterpError> {
        Self::small(a.checked_mul(b))
    }

    fn div(&mut self, a: i64, by: i64) -> Result<i64, InterpError> {
        Self::small(a.checked_div_euclid(by))
    }

    fn at_least(&mut self, a: i64, low: i64) -> Result<i64, InterpError> {
        Ok(a.max(low))
    }
}
