//! Passes on programs as they were captured.

pub mod specialise_sizes;
pub mod specialise_zero_points;
pub mod split_breaks;
