//! Cholesky's factor by halves of the columns: nearly all of its steps are products of blocks.

use std::ops::Range;

use faer::Accum;

use super::lu::{PANEL, halves};
use super::matrix::{Matrix, with_vectors};
use super::number::Number;
use super::product::{Block, multiply_add};

/// The lower factor of the Hermitian matrix in the lower triangle of `a`, and the order of the first minor that is not positive, or 0. Above
/// the diagonal, and behind the minor that is not positive, it is zero.
pub fn cholesky<N: Number>(a: &Matrix<N>) -> (Matrix<N>, i32) {
    let n = a.rows;
    let mut l = Matrix::build(n, n, |r, c| if c <= r { a[(r, c)] } else { N::ZERO });
    let minor = factor(&mut l, 0..n).err().unwrap_or(0);
    for r in 0..n {
        // The row of the minor is known up to its diagonal.
        let known = if minor == 0 || r + 1 < minor {
            r + 1
        } else if r + 1 == minor {
            r
        } else {
            0
        };
        l.row_mut(r)[known..].fill(N::ZERO);
    }
    (l, minor as i32)
}

/// The same by the host's LAPACK, where that is worth a call, in columns: writes the factor. What is left of a matrix without one is as PyTorch
/// leaves it.
pub fn by_host<N: Number>(columns: &[N], l: &mut [N], n: usize) -> Option<i32> {
    let host = N::lapack().filter(|_| n > PANEL)?;
    l.copy_from_slice(columns);
    let minor = host.cholesky(l, n)?;
    l.chunks_mut(n).enumerate().for_each(|(c, column)| column[..c].fill(N::ZERO));
    Some(minor as i32)
}

/// Factors some columns, from which those before are subtracted; the order of the minor that is not positive if there is one.
fn factor<N: Number>(l: &mut Matrix<N>, columns: Range<usize>) -> Result<(), usize> {
    if columns.len() <= PANEL {
        let (top, rows) = (columns.start, l.rows - columns.start);
        let panel = Block::new(&(top..l.rows), &columns);
        return l
            .in_columns(panel, |panel| {
                with_vectors(
                    #[inline(always)]
                    || factor_columns(panel, rows),
                )
            })
            .map_err(|minor| top + minor);
    }
    let (left, right) = halves(&columns);
    factor(l, left.clone())?;
    let below = l.block(Block::new(&(right.start..l.rows), &left));
    let adjoint = l.block(Block::new(&right, &left)).adjoint();
    downdate(l, right.clone(), right.end..l.rows, (&below, &adjoint));
    factor(l, right)
}

/// Subtracts a product from columns: from the lower triangle of the square at their top, and from `rows` below it.
fn downdate<N: Number>(l: &mut Matrix<N>, columns: Range<usize>, rows: Range<usize>, (a, b): (&Matrix<N>, &Matrix<N>)) {
    let (last, first) = (l.rows - a.rows, columns.start);
    let mut subtract = |rows: &Range<usize>, cols: &Range<usize>| {
        let a_block = Block::new(&(rows.start - last..rows.end - last), &(0..a.cols));
        let b_block = Block::new(&(0..b.rows), &(cols.start - first..cols.end - first));
        multiply_add(l, Block::new(rows, cols), (Accum::Add, -1.0), (a, a_block), (b, b_block));
    };
    subtract(&rows, &columns);
    // Square by square down the diagonal; what is above it does not matter.
    for from in columns.clone().step_by(4 * PANEL) {
        let to = columns.end.min(from + 4 * PANEL);
        subtract(&(from..columns.end), &(from..to));
    }
}

/// Factors columns of so many rows, one after the other in memory, whose square at the top is to be triangular.
#[inline(always)]
fn factor_columns<N: Number>(panel: &mut [N], rows: usize) -> Result<(), usize> {
    for k in 0..panel.len() / rows.max(1) {
        let (done, rest) = panel.split_at_mut((k + 1) * rows);
        let column = &mut done[k * rows + k..];
        let pivot = column[0].re();
        if pivot.is_nan() || pivot <= 0.0 {
            return Err(k + 1);
        }
        let root = pivot.sqrt();
        column[0] = N::real(root);
        column[1..].iter_mut().for_each(|x| *x /= N::real(root));
        for (other, c) in rest.chunks_mut(rows).zip(k + 1..) {
            let factor = column[c - k].conj();
            other[c..].iter_mut().zip(&column[c - k..]).for_each(|(x, l)| *x -= factor * *l);
        }
    }
    Ok(())
}
