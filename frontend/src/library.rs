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
use strata_dialects::aten::{AtenOp, Schema};
use strata_dialects::capture::{self, CustomCall, CustomGradient, Yield};

use crate::operators::Operators;

/// Registered operators.
pub struct Library<'c> {
    functions: HashMap<String, Op<'c>>,
    torch_ops: HashMap<&'static str, TorchOp>,
    operators: &'static dyn Operators,
    _module: Module<'c>,
}

/// An operator of an extension that is built on PyTorch's stable ABI.
#[derive(Clone)]
pub(crate) struct TorchOp {
    /// The extension's file.
    pub library: String,
    /// The operator's name in it: `ns::name.overload`.
    pub symbol: String,
    pub schema: &'static Schema,
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
        Ok(Self { functions, torch_ops: HashMap::new(), operators, _module: module })
    }

    /// Registers the operators of an extension of PyTorch by their schemas.
    pub fn with_torch_ops(mut self, library: &str, schemas: &[String]) -> Result<Self, String> {
        for text in schemas {
            let schema = Schema::parse(text).ok_or_else(|| format!("{library}: `{text}` is no schema of an operator"))?;
            let symbol = text.split('(').next().unwrap_or_default().to_owned();
            self.torch_ops.insert(schema.name, TorchOp { library: library.to_owned(), symbol, schema });
        }
        Ok(self)
    }

    /// The function of an operator, as a program names it (`my.op.default`) or without the overload's name.
    pub(crate) fn find(&self, target: &str) -> Option<Op<'c>> {
        self.functions.get(target).or_else(|| self.functions.get(target.strip_suffix(".default")?)).copied()
    }

    /// Whether a call of this name writes to an argument.
    pub(crate) fn writes(&self, target: &str) -> bool {
        match self.find(target) {
            Some(function) => function.body(0).ops().iter().any(writes),
            None => self.find_torch_op(target).is_some_and(|operator| operator.schema.is_mutable()),
        }
    }

    /// The operator of an extension that a program calls by this name.
    pub(crate) fn find_torch_op(&self, target: &str) -> Option<TorchOp> {
        self.torch_ops.get(target.strip_suffix(".default").unwrap_or(target)).cloned()
    }
}

/// The parameters of a registered operator.
pub(crate) fn parameters(function: Op<'_>) -> Vec<Parameter<'_>> {
    let attrs = function.attr("arg_attrs").and_then(|attrs| attrs.as_array()).unwrap_or_default();
    let name = |place: usize| attrs.get(place)?.entry(capture::NAME)?.as_str();
    let args = function.body(0).args();
    args.into_iter().enumerate().map(|(place, arg)| Parameter { name: name(place), ty: arg.ty() }).collect()
}

/// Puts the body of a function at the builder's place, for these arguments; gives what it returns, with the gradient that it names.
pub(crate) fn inline<'c>(
    library: &Library<'c>,
    builder: &mut Rewriter<'c>,
    function: Op<'c>,
    args: &[Value<'c>],
) -> Result<Vec<Value<'c>>, String> {
    let results = body(library, builder, function, args)?;
    let Some(backward) = function.attr(capture::BACKWARD) else { return Ok(results) };
    let name = backward.as_symbol().ok_or_else(|| format!("its `{}` is not the name of a function", capture::BACKWARD))?;
    let failed = |why: String| format!("its gradient `{name}` {why}");
    let backward = library.functions.get(&name).ok_or_else(|| failed("is no function of the file".to_owned()))?;
    with_gradient(library, builder, function, *backward, (args, &results)).map_err(failed)
}

/// The results of a function that was called with arguments, with a gradient that another one computes.
fn with_gradient<'c>(
    library: &Library<'c>,
    builder: &mut Rewriter<'c>,
    function: Op<'c>,
    backward: Op<'c>,
    (args, results): (&[Value<'c>], &[Value<'c>]),
) -> Result<Vec<Value<'c>>, String> {
    let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
    let list = |types: &[Type<'c>]| format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "));
    if results.is_empty() || results.iter().any(|result| !result.ty().is_tensor()) {
        return Err("is one of an operator whose results are not tensors".to_owned());
    }
    if [function, backward].iter().any(|function| function.body(0).ops().iter().any(writes)) {
        return Err("is one of an operator that writes to an argument, or does so itself: return the new value as a result".to_owned());
    }
    let taken = [types(args), types(results), types(results)].concat();
    let declared = types(&backward.body(0).args());
    let fits =
        |(declared, taken): (&Type<'c>, &Type<'c>)| declared.is_tensor() == taken.is_tensor() && (taken.is_tensor() || declared == taken);
    if declared.len() != taken.len() || !declared.iter().zip(&taken).all(fits) {
        let rule = "the operator's arguments, its results, and a cotangent of each result";
        return Err(format!("takes {}, and is given {}: {rule}", list(&declared), list(&taken)));
    }
    let (made, block) = CustomGradient::begin(builder, results, args);
    let mut inside = Rewriter::at_end(block, made.location());
    let given = body(library, &mut inside, backward, &block.args())?;
    inside.effect(Yield::NAME, &given, &[]);
    let given = types(&given);
    let wanted: Vec<_> = types(args).into_iter().filter(|ty| capture::has_cotangent(*ty)).collect();
    if given.len() != wanted.len() || !given.iter().zip(&wanted).all(|(given, wanted)| capture::agree(*given, *wanted)) {
        return Err(format!("gives {}, and the arguments of floats and complex numbers are {}", list(&given), list(&wanted)));
    }
    Ok(made.results())
}

/// Whether an op is an operator that writes to an argument.
fn writes(op: &Op<'_>) -> bool {
    AtenOp::new(*op).is_ok_and(|op| op.schema().is_mutable())
}

/// Puts the body of a function at the builder's place, for these arguments; gives what it returns.
fn body<'c>(library: &Library<'c>, builder: &mut Rewriter<'c>, function: Op<'c>, args: &[Value<'c>]) -> Result<Vec<Value<'c>>, String> {
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
