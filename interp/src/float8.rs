//! Floats of 8 bits, by a table of all numbers that there are.

use std::sync::LazyLock;

use super::dtype::{DType, Scalar};

/// The sizes of the numbers of `f8E4M3FN` by their codes; code 0x7f is NaN.
static E4M3FN: LazyLock<Vec<f64>> = LazyLock::new(|| sizes(8, -9, 0x7e));
/// The sizes of the numbers of `f8E5M2` by their codes; code 0x7c stands for infinity, and above it is NaN.
static E5M2: LazyLock<Vec<f64>> = LazyLock::new(|| sizes(4, -16, 0x7c));

/// The first codes up to the last, `count` of them for each exponent: steps of 2^least, which double after each exponent but the first.
fn sizes(count: usize, least: i32, last: usize) -> Vec<f64> {
    let mut sizes = vec![0.0];
    for code in 1..=last {
        let doubled = ((code - 1) / count).saturating_sub(1) as i32;
        sizes.push(sizes[code - 1] + 2f64.powi(least + doubled));
    }
    sizes
}

fn table(dtype: DType) -> &'static [f64] {
    if dtype == DType::F8E4M3FN { &E4M3FN } else { &E5M2 }
}

/// The number of a code. A NaN keeps its code in its last bits, which those of other types do not have.
pub fn decode(dtype: DType, code: u8) -> f64 {
    let low = usize::from(code & 0x7f);
    let size = match table(dtype).get(low) {
        Some(_) if (dtype, low) == (DType::F8E5M2, 0x7c) => f64::INFINITY,
        Some(size) => *size,
        None => f64::from_bits(f64::NAN.to_bits() | u64::from(code & 3)),
    };
    if code < 0x80 { size } else { -size }
}

/// The code of the nearest number, of two the even one. PyTorch rounds to `f32` first.
pub fn encode(dtype: DType, x: f64) -> u8 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        let kept = x.to_bits() as u8 & 3;
        return sign | if kept == 0 || dtype == DType::F8E4M3FN { 0x7f } else { 0x7c | kept };
    }
    let (size, table) = (f64::from(x as f32).abs(), table(dtype));
    let above = table.partition_point(|known| *known < size);
    let code = match above {
        0 => 0,
        _ if above == table.len() => above - 1,
        _ => {
            let (down, up) = (size - table[above - 1], table[above] - size);
            if down < up || down == up && above % 2 == 1 { above - 1 } else { above }
        }
    };
    sign | code as u8
}

/// An element as the body of a kernel has it: of a float of 8 bits its code.
pub fn in_register(dtype: DType, value: Scalar) -> Scalar {
    if dtype.is_float8() { Scalar::Int((encode(dtype, value.float()) as i8).into()) } else { value }
}

/// What a kernel's body yields as the element that is stored.
pub fn in_memory(dtype: DType, value: Scalar) -> Scalar {
    if dtype.is_float8() { Scalar::Float(decode(dtype, value.int() as u8)) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use strata_core::ir::ElementType;
    use strata_dialects::float8;

    /// The table and the arithmetic that constants are rounded with have nothing in common.
    #[test]
    fn both_conversions_agree() {
        let types = [(DType::F8E4M3FN, ElementType::F8E4M3FN), (DType::F8E5M2, ElementType::F8E5M2)];
        for (dtype, element) in types {
            for code in 0..=255u8 {
                let (ours, other) = (decode(dtype, code), float8::decode(element, code));
                assert!(ours.to_bits() == other.to_bits() || ours.is_nan() && other.is_nan(), "{dtype:?} {code:#x}");
                assert_eq!(encode(dtype, ours), code, "{dtype:?} {code:#x}");
            }
            for number in (0..=u16::MAX).map(|bits| f16::from_bits(bits).to_f64()) {
                for number in [number, number * (1.0 + 1e-7), number * (1.0 - 1e-7), number * 1e-4] {
                    assert_eq!(encode(dtype, number), float8::encode(element, number), "{dtype:?} {number:e}");
                }
            }
        }
    }
}
