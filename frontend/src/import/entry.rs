//! The entry function: its arguments and results with their names and kinds, symbols, ranges and guards.

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Attr, Block, Builder, Op, OpSpec, Type, Value};

use super::{
    Input, InputKind, Output,
    error::{ImportError, Refusal},
    node::Importer,
    scope::Scope,
    symbols::{Predicate, Symbols, affine, compare, substitute},
    types,
};
use crate::pt2::{
    Program,
    argument::{Argument, Sym},
    expr::{Expr, Func},
    guard::Place,
    program::MODEL,
    pytree::Key,
    schema::{Constant, Graph, InputSpec, OutputSpec, RangeConstraint, SymInt},
};

/// The name of the entry function.
pub const ENTRY: &str = "main";

/// An argument of the entry while it is built.
struct Arg<'g> {
    input: Input,
    /// The value's name in the graph; a constant input has none.
    name: Option<&'g str>,
    constant: Option<&'g Constant>,
}

/// Builds the entry function; gives it with its block, the inputs, and the graph's scope with the arguments bound.
pub(super) struct Entry<'g, 'c> {
    pub function: Op<'c>,
    pub block: Block<'c>,
    pub inputs: Vec<Input>,
    pub scope: Scope<'g, 'c>,
}

impl<'g, 'c> Entry<'g, 'c> {
    /// Makes the function with its arguments; results are added by [`Entry::finish`].
    pub fn new(importer: &mut Importer<'c>, module: Block<'c>, program: &'g Program) -> Result<Self, ImportError> {
        let graph = &program.exported.graph_module.graph;
        let mut scope = Scope::new(graph);
        let (mut args, mut arg_types) = (Vec::new(), Vec::new());
        for (spec, argument) in program.exported.graph_module.signature.input_specs.iter().zip(&graph.inputs) {
            let Some(arg) = arg(spec, argument)? else { continue };
            let blame = |refusal: Refusal| refusal.entry(format!("input `{}`", arg.input.name));
            arg_types.push(match arg.constant {
                None => scope.ty(importer.cx, argument).map_err(blame)?,
                Some(Constant::AsInt(_)) => importer.cx.index(),
                Some(Constant::AsFloat(_)) => importer.cx.f64(),
                Some(_) => importer.cx.int(1),
            });
            if arg.input.kind.is_weight() {
                weight(program, graph, &arg).map_err(blame)?;
            }
            args.push(arg);
        }
        let cx = importer.cx;
        let function_type = cx.type_attr(cx.function(&arg_types, &[]));
        let attrs = [("sym_name", cx.str_attr(ENTRY)), ("function_type", function_type), ("capture.entry", cx.unit())];
        importer.builder.set_at_end(module);
        let function = importer.builder.op(OpSpec { name: "func.func", attrs: &attrs, regions: 1, ..OpSpec::default() });
        let block = importer.builder.add_block(function.region(0), &arg_types);
        importer.builder = Builder::at_end(block, importer.builder.location());
        let arg_attrs: Vec<_> = args.iter().map(|arg| arg_attrs(importer, arg)).collect();
        function.set_attr("arg_attrs", cx.array_attr(&arg_attrs));
        for (arg, value) in args.iter().zip(block.args()) {
            if let Some(name) = arg.name {
                scope.define(name, value);
            }
        }
        symbols(importer, program, &args, &block.args())?;
        for (arg, value) in args.iter().zip(block.args()) {
            if let Some(constant) = arg.constant {
                constant_guard(importer, &arg.input.name, constant, value);
            }
        }
        guards(importer, program, &args, &block.args())?;
        prepare(importer, graph)?;
        Ok(Self { function, block, inputs: args.into_iter().map(|arg| arg.input).collect(), scope })
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
                Some(name) => mutations.push((self.scope.tensor(output).map_err(blame)?, Output::Mutation { name })),
                None => match output {
                    Argument::AsNone(_) => results.push((None, Output::None)),
                    Argument::AsString(text) => results.push((None, Output::Text { text: text.clone() })),
                    output => {
                        let value = self.scope.number_or_tensor(&mut importer.builder, output).map_err(blame)?;
                        results.push((Some(value), Output::Value));
                    }
                },
            }
        }
        results.extend(mutations.into_iter().map(|(value, output)| (Some(value), output)));
        let values: Vec<_> = results.iter().filter_map(|(value, _)| *value).collect();
        let attrs = results.iter().filter(|(value, _)| value.is_some()).map(|(_, output)| match output {
            Output::Mutation { name } => {
                cx.dict_attr(&[("capture.kind", cx.str_attr("mutation")), ("capture.name", cx.str_attr(name))])
            }
            _ => cx.dict_attr(&[("capture.kind", cx.str_attr("output"))]),
        });
        let attrs: Vec<Attr<'c>> = attrs.collect();
        importer.builder.effect("func.return", &values, &[]);
        let inputs: Vec<Type<'c>> = self.block.args().into_iter().map(Value::ty).collect();
        let outputs: Vec<Type<'c>> = values.into_iter().map(Value::ty).collect();
        self.function.set_attr("function_type", cx.type_attr(cx.function(&inputs, &outputs)));
        self.function.set_attr("res_attrs", cx.array_attr(&attrs));
        Ok((self.inputs, results.into_iter().map(|(_, output)| output).collect()))
    }
}

/// What an input is, or `None` for one that holds nothing (`None`, text, tokens).
fn arg<'g>(spec: &'g InputSpec, argument: &'g Argument) -> Result<Option<Arg<'g>>, ImportError> {
    let named = |name: &str, kind| Input { name: name.to_owned(), kind };
    let tensor = |value: &'g str, name: &str, kind| Some(Arg { input: named(name, kind), name: Some(value), constant: None });
    Ok(match spec {
        InputSpec::Parameter { arg, parameter_name } => tensor(&arg.name, parameter_name, InputKind::Parameter),
        InputSpec::Buffer { arg, buffer_name } => tensor(&arg.name, buffer_name, InputKind::Buffer),
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
            constant => Some(Arg { input: named(name, InputKind::Input), name: None, constant: Some(constant) }),
        },
        InputSpec::CustomObj { custom_obj_name, .. } => {
            return Err(Refusal::unsupported("a script object has no counterpart in the IR").entry(format!("input `{custom_obj_name}`")));
        }
        InputSpec::Token { .. } => return Err(Refusal::unsupported("effect tokens are not imported").entry("a token input")),
    })
}

fn arg_attrs<'c>(importer: &Importer<'c>, arg: &Arg<'_>) -> Attr<'c> {
    let cx = importer.cx;
    let kind = cx.str_attr(arg.input.kind.spelling());
    cx.dict_attr(&[("capture.kind", kind), ("capture.name", cx.str_attr(&arg.input.name))])
}

/// A weight's stored form must be what the graph expects.
fn weight(program: &Program, graph: &Graph, arg: &Arg<'_>) -> Result<(), Refusal> {
    let tables = [&program.weights, &program.constants];
    let stored = tables.into_iter().flatten().find(|(name, _)| *name == arg.input.name);
    let (_, stored) = stored.ok_or_else(|| Refusal::broken("its value is not in the archive"))?;
    let meta = arg.name.and_then(|name| graph.tensor_values.get(name)).ok_or_else(|| Refusal::broken("it is not described"))?;
    let sizes: Vec<_> = stored.sizes.iter().map(|size| *size as i64).collect();
    let expected: Option<Vec<_>> = meta.sizes.iter().map(types::known).collect();
    if stored.dtype != meta.dtype || expected.as_ref() != Some(&sizes) {
        let why = format!("the graph expects {} {:?}, and {} {sizes:?} is stored", meta.dtype, expected, stored.dtype);
        return Err(Refusal::broken(why));
    }
    Ok(())
}

/// Gives every symbol of the inputs its value: the size that equals it, with its range. All other symbolic sizes of
/// the inputs are then bound to expressions of the symbols, which is a guard.
fn symbols<'c>(importer: &mut Importer<'c>, program: &Program, args: &[Arg<'_>], values: &[Value<'c>]) -> Result<(), ImportError> {
    let graph = &program.exported.graph_module.graph;
    let sizes = args.iter().zip(values).filter_map(|(arg, value)| {
        let meta = graph.tensor_values.get(arg.name?)?;
        Some((*value, meta.sizes.iter().map(types::expr).collect::<Vec<_>>()))
    });
    let sizes: Vec<_> = sizes.collect();
    for (arg, value) in args.iter().zip(values) {
        if let Some(SymInt::Expr(symbol)) = arg.name.and_then(|name| graph.sym_int_values.get(name))
            && let Expr::Symbol(symbol) = &symbol.expr_str
        {
            importer.symbols.define(symbol, *value);
            range_guard(importer, program, symbol, *value);
        }
    }
    let mut bare = HashSet::new();
    for (value, exprs) in &sizes {
        for (dim, expr) in exprs.iter().enumerate() {
            if let Expr::Symbol(symbol) = expr
                && importer.symbols.get(symbol).is_none()
            {
                let (min, max) = range(program.exported.range_constraints.get(symbol));
                let size = dim_op(importer, *value, dim, symbol, min, max);
                importer.symbols.define(symbol, size);
                bare.insert((*value, dim));
            }
        }
    }
    for (value, exprs) in &sizes {
        for (dim, expr) in exprs.iter().enumerate() {
            if !importer.symbols.covers(expr) {
                solve(importer, program, *value, dim, expr).map_err(|refusal| refusal.entry("the sizes of the inputs"))?;
            }
        }
    }
    for (value, exprs) in &sizes {
        let settled = |(dim, expr): (usize, &Expr)| expr.as_int().is_some() || bare.contains(&(*value, dim));
        if !exprs.iter().enumerate().all(settled) {
            bind_dims(importer, *value, exprs).map_err(|refusal| refusal.entry("the sizes of the inputs"))?;
        }
    }
    Ok(())
}

/// The range that a call is checked against. PyTorch writes 2 for a size that it did not specialise, and lets such a
/// size be 0 or 1 when the program runs; a larger bound is checked as it is.
fn range(constraint: Option<&RangeConstraint>) -> (i64, i64) {
    let min = constraint.and_then(|range| range.min_val).filter(|min| *min > 2).unwrap_or(0);
    (min, constraint.and_then(|range| range.max_val).unwrap_or(i64::MAX))
}

fn dim_op<'c>(importer: &mut Importer<'c>, value: Value<'c>, dim: usize, symbol: &str, min: i64, max: i64) -> Value<'c> {
    let cx = importer.cx;
    let attrs = [
        ("dim", cx.i64_attr(dim as i64)),
        ("symbol", cx.str_attr(symbol)),
        ("min", cx.i64_attr(min)),
        ("max", cx.i64_attr(max)),
    ];
    importer.builder.value("capture.dim", &[value], cx.index(), &attrs)
}

/// Finds the one unknown symbol of `factor * symbol + rest` from the size; `bind_dims` then checks the equation.
fn solve<'c>(importer: &mut Importer<'c>, program: &Program, value: Value<'c>, dim: usize, expr: &Expr) -> Result<(), Refusal> {
    let refuse = || Refusal::unsupported(format!("no symbol can be found from the size `{expr}`"));
    let terms = match expr {
        Expr::Call(Func::Add, terms) => terms.as_slice(),
        term => std::slice::from_ref(term),
    };
    let (rest, unknown): (Vec<_>, Vec<_>) = terms.iter().partition(|term| importer.symbols.covers(term));
    let (symbol, factor) = match unknown.as_slice() {
        [Expr::Symbol(symbol)] => (symbol, 1),
        [Expr::Call(Func::Mul, factors)] => match factors.as_slice() {
            [Expr::Int(factor), Expr::Symbol(symbol)] | [Expr::Symbol(symbol), Expr::Int(factor)] if *factor > 0 => (symbol, *factor),
            _ => return Err(refuse()),
        },
        _ => return Err(refuse()),
    };
    let mut size = dim_op(importer, value, dim, &expr.to_string(), 0, i64::MAX);
    for term in rest {
        let term = importer.symbols.build(&mut importer.builder, term)?;
        size = importer.builder.value("arith.subi", &[size, term], size.ty(), &[]);
    }
    let factor = importer.builder.const_index(factor);
    let found = importer.builder.value("arith.floordivsi", &[size, factor], size.ty(), &[]);
    importer.symbols.define(symbol, found);
    range_guard(importer, program, symbol, found);
    Ok(())
}

/// Checks the range of a symbol that is not itself a size.
fn range_guard<'c>(importer: &mut Importer<'c>, program: &Program, symbol: &str, value: Value<'c>) {
    let constraint = program.exported.range_constraints.get(symbol);
    let bounds = constraint.map_or((None, None), |range| (range.min_val, range.max_val));
    for (bound, predicate, text) in [(bounds.0, Predicate::Ge, ">="), (bounds.1, Predicate::Le, "<=")] {
        let Some(bound) = bound else { continue };
        let limit = importer.builder.const_index(bound);
        let holds = compare(&mut importer.builder, predicate, value, limit);
        let text = importer.cx.str_attr(&format!("{symbol} {text} {bound}"));
        importer.builder.effect("capture.guard", &[holds], &[("text", text)]);
    }
}

fn bind_dims<'c>(importer: &mut Importer<'c>, value: Value<'c>, exprs: &[Expr]) -> Result<(), Refusal> {
    let cx = importer.cx;
    let mut symbols = Vec::new();
    for expr in exprs {
        expr.symbols(&mut |symbol| {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        });
    }
    let mut operands = vec![value];
    for symbol in &symbols {
        let found = importer.symbols.get(symbol);
        operands.push(found.ok_or_else(|| Refusal::unsupported(format!("symbol `{symbol}` has no value at the entry")))?);
    }
    let shape: Option<Vec<_>> = exprs.iter().map(|expr| affine(cx, expr, &symbols)).collect();
    let shape = shape.ok_or_else(|| Refusal::unsupported(format!("the sizes {exprs:?} are not affine")))?;
    let shape = cx.map_attr(cx.map(0, symbols.len(), &shape));
    importer.builder.effect("capture.bind_dims", &operands, &[("shape", shape)]);
    Ok(())
}

/// A python number that the exporter saw must be the same in every call.
fn constant_guard<'c>(importer: &mut Importer<'c>, name: &str, constant: &Constant, value: Value<'c>) {
    let cx = importer.cx;
    let builder = &mut importer.builder;
    let (holds, shown) = match constant {
        Constant::AsInt(want) => {
            let want_value = builder.const_index(*want);
            (compare(builder, Predicate::Eq, value, want_value), want.to_string())
        }
        Constant::AsFloat(want) => {
            let want_value = builder.const_float(cx.f64(), want.0);
            let attrs = [("predicate", cx.i64_attr(1))];
            (builder.value("arith.cmpf", &[value, want_value], cx.int(1), &attrs), want.0.to_string())
        }
        Constant::AsBool(want) => {
            let want_value = builder.const_int(cx.int(1), i64::from(*want));
            let attrs = [("predicate", cx.i64_attr(Predicate::Eq as i64))];
            (builder.value("arith.cmpi", &[value, want_value], cx.int(1), &attrs), want.to_string())
        }
        Constant::AsNone(_) | Constant::AsString(_) => return,
    };
    let text = cx.str_attr(&format!("{name} == {shown}"));
    builder.effect("capture.guard", &[holds], &[("text", text)]);
}

/// The program's own guards.
fn guards<'c>(importer: &mut Importer<'c>, program: &Program, args: &[Arg<'_>], values: &[Value<'c>]) -> Result<(), ImportError> {
    let mut seen = HashSet::new();
    let places = reachable(program, args, values);
    for guard in &program.guards {
        if !seen.insert(&guard.text) {
            continue;
        }
        let blame = |refusal: Refusal| refusal.entry(format!("guard `{}` ({MODEL}, guards_code)", guard.text));
        let mut sizes = HashMap::new();
        for (name, place) in &guard.places {
            sizes.insert(name.clone(), place_size(&mut importer.symbols, &places, program, place).map_err(blame)?);
        }
        // Equal sizes of two inputs are one symbol: what `bind_dims` already checks is dropped here.
        let expr = substitute(&guard.expr, &sizes);
        if expr == Expr::Bool(true) {
            continue;
        }
        let holds = importer.symbols.prepare(&mut importer.builder, &expr).map_err(blame)?;
        if holds.ty() != importer.cx.int(1) {
            return Err(blame(Refusal::unsupported("it is not a condition")));
        }
        let text = importer.cx.str_attr(&guard.text);
        importer.builder.effect("capture.guard", &[holds], &[("text", text)]);
    }
    Ok(())
}

/// An input that a guard can reach: its name in the graph, if it is a value there, and its value.
type Reached<'g, 'c> = (Option<&'g str>, Value<'c>);

/// The user inputs by the way that leads to them.
fn reachable<'g, 'c>(program: &Program, args: &[Arg<'g>], values: &[Value<'c>]) -> HashMap<String, Reached<'g, 'c>> {
    let inputs = args.iter().zip(values).filter(|(arg, _)| arg.input.kind == InputKind::Input);
    let inputs: Vec<_> = inputs.map(|(arg, value)| (&arg.input.name, (arg.name, *value))).collect();
    let specs = &program.exported.graph_module.signature.input_specs;
    let users = specs.iter().filter(|spec| matches!(spec, InputSpec::UserInput { .. } | InputSpec::ConstantInput { .. })).count();
    let mut places = HashMap::new();
    if program.inputs.len() == users && inputs.len() == users {
        places.extend(program.inputs.iter().zip(&inputs).map(|(path, (_, reached))| (joined(path), *reached)));
    }
    // The exporter's name of an input is its way joined by underscores, which also covers `*args`.
    for (name, reached) in inputs {
        places.entry(name.clone()).or_insert(reached);
    }
    places
}

fn joined(path: &[Key]) -> String {
    let parts = path.iter().map(|key| match key {
        Key::Index(index) => index.to_string(),
        Key::Name(name) => name.clone(),
    });
    parts.collect::<Vec<_>>().join("_")
}

/// The number that a guard asks for, as an expression of the program's symbols.
fn place_size<'c>(
    symbols: &mut Symbols<'c>,
    places: &HashMap<String, Reached<'_, 'c>>,
    program: &Program,
    place: &Place,
) -> Result<Expr, Refusal> {
    let path = joined(&place.path);
    let (name, value) = places.get(&path).ok_or_else(|| Refusal::unsupported(format!("no input is reached by {path}")))?;
    let Some(dim) = place.dim else {
        if value.ty().is_tensor() {
            return Err(Refusal::unsupported("it compares a tensor"));
        }
        let symbol = format!("input {path}");
        symbols.define(&symbol, *value);
        return Ok(Expr::Symbol(symbol));
    };
    let meta = name.and_then(|name| program.exported.graph_module.graph.tensor_values.get(name));
    let sizes = &meta.ok_or_else(|| Refusal::broken("the input is not a tensor"))?.sizes;
    let size = usize::try_from(dim).ok().and_then(|dim| sizes.get(dim));
    size.map(types::expr).ok_or_else(|| Refusal::broken(format!("the input has no dimension {dim}")))
}

/// Computes every symbolic integer that the inputs determine once, before the first operator.
fn prepare<'c>(importer: &mut Importer<'c>, graph: &Graph) -> Result<(), ImportError> {
    let sizes = |node: &'_ crate::pt2::schema::Node| match (node.target.as_str(), node.outputs.as_slice()) {
        ("torch.ops.aten.sym_size.int", [Argument::AsSymInt(Sym::Name(name))]) => graph.sym_int_values.get(name).map(types::expr),
        _ => None,
    };
    for expr in graph.nodes.iter().filter_map(sizes) {
        if importer.symbols.covers(&expr) {
            // What is no integer arithmetic is refused where it is used, with the node's name.
            let _ = importer.symbols.prepare(&mut importer.builder, &expr);
        }
    }
    for nested in graph.nodes.iter().flat_map(|node| &node.inputs) {
        if let Argument::AsGraph(nested) = &nested.arg {
            prepare(importer, &nested.graph)?;
        }
    }
    Ok(())
}
