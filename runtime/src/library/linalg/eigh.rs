//! Eigenvalues and eigenvectors of Hermitian matrices, by the crate `faer`.

use faer::Side;
use faer::linalg::solvers::SelfAdjointEigen;

use super::lapack::LEAST;
use super::matrix::{Matrix, are_finite, turn, turned};
use super::number::Number;

/// Ascending eigenvalues, and eigenvectors as columns, of the Hermitian matrix in the lower triangle of `a`; all NaN where there are none.
pub fn eigh<N: Number>(a: &Matrix<N>) -> (Vec<f64>, Matrix<N>) {
    let n = a.rows;
    match a.is_finite().then(|| SelfAdjointEigen::new(a.view(), Side::Lower)) {
        Some(Ok(parts)) => (parts.S().column_vector().iter().map(|value| value.re()).collect(), Matrix::of(parts.U())),
        _ => (vec![f64::NAN; n], Matrix::build(n, n, |_, _| N::real(f64::NAN))),
    }
}

/// What the host's LAPACK gives, where that is worth a call: the eigenvalues; the eigenvectors are written where they are wanted.
pub fn by_host<N: Number>(a: &[N], n: usize, vectors: Option<&mut [N]>) -> Option<Vec<f64>> {
    let host = N::lapack().filter(|_| n > LEAST && are_finite(a))?;
    let mut columns = turned(a, (n, n));
    let values = host.eigh(&mut columns, n, vectors.is_some())?;
    if let Some(vectors) = vectors {
        turn(&columns, (n, n), vectors);
    }
    Some(values)
}

/// Ascending eigenvalues alone.
pub fn values<N: Number>(a: &Matrix<N>) -> Vec<f64> {
    match a.is_finite().then(|| a.view().self_adjoint_eigenvalues(Side::Lower)) {
        Some(Ok(values)) => values.iter().map(|value| N::from_real_impl(value).re()).collect(),
        _ => vec![f64::NAN; a.rows],
    }
}
