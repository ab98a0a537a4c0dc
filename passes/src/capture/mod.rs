//! Passes on programs as they were captured.

pub mod specialise_sizes;
pub mod split_breaks;
