//! A host for extensions that are built on PyTorch's stable ABI: `libstrata_torch_ops.so`.
//!
//! It has the C functions of `torch/csrc/stable/c/shim.h` that extensions call, over tensors of its own, and calls their kernels by the
//! contract of `strata_ops.h`. There is no libtorch in the process. Its own two functions, `strata_torch_open` and `strata_torch_kernel`,
//! are called by the runtime.

mod constants;
mod dispatcher;
mod error;
mod kernel;
mod lists;
mod load;
mod registry;
mod schema;
mod slots;
mod tensor;
mod tensors;
mod threads;
