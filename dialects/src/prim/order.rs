//! Sorting.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::types::*;

/// The elements along `dim` in order, and their former positions. Stable; NaN counts as the largest.
///
/// C1: `dim` is a dimension. C2: the values have the type of x. C3: the positions are `i64` in the shape of x.
#[op("prim.sort", effects(Pure), verify)]
pub struct Sort {
    x: Operand<Ordered>,
    values: Result<Ordered>,
    positions: Result<Integers>,
    dim: Attr<I64>,
    descending: Attr<Flag>,
}

impl Verify for Sort<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        check::dim(1, self.dim(), x.rank())?;
        check::same_elements(2, x, self.values().ty())?;
        check::result_shape(2, self.values().ty(), &x.shape())?;
        ensure!(self.positions().ty().element_type() == Some(ElementType::I64), 3, "positions are i64");
        check::result_shape(3, self.positions().ty(), &x.shape())
    }
}
