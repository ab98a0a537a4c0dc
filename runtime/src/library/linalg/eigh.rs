//! Eigenvalues and eigenvectors of Hermitian matrices: reflections to a real tridiagonal matrix, then implicitly
//! shifted QL steps.

use super::matrix::{Matrix, dot, rotate};
use super::number::Number;
use super::reflect::{product, reflector};

/// Ascending eigenvalues, and eigenvectors as columns, of the Hermitian matrix in the lower triangle of `a`.
pub fn eigh<N: Number>(a: Matrix<N>) -> (Vec<f64>, Matrix<N>) {
    let n = a.rows;
    let (mut diagonal, mut beside, q) = tridiagonal(a);
    // Eigenvectors are kept as rows, which rotations run along.
    let mut rows = Matrix::build(n, n, |r, c| q[(c, r)]);
    ql(&mut diagonal, &mut beside, &mut rows);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|x, y| diagonal[*x].total_cmp(&diagonal[*y]));
    (order.iter().map(|k| diagonal[*k]).collect(), Matrix::build(n, n, |r, c| rows[(order[c], r)]))
}

/// The diagonal, what is beside it (with one entry more), and the unitary factor.
fn tridiagonal<N: Number>(mut a: Matrix<N>) -> (Vec<f64>, Vec<f64>, Matrix<N>) {
    let n = a.rows;
    // Both triangles are kept up to date, so that products run along rows.
    for r in 0..n {
        a[(r, r)] = a[(r, r)].re().into();
        for c in r + 1..n {
            a[(r, c)] = a[(c, r)].conj();
        }
    }
    let (mut beside, mut taus) = (vec![0.0; n], Vec::new());
    for k in 0..n.saturating_sub(1) {
        let mut v: Vec<N> = (k + 1..n).map(|r| a[(r, k)]).collect();
        let (beta, tau) = reflector(&mut v);
        beside[k] = beta.re();
        v[0] = N::ONE;
        taus.push(tau);
        for (i, x) in v.iter().enumerate() {
            a[(k + 1 + i, k)] = *x;
        }
        if tau == N::ZERO {
            continue;
        }
        let conjugate: Vec<N> = v.iter().map(|x| x.conj()).collect();
        let mut w: Vec<N> = (k + 1..n).map(|r| tau * dot(&conjugate, &a.row(r)[k + 1..])).collect();
        let half = (tau * dot(&w, &v)).scale(-0.5);
        w.iter_mut().zip(&v).for_each(|(w, v)| *w += half * *v);
        for i in 0..v.len() {
            let (vi, wi) = (v[i], w[i]);
            let row = &mut a.row_mut(k + 1 + i)[k + 1..];
            for ((x, v), w) in row.iter_mut().zip(&v).zip(&w) {
                *x -= vi * w.conj() + wi * v.conj();
            }
        }
    }
    let q = product(&a, &taus, n, 1);
    ((0..n).map(|k| a[(k, k)].re()).collect(), beside, q)
}

/// QL steps until nothing is beside the diagonal; the rows of `z` take part in the rotations.
fn ql<N: Number>(d: &mut [f64], e: &mut [f64], z: &mut Matrix<N>) {
    const STEPS: usize = 60;
    let n = d.len();
    for low in 0..n {
        for _ in 0..STEPS {
            let small = |m: &usize| e[*m].abs() <= f64::EPSILON * (d[*m].abs() + d[*m + 1].abs());
            let high = (low..n - 1).find(small).unwrap_or(n - 1);
            if high == low {
                break;
            }
            let mut g = (d[low + 1] - d[low]) / (2.0 * e[low]);
            g = d[high] - d[low] + e[low] / (g + g.hypot(1.0).copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut split = false;
            for k in (low..high).rev() {
                let (f, b) = (s * e[k], c * e[k]);
                let r = f.hypot(g);
                e[k + 1] = r;
                if r == 0.0 {
                    d[k + 1] -= p;
                    e[high] = 0.0;
                    split = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[k + 1] - p;
                let t = (d[k] - g) * s + 2.0 * c * b;
                p = s * t;
                d[k + 1] = g + p;
                g = c * t - b;
                let (a, b) = z.two_rows(k + 1, k);
                rotate(a, b, c, s.into());
            }
            if !split {
                d[low] -= p;
                e[low] = g;
                e[high] = 0.0;
            }
        }
    }
}
