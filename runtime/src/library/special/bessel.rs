//! Modified Bessel functions by their Chebyshev expansions, in the precision of the argument.

use super::real::Real;
use super::tables::*;

/// The expansion whose coefficients are given from the highest order on; `x` is twice its variable.
#[inline(always)]
fn expansion<T: Real>(x: T, coefficients: &[f64]) -> T {
    let zero = T::of(0.0);
    let (mut now, mut last, mut before) = (zero, zero, zero);
    for coefficient in coefficients {
        before = last;
        last = now;
        now = x.mul_add(last, -before) + T::of(*coefficient);
    }
    T::of(0.5) * (now - before)
}

/// `x / 2 - 2` runs over the variable of the tables for x up to 8.
#[inline(always)]
fn near<T: Real>(x: T) -> T {
    x / T::of(2.0) - T::of(2.0)
}

/// `4 edge / x - 2` runs over the variable of the tables for x from `edge` on.
#[inline(always)]
fn far<T: Real>(x: T, edge: f64) -> T {
    T::of(4.0 * edge) / x - T::of(2.0)
}

#[inline(always)]
pub(super) fn bessel_i0<T: Real>(x: T) -> T {
    let x = x.abs();
    if x <= T::of(8.0) {
        return x.exp() * expansion(near(x), I0_NEAR);
    }
    x.exp() * expansion(far(x, 8.0), I0_FAR) / x.sqrt()
}

#[inline(always)]
pub(super) fn bessel_i0e<T: Real>(x: T) -> T {
    let x = x.abs();
    if x <= T::of(8.0) {
        return expansion(near(x), I0_NEAR);
    }
    expansion(far(x, 8.0), I0_FAR) / x.sqrt()
}

#[inline(always)]
fn odd<T: Real>(x: T, value: T) -> T {
    if x < T::of(0.0) { -value } else { value }
}

/// The last terms of a table, those of low order.
fn low(table: &[f64], terms: usize) -> &[f64] {
    &table[table.len() - terms..]
}

#[inline(always)]
pub(super) fn bessel_i1<T: Real>(x: T) -> T {
    let a = x.abs();
    if a <= T::of(8.0) {
        return odd(x, a.exp() * a * expansion(near(a), low(I1_NEAR, T::I1_TERMS.0)));
    }
    odd(x, a.exp() * expansion(far(a, 8.0), low(I1_FAR, T::I1_TERMS.1)) / a.sqrt())
}

/// The same function by all terms of the tables: PyTorch has one of either kind, and they differ in the last bit of `f32`.
#[inline(always)]
pub(super) fn bessel_i1_full<T: Real>(x: T) -> T {
    let a = x.abs();
    if a <= T::of(8.0) {
        return odd(x, expansion(near(a), I1_NEAR) * a * a.exp());
    }
    odd(x, a.exp() * expansion(far(a, 8.0), I1_FAR) / a.sqrt())
}

#[inline(always)]
pub(super) fn bessel_i1e<T: Real>(x: T) -> T {
    let a = x.abs();
    if a <= T::of(8.0) {
        return odd(x, expansion(near(a), low(I1_NEAR, T::I1_TERMS.0)) * a);
    }
    odd(x, expansion(far(a, 8.0), low(I1_FAR, T::I1_TERMS.1)) / a.sqrt())
}

/// A function of the third kind: infinite at 0, without a value below, by `small` up to 2 and by `large` beyond.
#[inline(always)]
fn decaying<T: Real>(x: T, small: impl Fn(T) -> T, large: impl Fn(T) -> T) -> T {
    let zero = T::of(0.0);
    match () {
        () if x == zero => T::infinity(),
        () if x < zero => T::nan(),
        () if x <= T::of(2.0) => small(x),
        () => large(x),
    }
}

#[inline(always)]
fn k0_near<T: Real>(x: T) -> T {
    expansion(x * x - T::of(2.0), K0_NEAR) - (T::of(0.5) * x).ln() * bessel_i0(x)
}

#[inline(always)]
fn k1_near<T: Real>(x: T) -> T {
    (T::of(0.5) * x).ln() * bessel_i1(x) + expansion(x * x - T::of(2.0), K1_NEAR) / x
}

#[inline(always)]
pub(super) fn bessel_k0<T: Real>(x: T) -> T {
    decaying(x, k0_near, |x| (-x).exp() * expansion(far(x, 2.0), K0_FAR) / x.sqrt())
}

#[inline(always)]
pub(super) fn bessel_k0e<T: Real>(x: T) -> T {
    decaying(x, |x| k0_near(x) * x.exp(), |x| expansion(far(x, 2.0), K0_FAR) / x.sqrt())
}

#[inline(always)]
pub(super) fn bessel_k1<T: Real>(x: T) -> T {
    decaying(x, k1_near, |x| (-x).exp() * expansion(far(x, 2.0), K1_FAR) / x.sqrt())
}

#[inline(always)]
pub(super) fn bessel_k1e<T: Real>(x: T) -> T {
    decaying(x, |x| k1_near(x) * x.exp(), |x| expansion(far(x, 2.0), K1_FAR) / x.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-14 * want.abs(), "{got:e} instead of {want:e}");
    }

    #[test]
    fn known_values() {
        close(bessel_i0(1.0), 1.266_065_877_752_008_4);
        close(bessel_i1(-2.5), -2.516_716_245_288_698);
        close(bessel_i0e(20.0), 0.089_780_311_884_826_02);
        close(bessel_i1e(20.0), 0.087_506_222_183_288_67);
        close(bessel_k0(1.0), 0.421_024_438_240_708_34);
        close(bessel_k1(0.5), 1.656_441_120_003_301);
        close(bessel_k1e(3.0), bessel_k1(3.0) * 3f64.exp());
    }

    #[test]
    fn ends() {
        assert_eq!(bessel_k0(0.0_f32), f32::INFINITY);
        assert!(bessel_k1(-1.0_f64).is_nan());
        assert_eq!(bessel_k1e(f64::INFINITY), 0.0);
        assert_eq!(bessel_i0e(f32::INFINITY), 0.0);
    }
}
