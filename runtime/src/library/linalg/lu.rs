//! Gauss's elimination with partial pivoting, by halves of the columns (Toledo, "Locality of reference in LU decomposition with partial
//! pivoting", 1997): nearly all of its steps are products of blocks. The crate `faer` wants columns; turning a matrix around, twice, would
//! cost half as much as its factors.

use std::ops::Range;

use super::matrix::{Matrix, with_vectors};
use super::number::Number;
use super::product::{Block, subtract_product};

/// Columns that are eliminated one by one: a row of so many is a cache line or two.
pub(super) const PANEL: usize = 16;

/// Steps that are taken one by one on whole rows: a matrix of so few is in the first cache, and nothing is to be copied.
const SMALL: usize = 12;

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
    let steps = a.rows.min(a.cols);
    let mut parts = Lu { pivots: Vec::with_capacity(steps), factors: a, info: 0 };
    if steps <= SMALL {
        with_vectors(
            #[inline(always)]
            || parts.eliminate_rows(nopivot),
        );
        return parts;
    }
    parts.eliminate(0..steps, nopivot);
    let rest = steps..parts.factors.cols;
    parts.solve_lower(0..steps, &rest);
    parts
}

/// The same by the host's LAPACK, where that is worth a call, with the largest pivots: writes the factors and the pivots of a matrix of these
/// sizes that lies column after column, as they do then, and gives the first step whose pivot is zero, or 0.
pub fn by_host<N: Number>(columns: &[N], sizes: (usize, usize), factors: &mut [N], pivots: &mut [i32]) -> Option<i32> {
    let host = N::lapack().filter(|_| pivots.len() > SMALL)?;
    factors.copy_from_slice(columns);
    host.lu(factors, sizes, pivots)
}

impl<N: Number> Lu<N> {
    #[inline(always)]
    fn eliminate_rows(&mut self, nopivot: bool) {
        let a = &mut self.factors;
        for k in 0..a.rows.min(a.cols) {
            let larger = |best: usize, r: usize| if a[(r, k)].size() > a[(best, k)].size() { r } else { best };
            let best = if nopivot { k } else { (k + 1..a.rows).fold(k, larger) };
            self.pivots.push(best as i32 + 1);
            if a[(best, k)] == N::ZERO {
                self.info = if self.info == 0 { k as i32 + 1 } else { self.info };
                continue;
            }
            a.swap_rows(k, best);
            for r in k + 1..a.rows {
                let factor = a[(r, k)] / a[(k, k)];
                a[(r, k)] = factor;
                a.subtract(r, k, factor, k + 1..a.cols);
            }
        }
    }

    /// Eliminates below the diagonal in some columns, whose rows above it and columns before are done.
    fn eliminate(&mut self, columns: Range<usize>, nopivot: bool) {
        if columns.len() <= PANEL {
            return self.panel(columns, nopivot);
        }
        let (left, right) = halves(&columns);
        self.eliminate(left.clone(), nopivot);
        self.solve_lower(left.clone(), &right);
        let below = right.start..self.factors.rows;
        subtract_product(&mut self.factors, Block::new(&below, &right), Block::new(&below, &left), Block::new(&left, &right));
        self.eliminate(right, nopivot);
    }

    /// The rows of U in other columns, from the unit lower triangle in the rows and columns `at`.
    fn solve_lower(&mut self, at: Range<usize>, columns: &Range<usize>) {
        if at.is_empty() || columns.is_empty() {
            return;
        }
        if at.len() <= PANEL {
            let a = &mut self.factors;
            return with_vectors(
                #[inline(always)]
                || {
                    for (r, k) in at.clone().flat_map(|r| (at.start..r).map(move |k| (r, k))) {
                        a.subtract(r, k, a[(r, k)], columns.clone());
                    }
                },
            );
        }
        let (upper, lower) = halves(&at);
        self.solve_lower(upper.clone(), columns);
        subtract_product(&mut self.factors, Block::new(&lower, columns), Block::new(&lower, &upper), Block::new(&upper, columns));
        self.solve_lower(lower, columns);
    }

    /// Eliminates a few columns in a copy that lies column after column, so that its loops run along them; then exchanges the rows.
    fn panel(&mut self, columns: Range<usize>, nopivot: bool) {
        let (top, rows) = (columns.start, self.factors.rows - columns.start);
        let panel = Block::new(&(top..self.factors.rows), &columns);
        let exchanges = self.factors.in_columns(panel, |panel| {
            with_vectors(
                #[inline(always)]
                || eliminate_columns(panel, rows, nopivot),
            )
        });
        for (k, exchange) in exchanges.into_iter().enumerate() {
            let Exchange { row, is_zero } = exchange;
            self.pivots.push((top + row) as i32 + 1);
            if is_zero && self.info == 0 {
                self.info = (top + k) as i32 + 1;
            }
            if row != k {
                let (a, b) = self.factors.two_rows(top + k, top + row);
                a[..columns.start].swap_with_slice(&mut b[..columns.start]);
                a[columns.end..].swap_with_slice(&mut b[columns.end..]);
            }
        }
    }
}

/// A step's row that its own was exchanged with, and whether the pivot there is zero.
struct Exchange {
    row: usize,
    is_zero: bool,
}

/// Eliminates in columns of so many rows, one after the other in memory.
#[inline(always)]
fn eliminate_columns<N: Number>(panel: &mut [N], rows: usize, nopivot: bool) -> Vec<Exchange> {
    let count = panel.len() / rows.max(1);
    let mut exchanges = Vec::with_capacity(count);
    for k in 0..count {
        let column = &panel[k * rows..(k + 1) * rows];
        let larger = |best: usize, r: usize| if column[r].size() > column[best].size() { r } else { best };
        let row = if nopivot { k } else { (k + 1..rows).fold(k, larger) };
        let is_zero = column[row] == N::ZERO;
        exchanges.push(Exchange { row, is_zero });
        if is_zero {
            continue;
        }
        for c in 0..count {
            panel.swap(c * rows + k, c * rows + row);
        }
        let (done, rest) = panel.split_at_mut((k + 1) * rows);
        let column = &mut done[k * rows..];
        let pivot = column[k];
        column[k + 1..].iter_mut().for_each(|x| *x /= pivot);
        for other in rest.chunks_mut(rows) {
            let factor = other[k];
            other[k + 1..].iter_mut().zip(&column[k + 1..]).for_each(|(x, l)| *x -= factor * *l);
        }
    }
    exchanges
}

/// The first and the second half, cut where a panel ends.
pub(super) fn halves(range: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let middle = range.start + (range.len() / 2).next_multiple_of(PANEL);
    (range.start..middle, middle..range.end)
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
