//! Random numbers by Salmon and others' Philox 4x32-10, from its definition.

use num_complex::Complex64;

use crate::value::{InterpError, fail};
use crate::{DType, Scalar, Tensor};

/// Ten rounds on a counter of four words with a key of two.
fn philox(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (x, y) = (u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57);
        c = [(y >> 32) as u32 ^ c[1] ^ k[0], y as u32, (x >> 32) as u32 ^ c[3] ^ k[1], x as u32];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    c
}

/// Element i is made of number `offset + i` of stream `seed`; a complex one of the next two, normal ones with variance 1 as a whole.
pub(crate) fn numbers(seed: u64, offset: u64, kind: &str, dtype: DType, shape: &[usize]) -> Result<Tensor, InterpError> {
    if dtype.is_complex() {
        let parts: Vec<_> = numbers(seed, offset, kind, dtype.real(), &[2 * shape.iter().product::<usize>()])?.scalars().collect();
        let scale = if kind == "normal" { std::f64::consts::FRAC_1_SQRT_2 } else { 1.0 };
        let pairs = parts.chunks(2).map(|pair| Scalar::Complex(Complex64::new(pair[0].float(), pair[1].float()) * scale));
        return Tensor::from_scalars(dtype, shape, pairs);
    }
    let mut i = 0;
    Tensor::try_build(dtype, shape, |_| {
        let at = offset.wrapping_add(i);
        i += 1;
        let words = philox([at as u32, (at >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32]);
        shaped(kind, words, dtype)
    })
}

fn shaped(kind: &str, words: [u32; 4], dtype: DType) -> Result<Scalar, InterpError> {
    let bits = u64::from(words[1]) << 32 | u64::from(words[0]);
    let unit = |word: u32, above: f64| (f64::from(word) + above) / 4_294_967_296.0;
    Ok(match (kind, dtype) {
        ("bits", _) => Scalar::Int(i128::from(bits as i64)),
        ("uniform", DType::F64) => Scalar::Float((bits >> 11) as f64 / (1u64 << 53) as f64),
        ("uniform", DType::F16) => Scalar::Float(f64::from(words[0] >> 21) / 2048.0),
        ("uniform", DType::Bf16) => Scalar::Float(f64::from(words[0] >> 24) / 256.0),
        ("uniform", _) => Scalar::Float(f64::from(words[0] >> 8) / f64::from(1 << 24)),
        ("normal", _) => {
            let length = (-2.0 * unit(words[0], 1.0).ln()).sqrt();
            Scalar::Float(length * (std::f64::consts::TAU * unit(words[1], 0.0)).cos())
        }
        _ => return Err(fail(format!("the kind `{kind}` is not known"))),
    })
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// The authors' known answers.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
