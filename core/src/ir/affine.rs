//! Affine expressions and maps.

use super::{Cx, printed};
use mlir_sys::*;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Sub};

/// An affine (or semi-affine) expression over dimensions and symbols.
#[derive(Clone, Copy)]
pub struct AffineExpr<'c> {
    pub(crate) raw: MlirAffineExpr,
    pub(crate) marker: PhantomData<&'c ()>,
}

/// An affine map.
#[derive(Clone, Copy)]
pub struct AffineMap<'c> {
    pub(crate) raw: MlirAffineMap,
    pub(crate) marker: PhantomData<&'c ()>,
}

super::identity!(AffineExpr);
super::identity!(AffineMap);
printed!(AffineExpr, mlirAffineExprPrint);
printed!(AffineMap, mlirAffineMapPrint);

/// What an affine expression is at its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffineKind<'c> {
    /// `d<n>`.
    Dim(usize),
    /// `s<n>`.
    Symbol(usize),
    /// A number.
    Constant(i64),
    /// A sum.
    Add(AffineExpr<'c>, AffineExpr<'c>),
    /// A product.
    Mul(AffineExpr<'c>, AffineExpr<'c>),
    /// Quotient rounded down.
    FloorDiv(AffineExpr<'c>, AffineExpr<'c>),
    /// Quotient rounded up.
    CeilDiv(AffineExpr<'c>, AffineExpr<'c>),
    /// Remainder, not negative.
    Mod(AffineExpr<'c>, AffineExpr<'c>),
}

// SAFETY of this impl: expressions live as long as the context, and each accessor is reached only after the test for its kind.
impl<'c> AffineExpr<'c> {
    fn wrap(self, raw: MlirAffineExpr) -> Self {
        Self { raw, marker: self.marker }
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: see the impl.
        Cx { raw: unsafe { mlirAffineExprGetContext(self.raw) }, marker: PhantomData }
    }

    /// Quotient rounded down.
    pub fn floor_div(self, other: Self) -> Self {
        // SAFETY: see the impl.
        self.wrap(unsafe { mlirAffineFloorDivExprGet(self.raw, other.raw) })
    }

    /// Quotient rounded up.
    pub fn ceil_div(self, other: Self) -> Self {
        // SAFETY: see the impl.
        self.wrap(unsafe { mlirAffineCeilDivExprGet(self.raw, other.raw) })
    }

    /// Remainder.
    pub fn modulo(self, other: Self) -> Self {
        // SAFETY: see the impl.
        self.wrap(unsafe { mlirAffineModExprGet(self.raw, other.raw) })
    }

    /// Puts the results of `map` in the place of the dimensions.
    pub fn compose(self, map: AffineMap<'c>) -> Self {
        // SAFETY: see the impl.
        self.wrap(unsafe { mlirAffineExprCompose(self.raw, map.raw) })
    }

    /// Whether `d<position>` occurs.
    pub fn uses_dim(self, position: usize) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirAffineExprIsFunctionOfDim(self.raw, position as isize) }
    }

    /// Whether `s<position>` occurs.
    pub fn uses_symbol(self, position: usize) -> bool {
        match self.kind() {
            AffineKind::Symbol(at) => at == position,
            AffineKind::Dim(_) | AffineKind::Constant(_) => false,
            AffineKind::Add(a, b)
            | AffineKind::Mul(a, b)
            | AffineKind::FloorDiv(a, b)
            | AffineKind::CeilDiv(a, b)
            | AffineKind::Mod(a, b) => a.uses_symbol(position) || b.uses_symbol(position),
        }
    }

    /// The number, when it is one.
    pub fn as_constant(self) -> Option<i64> {
        match self.kind() {
            AffineKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// What it is at its root.
    pub fn kind(self) -> AffineKind<'c> {
        // SAFETY: see the impl.
        unsafe {
            if mlirAffineExprIsADim(self.raw) {
                return AffineKind::Dim(mlirAffineDimExprGetPosition(self.raw) as usize);
            }
            if mlirAffineExprIsASymbol(self.raw) {
                return AffineKind::Symbol(mlirAffineSymbolExprGetPosition(self.raw) as usize);
            }
            if mlirAffineExprIsAConstant(self.raw) {
                return AffineKind::Constant(mlirAffineConstantExprGetValue(self.raw));
            }
            let lhs = self.wrap(mlirAffineBinaryOpExprGetLHS(self.raw));
            let rhs = self.wrap(mlirAffineBinaryOpExprGetRHS(self.raw));
            if mlirAffineExprIsAAdd(self.raw) {
                AffineKind::Add(lhs, rhs)
            } else if mlirAffineExprIsAMul(self.raw) {
                AffineKind::Mul(lhs, rhs)
            } else if mlirAffineExprIsAFloorDiv(self.raw) {
                AffineKind::FloorDiv(lhs, rhs)
            } else if mlirAffineExprIsACeilDiv(self.raw) {
                AffineKind::CeilDiv(lhs, rhs)
            } else {
                AffineKind::Mod(lhs, rhs)
            }
        }
    }
}

impl<'c> Add for AffineExpr<'c> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        // SAFETY: both expressions live as long as the context.
        self.wrap(unsafe { mlirAffineAddExprGet(self.raw, other.raw) })
    }
}

impl<'c> Mul for AffineExpr<'c> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        // SAFETY: both expressions live as long as the context.
        self.wrap(unsafe { mlirAffineMulExprGet(self.raw, other.raw) })
    }
}

impl<'c> Sub for AffineExpr<'c> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + other * self.cx().constant(-1)
    }
}

// SAFETY of this impl: maps live as long as the context, and indices are below the counts that MLIR gives.
impl<'c> AffineMap<'c> {
    /// The same map over these of its symbols alone, in this (ascending) order. The others must not occur.
    pub fn with_symbols(self, kept: &[usize]) -> Self {
        let (cx, mut map) = (self.cx(), self);
        // A symbol moves to a place that is free by then: of one that does not occur, or has moved before.
        for (to, &from) in kept.iter().enumerate() {
            let (from, to) = (cx.symbol(from), cx.symbol(to));
            // SAFETY: see the impl.
            let raw = unsafe { mlirAffineMapReplace(map.raw, from.raw, to.raw, self.num_dims() as isize, self.num_symbols() as isize) };
            map = Self { raw, marker: self.marker };
        }
        cx.map(self.num_dims(), kept.len(), &map.results())
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: see the impl.
        Cx { raw: unsafe { mlirAffineMapGetContext(self.raw) }, marker: PhantomData }
    }

    /// Number of dimensions.
    pub fn num_dims(self) -> usize {
        // SAFETY: see the impl.
        unsafe { mlirAffineMapGetNumDims(self.raw) as usize }
    }

    /// Number of symbols.
    pub fn num_symbols(self) -> usize {
        // SAFETY: see the impl.
        unsafe { mlirAffineMapGetNumSymbols(self.raw) as usize }
    }

    /// Its results.
    pub fn results(self) -> Vec<AffineExpr<'c>> {
        // SAFETY: see the impl.
        unsafe {
            (0..mlirAffineMapGetNumResults(self.raw))
                .map(|index| AffineExpr { raw: mlirAffineMapGetResult(self.raw, index), marker: PhantomData })
                .collect()
        }
    }

    /// Whether it is the identity.
    pub fn is_identity(self) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirAffineMapIsIdentity(self.raw) }
    }
}
