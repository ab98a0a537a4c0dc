//! Affine expressions, read once and evaluated at many points.

use strata_core::ir::{AffineExpr, AffineKind, AffineMap};

use super::value::{InterpError, fail};

/// An expression over dims and symbols.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    Dim(usize),
    Symbol(usize),
    Constant(i64),
    Binary(Operator, Box<(Expr, Expr)>),
}

/// An operator of two expressions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
}

impl Expr {
    /// Reads an expression.
    pub fn of(e: AffineExpr<'_>) -> Expr {
        let both = |o, a, b| Expr::Binary(o, Box::new((Expr::of(a), Expr::of(b))));
        match e.kind() {
            AffineKind::Dim(d) => Expr::Dim(d),
            AffineKind::Symbol(s) => Expr::Symbol(s),
            AffineKind::Constant(c) => Expr::Constant(c),
            AffineKind::Add(a, b) => both(Operator::Add, a, b),
            AffineKind::Mul(a, b) => both(Operator::Mul, a, b),
            AffineKind::FloorDiv(a, b) => both(Operator::FloorDiv, a, b),
            AffineKind::CeilDiv(a, b) => both(Operator::CeilDiv, a, b),
            AffineKind::Mod(a, b) => both(Operator::Mod, a, b),
        }
    }

    /// The results of a map.
    pub fn map(map: AffineMap<'_>) -> Vec<Expr> {
        map.results().into_iter().map(Expr::of).collect()
    }

    /// The value at a point.
    pub fn value(&self, dims: &[i64], symbols: &[i64]) -> Result<i64, InterpError> {
        let value = match self {
            Expr::Dim(d) => dims.get(*d).copied(),
            Expr::Symbol(s) => symbols.get(*s).copied(),
            Expr::Constant(c) => Some(*c),
            Expr::Binary(o, parts) => {
                let (a, b) = (parts.0.value(dims, symbols)?, parts.1.value(dims, symbols)?);
                match o {
                    Operator::Add => a.checked_add(b),
                    Operator::Mul => a.checked_mul(b),
                    Operator::FloorDiv if b > 0 => Some(a.div_euclid(b)),
                    Operator::CeilDiv if b > 0 => Some(-(-a).div_euclid(b)),
                    Operator::Mod if b > 0 => Some(a.rem_euclid(b)),
                    _ => None,
                }
            }
        };
        value.ok_or_else(|| fail("an index expression has no value"))
    }
}
