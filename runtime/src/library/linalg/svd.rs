//! Singular values: reflections to a square triangle, then one-sided Jacobi rotations, which keep small values exact.

use super::matrix::{Matrix, dot, length, rotate, square};
use super::number::Number;
use super::reflect::{product, qr};

/// `A = U S V*`.
pub struct Svd<N> {
    /// Left vectors as columns.
    pub u: Matrix<N>,
    /// Descending singular values.
    pub s: Vec<f64>,
    /// The adjoint of the right vectors.
    pub vh: Matrix<N>,
}

/// Numbers that [`svd`] has at a time: the packed matrix, the left vectors with what turns them, and four smaller matrices.
pub fn room(rows: usize, cols: usize, full: bool) -> usize {
    let (long, short) = (rows.max(cols), rows.min(cols));
    let left = if full { long } else { short };
    2 * long * short + 2 * long * left + left * left + 4 * short * short
}

/// The decomposition of `a`, with square U and V when `full`.
pub fn svd<N: Number>(a: Matrix<N>, full: bool) -> Svd<N> {
    if a.rows < a.cols {
        let Svd { u, s, vh } = svd(a.adjoint(), full);
        return Svd { u: vh.adjoint(), s, vh: u.adjoint() };
    }
    let (rows, n) = (a.rows, a.cols);
    let (packed, taus) = qr(a);
    let q = product(&packed, &taus, if full { rows } else { n }, 0);
    // The columns of R* are orthogonalised by V; both are kept with their columns as rows.
    let mut r = Matrix::build(n, n, |j, c| if c >= j { packed[(j, c)].conj() } else { N::ZERO });
    let mut v = Matrix::identity(n, n);
    orthogonalise(&mut r, &mut v);

    let lengths: Vec<f64> = (0..n).map(|j| length(r.row(j))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|x, y| lengths[*y].total_cmp(&lengths[*x]));
    let s: Vec<f64> = order.iter().map(|j| lengths[*j]).collect();
    let mut vh = Matrix::zeros(n, n);
    for (k, j) in order.iter().enumerate() {
        if s[k] > 0.0 && s[k] >= s[0] * f64::MIN_POSITIVE.sqrt() {
            vh.row_mut(k).iter_mut().zip(r.row(*j)).for_each(|(to, x)| *to = x.conj().scale(1.0 / s[k]));
        } else {
            complete(&mut vh, k);
        }
    }
    // R = V S U*, so the left vectors of A are Q V.
    let turn = Matrix::build(q.cols, q.cols, |r, c| match (r < n, c < n) {
        (true, true) => v[(order[c], r)],
        _ if r == c => N::ONE,
        _ => N::ZERO,
    });
    Svd { u: q.times(&turn), s, vh }
}

/// Rotates pairs of rows until all are orthogonal; `v` takes part.
fn orthogonalise<N: Number>(r: &mut Matrix<N>, v: &mut Matrix<N>) {
    const SWEEPS: usize = 40;
    // What rounding leaves of the product of orthogonal rows; with less than LAPACK's `gesvj` allows no sweep would be the last.
    let rounding = f64::EPSILON * (r.cols as f64).sqrt();
    // Lengths change where rows are rotated only, which is seldom in the last sweeps.
    let mut squares: Vec<f64> = (0..r.rows).map(|p| square(r.row(p))).collect();
    for _ in 0..SWEEPS {
        let mut done = true;
        for p in 0..r.rows {
            for q in p + 1..r.rows {
                let (a, b, mixed) = (squares[p], squares[q], dot(r.row(q), r.row(p)));
                let size = mixed.abs();
                if size <= rounding * (a * b).sqrt() || size < f64::MIN_POSITIVE {
                    continue;
                }
                done = false;
                let ratio = (b - a) / (2.0 * size);
                let t = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = -mixed.scale(c * t / size);
                for m in [&mut *r, &mut *v] {
                    let (x, y) = m.two_rows(p, q);
                    rotate(x, y, c, s);
                }
                [squares[p], squares[q]] = [p, q].map(|k| square(r.row(k)));
            }
        }
        if done {
            return;
        }
    }
}

/// Fills a row with a unit vector orthogonal to the rows before it.
fn complete<N: Number>(m: &mut Matrix<N>, at: usize) {
    for axis in 0..m.cols {
        let mut line: Vec<N> = (0..m.cols).map(|c| if c == axis { N::ONE } else { N::ZERO }).collect();
        // Twice is enough.
        for _ in 0..2 {
            for k in 0..at {
                let along = dot(m.row(k), &line);
                line.iter_mut().zip(m.row(k)).for_each(|(x, y)| *x -= along * *y);
            }
        }
        let size = length(&line);
        if size * (m.cols as f64).sqrt() > 0.5 {
            m.row_mut(at).iter_mut().zip(line).for_each(|(to, x)| *to = x.scale(1.0 / size));
            return;
        }
    }
}
