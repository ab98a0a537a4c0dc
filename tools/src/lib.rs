//! What the tools share: how they start and end, the options of a compilation on the command line, the store of compiled
//! programs, their signatures.
//! Nothing here reaches the compiler, so a tool that only runs programs starts without it.

pub mod cached;
pub mod compile_options;
pub mod compiler;
pub mod exported_folder;
pub mod kernels;
pub mod prepared;
pub mod saved;
pub mod signature;
mod start;
pub mod tuning;
pub mod verify_weights;

pub use start::start;
