//! A module taken apart into functions that can be transformed alone, and put together again.

use crate::compile::with_context;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, Builder, Context, Module, Op, OpSpec};

/// A module in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The module with its functions as declarations.
    pub shell: String,
    /// Name and unit of each function: a module with the function, and with what it refers to.
    pub functions: Vec<(String, String)>,
}

/// Takes a module apart.
pub(super) fn split(text: &str, name: &str) -> Result<Program, String> {
    with_context(|context| split_in(context, text, name))
}

fn split_in(context: &Context, text: &str, name: &str) -> Result<Program, String> {
    let module = Module::parse(context, text, name).map_err(|error| error.to_string())?;
    let symbols: HashMap<String, Op<'_>> = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    let mut functions = Vec::new();
    for op in bodies(&module) {
        let symbol = op.str("sym_name").unwrap_or_default();
        functions.push((symbol, unit(&module, op, &symbols)));
    }
    for op in bodies(&module) {
        declare(&mut Builder::before(op), op);
        op.erase();
    }
    Ok(Program { shell: module.to_string(), functions })
}

/// Puts the functions of units into the places that a shell keeps for them.
pub(super) fn join<'a>(shell: &str, units: impl Iterator<Item = (&'a str, &'a str)>) -> Result<String, String> {
    with_context(|context| join_in(context, shell, units))
}

fn join_in<'a>(context: &Context, shell: &str, units: impl Iterator<Item = (&'a str, &'a str)>) -> Result<String, String> {
    let module = Module::parse(context, shell, "between passes").map_err(|error| error.to_string())?;
    let places: HashMap<String, Op<'_>> = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    for (name, text) in units {
        let unit = Module::parse(context, text, name).map_err(|error| error.to_string())?;
        let function = bodies(&unit).into_iter().find(|op| op.str("sym_name").as_deref() == Some(name));
        let (place, function) = places.get(name).copied().zip(function).ok_or_else(|| format!("a pass on functions removed '{name}'"))?;
        Builder::before(place).clone_op(function, &[]);
        place.erase();
    }
    Ok(module.to_string())
}

/// The functions that have a body.
fn bodies<'c>(module: &Module<'c>) -> Vec<Op<'c>> {
    let ops = module.body().ops().into_iter();
    ops.filter(|op| op.is("func.func") && op.region(0).entry().is_some()).collect()
}

/// The text of a module with one function: functions that it refers to are declared, other symbols are there in full.
fn unit<'c>(module: &Module<'c>, function: Op<'c>, symbols: &HashMap<String, Op<'c>>) -> String {
    let alone = Module::new(module.cx());
    let mut b = Builder::at_end(alone.body(), function.location());
    b.clone_op(function, &[]);
    let mut known: HashSet<String> = function.str("sym_name").into_iter().collect();
    let mut open = references(function);
    while let Some(name) = open.pop() {
        let Some(&op) = symbols.get(&name).filter(|_| known.insert(name)) else { continue };
        if op.is("func.func") {
            declare(&mut b, op);
        } else {
            open.extend(references(op));
            b.clone_op(op, &[]);
        }
    }
    alone.to_string()
}

/// The symbols that an op and what is in it refer to, the last first.
fn references(op: Op<'_>) -> Vec<String> {
    let mut names = Vec::new();
    op.walk(&mut |op| names.extend(op.attrs().into_iter().filter_map(|(_, attr): (_, Attr<'_>)| attr.as_symbol())));
    names.reverse();
    names
}

fn declare<'c>(b: &mut Builder<'c>, function: Op<'c>) {
    let cx = function.cx();
    let mut attrs: Vec<_> = function.attrs();
    attrs.retain(|(name, _)| name != "sym_visibility");
    attrs.push(("sym_visibility".into(), cx.str_attr("private")));
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_ref(), *attr)).collect();
    b.op(OpSpec { name: "func.func", attrs: &attrs, regions: 1, ..OpSpec::default() });
}
