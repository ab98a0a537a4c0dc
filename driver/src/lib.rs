//! From a program to an artefact: contexts, levels, pipelines. No dialect logic.

use std::ffi::CStr;

mod artefact;
mod autotune;
mod bisect;
mod check_gradients;
mod check_semantics;
mod compare;
mod compile;
mod coverage;
mod database;
mod device;
mod emulate;
mod error;
mod graph;
mod held;
pub mod incremental;
mod interpret;
mod job;
mod kernels;
mod layers;
mod levels;
mod operators;
mod opt_args;
mod opt_input;
mod options;
mod pass_list;
mod pipelines;
mod ptx_kernels;
mod record;
mod reduce;
mod registry;
mod run_levels;
mod sample_inputs;
mod source_file;
mod tensors;
pub mod train;
mod units;
mod warm_up;
mod widen;

/// The hash of the compiler's sources: results of another build are not this one's.
pub const BUILD: &CStr = match CStr::from_bytes_with_nul(concat!(env!("STRATA_BUILD"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("hexadecimal digits have no zero byte among them"),
};

pub use artefact::{dtype, element_type};
pub use bisect::{Bisection, bisect};
pub use check_gradients::{Compared, GradientReport, check_gradients};
pub use check_semantics::{Change, CheckError, CheckOptions, Guilty, Report, check_semantics};
pub use compare::Difference;
pub use compile::{compile, compile_explained, describe_target, emit, explain_slow, gpu_named, lower, ptx};

pub use coverage::{Coverage, coverage_of, coverage_table, op_coverage};
pub use emulate::open as emulated;
pub use error::Error;
pub use graph::dot;
pub use held::Held;
pub use interpret::interpret;
pub use job::{JobError, check_file, passes_between};
pub use levels::{Level, UnknownLevel};
pub use opt_args::{ArgsError, Job, OPTIONS, Samples, Task, expand, job};
pub use opt_input::{Exported, opt_input};
pub use options::{Autocast, BUDGET, Dynamic, Gradient, Half, Mode, Numerics, Options, Order, Target};
pub use pass_list::{Nest, PassListError, split as split_pipeline};
pub use pipelines::{Pipeline, all_pipelines, optional_passes, pipelines};
pub use record::record;
pub use reduce::{ReduceError, Reduced, reduce};
pub use registry::{registry, standard};
pub use source_file::SourceFile;
pub use strata_frontend::onnx::supported as onnx_operators;
