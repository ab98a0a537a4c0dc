//! What the tools share: the options of a compilation on the command line, and the store of compiled programs.
//! Nothing here reaches the compiler, so a tool that only runs programs starts without it.

pub mod cached;
pub mod compile_options;
