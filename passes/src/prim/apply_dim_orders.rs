//! `--apply-dim-orders`: tensors of the call in the order in which they lie in memory.
//!
//! Exactly when an argument or result of a function has a `capture.dim_order`: a `capture.permute` at the edge of the program
//! stands between it and the tensor that lies in memory, and a `prim.transpose` between that and the program. The transposes are views
//! like any others: they meet those of the program, or become part of the kernels that read the argument or compute the result.
//! Nothing is copied at the edge, and the function keeps its types.
//!
//! An order that does not name each dim once is refused, and one of a weight: weights are row-major.
//!
//! ```mlir
//! func.func @main(%x: tensor<4x8xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "input", capture.name = "x"})
//!     -> (tensor<4x8xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = prim.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!   return %0 : tensor<4x8xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<4x8xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "input", capture.name = "x"})
//!     -> (tensor<4x8xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = capture.permute %x {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
//!   %1 = prim.transpose %0 {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
//!   %2 = prim.neg %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
//!   %3 = prim.transpose %2 {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
//!   %4 = capture.permute %3 {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
//!   return %4 : tensor<4x8xf32>
//! }
//! ```

use strata_core::ir::{Attr, Builder, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::func;
use strata_dialects::capture::{DIM_ORDER, Permute, dim_order, inverse};
use strata_dialects::{capture, prim};

use crate::prim::channels_last::order::{reordered_type, spell, transpose};

/// Brings the tensors of the call into the order in which they lie in memory.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("capture", "prim"))]
pub struct ApplyDimOrders {
    /// Arguments and results that lie in an order of their own.
    tensors: Counter,
}

/// Ops that ask an argument for its sizes only, and the one that reads it as it lies.
const ASKS: [&str; 4] = [capture::BindDims::NAME, capture::Dim::NAME, Permute::NAME, prim::Dim::NAME];

impl Pass for ApplyDimOrders {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let Some(block) = op.regions().first().and_then(|region| region.entry()) else { return Ok(()) };
        for argument in block.args() {
            if let Some(order) = order(op, "arg_attrs", argument.index(), argument.ty())? {
                self.tensors.add(usize::from(apply_to_argument(argument, &order)));
            }
        }
        let Some(end) = block.terminator().filter(|end| end.isa::<func::Return>()) else { return Ok(()) };
        for (at, value) in end.operands().into_iter().enumerate() {
            if let Some(order) = order(op, "res_attrs", at, value.ty())? {
                self.tensors.add(usize::from(apply_to_result(end, at, &order)));
            }
        }
        Ok(())
    }
}

/// The order of an argument or result that is not row-major.
fn order<'c>(function: Op<'c>, list: &str, at: usize, ty: Type<'c>) -> Result<Option<Vec<usize>>, PassError> {
    let dict = function.attr(list).and_then(Attr::as_array).and_then(|dicts| dicts.get(at).copied());
    let Some((dict, attr)) = dict.and_then(|dict| Some((dict, dict.entry(DIM_ORDER)?))) else { return Ok(None) };
    let refuse = |reason: &str| Err(PassError::at(function, &format!("`{DIM_ORDER} = {attr}` of {ty} ({list}, {at}): {reason}")));
    let mut dims = attr.as_i64s().unwrap_or_default();
    dims.sort_unstable();
    if !ty.is_tensor() || !dims.iter().copied().eq(0..ty.rank() as i64) {
        return refuse("an order names each dim of a tensor once");
    }
    if !matches!(dict.entry(capture::KIND).and_then(Attr::as_str).as_deref(), None | Some("input" | "output" | "mutation")) {
        return refuse("weights are row-major; give this one a copy in another order in the program");
    }
    Ok(dim_order(function, list, at))
}

/// All that reads the elements of the argument reads them as they lie; says whether anything was to be done.
fn apply_to_argument<'c>(argument: Value<'c>, order: &[usize]) -> bool {
    let mut readers = argument.uses();
    readers.retain(|user| !ASKS.contains(&user.op.name()));
    let Some(block) = argument.owner_block().filter(|_| !readers.is_empty()) else { return false };
    let mut b = Builder::at_start(block, argument.location());
    let memory = permute(&mut b, argument, order);
    let logical = transpose(&mut b, memory, &inverse(order));
    for user in readers {
        user.op.set_operand(user.index, logical);
    }
    true
}

/// The result is computed as it is to lie; says whether anything was to be done.
fn apply_to_result(end: Op<'_>, at: usize, order: &[usize]) -> bool {
    let value = end.operand(at);
    if value.defining_op().is_some_and(|op| op.is(Permute::NAME)) {
        return false;
    }
    let mut b = Builder::before(end);
    let memory = transpose(&mut b, value, order);
    let logical = permute(&mut b, memory, &inverse(order));
    end.set_operand(at, logical);
    true
}

/// The same memory with its dims in another order.
fn permute<'c>(b: &mut Builder<'c>, value: Value<'c>, perm: &[usize]) -> Value<'c> {
    let attr = b.cx().i64s_attr(&spell(perm));
    b.value(Permute::NAME, &[value], reordered_type(value.ty(), perm), &[("perm", attr)])
}
