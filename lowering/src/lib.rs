//! The arrows between levels, and code generation.

pub mod aten_to_prim;
pub mod autocast;
pub mod codegen;
mod cycles;
pub mod differentiate;
pub mod emit;
mod error;
pub mod expand_complex;
pub mod expand_math;
pub mod gpu_to_nvvm;
pub mod loop_to_cpu;
pub mod loop_to_gpu;
pub mod loop_to_host;
mod num;
pub mod prim_to_loop;
pub mod schedule;
mod signature;
pub mod target;
pub mod train_step;

pub use error::Error;
pub use strata_dialects::loops::view::{KernelView, StageView};

use strata_core::pass::PassEntry;

/// All passes of this crate, sorted by flag.
pub const PASSES: &[PassEntry] = &[
    PassEntry::of::<target::attach_target::AttachTarget>(),
    PassEntry::of::<autocast::Autocast>(),
    PassEntry::of::<aten_to_prim::DecomposeAten>(),
    PassEntry::of::<differentiate::Differentiate>(),
    PassEntry::of::<expand_complex::ExpandComplex>(),
    PassEntry::of::<expand_math::ExpandMath>(),
    PassEntry::of::<gpu_to_nvvm::GpuToNvvm>(),
    PassEntry::of::<aten_to_prim::infer_types::InferTypes>(),
    PassEntry::of::<loop_to_cpu::LoopToCpu>(),
    PassEntry::of::<loop_to_gpu::LoopToGpu>(),
    PassEntry::of::<loop_to_host::LoopToHost>(),
    PassEntry::of::<codegen::LowerToLlvm>(),
    PassEntry::of::<prim_to_loop::PrimToLoop>(),
    PassEntry::of::<schedule::cpu::ScheduleCpu>(),
    PassEntry::of::<schedule::gpu::ScheduleGpu>(),
    PassEntry::of::<schedule::split_reductions::SplitReductions>(),
    PassEntry::of::<train_step::TrainStep>(),
];
