//! `nvvm`: instructions of NVIDIA's devices.

use super::ops;

ops! {
    /// All threads of a block wait for each other.
    effect Barrier0 "nvvm.barrier0" barrier0();
    /// Which block of the grid runs.
    op BlockIdX "nvvm.read.ptx.sreg.ctaid.x";
    /// Closes a group of asynchronous copies.
    effect CpAsyncCommitGroup "nvvm.cp.async.commit.group" cp_async_commit_group();
    /// Copies from global to shared memory, asynchronously.
    op CpAsync "nvvm.cp.async.shared.global";
    /// Waits for groups of asynchronous copies.
    op CpAsyncWaitGroup "nvvm.cp.async.wait.group";
    /// Reads the fragments of a matrix from shared memory.
    op LdMatrix "nvvm.ldmatrix";
    /// The product of two matrices, added to a third one.
    op MmaSync "nvvm.mma.sync";
    /// Hands values between the threads of a warp.
    op ShflSync "nvvm.shfl.sync";
    /// Which thread of the block runs.
    op ThreadIdX "nvvm.read.ptx.sreg.tid.x";
}

/// Marks a function that the host launches.
pub const KERNEL: &str = "nvvm.kernel";

/// The number of threads that a kernel is launched with.
pub const REQNTID: &str = "nvvm.reqntid";
