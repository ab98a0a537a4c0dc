//! Floats of 8 bits as numbers: `f8E4M3FN` and `f8E5M2`, rounded as PyTorch rounds them.

use strata_core::ir::ElementType;

/// Bits of the mantissa, the bias of the exponent, and the code that stands for what is too large: the largest number of `f8E4M3FN`,
/// which has no infinity, and the infinity of `f8E5M2`.
fn format(element: ElementType) -> (i32, i32, u8) {
    if element == ElementType::F8E4M3FN { (3, 7, 0x7e) } else { (2, 15, 0x7c) }
}

/// The number that a code stands for.
pub fn decode(element: ElementType, code: u8) -> f64 {
    let (mantissa, bias, most) = format(element);
    let (exponent, fraction) = (i32::from(code & 0x7f) >> mantissa, i32::from(code) & ((1 << mantissa) - 1));
    let size = match code & 0x7f {
        code if code > most => f64::NAN,
        0x7c if element == ElementType::F8E5M2 => f64::INFINITY,
        _ if exponent == 0 => f64::from(fraction) * 2f64.powi(1 - bias - mantissa),
        _ => f64::from(fraction + (1 << mantissa)) * 2f64.powi(exponent - bias - mantissa),
    };
    if code < 0x80 { size } else { -size }
}

/// The code of a number, which is rounded to `f32` first: the nearest one, of two the even one.
pub fn encode(element: ElementType, value: f64) -> u8 {
    let (mantissa, bias, most) = format(element);
    let value = f64::from(value as f32);
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    if value.is_nan() {
        return 0x7f | sign;
    }
    // Below the least exponent steps are as large as at it. A fraction that rounds up to the next power of two carries into the exponent.
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let steps = (value.abs() / 2f64.powi(exponent - mantissa)).round_ties_even();
    let code = f64::from((exponent + bias - 1) << mantissa) + steps;
    code.min(most.into()) as u8 | sign
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{F8E4M3FN, F8E5M2};

    #[test]
    fn every_code_comes_back() {
        for element in [F8E4M3FN, F8E5M2] {
            for code in 0..=255u8 {
                let value = decode(element, code);
                assert!(encode(element, value) == code || value.is_nan(), "{element} {code:#x}");
            }
        }
    }

    #[test]
    fn ties_are_even_and_what_is_too_large_is_the_largest_or_infinite() {
        let e4m3 = |x: f64| decode(F8E4M3FN, encode(F8E4M3FN, x));
        let e5m2 = |x: f64| decode(F8E5M2, encode(F8E5M2, x));
        assert_eq!([1.0625, 1.1875, 464.0, 1e9, f64::NEG_INFINITY].map(e4m3), [1.0, 1.25, 448.0, 448.0, -448.0]);
        assert_eq!([1.125, 1.375, 61439.0, 61440.0, -1e9].map(e5m2), [1.0, 1.5, 57344.0, f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!([2f64.powi(-10), 1.5 * 2f64.powi(-9), -1e-9].map(e4m3), [0.0, 2f64.powi(-8), 0.0]);
        assert!(e4m3(f64::NAN).is_nan() && e5m2(f64::NAN).is_nan());
    }
}
