//! What the levels below know of operators, for the importer of programs without types: types from the decompositions, values from the
//! interpreter.

use strata_core::ir::{Attr, ElementType, Module, Op, OpSpec, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_frontend::Constant;
use strata_interp::{self as interp, Value};
use strata_lowering::aten_to_prim::infer;
use strata_runtime::Tensor;

use crate::artefact::dtype;
use crate::tensors::{from_runtime, to_runtime};

/// The operators as this compiler has them.
pub(crate) struct Operators;

impl strata_frontend::Operators for Operators {
    fn infer<'c>(&self, op: Op<'c>) -> Result<Vec<Type<'c>>, String> {
        infer(op).map_err(|reason| reason.to_string())
    }

    fn evaluate(&self, op: Op<'_>, operands: &[Constant]) -> Result<Vec<Constant>, String> {
        let module = scratch(op);
        let values = operands.iter().zip(op.operand_types()).map(|(constant, ty)| {
            let tensor = Tensor::from_bytes(dtype(constant.dtype), &constant.shape, &constant.bytes).map_err(|error| error.to_string())?;
            let tensor = from_runtime(&tensor)?;
            Ok(if ty.is_tensor() { Value::Tensor(tensor) } else { Value::Scalar(tensor.at(0)) })
        });
        let values = values.collect::<Result<Vec<_>, String>>()?;
        let outputs = interp::run(module.op(), None, values, interp::Lent::weights(&|_| None)).map_err(|error| error.to_string())?;
        let constant = |(value, ty): (Value, Type<'_>)| {
            let dtype = ty.element_type().ok_or("it gives no number")?;
            let dtype = if ty.is_index() { ElementType::I64 } else { dtype };
            let tensor = to_runtime(value)?;
            Ok(Constant { dtype, shape: tensor.shape().to_vec(), bytes: tensor.bytes().to_vec() })
        };
        outputs.outputs.into_iter().zip(op.result_types()).map(constant).collect()
    }
}

/// A function of the op alone.
fn scratch<'c>(op: Op<'c>) -> Module<'c> {
    let cx = op.cx();
    let module = Module::new(cx);
    let mut builder = Rewriter::at_end(module.body(), op.location());
    let (types, results) = (op.operand_types(), op.result_types());
    let attrs = [("sym_name", cx.str_attr("scratch")), ("function_type", cx.type_attr(cx.function(&types, &results)))];
    let function = builder.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
    let block = builder.add_block(function.region(0), &types);
    builder.set_at_end(block);
    let attrs = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let copy = builder.op(OpSpec { name: op.name(), operands: &block.args(), results: &results, attrs: &attrs, ..OpSpec::default() });
    func::ret(&mut builder, &copy.results());
    module
}
