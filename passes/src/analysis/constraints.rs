//! What ops need of sizes, as expressions, and whether it is shown.

use super::sizes::Symbolic;
use super::{Dims, Expr};
use strata_core::ir::{Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;
use strata_dialects::capture;
use strata_dialects::prim::sizes;

/// What must hold of two sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// They are one size.
    Equal(Expr, Expr),
    /// The first is not larger than the second.
    AtMost(Expr, Expr),
}

impl<'c> Dims<'c> {
    /// What an op needs of sizes: each constraint that it states, and the sizes that a `capture.bind_dims` claims of a computed tensor.
    /// (Those that it claims of an argument are checked by every call.)
    pub fn constraints(&mut self, op: Op<'c>) -> Vec<Constraint> {
        if op.isa::<capture::BindDims>() {
            return self.claims(op);
        }
        let mut of = |size: &sizes::Size| size.eval(&mut Symbolic { dims: self, op }).ok();
        let mut constraint = |stated: &sizes::Constraint| match stated {
            sizes::Constraint::Equal(a, b) => Some(Constraint::Equal(of(a)?, of(b)?)),
            sizes::Constraint::AtMost(a, b) => Some(Constraint::AtMost(of(a)?, of(b)?)),
        };
        sizes::constraints(op).iter().filter_map(&mut constraint).collect()
    }

    fn claims(&mut self, op: Op<'c>) -> Vec<Constraint> {
        let Some(tensor) = op.operands().first().copied().filter(|tensor| tensor.defining_op().is_some()) else { return Vec::new() };
        let claimed = self.bound(op).unwrap_or_default();
        self.sizes(tensor).into_iter().zip(claimed).map(|(size, claimed)| Constraint::Equal(size, claimed)).collect()
    }

    /// Takes in what holds inside of an op: the number of a loop's step is one of those from the first to the last.
    pub fn enter(&mut self, op: Op<'c>) {
        let step = op.regions().first().filter(|_| op.isa::<scf::For>()).and_then(|region| region.entry()?.args().first().copied());
        let (Some(step), &[first, end, ..]) = (step.filter(|step| step.ty().is_index()), op.operands().as_slice()) else { return };
        let (step, first, end) = (self.index(step), self.index(first), self.index(end));
        self.assume(&Constraint::AtMost(first, step.clone()));
        self.assume(&Constraint::AtMost(step.add(&1.into()), end));
    }

    /// What a `capture.guard` makes sure of, as far as it compares sizes.
    pub(super) fn guarded(&mut self, op: Op<'c>) -> Vec<Constraint> {
        let mut conditions: Vec<_> = op.operands().first().copied().filter(|_| op.isa::<capture::Guard>()).into_iter().collect();
        let mut found = Vec::new();
        while let Some(made) = conditions.pop().and_then(Value::defining_op) {
            if made.isa::<arith::AndI>() {
                conditions.extend(made.operands());
            }
            found.extend(self.compared(made));
        }
        found
    }

    /// What a comparison of sizes says where it holds.
    fn compared(&mut self, comparison: Op<'c>) -> Option<Constraint> {
        let predicate = CmpIPredicate::of(comparison)?;
        let (lhs, rhs) = (comparison.operand(0), comparison.operand(1));
        if !lhs.ty().is_index() {
            return None;
        }
        let (a, b) = (self.index(lhs), self.index(rhs));
        match predicate {
            CmpIPredicate::Eq => Some(Constraint::Equal(a, b)),
            CmpIPredicate::Sle => Some(Constraint::AtMost(a, b)),
            CmpIPredicate::Sge => Some(Constraint::AtMost(b, a)),
            CmpIPredicate::Slt => Some(Constraint::AtMost(a.add(&1.into()), b)),
            CmpIPredicate::Sgt => Some(Constraint::AtMost(b.add(&1.into()), a)),
            _ => None,
        }
    }

    /// Whether a constraint is shown to hold.
    pub fn holds(&self, constraint: &Constraint) -> bool {
        match constraint {
            Constraint::Equal(a, b) => self.equal(a, b),
            Constraint::AtMost(a, b) => self.less_or_equal(a, b) == Some(true),
        }
    }

    /// Takes in that a constraint holds.
    pub fn assume(&mut self, constraint: &Constraint) {
        match constraint {
            Constraint::Equal(a, b) => self.equate(a, b),
            Constraint::AtMost(a, b) => self.not_negative.push(b.sub(a)),
        }
    }
}
