//! `--positions-by-scan`: where a mask holds, as ordinary arithmetic, which the threads of a device share.
//!
//! The running sum of the mask counts the true elements: that is the place of each, where its position goes. Others go behind the end.
//!
//! ```mlir
//! %positions = prim.library %mask, %k {function = "true_positions"} : (tensor<8xi1>, index) -> tensor<?xi64>
//! // becomes
//! %places = prim.scan %mask {dim = 0 : i64, kind = "sum"} : tensor<8xi64>
//! %targets = ... "the place before it where the mask holds, else %k" : tensor<8xi64>
//! %positions = prim.scatter %none, %iota, %targets {dims = array<i64: 0>, kind = "set"} : ..
//! ```
//!
//! Refused is what has a batch. On the CPU the library is sooner: it writes no places.

use strata_core::ir::{ElementType, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_dialects::prim;
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};

/// Finds true elements by a running sum.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith"))]
pub struct PositionsByScan {
    /// Calls of the library that were replaced.
    masks: Counter,
}

/// The function of the library.
const POSITIONS: &str = "true_positions";

impl Pass for PositionsByScan {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let calls = op.find_all(prim::Library::NAME).into_iter().filter(|call| call.str("function").as_deref() == Some(POSITIONS));
        for call in calls.filter(|call| call.operand(0).ty().rank() == 1).collect::<Vec<_>>() {
            let Some(block) = call.block() else { continue };
            let prim = Prim::new(block, call.location());
            replace(&prim, call);
            if let Some(message) = prim.take_error() {
                return Err(PassError::at(call, &message));
            }
            self.masks.add(1);
        }
        Ok(())
    }
}

fn replace<'c, 'p>(prim: &'p Prim<'p>, call: Op<'c>)
where
    'c: 'p,
{
    let call: Op<'p> = call;
    prim.set_before(call);
    let mask: Tensor<'p> = prim.tensor(call.operand(0));
    let ty = call.result_types()[0];
    let count = call.operands().get(1).map_or_else(|| Size::Const(ty.shape()[0]), |count| prim.symbol(*count));
    let place = mask.convert(ElementType::I64).scan("sum", 0) - 1;
    let target = mask.select(place, count).minimum(count);
    let none = prim.full(ElementType::I64, Scalar::Int(-1), &[count + 1]);
    let positions = none.scatter(prim.range(ElementType::I64, mask.size(0)), &[target], &[0], "set").slice(0, 0, count, 1);
    let value = if positions.ty() == ty { positions.value() } else { prim.retype(positions, ty) };
    prim.replace(call, &[value]);
}
