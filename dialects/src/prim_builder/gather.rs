//! Elements at computed positions.

use crate::aten::dtype::DType;

use super::tensor::Tensor;

/// The coordinates of all points of `index`, with `index` itself in dimension `dim`.
pub fn coordinates<'c>(index: Tensor<'c>, dim: usize) -> Vec<Tensor<'c>> {
    let shape = index.shape();
    let along = |d: usize| if d == dim { index } else { index.prim().iota(DType::I64, &shape, d) };
    (0..index.rank()).map(along).collect()
}

/// Elements of `x` at the positions of `index` along `dim`.
pub fn gather_along<'c>(x: Tensor<'c>, dim: usize, index: Tensor<'c>) -> Tensor<'c> {
    if x.rank() == 0 {
        return x.broadcast_to(&index.shape());
    }
    if index.rank() == 0 {
        return x.gather(&[index], &[0]);
    }
    x.gather(&coordinates(index, dim), &x.all_dims())
}
