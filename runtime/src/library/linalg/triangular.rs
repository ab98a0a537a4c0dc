//! Triangular factors: Cholesky's, Gauss's, and the systems that they leave.

use super::matrix::{Matrix, dot, square};
use super::number::Number;

/// The lower factor of the Hermitian matrix in the lower triangle of `a`, and the order of the first minor that is not
/// positive, or 0.
pub fn cholesky<N: Number>(a: &Matrix<N>) -> (Matrix<N>, i32) {
    let mut l = Matrix::zeros(a.rows, a.cols);
    for r in 0..a.rows {
        for c in 0..r {
            let rest = a[(r, c)] - dot(&l.row(c)[..c], &l.row(r)[..c]);
            l[(r, c)] = rest / l[(c, c)];
        }
        let rest = a[(r, r)].re() - square(&l.row(r)[..r]);
        if rest.is_nan() || rest <= 0.0 {
            return (l, r as i32 + 1);
        }
        l[(r, r)] = rest.sqrt().into();
    }
    (l, 0)
}

/// An LU factorisation.
pub struct Lu<N> {
    /// U on and above the diagonal, L below it, without its ones.
    pub factors: Matrix<N>,
    /// The row that each step exchanged its own with, from 1.
    pub pivots: Vec<i32>,
    /// The first step whose pivot is zero, from 1, or 0.
    pub info: i32,
}

/// Gauss's elimination, with the largest pivot of each column unless `nopivot`.
pub fn lu<N: Number>(mut a: Matrix<N>, nopivot: bool) -> Lu<N> {
    let (mut pivots, mut info) = (Vec::new(), 0);
    for k in 0..a.rows.min(a.cols) {
        let larger = |best: usize, r: usize| if a[(r, k)].size() > a[(best, k)].size() { r } else { best };
        let best = if nopivot { k } else { (k..a.rows).fold(k, larger) };
        pivots.push(best as i32 + 1);
        if a[(best, k)] == N::ZERO {
            info = if info == 0 { k as i32 + 1 } else { info };
            continue;
        }
        a.swap_rows(k, best);
        for r in k + 1..a.rows {
            let factor = a[(r, k)] / a[(k, k)];
            a[(r, k)] = factor;
            a.subtract(r, k, factor, k + 1);
        }
    }
    Lu { factors: a, pivots, info }
}

/// The order that row exchanges bring `rows` rows into.
pub fn permutation(pivots: &[i32], rows: usize) -> Vec<i64> {
    let mut order: Vec<i64> = (0..rows as i64).collect();
    for (k, pivot) in pivots.iter().enumerate() {
        let other = usize::try_from(*pivot - 1).unwrap_or(k);
        if k < rows && other < rows {
            order.swap(k, other);
        }
    }
    order
}

/// X of `A X = B`, where only one triangle of A is read.
pub fn solve<N: Number>(a: &Matrix<N>, mut x: Matrix<N>, upper: bool, unit: bool) -> Matrix<N> {
    let n = a.rows;
    for step in 0..n {
        let r = if upper { n - 1 - step } else { step };
        let solved = if upper { r + 1..n } else { 0..r };
        for k in solved {
            x.subtract(r, k, a[(r, k)], 0);
        }
        if !unit {
            let pivot = a[(r, r)];
            x.row_mut(r).iter_mut().for_each(|x| *x /= pivot);
        }
    }
    x
}
