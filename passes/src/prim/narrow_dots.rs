//! `--narrow-dots`: products of converted halves as products of halves.
//!
//! Exactly when both operands of a `dot` with a result in `f32` are `bf16` or both are `f16`, converted to `f32` and then at most reshaped and
//! transposed: the dot takes the halves themselves, with the same views. It multiplies and sums in `f32` either way, so values stay as they
//! are; the operands take half the memory, and machines with instructions for products of halves can use them. Weights are then kept as
//! halves, too.
//!
//! ```mlir
//! func.func @f(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>) -> tensor<4x16xf32> {
//!   %0 = prim.convert %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
//!   %1 = prim.convert %w : (tensor<16x8xbf16>) -> tensor<16x8xf32>
//!   %2 = prim.dot %0, %1 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
//!   return %2 : tensor<4x16xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4x8xbf16>, %w: tensor<16x8xbf16>) -> tensor<4x16xf32> {
//!   %0 = prim.dot %x, %w {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xf32>
//!   return %0 : tensor<4x16xf32>
//! }
//! ```

use strata_core::ir::{ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{Matched, NoMatch, Patterns, Rewriter, apply_in_order};
use strata_dialects::prim;

use crate::prim::again::again;

/// Multiplies halves where they are converted only to be multiplied.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct NarrowDots {
    /// Dots that take halves.
    dots: Counter,
}

impl Pass for NarrowDots {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut patterns = Patterns::<()>::new(op.cx());
        patterns.remarks(cx.remarks()).on::<prim::Dot>("dot-of-halves", 1, |dot, rewriter| take_halves(dot.op(), rewriter));
        self.dots.add(apply_in_order(op, patterns));
        Ok(())
    }
}

/// dot(convert(x), convert(w)) = dot(x, w), also through reshapes and transposes. Conversions that nothing else reads go with the driver.
fn take_halves<'c>(dot: Op<'c>, rewriter: &mut Rewriter<'c>) -> Matched {
    let operands = [Half::of(dot.operand(0))?, Half::of(dot.operand(1))?];
    if operands[0].from.ty().element_type() != operands[1].from.ty().element_type() {
        return Err("one operand is bf16, the other f16".into());
    }
    rewriter.go_before(dot);
    let operands = operands.map(|half| half.viewed(rewriter));
    rewriter.set_operands(dot, &operands);
    Ok(())
}

/// An operand that halves are converted to.
struct Half<'c> {
    from: Value<'c>,
    /// The views between the conversion and the operand, the last one first.
    views: Vec<Op<'c>>,
}

impl<'c> Half<'c> {
    /// What is converted to `f32` here, if it is halves.
    fn of(value: Value<'c>) -> Result<Self, NoMatch> {
        let (mut value, mut views) = (value, Vec::new());
        while let Some(view) = value.defining_op().filter(|op| op.isa::<prim::Reshape>() || op.isa::<prim::Transpose>()) {
            views.push(view);
            value = view.operand(0);
        }
        let convert = value.defining_op().filter(|op| op.isa::<prim::Convert>() && value.ty().element_type() == Some(ElementType::F32));
        let from = convert.ok_or("an operand is not converted to f32")?.operand(0);
        let halves = matches!(from.ty().element_type(), Some(ElementType::BF16 | ElementType::F16));
        if halves { Ok(Self { from, views }) } else { Err("an operand is converted from something else than halves".into()) }
    }

    /// The halves as the operand looks at them.
    fn viewed(self, rewriter: &mut Rewriter<'c>) -> Value<'c> {
        let element = self.from.ty().element();
        self.views.into_iter().rev().fold(self.from, |value, view| {
            let operands: Vec<_> = std::iter::once(value).chain(view.operands().into_iter().skip(1)).collect();
            again(rewriter, view, &operands, view.result(0).ty().with_element(element), &[])
        })
    }
}
