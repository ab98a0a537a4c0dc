//! Orthogonal polynomials of a real degree, which is truncated. By their recurrences, in the precision of the argument;
//! Chebyshev's of a higher degree, inside of their interval, by trigonometry. The recurrences fuse a product and a difference,
//! as compilers do with PyTorch's.

use super::real::Real;

/// The recurrence `next = step(k, now, last)` from the polynomials of degree 0 (which is 1) and 1.
#[inline(always)]
fn recurrence<T: Real>(n: i64, first: T, step: impl Fn(T, T, T) -> T) -> T {
    if n == 0 {
        return T::of(1.0);
    }
    let (mut last, mut now) = (T::of(1.0), first);
    let mut k = 1;
    // A cap keeps hostile degrees from running for ever.
    while k < n.min(1 << 24) && !now.is_nan() {
        (last, now) = (now, step(T::of(k as f64), now, last));
        k += 1;
    }
    now
}

/// `body` of the degree; a negative one, or one that is no 64-bit integer, gives 0.
#[inline(always)]
fn of_degree<T: Real>(n: T, body: impl Fn(i64) -> T) -> T {
    let n = n.wide();
    if (0.0..i64::MAX as f64).contains(&n.trunc()) { body(n as i64) } else { T::of(0.0) }
}

fn is_even(n: i64) -> bool {
    n % 2 == 0
}

/// A value at 1 and its mirror image at -1, or nothing elsewhere.
#[inline(always)]
fn at_ends<T: Real>(x: T, right: f64, left: f64) -> Option<T> {
    let one = T::of(1.0);
    if x == one {
        Some(T::of(right))
    } else if x == -one {
        Some(T::of(left))
    } else {
        None
    }
}

/// `1` for an even degree, `-1` for an odd one.
fn parity(n: i64) -> f64 {
    if is_even(n) { 1.0 } else { -1.0 }
}

/// The recurrence that Chebyshev's polynomials share.
#[inline(always)]
fn chebyshev<T: Real>(x: T, n: i64, first: T) -> T {
    recurrence(n, first, |_, now, last| (x + x).mul_add(now, -last))
}

#[inline(always)]
fn inside<T: Real>(x: T) -> bool {
    x.abs() < T::of(1.0)
}

#[inline(always)]
pub(super) fn chebyshev_t<T: Real>(x: T, n: T) -> T {
    of_degree(n, |n| {
        let degree = T::of(n as f64);
        at_ends(x, 1.0, parity(n)).unwrap_or_else(|| if n > 6 && inside(x) { (degree * x.acos()).cos() } else { chebyshev(x, n, x) })
    })
}

#[inline(always)]
pub(super) fn chebyshev_u<T: Real>(x: T, n: T) -> T {
    of_degree(n, |n| {
        let next = n as f64 + 1.0;
        at_ends(x, next, next * parity(n)).unwrap_or_else(|| {
            if n > 8 && inside(x) {
                let angle = x.acos();
                return (T::of(next) * angle).sin() / angle.sin();
            }
            chebyshev(x, n, x + x)
        })
    })
}

#[inline(always)]
pub(super) fn chebyshev_v<T: Real>(x: T, n: T) -> T {
    of_degree(n, |n| {
        let odd = 2.0 * n as f64 + 1.0;
        at_ends(x, 1.0, odd * parity(n)).unwrap_or_else(|| {
            if n > 8 && inside(x) {
                let angle = x.acos();
                return (T::of(n as f64 + 0.5) * angle).cos() / (angle / T::of(2.0)).cos();
            }
            chebyshev(x, n, x + x - T::of(1.0))
        })
    })
}

#[inline(always)]
pub(super) fn chebyshev_w<T: Real>(x: T, n: T) -> T {
    of_degree(n, |n| {
        let odd = 2.0 * n as f64 + 1.0;
        at_ends(x, odd, parity(n)).unwrap_or_else(|| {
            if n > 8 && inside(x) {
                let angle = x.acos();
                return (T::of(n as f64 + 0.5) * angle).sin() / (angle / T::of(2.0)).sin();
            }
            chebyshev(x, n, x + x + T::of(1.0))
        })
    })
}

#[inline(always)]
pub(super) fn hermite_h<T: Real>(x: T, n: T) -> T {
    let body = |n| recurrence(n, x + x, |k, now, last| (x + x).mul_add(now, -((k + k) * last)));
    of_degree(n, |n| if n > T::HERMITE_LIMIT { T::nan() } else { body(n) })
}

#[inline(always)]
pub(super) fn hermite_he<T: Real>(x: T, n: T) -> T {
    let body = |n| recurrence(n, x, |k, now, last| x.mul_add(now, -(k * last)));
    of_degree(n, |n| if n > T::HERMITE_LIMIT { T::nan() } else { body(n) })
}

#[inline(always)]
pub(super) fn laguerre_l<T: Real>(x: T, n: T) -> T {
    let one = T::of(1.0);
    of_degree(n, |n| {
        if x == T::of(0.0) {
            return one;
        }
        recurrence(n, one - x, |k, now, last| ((k + k) + (one - x)).mul_add(now, -(k * last)) / (k + one))
    })
}

#[inline(always)]
pub(super) fn legendre_p<T: Real>(x: T, n: T) -> T {
    let one = T::of(1.0);
    of_degree(n, |n| {
        at_ends(x, 1.0, parity(n))
            .unwrap_or_else(|| recurrence(n, x, |k, now, last| ((k + k + one) * x).mul_add(now, -(k * last)) / (k + one)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_degrees() {
        assert_eq!(chebyshev_t(0.5, 3.0), -1.0);
        assert_eq!(chebyshev_u(2.0_f32, 2.0), 15.0);
        assert_eq!(chebyshev_v(2.0, 1.0), 3.0);
        assert_eq!(chebyshev_w(2.0, 1.0), 5.0);
        assert_eq!(hermite_h(1.0, 2.0), 2.0);
        assert_eq!(hermite_he(2.0, 3.0), 2.0);
        assert_eq!(laguerre_l(2.0, 2.0), -1.0);
        assert_eq!(legendre_p(0.5_f32, 2.0), -0.125);
        assert_eq!(legendre_p(0.5, -1.0), 0.0);
    }

    #[test]
    fn trigonometry_agrees_with_the_recurrence() {
        for n in [7.0, 9.0, 12.0] {
            for x in [-0.9, -0.3, 0.1, 0.7] {
                assert!(f64::abs(chebyshev_t(x, n) - chebyshev(x, n as i64, x)) < 1e-12);
                assert!(f64::abs(chebyshev_u(x, n) - chebyshev(x, n as i64, x + x)) < 1e-12);
                assert!(f64::abs(chebyshev_v(x, n) - chebyshev(x, n as i64, x + x - 1.0)) < 1e-12);
                assert!(f64::abs(chebyshev_w(x, n) - chebyshev(x, n as i64, x + x + 1.0)) < 1e-12);
            }
        }
    }

    #[test]
    fn ends_and_limits() {
        assert_eq!(chebyshev_u(-1.0, 3.0), -4.0);
        assert_eq!(chebyshev_v(-1.0, 2.0), 5.0);
        assert_eq!(chebyshev_w(1.0, 2.0), 5.0);
        assert!(hermite_h(1.0_f32, 200.0).is_nan());
        assert!(legendre_p(f64::NAN, 5.0).is_nan());
    }
}
