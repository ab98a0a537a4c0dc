//! Transformations inside one level, and the analyses that they ask.
//!
//! One pass is one file; file, type and flag share a name. A pass never lowers: what arrows between levels do is in `lowering/`.

pub mod analysis;
pub mod apply_dim_orders;
pub mod channels_last;
pub mod fold_scales;
pub mod functionalise;
pub mod fuse_attention;
pub mod fuse_elementwise;
pub mod fuse_reductions;
pub mod fusion;
pub mod hoist_weights;
pub mod inline_layers;
pub mod mark_launches;
pub mod narrow_dots;
pub mod outline_regions;
pub mod plan_memory;
pub mod simplify;
pub mod specialise_sizes;
pub mod split_breaks;
pub mod split_phases;
#[cfg(test)]
mod testing;
pub mod verify_level;
pub mod winograd;

use strata_core::pass::PassEntry;

/// All passes of this crate, sorted by flag.
#[rustfmt::skip]
pub const PASSES: &[PassEntry] = &[
    PassEntry::of::<apply_dim_orders::ApplyDimOrders>(),
    PassEntry::of::<channels_last::ChannelsLast>(),
    PassEntry::of::<fold_scales::FoldScales>(),
    PassEntry::of::<functionalise::Functionalise>(),
    PassEntry::of::<fuse_attention::FuseAttention>(),
    PassEntry::of::<fuse_elementwise::FuseElementwise>(),
    PassEntry::of::<fuse_reductions::FuseReductions>(),
    PassEntry::of::<hoist_weights::HoistWeights>(),
    PassEntry::of::<inline_layers::InlineLayers>(),
    PassEntry::of::<mark_launches::MarkLaunches>(),
    PassEntry::of::<narrow_dots::NarrowDots>(),
    PassEntry::of::<outline_regions::OutlineRegions>(),
    PassEntry::of::<plan_memory::PlanMemory>(),
    PassEntry::of::<simplify::algebra::SimplifyAlgebra>(),
    PassEntry::of::<simplify::constants::SimplifyConstants>(),
    PassEntry::of::<simplify::converts::SimplifyConverts>(),
    PassEntry::of::<simplify::sizes::SimplifySizes>(),
    PassEntry::of::<simplify::sums::SimplifySums>(),
    PassEntry::of::<simplify::views::SimplifyViews>(),
    PassEntry::of::<specialise_sizes::SpecialiseSizes>(),
    PassEntry::of::<split_breaks::SplitBreaks>(),
    PassEntry::of::<split_phases::SplitPhases>(),
    PassEntry::of::<verify_level::VerifyLevel>(),
    PassEntry::of::<winograd::Winograd>(),
];
