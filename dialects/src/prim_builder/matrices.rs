//! Tensors as batches of matrices, their last two dimensions.

use crate::aten::dtype::DType;

use super::builder::Scalar;
use super::gather_along;
use super::size::Size;
use super::tensor::Tensor;

impl<'c> Tensor<'c> {
    /// The complex conjugate.
    pub fn conj(self) -> Tensor<'c> {
        if self.dtype().is_complex() { self.real().complex(-self.imag()) } else { self }
    }

    /// The matrices transposed.
    pub fn flipped(self) -> Tensor<'c> {
        if self.rank() < 2 {
            self.prim.fail("a matrix was expected");
            return self;
        }
        self.swap(self.rank() - 2, self.rank() - 1)
    }

    /// The matrices transposed and conjugated.
    pub fn adjoint(self) -> Tensor<'c> {
        self.flipped().conj()
    }

    /// Rows of the matrices.
    pub fn rows(self) -> Size<'c> {
        self.size(self.rank().wrapping_sub(2))
    }

    /// Columns of the matrices.
    pub fn cols(self) -> Size<'c> {
        self.size(self.rank().wrapping_sub(1))
    }

    /// What of the matrices is below the diagonal (or on it).
    pub fn lower(self, diagonal: bool) -> Tensor<'c> {
        let shape = [self.rows(), self.cols()];
        let (row, col) = (self.prim.iota(DType::I64, &shape, 0), self.prim.iota(DType::I64, &shape, 1));
        let inside = if diagonal { row.greater_equal(col) } else { row.greater(col) };
        inside.select(self, Scalar::Int(0))
    }

    /// What of the matrices is above the diagonal or on it.
    pub fn upper(self) -> Tensor<'c> {
        self.flipped().lower(true).flipped()
    }

    /// The first rows of the matrices.
    pub fn top(self, rows: Size<'c>) -> Tensor<'c> {
        self.slice(self.rank().wrapping_sub(2), 0, rows, 1)
    }

    /// The first columns of the matrices, with zeros after the last one.
    pub fn left(self, cols: Size<'c>) -> Tensor<'c> {
        let dim = self.rank().wrapping_sub(1);
        if cols.same(self.cols()) { self } else { self.pad_dim(dim, Scalar::Int(0), 0, cols - self.cols()) }
    }

    /// The matrices with their rows in another order.
    pub fn ordered(self, order: Tensor<'c>) -> Tensor<'c> {
        let rank = self.rank();
        gather_along(self, rank - 2, order.unsqueeze(rank - 1).broadcast_to(&self.shape()))
    }

    /// Each column times its number.
    pub fn columns_times(self, numbers: Tensor<'c>) -> Tensor<'c> {
        self * numbers.convert(self.dtype()).unsqueeze(numbers.rank() - 1)
    }
}
