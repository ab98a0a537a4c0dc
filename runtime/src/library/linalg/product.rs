//! Products of blocks of matrices, which do most of the work of a blocked factorisation.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::matrix::Matrix;
use super::number::Number;
use crate::pool;

/// A block of a matrix: its first row and column, and its size.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

impl Block {
    /// Some rows and columns.
    pub fn new(rows: &Range<usize>, cols: &Range<usize>) -> Block {
        Block { row: rows.start, col: cols.start, rows: rows.len(), cols: cols.len() }
    }

    /// The whole of a matrix.
    pub fn of<N>(matrix: &Matrix<N>) -> Block {
        Block { row: 0, col: 0, rows: matrix.rows, cols: matrix.cols }
    }

    fn lies_in<N>(self, matrix: &Matrix<N>) -> bool {
        self.row + self.rows <= matrix.rows && self.col + self.cols <= matrix.cols
    }
}

/// Where rows begin, and how far they are apart.
#[derive(Clone, Copy)]
struct Rows<P>(P, usize);

// SAFETY: threads read what the pointers of operands point to, and write different rows of the result.
unsafe impl<P> Sync for Rows<P> {}

/// Steps of a product that are worth a thread: some ten microseconds.
const GRAIN: usize = 1 << 17;

/// Rows go to threads in multiples of these, which are a multiple of what a tile of registers has.
const ROWS: usize = 16;

/// `c = alpha a b`, or that added to `c`, for a block of `c` and blocks `a` and `b`, by all threads where it is worth it.
pub fn multiply_add<N: Number>(
    c: &mut Matrix<N>,
    block: Block,
    (accum, alpha): (Accum, f64),
    (a, a_block): (&Matrix<N>, Block),
    (b, b_block): (&Matrix<N>, Block),
) {
    let (m, k, n) = (a_block.rows, a_block.cols, b_block.cols);
    assert!((m, k, n) == (block.rows, b_block.rows, block.cols), "the sizes of a product fit");
    assert!(block.lies_in(c) && a_block.lies_in(a) && b_block.lies_in(b), "blocks lie in their matrices");
    if m == 0 || n == 0 {
        return;
    }
    let rows_of =
        |matrix: &Matrix<N>, block: Block| Rows(matrix.data.as_ptr().wrapping_add(block.row * matrix.cols + block.col), matrix.cols);
    let (a, b) = (rows_of(a, a_block), rows_of(b, b_block));
    let c = Rows(c.data.as_mut_ptr().wrapping_add(block.row * c.cols + block.col), c.cols);
    // (Each thread packs all of `b` for itself.)
    let grain = (GRAIN / (n * k).max(1)).div_ceil(ROWS).max(1);
    let (a, b, c) = (&a, &b, &c);
    pool::global().each(m.div_ceil(ROWS) as i64, grain as i64, |from, to| {
        let (from, to) = (from as usize * ROWS, (to as usize * ROWS).min(m));
        let a = Rows(a.0.wrapping_add(from * a.1), a.1);
        let c = Rows(c.0.wrapping_add(from * c.1), c.1);
        let rows = to - from;
        // SAFETY: the blocks lie in their matrices, as was asserted; `c` is borrowed alone, and these rows are this thread's.
        let (a, b, c) = unsafe {
            (
                MatRef::from_raw_parts(a.0, rows, k, a.1 as isize, 1),
                MatRef::from_raw_parts(b.0, k, n, b.1 as isize, 1),
                MatMut::from_raw_parts_mut(c.0, rows, n, c.1 as isize, 1),
            )
        };
        matmul(c, accum, a, b, N::real(alpha), Par::Seq);
    });
}
