//! The arrows between levels, and code generation.

pub mod codegen;
pub mod expand_math;
