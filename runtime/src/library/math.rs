//! `strata_math_*`: functions of one element that are rare enough to be called lane by lane. Single precision is the
//! double precision result, rounded.

use std::f64::consts::PI;

unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    fn lgamma_r(x: f64, sign: *mut i32) -> f64;
}

/// Defines the C function of each precision.
macro_rules! exported {
    ($($double:ident $single:ident $what:literal $inner:ident;)*) => {$(
        #[doc = $what]
        #[unsafe(no_mangle)]
        pub extern "C" fn $double(x: f64) -> f64 {
            $inner(x)
        }

        #[doc = $what]
        #[unsafe(no_mangle)]
        pub extern "C" fn $single(x: f32) -> f32 {
            $inner(x.into()) as f32
        }
    )*};
}

exported! {
    strata_math_lgamma_f64 strata_math_lgamma_f32 "The logarithm of the gamma function's magnitude." lgamma;
}

fn lgamma(x: f64) -> f64 {
    let mut sign = 0;
    // SAFETY: the sign goes to a variable of ours; unlike `lgamma` this writes no global.
    unsafe { lgamma_r(x, &raw mut sign) }
}

/// A closed approximation to three digits, then Halley's iteration, which triples the digits. Near one the equation is
/// solved for the complement, which keeps its digits there.
pub(super) fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 || x == 0.0 || x.is_nan() {
        return if a == 1.0 {
            f64::INFINITY.copysign(x)
        } else if a > 1.0 {
            f64::NAN
        } else {
            x
        };
    }
    let log = ((1.0 - a) * (1.0 + a)).ln();
    let middle = 2.0 / (PI * 0.147) + log / 2.0;
    let mut y = ((middle * middle - log / 0.147).sqrt() - middle).max(0.0).sqrt().max(a * 0.5);
    for _ in 0..3 {
        let error = if a < 0.5 { erf(y) - a } else { (1.0 - a) - erfc(y) };
        let step = error / (2.0 / PI.sqrt() * (-y * y).exp());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative to the result, or to the largest intermediate value.
    fn close(got: f64, want: f64, scale: f64) {
        assert!((got - want).abs() <= 4e-15 * scale.max(want.abs()) || got == want, "{got:e} instead of {want:e}");
    }

    #[test]
    fn erfinv_inverts_erf() {
        for i in 1..2000 {
            let y = f64::from(i) * 0.0025;
            let x = erf(y);
            // As much as the rounding of x allows.
            let slope = 2.0 / PI.sqrt() * (-y * y).exp();
            let allowed = 4e-16 * y + 2e-16 * x / slope;
            assert!((erfinv(x) - y).abs() <= 2.0 * allowed || x == 1.0, "{y}: {}", erfinv(x));
            assert_eq!(erfinv(-x), -erfinv(x));
        }
        close(erfinv(1e-300), 1e-300 * PI.sqrt() / 2.0, 0.0);
        assert_eq!(erfinv(1.0), f64::INFINITY);
        assert_eq!(erfinv(-1.0), f64::NEG_INFINITY);
        assert!(erfinv(1.5).is_nan() && erfinv(f64::NAN).is_nan());
        assert!(erfinv(-0.0).is_sign_negative());
    }

    #[test]
    fn lgamma_of_both_signs() {
        close(lgamma(10.0), 362_880f64.ln(), 0.0);
        close(lgamma(-0.5), (2.0 * PI.sqrt()).ln(), 0.0);
        assert_eq!(lgamma(-3.0), f64::INFINITY);
    }
}
