//! Dense matrices of complex numbers and their factorisations, by the textbook.

use num_complex::Complex64;

/// A matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    data: Vec<Complex64>,
}

const ZERO: Complex64 = Complex64::new(0.0, 0.0);
const ONE: Complex64 = Complex64::new(1.0, 0.0);

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = Complex64;
    fn index(&self, (r, c): (usize, usize)) -> &Complex64 {
        &self.data[r * self.cols + c]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut Complex64 {
        &mut self.data[r * self.cols + c]
    }
}

impl Matrix {
    /// A matrix from a function of row and column.
    pub fn build(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> Complex64) -> Matrix {
        let data = (0..rows * cols).map(|k| f(k / cols.max(1), k % cols.max(1))).collect();
        Matrix { rows, cols, data }
    }

    /// The identity.
    pub fn identity(n: usize) -> Matrix {
        Matrix::build(n, n, |r, c| if r == c { ONE } else { ZERO })
    }

    /// A diagonal matrix.
    pub fn diagonal(rows: usize, cols: usize, d: &[f64]) -> Matrix {
        Matrix::build(rows, cols, |r, c| if r == c { d.get(r).copied().unwrap_or(0.0).into() } else { ZERO })
    }

    /// All elements, row-major.
    pub fn elements(&self) -> &[Complex64] {
        &self.data
    }

    /// The product.
    pub fn times(&self, other: &Matrix) -> Matrix {
        Matrix::build(self.rows, other.cols, |r, c| (0..self.cols).map(|k| self[(r, k)] * other[(k, c)]).sum())
    }

    /// The conjugate transpose.
    pub fn adjoint(&self) -> Matrix {
        Matrix::build(self.cols, self.rows, |r, c| self[(c, r)].conj())
    }

    /// The transpose.
    pub fn transpose(&self) -> Matrix {
        Matrix::build(self.cols, self.rows, |r, c| self[(c, r)])
    }

    /// Every element times a number.
    pub fn scaled(&self, k: f64) -> Matrix {
        Matrix::build(self.rows, self.cols, |r, c| self[(r, c)] * k)
    }

    /// The sum.
    pub fn plus(&self, other: &Matrix) -> Matrix {
        Matrix::build(self.rows, self.cols, |r, c| self[(r, c)] + other[(r, c)])
    }

    /// Some of the columns.
    pub fn columns(&self, from: usize, to: usize) -> Matrix {
        Matrix::build(self.rows, to - from, |r, c| self[(r, from + c)])
    }

    /// Some of the rows.
    pub fn row_range(&self, from: usize, to: usize) -> Matrix {
        Matrix::build(to - from, self.cols, |r, c| self[(from + r, c)])
    }

    /// The largest absolute column sum.
    pub fn norm1(&self) -> f64 {
        (0..self.cols).map(|c| (0..self.rows).map(|r| self[(r, c)].norm()).sum()).fold(0.0, f64::max)
    }

    /// `L` and `U` in one matrix, the row exchanged at each step, and the first zero pivot counted from 1.
    pub fn lu(&self, pivot: bool) -> (Matrix, Vec<usize>, usize) {
        let (mut a, n) = (self.clone(), self.rows.min(self.cols));
        let (mut pivots, mut info) = (Vec::new(), 0);
        for k in 0..n {
            let size = |r: usize| a[(r, k)].re.abs() + a[(r, k)].im.abs();
            let best = if pivot { (k..self.rows).fold(k, |b, r| if size(r) > size(b) { r } else { b }) } else { k };
            pivots.push(best);
            if a[(best, k)] == ZERO {
                info = if info == 0 { k + 1 } else { info };
                continue;
            }
            for c in 0..self.cols {
                let t = a[(k, c)];
                a[(k, c)] = a[(best, c)];
                a[(best, c)] = t;
            }
            for r in k + 1..self.rows {
                let f = a[(r, k)] / a[(k, k)];
                a[(r, k)] = f;
                for c in k + 1..self.cols {
                    let t = f * a[(k, c)];
                    a[(r, c)] -= t;
                }
            }
        }
        (a, pivots, info)
    }

    /// Applies the row exchanges of an LU factorisation, or undoes them.
    pub fn exchanged(&self, pivots: &[usize], undo: bool) -> Matrix {
        let mut order: Vec<usize> = (0..self.rows).collect();
        let steps: Vec<(usize, usize)> = pivots.iter().copied().enumerate().collect();
        for &(a, b) in &steps {
            order.swap(a, b);
        }
        if undo {
            let mut inverse = vec![0; order.len()];
            order.iter().enumerate().for_each(|(k, &o)| inverse[o] = k);
            order = inverse;
        }
        Matrix::build(self.rows, self.cols, |r, c| self[(order[r], c)])
    }

    /// Solves a triangular system.
    pub fn solve_triangular(&self, b: &Matrix, upper: bool, unit: bool) -> Matrix {
        let (n, mut x) = (self.rows, b.clone());
        for step in 0..n {
            let r = if upper { n - 1 - step } else { step };
            for c in 0..b.cols {
                let done = if upper { r + 1..n } else { 0..r };
                let sum: Complex64 = done.map(|k| self[(r, k)] * x[(k, c)]).sum();
                let rest = x[(r, c)] - sum;
                x[(r, c)] = if unit { rest } else { rest / self[(r, r)] };
            }
        }
        x
    }

    /// Solves a square system; the second value is the first zero pivot counted from 1.
    pub fn solve(&self, b: &Matrix) -> (Matrix, usize) {
        let (lu, pivots, info) = self.lu(true);
        let y = lu.solve_triangular(&b.exchanged(&pivots, false), false, true);
        (lu.solve_triangular(&y, true, false), info)
    }

    /// The determinant.
    pub fn determinant(&self) -> Complex64 {
        let (lu, pivots, _) = self.lu(true);
        let sign = if pivots.iter().enumerate().filter(|(k, p)| k != *p).count() % 2 == 0 { 1.0 } else { -1.0 };
        (0..self.rows).map(|k| lu[(k, k)]).product::<Complex64>() * sign
    }

    /// The lower Cholesky factor and the first minor that is not positive, counted from 1.
    pub fn cholesky(&self) -> (Matrix, usize) {
        let n = self.rows;
        let mut l = Matrix::build(n, n, |_, _| ZERO);
        for c in 0..n {
            let d = self[(c, c)].re - (0..c).map(|k| l[(c, k)].norm_sqr()).sum::<f64>();
            if d.is_nan() || d <= 0.0 {
                return (l, c + 1);
            }
            l[(c, c)] = d.sqrt().into();
            for r in c + 1..n {
                let sum: Complex64 = (0..c).map(|k| l[(r, k)] * l[(c, k)].conj()).sum();
                let rest = self[(r, c)] - sum;
                l[(r, c)] = rest / l[(c, c)];
            }
        }
        (l, 0)
    }

    /// Householder vectors below the diagonal with R above, and the factors tau, as LAPACK's `geqrf`.
    pub fn geqrf(&self) -> (Matrix, Vec<Complex64>) {
        let (mut a, mut taus) = (self.clone(), Vec::new());
        for k in 0..self.rows.min(self.cols) {
            let alpha = a[(k, k)];
            let rest: f64 = (k + 1..self.rows).map(|r| a[(r, k)].norm_sqr()).sum();
            if rest == 0.0 && alpha.im == 0.0 {
                taus.push(ZERO);
                continue;
            }
            let beta = -(alpha.norm_sqr() + rest).sqrt().copysign(alpha.re);
            let tau = Complex64::new((beta - alpha.re) / beta, -alpha.im / beta);
            for r in k + 1..self.rows {
                a[(r, k)] /= alpha - beta;
            }
            for c in k + 1..self.cols {
                // Apply (I - tau v v^H)^H to the column.
                let dot: Complex64 = a[(k, c)] + (k + 1..self.rows).map(|r| a[(r, k)].conj() * a[(r, c)]).sum::<Complex64>();
                let f = tau.conj() * dot;
                a[(k, c)] -= f;
                for r in k + 1..self.rows {
                    let t = a[(r, k)] * f;
                    a[(r, c)] -= t;
                }
            }
            a[(k, k)] = beta.into();
            taus.push(tau);
        }
        (a, taus)
    }

    /// The first `count` columns of the product of the reflections that `geqrf` leaves.
    pub fn reflections(&self, taus: &[Complex64], count: usize) -> Matrix {
        let mut q = Matrix::build(self.rows, count, |r, c| if r == c { ONE } else { ZERO });
        for (k, &tau) in taus.iter().enumerate().rev() {
            for c in 0..count {
                let dot: Complex64 = q[(k, c)] + (k + 1..self.rows).map(|r| self[(r, k)].conj() * q[(r, c)]).sum::<Complex64>();
                let f = tau * dot;
                q[(k, c)] -= f;
                for r in k + 1..self.rows {
                    let t = self[(r, k)] * f;
                    q[(r, c)] -= t;
                }
            }
        }
        q
    }

    /// Eigenvalues in ascending order and eigenvectors of a Hermitian matrix, by Jacobi's rotations.
    pub fn eigh(&self) -> (Vec<f64>, Matrix) {
        let n = self.rows;
        let (mut a, mut v) = (self.clone(), Matrix::identity(n));
        for _ in 0..60 {
            let off: f64 = (0..n).flat_map(|r| (0..n).map(move |c| (r, c))).filter(|(r, c)| r != c).map(|p| a[p].norm_sqr()).sum();
            if off < 1e-300 {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    let apq = a[(p, q)];
                    if apq.norm() < 1e-300 {
                        continue;
                    }
                    let phase = apq / apq.norm();
                    let theta = (a[(q, q)].re - a[(p, p)].re) / (2.0 * apq.norm());
                    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                    let t = if theta == 0.0 { 1.0 } else { t };
                    let c = 1.0 / (t * t + 1.0).sqrt();
                    let s = t * c;
                    // Columns p and q of the rotation: (c, -s conj(phase)) and (s phase, c).
                    for m in [&mut a, &mut v] {
                        for r in 0..n {
                            let (x, y) = (m[(r, p)], m[(r, q)]);
                            m[(r, p)] = x * c - y * phase.conj() * s;
                            m[(r, q)] = x * phase * s + y * c;
                        }
                    }
                    for k in 0..n {
                        let (x, y) = (a[(p, k)], a[(q, k)]);
                        a[(p, k)] = x * c - y * phase * s;
                        a[(q, k)] = x * phase.conj() * s + y * c;
                    }
                }
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&x, &y| a[(x, x)].re.total_cmp(&a[(y, y)].re));
        (order.iter().map(|&k| a[(k, k)].re).collect(), Matrix::build(n, n, |r, c| v[(r, order[c])]))
    }

    /// Singular values in descending order with left and right vectors, by one-sided Jacobi rotations.
    /// The left vectors are completed to a basis when `full`.
    pub fn svd(&self, full: bool) -> (Matrix, Vec<f64>, Matrix) {
        if self.rows < self.cols {
            let (u, s, vh) = self.adjoint().svd(full);
            return (vh.adjoint(), s, u.adjoint());
        }
        let n = self.cols;
        let (mut a, mut v) = (self.clone(), Matrix::identity(n));
        for _ in 0..60 {
            let mut done = true;
            for p in 0..n {
                for q in p + 1..n {
                    let column = |m: &Matrix, x: usize, y: usize| (0..m.rows).map(|r| m[(r, x)].conj() * m[(r, y)]).sum::<Complex64>();
                    let (app, aqq, apq) = (column(&a, p, p).re, column(&a, q, q).re, column(&a, p, q));
                    if apq.norm() <= 1e-16 * (app * aqq).sqrt() || apq.norm() < 1e-300 {
                        continue;
                    }
                    done = false;
                    let phase = apq / apq.norm();
                    let theta = (aqq - app) / (2.0 * apq.norm());
                    let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt()) };
                    let c = 1.0 / (t * t + 1.0).sqrt();
                    let s = t * c;
                    for m in [&mut a, &mut v] {
                        for r in 0..m.rows {
                            let (x, y) = (m[(r, p)], m[(r, q)]);
                            m[(r, p)] = x * c - y * phase.conj() * s;
                            m[(r, q)] = x * phase * s + y * c;
                        }
                    }
                }
            }
            if done {
                break;
            }
        }
        let size = |c: usize| (0..a.rows).map(|r| a[(r, c)].norm_sqr()).sum::<f64>().sqrt();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&x, &y| size(y).total_cmp(&size(x)));
        let values: Vec<f64> = order.iter().map(|&k| size(k)).collect();
        let count = if full { self.rows } else { n };
        let mut u = Matrix::build(self.rows, count, |_, _| ZERO);
        let small = values.first().copied().unwrap_or(0.0) * 1e-14;
        for c in 0..count {
            if c < n && values[c] > small {
                (0..self.rows).for_each(|r| u[(r, c)] = a[(r, order[c])] / values[c]);
            } else {
                u.complete(c);
            }
        }
        let v = Matrix::build(n, n, |r, c| v[(r, order[c])]);
        (u, values, v.adjoint())
    }

    /// Fills a column with a unit vector orthogonal to the columns before it.
    fn complete(&mut self, c: usize) {
        for axis in 0..self.rows {
            let mut w: Vec<Complex64> = (0..self.rows).map(|r| if r == axis { ONE } else { ZERO }).collect();
            for _ in 0..2 {
                for k in 0..c {
                    let dot: Complex64 = (0..self.rows).map(|r| self[(r, k)].conj() * w[r]).sum();
                    (0..self.rows).for_each(|r| w[r] -= self[(r, k)] * dot);
                }
            }
            let norm = w.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            if norm > 1e-3 {
                (0..self.rows).for_each(|r| self[(r, c)] = w[r] / norm);
                return;
            }
        }
    }

    /// Eigenvalues and unit eigenvectors of any square matrix: shifted QR steps, then back substitution.
    pub fn eig(&self) -> (Vec<Complex64>, Matrix) {
        let n = self.rows;
        let (mut t, mut q) = (self.clone(), Matrix::identity(n));
        let mut high = n;
        let mut steps = 0;
        while high > 1 && steps < 10_000 {
            steps += 1;
            let scale = t[(high - 1, high - 1)].norm() + t[(high - 2, high - 2)].norm();
            let below: f64 = (0..high - 1).map(|c| t[(high - 1, c)].norm()).sum();
            if below <= 1e-15 * scale.max(1e-300) {
                (0..high - 1).for_each(|c| t[(high - 1, c)] = ZERO);
                high -= 1;
                continue;
            }
            // Wilkinson's shift, moved now and then to leave cycles.
            let (a, b, c, d) = (t[(high - 2, high - 2)], t[(high - 2, high - 1)], t[(high - 1, high - 2)], t[(high - 1, high - 1)]);
            let root = ((a - d) * (a - d) / 4.0 + b * c).sqrt();
            let (x, y) = ((a + d) / 2.0 + root, (a + d) / 2.0 - root);
            let mut shift = if (x - d).norm() < (y - d).norm() { x } else { y };
            if steps % 11 == 0 {
                shift += Complex64::new(below, below);
            }
            let part = Matrix::build(high, high, |r, c| t[(r, c)] - if r == c { shift } else { ZERO });
            let (packed, taus) = part.geqrf();
            let u = packed.reflections(&taus, high);
            let wide = Matrix::build(n, n, |r, c| {
                if r < high && c < high {
                    u[(r, c)]
                } else if r == c {
                    ONE
                } else {
                    ZERO
                }
            });
            t = wide.adjoint().times(&t).times(&wide);
            q = q.times(&wide);
        }
        let values: Vec<Complex64> = (0..n).map(|k| t[(k, k)]).collect();
        let mut vectors = Matrix::build(n, n, |_, _| ZERO);
        for k in 0..n {
            let mut w = vec![ZERO; n];
            w[k] = ONE;
            for r in (0..k).rev() {
                let sum: Complex64 = (r + 1..=k).map(|c| t[(r, c)] * w[c]).sum();
                let gap = t[(r, r)] - values[k];
                w[r] = -sum / if gap.norm() < 1e-300 { Complex64::new(1e-300, 0.0) } else { gap };
            }
            let full: Vec<Complex64> = (0..n).map(|r| (0..n).map(|c| q[(r, c)] * w[c]).sum()).collect();
            let norm = full.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            (0..n).for_each(|r| vectors[(r, k)] = full[r] / norm);
        }
        (values, vectors)
    }

    /// The exponential: a Taylor series of a scaled matrix, squared again.
    pub fn exponential(&self) -> Matrix {
        let halvings = (self.norm1().max(1e-300).log2().ceil() as i32 + 4).max(0);
        let a = self.scaled(0.5f64.powi(halvings));
        let (mut term, mut sum) = (Matrix::identity(self.rows), Matrix::identity(self.rows));
        for k in 1..30 {
            term = term.times(&a).scaled(1.0 / k as f64);
            sum = sum.plus(&term);
        }
        (0..halvings).for_each(|_| sum = sum.times(&sum));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize) -> Matrix {
        Matrix::build(rows, cols, |r, c| {
            Complex64::new(((r * 7 + c * 3) % 5) as f64 - 1.5 + (r == c) as u8 as f64, (r as f64 - c as f64) / 3.0)
        })
    }

    fn close(a: &Matrix, b: &Matrix) -> bool {
        a.elements().iter().zip(b.elements()).all(|(x, y)| (x - y).norm() < 1e-10)
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        for (r, c) in [(4, 4), (5, 3), (3, 5)] {
            let a = sample(r, c);
            let (u, s, vh) = a.svd(true);
            assert!(close(&u.times(&Matrix::diagonal(r, c, &s)).times(&vh), &a));
            let (packed, taus) = a.geqrf();
            let upper = Matrix::build(r, c, |i, j| if i <= j { packed[(i, j)] } else { ZERO });
            assert!(close(&packed.reflections(&taus, r).times(&upper), &a));
        }
    }

    #[test]
    fn systems_and_eigenvalues() {
        let a = sample(4, 4);
        assert!(close(&a.times(&a.solve(&Matrix::identity(4)).0), &Matrix::identity(4)));
        let h = a.times(&a.adjoint());
        let (values, v) = h.eigh();
        assert!(close(&v.times(&Matrix::diagonal(4, 4, &values)).times(&v.adjoint()), &h));
        let (values, v) = a.eig();
        let scaled = Matrix::build(4, 4, |r, c| v[(r, c)] * values[c]);
        assert!(close(&a.times(&v), &scaled));
    }
}
