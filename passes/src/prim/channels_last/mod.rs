//! `--channels-last`: convolutions read channels innermost, weights in panels, and what follows keeps that order.
//!
//! Exactly when: a `conv` in the plain order with at least `FEATURES` known features and a known window becomes one on
//! `[batch, space.., channels]`. Padding and the gaps of a transposed convolution are written out, so that its kernel tests nothing, but for
//! the padding of a depthwise one, whose loops treat borders apart;
//! weights are brought into panels of features: `[features / panel, window.., channels, panel]`.
//! Few channels of a value in the order of before stay outside of the space: `n c space`, weights `c space` too. A convolution of
//! them, or of one channel for each group of features, whose result is returned, and read by no other, stays as it is: to transpose the result
//! costs more than it does itself. Between an input and a result in the plain order so does a depthwise one, and one whose window is one
//! element. The padding of what stays is written out as well.
//! Where the CPU multiplies `bf16` in pairs, a convolution of `bf16` in `f32` takes the halves themselves, as `--narrow-dots` lets products do.
//! The transpose of the result then sinks through pointwise ops, broadcasts, pads, windows, reductions, slices, reversals,
//! gathers, scatters, concatenations, transposes and reshapes that keep groups of dims together, until it meets the next convolution or an op
//! that wants the order of before. An op of several operands keeps the order only if all have it or its result reaches a convolution.
//! So does the transpose of an input that lies in an order of its own (`capture.permute`).
//! A pooling of an image with short rows takes this order on its own, since lanes along rows would be empty.
//! A reduction over space and the few channels of a group becomes one over space, of whole rows of channels, and one of what is left.
//!
//! Nothing is computed differently: each sum of a convolution has the same products. Weights' transposes stand on weights alone.
//!
//! ```mlir
//! func.func @f(%x: tensor<2x8x6x6xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<2x8xf32> {
//!   %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x6x6xf32>
//!   %1 = prim.reduce %0 {dims = array<i64: 2, 3>, kind = "max"} : (tensor<2x8x6x6xf32>) -> tensor<2x8xf32>
//!   return %1 : tensor<2x8xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<2x8x6x6xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<2x8xf32> {
//!   %0 = prim.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x6x6xf32>) -> tensor<2x6x6x8xf32>
//!   %1 = prim.transpose %w {perm = array<i64: 2, 3, 1, 0>} : (tensor<8x8x1x1xf32>) -> tensor<1x1x8x8xf32>
//!   %2 = prim.conv %0, %1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,01co->n01o"} : (tensor<2x6x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x6x6x8xf32>
//!   %3 = prim.reduce %2 {dims = array<i64: 1, 2>, kind = "max"} : (tensor<2x6x6x8xf32>) -> tensor<2x8xf32>
//!   return %3 : tensor<2x8xf32>
//! }
//! ```

mod conv;
pub(crate) mod order;
mod plain;
mod pool;
mod reduce;
mod sink;

use order::{Ordered, Orders, inverse};
use std::collections::HashSet;
use strata_core::ir::{Block, Op, Use, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_dialects::capture::Permute;
use strata_dialects::prim;
use strata_dialects::target::Target;

/// Fewer features than this leave most lanes empty: such a convolution stays as it is. Fewer channels stay where they are.
const FEATURES: i64 = 8;

/// Brings convolutions and what follows them into the order channels last.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct ChannelsLast {
    /// Convolutions that changed.
    convolutions: Counter,
    /// Other ops that kept the order.
    followers: Counter,
}

impl Pass for ChannelsLast {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let (convolutions, followers) = run(op, &Target::of(op)?, cx.remarks(), &mut cx.rewriter());
        self.convolutions.add(convolutions);
        self.followers.add(followers);
        Ok(())
    }
}

/// Runs the pass on a function; gives the number of convolutions and of other ops that changed.
fn run<'c>(function: Op<'c>, target: &Target, remarks: Remarks, rewriter: &mut Rewriter<'c>) -> (usize, usize) {
    let mut count = (0, 0);
    for block in function.regions().into_iter().flat_map(|region| region.blocks()) {
        let found = run_block(block, target, remarks, rewriter);
        count = (count.0 + found.0, count.1 + found.1);
    }
    count
}

fn run_block<'c>(block: Block<'c>, target: &Target, remarks: Remarks, rewriter: &mut Rewriter<'c>) -> (usize, usize) {
    let mut orders = Orders::default();
    let mut count = (0, 0);
    let ways = Ways::of(block);
    for op in block.ops() {
        if !op.regions().is_empty() {
            let inner = run(op, target, remarks, rewriter);
            count = (count.0 + inner.0, count.1 + inner.1);
            continue;
        }
        if orders.resize(rewriter, op) {
            continue;
        }
        rewriter.go_before(op);
        let (wanted, returned) = (ways.wanted.contains(&op), ways.returned.contains(&op));
        let comes_over = op.operands().first().is_some_and(|&x| orders.of(x).is_none());
        let check = || conv::check(op, comes_over, returned && !wanted, target);
        let worth = conv::is_plain(op).then(|| remarks.found(op, check())).flatten();
        if let Some(found) = worth.and_then(|()| conv::rewrite(rewriter, &mut orders, op, target)) {
            orders.replace(rewriter, op, found);
            count.0 += 1;
        } else if let Some(found) = plain::rewrite(rewriter, op) {
            orders.replace(rewriter, op, found);
        } else if let Some(found) = pool::rewrite(rewriter, &mut orders, op, target) {
            orders.replace(rewriter, op, found);
            count.1 += 1;
        } else if let Some(found) = as_it_lies(op).or_else(|| sink::rewrite(rewriter, &mut orders, op, wanted)) {
            orders.replace(rewriter, op, found);
            count.1 += 1;
        }
    }
    orders.erase_unused(rewriter);
    count
}

/// Where the results of ops lead to.
struct Ways<'c> {
    /// To what wants the new order: a convolution, or a tensor of the call that lies in an order of its own.
    wanted: HashSet<Op<'c>>,
    /// Out of the block, by no sum over dims, which could be taken in any order.
    returned: HashSet<Op<'c>>,
}

impl<'c> Ways<'c> {
    fn of(block: Block<'c>) -> Ways<'c> {
        let elsewhere = |user: Op<'c>| user.block() != Some(block);
        let wants = |user: Op<'c>| conv::is_plain(user) || user.isa::<Permute>() || elsewhere(user);
        let reduces = |user: Op<'c>| user.isa::<prim::Reduce>() || user.isa::<prim::ArgReduce>();
        let mut ways = Ways { wanted: HashSet::new(), returned: HashSet::new() };
        for op in block.ops().into_iter().rev() {
            for Use { op: user, .. } in op.results().into_iter().flat_map(Value::uses) {
                if wants(user) || ways.wanted.contains(&user) {
                    ways.wanted.insert(op);
                }
                if elsewhere(user) || Some(user) == block.terminator() || ways.returned.contains(&user) && !reduces(user) {
                    ways.returned.insert(op);
                }
            }
        }
        ways
    }
}

/// The tensor of the call that an op transposes to the order in which the program has it.
fn as_it_lies<'c>(op: Op<'c>) -> Option<Ordered<'c>> {
    let value = op.operands().first().copied().filter(|_| op.isa::<prim::Transpose>())?;
    value.defining_op().filter(|from| from.isa::<Permute>())?;
    let perm: Vec<usize> = op.ints("perm")?.into_iter().map(|dim| dim as usize).collect();
    Some(Ordered { value, perm: inverse(&perm) })
}
