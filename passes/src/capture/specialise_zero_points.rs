//! `--specialise-zero-points`: zero points that all are one number become that number.
//!
//! The front end knows the weights of an archive, and says of one that holds the same whole number throughout which that is
//! (`capture.uniform`). Where such a weight is read only as the zero points of quantised tensors, its readers get the number instead: most
//! weights are quantised around zero, and nothing is to be subtracted from them then. The program may be called with other weights, so it
//! asserts that the zero points are still these. Weights that a call changes stay.
//!
//! ```mlir
//! func.func @main(%q: tensor<4x8xi8> {capture.kind = "buffer", capture.name = "q"}, %s: tensor<4xf32> {capture.kind = "buffer", capture.name = "s"},
//!                 %z: tensor<4xi64> {capture.kind = "buffer", capture.name = "z", capture.uniform = 0 : i64}) -> tensor<4x8xf32> attributes {capture.entry} {
//!   %0 = quantized_decomposed.dequantize_per_channel %q, %s, %z {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
//!   return %0 : tensor<4x8xf32>
//! }
//! // becomes
//! func.func @main(%q: tensor<4x8xi8> {capture.kind = "buffer", capture.name = "q"}, %s: tensor<4xf32> {capture.kind = "buffer", capture.name = "s"},
//!                 %z: tensor<4xi64> {capture.kind = "buffer", capture.name = "z", capture.uniform = 0 : i64}) -> tensor<4x8xf32> attributes {capture.entry} {
//!   %0 = aten.eq.Scalar %z {other = 0 : i64} : (tensor<4xi64>) -> tensor<4xi1>
//!   %1 = aten.all %0 : (tensor<4xi1>) -> tensor<i1>
//!   aten._assert_async.msg %1 {assert_msg = "the zero points z are not all 0, which they were when the program was compiled: compile it with these weights"} : (tensor<i1>) -> ()
//!   %2 = aten.full {size = array<i64: 4>, fill_value = 0 : i64} : () -> tensor<4xi64>
//!   %3 = quantized_decomposed.dequantize_per_channel %q, %s, %2 {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
//!   return %3 : tensor<4x8xf32>
//! }
//! ```

use strata_core::ir::{Attr, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::{self, AtenError, AtenOp, Input, Operator, Scalar, Size, op};
use strata_dialects::capture;

use crate::prim::hoist_weights::signature::Signature;

/// Puts the number in the place of zero points that all are one.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("aten"))]
pub struct SpecialiseZeroPoints {
    /// Weights whose readers got a number instead.
    specialised: Counter,
}

impl Pass for SpecialiseZeroPoints {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        let signature = Signature::of(op);
        let mut rewriter = cx.rewriter();
        for (at, (weight, dict)) in op.body(0).args().into_iter().zip(&signature.arguments).enumerate() {
            let Some(number) = dict.entry(capture::UNIFORM).and_then(Attr::as_int) else { continue };
            let read = weight.uses().into_iter().all(|using| is_zero_point(using.op, weight));
            if !signature.is_fixed_weight(at) || weight.uses().is_empty() || !read || !weight.ty().is_static() {
                continue;
            }
            let name = dict.entry(capture::NAME).and_then(Attr::as_str).unwrap_or_default();
            specialise(op, weight, (number, &name), &mut rewriter).map_err(|refusal| PassError::at(op, &refusal.to_string()))?;
            self.specialised.add(1);
        }
        Ok(())
    }
}

/// Whether an op takes a value for the zero points of a tensor, and for nothing else.
fn is_zero_point<'c>(op: Op<'c>, value: Value<'c>) -> bool {
    let Ok(op) = AtenOp::new(op) else { return false };
    let tensors = op.schema().tensor_args().filter(|arg| op.opt_tensor(arg.name).ok().flatten() == Some(value));
    let mut names = tensors.map(|arg| arg.name).peekable();
    names.peek().is_some() && names.all(|name| ZERO_POINTS.contains(&name))
}

/// The arguments of PyTorch's operators on quantised tensors, of the table of schemas, that are subtracted from what is quantised.
const ZERO_POINTS: [&str; 2] = ["zero_point", "zero_points"];

/// Lets the readers of a weight read the number, and asserts that it is the weight's.
fn specialise<'c>(entry: Op<'c>, weight: Value<'c>, (number, name): (i64, &str), rewriter: &mut Rewriter<'c>) -> Result<(), AtenError> {
    let (cx, ty, uses) = (entry.cx(), weight.ty(), weight.uses());
    rewriter.set_at_start(entry.body(0));
    let mut make = |operator: Operator, inputs: &[Input<'c>], results: &[Type<'c>]| {
        let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
        aten::build(rewriter, operator.schema(), &inputs, results)
    };
    let text = format!(
        "the zero points {name} are not all {number}, which they were when the program was compiled: compile it with these weights"
    );
    let (truth, number) = (cx.element(DType::Bool), Input::Scalar(Scalar::Int(number)));
    let same = make(op::EQ_SCALAR, &[Input::Tensor(weight), number.clone()], &[ty.with_element(truth)])?.result(0);
    let all = make(op::ALL, &[Input::Tensor(same)], &[cx.tensor(&[], truth)])?.result(0);
    make(op::_ASSERT_ASYNC_MSG, &[Input::Tensor(all), Input::Str(text)], &[])?;
    let sizes = ty.shape().into_iter().map(Size::Const).collect();
    let full = make(op::FULL, &[Input::Ints(sizes), number], &[ty])?.result(0);
    for using in uses {
        rewriter.set_operand(using.op, using.index, full);
    }
    Ok(())
}
