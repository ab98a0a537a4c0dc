//! Tensors of the runtime as the interpreter has them, and back.

use strata_interp as interp;
use strata_interp::{Scalar, Value};
use strata_runtime::{DType, Tensor};

pub(crate) fn from_runtime(tensor: &Tensor) -> Result<interp::Tensor, String> {
    let shape: Vec<usize> = tensor.shape().iter().map(|&size| size as usize).collect();
    let element = DTYPES.iter().find(|(dtype, _)| *dtype == tensor.dtype()).map(|(_, element)| *element);
    let element = element.ok_or_else(|| format!("the interpreter has no {}", tensor.dtype()))?;
    interp::Tensor::from_bytes(element, &shape, tensor.row_major().map_err(|e| e.to_string())?.bytes()).map_err(|e| e.to_string())
}

pub(crate) fn to_runtime(value: Value) -> Result<Tensor, String> {
    let tensor = match value {
        Value::Tensor(tensor) => tensor,
        // Python's floats are doubles.
        Value::Scalar(scalar @ Scalar::Float(_)) => interp::Tensor::scalar(interp::DType::F64, scalar),
        Value::Scalar(scalar) => interp::Tensor::scalar(scalar.default_dtype(), scalar),
        other => return Err(format!("a result is neither a tensor nor a number: {other:?}")),
    };
    let shape: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
    let dtype = DTYPES.iter().find(|(_, known)| *known == tensor.dtype()).map(|(dtype, _)| *dtype);
    let dtype = dtype.ok_or_else(|| format!("a result has the element type {:?}", tensor.dtype()))?;
    Tensor::from_bytes(dtype, &shape, &tensor.to_bytes()).map_err(|e| e.to_string())
}

/// The runtime's element types and the interpreter's.
const DTYPES: &[(DType, interp::DType)] = &[
    (DType::F64, interp::DType::F64),
    (DType::F32, interp::DType::F32),
    (DType::F16, interp::DType::F16),
    (DType::BF16, interp::DType::Bf16),
    (DType::I64, interp::DType::I64),
    (DType::I32, interp::DType::I32),
    (DType::I16, interp::DType::I16),
    (DType::I8, interp::DType::I8),
    (DType::U8, interp::DType::U8),
    (DType::U16, interp::DType::U16),
    (DType::U32, interp::DType::U32),
    (DType::U64, interp::DType::U64),
    (DType::Bool, interp::DType::Bool),
    (DType::C64, interp::DType::C64),
    (DType::C128, interp::DType::C128),
    (DType::F8E4M3FN, interp::DType::F8E4M3FN),
    (DType::F8E5M2, interp::DType::F8E5M2),
];
