//! `strata_extend*`, `strata_trunc*`: conversions of halves for which a CPU has no instruction. LLVM calls `__extendhfsf2` and its like there,
//! and where it takes a sign from an `f64` after a number was rounded to a half; the linker puts these in their place.
//!
//! A half crosses in the low bits of a float register, which is where the calling conventions have an `f32` too.

use half::{bf16, f16};

fn carried(bits: u16) -> f32 {
    f32::from_bits(bits.into())
}

/// An `f16` as an `f32`.
#[unsafe(no_mangle)]
pub extern "C" fn strata_extendhfsf2(x: f32) -> f32 {
    f16::from_bits(x.to_bits() as u16).into()
}

/// The `f16` nearest to an `f32`.
#[unsafe(no_mangle)]
pub extern "C" fn strata_truncsfhf2(x: f32) -> f32 {
    carried(f16::from_f32(x).to_bits())
}

/// The `f16` nearest to an `f64`.
#[unsafe(no_mangle)]
pub extern "C" fn strata_truncdfhf2(x: f64) -> f32 {
    carried(f16::from_f64(x).to_bits())
}

/// The `bf16` nearest to an `f32`.
#[unsafe(no_mangle)]
pub extern "C" fn strata_truncsfbf2(x: f32) -> f32 {
    carried(bf16::from_f32(x).to_bits())
}

/// The `bf16` nearest to an `f64`.
#[unsafe(no_mangle)]
pub extern "C" fn strata_truncdfbf2(x: f64) -> f32 {
    carried(bf16::from_f64(x).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_lie_in_the_low_bits() {
        for bits in 0..=u16::MAX {
            let (whole, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if !whole.is_nan() {
                assert_eq!(strata_extendhfsf2(carried(bits)), whole.to_f32());
                assert_eq!(strata_truncsfhf2(whole.into()).to_bits(), u32::from(bits));
                assert_eq!(strata_truncdfhf2(whole.into()).to_bits(), u32::from(bits));
            }
            if !brain.is_nan() {
                assert_eq!(strata_truncsfbf2(brain.into()).to_bits(), u32::from(bits));
                assert_eq!(strata_truncdfbf2(brain.into()).to_bits(), u32::from(bits));
            }
        }
    }
}
