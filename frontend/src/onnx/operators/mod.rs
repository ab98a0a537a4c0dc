//! The families of ONNX's operators, as those of `aten`.

pub(super) mod activation;
pub(super) mod arithmetic;
pub(super) mod attention;
pub(super) mod control;
pub(super) mod conv;
pub(super) mod index;
pub(super) mod linear;
pub(super) mod loss;
pub(super) mod norm;
pub(super) mod pad;
pub(super) mod pool;
pub(super) mod quantise;
pub(super) mod random;
pub(super) mod reduce;
pub(super) mod resize;
pub(super) mod rnn;
pub(super) mod sequence;
pub(super) mod shape;
pub(super) mod signal;
pub(super) mod spatial;
pub(super) mod training;
mod window;
