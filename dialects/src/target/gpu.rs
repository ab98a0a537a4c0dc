//! The GPU that kernels are made for, as data, and the quantities that schedules take from it.
//!
//! It is the attribute `target.gpu` of a module, beside `target.cpu`, which says where the program around the kernels runs. The driver
//! writes it for `--target=cuda:sm_90`. What it leaves out, or a module without it, is as in [`Gpu::default`].

use super::{Bytes, Rate, Text, WrongTarget, at_module};
use crate::entry::{Count, Described, Entry, entries, nested, number};
use std::fmt::Display;
use strata_core::ir::{Attr, Cx, Op};
use strata_core::rewrite::Rewriter;

/// The attribute of a module.
pub const GPU: &str = "target.gpu";

entries! {
    /// A GPU of NVIDIA. The defaults are those of an A100 (SXM, 40 GB).
    pub struct Gpu of "GPU" {
        /// NVIDIA's name of the architecture (compute capability).
        architecture: Text = "sm_80".to_owned(),
        /// Blocks that a multiprocessor runs at a time, at most.
        blocks: Count = 32,
        /// The device that the figures are of.
        device: Text = "NVIDIA A100-SXM4-40GB".to_owned(),
        /// Peak rates of fused multiply-adds on ordinary units, by element type.
        fma: TeraflopsOf = Teraflops { f16: Some(78.0), f32: Some(19.5), f64: Some(9.7), ..Teraflops::default() },
        /// Billions of cycles in a second.
        gigahertz: Rate = 1.41,
        /// The cache that all multiprocessors share.
        l2: L2Of = L2::default(),
        /// From the end of a kernel to the beginning of the next one in the same stream.
        launch_microseconds: Rate = 4.0,
        /// Billions of bytes in a second to and from the device's memory.
        memory_gigabytes_per_second: Rate = 1555.0,
        /// Multiprocessors (SMs).
        multiprocessors: Count = 108,
        /// Registers of 32 bits of a multiprocessor.
        registers: Registers = 1 << 16,
        /// Registers that a warp gets at a time.
        registers_at_a_time: Count = 256,
        /// Schedulers of a multiprocessor: warps that begin an instruction in the same cycle.
        schedulers: Count = 4,
        /// The memory that the threads of a block share.
        shared: SharedOf = Shared::default(),
        /// Peak rates of matrix units (tensor cores) without sparsity, by the element type of their operands.
        tensor: TeraflopsOf =
            Teraflops { bf16: Some(312.0), f16: Some(312.0), f32: Some(156.0), f64: Some(19.5), ..Teraflops::default() },
        /// Threads that a multiprocessor runs at a time, at most.
        threads: Count = 2048,
        /// Threads of a block at most.
        threads_of_block: Count = 1024,
        /// Threads of a warp, which run in step.
        warp: Warp = WARP,
    }
}

entries! {
    /// The cache that all multiprocessors of a GPU share.
    pub struct L2 of "cache" {
        /// What it holds.
        bytes: Bytes = 40 << 20,
        /// Billions of bytes in a second that all multiprocessors together read from it.
        gigabytes_per_second: Rate = 7219.2,
    }
}

entries! {
    /// Shared memory of a GPU.
    pub struct Shared of "shared memory" {
        /// Bytes of a multiprocessor.
        bytes: Bytes = 164 << 10,
        /// Bytes that the system keeps of each block's.
        bytes_kept: Bytes = 1 << 10,
        /// Bytes that a kernel may declare for a block.
        bytes_of_block: Bytes = 48 << 10,
        /// Billions of bytes in a second that all multiprocessors together read from it.
        gigabytes_per_second: Rate = 19491.8,
    }
}

entries! {
    /// Peak rates in 10^12 operations a second, a product and its sum being two. What units do not compute in is left out.
    pub struct Teraflops of "rates" {
        /// Of `bf16`.
        bf16: Rate,
        /// Of `f16`.
        f16: Rate,
        /// Of `f32`; of matrix units, which round their operands to tf32.
        f32: Rate,
        /// Of `f64`.
        f64: Rate,
        /// Of floats of 8 bits.
        f8: Rate,
    }
}

/// Registers of a multiprocessor.
pub struct Registers;
/// Threads of a warp.
pub struct Warp;
/// The entries of [`L2`].
pub struct L2Of;
/// The entries of [`Shared`].
pub struct SharedOf;
/// The entries of [`Teraflops`].
pub struct TeraflopsOf;

/// Threads of a warp, on every GPU of NVIDIA: kernels are written for so many.
pub const WARP: i64 = 32;

/// Threads of a block that need no other number: eight warps, of which whole blocks fill a multiprocessor of 1536 threads and one of 2048.
pub const THREADS_OF_BLOCK: i64 = 256;

/// Elements that each thread of a block takes of a long row: four loads of 16 bytes are on their way at a time.
pub const ELEMENTS_OF_THREAD: i64 = 16;

/// Registers of a multiprocessor at most.
const MAX_REGISTERS: i64 = 1 << 24;

number!(Registers, i64, 1, MAX_REGISTERS, |_, _| true, dims => format!("a number from 1 to {MAX_REGISTERS}"));
number!(Warp, i64, WARP, WARP, |_, _| true, dims => format!("{WARP}, the number that kernels are written for"));
nested!(L2Of, L2);
nested!(SharedOf, Shared);
nested!(TeraflopsOf, Teraflops);
at_module!(Gpu, GPU);

/// The power of two that is nearest, by ratio: sizes of programs mostly are such, and so small differences between devices change nothing.
fn nearest_power(number: f64) -> i64 {
    1 << number.max(1.0).log2().round() as u32
}

/// Quantities for schedules. On an A100 and an H100 they are the same.
impl Gpu {
    /// Threads that keep the device busy: a warp for each scheduler. (2^14 on an A100.)
    pub fn busy_threads(&self) -> i64 {
        nearest_power((self.multiprocessors * self.schedulers * self.warp) as f64)
    }

    /// Threads that begin to use all of the device: a warp for each multiprocessor. (2^12 on an A100.)
    pub fn spread_threads(&self) -> i64 {
        nearest_power((self.multiprocessors * self.warp) as f64)
    }

    /// Blocks that keep half of the multiprocessors busy: with fewer, another kernel that makes more pays. (64 on an A100.)
    pub fn busy_blocks(&self) -> i64 {
        nearest_power(self.multiprocessors as f64 / 2.0)
    }

    /// Blocks from which on more of them are no faster: one for each scheduler. (512 on an A100.)
    pub fn most_blocks(&self) -> i64 {
        nearest_power((self.multiprocessors * self.schedulers) as f64)
    }

    /// Elements of so many bytes that one multiprocessor reads in the time in which a kernel starts, at its share of the L2 cache's
    /// bandwidth: a row that is longer is worth another kernel. (2^16 elements of 4 bytes on an A100.)
    pub fn elements_of_a_launch(&self, bytes: i64) -> i64 {
        let bytes_per_second = self.l2.gigabytes_per_second * 1e9 / self.multiprocessors as f64;
        nearest_power(bytes_per_second * self.launch_microseconds * 1e-6 / bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_the_default_device() {
        let gpu = Gpu::default();
        assert_eq!((gpu.busy_threads(), gpu.spread_threads()), (1 << 14, 1 << 12));
        assert_eq!((gpu.busy_blocks(), gpu.most_blocks(), gpu.elements_of_a_launch(4)), (64, 512, 1 << 16));
        let half = Gpu { multiprocessors: 54, ..gpu };
        assert_eq!((half.busy_threads(), half.busy_blocks()), (1 << 13, 32));
    }
}
