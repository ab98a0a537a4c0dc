//! Operators that a user registers: a module of functions, each named after an operator, whose body is its decomposition.
//!
//! ```mlir
//! func.func @"my.scaled_silu"(%x: tensor<?x?xf32> {capture.name = "x"}, %alpha: f64 {capture.name = "alpha"}) -> tensor<?x?xf32> {
//!   %0 = aten.mul.Scalar %x, %alpha {other = -9223372036854775808 : i64} : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
//!   %1 = aten.sigmoid %0 : tensor<?x?xf32>
//!   %2 = aten.mul.Tensor %x, %1 : tensor<?x?xf32>
//!   return %2 : tensor<?x?xf32>
//! }
//! ```
//!
//! A call is its function's body in the call's place. The types of `aten` operators are inferred there anew, so that one function serves
//! every rank, size and element type that its operators take.

use std::collections::HashMap;

use strata_core::ir::{Attr, Context, Module, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::aten::AtenOp;
use strata_dialects::capture::{self, CustomCall};

use crate::operators::Operators;

/// Registered operators.
pub struct Library<'c> {
    functions: HashMap<String, Op<'c>>,
    operators: &'static dyn Operators,
    _module: Module<'c>,
}

/// A parameter of a registered operator.
pub(crate) struct Parameter<'c> {
    /// The name of the argument, where the function says it.
    pub name: Option<String>,
    pub ty: Type<'c>,
}

impl<'c> Library<'c> {
    /// Reads the functions of a text, which `name` stands for in messages.
    pub fn parse(text: &str, name: &str, operators: &'static dyn Operators, context: &'c Context) -> Result<Self, String> {
        let module = Module::parse(context, text, name).map_err(|error| error.to_string())?;
        let mut functions = HashMap::new();
        for op in module.body().ops() {
            let named = op.str("sym_name").filter(|_| op.isa::<func::Func>() && op.region(0).entry().is_some());
            let named = named.ok_or_else(|| format!("{name}: `{}` is no function with a body", op.name()))?;
            functions.insert(named, op);
        }
        Ok(Self { functions, operators, _module: module })
    }

    /// The function of an operator, as a program names it (`my.op.default`) or without the overload's name.
    pub(crate) fn find(&self, target: &str) -> Option<Op<'c>> {
        self.functions.get(target).or_else(|| self.functions.get(target.strip_suffix(".default")?)).copied()
    }
}

/// The parameters of a registered operator.
pub(crate) fn parameters(function: Op<'_>) -> Vec<Parameter<'_>> {
    let attrs = function.attr("arg_attrs").and_then(|attrs| attrs.as_array()).unwrap_or_default();
    let name = |place: usize| attrs.get(place)?.entry(capture::NAME)?.as_str();
    let args = function.body(0).args();
    args.into_iter().enumerate().map(|(place, arg)| Parameter { name: name(place), ty: arg.ty() }).collect()
}

/// Puts the body of a function at the builder's place, for these arguments; gives what it returns.
pub(crate) fn inline<'c>(
    library: &Library<'c>,
    builder: &mut Rewriter<'c>,
    function: Op<'c>,
    args: &[Value<'c>],
) -> Result<Vec<Value<'c>>, String> {
    let block = function.body(0);
    let mut values: HashMap<Value<'c>, Value<'c>> = block.args().into_iter().zip(args.iter().copied()).collect();
    for op in block.ops() {
        let operands: Option<Vec<_>> = op.operands().into_iter().map(|operand| values.get(&operand).copied()).collect();
        let operands = operands.ok_or_else(|| format!("`{}` of a registered operator reads what is not in its function", op.name()))?;
        if op.isa::<func::Return>() {
            return Ok(operands);
        }
        if !op.regions().is_empty() {
            return Err(format!("`{}` of a registered operator has a region; its body is a list of operators", op.name()));
        }
        let made = if AtenOp::new(op).is_ok() {
            inferred(library, builder, op, &operands)?
        } else if op.isa::<CustomCall>() {
            // Its results have the types of what they begin as.
            let begins = operands[operands.len().saturating_sub(op.num_results())..].iter().map(|value| value.ty());
            copied(builder, op, &operands, &begins.collect::<Vec<_>>())
        } else {
            builder.clone_op(op, &operands)
        };
        values.extend(op.results().into_iter().zip(made.results()));
    }
    Err("a registered operator returns nothing".to_owned())
}

/// A copy of an op for other operands, with results of these types.
fn copied<'c>(builder: &mut Rewriter<'c>, op: Op<'c>, operands: &[Value<'c>], results: &[Type<'c>]) -> Op<'c> {
    let attrs = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    builder.op(OpSpec { name: op.name(), operands, results, attrs: &attrs, ..OpSpec::default() })
}

/// A copy of an `aten` op for other operands, with the types that follow from them.
fn inferred<'c>(library: &Library<'c>, builder: &mut Rewriter<'c>, op: Op<'c>, operands: &[Value<'c>]) -> Result<Op<'c>, String> {
    let probe = copied(builder, op, operands, &[]);
    let types = library.operators.infer(probe).map_err(|why| format!("`{}` of a registered operator: {why}", op.name()));
    builder.erase(probe);
    Ok(copied(builder, op, operands, &types?))
}
