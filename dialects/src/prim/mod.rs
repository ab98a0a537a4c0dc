//! A small closed set of tensor operators, to which every `aten` op is decomposed.
//!
//! Pointwise operators take operands of one shape; broadcasting, conversion and index wrap-around are ops of their own.
//! Every op is pure. Sizes that a result type does not tell are `index` operands at the end.

pub mod check;
pub mod contract;
pub mod creation;
pub mod fusion;
pub mod index;
pub mod layout;
pub mod library;
pub mod linear_transform;
pub mod order;
pub mod pointwise;
pub mod reduce;
pub mod scalar;
pub mod sizes;
pub mod special;
pub mod types;
pub mod view;

use strata_core::prelude::*;
use strata_core::upstream::arith;

pub use contract::{Conv, Dot, SoftmaxDot};
pub use creation::{Constant, Iota, Item, Rng, Splat};
pub use fusion::{Fusion, Yield};
pub use index::{DynamicSlice, DynamicUpdate, Gather, Scatter};
pub use library::Library;
pub use linear_transform::LinearTransform;
pub use order::Sort;
pub use pointwise::*;
pub use reduce::{ArgReduce, Reduce, Scan, SegmentReduce};
pub use scalar::{Cost, Pointwise};
pub use sizes::ResultSizes;
pub use special::Special;
pub use view::{Broadcast, Concat, Dim, Pad, Reshape, Reverse, Slice, SlidingWindow, Transpose};

/// The dialect.
pub static PRIM: DialectDef = DialectDef {
    name: "prim",
    doc: "A small closed set of pure tensor operators with explicit shapes and element types.",
    ops: || {
        let mut ops = pointwise::definitions();
        ops.extend([
            Constant::DEF,
            Iota::DEF,
            Item::DEF,
            Rng::DEF,
            Splat::DEF,
            Broadcast::DEF,
            Concat::DEF,
            Dim::DEF,
            Pad::DEF,
            Reshape::DEF,
            Reverse::DEF,
            Slice::DEF,
            Transpose::DEF,
            SlidingWindow::DEF,
            ArgReduce::DEF,
            Reduce::DEF,
            Scan::DEF,
            SegmentReduce::DEF,
            Conv::DEF,
            Dot::DEF,
            SoftmaxDot::DEF,
            LinearTransform::DEF,
            DynamicSlice::DEF,
            DynamicUpdate::DEF,
            Gather::DEF,
            Scatter::DEF,
            Sort::DEF,
            Special::DEF,
            Library::DEF,
            Fusion::DEF,
            Yield::DEF,
        ]);
        ops
    },
    dependents: &["arith"],
    constant: Some(constant),
    ..DialectDef::NEW
};

fn constant<'c>(builder: &mut Builder<'c>, value: Attr<'c>, ty: Type<'c>) -> Option<Op<'c>> {
    if let Some(element) = ty.element_type().filter(|_| !ty.is_tensor()) {
        let (ty, attr) = (builder.cx().element(element), value);
        return Some(builder.op(OpSpec { name: arith::Constant::NAME, results: &[ty], attrs: &[("value", attr)], ..OpSpec::default() }));
    }
    value.is_dense().then(|| builder.op(OpSpec { name: Constant::NAME, results: &[ty], attrs: &[("value", value)], ..OpSpec::default() }))
}
