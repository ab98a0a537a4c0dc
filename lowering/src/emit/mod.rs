//! Code of kernels, whatever runs it: loops, accesses, bodies and reductions of the stages as their schedules say.
//!
//! `loop_to_cpu` and `loop_to_gpu` write functions around it. What is special about a kernel is said in its stages and its schedule;
//! nothing here knows an operator of a level above, or which of the two asks.

pub(crate) mod access;
mod arg_reduce;
pub(crate) mod attention;
mod compared;
pub(crate) mod complex_lanes;
mod computed;
pub(crate) mod cooperative_block;
pub(crate) mod distribute;
mod dot;
pub(crate) mod emitter;
mod error;
mod fission;
pub(crate) mod interleave;
pub(crate) mod lanes;
pub(crate) mod matrix_units;
pub(crate) mod memory;
pub(crate) mod near;
pub(crate) mod nest;
pub(crate) mod non_temporal;
mod outer_reduction;
pub(crate) mod peel;
mod prefetch;
pub(crate) mod reducer;
pub(crate) mod scan;
mod scratch;
pub(crate) mod shuffle;
mod spread;
pub(crate) mod stages;
mod superword;
mod tiles;
mod transpose;
pub(crate) mod wide;

pub use cooperative_block::CooperativeBlock;
pub use emitter::INDEX_OUT_OF_BOUNDS;
pub use error::Error;
pub use scan::Scan;
pub use wide::WIDE;
