//! Tensors from numbers, and numbers from tensors.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, ResultSizes, Size};
use super::types::*;

/// A constant tensor.
///
/// C1: `value` has the result's type.
#[op("prim.constant", traits(ConstantLike), effects(Pure), verify)]
pub struct Constant {
    result: Result<AnyTensor>,
    value: Attr<Dense>,
}

impl Verify for Constant<'_> {
    fn verify(self) -> Checked {
        let (value, result) = (self.value().ty(), self.result().ty());
        ensure!(value == result, 1, "`value` has the type {value}, the result {result}");
        Ok(())
    }
}

/// The index along dimension `dim`, at every point.
///
/// C1: `dim` is a dimension of the result. C2: one `index` operand per `?` of the result.
#[op("prim.iota", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Iota {
    sizes: Variadic<Index>,
    result: Result<Numbers>,
    dim: Attr<I64>,
}

impl ResultSizes for Iota<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::spelled(&self.result().ty().shape(), 0))
    }
}

impl Verify for Iota<'_> {
    fn verify(self) -> Checked {
        let shape = self.result().ty().shape();
        check::dim(1, self.dim(), shape.len())?;
        check::one_per_unknown(2, self.sizes().len(), &shape)
    }
}

/// A scalar value as a 0-d tensor; `index` becomes `i64`.
///
/// C1: the result is 0-d and has the scalar's type (`i64` for `index`).
#[op("prim.splat", effects(Pure), verify)]
pub struct Splat {
    scalar: Operand<Scalar>,
    result: Result<Computed>,
}

impl Verify for Splat<'_> {
    fn verify(self) -> Checked {
        let (scalar, result) = (self.scalar().ty().element_type(), self.result().ty());
        let wanted = if scalar == Some(ElementType::Index) { Some(ElementType::I64) } else { scalar };
        ensure!(result.rank() == 0 && result.element_type() == wanted, 1, "{} is not the 0-d tensor of a {}", result, self.scalar().ty());
        Ok(())
    }
}

/// The element of a 0-d tensor as a scalar value.
///
/// C1: the tensor is 0-d and has the result's type.
#[op("prim.item", effects(Pure), verify)]
pub struct Item {
    x: Operand<Computed>,
    result: Result<Scalar>,
}

impl Verify for Item<'_> {
    fn verify(self) -> Checked {
        let ty = self.x().ty();
        ensure!(ty.rank() == 0 && ty.element() == self.result().ty(), 1, "{ty} does not hold one {}", self.result().ty());
        Ok(())
    }
}

/// Random numbers of the generator Philox 4x32-10: element i (row-major) is number `offset + i` of stream `seed`.
///
/// `kind` is `bits` (integers), `uniform` (floats in [0, 1)) or `normal` (mean 0, variance 1).
///
/// C1: `kind` is known. C2: seed and offset are 0-d tensors of `i64`. C3: one `index` operand per `?` of the result.
#[op("prim.rng", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Rng {
    seed: Operand<Integers>,
    offset: Operand<Integers>,
    sizes: Variadic<Index>,
    result: Result<Reals>,
    kind: Attr<Str>,
}

impl ResultSizes for Rng<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::spelled(&self.result().ty().shape(), 2))
    }
}

impl Verify for Rng<'_> {
    fn verify(self) -> Checked {
        check::kind(1, &self.kind(), &["bits", "uniform", "normal"])?;
        for ty in [self.seed().ty(), self.offset().ty()] {
            ensure!(ty.rank() == 0 && ty.element_type() == Some(ElementType::I64), 2, "{ty} is not tensor<i64>");
        }
        check::one_per_unknown(3, self.sizes().len(), &self.result().ty().shape())
    }
}
