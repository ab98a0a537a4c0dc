//! Transforms of short lines in closed form: odd lengths by sums and differences of pairs, products of coprime lengths by
//! the prime factor algorithm, which needs no rotations.
//!
//! The orders of summation are those that PyTorch's library has for these lengths, so that `f32` results of whole numbers,
//! which programs compare bit for bit, are the same.

use std::array::from_fn;
use std::f64::consts::PI;

use num_complex::Complex;
use rustfft::FftNum;

/// The longest line with a closed form.
const LONGEST: usize = 15;

/// Whether a length has a closed form here.
pub(super) fn fits(n: usize) -> bool {
    matches!(n, 1..=LONGEST)
}

fn number<T: FftNum>(value: f64) -> T {
    T::from_f64(value).unwrap_or_else(T::zero)
}

/// `-i z`.
fn quarter<T: FftNum>(z: Complex<T>) -> Complex<T> {
    Complex::new(z.im, -z.re)
}

fn two<T: FftNum>([a, b]: [Complex<T>; 2]) -> [Complex<T>; 2] {
    [a + b, a - b]
}

fn four<T: FftNum>(x: [Complex<T>; 4]) -> [Complex<T>; 4] {
    let (a, b, c, d) = (x[0] + x[2], x[0] - x[2], x[1] + x[3], quarter(x[1] - x[3]));
    [a + c, b + d, a - c, b - d]
}

/// Two transforms of four; the rotations by an eighth are sums times one number.
fn eight<T: FftNum>(x: [Complex<T>; 8]) -> [Complex<T>; 8] {
    let (even, odd, r) = (four([x[0], x[2], x[4], x[6]]), four([x[1], x[3], x[5], x[7]]), number::<T>(0.5f64.sqrt()));
    let turned = [
        odd[0],
        Complex::new(r * (odd[1].re + odd[1].im), r * (odd[1].im - odd[1].re)),
        quarter(odd[2]),
        Complex::new(r * (odd[3].im - odd[3].re), -(r * (odd[3].im + odd[3].re))),
    ];
    from_fn(|k| if k < 4 { even[k] + turned[k] } else { even[k - 4] - turned[k - 4] })
}

/// Lengths A and B without a common divisor, whose product is N: transforms of B, then of A.
fn coprime<T: FftNum, const A: usize, const B: usize, const N: usize>(
    x: [Complex<T>; N],
    of_a: impl Fn([Complex<T>; A]) -> [Complex<T>; A],
    of_b: impl Fn([Complex<T>; B]) -> [Complex<T>; B],
) -> [Complex<T>; N] {
    let inner: [[Complex<T>; B]; A] = from_fn(|i| of_b(from_fn(|j| x[(i * B + j * A) % N])));
    let outer: [[Complex<T>; A]; B] = from_fn(|j| of_a(from_fn(|i| inner[i][j])));
    from_fn(|k| outer[k % B][k % A])
}

/// Transforms `x` of length N into `y`.
fn fixed<T: FftNum, const N: usize>(x: &[Complex<T>], y: &mut [Complex<T>], turn: impl Fn([Complex<T>; N]) -> [Complex<T>; N]) {
    if let Ok(line) = x.try_into() {
        y.copy_from_slice(&turn(line));
    }
}

/// The transforms of one precision.
pub(super) struct Short<T> {
    /// Cosine and sine of the k-th of n parts of a turn, at `[n][k]`.
    roots: [[(T, T); LONGEST]; LONGEST + 1],
}

impl<T: FftNum> Short<T> {
    pub(super) fn new() -> Self {
        let root = |n: usize, k: usize| {
            let angle = 2.0 * PI * (k % n) as f64 / n as f64;
            (number(angle.cos()), number(angle.sin()))
        };
        Self { roots: from_fn(|n| from_fn(|k| root(n.max(1), k))) }
    }

    fn root(&self, n: usize, k: usize) -> (T, T) {
        self.roots[n][k % n]
    }

    /// The forward transform of a line that [`fits`], into one as long.
    pub(super) fn forward(&self, x: &[Complex<T>], y: &mut [Complex<T>]) {
        match x.len() {
            2 => fixed(x, y, two),
            3 => fixed(x, y, |x| self.pairs::<3>(x)),
            4 => fixed(x, y, four),
            5 => fixed(x, y, |x| self.pairs::<5>(x)),
            6 => fixed(x, y, |x| coprime::<T, 2, 3, 6>(x, two, |x| self.pairs(x))),
            7 => fixed(x, y, |x| self.pairs::<7>(x)),
            8 => fixed(x, y, eight),
            9 => fixed(x, y, |x| self.nine(x)),
            10 => fixed(x, y, |x| coprime::<T, 2, 5, 10>(x, two, |x| self.pairs(x))),
            11 => fixed(x, y, |x| self.pairs::<11>(x)),
            12 => fixed(x, y, |x| coprime::<T, 4, 3, 12>(x, four, |x| self.pairs(x))),
            13 => fixed(x, y, |x| self.pairs::<13>(x)),
            14 => fixed(x, y, |x| coprime::<T, 2, 7, 14>(x, two, |x| self.pairs(x))),
            15 => fixed(x, y, |x| coprime::<T, 3, 5, 15>(x, |x| self.pairs(x), |x| self.pairs(x))),
            _ => y.copy_from_slice(x),
        }
    }

    /// The inverse, unscaled: the forward transform with the parts exchanged.
    pub(super) fn inverse(&self, x: &[Complex<T>], y: &mut [Complex<T>]) {
        let exchanged = |z: Complex<T>| Complex::new(z.im, z.re);
        let mut line = [Complex::new(T::zero(), T::zero()); LONGEST];
        let line = &mut line[..x.len()];
        line.iter_mut().zip(x).for_each(|(to, z)| *to = exchanged(*z));
        self.forward(line, y);
        y.iter_mut().for_each(|z| *z = exchanged(*z));
    }

    /// Three by three with rotations between.
    fn nine(&self, x: [Complex<T>; 9]) -> [Complex<T>; 9] {
        let inner: [[Complex<T>; 3]; 3] = from_fn(|a| self.pairs([x[a], x[a + 3], x[a + 6]]));
        let rotated = |a: usize, b: usize| {
            let (z, (cos, sin)) = (inner[a][b], self.root(9, a * b));
            if a * b == 0 { z } else { Complex::new(z.re * cos + z.im * sin, z.im * cos - z.re * sin) }
        };
        let outer: [[Complex<T>; 3]; 3] = from_fn(|b| self.pairs(from_fn(|a| rotated(a, b))));
        from_fn(|k| outer[k % 3][k / 3])
    }

    /// An odd length: the first element, and sums and differences of the pairs around it.
    fn pairs<const N: usize>(&self, x: [Complex<T>; N]) -> [Complex<T>; N] {
        let half = N / 2;
        let sums: [Complex<T>; N] = from_fn(|j| x[j] + x[(N - j) % N]);
        let differences: [Complex<T>; N] = from_fn(|j| x[j] - x[(N - j) % N]);
        let mut out = [x[0] + (2..=half).fold(sums[1], |all, j| all + sums[j]); N];
        for k in 1..=half {
            let weighed = |line: &[Complex<T>; N], part: fn((T, T)) -> T| {
                let term = |j: usize| line[j] * part(self.root(N, j * k));
                (2..=half).fold(term(1), |all, j| all + term(j))
            };
            let (even, odd) = (x[0] + weighed(&sums, |r| r.0), quarter(weighed(&differences, |r| r.1)));
            (out[k], out[N - k]) = (even + odd, even - odd);
        }
        out
    }

    /// The first half of the spectrum of a line of real numbers.
    pub(super) fn of_real(&self, x: &[T], y: &mut [Complex<T>]) {
        let (n, half) = (x.len(), x.len() / 2);
        if !matches!(n, 5 | 7) {
            let zero = Complex::new(T::zero(), T::zero());
            let (mut line, mut whole) = ([zero; LONGEST], [zero; LONGEST]);
            line.iter_mut().zip(x).for_each(|(to, x)| to.re = *x);
            self.forward(&line[..n], &mut whole[..n]);
            y.copy_from_slice(&whole[..=half]);
            return;
        }
        y[0] = Complex::new(x.iter().fold(T::zero(), |all, x| all + *x), T::zero());
        for (k, y) in y.iter_mut().enumerate().skip(1) {
            let c: [T; 3] = from_fn(|j| self.root(n, (j + 1) * k).0 * (x[j + 1] + x[n - 1 - j]));
            let s: [T; 3] = from_fn(|j| self.root(n, (j + 1) * k).1 * (x[j + 1] - x[n - 1 - j]));
            let even = if n == 5 { (x[0] + c[0]) + c[1] } else { (x[0] + c[2]) + (c[0] + c[1]) };
            let odd = match (n, k) {
                (5, _) => s[0] + s[1],
                (_, 3) => s[0] + (s[1] + s[2]),
                _ => (s[0] + s[2]) + s[1],
            };
            *y = Complex::new(even, -odd);
        }
    }

    /// The real line `y` of the first half of a spectrum, unscaled.
    pub(super) fn to_real(&self, x: &[Complex<T>], y: &mut [T]) {
        let (n, half) = (y.len(), y.len() / 2);
        if !matches!(n, 5 | 7) {
            let zero = Complex::new(T::zero(), T::zero());
            let (mut spectrum, mut line) = ([zero; LONGEST], [zero; LONGEST]);
            spectrum[..n].iter_mut().enumerate().for_each(|(k, z)| *z = if k <= half { x[k] } else { x[n - k].conj() });
            self.inverse(&spectrum[..n], &mut line[..n]);
            y.iter_mut().zip(line).for_each(|(y, z)| *y = z.re);
            return;
        }
        let (first, two) = (x[0].re, number::<T>(2.0));
        y[0] = (1..=half).fold(first, |all, j| all + two * x[j].re);
        // The third of a line of five has no part.
        let part = |j: usize| x.get(j).copied().unwrap_or(x[0]);
        for q in 1..=half {
            let c: [T; 3] = from_fn(|j| self.root(n, (j + 1) * q).0 * (two * part(j + 1).re));
            let s: [T; 3] = from_fn(|j| self.root(n, (j + 1) * q).1 * (two * part(j + 1).im));
            let even = match (n, q) {
                (5, 1) => (first + c[1]) + c[0],
                (5, _) => (first + c[0]) + c[1],
                (_, 3) => first + ((c[0] + c[1]) + c[2]),
                _ => (first + c[2]) + (c[0] + c[1]),
            };
            let odd = match (n, q) {
                (5, _) => s[0] + s[1],
                (_, 2) => s[0] + (s[1] + s[2]),
                _ => (s[0] + s[1]) + s[2],
            };
            (y[q], y[n - q]) = (even - odd, even + odd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line = Vec<Complex<f64>>;

    /// The sum that defines the transform.
    fn defined(x: &[Complex<f64>]) -> Line {
        let n = x.len();
        let term = |k: usize, j: usize| x[j] * Complex::from_polar(1.0, -2.0 * PI * (j * k % n) as f64 / n as f64);
        (0..n).map(|k| (0..n).map(|j| term(k, j)).sum()).collect()
    }

    fn near(a: &[Complex<f64>], b: &[Complex<f64>]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-12)
    }

    #[test]
    fn all_lengths_are_what_the_definition_says() {
        let short = Short::<f64>::new();
        for n in 1..=LONGEST {
            let x: Line = (0..n).map(|j| Complex::new((j * 7 % 5) as f64 - 2.0, (j * 3 % 7) as f64 - 3.5)).collect();
            let y = defined(&x);
            let mut line = x.clone();
            short.forward(&x, &mut line);
            assert!(near(&line, &y), "{n}");
            short.inverse(&y, &mut line);
            assert!(near(&line.iter().map(|z| z / n as f64).collect::<Line>(), &x), "{n}");
            let real: Vec<f64> = x.iter().map(|z| z.re).collect();
            let half = &defined(&real.iter().map(|x| Complex::new(*x, 0.0)).collect::<Line>())[..=n / 2];
            let mut spectrum = half.to_vec();
            short.of_real(&real, &mut spectrum);
            assert!(near(&spectrum, half), "{n}");
            let mut back = real.clone();
            short.to_real(half, &mut back);
            assert!(back.iter().zip(&real).all(|(a, b)| (a / n as f64 - b).abs() < 1e-12), "{n}");
        }
    }
}
