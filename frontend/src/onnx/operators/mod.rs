//! The families of ONNX's operators, as those of `aten`.

pub(super) mod activation;
pub(super) mod arithmetic;
pub(super) mod index;
pub(super) mod reduce;
pub(super) mod shape;
