//! Sizes of the results of ops as expressions, and values of index arithmetic.

use super::dims::{Dims, Symbol};
use super::{Expr, Interval};
use strata_core::dialect::Traits;
use strata_core::ir::{DYNAMIC, Op, Value};
use strata_core::upstream::arith;
use strata_dialects::prim::sizes::{self, Arithmetic, Size};
use strata_dialects::{capture, prim};

/// Whether all tensor operands and results of an op have one shape.
pub(super) fn is_shape_preserving(op: Op<'_>) -> bool {
    op.dialect() == "prim" && op.def().is_some_and(|def| def.traits.has(Traits::ELEMENTWISE))
}

/// Sizes of a result. What the type knows wins; what the op does not say is a symbol of its own.
pub(super) fn infer<'c>(dims: &mut Dims<'c>, op: Op<'c>, result: Value<'c>) -> Vec<Expr> {
    let shape = result.ty().shape();
    if result.ty().is_static() {
        return shape.into_iter().map(Expr::from).collect();
    }
    let rule = sizes::of(op).filter(|sizes| sizes.len() == shape.len());
    (0..shape.len())
        .map(|dim| match (shape[dim], &rule) {
            (DYNAMIC, Some(rule)) => {
                let size = rule[dim].eval(&mut Symbolic { dims, op }).ok().filter(Expr::is_small);
                size.unwrap_or_else(|| dims.symbol(Symbol::Size(result, dim)))
            }
            (DYNAMIC, None) => dims.symbol(Symbol::Size(result, dim)),
            (size, _) => size.into(),
        })
        .collect()
}

/// Sizes as expressions over the symbols of the function.
pub(super) struct Symbolic<'a, 'c> {
    pub dims: &'a mut Dims<'c>,
    pub op: Op<'c>,
}

/// The op names a dimension or an operand that it does not have.
pub(super) struct Malformed;

impl Arithmetic for Symbolic<'_, '_> {
    type Size = Expr;
    type Error = Malformed;

    fn known(&mut self, size: i64) -> Expr {
        size.into()
    }

    fn of(&mut self, operand: usize, dim: usize) -> Result<Expr, Malformed> {
        let operand = self.op.operands().get(operand).copied().ok_or(Malformed)?;
        self.dims.sizes(operand).get(dim).cloned().ok_or(Malformed)
    }

    fn index(&mut self, operand: usize) -> Result<Expr, Malformed> {
        Ok(self.dims.index(self.op.operands().get(operand).copied().ok_or(Malformed)?))
    }

    /// What says most: a number, else the expression in the earliest symbols.
    fn same(&mut self, sizes: &[Size]) -> Result<Expr, Malformed> {
        let mut best = sizes[0].eval(self)?;
        for size in &sizes[1..] {
            let other = size.eval(self)?;
            let says_more = other.as_constant().is_some() || self.dims.resolve(&other) < self.dims.resolve(&best);
            if best.as_constant().is_none() && says_more {
                best = other;
            }
        }
        Ok(best)
    }

    fn add(&mut self, a: Expr, b: Expr) -> Result<Expr, Malformed> {
        Ok(a.add(&b))
    }

    fn sub(&mut self, a: Expr, b: Expr) -> Result<Expr, Malformed> {
        Ok(a.sub(&b))
    }

    fn mul(&mut self, a: Expr, b: Expr) -> Result<Expr, Malformed> {
        Ok(a.mul(&b))
    }

    fn div(&mut self, a: Expr, by: i64) -> Result<Expr, Malformed> {
        Ok(a.floor_div(&by.into()))
    }

    fn at_least(&mut self, a: Expr, low: i64) -> Result<Expr, Malformed> {
        Ok(self.dims.max(&a, &low.into()))
    }
}

/// The value of an op that gives an `index`.
pub(super) fn infer_index<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Expr> {
    if op.isa::<arith::Constant>() {
        return op.int("value").map(Expr::from);
    }
    let operands = op.operands();
    let first = *operands.first()?;
    if op.isa::<prim::Dim>() || op.isa::<capture::Dim>() {
        return dims.sizes(first).get(usize::try_from(op.int("dim")?).ok()?).cloned();
    }
    if !operands.iter().all(|value| value.ty().is_index()) {
        return None;
    }
    let (a, b) = (dims.index(first), dims.index(*operands.get(1)?));
    let positive = |dims: &Dims<'c>, expr: &Expr, from: i64| matches!(dims.bounds(expr), Interval { low: Some(low), .. } if low >= from);
    match op.name() {
        arith::AddI::NAME => Some(a.add(&b)),
        arith::SubI::NAME => Some(a.sub(&b)),
        arith::MulI::NAME => Some(a.mul(&b)),
        arith::FloorDivSI::NAME if positive(dims, &b, 1) => Some(a.floor_div(&b)),
        arith::CeilDivSI::NAME if positive(dims, &b, 1) => Some(a.add(&b).sub(&1.into()).floor_div(&b)),
        // Truncation is rounding down where nothing is negative.
        arith::DivSI::NAME | arith::DivUI::NAME if positive(dims, &a, 0) && positive(dims, &b, 1) => Some(a.floor_div(&b)),
        arith::RemSI::NAME | arith::RemUI::NAME if positive(dims, &a, 0) && positive(dims, &b, 1) => Some(a.modulo(&b)),
        arith::MinSI::NAME => Some(dims.min(&a, &b)),
        arith::MaxSI::NAME => Some(dims.max(&a, &b)),
        _ => None,
    }
}
