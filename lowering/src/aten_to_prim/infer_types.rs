//! `--infer-types`: results of type `none` that are used get the types that their operators give, so that a program written by hand
//! needs those of its arguments only.
//!
//! ```mlir
//! func.func @f(%x: tensor<4x?xi64>) -> none {
//!   %0 = aten.transpose.int %x {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<4x?xi64>) -> none
//!   %1 = aten.sigmoid %0 : (none) -> none
//!   return %1 : none
//! }
//! // becomes
//! func.func @f(%x: tensor<4x?xi64>) -> tensor<?x4xf32> {
//!   %0 = aten.transpose.int %x {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<4x?xi64>) -> tensor<?x4xi64>
//!   %1 = aten.sigmoid %0 : (tensor<?x4xi64>) -> tensor<?x4xf32>
//!   return %1 : tensor<?x4xf32>
//! }
//! ```

use strata_core::ir::{Attr, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::func;
use strata_dialects::aten::is_operator;

use super::infer;

/// Fills in the types of operators' results.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "capture"))]
pub struct InferTypes {
    /// Results that got a type.
    inferred: Counter,
}

impl Pass for InferTypes {
    fn run<'c>(&self, function: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut rewriter = cx.rewriter();
        let mut ops = Vec::new();
        function.walk(&mut |op| ops.push(op));
        let open = |value: &Value<'c>| value.ty().to_string() == "none" && !value.is_unused();
        for op in ops.into_iter().filter(|op| is_operator(*op)) {
            if !op.results().iter().any(open) {
                continue;
            }
            let types = infer(op).map_err(|reason| PassError::at(op, &reason.to_string()))?;
            if types.len() != op.num_results() {
                return Err(PassError::at(op, &format!("it gives {} results, and {} are written", types.len(), op.num_results())));
            }
            for (result, ty) in op.results().into_iter().zip(types).filter(|(result, _)| open(result)) {
                rewriter.set_type(result, ty);
                self.inferred.add(1);
            }
        }
        let terminator = function.regions().first().and_then(|region| region.entry()).and_then(|block| block.terminator());
        let (Some(ty), Some(terminator)) = (function.attr("function_type").and_then(Attr::as_type), terminator) else { return Ok(()) };
        if ty.results() != terminator.operand_types() {
            func::set_type(&mut rewriter, function, &ty.inputs(), &terminator.operand_types());
        }
        Ok(())
    }
}
