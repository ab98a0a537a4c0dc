//! Transforms of several lines of one length at once: Stockham's algorithm, which needs no reordering, with a pass for each factor of the
//! length, and Bluestein's for lengths with a large prime factor. See C. Van Loan, Computational Frameworks for the Fast Fourier Transform,
//! sections 1.7 and 4.2.

use std::f64::consts::{PI, TAU};

use num_complex::Complex;
use num_traits::Float;
use rustfft::FftNum;

use super::vector::{Pair, Vector};

/// The largest prime factor that has a pass: of a larger one the square, which such a pass takes, is more work than two transforms of twice
/// the length.
const LARGEST: usize = 113;

/// What a length needs.
pub(super) struct Plan<T> {
    n: usize,
    way: Way<T>,
}

enum Way<T> {
    Passes(Vec<Pass<T>>),
    Bluestein(Box<Bluestein<T>>),
}

/// A pass: the factor, how many groups are left behind it, their distance, and the rotations of each group.
struct Pass<T> {
    factor: usize,
    groups: usize,
    stride: usize,
    rotations: Vec<Complex<T>>,
    /// Cosines and sines of the parts of a turn, of a factor without a pass of its own.
    roots: Vec<Complex<T>>,
}

/// A transform as a convolution with a chirp, which two transforms of a longer length make.
struct Bluestein<T> {
    longer: Plan<T>,
    chirp: Vec<Complex<T>>,
    /// The transform of the chirp that is convolved with, by the longer length.
    spectrum: Vec<Complex<T>>,
}

#[inline(always)]
fn number<T: FftNum>(x: f64) -> T {
    T::from_f64(x).unwrap_or_else(T::zero)
}

/// `exp(-2 pi i k / n)`.
fn root<T: FftNum>(k: usize, n: usize) -> Complex<T> {
    let (sin, cos) = (-TAU * (k % n) as f64 / n as f64).sin_cos();
    Complex::new(number(cos), number(sin))
}

/// The factors of a length, the smallest passes last; none where one of them is too large a prime.
fn factors(mut n: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for factor in [4, 2, 3, 5].into_iter().chain((7..=LARGEST).step_by(2)) {
        while n.is_multiple_of(factor) {
            n /= factor;
            found.push(factor);
        }
    }
    found.reverse();
    (n == 1).then_some(found)
}

/// The next length of small factors.
fn smooth(from: usize) -> usize {
    let mut n = from;
    while factors(n).is_none_or(|factors| factors.iter().any(|factor| *factor > 5)) {
        n += 1;
    }
    n
}

impl<T: FftNum + Float> Plan<T> {
    pub(super) fn new(n: usize) -> Self {
        let Some(factors) = factors(n) else { return Plan { n, way: Way::Bluestein(Box::new(Bluestein::new(n))) } };
        let (mut left, mut stride, mut passes) = (n, 1, Vec::new());
        for factor in factors {
            let groups = left / factor;
            let rotations = (0..groups).flat_map(|p| (1..factor).map(move |k| root(p * k, left))).collect();
            let roots = if factor > 5 { (0..factor).map(|k| root(k, factor)).collect() } else { Vec::new() };
            passes.push(Pass { factor, groups, stride, rotations, roots });
            (left, stride) = (groups, stride * factor);
        }
        Plan { n, way: Way::Passes(passes) }
    }

    /// How many numbers [`Plan::run`] works on beside the line.
    pub(super) fn room(&self) -> usize {
        match &self.way {
            Way::Passes(passes) => self.n + passes.iter().map(|pass| if pass.factor > 5 { pass.factor } else { 0 }).max().unwrap_or(0),
            Way::Bluestein(way) => way.longer.n + way.longer.room(),
        }
    }

    /// Transforms the lines in `x` in place; `room` is as long as [`Plan::room`] says.
    pub(super) fn run<V: Vector<Number = T>>(&self, x: &mut [Pair<V>], room: &mut [Pair<V>]) {
        match &self.way {
            Way::Passes(passes) => run(passes, x, room),
            Way::Bluestein(way) => way.run(x, room),
        }
    }
}

/// Does the passes; the only function with their code, which is long.
fn run<T: FftNum + Float, V: Vector<Number = T>>(passes: &[Pass<T>], x: &mut [Pair<V>], room: &mut [Pair<V>]) {
    V::compiled(
        #[inline(always)]
        || {
            let (y, scratch) = room.split_at_mut(x.len());
            let mut turned = false;
            for pass in passes {
                let (from, to): (&[Pair<V>], &mut [Pair<V>]) = if turned { (y, x) } else { (x, y) };
                pass.run(from, to, scratch);
                turned = !turned;
            }
            if turned {
                x.copy_from_slice(y);
            }
        },
    );
}

impl<T: FftNum + Float> Pass<T> {
    #[inline(always)]
    fn run<V: Vector<Number = T>>(&self, x: &[Pair<V>], y: &mut [Pair<V>], scratch: &mut [Pair<V>]) {
        match self.factor {
            2 => self.each(
                x,
                y,
                #[inline(always)]
                |[a, b]| [a + b, a - b],
            ),
            3 => self.each(
                x,
                y,
                #[inline(always)]
                |x| three(x),
            ),
            4 => self.each(
                x,
                y,
                #[inline(always)]
                |x| four(x),
            ),
            5 => self.each(
                x,
                y,
                #[inline(always)]
                |x| five(x),
            ),
            _ => self.odd(x, y, scratch),
        }
    }

    /// A pass of a factor whose transform is given.
    #[inline(always)]
    fn each<V: Vector<Number = T>, const N: usize>(&self, x: &[Pair<V>], y: &mut [Pair<V>], turn: impl Fn([Pair<V>; N]) -> [Pair<V>; N]) {
        let (groups, stride) = (self.groups, self.stride);
        let (x, y) = (&x[..N * groups * stride], &mut y[..N * groups * stride]);
        for p in 0..groups {
            let mut rotations = [Complex::new(T::one(), T::zero()); N];
            rotations[1..].copy_from_slice(&self.rotations[(N - 1) * p..][..N - 1]);
            for q in 0..stride {
                let mut a = [Pair::zero(); N];
                for j in 0..N {
                    a[j] = x[q + stride * (p + groups * j)];
                }
                let b = turn(a);
                let to = q + stride * N * p;
                y[to] = b[0];
                for k in 1..N {
                    y[to + stride * k] = if p == 0 { b[k] } else { b[k].turned(rotations[k]) };
                }
            }
        }
    }

    /// A pass of an odd factor: sums and differences of the pairs around the first number, weighed.
    #[inline(always)]
    fn odd<V: Vector<Number = T>>(&self, x: &[Pair<V>], y: &mut [Pair<V>], scratch: &mut [Pair<V>]) {
        let (n, groups, stride) = (self.factor, self.groups, self.stride);
        let half = n / 2;
        let (sums, differences) = scratch[..2 * half].split_at_mut(half);
        for p in 0..groups {
            for q in 0..stride {
                let at = q + stride * p;
                let first = x[at];
                let mut all = first;
                for j in 0..half {
                    let (a, b) = (x[at + stride * groups * (j + 1)], x[at + stride * groups * (n - 1 - j)]);
                    (sums[j], differences[j]) = (a + b, a - b);
                    all = all + sums[j];
                }
                let to = q + stride * n * p;
                y[to] = all;
                for k in 1..=half {
                    let (mut even, mut odd, mut at) = (first, Pair::zero(), 0);
                    for j in 0..half {
                        at += k;
                        if at >= n {
                            at -= n;
                        }
                        let Complex { re: cos, im: sin } = self.roots[at];
                        even = even.plus(sums[j], cos);
                        odd = odd.plus(differences[j], -sin);
                    }
                    let odd = odd.quarter();
                    let (mut low, mut high) = (even + odd, even - odd);
                    if p != 0 {
                        low = low.turned(self.rotations[(n - 1) * p + k - 1]);
                        high = high.turned(self.rotations[(n - 1) * p + n - k - 1]);
                    }
                    y[to + stride * k] = low;
                    y[to + stride * (n - k)] = high;
                }
            }
        }
    }
}

/// Cosines and sines of a third and of a fifth of a turn, and of two fifths.
const THIRD: (f64, f64) = (-0.5, 0.866_025_403_784_438_6);
const FIFTH: (f64, f64) = (0.309_016_994_374_947_45, 0.951_056_516_295_153_5);
const TWO_FIFTHS: (f64, f64) = (-0.809_016_994_374_947_5, 0.587_785_252_292_473_1);

#[inline(always)]
fn three<V: Vector>([a, b, c]: [Pair<V>; 3]) -> [Pair<V>; 3] {
    let (sum, difference) = (b + c, (b - c).quarter().times(number(THIRD.1)));
    let even = a.plus(sum, number(THIRD.0));
    [a + sum, even + difference, even - difference]
}

#[inline(always)]
fn four<V: Vector>(x: [Pair<V>; 4]) -> [Pair<V>; 4] {
    let (a, b, c, d) = (x[0] + x[2], x[0] - x[2], x[1] + x[3], (x[1] - x[3]).quarter());
    [a + c, b + d, a - c, b - d]
}

#[inline(always)]
fn five<V: Vector>(x: [Pair<V>; 5]) -> [Pair<V>; 5] {
    let (cos, sin): (V::Number, V::Number) = (number(FIFTH.0), number(FIFTH.1));
    let (other_cos, other_sin): (V::Number, V::Number) = (number(TWO_FIFTHS.0), number(TWO_FIFTHS.1));
    let (a, b) = (x[1] + x[4], x[2] + x[3]);
    let (c, d) = ((x[1] - x[4]).quarter(), (x[2] - x[3]).quarter());
    let (even, other) = (x[0].plus(a, cos).plus(b, other_cos), x[0].plus(a, other_cos).plus(b, cos));
    let (odd, rest) = (c.times(sin).plus(d, other_sin), c.times(other_sin).plus(d, -sin));
    [x[0] + a + b, even + odd, other + rest, other - rest, even - odd]
}

impl<T: FftNum + Float> Bluestein<T> {
    fn new(n: usize) -> Self {
        let longer = Plan::new(smooth(2 * n - 1));
        let m = longer.n;
        // The square is taken modulo the period, which keeps the angle exact.
        let chirp = |k: usize| {
            let turn = -PI * ((k as u128 * k as u128) % (2 * n as u128)) as f64 / n as f64;
            Complex::new(turn.cos(), turn.sin())
        };
        let mut spectrum = vec![Complex::new(0.0, 0.0); m];
        for k in 0..n {
            spectrum[k] = chirp(k).conj();
            spectrum[(m - k) % m] = chirp(k).conj();
        }
        rustfft::FftPlanner::new().plan_fft_forward(m).process(&mut spectrum);
        let stored = |z: Complex<f64>| Complex::new(number(z.re), number(z.im));
        Bluestein {
            chirp: (0..n).map(|k| stored(chirp(k))).collect(),
            spectrum: spectrum.into_iter().map(|z| stored(z / m as f64)).collect(),
            longer,
        }
    }

    fn run<V: Vector<Number = T>>(&self, x: &mut [Pair<V>], room: &mut [Pair<V>]) {
        let (line, room) = room.split_at_mut(self.longer.n);
        let Way::Passes(passes) = &self.longer.way else { return };
        V::compiled(
            #[inline(always)]
            || {
                line[x.len()..].fill(Pair::zero());
                for ((to, x), by) in line.iter_mut().zip(&*x).zip(&self.chirp) {
                    *to = x.turned(*by);
                }
            },
        );
        run(passes, line, room);
        // The inverse is the forward transform with the parts exchanged.
        V::compiled(
            #[inline(always)]
            || {
                for (z, by) in line.iter_mut().zip(&self.spectrum) {
                    *z = exchanged(z.turned(*by));
                }
            },
        );
        run(passes, line, room);
        V::compiled(
            #[inline(always)]
            || {
                for ((x, z), by) in x.iter_mut().zip(&*line).zip(&self.chirp) {
                    *x = exchanged(*z).turned(*by);
                }
            },
        );
    }
}

#[inline(always)]
fn exchanged<V: Vector>(z: Pair<V>) -> Pair<V> {
    Pair { re: z.im, im: z.re }
}
