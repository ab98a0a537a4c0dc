//! A dense matrix, row-major, so that the inner loops of all factorisations run along rows.

use std::ops::{Index, IndexMut, Range};
use std::slice;

use faer::{Accum, Mat, MatMut, MatRef};

use super::number::Number;
use super::product::{Block, Rows, multiply_add};
use crate::pool;

/// A matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<N> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Elements, row after row.
    pub data: Vec<N>,
}

impl<N> Index<(usize, usize)> for Matrix<N> {
    type Output = N;

    fn index(&self, (r, c): (usize, usize)) -> &N {
        &self.data[r * self.cols + c]
    }
}

impl<N> IndexMut<(usize, usize)> for Matrix<N> {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut N {
        &mut self.data[r * self.cols + c]
    }
}

impl<N: Number> Matrix<N> {
    /// A matrix from a function of row and column.
    pub fn build(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> N) -> Matrix<N> {
        let mut data = Vec::with_capacity(rows * cols);
        for r in 0..rows {
            data.extend((0..cols).map(|c| f(r, c)));
        }
        Matrix { rows, cols, data }
    }

    /// A copy of a matrix of the crate `faer`.
    pub fn of(matrix: MatRef<'_, N>) -> Matrix<N> {
        let mut copy = Matrix::zeros(matrix.nrows(), matrix.ncols());
        by_tiles(copy.rows, copy.cols, |r, c| copy[(r, c)] = matrix[(r, c)]);
        copy
    }

    /// As a matrix of the crate `faer`.
    pub fn view(&self) -> MatRef<'_, N> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    /// The same, to write.
    pub fn view_mut(&mut self) -> MatMut<'_, N> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }

    /// A copy that lies column after column, as the algorithms of `faer` want it.
    pub fn columns(&self) -> Mat<N> {
        let mut copy = Mat::zeros(self.rows, self.cols);
        by_tiles(self.rows, self.cols, |r, c| copy[(r, c)] = self[(r, c)]);
        copy
    }

    /// Whether no element is infinite or NaN.
    pub fn is_finite(&self) -> bool {
        are_finite(&self.data)
    }

    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Matrix<N> {
        Matrix { rows, cols, data: vec![N::ZERO; rows * cols] }
    }

    /// Ones on the diagonal.
    pub fn identity(rows: usize, cols: usize) -> Matrix<N> {
        Matrix::build(rows, cols, |r, c| if r == c { N::ONE } else { N::ZERO })
    }

    /// A row.
    pub fn row(&self, r: usize) -> &[N] {
        &self.data[r * self.cols..(r + 1) * self.cols]
    }

    /// A row to write.
    pub fn row_mut(&mut self, r: usize) -> &mut [N] {
        &mut self.data[r * self.cols..(r + 1) * self.cols]
    }

    /// Two different rows to write.
    #[inline(always)]
    pub fn two_rows(&mut self, a: usize, b: usize) -> (&mut [N], &mut [N]) {
        let cols = self.cols;
        let (low, high) = (a.min(b), a.max(b));
        let (head, tail) = self.data.split_at_mut(high * cols);
        let (first, second) = (&mut head[low * cols..(low + 1) * cols], &mut tail[..cols]);
        if a < b { (first, second) } else { (second, first) }
    }

    /// Exchanges two rows.
    pub fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            let (a, b) = self.two_rows(a, b);
            a.swap_with_slice(b);
        }
    }

    /// Row `to` minus `factor` times row `from`, in some columns.
    #[inline(always)]
    pub fn subtract(&mut self, to: usize, from: usize, factor: N, columns: Range<usize>) {
        if factor == N::ZERO {
            return;
        }
        let (to, from) = self.two_rows(to, from);
        to[columns.clone()].iter_mut().zip(&from[columns]).for_each(|(x, y)| *x -= factor * *y);
    }

    /// Calls `f` with a copy of a block that lies column after column, so that loops along columns run along memory, and puts it back.
    pub fn in_columns<R>(&mut self, block: Block, f: impl FnOnce(&mut [N]) -> R) -> R {
        let columns = block.col..block.col + block.cols;
        let mut copy = vec![N::ZERO; block.rows * block.cols];
        for r in 0..block.rows {
            let row = &self.row(block.row + r)[columns.clone()];
            row.iter().enumerate().for_each(|(c, x)| copy[c * block.rows + r] = *x);
        }
        let result = f(&mut copy);
        for r in 0..block.rows {
            let row = &mut self.row_mut(block.row + r)[columns.clone()];
            row.iter_mut().enumerate().for_each(|(c, x)| *x = copy[c * block.rows + r]);
        }
        result
    }

    /// A copy of a block.
    pub fn block(&self, block: Block) -> Matrix<N> {
        Matrix::build(block.rows, block.cols, |r, c| self[(block.row + r, block.col + c)])
    }

    /// Puts a matrix in the place of a block of its size that begins there.
    pub fn put(&mut self, (row, col): (usize, usize), other: &Matrix<N>) {
        for r in 0..other.rows {
            self.row_mut(row + r)[col..col + other.cols].copy_from_slice(other.row(r));
        }
    }

    /// The transpose.
    pub fn transposed(&self) -> Matrix<N> {
        Matrix { rows: self.cols, cols: self.rows, data: turned(&self.data, (self.rows, self.cols)) }
    }

    /// The conjugate transpose.
    pub fn adjoint(&self) -> Matrix<N> {
        Matrix::build(self.cols, self.rows, |r, c| self[(c, r)].conj())
    }

    /// The product.
    pub fn times(&self, other: &Matrix<N>) -> Matrix<N> {
        let mut product = Matrix::zeros(self.rows, other.cols);
        let whole = Block::of(&product);
        multiply_add(&mut product, whole, (Accum::Replace, 1.0), (self, Block::of(self)), (other, Block::of(other)));
        product
    }

    /// The sum of absolute values in the column where it is largest.
    pub fn norm1(&self) -> f64 {
        let mut columns = vec![0.0; self.cols];
        for row in self.data.chunks_exact(self.cols.max(1)) {
            columns.iter_mut().zip(row).for_each(|(sum, x)| *sum += x.abs());
        }
        columns.into_iter().fold(0.0, |largest, sum| if sum > largest || sum.is_nan() { sum } else { largest })
    }
}

/// Whether no number is infinite or NaN.
pub fn are_finite<N: Number>(numbers: &[N]) -> bool {
    numbers.iter().all(|x| x.re().is_finite() && x.im().is_finite())
}

/// Calls `f` with a matrix of these sizes lying column after column, and writes what becomes of it row after row.
pub fn through_columns<N: Number, R>(
    a: &[N],
    (rows, cols): (usize, usize),
    to: &mut [N],
    f: impl FnOnce(&mut [N]) -> Option<R>,
) -> Option<R> {
    let mut columns = turned(a, (rows, cols));
    let result = f(&mut columns)?;
    turn(&columns, (cols, rows), to);
    Some(result)
}

/// A matrix of these sizes, which lies row after row, lying column after column.
pub fn turned<N: Number>(matrix: &[N], sizes: (usize, usize)) -> Vec<N> {
    let mut columns = vec![N::ZERO; matrix.len()];
    turn(matrix, sizes, &mut columns);
    columns
}

/// Writes the transpose of a matrix of these sizes, by all threads where it is worth it.
pub fn turn<N: Number>(matrix: &[N], (rows, cols): (usize, usize), transpose: &mut [N]) {
    /// Elements of a strip that are worth a thread: some ten microseconds.
    const GRAIN: usize = 1 << 15;
    assert!(matrix.len() == rows * cols && transpose.len() == rows * cols, "a transpose has the elements of its matrix");
    let strip = TILE * rows.max(1);
    let strips = transpose.len().div_ceil(strip);
    let to = &Rows(transpose.as_mut_ptr(), strip);
    pool::global().each(strips as i64, GRAIN.div_ceil(strip) as i64, |from, until| {
        for at in from as usize..until as usize {
            let size = strip.min(rows * cols - at * strip);
            // SAFETY: strips lie in the transpose, which is borrowed alone, and each is one thread's.
            let strip = unsafe { slice::from_raw_parts_mut(to.0.add(at * strip), size) };
            with_vectors(
                #[inline(always)]
                || turn_strip(&matrix[at * TILE..], (rows, cols), strip),
            );
        }
    });
}

/// Writes as many columns of a matrix as a strip has rows, of which the first begins the matrix.
#[inline(always)]
fn turn_strip<N: Number>(matrix: &[N], (rows, cols): (usize, usize), strip: &mut [N]) {
    let tall = if strip.len() == TILE * rows { rows / TILE * TILE } else { 0 };
    for row in (0..tall).step_by(TILE) {
        // What is read along rows and written along columns stays in the first cache.
        let mut tile = [[N::ZERO; TILE]; TILE];
        for (k, line) in tile.iter_mut().enumerate() {
            line.copy_from_slice(&matrix[(row + k) * cols..][..TILE]);
        }
        for k in 0..TILE {
            let column = &mut strip[k * rows + row..][..TILE];
            (0..TILE).for_each(|r| column[r] = tile[r][k]);
        }
    }
    for (k, column) in strip.chunks_mut(rows.max(1)).enumerate() {
        (tall..rows).for_each(|r| column[r] = matrix[r * cols + k]);
    }
}

/// Rows and columns of a square whose elements are turned around in the first cache.
const TILE: usize = 16;

/// Calls `f` with each row and column, square by square: what is read along rows and written along columns stays in the first cache.
#[inline(always)]
fn by_tiles(rows: usize, cols: usize, mut f: impl FnMut(usize, usize)) {
    for row in (0..rows).step_by(TILE) {
        for col in (0..cols).step_by(TILE) {
            for c in col..cols.min(col + TILE) {
                (row..rows.min(row + TILE)).for_each(|r| f(r, c));
            }
        }
    }
}

/// What `f` gives, with the vectors that the CPU at hand has beside those of all of its architecture. It holds for what is inlined into `f`, which
/// is an `#[inline(always)]` closure: one that is called keeps the vectors of all.
pub fn with_vectors<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has these instructions.
            return unsafe { wide(f) };
        }
    }
    f()
}

/// The sum of `conj(a) * b`.
#[inline(always)]
pub fn dot<N: Number>(a: &[N], b: &[N]) -> N {
    sum_of_products(a, b, |a| a.conj())
}

/// The sum of `a * b`, what BLAS calls `dotu`.
#[inline(always)]
pub fn dotu<N: Number>(a: &[N], b: &[N]) -> N {
    sum_of_products(a, b, |a| a)
}

/// The sum of `f(a) * b`.
#[inline(always)]
fn sum_of_products<N: Number>(a: &[N], b: &[N], f: impl Fn(N) -> N) -> N {
    /// Sums that run side by side: one alone waits for each addition before the next, and has no lanes.
    const SUMS: usize = 16;
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..n].as_chunks::<SUMS>(), b[..n].as_chunks::<SUMS>());
    let mut sums = [N::ZERO; SUMS];
    for (a, b) in a.iter().zip(b) {
        for k in 0..SUMS {
            sums[k] += f(a[k]) * b[k];
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(N::ZERO, |sum, (a, b)| sum + f(*a) * *b);
    sums.into_iter().fold(rest, |sum, x| sum + x)
}

/// The square of the Euclidean length.
#[inline(always)]
pub fn square<N: Number>(a: &[N]) -> f64 {
    dot(a, a).re()
}

/// The Euclidean length.
#[inline(always)]
pub fn length<N: Number>(a: &[N]) -> f64 {
    square(a).sqrt()
}

/// Turns two lines by a plane rotation: `(c a + s b, c b - conj(s) a)`.
pub fn rotate<N: Number>(a: &mut [N], b: &mut [N], c: f64, s: N) {
    for (a, b) in a.iter_mut().zip(b) {
        let (x, y) = (*a, *b);
        *a = x.scale(c) + s * y;
        *b = y.scale(c) - s.conj() * x;
    }
}
