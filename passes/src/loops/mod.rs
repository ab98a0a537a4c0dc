//! Passes on kernels.

pub mod copy_ahead;
mod copy_kernel;
pub mod hoist_invariants;
pub mod keep_rows;
pub mod narrow_indices;
pub mod pack_operands;
pub mod pair_halves;
pub mod quad_bytes;
pub mod share_kernels;
pub mod share_reciprocals;
pub mod turn_operands;
mod words;
pub mod write_in_place;
