//! Triangular factors: Cholesky's, Gauss's, and the systems that they leave. Each halves its matrix until a block is small, so that
//! products of blocks do most of the work (Toledo, "Locality of reference in LU decomposition with partial pivoting", 1997).

use std::ops::Range;

use super::matrix::{Matrix, dot, square};
use super::number::Number;
use super::product::{Block, multiply_add};

/// Blocks of so many columns are factored element by element: about what two levels of registers and caches keep.
const BASE: usize = 16;

/// The lower factor of the Hermitian matrix in the lower triangle of `a`, and the order of the first minor that is not
/// positive, or 0.
pub fn cholesky<N: Number>(a: &Matrix<N>) -> (Matrix<N>, i32) {
    let n = a.rows;
    let mut l = a.clone();
    let failed = factor(&mut l, 0..n).err();
    // Above the diagonal, and behind the minor that is not positive, nothing is computed.
    for r in 0..n {
        let known = match failed {
            Some(at) if r == at => r,
            Some(at) if r > at => 0,
            _ => r + 1,
        };
        l.row_mut(r)[known..].fill(N::ZERO);
    }
    (l, failed.map_or(0, |at| at as i32 + 1))
}

/// Factors the part of `l` in these rows and columns; the number of a row whose rest is not positive is an error.
fn factor<N: Number>(l: &mut Matrix<N>, part: Range<usize>) -> Result<(), usize> {
    let begin = part.start;
    if part.len() > BASE {
        let middle = begin + part.len() / 2;
        factor(l, begin..middle)?;
        let (first, second) = (part.start..middle, middle..part.end);
        let below = Block::new(&second, &first);
        let across = solve(&l.block(Block::new(&first, &first)), l.block(below).adjoint(), false, false).adjoint();
        l.put((middle, begin), &across);
        let adjoint = across.adjoint();
        let (left, right) = ((&across, Block::of(&across)), (&adjoint, Block::of(&adjoint)));
        multiply_add(l, Block::new(&second, &second), (1.0, -1.0), left, right);
        return factor(l, second);
    }
    for r in part {
        for c in begin..r {
            let rest = l[(r, c)] - dot(&l.row(c)[begin..c], &l.row(r)[begin..c]);
            l[(r, c)] = rest / l[(c, c)];
        }
        let rest = l[(r, r)].re() - square(&l.row(r)[begin..r]);
        if rest.is_nan() || rest <= 0.0 {
            return Err(r);
        }
        l[(r, r)] = rest.sqrt().into();
    }
    Ok(())
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
    let (steps, cols) = (a.rows.min(a.cols), a.cols);
    let mut parts = Lu { factors: a, pivots: Vec::new(), info: 0 };
    parts.eliminate(0..steps, nopivot);
    parts.update(0..steps, steps..cols);
    parts
}

impl<N: Number> Lu<N> {
    /// Eliminates below the diagonal in these columns: one half, what it means for the other, the other half. Rows are exchanged whole.
    fn eliminate(&mut self, columns: Range<usize>, nopivot: bool) {
        if columns.len() > BASE {
            let middle = columns.start + columns.len() / 2;
            self.eliminate(columns.start..middle, nopivot);
            self.update(columns.start..middle, middle..columns.end);
            return self.eliminate(middle..columns.end, nopivot);
        }
        let a = &mut self.factors;
        for k in columns.clone() {
            let larger = |best: usize, r: usize| if a[(r, k)].size() > a[(best, k)].size() { r } else { best };
            let best = if nopivot { k } else { (k..a.rows).fold(k, larger) };
            self.pivots.push(best as i32 + 1);
            if a[(best, k)] == N::ZERO {
                self.info = if self.info == 0 { k as i32 + 1 } else { self.info };
                continue;
            }
            a.swap_rows(k, best);
            for r in k + 1..a.rows {
                let factor = a[(r, k)] / a[(k, k)];
                a[(r, k)] = factor;
                a.subtract(r, k, factor, k + 1..columns.end);
            }
        }
    }

    /// What the elimination in some columns means for others to the right: `U = L^-1 A` beside it, and the product of both taken off below.
    fn update(&mut self, done: Range<usize>, others: Range<usize>) {
        let a = &mut self.factors;
        let upper = solve(&a.block(Block::new(&done, &done)), a.block(Block::new(&done, &others)), false, true);
        a.put((done.start, others.start), &upper);
        let below = done.end..a.rows;
        let lower = a.block(Block::new(&below, &done));
        let (left, right) = ((&lower, Block::of(&lower)), (&upper, Block::of(&upper)));
        multiply_add(a, Block::new(&below, &others), (1.0, -1.0), left, right);
    }
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
    substitute(a, &mut x, 0..a.rows, upper, unit);
    x
}

/// Substitutes in some rows: one half, what it means for the other, the other half.
fn substitute<N: Number>(a: &Matrix<N>, x: &mut Matrix<N>, rows: Range<usize>, upper: bool, unit: bool) {
    if rows.len() > BASE {
        let middle = rows.start + rows.len() / 2;
        let (first, second) = if upper { (middle..rows.end, rows.start..middle) } else { (rows.start..middle, middle..rows.end) };
        substitute(a, x, first.clone(), upper, unit);
        let all = 0..x.cols;
        let solved = x.block(Block::new(&first, &all));
        let (left, right) = ((a, Block::new(&second, &first)), (&solved, Block::of(&solved)));
        multiply_add(x, Block::new(&second, &all), (1.0, -1.0), left, right);
        return substitute(a, x, second, upper, unit);
    }
    for step in 0..rows.len() {
        let r = if upper { rows.end - 1 - step } else { rows.start + step };
        let solved = if upper { r + 1..rows.end } else { rows.start..r };
        for k in solved {
            x.subtract(r, k, a[(r, k)], 0..x.cols);
        }
        if !unit {
            let pivot = a[(r, r)];
            x.row_mut(r).iter_mut().for_each(|x| *x /= pivot);
        }
    }
}
