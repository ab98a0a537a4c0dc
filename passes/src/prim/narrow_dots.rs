//! `--narrow-dots`: products of converted halves as products of halves.
//!
//! Exactly when both operands of a `dot` with a result in `f32` are `bf16` or both are `f16`, converted to `f32`: the dot takes the halves
//! themselves. It multiplies and sums in `f32` either way, so values stay as they are; the operands take half the memory, and machines
//! with instructions for products of halves can use them. Weights are then kept as halves, too.
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
use strata_dialects::prim;

/// Multiplies halves where they are converted only to be multiplied.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct NarrowDots {
    /// Dots that take halves.
    dots: Counter,
}

impl Pass for NarrowDots {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        for dot in op.find_all(prim::Dot::NAME) {
            let [Some(lhs), Some(rhs)] = [0, 1].map(|at| half(dot.operand(at))) else { continue };
            if lhs.ty().element_type() != rhs.ty().element_type() {
                continue;
            }
            let mut converts = dot.operands();
            // One conversion may be both.
            converts.dedup();
            dot.set_operands(&[lhs, rhs]);
            converts.into_iter().filter(|value| value.is_unused()).filter_map(Value::defining_op).for_each(Op::erase);
            self.dots.add(1);
        }
        Ok(())
    }
}

/// What is converted to `f32` here, if it is halves.
fn half(value: Value<'_>) -> Option<Value<'_>> {
    let convert = value.defining_op().filter(|op| op.isa::<prim::Convert>() && value.ty().element_type() == Some(ElementType::F32))?;
    let from = convert.operand(0);
    matches!(from.ty().element_type()?, ElementType::BF16 | ElementType::F16).then_some(from)
}
