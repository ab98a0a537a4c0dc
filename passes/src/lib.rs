//! Transformations inside one level, and the analyses that they ask.
//!
//! One pass is one file; file, type and flag share a name. A pass never lowers: what arrows between levels do is in `lowering/`.

pub mod analysis;
pub mod fuse_elementwise;
pub mod fuse_reductions;
pub mod fusion;
#[cfg(test)]
mod testing;
