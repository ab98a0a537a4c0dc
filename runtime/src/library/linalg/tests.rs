//! Factors multiply to the matrix that they come from.

use faer::Accum;
use num_complex::Complex64;

use super::cholesky::cholesky;
use super::eig::eig;
use super::eigh::{self, eigh};
use super::exponential::exponential;
use super::ldl;
use super::lu::{lu, permutation};
use super::matrix::Matrix;
use super::number::Number;
use super::product::{Block, multiply_add};
use super::reflect::{product, qr};
use super::svd::{self, svd};
use super::triangular::{Triangle, solve, solve_one};

/// Entries without order, of either kind of number.
fn sample<N: Number>(rows: usize, cols: usize) -> Matrix<N> {
    let noise = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0;
    let weight = |r: usize, c: usize| if r == c { 2.0 } else { 0.0 };
    Matrix::build(rows, cols, |r, c| N::of(noise(r * 31 + c * 17 + 1) + weight(r, c), noise(r * 5 + c * 101 + 7)))
}

fn hermitian<N: Number>(n: usize) -> Matrix<N> {
    let a = sample::<N>(n, n);
    Matrix::build(n, n, |r, c| a[(r, c)] + a[(c, r)].conj())
}

#[track_caller]
fn same<N: Number>(a: &Matrix<N>, b: &Matrix<N>) {
    assert_eq!((a.rows, a.cols), (b.rows, b.cols));
    let far = a.data.iter().zip(&b.data).map(|(x, y)| (*x - *y).abs()).fold(0.0, f64::max);
    assert!(far < 1e-11, "they differ by {far}");
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-11), "{a:?} and {b:?}");
}

fn scaled<N: Number>(a: &Matrix<N>, columns: &[f64]) -> Matrix<N> {
    Matrix::build(a.rows, a.cols, |r, c| a[(r, c)].scale(columns.get(c).copied().unwrap_or(0.0)))
}

fn both(check: fn(usize, usize), shapes: &[(usize, usize)]) {
    shapes.iter().for_each(|(m, n)| check(*m, *n));
}

fn triangles<N: Number>(n: usize) {
    let a = sample::<N>(n, n);
    let positive = a.times(&a.adjoint());
    let (l, info) = cholesky(&positive);
    assert_eq!(info, 0);
    same(&l.times(&l.adjoint()), &positive);
    let parts = lu(a.clone(), false);
    let order = permutation(&parts.pivots, n);
    let b = Matrix::build(n, 2, |r, c| a[(order[r] as usize, c)]);
    let x = solve(&parts.factors, solve(&parts.factors, b, false, true), true, false);
    same(&x, &Matrix::identity(n, 2));
}

/// A triangle that lies row after row.
fn kind(upper: bool, unit: bool) -> Triangle {
    Triangle { upper, unit, turned: false }
}

#[test]
fn triangular_factors_solve_systems() {
    for n in [2, 3, 8, 33, 70, 130] {
        triangles::<f64>(n);
        triangles::<Complex64>(n);
    }
    assert_eq!(lu(sample::<f64>(3, 200), false).pivots.len(), 3);
    assert_eq!(cholesky(&Matrix::build(2, 2, |r, c| if r == c { 1.0 } else { 2.0 })).1, 2);
    assert_eq!(lu(Matrix::<f64>::zeros(2, 2), false).info, 1);
}

fn one_column<N: Number>(n: usize) {
    let a = sample::<N>(n, n);
    let mut parts = lu(a.clone(), false);
    let order = permutation(&parts.pivots, n);
    let b: Vec<N> = (0..n).map(|r| a[(order[r] as usize, 0)]).collect();
    let lower = solve_one(&parts.factors.data, &b, kind(false, true)).expect("it is long enough");
    let x = solve_one(&parts.factors.data, &lower, kind(true, false)).expect("no pivot is zero");
    same(&Matrix { rows: n, cols: 1, data: x }, &Matrix::identity(n, 1));
    parts.factors[(1, 1)] = N::ZERO;
    assert!(solve_one(&parts.factors.data, &b, kind(true, false)).is_none());
    assert!(solve_one(&parts.factors.data, &b, kind(true, true)).is_some(), "the diagonal is not read");
}

/// One column goes along the rows of the triangle, unless it is short or a pivot is zero.
#[test]
fn triangular_factors_solve_one_column() {
    one_column::<f64>(130);
    one_column::<Complex64>(97);
    assert!(solve_one(&[2.0], &[1.0], kind(false, false)).is_none());
}

/// L, U and the exchanges multiply to the matrix, whatever its shape and where a column has no pivot.
#[test]
fn eliminations_multiply_back() {
    for (m, n, zero) in [(1, 5, 9), (5, 1, 9), (40, 40, 9), (150, 97, 20), (97, 150, 150), (200, 33, 33), (130, 130, 64)] {
        let mut a = sample::<f64>(m, n);
        (0..m).filter(|_| zero < n).for_each(|r| a[(r, zero)] = 0.0);
        // (Without exchanges larger ones lose digits.)
        for nopivot in [false, m.max(n) <= 40] {
            let parts = lu(a.clone(), nopivot);
            let k = m.min(n);
            let lower = Matrix::build(m, k, |r, c| {
                if r == c {
                    1.0
                } else if r > c {
                    parts.factors[(r, c)]
                } else {
                    0.0
                }
            });
            let upper = Matrix::build(k, n, |r, c| if r <= c { parts.factors[(r, c)] } else { 0.0 });
            let order = permutation(&parts.pivots, m);
            assert_eq!((parts.pivots.len(), parts.info), (k, if zero < k { zero as i32 + 1 } else { 0 }));
            if !nopivot {
                assert!(lower.data.iter().all(|x| x.abs() <= 1.0), "a pivot is the largest of its column");
            }
            same(&lower.times(&upper), &Matrix::build(m, n, |r, c| a[(order[r] as usize, c)]));
        }
    }
}

fn reflections<N: Number>(m: usize, n: usize) {
    let a = sample::<N>(m, n);
    let (packed, taus) = qr(a.clone());
    let q = product(&packed, &taus, m, 0);
    let r = Matrix::build(m, n, |r, c| if r <= c { packed[(r, c)] } else { N::ZERO });
    same(&q.times(&r), &a);
    same(&q.adjoint().times(&q), &Matrix::identity(m, m));
    for full in [false, true] {
        let parts = svd(&a, full);
        let left = Matrix { data: parts.u.data.clone(), ..parts.u };
        let cut = Matrix::build(left.cols, n, |r, c| if r < parts.vh.rows { parts.vh[(r, c)] } else { N::ZERO });
        same(&scaled(&left, &parts.s).times(&cut), &a);
        same(&left.adjoint().times(&left), &Matrix::identity(left.cols, left.cols));
        same(&parts.vh.times(&parts.vh.adjoint()), &Matrix::identity(parts.vh.rows, parts.vh.rows));
        assert!(parts.s.is_sorted_by(|x, y| x >= y));
        close(&svd::values(&a), &parts.s);
    }
}

#[test]
fn orthogonal_factors() {
    let shapes = [(1, 1), (3, 3), (6, 2), (2, 6), (9, 7), (50, 40), (35, 70)];
    both(reflections::<f64>, &shapes);
    both(reflections::<Complex64>, &shapes);
    // Of rank one: vectors of zero values complete the basis.
    let flat = svd(&Matrix::build(3, 3, |_, _| 1.0), true);
    same(&flat.vh.times(&flat.vh.adjoint()), &Matrix::identity(3, 3));
    assert!((flat.s[0] - 3.0).abs() < 1e-14 && flat.s[1] < 1e-14);
}

fn spectra<N: Number>(n: usize) {
    let h = hermitian::<N>(n);
    let (values, v) = eigh(&h);
    same(&scaled(&v, &values).times(&v.adjoint()), &h);
    assert!(values.is_sorted());
    close(&eigh::values(&h), &values);
    let a = sample::<N>(n, n);
    let (values, v) = eig(a.clone());
    let wide = Matrix::build(n, n, |r, c| Complex64::new(a[(r, c)].re(), a[(r, c)].im()));
    same(&wide.times(&v), &Matrix::build(n, n, |r, c| v[(r, c)] * values[c]));
}

#[test]
fn eigenvectors_belong_to_their_values() {
    for n in [1, 2, 3, 5, 12] {
        spectra::<f64>(n);
        spectra::<Complex64>(n);
    }
    // A rotation: a pair, the one above the axis first.
    let (values, _) = eig(Matrix { rows: 2, cols: 2, data: vec![0.0, -1.0, 1.0, 0.0] });
    assert!((values[0] - Complex64::I).abs() < 1e-15 && values[1] == values[0].conj());
}

fn indefinite<N: Number>(n: usize, is_hermitian: bool) {
    let h = hermitian::<N>(n);
    let a = Matrix::build(n, n, |r, c| match () {
        () if r == c => h[(r, c)].scale(0.01),
        () if is_hermitian || r > c => h[(r, c)],
        () => h[(c, r)],
    });
    let (factors, pivots, info) = ldl::ldl(a.clone(), is_hermitian);
    assert_eq!(info, 0);
    assert!(pivots.iter().any(|p| *p < 0), "no block of two");
    let b = sample::<N>(n, 3);
    same(&ldl::solve(&factors, &pivots, a.times(&b), is_hermitian), &b);
}

#[test]
fn indefinite_systems() {
    for n in [2, 5, 9] {
        indefinite::<f64>(n, false);
        indefinite::<Complex64>(n, false);
        indefinite::<Complex64>(n, true);
    }
}

#[test]
fn exponentials() {
    let turn = Matrix { rows: 2, cols: 2, data: vec![0.0, -40.0, 40.0, 0.0] };
    let (s, c) = 40.0_f64.sin_cos();
    same(&exponential(&turn), &Matrix { rows: 2, cols: 2, data: vec![c, -s, s, c] });
    let a = sample::<Complex64>(4, 4);
    let negative = Matrix { data: a.data.iter().map(|x| -*x).collect(), ..a };
    same(&exponential(&a).times(&exponential(&negative)), &Matrix::identity(4, 4));
    // Every coefficient shows in numbers, which nothing else rounds.
    for x in (-20..=20).map(|step| f64::from(step) * 0.05) {
        let far = exponential(&Matrix { rows: 1, cols: 1, data: vec![x] }).data[0] - x.exp();
        assert!(far.abs() < 4.0 * f64::EPSILON * x.exp().max(1.0), "exp({x}) is off by {far}");
    }
    assert!(exponential(&Matrix { rows: 2, cols: 2, data: vec![0.0, f64::NAN, 0.0, 1.0] }).data.iter().all(|x| x.is_nan()));
}

#[test]
fn products_add_to_blocks() {
    let (a, b) = (sample::<Complex64>(5, 3), sample::<Complex64>(5, 4));
    let mut c = Matrix::identity(6, 6);
    let block = Block { row: 2, col: 1, rows: 3, cols: 4 };
    let a = a.adjoint();
    multiply_add(&mut c, block, (Accum::Add, -2.0), (&a, Block::of(&a)), (&b, Block::of(&b)));
    let wanted = Matrix::build(6, 6, |r, col| {
        let one = if r == col { Complex64::ONE } else { Complex64::ZERO };
        let inside = (2..5).contains(&r) && (1..5).contains(&col);
        let sum = |r: usize, c: usize| (0..5).map(|k| a[(r, k)] * b[(k, c)]).sum::<Complex64>();
        if inside { one - sum(r - 2, col - 1).scale(2.0) } else { one }
    });
    same(&c, &wanted);
}

#[test]
fn a_minor_that_is_not_positive_ends_the_factor() {
    // The leading 40 by 40 of it is positive, the next minor is not.
    let mut a = Matrix::<f64>::identity(50, 50);
    a[(40, 40)] = -1.0;
    a[(40, 3)] = 0.5;
    let (l, info) = cholesky(&a);
    assert_eq!(info, 41);
    let (_, late) = cholesky(&Matrix::<f64>::build(200, 200, |r, c| if r == c && r != 170 { 1.0 } else { 0.0 }));
    assert_eq!(late, 171);
    assert_eq!(l.row(40)[..5], [0.0, 0.0, 0.0, 0.5, 0.0]);
    assert!(l.row(40)[40..].iter().chain(&l.data[41 * 50..]).all(|x| *x == 0.0));
}

#[test]
fn a_triangle_in_columns_is_that_in_rows() {
    let a = Matrix::build(150, 150, |r, c| if r == c { 2.0 } else { ((r * 7 + c * 3) % 11) as f64 / 100.0 });
    let b: Vec<f64> = (0..150).map(|k| (k % 13) as f64 - 6.0).collect();
    let columns = a.transposed().data;
    for (upper, unit) in [(false, false), (false, true), (true, false), (true, true)] {
        let wanted = solve(&a, Matrix { rows: 150, cols: 1, data: b.clone() }, upper, unit).data;
        let turned = Triangle { turned: true, ..kind(upper, unit) };
        let one = solve_one(&columns, &b, turned).expect("it is long enough");
        assert!(one.iter().zip(&wanted).all(|(x, y)| (x - y).abs() <= 1e-12 * y.abs().max(1.0)), "{turned:?}");
        let mut x = vec![0.0; 150];
        if super::triangular::by_host(&columns, &b, &mut x, 150, turned).is_some() {
            assert!(x.iter().zip(&wanted).all(|(x, y)| (x - y).abs() <= 1e-12 * y.abs().max(1.0)), "{turned:?} by the host");
        }
    }
}
