//! MLIR from Rust: the one crate that talks to MLIR's C and C++ API, and the only `unsafe` around it.
//!
//! Everything above speaks the safe handles of [`ir`]; dialects, passes and rewrites are defined with the other modules.

pub mod ir;

pub use melior;
