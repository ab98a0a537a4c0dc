//! Passes on tensor operators and their fusions.

mod again;
pub mod apply_dim_orders;
pub mod channels_last;
pub mod fold_channels;
pub mod fold_scales;
pub mod fuse_attention;
pub mod fuse_elementwise;
pub mod fuse_reductions;
pub mod fusion;
pub mod guard_indices;
pub mod guard_sizes;
mod halves;
pub mod hoist_weights;
pub mod inline_layers;
pub mod integer_products;
pub mod narrow_dots;
pub mod positions_by_scan;
pub mod rematerialise;
pub mod simplify;
pub mod sort_by_ranks;
pub mod split_joint;
pub mod split_phases;
pub mod split_scans;
pub mod winograd;
mod zero;
