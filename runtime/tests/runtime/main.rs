//! The runtime from outside: programs in images and shared libraries, weights in archives, the C interface and what it is given.

mod capi;
mod packed;
mod prepared;
mod program;
mod session;
mod shared;
mod signature;
mod strides;
mod weights;

use strata_runtime::{DType, Tensor};

/// A vector of floats.
fn vector(values: &[f32]) -> Tensor {
    Tensor::from_slice(DType::F32, &[values.len() as i64], values).unwrap()
}
