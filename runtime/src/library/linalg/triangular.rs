//! Triangular systems. The crate `faer` solves them by blocks; where a pivot is zero, which LAPACK goes on from in its own way, they are
//! solved element by element. So are small ones, whose blocks would cost more than their elements, and single columns.

use faer::linalg::triangular_solve;
use faer::{MatMut, MatRef, Par};

use super::lapack::LEAST;
use super::matrix::{Matrix, dotu, turned, with_vectors};
use super::number::Number;
use super::product::by_columns;

/// Which triangle of a matrix is meant, and how it lies.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// The upper one.
    pub upper: bool,
    /// Its diagonal is all ones, and is not read.
    pub unit: bool,
    /// It lies column after column.
    pub turned: bool,
}

impl Triangle {
    /// Of the options of a call.
    pub fn of(options: i32) -> Self {
        Self { unit: options & 1 != 0, upper: options & 2 != 0, turned: options & 4 != 0 }
    }
}

/// Rows of a triangle that is solved element by element: they stay in the first caches.
const SMALL: usize = 96;

/// X of `A X = B`, where only one triangle of A is read.
pub fn solve<N: Number>(a: &Matrix<N>, mut x: Matrix<N>, upper: bool, unit: bool) -> Matrix<N> {
    let pivot = |k: usize| unit || a[(k, k)] != N::ZERO;
    if a.rows <= SMALL || !(0..a.rows).all(pivot) {
        return with_vectors(
            #[inline(always)]
            || by_substitution(a, x, upper, unit),
        );
    }
    let solve: fn(MatRef<'_, N>, MatMut<'_, N>, Par) = match (upper, unit) {
        (false, false) => |a, x, par| triangular_solve::solve_lower_triangular_in_place(a, x, par),
        (false, true) => |a, x, par| triangular_solve::solve_unit_lower_triangular_in_place(a, x, par),
        (true, false) => |a, x, par| triangular_solve::solve_upper_triangular_in_place(a, x, par),
        (true, true) => |a, x, par| triangular_solve::solve_unit_upper_triangular_in_place(a, x, par),
    };
    by_columns(&mut x, a.rows, |x| solve(a.view(), x, Par::Seq));
    x
}

/// The same by the host's BLAS, where that is worth a call: writes the solution of a system of `n` equations. It takes pivots that are zero as
/// LAPACK does.
pub fn by_host<N: Number>(a: &[N], b: &[N], x: &mut [N], n: usize, kind: Triangle) -> Option<()> {
    let host = N::lapack().filter(|_| n > LEAST)?;
    x.copy_from_slice(b);
    // As it lies in columns it would be taken from the right and transposed, which MKL does in 660 us for 159 doubles each way; in rows in 117.
    let rows = kind.turned.then(|| turned(a, (n, n)));
    host.triangular_solve(rows.as_deref().unwrap_or(a), x, (n, b.len() / n), kind.upper, kind.unit)
}

/// x of `A x = b` for one column, where that is large enough to be worth a way of its own: each row of A, or each column, is read once, where
/// it lies.
pub fn solve_one<N: Number>(a: &[N], b: &[N], kind: Triangle) -> Option<Vec<N>> {
    let n = b.len();
    if n <= SMALL || (!kind.unit && a.iter().step_by(n + 1).any(|pivot| *pivot == N::ZERO)) {
        return None;
    }
    let mut x = b.to_vec();
    with_vectors(
        #[inline(always)]
        || match kind.turned {
            true => eliminate(a, &mut x, kind.upper, kind.unit),
            false => substitute(a, &mut x, kind.upper, kind.unit),
        },
    );
    Some(x)
}

/// Column by column, each once.
#[inline(always)]
fn eliminate<N: Number>(a: &[N], x: &mut [N], upper: bool, unit: bool) {
    let n = x.len();
    for step in 0..n {
        let c = if upper { n - 1 - step } else { step };
        if !unit {
            x[c] /= a[c * n + c];
        }
        let (known, rest) = (x[c], if upper { 0..c } else { c + 1..n });
        x[rest.clone()].iter_mut().zip(&a[c * n..][rest]).for_each(|(x, a)| *x -= *a * known);
    }
}

/// Row by row, each once.
#[inline(always)]
fn substitute<N: Number>(a: &[N], x: &mut [N], upper: bool, unit: bool) {
    let n = x.len();
    for step in 0..n {
        let r = if upper { n - 1 - step } else { step };
        let solved = if upper { r + 1..n } else { 0..r };
        let sum = dotu(&a[r * n..][solved.clone()], &x[solved]);
        x[r] -= sum;
        if !unit {
            x[r] /= a[r * n + r];
        }
    }
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
