//! What comes in: archives of `torch.export` and `torch.jit.save` and ONNX models are read, checked and turned into the capture and aten
//! levels.
//!
//! The crate knows nothing below aten, and no Python is involved.

mod args;
mod fold;
pub mod function;
pub mod import;
mod library;
pub mod onnx;
mod operators;
pub mod pt2;
mod signature;
pub mod stablehlo;
pub mod torchscript;
mod types;

pub use import::{ImportError, Imported, Input, InputKind, Output, Source, Stored, Weights, import, import_json};
pub use library::Library;
pub use operators::{Constant, Operators};
pub use signature::{Leaf, Signature};
