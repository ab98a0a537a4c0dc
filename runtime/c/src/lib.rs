//! `libstrata.so`: the runtime's C functions, for programs in C and for compiled programs that are shared libraries.

pub use strata_runtime::capi;
