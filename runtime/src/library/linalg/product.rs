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

    fn is_apart_from(self, other: Block) -> bool {
        let before = |first: usize, size: usize, second: usize| first + size <= second;
        let in_rows = before(self.row, self.rows, other.row) || before(other.row, other.rows, self.row);
        in_rows || before(self.col, self.cols, other.col) || before(other.col, other.cols, self.col)
    }

    fn read<N>(self, matrix: &Matrix<N>) -> Rows<*const N> {
        Rows(matrix.data.as_ptr().wrapping_add(self.row * matrix.cols + self.col), matrix.cols)
    }

    fn write<N>(self, matrix: &mut Matrix<N>) -> Rows<*mut N> {
        Rows(matrix.data.as_mut_ptr().wrapping_add(self.row * matrix.cols + self.col), matrix.cols)
    }
}

/// Where rows begin, and how far they are apart.
#[derive(Clone, Copy)]
pub struct Rows<P>(pub P, pub usize);

// SAFETY: threads read what the pointers of operands point to, and write different rows of the result.
unsafe impl<P> Sync for Rows<P> {}

/// Steps of a product that are worth a thread: some ten microseconds.
const GRAIN: usize = 1 << 17;

/// Rows go to threads in multiples of these, which are a multiple of what a tile of registers has.
const ROWS: usize = 16;

/// A product by all threads where it is worth it: `c = alpha a b`, or that added to `c`. `c` is a block's first element and how far its rows
/// are apart; so are `a` and `b`.
///
/// # Safety
/// The blocks are there, `(m, k, n)` their sizes, and what `c` points to is this call's alone.
unsafe fn multiply<N: Number>(
    (c, accum, alpha): (Rows<*mut N>, Accum, f64),
    a: Rows<*const N>,
    b: Rows<*const N>,
    (m, k, n): (usize, usize, usize),
) {
    if m == 0 || n == 0 {
        return;
    }
    let host = N::lapack().filter(|_| m * n * k >= GRAIN);
    // SAFETY: the caller's.
    if host.and_then(|host| unsafe { host.multiply((c, accum, alpha), a, b, (m, k, n)) }).is_some() {
        return;
    }
    // (Each thread packs all of `b` for itself.)
    let grain = (GRAIN / (n * k).max(1)).div_ceil(ROWS).max(1);
    let (a, b, c) = (&a, &b, &c);
    pool::global().each(m.div_ceil(ROWS) as i64, grain as i64, |from, to| {
        let (from, to) = (from as usize * ROWS, (to as usize * ROWS).min(m));
        let a = Rows(a.0.wrapping_add(from * a.1), a.1);
        let c = Rows(c.0.wrapping_add(from * c.1), c.1);
        let rows = to - from;
        // SAFETY: the caller promises the blocks; these rows of `c` are this thread's.
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

/// `c = alpha a b`, or that added to `c`, for a block of `c` and blocks `a` and `b`.
pub fn multiply_add<N: Number>(
    c: &mut Matrix<N>,
    block: Block,
    (accum, alpha): (Accum, f64),
    (a, a_block): (&Matrix<N>, Block),
    (b, b_block): (&Matrix<N>, Block),
) {
    let sizes = sizes_of(block, a_block, b_block);
    assert!(block.lies_in(c) && a_block.lies_in(a) && b_block.lies_in(b), "blocks lie in their matrices");
    let (a, b) = (a_block.read(a), b_block.read(b));
    // SAFETY: the blocks lie in their matrices, as was asserted, and `c` is borrowed alone.
    unsafe { multiply((block.write(c), accum, alpha), a, b, sizes) }
}

/// `c -= a b` for three blocks of one matrix, of which `c` has nothing in common with the others.
pub fn subtract_product<N: Number>(matrix: &mut Matrix<N>, c: Block, a: Block, b: Block) {
    let sizes = sizes_of(c, a, b);
    assert!([c, a, b].iter().all(|block| block.lies_in(matrix)), "blocks lie in their matrix");
    assert!(c.is_apart_from(a) && c.is_apart_from(b), "a result lies apart from what it is made of");
    let (first, cols) = (matrix.data.as_mut_ptr(), matrix.cols);
    let at = |block: Block| first.wrapping_add(block.row * cols + block.col);
    let (a, b, c) = (Rows(at(a).cast_const(), cols), Rows(at(b).cast_const(), cols), Rows(at(c), cols));
    // SAFETY: the blocks lie in the matrix, which is borrowed alone, and nothing that is read is written, as was asserted.
    unsafe { multiply((c, Accum::Add, -1.0), a, b, sizes) }
}

fn sizes_of(c: Block, a: Block, b: Block) -> (usize, usize, usize) {
    assert!((a.rows, a.cols, b.cols) == (c.rows, b.rows, c.cols), "the sizes of a product fit");
    (a.rows, a.cols, b.cols)
}

/// Columns go to threads in multiples of these.
const COLUMNS: usize = 16;

/// Calls `f` with columns of a matrix, by all threads where `steps` for each element are worth it.
pub fn by_columns<N: Number>(x: &mut Matrix<N>, steps: usize, f: impl Fn(MatMut<'_, N>) + Sync) {
    let (rows, cols) = (x.rows, x.cols);
    let grain = (GRAIN / (rows * steps).max(1)).div_ceil(COLUMNS).max(1);
    let x = &Block::of(x).write(x);
    pool::global().each(cols.div_ceil(COLUMNS) as i64, grain as i64, |from, to| {
        let (from, to) = (from as usize * COLUMNS, (to as usize * COLUMNS).min(cols));
        // SAFETY: the columns lie in the matrix, which is borrowed alone, and are this thread's.
        f(unsafe { MatMut::from_raw_parts_mut(x.0.wrapping_add(from), rows, to - from, x.1 as isize, 1) });
    });
}
