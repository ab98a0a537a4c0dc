//! Calls of operators that a user registers: [`crate::library`] has their bodies, or says whose kernels they are.

use std::rc::Rc;

use strata_core::ir::{DYNAMIC, Op, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::tensor;
use strata_dialects::aten::{self, Input, op};
use strata_dialects::capture;

use super::{error::Refusal, node::Importer, scope::Scope, torch_op, types};
use crate::library::{self, Library, Parameter, TorchOp};
use crate::pt2::{
    argument::Argument,
    schema::{NamedArgument, Node},
};

const HELP: &str = "--operators=FILE takes a file of such functions, whose bodies are operators of `aten`, and --load-torch-op=FILE an \
                    extension of PyTorch that has the operator";

/// Imports a call of a registered operator.
pub(super) fn import<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node, target: &str) -> Result<(), Refusal> {
    let Some(registered) = find(importer, target) else { return Err(unknown(importer, scope, node, target, &[])) };
    let outputs: Vec<_> = node.outputs.iter().filter(|output| !matches!(output, Argument::AsNone(_))).collect();
    let results = registered.call(importer, scope, (&node.inputs, &[]), &outputs)?;
    if outputs.len() != results.len() {
        return Err(Refusal::broken(format!("it gives {} values, and the node has {}", results.len(), outputs.len())));
    }
    outputs.into_iter().zip(results).try_for_each(|(output, value)| registered.bind(importer, scope, output, value))
}

/// What an operator is registered as. A function goes before an extension of PyTorch: it may call the extension's kernel, and has a gradient.
enum Registered<'c> {
    Function(Rc<Library<'c>>, Op<'c>),
    TorchOp(TorchOp),
}

fn find<'c>(importer: &Importer<'c>, target: &str) -> Option<Registered<'c>> {
    let library = importer.library.clone()?;
    match library.find(target) {
        Some(function) => Some(Registered::Function(library, function)),
        None => library.find_torch_op(target).map(Registered::TorchOp),
    }
}

impl<'c> Registered<'c> {
    /// The results of a call with these arguments; `written` are given by name.
    fn call<'g>(
        &self,
        importer: &mut Importer<'c>,
        scope: &Scope<'g, 'c>,
        (inputs, written): (&'g [NamedArgument], &[(&str, Value<'c>)]),
        outputs: &[&'g Argument],
    ) -> Result<Vec<Value<'c>>, Refusal> {
        match self {
            Registered::Function(library, function) => call(importer, scope, library, *function, inputs, written),
            Registered::TorchOp(operator) => torch_op::call(importer, scope, operator, (inputs, written), outputs),
        }
    }

    /// Binds a result. Those of an extension begin in the sizes that the program declares.
    fn bind<'g>(
        &self,
        importer: &mut Importer<'c>,
        scope: &mut Scope<'g, 'c>,
        output: &'g Argument,
        value: Value<'c>,
    ) -> Result<(), Refusal> {
        match self {
            Registered::TorchOp(_) if value.ty() == scope.ty(importer.cx, output)? => scope.bind(output, value),
            _ => one(importer, scope, output, value),
        }
    }
}

/// `auto_functionalized_v2`: an operator that writes to some of its arguments, called on copies of them; what it returns, then the copies.
pub(super) fn functionalised<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<(), Refusal> {
    let given = |name: &str| node.inputs.iter().find(|input| input.name == name).map(|input| &input.arg);
    let Some(Argument::AsOperator(target)) = node.inputs.first().map(|input| &input.arg) else {
        return Err(Refusal::broken("its first argument is no operator"));
    };
    let target = target.strip_prefix("torch.ops.").unwrap_or(target);
    let bases = match given("_all_bases") {
        Some(Argument::AsTensors(bases)) => bases.iter().map(|base| scope.get(&base.name)).collect::<Result<Vec<_>, _>>()?,
        _ => return Err(Refusal::broken("it does not say which tensors are written to")),
    };
    // Which base is which argument.
    let mut places = Vec::new();
    for input in &node.inputs {
        let Some(name) = input.name.strip_prefix('_').and_then(|name| name.strip_suffix("_base_index")) else { continue };
        let alias = given(&format!("_{name}_alias")).is_none_or(|alias| matches!(alias, Argument::AsBool(true)));
        let whole = alias && given(&format!("_{name}_size")).is_none();
        let place = if let Argument::AsInt(place) = input.arg { usize::try_from(place).ok() } else { None };
        let place = place.filter(|place| whole && *place < bases.len());
        places.push((name, place.ok_or_else(|| Refusal::unsupported(format!("it writes to a part of `{name}`, or to one of a list")))?));
    }
    let Some(registered) = find(importer, target) else {
        let written: Vec<_> = places.iter().map(|(name, place)| (*name, bases[*place])).collect();
        return Err(unknown(importer, scope, node, target, &written));
    };
    let mut copies = Vec::new();
    for base in bases {
        let copy = aten::build(&mut importer.builder, op::CLONE.schema(), &[Some(Input::Tensor(base))], &[base.ty()])?;
        copies.push(copy.result(0));
    }
    let written: Vec<_> = places.iter().map(|(name, place)| (*name, copies[*place])).collect();
    let outputs: Vec<_> = node.outputs.iter().filter(|output| !matches!(output, Argument::AsNone(_))).collect();
    let mut results = registered.call(importer, scope, (&node.inputs[1..], &written), &outputs)?;
    results.extend(copies);
    if outputs.len() != results.len() {
        return Err(Refusal::broken(format!("it gives {} values, and the node has {}", results.len(), outputs.len())));
    }
    outputs.into_iter().zip(results).try_for_each(|(output, value)| registered.bind(importer, scope, output, value))
}

/// The body of a function for the arguments of a call; `written` are given by name.
fn call<'g, 'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'g, 'c>,
    library: &Rc<Library<'c>>,
    function: Op<'c>,
    inputs: &[NamedArgument],
    written: &[(&str, Value<'c>)],
) -> Result<Vec<Value<'c>>, Refusal> {
    let parameters = library::parameters(function);
    let named = parameters.iter().all(|parameter| parameter.name.is_some());
    let mut args = Vec::new();
    for (place, parameter) in parameters.iter().enumerate() {
        let name = parameter.name.as_deref().unwrap_or_default();
        if let Some((_, value)) = written.iter().find(|(known, _)| *known == name) {
            args.push(*value);
            continue;
        }
        let input = inputs.iter().filter(|input| !input.name.starts_with('_')).enumerate();
        let mut input = input.filter(|(at, input)| if named { input.name == name } else { *at == place }).map(|(_, input)| input);
        let input = input.next().ok_or_else(|| missing(name, place))?;
        args.push(fitted(importer, scope, parameter, &input.arg)?);
    }
    let known = |input: &&NamedArgument| !named || parameters.iter().any(|parameter| parameter.name.as_deref() == Some(&input.name));
    if let Some(extra) = inputs.iter().filter(|input| !input.name.starts_with('_')).find(|input| !known(input)) {
        let help = "give its function that parameter, by its `capture.name`";
        return Err(Refusal { why: format!("it is given `{}`, which its registered function does not take", extra.name), help });
    }
    library::inline(library, &mut importer.builder, function, &args).map_err(Refusal::unsupported)
}

fn missing(name: &str, place: usize) -> Refusal {
    let what = if name.is_empty() { format!("argument {place}") } else { format!("`{name}`") };
    let help = "programs leave out what has its default: give it in the program, or register a function without it";
    Refusal { why: format!("it is not given {what}, which its registered function takes"), help }
}

/// An argument as a function takes it.
fn fitted<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    parameter: &Parameter<'c>,
    argument: &Argument,
) -> Result<Value<'c>, Refusal> {
    let value = scope.number_or_tensor(&mut importer.builder, argument)?;
    let (wanted, given) = (parameter.ty, value.ty());
    if wanted.is_tensor() != given.is_tensor() || (!wanted.is_tensor() && wanted != given) {
        return Err(Refusal::unsupported(format!("it is given {given}, and its registered function takes {wanted}")));
    }
    Ok(value)
}

/// Binds a result, in the type that the program declares.
fn one<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, output: &'g Argument, value: Value<'c>) -> Result<(), Refusal> {
    let ty = scope.ty(importer.cx, output)?;
    if capture::agree(value.ty(), ty) {
        declared(importer, scope, output, value)?;
    }
    let value = if value.ty() == ty {
        value
    } else if capture::agree(value.ty(), ty) {
        tensor::cast(&mut importer.builder, value, ty)
    } else {
        return Err(Refusal::unsupported(format!("its registered function gives {}, and the program declares {ty}", value.ty())));
    };
    scope.bind(output, value)
}

/// Checks the sizes of a result that nobody knows before the call against those that the program computes with.
fn declared<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, output: &Argument, value: Value<'c>) -> Result<(), Refusal> {
    let Argument::AsTensor(tensor) = output else { return Ok(()) };
    let (cx, index) = (importer.cx, importer.cx.index());
    for (dim, size) in scope.meta(&tensor.name)?.sizes.iter().enumerate() {
        let expr = types::expr(size);
        if value.ty().shape().get(dim) != Some(&DYNAMIC) || !importer.symbols.covers(&expr) {
            continue;
        }
        let wanted = importer.symbols.build(&mut importer.builder, &expr)?;
        let found = importer.builder.value(op::SYM_SIZE_INT.name(), &[value], index, &[("dim", cx.i64_attr(dim as i64))]);
        let holds = arith::cmpi(&mut importer.builder, CmpIPredicate::Eq, found, wanted);
        let text =
            format!("dimension {dim} of `{}` has the size {{0}} as its operator is registered, and {{1}} in the program", tensor.name);
        importer.builder.effect(capture::Guard::NAME, &[holds, found, wanted], &[("text", cx.str_attr(&text))]);
    }
    Ok(())
}

/// The refusal of an operator that nobody registered, with the function that would; `written` are further arguments.
fn unknown<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, node: &Node, target: &str, written: &[(&str, Value<'c>)]) -> Refusal {
    let name = target.strip_suffix(".default").unwrap_or(target);
    let spelled = |name: &str, ty: Type<'_>| format!("%{name}: {ty} {{capture.name = \"{name}\"}}");
    let plain = node.inputs.iter().filter(|input| !input.name.starts_with('_') && !matches!(input.arg, Argument::AsOperator(_)));
    let plain = plain.filter_map(|input| Some((&*input.name, scope.number_or_tensor(&mut importer.builder, &input.arg).ok()?)));
    let plain: Vec<_> = plain.collect();
    let parameters: Vec<_> = plain.iter().chain(written).map(|(name, value)| spelled(name, value.ty())).collect();
    // What was written to comes behind the results.
    let outputs: Vec<_> = node.outputs.iter().filter_map(|output| scope.ty(importer.cx, output).ok()).collect();
    let results: Vec<_> = outputs[..outputs.len().saturating_sub(written.len())].iter().map(ToString::to_string).collect();
    let results = match &results[..] {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        more => format!(" -> ({})", more.join(", ")),
    };
    let text = format!("func.func @\"{name}\"({}){results} {{ .. }}", parameters.join(", "));
    Refusal { why: format!("`{target}` is no operator of PyTorch's and none that is registered, as by `{text}`"), help: HELP }
}
