//! Householder's reflections `I - tau v v*`, spelled as LAPACK spells them: the first entry of v is one and not stored.

use std::cmp::Ordering;
use std::ops::Range;

use faer::Accum;

use super::lapack::LEAST;
use super::matrix::{Matrix, dot, length, with_vectors};
use super::number::Number;
use super::product::{Block, multiply_add};

/// The reflection that maps the line `x` to a real multiple of its first entry: that multiple, and tau. The rest of
/// `x` becomes the rest of v.
#[inline(always)]
pub fn reflector<N: Number>(x: &mut [N]) -> (N, N) {
    let Some((alpha, rest)) = x.split_first_mut() else { return (N::ZERO, N::ZERO) };
    let below = length(rest);
    if below == 0.0 && alpha.im() == 0.0 {
        return (*alpha, N::ZERO);
    }
    let beta = -alpha.abs().hypot(below).copysign(alpha.re());
    let tau = N::of((beta - alpha.re()) / beta, -alpha.im() / beta);
    let scale = N::ONE / (*alpha - N::real(beta));
    rest.iter_mut().for_each(|x| *x *= scale);
    (N::real(beta), tau)
}

/// Applies `I - tau v v*` to rows `top..` of a matrix in some columns.
pub fn reflect<N: Number>(a: &mut Matrix<N>, v: &[N], tau: N, top: usize, columns: Range<usize>) {
    if tau == N::ZERO || columns.is_empty() {
        return;
    }
    let mut product = vec![N::ZERO; columns.len()];
    for (k, v) in v.iter().enumerate() {
        let row = &a.row(top + k)[columns.clone()];
        product.iter_mut().zip(row).for_each(|(sum, x)| *sum += v.conj() * *x);
    }
    for (k, v) in v.iter().enumerate() {
        let factor = tau * *v;
        let row = &mut a.row_mut(top + k)[columns.clone()];
        row.iter_mut().zip(&product).for_each(|(x, sum)| *x -= factor * *sum);
    }
}

/// Column `c` from row `top` on, with one as its first entry.
pub fn vector<N: Number>(a: &Matrix<N>, top: usize, c: usize) -> Vec<N> {
    let mut v: Vec<N> = (top..a.rows).map(|r| a[(r, c)]).collect();
    if let Some(first) = v.first_mut() {
        *first = N::ONE;
    }
    v
}

/// Reflections that are applied at once: a product with so many columns is worth its two passes over what it changes.
const TOGETHER: usize = 32;

/// Several reflections as one product, `H0 H1 .. = I - V T V*` with an upper triangle T (Schreiber and Van Loan, "A storage-efficient WY
/// representation for products of Householder transformations", 1989).
struct Together<N> {
    /// The vectors in columns, from the row of the first on.
    v: Matrix<N>,
    /// Its adjoint.
    v_adjoint: Matrix<N>,
    t: Matrix<N>,
}

impl<N: Number> Together<N> {
    /// Those whose vectors are in these columns of a matrix, below the diagonal `shift` rows down.
    fn of(a: &Matrix<N>, columns: Range<usize>, taus: &[N], shift: usize) -> Self {
        let (first, top, count) = (columns.start, columns.start + shift, columns.len());
        let v = Matrix::build(a.rows - top, count, |r, c| match r.cmp(&c) {
            Ordering::Less => N::ZERO,
            Ordering::Equal => N::ONE,
            Ordering::Greater => a[(top + r, first + c)],
        });
        let mut t = Matrix::zeros(count, count);
        let v_adjoint = v.adjoint();
        let products = v_adjoint.times(&v);
        for (c, tau) in taus[columns].iter().enumerate() {
            t[(c, c)] = *tau;
            for r in 0..c {
                let sum = (r..c).fold(N::ZERO, |sum, k| sum + t[(r, k)] * products[(k, c)]);
                t[(r, c)] = -*tau * sum;
            }
        }
        Together { v, v_adjoint, t }
    }

    /// Applies them, or their adjoint, to a matrix from row `top` and column `left` on.
    fn apply(&self, a: &mut Matrix<N>, (top, left): (usize, usize), adjoint: bool) {
        let block = Block::new(&(top..a.rows), &(left..a.cols));
        let mut inner = Matrix::zeros(self.v.cols, block.cols);
        let whole = Block::of(&inner);
        multiply_add(&mut inner, whole, (Accum::Replace, 1.0), (&self.v_adjoint, Block::of(&self.v_adjoint)), (a, block));
        let inner = if adjoint { self.t.adjoint().times(&inner) } else { self.t.times(&inner) };
        multiply_add(a, block, (Accum::Add, -1.0), (&self.v, Block::of(&self.v)), (&inner, whole));
    }
}

/// Reflects columns of so many rows, one after the other in memory, to a triangle; the taus.
#[inline(always)]
fn reflect_columns<N: Number>(panel: &mut [N], rows: usize) -> Vec<N> {
    let mut taus = Vec::new();
    for k in 0..panel.len() / rows {
        let (done, rest) = panel.split_at_mut((k + 1) * rows);
        let v = &mut done[k * rows + k..];
        let (beta, tau) = reflector(v);
        taus.push(tau);
        v[0] = N::ONE;
        for column in rest.chunks_mut(rows).map(|column| &mut column[k..]).filter(|_| tau != N::ZERO) {
            let factor = tau.conj() * dot(v, column);
            column.iter_mut().zip(&*v).for_each(|(x, v)| *x -= factor * *v);
        }
        v[0] = beta;
    }
    taus
}

/// R on and above the diagonal, the vectors below it, and the taus.
pub fn qr<N: Number>(mut a: Matrix<N>) -> (Matrix<N>, Vec<N>) {
    let (steps, mut taus) = (a.rows.min(a.cols), Vec::new());
    for begin in (0..steps).step_by(TOGETHER) {
        let end = steps.min(begin + TOGETHER);
        let rows = a.rows - begin;
        let panel = Block::new(&(begin..a.rows), &(begin..end));
        taus.extend(a.in_columns(panel, |panel| {
            with_vectors(
                #[inline(always)]
                || reflect_columns(panel, rows),
            )
        }));
        if end < a.cols {
            Together::of(&a, begin..end, &taus, 0).apply(&mut a, (begin, end), true);
        }
    }
    (a, taus)
}

/// The same by the host's LAPACK, where that is worth a call, in columns: writes what is packed, and the taus.
pub fn qr_by_host<N: Number>(columns: &[N], sizes: (usize, usize), packed: &mut [N], taus: &mut [N]) -> Option<()> {
    let host = N::lapack().filter(|_| taus.len() > LEAST)?;
    packed.copy_from_slice(columns);
    host.qr(packed, sizes, taus)
}

/// The first `cols` columns of the product of the reflections whose vectors are below the diagonal `shift` rows down.
pub fn product<N: Number>(a: &Matrix<N>, taus: &[N], cols: usize, shift: usize) -> Matrix<N> {
    let mut q = Matrix::identity(a.rows, cols);
    let count = taus.len().min(a.cols).min(a.rows.saturating_sub(shift));
    for begin in (0..count).step_by(TOGETHER).rev() {
        let end = count.min(begin + TOGETHER);
        // Columns left of the reflections' own are still those of the identity.
        Together::of(a, begin..end, taus, shift).apply(&mut q, (begin + shift, (begin + shift).min(cols)), false);
    }
    q
}

/// The same for vectors below the diagonal itself, by the host's LAPACK, where that is worth a call, in columns: writes the product's.
pub fn product_by_host<N: Number>(columns: &[N], taus: &[N], sizes: (usize, usize), q: &mut [N]) -> Option<()> {
    let host = N::lapack().filter(|_| taus.len() > LEAST)?;
    q.copy_from_slice(columns);
    host.reflections(q, sizes, taus)
}
