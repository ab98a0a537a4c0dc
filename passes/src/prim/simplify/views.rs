//! `--simplify-views`: views that do nothing, views of views, and dimensions of size 1 that are in the way.
//!
//! Exactly when the comment of a rule says. Views are free or nearly so; what this pass is for is fusion: a kernel reads through any
//! chain of views, but dimensions of size 1 that come and go (as with `keepdim`) hide that two reductions have the same shape.
//! Reshapes that split or merge dimensions stand outside of kernels: they move up to arguments and down behind what is computed.
//! Heads of queries that share keys are rows of one product, so that the keys are read once.
//! A `reshape` is preferred to any other view that moves nothing, since it costs nothing between kernels.
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf32>) -> tensor<4x8xf32> {
//!   %0 = prim.reshape %x : (tensor<4xf32>) -> tensor<4x1xf32>
//!   %1 = prim.neg %0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
//!   %2 = prim.broadcast %1 {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
//!   return %2 : tensor<4x8xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf32>) -> tensor<4x8xf32> {
//!   %0 = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = prim.broadcast %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
//!   return %1 : tensor<4x8xf32>
//! }
//! ```

use super::rewriter::{BuildSized, Simplified, SizedPatterns, SizedRewriter, same_type, simplification};
use super::views_of_dots as dots;
use super::views_of_views as pairs;
use strata_core::ir::{ElementType, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::prim;

simplification! {
    /// Drops views that do nothing, joins views of views, and drops dimensions of size 1 that are in the way.
    pub struct SimplifyViews: dependents("prim");
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Reshape>("same-shape-reshape", 1, same_shape);
    patterns.identity::<prim::Broadcast>("same-shape-broadcast", 1, broadcast_of_nothing);
    patterns.identity::<prim::Transpose>("transpose-in-place", 1, transpose_in_place);
    patterns.identity::<prim::Slice>("slice-of-all", 1, slice_of_all);
    patterns.identity::<prim::Pad>("pad-by-nothing", 1, pad_by_nothing);
    patterns.identity::<prim::Reverse>("reverse-of-nothing", 1, reverse_of_nothing);
    patterns.identity::<prim::Concat>("concat-of-one", 1, concat_of_one);
    patterns.identity::<prim::Reduce>("reduce-of-nothing", 1, reduce_of_nothing);
    patterns.identity::<prim::Reshape>("reshape-of-reshape", 1, pairs::reshape_of_reshape);
    patterns.identity::<prim::Transpose>("transpose-of-transpose", 1, pairs::transpose_of_transpose);
    patterns.identity::<prim::Transpose>("transpose-of-reshape", 1, pairs::transpose_of_reshape);
    patterns.identity::<prim::Transpose>("transpose-of-reverse", 1, pairs::transpose_of_reverse);
    patterns.identity::<prim::Reshape>("reshape-of-reverse", 1, pairs::reshape_of_reverse);
    patterns.identity::<prim::Broadcast>("broadcast-of-broadcast", 1, pairs::broadcast_of_broadcast);
    patterns.identity::<prim::Broadcast>("broadcast-of-transpose", 1, pairs::broadcast_of_transpose);
    patterns.identity::<prim::Broadcast>("broadcast-of-reshape", 1, pairs::broadcast_of_reshape);
    patterns.identity::<prim::Slice>("slice-of-slice", 1, pairs::slice_of_slice);
    patterns.identity::<prim::Slice>("slice-of-concat", 1, pairs::slice_of_concat);
    patterns.identity::<prim::Reverse>("reverse-of-reverse", 1, pairs::reverse_of_reverse);
    patterns.identity::<prim::Library>("library-of-transpose", 1, pairs::library_of_transpose);
    patterns.identity::<prim::Library>("transform-of-transpose", 1, pairs::transform_of_transpose);
    patterns.identity::<prim::Transpose>("transpose-of-reduction", 1, pairs::transpose_of_reduction);
    patterns.identity::<prim::Transpose>("transpose-of-transform", 1, pairs::transpose_of_transform);
    patterns.identity::<prim::Dot>("dot-of-transpose", 1, dots::dot_of_transpose);
    patterns.identity::<prim::Dot>("dot-of-repeated", 1, dots::dot_of_repeated);
    patterns.identity::<prim::Reshape>("reshape-of-dot", 1, dots::reshape_of_dot);
    patterns.identity::<prim::Reshape>("reshape-of-unary", 1, pairs::reshape_of_unary);
    patterns.identity_of_any("pointwise-of-reshape", 1, pairs::pointwise_of_reshape);
    patterns.identity_of_any("unary-of-reshape", 1, pairs::unary_of_reshape);
}

/// Whether operand 0 and the result have one type and are shown to have one shape.
fn keeps_shape<'c>(rewriter: &mut SizedRewriter<'c>, op: Op<'c>) -> bool {
    op.operand(0).ty() == op.result(0).ty() && rewriter.analysis().same_shape(op.operand(0), op.result(0))
}

/// reshape(x) to the shape of x = x.
fn same_shape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if keeps_shape(rewriter, op) { Ok(op.operand(0)) } else { Err("the shapes are not shown to be equal".into()) }
}

/// broadcast(x) that repeats nothing is x, or a reshape of x.
fn broadcast_of_nothing<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    let map = op.ints("dims").unwrap_or_default();
    let (sizes, result) = (rewriter.analysis().sizes(x), rewriter.analysis().sizes(op.result(0)));
    if !map.is_sorted() {
        return Err("dimensions change their order".into());
    }
    let mut from = vec![None; result.len()];
    for (dim, &to) in map.iter().enumerate() {
        let to = usize::try_from(to).map_err(|_| NoMatch::new("a negative dimension"))?;
        if to >= result.len() || !rewriter.analysis().equal(&sizes[dim], &result[to]) {
            return Err("elements are repeated".into());
        }
        from[to] = Some(dim);
    }
    if from.iter().zip(&result).any(|(from, size)| from.is_none() && size.as_constant() != Some(1)) {
        return Err("elements are repeated".into());
    }
    if keeps_shape(rewriter, op) {
        return Ok(x);
    }
    Ok(rewriter.reshape(x, op.result(0).ty(), |dim| (x, from[dim].unwrap_or(0))))
}

/// transpose(x) that keeps the order of all dimensions but those of size 1 is x, or a reshape of x.
fn transpose_in_place<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    let perm: Vec<usize> = op.ints("perm").unwrap_or_default().into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    let sizes = rewriter.analysis().sizes(x);
    let moving: Vec<usize> = perm.iter().copied().filter(|&dim| sizes.get(dim).is_some_and(|size| size.as_constant() != Some(1))).collect();
    if !moving.is_sorted() {
        return Err("elements change their order".into());
    }
    if perm.is_sorted() {
        return same_type(op, x);
    }
    Ok(rewriter.reshape(x, op.result(0).ty(), |dim| (x, perm[dim])))
}

/// slice(x) from the start to the end in steps of 1 = x.
fn slice_of_all<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let all = |name: &str, value: i64| op.ints(name).is_some_and(|entries| entries.iter().all(|&entry| entry == value));
    if all("offsets", 0) && all("strides", 1) && keeps_shape(rewriter, op) {
        return Ok(op.operand(0));
    }
    Err("elements are left out".into())
}

/// pad(x) by 0 everywhere = x.
fn pad_by_nothing<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let none = |name: &str| op.ints(name).is_some_and(|entries| entries.iter().all(|&entry| entry == 0));
    if none("low") && none("high") && none("interior") { same_type(op, op.operand(0)) } else { Err("something is padded".into()) }
}

/// reverse(x) of dimensions of size 1 only = x.
fn reverse_of_nothing<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let shape = op.operand(0).ty().shape();
    let one = |dim: i64| usize::try_from(dim).is_ok_and(|dim| shape.get(dim) == Some(&1));
    if op.ints("dims").unwrap_or_default().into_iter().all(one) { same_type(op, op.operand(0)) } else { Err("elements move".into()) }
}

/// concat(x) = x.
fn concat_of_one<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if op.num_operands() == 1 { same_type(op, op.operand(0)) } else { Err("there are several parts".into()) }
}

/// reduce(x) along no dimension, or along dimensions of size 1, is x or a reshape of x.
/// Float sums stay: they start at 0, and 0 + -0.0 is 0.
fn reduce_of_nothing<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    let dims: Vec<usize> = op.ints("dims").unwrap_or_default().into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    let sizes = rewriter.analysis().sizes(x);
    if dims.iter().any(|&dim| sizes.get(dim).is_none_or(|size| size.as_constant() != Some(1))) {
        return Err("elements are combined".into());
    }
    let whole = x.ty().element_type().is_some_and(|element| element.is_integer() || element == ElementType::Bool);
    if !whole && op.str("kind").as_deref() == Some("sum") {
        return Err("a sum starts at 0, which is not the neutral element of -0.0".into());
    }
    if dims.is_empty() {
        return same_type(op, x);
    }
    let kept: Vec<usize> = (0..sizes.len()).filter(|dim| !dims.contains(dim)).collect();
    Ok(rewriter.reshape(x, op.result(0).ty(), |dim| (x, kept[dim])))
}
