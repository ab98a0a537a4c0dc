//! Ops without an arm here: what an op says of itself, so that a dialect in another crate is interpreted, too.

use strata_core::ir::{Builder, Module, Op, OpSpec};
use strata_core::upstream::func;
use strata_dialects::loops::elements::register_type;
use strata_dialects::prim::scalar::{self, Elements, Pointwise};

use crate::float8::{in_memory, in_register};
use crate::loops::body::Body;
use crate::run::{Machine, dtype_of, single, unsupported};
use crate::tensor::Tensor;
use crate::value::{Results, Value, fail};

/// An op that says itself what it computes: `#[op("mine.rotate", interfaces(Interpret))]`.
///
/// Ops with [`Pointwise`] need it not: their scalar form is evaluated for each element.
pub trait Interpret {
    /// Computes the results from the operands. Fails, with the reason, where the operands do not fit the op.
    fn interpret(&self, operands: &[Value]) -> Results;
}

/// Runs an op by what it says of itself.
pub(crate) fn run<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let operands = op.operands().into_iter().map(|v| m.get(v)).collect::<Result<Vec<_>, _>>()?;
    if let Some(own) = op.interface::<dyn Interpret>() {
        return own.interpret(&operands);
    }
    if op.has_interface::<dyn Pointwise>() {
        return pointwise(m, op, &operands);
    }
    Err(unsupported(op))
}

/// Evaluates the scalar form of a pointwise op for each element.
fn pointwise<'c>(m: &Machine<'c>, op: Op<'c>, operands: &[Value]) -> Results {
    let (cx, location) = (op.cx(), op.location());
    let element =
        |at: strata_core::ir::Value<'c>| at.ty().element_type().ok_or_else(|| fail("its tensors have elements without a scalar form"));
    let elements = op.operands().into_iter().map(element).collect::<Result<Vec<_>, _>>()?;
    let Some(&from) = elements.last() else { return Err(fail("a pointwise op has operands")) };
    let to = element(op.result(0))?;
    for dialect in ["arith", "complex", "func", "math"] {
        cx.load_dialect(dialect);
    }
    let scratch = Module::new(cx);
    let holder = Builder::at_end(scratch.body(), location).op(OpSpec { name: func::Func::NAME, regions: 1, ..OpSpec::default() });
    let types: Vec<_> = elements.iter().map(|&element| register_type(cx, element)).collect();
    let block = holder.regions()[0].append_block(&types, location);
    let result = scalar::emit(&mut Builder::at_end(block, location), op, &block.args(), Elements { from, to }).map_err(fail)?;
    let mut body = Body::of(m, block, &[result])?;

    let tensors = operands.iter().map(Value::tensor).collect::<Result<Vec<_>, _>>()?;
    let first = tensors[0];
    if tensors.iter().any(|t| t.shape() != first.shape()) {
        return Err(fail("operands differ in shape"));
    }
    let dtype = dtype_of(op.result(0).ty())?;
    let at = |k: usize| {
        for (argument, tensor) in tensors.iter().enumerate() {
            body.set(argument, in_register(tensor.dtype(), tensor.at(k)));
        }
        body.run(&[])?;
        Ok(in_memory(dtype, body.yielded(0)))
    };
    let values = (0..first.len()).map(at).collect::<Result<Vec<_>, _>>()?;
    single(Value::Tensor(Tensor::from_scalars(dtype, first.shape(), values)?))
}
