//! The arrows between levels, and code generation.

pub mod codegen;
mod elements;
mod error;
pub mod expand_math;
mod kernel_view;
pub mod loop_to_cpu;
pub mod loop_to_host;
mod num;
pub mod prim_to_loop;

pub use error::Error;
pub use kernel_view::{KernelView, StageView};
