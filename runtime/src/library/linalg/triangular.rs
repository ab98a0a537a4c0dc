//! Triangular factors: Cholesky's, Gauss's, and the systems that they leave. The crate `faer` computes them by blocks; where a pivot is
//! zero or not positive, which LAPACK goes on from in its own way, they are computed element by element. So are small matrices, whose
//! blocks would cost more than their elements.

use faer::linalg::solvers::Llt;
use faer::linalg::{lu, triangular_solve};
use faer::{MatMut, MatRef, Par, Side};

use faer::dyn_stack::{MemBuffer, MemStack};

use super::matrix::{Matrix, dot, square, with_vectors};
use super::number::Number;

/// Rows or columns of a matrix that is computed element by element: its elements stay in the first caches.
const SMALL: usize = 96;

/// The lower factor of the Hermitian matrix in the lower triangle of `a`, and the order of the first minor that is not
/// positive, or 0.
pub fn cholesky<N: Number>(a: &Matrix<N>) -> (Matrix<N>, i32) {
    let n = a.rows;
    let by_blocks = n > SMALL && a.is_finite();
    match by_blocks.then(|| Llt::new(a.columns().as_ref(), Side::Lower)) {
        Some(Ok(parts)) => (Matrix::build(n, n, |r, c| if c <= r { parts.L()[(r, c)] } else { N::ZERO }), 0),
        _ => with_vectors(|| cholesky_by_rows(a)),
    }
}

/// Above the diagonal, and behind the minor that is not positive, nothing is computed.
#[inline(always)]
fn cholesky_by_rows<N: Number>(a: &Matrix<N>) -> (Matrix<N>, i32) {
    let mut l = Matrix::zeros(a.rows, a.rows);
    for r in 0..a.rows {
        for c in 0..r {
            let rest = a[(r, c)] - dot(&l.row(c)[..c], &l.row(r)[..c]);
            l[(r, c)] = rest / l[(c, c)];
        }
        let rest = a[(r, r)].re() - square(&l.row(r)[..r]);
        if rest.is_nan() || rest <= 0.0 {
            return (l, r as i32 + 1);
        }
        l[(r, r)] = N::real(rest.sqrt());
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
pub fn lu<N: Number>(a: Matrix<N>, nopivot: bool) -> Lu<N> {
    let by_blocks = (!nopivot && a.rows.min(a.cols) > SMALL).then(|| lu_by_blocks(&a)).flatten();
    by_blocks.unwrap_or_else(|| with_vectors(|| lu_by_steps(a, nopivot)))
}

/// Nothing where a pivot is zero or something is not finite.
fn lu_by_blocks<N: Number>(a: &Matrix<N>) -> Option<Lu<N>> {
    let (rows, steps) = (a.rows, a.rows.min(a.cols));
    let mut columns = a.columns();
    let (mut order, mut inverse) = (vec![0usize; rows], vec![0usize; rows]);
    let mut memory =
        MemBuffer::new(lu::partial_pivoting::factor::lu_in_place_scratch::<usize, N>(rows, a.cols, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    lu::partial_pivoting::factor::lu_in_place(columns.as_mut(), &mut order, &mut inverse, Par::Seq, stack, Default::default());
    let factors = Matrix::of(columns.as_ref());
    if !factors.is_finite() || (0..steps).any(|k| factors[(k, k)] == N::ZERO) {
        return None;
    }
    Some(Lu { factors, pivots: exchanges(&order, steps), info: 0 })
}

/// The exchanges, one a step, that bring rows into an order.
fn exchanges(order: &[usize], steps: usize) -> Vec<i32> {
    let mut at: Vec<usize> = (0..order.len()).collect();
    let mut place = at.clone();
    let exchange = |k: usize| {
        let (row, other) = (at[k], place[order[k]]);
        at.swap(k, other);
        (place[row], place[order[k]]) = (other, k);
        other as i32 + 1
    };
    (0..steps).map(exchange).collect()
}

#[inline(always)]
fn lu_by_steps<N: Number>(mut a: Matrix<N>, nopivot: bool) -> Lu<N> {
    let (mut pivots, mut info) = (Vec::with_capacity(a.rows.min(a.cols)), 0);
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
            a.subtract(r, k, factor, k + 1..a.cols);
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
    let pivot = |k: usize| unit || a[(k, k)] != N::ZERO;
    if a.rows <= SMALL || !(0..a.rows).all(pivot) {
        return with_vectors(|| by_substitution(a, x, upper, unit));
    }
    let solve: fn(MatRef<'_, N>, MatMut<'_, N>, Par) = match (upper, unit) {
        (false, false) => |a, x, par| triangular_solve::solve_lower_triangular_in_place(a, x, par),
        (false, true) => |a, x, par| triangular_solve::solve_unit_lower_triangular_in_place(a, x, par),
        (true, false) => |a, x, par| triangular_solve::solve_upper_triangular_in_place(a, x, par),
        (true, true) => |a, x, par| triangular_solve::solve_unit_upper_triangular_in_place(a, x, par),
    };
    solve(a.view(), x.view_mut(), Par::Seq);
    x
}

/// Divides by pivots that are zero as LAPACK does.
#[inline(always)]
fn by_substitution<N: Number>(a: &Matrix<N>, mut x: Matrix<N>, upper: bool, unit: bool) -> Matrix<N> {
    let n = a.rows;
    for step in 0..n {
        let r = if upper { n - 1 - step } else { step };
        let solved = if upper { r + 1..n } else { 0..r };
        for k in solved {
            x.subtract(r, k, a[(r, k)], 0..x.cols);
        }
        if !unit {
            let pivot = a[(r, r)];
            x.row_mut(r).iter_mut().for_each(|x| *x /= pivot);
        }
    }
    x
}
