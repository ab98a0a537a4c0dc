//! Inputs of a program.

use half::{bf16, f16};
use strata_runtime::{DType, Tensor, TensorError};

use crate::emit::arguments;
use crate::graph::{Fill, Graph, Ty};
use crate::rng::Rng;

/// The call's inputs; those of one argument do not depend on the others.
pub fn inputs(graph: &Graph, seed: u64) -> Result<Vec<Tensor>, TensorError> {
    let all = arguments(graph).into_iter();
    all.map(|(value, ty, fill)| tensor(&mut Rng::new(seed, 1000 + value as u64), &ty, fill, graph.special)).collect()
}

fn tensor(rng: &mut Rng, ty: &Ty, fill: Fill, special: bool) -> Result<Tensor, TensorError> {
    let mut bytes = Vec::new();
    for _ in 0..ty.elements() {
        let (real, whole) = match fill {
            Fill::Below(n) => (0.0, rng.range(0, n - 1)),
            Fill::Plain => (real(rng, false), whole(rng, ty.dtype, false)),
            Fill::Numbers => (real(rng, special), whole(rng, ty.dtype, special)),
        };
        match ty.dtype {
            DType::F64 => bytes.extend(real.to_le_bytes()),
            DType::F32 => bytes.extend((real as f32).to_le_bytes()),
            DType::F16 => bytes.extend(f16::from_f64(real).to_le_bytes()),
            DType::BF16 => bytes.extend(bf16::from_f64(real).to_le_bytes()),
            DType::I64 => bytes.extend(whole.to_le_bytes()),
            DType::I32 => bytes.extend((whole as i32).to_le_bytes()),
            DType::Bool => bytes.push((whole & 1) as u8),
            _ => bytes.push(whole as u8),
        }
    }
    Tensor::from_bytes(ty.dtype, &ty.shape(), &bytes)
}

/// A number so large that its square is still an `f32`. Where products overflow, a sum of them is `NaN`, infinite or finite
/// with the order and the roundings that an accumulator of that type has, and the interpreter has a wider one.
const LARGE: f64 = 1e18;

fn real(rng: &mut Rng, special: bool) -> f64 {
    if special && rng.chance(12) {
        return rng.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, LARGE, -LARGE, 1e-40, 65504.0, 1.0]);
    }
    match rng.below(8) {
        0 => rng.range(-4, 4) as f64,
        1 => rng.range(-8, 8) as f64 / 2.0,
        _ => (rng.unit() - 0.5) * 6.0,
    }
}

fn whole(rng: &mut Rng, dtype: DType, special: bool) -> i64 {
    if special && rng.chance(12) {
        return match dtype {
            DType::I32 => rng.pick(&[i32::MIN as i64, i32::MAX as i64, -1]),
            _ => rng.pick(&[i64::MIN, i64::MAX, -1, 255]),
        };
    }
    rng.range(-9, 9)
}
