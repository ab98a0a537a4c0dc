//! What decompositions into calls of the runtime library share.

use strata_dialects::prim_builder::Tensor;

use super::args::Args;
use super::matmul::matmul;
use super::view::matrix_diagonal;

/// The diagonals of matrices.
pub(super) fn diagonal(x: Tensor<'_>) -> Tensor<'_> {
    matrix_diagonal(x, 0, x.rank().wrapping_sub(2), x.rank().wrapping_sub(1))
}

/// The product of matrices with the adjoint of others.
pub(super) fn times_adjoint<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    matmul(x, y.adjoint())
}

/// Tensors of matrices with one batch shape, the one that theirs broadcast to.
pub(super) fn paired<'c, const N: usize>(tensors: [(Tensor<'c>, usize); N]) -> [Tensor<'c>; N] {
    let prim = tensors[0].0.prim();
    if tensors.iter().any(|(t, core)| t.rank() < *core) {
        prim.fail("a matrix was expected");
        return tensors.map(|(t, _)| t);
    }
    let shapes: Vec<_> = tensors.iter().map(|(t, core)| t.shape()[..t.rank() - core].to_vec()).collect();
    let batch = prim.common_sizes(&shapes.iter().map(|s| s.as_slice()).collect::<Vec<_>>());
    tensors.map(|(t, core)| t.broadcast_to(&[&batch, &t.shape()[t.rank() - core..]].concat()))
}

/// Whether an operator's own errors were asked for.
pub(super) fn checked<'c>(a: &Args<'c>, info: Tensor<'c>, message: &str) {
    if a.bool("check_errors") {
        a.prim.check(info, message);
    }
}
