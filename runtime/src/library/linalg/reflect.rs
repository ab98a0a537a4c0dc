//! Householder's reflections `I - tau v v*`, spelled as LAPACK spells them: the first entry of v is one and not stored.

use super::matrix::{Matrix, length};
use super::number::Number;

/// The reflection that maps the line `x` to a real multiple of its first entry: that multiple, and tau. The rest of
/// `x` becomes the rest of v.
pub fn reflector<N: Number>(x: &mut [N]) -> (N, N) {
    let Some((alpha, rest)) = x.split_first_mut() else { return (N::ZERO, N::ZERO) };
    let below = length(rest);
    if below == 0.0 && alpha.im() == 0.0 {
        return (*alpha, N::ZERO);
    }
    let beta = -alpha.abs().hypot(below).copysign(alpha.re());
    let tau = N::of((beta - alpha.re()) / beta, -alpha.im() / beta);
    let scale = N::ONE / (*alpha - beta.into());
    rest.iter_mut().for_each(|x| *x *= scale);
    (beta.into(), tau)
}

/// Applies `I - tau v v*` to rows `top..` of a matrix, from column `left` on.
pub fn reflect<N: Number>(a: &mut Matrix<N>, v: &[N], tau: N, top: usize, left: usize) {
    if tau == N::ZERO || left >= a.cols {
        return;
    }
    let mut product = vec![N::ZERO; a.cols - left];
    for (k, v) in v.iter().enumerate() {
        let row = &a.row(top + k)[left..];
        product.iter_mut().zip(row).for_each(|(sum, x)| *sum += v.conj() * *x);
    }
    for (k, v) in v.iter().enumerate() {
        let factor = tau * *v;
        let row = &mut a.row_mut(top + k)[left..];
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

/// R on and above the diagonal, the vectors below it, and the taus.
pub fn qr<N: Number>(mut a: Matrix<N>) -> (Matrix<N>, Vec<N>) {
    let mut taus = Vec::new();
    for k in 0..a.rows.min(a.cols) {
        let mut column: Vec<N> = (k..a.rows).map(|r| a[(r, k)]).collect();
        let (beta, tau) = reflector(&mut column);
        column[0] = N::ONE;
        reflect(&mut a, &column, tau.conj(), k, k + 1);
        column[0] = beta;
        column.iter().enumerate().for_each(|(i, x)| a[(k + i, k)] = *x);
        taus.push(tau);
    }
    (a, taus)
}

/// The first `cols` columns of the product of the reflections whose vectors are below the diagonal `shift` rows down.
pub fn product<N: Number>(a: &Matrix<N>, taus: &[N], cols: usize, shift: usize) -> Matrix<N> {
    let mut q = Matrix::identity(a.rows, cols);
    for (k, tau) in taus.iter().enumerate().rev().filter(|(k, _)| k + shift < a.rows && *k < a.cols) {
        // Columns left of the reflection's own are still those of the identity.
        reflect(&mut q, &vector(a, k + shift, k), *tau, k + shift, (k + shift).min(cols));
    }
    q
}
