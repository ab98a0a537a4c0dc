//! The numbers that floats of 8 bits stand for.

use half::f16;

/// `f8e5m2` is the upper half of an `f16`.
pub(crate) fn from_e5m2(code: u8) -> f64 {
    f16::from_bits(u16::from(code) << 8).to_f64()
}

/// `f8e4m3fn` has its exponent's bits in an `f16` one place lower, with a bias that is 8 less, and NaN where that has 480.
pub(crate) fn from_e4m3fn(code: u8) -> f64 {
    if code & 0x7f == 0x7f {
        return f64::NAN;
    }
    let size = f16::from_bits(u16::from(code & 0x7f) << 7).to_f64() * 256.0;
    if code < 0x80 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_borders() {
        assert_eq!([0x00, 0x01, 0x08, 0x38, 0xb9, 0x7e].map(from_e4m3fn), [0.0, 2f64.powi(-9), 2f64.powi(-6), 1.0, -1.125, 448.0]);
        assert_eq!(
            [0x01, 0x04, 0x3c, 0xbd, 0x7b, 0x7c].map(from_e5m2),
            [2f64.powi(-16), 2f64.powi(-14), 1.0, -1.25, 57344.0, f64::INFINITY]
        );
        assert!(from_e4m3fn(0xff).is_nan() && from_e5m2(0x7d).is_nan());
    }
}
