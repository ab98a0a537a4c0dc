//! `gpu`: kernels of a device.

use super::ops;

ops! {
    /// All threads of a block wait for each other.
    effect Barrier "gpu.barrier" barrier();
    /// Which block of the grid runs.
    op BlockId "gpu.block_id";
    /// A function of a device.
    op Func "gpu.func";
    /// The functions of a device.
    op Module "gpu.module";
    /// Returns from a function of a device.
    effect Return "gpu.return" ret();
    /// Hands values between the threads of a warp.
    op Shuffle "gpu.shuffle";
    /// Which thread of the block runs.
    op ThreadId "gpu.thread_id";
}

/// Marks a module that holds code of a device.
pub const CONTAINER_MODULE: &str = "gpu.container_module";

/// Marks a function that the host launches.
pub const KERNEL: &str = "gpu.kernel";
