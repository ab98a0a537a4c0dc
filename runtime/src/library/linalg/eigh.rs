//! Eigenvalues and eigenvectors of Hermitian matrices, by the crate `faer`.

use faer::Side;
use faer::linalg::solvers::SelfAdjointEigen;

use super::matrix::Matrix;
use super::number::Number;

/// Ascending eigenvalues, and eigenvectors as columns, of the Hermitian matrix in the lower triangle of `a`; all NaN where there are none.
pub fn eigh<N: Number>(a: &Matrix<N>) -> (Vec<f64>, Matrix<N>) {
    let n = a.rows;
    match a.is_finite().then(|| SelfAdjointEigen::new(a.view(), Side::Lower)) {
        Some(Ok(parts)) => (parts.S().column_vector().iter().map(|value| value.re()).collect(), Matrix::of(parts.U())),
        _ => (vec![f64::NAN; n], Matrix::build(n, n, |_, _| N::real(f64::NAN))),
    }
}

/// Ascending eigenvalues alone.
pub fn values<N: Number>(a: &Matrix<N>) -> Vec<f64> {
    match a.is_finite().then(|| a.view().self_adjoint_eigenvalues(Side::Lower)) {
        Some(Ok(values)) => values.iter().map(|value| N::from_real_impl(value).re()).collect(),
        _ => vec![f64::NAN; a.rows],
    }
}
