//! The factorisation of symmetric and Hermitian matrices that LAPACK calls Bunch and Kaufman's, on whole matrices.

use num_complex::Complex64;

use super::matrix::Matrix;

const ZERO: Complex64 = Complex64::new(0.0, 0.0);

fn size(x: Complex64) -> f64 {
    x.re.abs() + x.im.abs()
}

impl Matrix {
    /// Half a turn of two rows and the same two columns.
    fn exchange(&self, a: usize, b: usize) -> Matrix {
        let other = |k: usize| {
            if k == a {
                b
            } else if k == b {
                a
            } else {
                k
            }
        };
        Matrix::build(self.rows, self.cols, |r, c| self[(other(r), other(c))])
    }

    /// What an element below the diagonal is above it.
    fn mirrored(&self, hermitian: bool) -> Matrix {
        if hermitian { self.adjoint() } else { self.transpose() }
    }

    /// L and the blocks of D in the lower triangle, pivots (from 1; negative twice for a block of two rows), and the first
    /// zero pivot (from 1).
    pub fn ldl(&self, hermitian: bool) -> (Matrix, Vec<i64>, usize) {
        let n = self.rows;
        let whole = |r: usize, c: usize| match () {
            () if r == c && hermitian => self[(r, r)].re.into(),
            () if r >= c => self[(r, c)],
            () if hermitian => self[(c, r)].conj(),
            () => self[(c, r)],
        };
        let mut left = Matrix::build(n, n, whole);
        let (mut packed, mut pivots, mut info, mut k) = (Matrix::build(n, n, |_, _| ZERO), Vec::new(), 0, 0);
        while k < n {
            let (own, step) = left.pivot(k);
            if step == 0 {
                info = if info == 0 { k + 1 } else { info };
            } else {
                left = left.exchange(k + step - 1, own);
            }
            let width = step.max(1);
            let block = Matrix::build(width, width, |r, c| left[(k + r, k + c)]);
            let below = Matrix::build(n - k - width, width, |r, c| left[(k + width + r, k + c)]);
            // L times D is what is below, so D* L* is that mirrored.
            let l =
                if step == 0 { below.clone() } else { block.mirrored(hermitian).solve(&below.mirrored(hermitian)).0.mirrored(hermitian) };
            for c in 0..width {
                (c..width).for_each(|r| packed[(k + r, k + c)] = block[(r, c)]);
                (0..l.rows).for_each(|r| packed[(k + width + r, k + c)] = l[(r, c)]);
            }
            let update = l.times(&below.mirrored(hermitian));
            let first = k + width;
            left = Matrix::build(n, n, |r, c| {
                if r >= first && c >= first && step > 0 { left[(r, c)] - update[(r - first, c - first)] } else { left[(r, c)] }
            });
            let number = own as i64 + 1;
            pivots.extend(if width == 2 { vec![-number; 2] } else { vec![number] });
            k += width;
        }
        (packed, pivots, info)
    }

    /// The row to exchange and how many rows the block has; none where the column is zero.
    fn pivot(&self, k: usize) -> (usize, usize) {
        let alpha = (1.0 + 17f64.sqrt()) / 8.0;
        let largest = |rows: Vec<usize>, c: usize| {
            rows.into_iter().fold((k, 0.0), |best, r| if size(self[(r, c)]) > best.1 { (r, size(self[(r, c)])) } else { best })
        };
        let own = size(self[(k, k)]);
        let (row, below) = largest((k + 1..self.rows).collect(), k);
        if own.max(below) == 0.0 {
            return (k, 0);
        }
        if own >= alpha * below {
            return (k, 1);
        }
        let (_, beside) = largest((k..self.rows).filter(|&r| r != row).collect(), row);
        if own >= alpha * below * (below / beside) {
            (k, 1)
        } else if size(self[(row, row)]) >= alpha * beside {
            (row, 1)
        } else {
            (row, 2)
        }
    }

    /// The matrix whose factors these are.
    pub fn from_ldl(&self, pivots: &[i128], hermitian: bool) -> Matrix {
        let n = self.rows;
        let mut blocks = Vec::new();
        let mut k = 0;
        while k < n {
            let width = if pivots[k] < 0 && k + 1 < n { 2 } else { 1 };
            blocks.push((k, width, (pivots[k].unsigned_abs().max(1) as usize - 1).min(n - 1)));
            k += width;
        }
        let inside = |r: usize, c: usize| blocks.iter().any(|&(k, width, _)| r >= k && c >= k && r < k + width && c < k + width);
        let mut m = Matrix::build(n, n, |r, c| match () {
            () if !inside(r, c) => ZERO,
            () if r >= c => self[(r, c)],
            () if hermitian => self[(c, r)].conj(),
            () => self[(c, r)],
        });
        for &(k, width, own) in blocks.iter().rev() {
            let l = Matrix::build(n, n, |r, c| match () {
                () if r == c => 1.0.into(),
                () if r >= k + width && c >= k && c < k + width => self[(r, c)],
                () => ZERO,
            });
            m = l.times(&m).times(&l.mirrored(hermitian)).exchange(k + width - 1, own);
        }
        m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_make_the_matrix_again() {
        for hermitian in [false, true] {
            let a = Matrix::build(5, 5, |r, c| {
                Complex64::new(((r * c * 7 + r + c) % 5) as f64 - 2.0, if r == c { 0.0 } else { (r + c) as f64 / 3.0 })
            });
            let a = Matrix::build(5, 5, |r, c| if r >= c || !hermitian { a[(r, c)] } else { a[(c, r)].conj() });
            let (packed, pivots, info) = a.ldl(hermitian);
            assert_eq!(info, 0);
            let pivots: Vec<i128> = pivots.into_iter().map(i128::from).collect();
            let again = packed.from_ldl(&pivots, hermitian);
            assert!(again.elements().iter().zip(a.elements()).all(|(x, y)| (x - y).norm() < 1e-12), "{pivots:?}");
        }
    }
}
