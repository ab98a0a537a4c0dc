//! Orthogonal polynomials of a real degree, which is truncated. By their recurrences, in the precision of the argument;
//! Chebyshev's of a higher degree, inside of their interval, by trigonometry. The recurrences fuse a product and a difference,
//! as compilers do with PyTorch's.

use super::super::lanes::{Float, Mask};
use super::super::round::trunc;
use strata_core::upstream::math;

/// A cap on degrees, so that hostile ones do not run for ever.
const MOST: f64 = 16_777_216.0;

/// A degree, and the lanes that the recurrence has to compute.
struct Degree<'a, 'b, 'c> {
    n: Float<'a, 'b, 'c>,
    /// A negative degree, or one that is no 64-bit integer, gives 0.
    valid: Mask<'a, 'b, 'c>,
}

impl<'a, 'b, 'c> Degree<'a, 'b, 'c> {
    fn of(n: Float<'a, 'b, 'c>) -> Self {
        let n = trunc(n);
        Self { n, valid: n.above(-1.0) & n.below(i64::MAX as f64) }
    }

    /// `1` for an even degree, `-1` for an odd one.
    fn parity(&self) -> Float<'a, 'b, 'c> {
        let half = self.n * 0.5;
        half.floor().equals(half).select(1.0, -1.0)
    }

    /// The polynomial by its recurrence `next = step(x, k, now, last)` from those of degree 0 (which is 1) and 1, but in the lanes of
    /// `other`.
    fn recurrence(
        &self,
        x: Float<'a, 'b, 'c>,
        other: Mask<'a, 'b, 'c>,
        first: Float<'a, 'b, 'c>,
        step: impl for<'x, 'y> Fn([Float<'x, 'y, 'c>; 4]) -> Float<'x, 'y, 'c>,
    ) -> Float<'a, 'b, 'c> {
        let one = x.constant(1.0);
        let count = self.valid.unless(other).select(self.n.at_most(MOST), 0.0);
        let [_, now, ..] = x.lanes.repeat(
            [one, first, one, x, count],
            |[k, now, _, _, count]| k.below(count) & now.equals(now),
            |[k, now, last, x, count]| [k + 1.0, step([x, k, now, last]), now, x, count],
        );
        self.n.equals(0.0).select(one, now)
    }
}

/// The lanes where x is at an end of the interval from -1 to 1.
fn at_ends<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
    x.abs().equals(1.0)
}

/// One of Chebyshev's polynomials: by the recurrence that they share from `first` on; inside of the interval and above degree `low`
/// by `angles` of x and the degree.
fn chebyshev<'a, 'b, 'c>(
    x: Float<'a, 'b, 'c>,
    degree: &Degree<'a, 'b, 'c>,
    low: f64,
    first: Float<'a, 'b, 'c>,
    angles: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; 2]) -> Float<'x, 'y, 'c>,
    [right, left]: [Float<'a, 'b, 'c>; 2],
) -> Float<'a, 'b, 'c> {
    let (ends, inside) = (at_ends(x), degree.n.above(low) & x.abs().below(1.0));
    let steps = degree.recurrence(x, ends | inside, first, |[x, _, now, last]| (x + x).fma(now, -last));
    let y = inside.either([x, degree.n, steps], |[x, n, _]| angles([x, n]), |[_, _, steps]| steps);
    let y = ends.select(x.above(0.0).select(right, left), y);
    degree.valid.select(y, 0.0)
}

fn acos<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.rounded(math::Acos::NAME)
}

fn cos<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.rounded(math::Cos::NAME)
}

fn sin<'a, 'b, 'c>(x: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    x.rounded(math::Sin::NAME)
}

pub(super) fn chebyshev_t<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let degree = Degree::of(n);
    let ends = [x.constant(1.0), degree.parity()];
    chebyshev(x, &degree, 6.0, x, |[x, n]| cos(n * acos(x)), ends)
}

pub(super) fn chebyshev_u<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let degree = Degree::of(n);
    let next = degree.n + 1.0;
    chebyshev(
        x,
        &degree,
        8.0,
        x + x,
        |[x, n]| {
            let angle = acos(x);
            sin((n + 1.0) * angle) / sin(angle)
        },
        [next, next * degree.parity()],
    )
}

pub(super) fn chebyshev_v<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let degree = Degree::of(n);
    let odd = degree.n.fma(2.0, 1.0);
    chebyshev(
        x,
        &degree,
        8.0,
        x + x - 1.0,
        |[x, n]| {
            let angle = acos(x);
            cos((n + 0.5) * angle) / cos(angle * 0.5)
        },
        [x.constant(1.0), odd * degree.parity()],
    )
}

pub(super) fn chebyshev_w<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let degree = Degree::of(n);
    chebyshev(
        x,
        &degree,
        8.0,
        x + x + 1.0,
        |[x, n]| {
            let angle = acos(x);
            sin((n + 0.5) * angle) / sin(angle * 0.5)
        },
        [degree.n.fma(2.0, 1.0), degree.parity()],
    )
}

/// The largest degree at which the type holds a Hermite polynomial.
fn hermite_limit(x: Float<'_, '_, '_>) -> f64 {
    if x.is_f32() { 128.0 } else { 512.0 }
}

/// One of Hermite's polynomials; NaN where the type does not hold it.
fn hermite<'a, 'b, 'c>(
    x: Float<'a, 'b, 'c>,
    n: Float<'a, 'b, 'c>,
    first: Float<'a, 'b, 'c>,
    step: impl for<'x, 'y> Fn([Float<'x, 'y, 'c>; 4]) -> Float<'x, 'y, 'c>,
) -> Float<'a, 'b, 'c> {
    let degree = Degree::of(n);
    let large = degree.n.above(hermite_limit(x));
    let y = large.select(f64::NAN, degree.recurrence(x, large, first, step));
    degree.valid.select(y, 0.0)
}

pub(super) fn hermite_h<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    hermite(x, n, x + x, |[x, k, now, last]| (x + x).fma(now, -((k + k) * last)))
}

pub(super) fn hermite_he<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    hermite(x, n, x, |[x, k, now, last]| x.fma(now, -(k * last)))
}

pub(super) fn laguerre_l<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (degree, origin, one) = (Degree::of(n), x.equals(0.0), x.constant(1.0));
    let y = degree.recurrence(x, origin, one - x, |[x, k, now, last]| ((k + k) + (x.constant(1.0) - x)).fma(now, -(k * last)) / (k + 1.0));
    degree.valid.select(origin.select(one, y), 0.0)
}

pub(super) fn legendre_p<'a, 'b, 'c>(x: Float<'a, 'b, 'c>, n: Float<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
    let (degree, ends) = (Degree::of(n), at_ends(x));
    let y = degree.recurrence(x, ends, x, |[x, k, now, last]| ((k + k + 1.0) * x).fma(now, -(k * last)) / (k + 1.0));
    let at_end = x.above(0.0).select(1.0, degree.parity());
    degree.valid.select(ends.select(at_end, y), 0.0)
}
