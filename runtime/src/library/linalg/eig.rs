//! Eigenvalues and eigenvectors of any square matrix: reflections to Hessenberg form, shifted QR steps in complex
//! numbers, back substitution.

use num_complex::Complex64;

use super::lapack::LEAST;
use super::matrix::{Matrix, are_finite, length, rotate, turned};
use super::number::Number;
use super::reflect::{product, reflect, reflector};

/// Eigenvalues, and eigenvectors of length one as columns. The largest entry of a complex one is real, as in LAPACK.
pub fn eig<N: Number>(a: Matrix<N>) -> (Vec<Complex64>, Matrix<Complex64>) {
    let (n, scale) = (a.rows, a.norm1());
    let (mut t, mut z) = hessenberg(a);
    schur(&mut t, &mut z);
    let mut values: Vec<Complex64> = (0..n).map(|k| t[(k, k)]).collect();
    let vectors = eigenvectors(&t, scale).times(&z.transposed());
    let mut rows: Vec<Vec<Complex64>> = (0..n).map(|k| normalised(vectors.row(k))).collect();
    if N::of(0.0, 1.0).im() == 0.0 {
        pair(&mut values, &mut rows, scale);
    }
    (values, Matrix::build(n, n, |r, c| rows[c][r]))
}

/// The same by the host's LAPACK, where that is worth a call, and without vectors if they are not wanted.
pub fn by_host<N: Number>(a: &[N], n: usize, vectors: bool) -> Option<(Vec<Complex64>, Vec<Complex64>)> {
    let host = N::lapack().filter(|_| n > LEAST && are_finite(a))?;
    let (values, columns) = host.eig(&mut turned(a, (n, n)), n, vectors)?;
    Some((values, if vectors { turned(&columns, (n, n)) } else { columns }))
}

/// `A = Z T Z*` with nothing below the first subdiagonal of T.
fn hessenberg<N: Number>(mut a: Matrix<N>) -> (Matrix<Complex64>, Matrix<Complex64>) {
    let (n, mut taus) = (a.rows, Vec::new());
    let mut vectors = Matrix::zeros(n, n);
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<N> = (k + 1..n).map(|r| a[(r, k)]).collect();
        let (beta, tau) = reflector(&mut v);
        v[0] = N::ONE;
        v.iter().enumerate().for_each(|(i, x)| vectors[(k + 1 + i, k)] = *x);
        taus.push(tau);
        let columns = k + 1..a.cols;
        reflect(&mut a, &v, tau.conj(), k + 1, columns);
        for r in 0..n {
            let row = &mut a.row_mut(r)[k + 1..];
            let sum = tau * row.iter().zip(&v).fold(N::ZERO, |sum, (x, v)| sum + *x * *v);
            row.iter_mut().zip(&v).for_each(|(x, v)| *x -= sum * v.conj());
        }
        (k + 1..n).for_each(|r| a[(r, k)] = N::ZERO);
        a[(k + 1, k)] = beta;
    }
    let complex = |m: &Matrix<N>| Matrix::build(n, n, |r, c| Complex64::new(m[(r, c)].re(), m[(r, c)].im()));
    (complex(&a), complex(&product(&vectors, &taus, n, 1)))
}

/// QR steps from the bottom up until T is triangular. Z takes part.
fn schur(t: &mut Matrix<Complex64>, z: &mut Matrix<Complex64>) {
    const STEPS: usize = 60;
    let n = t.rows;
    let mut high = n;
    let mut steps = 0;
    // Columns of Z as rows, which rotations run along.
    let mut columns = z.adjoint();
    while high > 1 {
        let tiny = |k: &usize| t[(*k, *k - 1)].size() <= f64::EPSILON * (t[(*k, *k)].size() + t[(*k - 1, *k - 1)].size());
        let low = (1..high).rev().find(|k| tiny(k) || t[(*k, *k - 1)].size() < f64::MIN_POSITIVE).unwrap_or(0);
        if low > 0 {
            t[(low, low - 1)] = Complex64::ZERO;
        }
        if low == high - 1 || steps == STEPS {
            (high, steps) = (high - 1, 0);
            continue;
        }
        steps += 1;
        let shift =
            if steps % 10 == 0 { Complex64::from(t[(high - 1, high - 2)].size()) + t[(high - 1, high - 1)] } else { wilkinson(t, high) };
        step(t, &mut columns, shift, low, high);
    }
    *z = columns.adjoint();
}

/// The eigenvalue of the last two rows that is nearer to the last element.
fn wilkinson(t: &Matrix<Complex64>, high: usize) -> Complex64 {
    let (p, q) = (high - 2, high - 1);
    let (a, b, c, d) = (t[(p, p)], t[(p, q)], t[(q, p)], t[(q, q)]);
    let half = (a - d).scale(0.5);
    let root = (half * half + b * c).sqrt();
    let sum = if (half + root).square() >= (half - root).square() { half + root } else { half - root };
    if sum.square() == 0.0 { d } else { d - b * c / sum }
}

/// One QR step on rows `low..high` of the Hessenberg matrix, as a chain of plane rotations.
fn step(t: &mut Matrix<Complex64>, columns: &mut Matrix<Complex64>, shift: Complex64, low: usize, high: usize) {
    let (mut x, mut y) = (t[(low, low)] - shift, t[(low + 1, low)]);
    for k in low..high - 1 {
        if k > low {
            (x, y) = (t[(k, k - 1)], t[(k + 1, k - 1)]);
        }
        // (c x + s y, c y - s* x) is (r, 0).
        let r = x.abs().hypot(y.abs());
        if r == 0.0 {
            continue;
        }
        let (c, s) = match x.abs() {
            0.0 => (0.0, y.conj().scale(1.0 / y.abs())),
            size => (size / r, x.scale(1.0 / size) * y.conj().scale(1.0 / r)),
        };
        let (a, b) = t.two_rows(k, k + 1);
        let from = if k > low { k - 1 } else { k };
        rotate(&mut a[from..], &mut b[from..], c, s);
        for r in 0..(k + 3).min(high) {
            let (a, b) = (t[(r, k)], t[(r, k + 1)]);
            t[(r, k)] = a.scale(c) + b * s.conj();
            t[(r, k + 1)] = b.scale(c) - a * s;
        }
        let (a, b) = columns.two_rows(k, k + 1);
        rotate(a, b, c, s);
        if k > low {
            t[(k + 1, k - 1)] = Complex64::ZERO;
        }
    }
}

/// Row k is the eigenvector of the triangular matrix to its k-th eigenvalue.
fn eigenvectors(t: &Matrix<Complex64>, scale: f64) -> Matrix<Complex64> {
    let n = t.rows;
    let least = (f64::EPSILON * scale).max(f64::MIN_POSITIVE);
    let mut vectors = Matrix::identity(n, n);
    for k in 0..n {
        for r in (0..k).rev() {
            let sum = (r + 1..=k).fold(Complex64::ZERO, |sum, c| sum + t[(r, c)] * vectors[(k, c)]);
            let gap = t[(k, k)] - t[(r, r)];
            vectors[(k, r)] = sum / if gap.size() < least { least.into() } else { gap };
        }
    }
    vectors
}

/// Of length one, and turned so that the largest entry is real and positive.
fn normalised(x: &[Complex64]) -> Vec<Complex64> {
    let size = length(x);
    let largest = x.iter().fold(Complex64::ZERO, |best, x| if x.square() > best.square() { *x } else { best });
    if size == 0.0 || largest.square() == 0.0 {
        return x.to_vec();
    }
    let turn = largest.conj().scale(1.0 / (largest.abs() * size));
    x.iter().map(|x| x * turn).collect()
}

/// Eigenvalues of a real matrix are real or come in pairs, which stand together, the one above the real axis first.
fn pair(values: &mut [Complex64], rows: &mut [Vec<Complex64>], scale: f64) {
    let n = values.len();
    let least = 8.0 * n as f64 * f64::EPSILON * scale;
    let mut k = 0;
    while k < n {
        let value = values[k];
        let distance = |other: Complex64| (other - value.conj()).size();
        let nearest = (k + 1..n).min_by(|a, b| distance(values[*a]).total_cmp(&distance(values[*b])));
        let Some(partner) = nearest.filter(|_| value.im.abs() > least) else {
            values[k].im = 0.0;
            rows[k].iter_mut().for_each(|x| x.im = 0.0);
            k += 1;
            continue;
        };
        let own = if value.im > 0.0 { k } else { partner };
        let (above, vector) = (values[own], rows[own].clone());
        // The partner moves next to it, past those between.
        values[k + 1..=partner].rotate_right(1);
        rows[k + 1..=partner].rotate_right(1);
        (values[k], values[k + 1]) = (above, above.conj());
        rows[k + 1] = vector.iter().map(|x| x.conj()).collect();
        rows[k] = vector;
        k += 2;
    }
}
