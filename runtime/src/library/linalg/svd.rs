//! Singular values and vectors, by the crate `faer`.

use faer::linalg::solvers::Svd as Decomposition;

use super::lapack::LEAST;
use super::matrix::{Matrix, are_finite, turn, turned};
use super::number::Number;

/// `A = U S V*`.
pub struct Svd<N> {
    /// Left vectors as columns.
    pub u: Matrix<N>,
    /// Descending singular values.
    pub s: Vec<f64>,
    /// The adjoint of the right vectors.
    pub vh: Matrix<N>,
}

/// The decomposition of `a`, with square U and V when `full`; all NaN where there is none.
pub fn svd<N: Number>(a: &Matrix<N>, full: bool) -> Svd<N> {
    let (rows, cols, k) = (a.rows, a.cols, a.rows.min(a.cols));
    let (p, q) = if full { (rows, cols) } else { (k, k) };
    if k == 0 {
        return Svd { u: Matrix::identity(rows, p), s: Vec::new(), vh: Matrix::identity(q, cols) };
    }
    let new = if full { Decomposition::new } else { Decomposition::new_thin };
    match a.is_finite().then(|| new(a.view())) {
        Some(Ok(parts)) => Svd {
            u: Matrix::of(parts.U()),
            s: parts.S().column_vector().iter().map(|value| value.re()).collect(),
            vh: Matrix::build(q, cols, |r, c| parts.V()[(c, r)].conj()),
        },
        _ => {
            let none = |rows, cols| Matrix::build(rows, cols, |_, _| N::real(f64::NAN));
            Svd { u: none(rows, p), s: vec![f64::NAN; k], vh: none(q, cols) }
        }
    }
}

/// What the host's LAPACK gives for a matrix of these sizes, where that is worth a call: the singular values; the vectors are written where
/// they are wanted.
pub fn by_host<N: Number>(a: &[N], (m, n): (usize, usize), vectors: Option<[&mut [N]; 2]>) -> Option<Vec<f64>> {
    let host = N::lapack().filter(|_| m.min(n) > LEAST && are_finite(a))?;
    let counts = vectors.as_ref().map(|[u, vh]| (u.len() / m, vh.len() / n));
    let parts = host.svd(&mut turned(a, (m, n)), (m, n), counts)?;
    if let (Some([u, vh]), Some((p, q))) = (vectors, counts) {
        turn(&parts.u, (p, m), u);
        turn(&parts.vh, (n, q), vh);
    }
    Some(parts.s)
}

/// Descending singular values alone.
pub fn values<N: Number>(a: &Matrix<N>) -> Vec<f64> {
    let k = a.rows.min(a.cols);
    match (k > 0 && a.is_finite()).then(|| a.view().singular_values()) {
        Some(Ok(values)) => values.iter().map(|value| N::from_real_impl(value).re()).collect(),
        _ => vec![f64::NAN; k],
    }
}
