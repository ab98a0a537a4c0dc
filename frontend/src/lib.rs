//! What comes in: `.pt2` archives of `torch.export` are read, checked and turned into the capture and aten levels.
//!
//! The crate knows nothing below aten, and no Python is involved.

pub mod import;
pub mod pt2;
pub mod torchscript;

pub use import::{ImportError, Imported, Input, InputKind, Output, Weights, import, import_json};
