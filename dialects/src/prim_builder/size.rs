//! Sizes: numbers that are folded while lowering, or `index` values that the program computes.

use std::ops::{Add, Div, Mul, Sub};

use crate::aten::op;
use crate::prim::sizes::{self, Arithmetic};
use crate::{capture, prim};
use strata_core::ir::{DYNAMIC, Value};
use strata_core::upstream::{arith, scf};

use super::builder::Prim;
use super::tensor::Tensor;

/// A size or another integer of the program.
#[derive(Clone, Copy)]
pub enum Size<'c> {
    /// Known.
    Const(i64),
    /// A value of type `index`.
    Sym(Sym<'c>),
}

/// A symbolic size and the builder that it computes with.
#[derive(Clone, Copy)]
pub struct Sym<'c> {
    pub(super) prim: &'c Prim<'c>,
    pub(super) value: Value<'c>,
}

/// What overflows stays at the end of the range, where no tensor is so large, and is not taken for a size that is not known.
fn held(value: i64) -> i64 {
    value.max(DYNAMIC + 1)
}

impl From<i64> for Size<'_> {
    fn from(value: i64) -> Self {
        Size::Const(value)
    }
}

impl<'c> Size<'c> {
    /// The number, if known.
    pub fn known(self) -> Option<i64> {
        match self {
            Size::Const(value) => Some(value),
            Size::Sym(_) => None,
        }
    }

    /// The number as types and attributes spell it.
    pub fn static_size(self) -> i64 {
        self.known().unwrap_or(DYNAMIC)
    }

    /// Whether both are known to be the same.
    pub fn same(self, other: Size<'c>) -> bool {
        match (self, other) {
            (Size::Const(a), Size::Const(b)) => a == b,
            (Size::Sym(a), Size::Sym(b)) => a.value == b.value,
            _ => false,
        }
    }

    /// Whether it is the size of a tensor: then it is not negative.
    pub fn is_of_tensor(self) -> bool {
        let Size::Sym(sym) = self else { return false };
        sym.value.defining_op().is_some_and(|op| op::SYM_SIZE_INT.is(op) || matches!(op.name(), capture::Dim::NAME | prim::Dim::NAME))
    }

    /// Whether it is the number of a step of an `scf.for`, which stays within the loop's bounds.
    pub fn counts(self) -> bool {
        let Size::Sym(sym) = self else { return false };
        let block = sym.value.owner_block().filter(|_| sym.value.defining_op().is_none() && sym.value.index() == 0);
        block.and_then(|block| block.parent_op()).is_some_and(|op| op.isa::<scf::For>())
    }

    /// Known to be 1.
    pub fn is_one(self) -> bool {
        self.known() == Some(1)
    }

    /// Computes `op` of arith, or folds it.
    fn arith(self, op: &'static str, other: Size<'c>, fold: fn(i64, i64) -> i64) -> Size<'c> {
        let prim = match (self, other) {
            (Size::Const(a), Size::Const(b)) => return Size::Const(fold(a, b)),
            (Size::Sym(sym), _) | (_, Size::Sym(sym)) => sym.prim,
        };
        prim.index_op(op, &[self, other])
    }

    /// Quotient rounded up, of a non-negative number.
    pub fn ceil_div(self, by: i64) -> Size<'c> {
        (self + (by - 1)) / by
    }

    /// Remainder of non-negative numbers.
    pub fn modulo(self, other: impl Into<Size<'c>>) -> Size<'c> {
        let other = other.into();
        if other.is_one() {
            return Size::Const(0);
        }
        match other {
            Size::Const(_) => self.arith(arith::RemSI::NAME, other, |a, b| if b == 0 { 0 } else { a % b }),
            Size::Sym(_) => self.arith(arith::RemSI::NAME, other.max(1), i64::wrapping_rem),
        }
    }

    /// The smaller one.
    pub fn min(self, other: impl Into<Size<'c>>) -> Size<'c> {
        let other = other.into();
        if self.same(other) { self } else { self.arith(arith::MinSI::NAME, other, i64::min) }
    }

    /// The larger one.
    pub fn max(self, other: impl Into<Size<'c>>) -> Size<'c> {
        let other = other.into();
        if self.same(other) { self } else { self.arith(arith::MaxSI::NAME, other, i64::max) }
    }
}

impl<'c, S: Into<Size<'c>>> Add<S> for Size<'c> {
    type Output = Size<'c>;

    fn add(self, other: S) -> Size<'c> {
        match (self, other.into()) {
            (size, Size::Const(0)) | (Size::Const(0), size) => size,
            (a, b) => a.arith(arith::AddI::NAME, b, |a, b| held(a.saturating_add(b))),
        }
    }
}

impl<'c, S: Into<Size<'c>>> Sub<S> for Size<'c> {
    type Output = Size<'c>;

    fn sub(self, other: S) -> Size<'c> {
        match (self, other.into()) {
            (size, Size::Const(0)) => size,
            (a, b) if a.same(b) => Size::Const(0),
            (a, b) => a.arith(arith::SubI::NAME, b, |a, b| held(a.saturating_sub(b))),
        }
    }
}

impl<'c, S: Into<Size<'c>>> Mul<S> for Size<'c> {
    type Output = Size<'c>;

    fn mul(self, other: S) -> Size<'c> {
        match (self, other.into()) {
            (size, Size::Const(1)) | (Size::Const(1), size) => size,
            (a, b) => a.arith(arith::MulI::NAME, b, |a, b| held(a.saturating_mul(b))),
        }
    }
}

/// Quotient rounded down.
impl<'c, S: Into<Size<'c>>> Div<S> for Size<'c> {
    type Output = Size<'c>;

    fn div(self, other: S) -> Size<'c> {
        match (self, other.into()) {
            (size, Size::Const(1)) => size,
            (a, b) if a.same(b) && a.known().is_none() => Size::Const(1),
            (a, Size::Const(b)) => a.arith(arith::FloorDivSI::NAME, Size::Const(b), |a, b| if b == 0 { 0 } else { a.div_euclid(b) }),
            // Of sizes that divide each other both are 0.
            (a, b) => a.arith(arith::FloorDivSI::NAME, b.max(1), i64::div_euclid),
        }
    }
}

/// The operands of an op that is about to be made: computes the sizes of its results.
pub(super) struct Operands<'a, 'c> {
    pub tensors: &'a [Tensor<'c>],
    /// The `index` operands, which follow the tensors.
    pub indices: &'a [Size<'c>],
}

/// The formula names an operand or a dimension that is not there.
pub(super) struct Missing;

impl<'c> Arithmetic for Operands<'_, 'c> {
    type Size = Size<'c>;
    type Error = Missing;

    fn known(&mut self, size: i64) -> Size<'c> {
        Size::Const(size)
    }

    fn of(&mut self, operand: usize, dim: usize) -> Result<Size<'c>, Missing> {
        self.tensors.get(operand).and_then(|tensor| tensor.shape().get(dim).copied()).ok_or(Missing)
    }

    fn index(&mut self, operand: usize) -> Result<Size<'c>, Missing> {
        operand.checked_sub(self.tensors.len()).and_then(|index| self.indices.get(index).copied()).ok_or(Missing)
    }

    /// A known one, else the first.
    fn same(&mut self, same: &[sizes::Size]) -> Result<Size<'c>, Missing> {
        let sizes: Vec<_> = same.iter().map(|size| size.eval(self)).collect::<Result<_, _>>()?;
        Ok(sizes.iter().copied().find(|size| size.known().is_some()).unwrap_or(sizes[0]))
    }

    fn add(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Missing> {
        Ok(a + b)
    }

    fn sub(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Missing> {
        Ok(a - b)
    }

    fn mul(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Missing> {
        Ok(a * b)
    }

    fn div(&mut self, a: Size<'c>, by: i64) -> Result<Size<'c>, Missing> {
        Ok(a / by)
    }

    fn at_least(&mut self, a: Size<'c>, low: i64) -> Result<Size<'c>, Missing> {
        Ok(a.max(low))
    }
}

/// The product of sizes: a tensor's number of elements.
pub fn product<'c>(sizes: &[Size<'c>]) -> Size<'c> {
    let known = sizes.iter().filter_map(|s| s.known()).fold(1, |a: i64, b| held(a.saturating_mul(b)));
    if known == 0 {
        return Size::Const(0);
    }
    sizes.iter().filter(|s| s.known().is_none()).fold(Size::Const(known), |a, b| a * *b)
}
