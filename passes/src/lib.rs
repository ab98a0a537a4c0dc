//! Transformations inside one level, and the analyses that they ask.
//!
//! One pass is one file, in the folder of its level; file, type and flag share a name. A pass never lowers: what arrows between levels do is
//! in `lowering/`.

pub mod analysis;
pub mod aten;
pub mod capture;
pub mod host;
pub mod loops;
pub mod prim;
#[cfg(test)]
mod testing;
pub mod verify_level;

use strata_core::pass::PassEntry;

/// All passes of this crate, sorted by flag.
#[rustfmt::skip]
pub const PASSES: &[PassEntry] = &[
    PassEntry::of::<prim::apply_dim_orders::ApplyDimOrders>(),
    PassEntry::of::<prim::channels_last::ChannelsLast>(),
    PassEntry::of::<loops::copy_ahead::CopyAhead>(),
    PassEntry::of::<prim::fold_channels::FoldChannels>(),
    PassEntry::of::<prim::fold_scales::FoldScales>(),
    PassEntry::of::<aten::functionalise::Functionalise>(),
    PassEntry::of::<prim::fuse_attention::FuseAttention>(),
    PassEntry::of::<prim::fuse_elementwise::FuseElementwise>(),
    PassEntry::of::<prim::fuse_reductions::FuseReductions>(),
    PassEntry::of::<prim::guard_indices::GuardIndices>(),
    PassEntry::of::<prim::guard_sizes::GuardSizes>(),
    PassEntry::of::<loops::hoist_invariants::HoistInvariants>(),
    PassEntry::of::<prim::hoist_weights::HoistWeights>(),
    PassEntry::of::<prim::inline_layers::InlineLayers>(),
    PassEntry::of::<prim::integer_products::IntegerProducts>(),
    PassEntry::of::<loops::keep_rows::KeepRows>(),
    PassEntry::of::<host::mark_launches::MarkLaunches>(),
    PassEntry::of::<prim::narrow_dots::NarrowDots>(),
    PassEntry::of::<loops::narrow_indices::NarrowIndices>(),
    PassEntry::of::<aten::outline_regions::OutlineRegions>(),
    PassEntry::of::<loops::pack_operands::PackOperands>(),
    PassEntry::of::<loops::pair_halves::PairHalves>(),
    PassEntry::of::<loops::quad_bytes::QuadBytes>(),
    PassEntry::of::<host::plan_memory::PlanMemory>(),
    PassEntry::of::<prim::positions_by_scan::PositionsByScan>(),
    PassEntry::of::<prim::rematerialise::Rematerialise>(),
    PassEntry::of::<loops::share_kernels::ShareKernels>(),
    PassEntry::of::<loops::share_reciprocals::ShareReciprocals>(),
    PassEntry::of::<prim::simplify::algebra::SimplifyAlgebra>(),
    PassEntry::of::<prim::simplify::constants::SimplifyConstants>(),
    PassEntry::of::<prim::simplify::converts::SimplifyConverts>(),
    PassEntry::of::<prim::simplify::sizes::SimplifySizes>(),
    PassEntry::of::<prim::simplify::sums::SimplifySums>(),
    PassEntry::of::<prim::simplify::views::SimplifyViews>(),
    PassEntry::of::<prim::sort_by_ranks::SortByRanks>(),
    PassEntry::of::<capture::specialise_sizes::SpecialiseSizes>(),
    PassEntry::of::<capture::specialise_zero_points::SpecialiseZeroPoints>(),
    PassEntry::of::<capture::split_breaks::SplitBreaks>(),
    PassEntry::of::<prim::split_joint::SplitJoint>(),
    PassEntry::of::<prim::split_phases::SplitPhases>(),
    PassEntry::of::<prim::split_scans::SplitScans>(),
    PassEntry::of::<verify_level::VerifyLevel>(),
    PassEntry::of::<loops::turn_operands::TurnOperands>(),
    PassEntry::of::<prim::winograd::Winograd>(),
    PassEntry::of::<loops::write_in_place::WriteInPlace>(),
];
