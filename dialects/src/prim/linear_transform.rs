//! Small constant matrices along dimensions.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{ResultSizes, Size};
use super::types::*;

/// Multiplies each line along each of `dims` by the constant `matrix`, one dimension after the other: along a dimension of size `n`
/// element `i` of the result is the sum over `k` of `matrix[i * n + k]` times element `k`. It is the `dot` with a constant that is
/// written out, without the products by zero: what a transform of small tiles is made of. Zeros of the matrix take no part, so they
/// do not meet infinities. Halves are computed in `f32`, rounded once.
///
/// C1: `dims` are different dimensions, all of one known size, at least one. C2: that size divides the number of elements of `matrix`.
/// C3: along `dims` the result has one element for each row of the matrix, its other sizes are those of the operand.
/// C4: element types agree.
#[op("prim.linear_transform", effects(Pure), interfaces(ResultSizes), verify)]
pub struct LinearTransform {
    x: Operand<Floats>,
    result: Result<Floats>,
    dims: Attr<I64s>,
    matrix: Attr<F64s>,
}

/// The number of rows of a matrix of so many elements, by the size of the dimensions that it is for.
fn rows(x: Type<'_>, dims: &[i64], elements: usize) -> Option<i64> {
    let size = *x.shape().get(usize::try_from(*dims.first()?).ok()?)?;
    (size > 0 && size != DYNAMIC).then_some(elements as i64 / size)
}

impl ResultSizes for LinearTransform<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        let (x, dims) = (self.x().ty(), self.dims());
        let rows = rows(x, &dims, self.matrix().len())?;
        Some((0..x.rank()).map(|dim| if dims.contains(&(dim as i64)) { Size::Known(rows) } else { Size::Of(0, dim) }).collect())
    }
}

impl Verify for LinearTransform<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        let dims = check::dims(1, "dims", &self.dims(), x.rank())?;
        let sizes: Vec<_> = dims.iter().map(|&dim| x.shape()[dim]).collect();
        ensure!(sizes.first().is_some_and(|&size| size > 0 && size != DYNAMIC), 1, "`dims` need one size that is known");
        ensure!(sizes.iter().all(|size| *size == sizes[0]), 1, "`dims` have the sizes {sizes:?}");
        let elements = self.matrix().len();
        ensure!(elements > 0 && elements as i64 % sizes[0] == 0, 2, "{elements} elements are no rows of {}", sizes[0]);
        check::result_sizes(3, self.op())?;
        check::same_elements(4, x, self.result().ty())
    }
}
