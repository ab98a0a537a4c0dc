//! The entry function: its arguments and results with their names and kinds, symbols, ranges and guards.

use std::collections::HashMap;

use strata_core::ir::{Attr, Block, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::capture::{DIM_ORDER, REQUIRES_GRAD, STORAGE_ORDER, UNIFORM};

use super::{
    Input, InputKind, Output, conditions,
    dim_order::{attribute, dim_order},
    error::{ImportError, Refusal},
    node::Importer,
    scope::Scope,
    storage, types,
};
use crate::pt2::{
    Program,
    argument::Argument,
    schema::{Constant, Graph, InputSpec, OutputSpec},
    weights::Weight,
};

/// The name of the entry function.
pub const ENTRY: &str = "main";

/// An argument of the entry while it is built.
pub(super) struct Arg<'g> {
    pub input: Input,
    /// Its order in memory, for a tensor of the call that is not row-major.
    pub dim_order: Option<Vec<usize>>,
    /// The value's name in the graph; a constant input has none.
    pub name: Option<&'g str>,
    pub constant: Option<&'g Constant>,
    /// The number that every element of a weight is.
    pub uniform: Option<i64>,
}

/// Builds the entry function; gives it with its block, the inputs, and the graph's scope with the arguments bound.
pub(super) struct Entry<'g, 'c> {
    pub function: Op<'c>,
    pub block: Block<'c>,
    pub inputs: Vec<Input>,
    /// The inputs that are not row-major.
    orders: HashMap<String, Vec<usize>>,
    pub scope: Scope<'g, 'c>,
}

impl<'g, 'c> Entry<'g, 'c> {
    /// Makes the function with its arguments; results are added by [`Entry::finish`].
    pub fn new(importer: &mut Importer<'c>, module: Block<'c>, program: &'g Program) -> Result<Self, ImportError> {
        let graph = &program.exported.graph_module.graph;
        let (mut scope, stored) = (Scope::new(graph), program.tensors());
        let (mut args, mut arg_types) = (Vec::new(), Vec::new());
        for (spec, argument) in program.exported.graph_module.signature.input_specs.iter().zip(&graph.inputs) {
            let Some(mut arg) = arg(spec, argument)? else { continue };
            let blame = |refusal: Refusal| refusal.entry(format!("input `{}`", arg.input.name));
            arg_types.push(match arg.constant {
                None => scope.ty(importer.cx, argument).map_err(blame)?,
                Some(Constant::AsInt(_)) => importer.cx.index(),
                Some(Constant::AsFloat(_)) => importer.cx.f64(),
                Some(_) => importer.cx.int(1),
            });
            if arg.input.kind.is_weight() {
                // Without an archive whoever loads the program brings its weights, and they are checked then.
                if let Some(archive) = &program.archive {
                    let stored = weight(&stored, graph, &arg).map_err(blame)?;
                    arg.uniform = stored.uniform(archive)?;
                }
            } else if let Argument::AsTensor(_) = argument {
                arg.dim_order = arg.name.and_then(|name| dim_order(graph.tensor_values.get(name)?));
            }
            args.push(arg);
        }
        let cx = importer.cx;
        let function_type = cx.type_attr(cx.function(&arg_types, &[]));
        let attrs = [("sym_name", cx.str_attr(ENTRY)), ("function_type", function_type), (capture::ENTRY, cx.unit())];
        importer.builder.set_at_end(module);
        let function = importer.builder.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
        let block = importer.builder.add_block(function.region(0), &arg_types);
        importer.builder = Rewriter::at_end(block, importer.builder.location());
        let arg_attrs: Vec<_> = args.iter().map(|arg| arg_attrs(importer, graph, arg)).collect();
        importer.builder.set_attr(function, "arg_attrs", cx.array_attr(&arg_attrs));
        for (arg, value) in args.iter().zip(block.args()) {
            if let Some(name) = arg.name {
                scope.define(name, value);
            }
        }
        conditions::symbols(importer, program, &args, &block.args())?;
        for (arg, value) in args.iter().zip(block.args()) {
            if let Some(constant) = arg.constant {
                conditions::constant_guard(cx, &mut importer.builder, &arg.input.name, constant, value);
            }
        }
        conditions::guards(importer, program, &args, &block.args())?;
        conditions::prepare(importer, graph)?;
        let orders = args.iter().filter_map(|arg| Some((arg.input.name.clone(), arg.dim_order.clone()?))).collect();
        Ok(Self { function, block, inputs: args.into_iter().map(|arg| arg.input).collect(), orders, scope })
    }

    /// Ends the function with the program's outputs, then its mutations.
    pub fn finish(self, importer: &mut Importer<'c>, program: &'g Program) -> Result<(Vec<Input>, Vec<Output>), ImportError> {
        let cx = importer.cx;
        let module = &program.exported.graph_module;
        let (mut results, mut mutations) = (Vec::new(), Vec::new());
        for (place, (spec, output)) in module.signature.output_specs.iter().zip(&module.graph.outputs).enumerate() {
            let blame = |refusal: Refusal| refusal.entry(format!("output {place}"));
            let mutated = match spec {
                OutputSpec::Token { .. } => continue,
                OutputSpec::BufferMutation { buffer_name, .. } => Some(buffer_name.clone()),
                OutputSpec::ParameterMutation { parameter_name, .. } => Some(parameter_name.clone()),
                OutputSpec::UserInputMutation { user_input_name, .. } => Some(user_input_name.clone()),
                _ => None,
            };
            match mutated {
                Some(name) => {
                    // The new value lies as the old one.
                    let order = self.orders.get(&name).cloned();
                    mutations.push((Some(self.scope.tensor(output).map_err(blame)?), order, Output::Mutation { name }));
                }
                None => match output {
                    Argument::AsNone(_) => results.push((None, None, Output::None)),
                    Argument::AsString(text) => results.push((None, None, Output::Text { text: text.clone() })),
                    output => {
                        let value = self.scope.number_or_tensor(&mut importer.builder, output).map_err(blame)?;
                        let order = match output {
                            Argument::AsTensor(tensor) => dim_order(self.scope.meta(&tensor.name).map_err(blame)?),
                            _ => None,
                        };
                        results.push((Some(value), order, Output::Value));
                    }
                },
            }
        }
        results.extend(mutations);
        let values: Vec<_> = results.iter().filter_map(|(value, ..)| *value).collect();
        let attrs = results.iter().filter(|(value, ..)| value.is_some()).map(|(_, order, output)| {
            let mut entries = match output {
                Output::Mutation { name } => vec![(capture::KIND, cx.str_attr("mutation")), (capture::NAME, cx.str_attr(name))],
                _ => vec![(capture::KIND, cx.str_attr("output"))],
            };
            entries.extend(order.as_ref().map(|order| (DIM_ORDER, attribute(cx, order))));
            cx.dict_attr(&entries)
        });
        let attrs: Vec<Attr<'c>> = attrs.collect();
        func::ret(&mut importer.builder, &values);
        let inputs: Vec<Type<'c>> = self.block.args().into_iter().map(Value::ty).collect();
        let outputs: Vec<Type<'c>> = values.into_iter().map(Value::ty).collect();
        func::set_type(&mut importer.builder, self.function, &inputs, &outputs);
        importer.builder.set_attr(self.function, "res_attrs", cx.array_attr(&attrs));
        Ok((self.inputs, results.into_iter().map(|(.., output)| output).collect()))
    }
}

/// What an input is, or `None` for one that holds nothing (`None`, text, tokens).
fn arg<'g>(spec: &'g InputSpec, argument: &'g Argument) -> Result<Option<Arg<'g>>, ImportError> {
    let named = |name: &str, kind| Input { name: name.to_owned(), kind };
    let tensor = |value: &'g str, name: &str, kind| {
        Some(Arg { input: named(name, kind), dim_order: None, name: Some(value), constant: None, uniform: None })
    };
    Ok(match spec {
        InputSpec::Parameter { arg, parameter_name, uniform } => {
            let arg = tensor(&arg.name, parameter_name, InputKind::Parameter);
            arg.map(|arg| Arg { uniform: *uniform, ..arg })
        }
        InputSpec::Buffer { arg, buffer_name, .. } => tensor(&arg.name, buffer_name, InputKind::Buffer),
        InputSpec::TensorConstant { arg, tensor_constant_name } => tensor(&arg.name, tensor_constant_name, InputKind::Constant),
        InputSpec::UserInput { .. } => {
            let mut name = None;
            argument.names(&mut |found| name = Some(found));
            match name {
                Some(name) => tensor(name, name, InputKind::Input),
                None if matches!(argument, Argument::AsNone(_) | Argument::AsString(_)) => None,
                None => {
                    let why = format!("a constant of kind `{}` is no input", argument.tag());
                    return Err(Refusal::unsupported(why).entry("a user input"));
                }
            }
        }
        InputSpec::ConstantInput { name, value } => match value {
            Constant::AsNone(_) | Constant::AsString(_) => None,
            constant => {
                Some(Arg { input: named(name, InputKind::Input), dim_order: None, name: None, constant: Some(constant), uniform: None })
            }
        },
        InputSpec::CustomObj { custom_obj_name, .. } => {
            return Err(Refusal::unsupported("a script object has no counterpart in the IR").entry(format!("input `{custom_obj_name}`")));
        }
        InputSpec::Token { .. } => return Err(Refusal::unsupported("effect tokens are not imported").entry("a token input")),
    })
}

fn arg_attrs<'c>(importer: &Importer<'c>, graph: &Graph, arg: &Arg<'_>) -> Attr<'c> {
    let cx = importer.cx;
    let kind = cx.str_attr(arg.input.kind.spelling());
    let mut entries = vec![(capture::KIND, kind), (capture::NAME, cx.str_attr(&arg.input.name))];
    entries.extend(arg.dim_order.as_ref().map(|order| (DIM_ORDER, attribute(cx, order))));
    entries.extend(arg.uniform.map(|number| (UNIFORM, cx.i64_attr(number))));
    let meta = arg.name.and_then(|name| graph.tensor_values.get(name));
    entries.extend(meta.filter(|meta| meta.requires_grad).map(|_| (REQUIRES_GRAD, cx.unit())));
    let described = arg.name.filter(|_| importer.storages && arg.dim_order.is_none());
    if let Some(meta) = described.and_then(|name| graph.tensor_values.get(name)) {
        entries.extend(storage::order(cx, meta).map(|order| (STORAGE_ORDER, order)));
    }
    cx.dict_attr(&entries)
}

/// A weight's stored form must be what the graph expects.
fn weight<'w>(stored: &HashMap<&str, &'w Weight>, graph: &Graph, arg: &Arg<'_>) -> Result<&'w Weight, Refusal> {
    let &stored = stored.get(arg.input.name.as_str()).ok_or_else(|| Refusal::broken("its value is not in the archive"))?;
    let meta = arg.name.and_then(|name| graph.tensor_values.get(name)).ok_or_else(|| Refusal::broken("it is not described"))?;
    let sizes: Vec<_> = stored.sizes.iter().map(|size| *size as i64).collect();
    let expected: Option<Vec<_>> = meta.sizes.iter().map(types::known).collect();
    if stored.dtype != meta.dtype || expected.as_ref() != Some(&sizes) {
        let why = format!("the graph expects {} {:?}, and {} {sizes:?} is stored", meta.dtype, expected, stored.dtype);
        return Err(Refusal::broken(why));
    }
    Ok(stored)
}
