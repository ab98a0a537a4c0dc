//! Transforms of short lines in closed form: odd lengths by sums and differences of pairs, products of coprime lengths by
//! the prime factor algorithm, which needs no rotations.
//!
//! The orders of summation are those that PyTorch's library has for these lengths, so that `f32` results of whole numbers,
//! which programs compare bit for bit, are the same.

use std::f64::consts::PI;

use num_complex::Complex;
use rustfft::FftNum;

type Line<T> = Vec<Complex<T>>;

/// Whether a length has a closed form here.
pub(super) fn fits(n: usize) -> bool {
    matches!(n, 1..=15)
}

fn number<T: FftNum>(value: f64) -> T {
    T::from_f64(value).unwrap_or_else(T::zero)
}

/// Cosine and sine of the k-th of n parts of a turn.
fn root<T: FftNum>(n: usize, k: usize) -> (T, T) {
    let angle = 2.0 * PI * (k % n) as f64 / n as f64;
    (number(angle.cos()), number(angle.sin()))
}

/// The forward transform of a line that [`fits`].
pub(super) fn forward<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    match x.len() {
        0 | 1 => x.to_vec(),
        2 => vec![x[0] + x[1], x[0] - x[1]],
        4 => four(x),
        6 => coprime(x, 2, 3),
        8 => eight(x),
        9 => nine(x),
        10 => coprime(x, 2, 5),
        12 => coprime(x, 4, 3),
        14 => coprime(x, 2, 7),
        15 => coprime(x, 3, 5),
        _ => pairs(x),
    }
}

/// The inverse, unscaled: the forward transform with the parts exchanged.
pub(super) fn inverse<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    let exchanged = |z: &Complex<T>| Complex::new(z.im, z.re);
    let turned = forward(&x.iter().map(exchanged).collect::<Vec<_>>());
    turned.iter().map(exchanged).collect()
}

/// `-i z`.
fn quarter<T: FftNum>(z: Complex<T>) -> Complex<T> {
    Complex::new(z.im, -z.re)
}

fn four<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    let (a, b, c, d) = (x[0] + x[2], x[0] - x[2], x[1] + x[3], quarter(x[1] - x[3]));
    vec![a + c, b + d, a - c, b - d]
}

/// Two transforms of four; the rotations by an eighth are sums times one number.
fn eight<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    let every = |from: usize| four(&[x[from], x[from + 2], x[from + 4], x[from + 6]]);
    let (even, odd, r) = (every(0), every(1), number::<T>(0.5f64.sqrt()));
    let turned = [
        odd[0],
        Complex::new(r * (odd[1].re + odd[1].im), r * (odd[1].im - odd[1].re)),
        quarter(odd[2]),
        Complex::new(r * (odd[3].im - odd[3].re), -(r * (odd[3].im + odd[3].re))),
    ];
    let sums = (0..4).map(|k| even[k] + turned[k]);
    sums.chain((0..4).map(|k| even[k] - turned[k])).collect()
}

/// Three by three with rotations between.
fn nine<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    let inner: Vec<Line<T>> = (0..3).map(|a| pairs(&[x[a], x[a + 3], x[a + 6]])).collect();
    let mut out = x.to_vec();
    for b in 0..3 {
        let rotated = |a: usize| {
            let (z, (cos, sin)) = (inner[a][b], root::<T>(9, a * b));
            if a * b == 0 { z } else { Complex::new(z.re * cos + z.im * sin, z.im * cos - z.re * sin) }
        };
        for (a, z) in pairs(&[rotated(0), rotated(1), rotated(2)]).into_iter().enumerate() {
            out[b + 3 * a] = z;
        }
    }
    out
}

/// Lengths a and b without a common divisor: transforms of b, then of a.
fn coprime<T: FftNum>(x: &[Complex<T>], a: usize, b: usize) -> Line<T> {
    let n = a * b;
    let inner: Vec<Line<T>> = (0..a).map(|i| forward(&(0..b).map(|j| x[(i * b + j * a) % n]).collect::<Vec<_>>())).collect();
    let outer: Vec<Line<T>> = (0..b).map(|j| forward(&(0..a).map(|i| inner[i][j]).collect::<Vec<_>>())).collect();
    (0..n).map(|k| outer[k % b][k % a]).collect()
}

/// An odd length: the first element, and sums and differences of the pairs around it.
fn pairs<T: FftNum>(x: &[Complex<T>]) -> Line<T> {
    let (n, half) = (x.len(), x.len() / 2);
    let sums: Line<T> = (1..=half).map(|j| x[j] + x[n - j]).collect();
    let differences: Line<T> = (1..=half).map(|j| x[j] - x[n - j]).collect();
    let mut out = vec![sums.iter().copied().reduce(|a, b| a + b).map_or(x[0], |sum| x[0] + sum); n];
    for k in 1..=half {
        let weighed = |line: &[Complex<T>], part: fn((T, T)) -> T| {
            let terms = line.iter().enumerate().map(|(j, z)| *z * part(root(n, (j + 1) * k)));
            terms.reduce(|a, b| a + b).unwrap_or(x[0])
        };
        let (even, odd) = (x[0] + weighed(&sums, |r| r.0), quarter(weighed(&differences, |r| r.1)));
        (out[k], out[n - k]) = (even + odd, even - odd);
    }
    out
}

/// The first half of the spectrum of a line of real numbers.
pub(super) fn of_real<T: FftNum>(x: &[T]) -> Line<T> {
    let (n, half) = (x.len(), x.len() / 2);
    if !matches!(n, 5 | 7) {
        let line: Line<T> = x.iter().map(|x| Complex::new(*x, T::zero())).collect();
        return forward(&line)[..=half].to_vec();
    }
    let mut out = vec![Complex::new(x.iter().fold(T::zero(), |all, x| all + *x), T::zero()); half + 1];
    for (k, out) in out.iter_mut().enumerate().skip(1) {
        let c: Vec<T> = (1..=half).map(|j| root::<T>(n, j * k).0 * (x[j] + x[n - j])).collect();
        let s: Vec<T> = (1..=half).map(|j| root::<T>(n, j * k).1 * (x[j] - x[n - j])).collect();
        let even = if n == 5 { (x[0] + c[0]) + c[1] } else { (x[0] + c[2]) + (c[0] + c[1]) };
        let odd = match (n, k) {
            (5, _) => s[0] + s[1],
            (_, 3) => s[0] + (s[1] + s[2]),
            _ => (s[0] + s[2]) + s[1],
        };
        *out = Complex::new(even, -odd);
    }
    out
}

/// The real line of a whole spectrum, unscaled.
pub(super) fn to_real<T: FftNum>(x: &[Complex<T>]) -> Vec<T> {
    let (n, half) = (x.len(), x.len() / 2);
    if !matches!(n, 5 | 7) {
        return inverse(x).into_iter().map(|z| z.re).collect();
    }
    let two = number::<T>(2.0);
    let mut out = vec![(1..=half).fold(x[0].re, |all, j| all + two * x[j].re); n];
    for q in 1..=half {
        let c: Vec<T> = (1..=half).map(|j| root::<T>(n, j * q).0 * (two * x[j].re)).collect();
        let s: Vec<T> = (1..=half).map(|j| root::<T>(n, j * q).1 * (two * x[j].im)).collect();
        let first = x[0].re;
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
        (out[q], out[n - q]) = (even - odd, even + odd);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum that defines the transform.
    fn defined(x: &[Complex<f64>]) -> Line<f64> {
        let n = x.len();
        let term = |k: usize, j: usize| x[j] * Complex::from_polar(1.0, -2.0 * PI * (j * k % n) as f64 / n as f64);
        (0..n).map(|k| (0..n).map(|j| term(k, j)).sum()).collect()
    }

    fn near(a: &[Complex<f64>], b: &[Complex<f64>]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-12)
    }

    #[test]
    fn all_lengths_are_what_the_definition_says() {
        for n in 1..=15 {
            let x: Line<f64> = (0..n).map(|j| Complex::new((j * 7 % 5) as f64 - 2.0, (j * 3 % 7) as f64 - 3.5)).collect();
            let y = defined(&x);
            assert!(near(&forward(&x), &y), "{n}");
            let back: Line<f64> = inverse(&y).iter().map(|z| z / n as f64).collect();
            assert!(near(&back, &x), "{n}");
            let real: Vec<f64> = x.iter().map(|z| z.re).collect();
            let whole = defined(&real.iter().map(|x| Complex::new(*x, 0.0)).collect::<Vec<_>>());
            assert!(near(&of_real(&real), &whole[..=n / 2]), "{n}");
            assert!(to_real(&whole).iter().zip(&real).all(|(a, b)| (a / n as f64 - b).abs() < 1e-12), "{n}");
        }
    }
}
