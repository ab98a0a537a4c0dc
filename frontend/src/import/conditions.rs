//! What holds at the entry: the values of the symbols, the ranges of sizes, and the guards.

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Builder, Cx, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_dialects::capture;

use super::{
    InputKind,
    entry::Arg,
    error::{ImportError, Refusal},
    node::Importer,
    symbols::{Symbols, affine, substitute},
    types,
};
use crate::pt2::{
    Program,
    argument::{Argument, Sym},
    expr::{Expr, Func},
    guard::Place,
    program::MODEL,
    pytree::Key,
    schema::{Constant, Graph, InputSpec, RangeConstraint, SymInt},
};

/// Gives every symbol of the inputs its value: the size that equals it, with its range. All other symbolic sizes of
/// the inputs are then bound to expressions of the symbols, which is a guard.
pub(super) fn symbols<'c>(
    importer: &mut Importer<'c>,
    program: &Program,
    args: &[Arg<'_>],
    values: &[Value<'c>],
) -> Result<(), ImportError> {
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
    let attrs = [("dim", cx.i64_attr(dim as i64)), ("symbol", cx.str_attr(symbol)), ("min", cx.i64_attr(min)), ("max", cx.i64_attr(max))];
    importer.builder.value(capture::Dim::NAME, &[value], cx.index(), &attrs)
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
        size = arith::subi(&mut importer.builder, size, term);
    }
    let factor = importer.builder.const_index(factor);
    let found = arith::floordivsi(&mut importer.builder, size, factor);
    importer.symbols.define(symbol, found);
    range_guard(importer, program, symbol, found);
    Ok(())
}

/// Checks the range of a symbol that is not itself a size.
fn range_guard<'c>(importer: &mut Importer<'c>, program: &Program, symbol: &str, value: Value<'c>) {
    let constraint = program.exported.range_constraints.get(symbol);
    let bounds = constraint.map_or((None, None), |range| (range.min_val, range.max_val));
    for (bound, predicate, text) in [(bounds.0, CmpIPredicate::Sge, ">="), (bounds.1, CmpIPredicate::Sle, "<=")] {
        let Some(bound) = bound else { continue };
        let limit = importer.builder.const_index(bound);
        let holds = arith::cmpi(&mut importer.builder, predicate, value, limit);
        let text = importer.cx.str_attr(&format!("{symbol} {text} {bound}"));
        importer.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
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
    importer.builder.effect(capture::BindDims::NAME, &operands, &[("shape", shape)]);
    Ok(())
}

/// A python number that the exporter saw must be the same in every call.
pub(crate) fn constant_guard<'c>(cx: Cx<'c>, builder: &mut Builder<'c>, name: &str, constant: &Constant, value: Value<'c>) {
    let (holds, shown) = match constant {
        Constant::AsInt(want) => {
            let want_value = builder.const_index(*want);
            (arith::cmpi(builder, CmpIPredicate::Eq, value, want_value), want.to_string())
        }
        Constant::AsFloat(want) => {
            let want_value = builder.const_float(cx.f64(), want.0);
            (arith::cmpf(builder, CmpFPredicate::Oeq, value, want_value), want.0.to_string())
        }
        Constant::AsBool(want) => {
            let want_value = builder.const_int(cx.int(1), i64::from(*want));
            (arith::cmpi(builder, CmpIPredicate::Eq, value, want_value), want.to_string())
        }
        Constant::AsNone(_) | Constant::AsString(_) => return,
    };
    let text = cx.str_attr(&format!("{name} == {shown}"));
    builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
}

/// The program's own guards.
pub(super) fn guards<'c>(
    importer: &mut Importer<'c>,
    program: &Program,
    args: &[Arg<'_>],
    values: &[Value<'c>],
) -> Result<(), ImportError> {
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
        importer.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
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
pub(super) fn prepare<'c>(importer: &mut Importer<'c>, graph: &Graph) -> Result<(), ImportError> {
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
