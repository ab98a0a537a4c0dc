//! Layers. Each has the name, the weights and the arithmetic of PyTorch's module, in evaluation mode.
//!
//! A layer takes its weights from a safetensors file by the names that `state_dict` gives them, and is then captured by the closure that
//! calls it.

mod attention;
mod conv;
mod embedding;
mod linear;
mod lstm;
mod norm;
mod weights;

pub use attention::MultiheadAttention;
pub use conv::Conv2d;
pub use embedding::Embedding;
pub use linear::Linear;
pub use lstm::Lstm;
pub use norm::{BatchNorm2d, GroupNorm, LayerNorm};
pub use weights::Weights;
