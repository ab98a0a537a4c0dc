//! The arrows between levels, and code generation.

pub mod aten_to_prim;
pub mod attach_target;
pub mod codegen;
mod copy_kernel;
pub mod emit;
mod error;
pub mod expand_math;
pub mod gpu_to_nvvm;
pub mod keep_rows;
pub mod loop_to_cpu;
pub mod loop_to_gpu;
pub mod loop_to_host;
mod mean_reach;
pub mod narrow_indices;
mod num;
pub mod pack_operands;
pub mod pair_halves;
pub mod predict;
pub mod prim_to_loop;
pub mod schedule_cpu;
pub mod schedule_gpu;
pub mod share_kernels;
pub mod share_reciprocals;
pub mod sort_by_ranks;
pub mod split_reductions;
pub mod split_scans;
pub mod target;

pub use error::Error;
pub use strata_dialects::loops::view::{KernelView, StageView};

use strata_core::pass::PassEntry;

/// All passes of this crate, sorted by flag.
pub const PASSES: &[PassEntry] = &[
    PassEntry::of::<attach_target::AttachTarget>(),
    PassEntry::of::<aten_to_prim::DecomposeAten>(),
    PassEntry::of::<expand_math::ExpandMath>(),
    PassEntry::of::<gpu_to_nvvm::GpuToNvvm>(),
    PassEntry::of::<keep_rows::KeepRows>(),
    PassEntry::of::<loop_to_cpu::LoopToCpu>(),
    PassEntry::of::<loop_to_gpu::LoopToGpu>(),
    PassEntry::of::<loop_to_host::LoopToHost>(),
    PassEntry::of::<codegen::LowerToLlvm>(),
    PassEntry::of::<narrow_indices::NarrowIndices>(),
    PassEntry::of::<pack_operands::PackOperands>(),
    PassEntry::of::<pair_halves::PairHalves>(),
    PassEntry::of::<prim_to_loop::PrimToLoop>(),
    PassEntry::of::<schedule_cpu::ScheduleCpu>(),
    PassEntry::of::<schedule_gpu::ScheduleGpu>(),
    PassEntry::of::<share_kernels::ShareKernels>(),
    PassEntry::of::<share_reciprocals::ShareReciprocals>(),
    PassEntry::of::<sort_by_ranks::SortByRanks>(),
    PassEntry::of::<split_reductions::SplitReductions>(),
    PassEntry::of::<split_scans::SplitScans>(),
];
