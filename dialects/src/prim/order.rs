//! Sorting.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, ResultSizes, Size};
use super::types::*;

/// The elements along `dim` in order, and their former positions. Stable; NaN counts as the largest.
///
/// C1: `dim` is a dimension. C2: the values have the element type of x. C3: the positions are `i64`, both results have the shape of x.
#[op("prim.sort", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Sort {
    x: Operand<Ordered>,
    values: Result<Ordered>,
    positions: Result<Integers>,
    dim: Attr<I64>,
    descending: Attr<Flag>,
}

impl ResultSizes for Sort<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::like(0, self.x().ty().rank()))
    }
}

impl Verify for Sort<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        check::dim(1, self.dim(), x.rank())?;
        check::same_elements(2, x, self.values().ty())?;
        ensure!(self.positions().ty().element_type() == Some(ElementType::I64), 3, "positions are i64");
        check::result_sizes(3, self.op())
    }
}
