//! Bunch and Kaufman's factorisation of indefinite symmetric or Hermitian matrices, pivoted as LAPACK's `sytf2`: D has
//! blocks of one or two rows, and a negative pivot in both rows of a block of two.

use super::lapack::LEAST;
use super::matrix::{Matrix, dot, dotu, through_columns, turned, with_vectors};
use super::number::Number;

/// What stands above the diagonal for an element below it.
fn mirror<N: Number>(x: N, hermitian: bool) -> N {
    if hermitian { x.conj() } else { x }
}

/// L and D in the lower triangle, the row exchanges from 1, and the first zero pivot from 1, or 0.
pub fn ldl<N: Number>(a: Matrix<N>, hermitian: bool) -> (Matrix<N>, Vec<i32>, i32) {
    with_vectors(
        #[inline(always)]
        || factor(a, hermitian),
    )
}

/// The same by the host's LAPACK, where that is worth a call: writes the factors and the exchanges.
pub fn by_host<N: Number>(a: &[N], ld: &mut [N], pivots: &mut [i32], hermitian: bool) -> Option<i32> {
    let n = pivots.len();
    let host = N::lapack().filter(|_| n > LEAST)?;
    let status = through_columns(a, (n, n), ld, |columns| host.ldl(columns, n, pivots, hermitian))?;
    ld.chunks_mut(n).enumerate().for_each(|(r, row)| row[r + 1..].fill(N::ZERO));
    Some(status)
}

#[inline(always)]
fn factor<N: Number>(mut a: Matrix<N>, hermitian: bool) -> (Matrix<N>, Vec<i32>, i32) {
    let n = a.rows;
    for r in 0..n {
        a.row_mut(r)[r + 1..].fill(N::ZERO);
        a[(r, r)] = if hermitian { N::real(a[(r, r)].re()) } else { a[(r, r)] };
    }
    let (mut pivots, mut info, mut k) = (vec![0; n], 0, 0);
    while k < n {
        let Some((other, step)) = choose(&a, k) else {
            info = if info == 0 { k as i32 + 1 } else { info };
            pivots[k] = k as i32 + 1;
            k += 1;
            continue;
        };
        let row = k + step - 1;
        if other != row {
            exchange(&mut a, k, row, other, hermitian);
        }
        if step == 1 {
            eliminate_one(&mut a, k, hermitian);
            pivots[k] = other as i32 + 1;
        } else {
            eliminate_two(&mut a, k, hermitian);
            pivots[k..k + 2].fill(-(other as i32 + 1));
        }
        k += step;
    }
    (a, pivots, info)
}

/// The row to exchange and the size of the block; None where the column is zero.
fn choose<N: Number>(a: &Matrix<N>, k: usize) -> Option<(usize, usize)> {
    let alpha = (1.0 + 17.0_f64.sqrt()) / 8.0;
    let n = a.rows;
    let larger = |best: usize, r: usize| if a[(r, k)].size() > a[(best, k)].size() { r } else { best };
    let below = (k + 1..n).reduce(larger);
    let (own, column) = (a[(k, k)].size(), below.map_or(0.0, |r| a[(r, k)].size()));
    let Some(below) = below.filter(|_| own < alpha * column) else {
        return (own.max(column) > 0.0).then_some((k, 1));
    };
    let beside = (k..below).map(|c| a[(below, c)].size());
    let row = beside.chain((below + 1..n).map(|r| a[(r, below)].size())).fold(0.0, f64::max);
    Some(match () {
        () if own >= alpha * column * (column / row) => (k, 1),
        () if a[(below, below)].size() >= alpha * row => (below, 1),
        () => (below, 2),
    })
}

/// Exchanges rows and columns `row` and `other` of what is left from `k` on, in the lower triangle.
fn exchange<N: Number>(a: &mut Matrix<N>, k: usize, row: usize, other: usize, hermitian: bool) {
    let swap = |a: &mut Matrix<N>, x: (usize, usize), y: (usize, usize)| {
        let t = a[x];
        a[x] = a[y];
        a[y] = t;
    };
    (other + 1..a.rows).for_each(|r| swap(a, (r, row), (r, other)));
    for j in row + 1..other {
        swap(a, (j, row), (other, j));
        a[(j, row)] = mirror(a[(j, row)], hermitian);
        a[(other, j)] = mirror(a[(other, j)], hermitian);
    }
    a[(other, row)] = mirror(a[(other, row)], hermitian);
    swap(a, (row, row), (other, other));
    if row > k {
        swap(a, (row, k), (other, k));
    }
}

#[inline(always)]
fn eliminate_one<N: Number>(a: &mut Matrix<N>, k: usize, hermitian: bool) {
    let inverse = N::ONE / a[(k, k)];
    let column: Vec<N> = (k + 1..a.rows).map(|r| a[(r, k)]).collect();
    let above: Vec<N> = column.iter().map(|x| mirror(*x, hermitian)).collect();
    for (r, x) in (k + 1..a.rows).zip(&column) {
        let factor = *x * inverse;
        let row = &mut a.row_mut(r)[k..=r];
        row[0] = factor;
        row[1..].iter_mut().zip(&above).for_each(|(x, y)| *x -= factor * *y);
    }
}

#[inline(always)]
fn eliminate_two<N: Number>(a: &mut Matrix<N>, k: usize, hermitian: bool) {
    let block = Block::of(a, k, hermitian);
    let columns: Vec<(N, N)> = (k + 2..a.rows).map(|r| (a[(r, k)], a[(r, k + 1)])).collect();
    let above = |of: fn(&(N, N)) -> N| -> Vec<N> { columns.iter().map(|pair| mirror(of(pair), hermitian)).collect() };
    let (first, second) = (above(|pair| pair.0), above(|pair| pair.1));
    for (r, pair) in (k + 2..a.rows).zip(&columns) {
        // Row r of L times the block is row r of A, so L is A times the block's inverse, by Cramer's rule.
        let (x, y) = block.divide(pair.0, pair.1);
        let row = &mut a.row_mut(r)[k..=r];
        (row[0], row[1]) = (x, y);
        row[2..].iter_mut().zip(&first).zip(&second).for_each(|((element, first), second)| *element -= x * *first + y * *second);
    }
}

/// A diagonal block of two rows, scaled by its corner.
struct Block<N> {
    first: N,
    second: N,
    below: N,
    above: N,
    scale: f64,
}

impl<N: Number> Block<N> {
    fn of(a: &Matrix<N>, k: usize, hermitian: bool) -> Block<N> {
        let corner = a[(k + 1, k)];
        let scale = corner.abs();
        let scaled = |x: N| x.scale(1.0 / scale);
        Block {
            first: scaled(a[(k, k)]),
            second: scaled(a[(k + 1, k + 1)]),
            below: scaled(corner),
            above: scaled(mirror(corner, hermitian)),
            scale,
        }
    }

    /// The row `(x, y)` times the inverse.
    fn divide(&self, x: N, y: N) -> (N, N) {
        let determinant = (self.first * self.second - self.below * self.above).scale(self.scale);
        ((x * self.second - y * self.below) / determinant, (y * self.first - x * self.above) / determinant)
    }

    /// The inverse times the column `(x, y)`.
    fn solve(&self, x: N, y: N) -> (N, N) {
        let determinant = (self.first * self.second - self.below * self.above).scale(self.scale);
        ((x * self.second - y * self.above) / determinant, (y * self.first - x * self.below) / determinant)
    }
}

/// X of `A X = B`, from the factorisation of A.
pub fn solve<N: Number>(a: &Matrix<N>, pivots: &[i32], x: Matrix<N>, hermitian: bool) -> Matrix<N> {
    let blocks = blocks(pivots);
    // Columns of L and of X lie in rows: what is read one after the other lies so.
    let (columns, mut solved) = (a.transposed(), x.transposed());
    with_vectors(
        #[inline(always)]
        || {
            for block in &blocks {
                for x in solved.data.chunks_exact_mut(a.rows) {
                    forwards(a, &columns, block, x, hermitian);
                }
            }
            for block in blocks.iter().rev() {
                for x in solved.data.chunks_exact_mut(a.rows) {
                    backwards(&columns, block, x, hermitian);
                }
            }
        },
    );
    solved.transposed()
}

/// The same by the host's LAPACK, where that is worth a call: writes the solution.
pub fn solve_by_host<N: Number>(ld: &[N], pivots: &[i32], rhs: &[N], x: &mut [N], hermitian: bool) -> Option<()> {
    let n = pivots.len();
    let host = N::lapack().filter(|_| n > LEAST && may_be_pivots(pivots))?;
    let factors = turned(ld, (n, n));
    through_columns(rhs, (n, rhs.len() / n), x, |columns| host.ldl_solve(&factors, pivots, columns, hermitian))
}

/// Takes what a block of rows gives to those below it from a column of X, and divides by the block of D.
#[inline(always)]
fn forwards<N: Number>(a: &Matrix<N>, columns: &Matrix<N>, &(k, step, other): &(usize, usize, usize), x: &mut [N], hermitian: bool) {
    let last = x.len() - 1;
    x.swap((k + step - 1).min(last), other.min(last));
    let (block, below) = x.split_at_mut(k + step);
    for (c, &factor) in block.iter().enumerate().skip(k) {
        for (x, l) in below.iter_mut().zip(&columns.row(c)[k + step..]) {
            *x -= *l * factor;
        }
    }
    if step == 1 {
        x[k] /= a[(k, k)];
    } else {
        (x[k], x[k + 1]) = Block::of(a, k, hermitian).solve(x[k], x[k + 1]);
    }
}

/// Takes what the rows below a block give to it, by the transpose of L.
#[inline(always)]
fn backwards<N: Number>(columns: &Matrix<N>, &(k, step, other): &(usize, usize, usize), x: &mut [N], hermitian: bool) {
    let last = x.len() - 1;
    for c in k..k + step {
        let (column, rest) = (&columns.row(c)[k + step..], &x[k + step..]);
        let sum = if hermitian { dot(column, rest) } else { dotu(column, rest) };
        x[c] -= sum;
    }
    x.swap((k + step - 1).min(last), other.min(last));
}

/// Whether LAPACK would find the rows that these name: it trusts them.
fn may_be_pivots(pivots: &[i32]) -> bool {
    let rows = blocks(pivots);
    rows.iter().all(|&(k, step, _)| {
        pivots[k..k + step].iter().all(|p| (p.is_negative() == (step == 2)) && (1..=pivots.len()).contains(&(p.unsigned_abs() as usize)))
    })
}

/// First row, number of rows and exchanged row of each block.
fn blocks(pivots: &[i32]) -> Vec<(usize, usize, usize)> {
    let (mut blocks, mut k) = (Vec::new(), 0);
    while k < pivots.len() {
        let step = if pivots[k] < 0 && k + 1 < pivots.len() { 2 } else { 1 };
        blocks.push((k, step, pivots[k].unsigned_abs().max(1) as usize - 1));
        k += step;
    }
    blocks
}
