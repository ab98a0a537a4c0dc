//! A module taken apart into functions that can be transformed alone, and put together again.

use super::sections::{Section, Sections, sections};
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, Builder, Context, Module, Op, OpSpec};
use strata_core::registry::Registry;
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;

/// A module in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The module with its functions as declarations.
    pub shell: String,
    /// Whether there is nothing but functions, so that their texts one after the other are the module's.
    pub plain: bool,
    /// Whether its texts have locations.
    pub located: bool,
    pub functions: Vec<Function>,
}

/// A function that can be transformed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub name: String,
    /// A module with the function, and with what it refers to.
    pub unit: String,
    pub has_body: bool,
}

/// Takes a module apart, without parsing it where its text is plain.
pub(super) fn split(registry: &'static Registry, text: &str, name: &str, located: bool) -> Result<Program, String> {
    let plain = if located { None } else { split_plain(text) };
    plain.map_or_else(|| split_parsed(registry, text, name, located), Ok)
}

/// [`split`], with what the parser says of a text.
pub(super) fn split_parsed(registry: &'static Registry, text: &str, name: &str, located: bool) -> Result<Program, String> {
    split_in(&registry.pooled_context(), text, name, located)
}

/// A module as text.
pub(super) fn print(module: &Module<'_>, located: bool) -> String {
    if located { module.op().to_text_with_locations() } else { module.to_string() }
}

fn split_plain(text: &str) -> Option<Program> {
    let Sections { head, functions: sections } = sections(text)?;
    let heads: HashMap<&str, &str> = sections.iter().map(|section| (section.name, section.head)).collect();
    if heads.len() < sections.len() {
        return None;
    }
    let module = |lines: &mut dyn Iterator<Item = String>| format!("{head} {{\n{}}}\n", lines.map(|line| line + "\n").collect::<String>());
    let declared = |head: &str| format!("func.func private {head}");
    let unit = |section: &Section<'_>| {
        let mut known = HashSet::from([section.name]);
        let others = section.mentions.iter().filter(|name| known.insert(name)).filter_map(|name| heads.get(name));
        module(&mut [section.text.to_owned()].into_iter().chain(others.map(|head| declared(head))))
    };
    let shell = module(&mut sections.iter().map(|section| declared(section.head)));
    let function = |section: &Section<'_>| Function { name: section.name.to_owned(), unit: unit(section), has_body: section.has_body };
    Some(Program { shell, plain: true, located: false, functions: sections.iter().map(function).collect() })
}

fn split_in(context: &Context, text: &str, name: &str, located: bool) -> Result<Program, String> {
    let module = Module::parse(context, text, name).map_err(|error| error.to_string())?;
    let symbols: HashMap<String, Op<'_>> = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    let mut functions = Vec::new();
    for op in bodies(&module) {
        let symbol = op.str("sym_name").unwrap_or_default();
        let unit = print(&unit(&module, op, &symbols), located);
        functions.push(Function { name: symbol, unit, has_body: true });
    }
    for op in bodies(&module) {
        let mut rewriter = Rewriter::before(op);
        declare(&mut rewriter, op);
        rewriter.erase(op);
    }
    Ok(Program { shell: print(&module, located), plain: false, located, functions })
}

impl Program {
    /// The module in one text.
    pub(super) fn text(&self, registry: &'static Registry) -> Result<String, String> {
        let bodies = || self.functions.iter().filter(|function| function.has_body);
        self.plain_text().map_or_else(|| join_in(&registry.pooled_context(), self, bodies()), Ok)
    }

    /// The text without the parser's help: a function looks the same in its unit and in the whole module, but for aliases.
    fn plain_text(&self) -> Option<String> {
        let mut text = format!("{} {{\n", sections(&self.shell).filter(|_| self.plain)?.head);
        for function in &self.functions {
            let sections = sections(&function.unit)?.functions;
            let own = sections.iter().find(|section| section.name == function.name)?;
            text.extend(["  ", own.text, "\n"]);
        }
        Some(text + "}\n")
    }
}

/// Puts the functions of units into the places that a shell keeps for them.
fn join_in<'a>(context: &Context, program: &Program, functions: impl Iterator<Item = &'a Function>) -> Result<String, String> {
    let module = Module::parse(context, &program.shell, "between passes").map_err(|error| error.to_string())?;
    let places: HashMap<String, Op<'_>> = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    for Function { name, unit, .. } in functions {
        let unit = Module::parse(context, unit, name).map_err(|error| error.to_string())?;
        let function = bodies(&unit).into_iter().find(|op| op.str("sym_name").as_ref() == Some(name));
        let (place, function) = places.get(name).copied().zip(function).ok_or_else(|| format!("a pass on functions removed '{name}'"))?;
        Rewriter::before(place).replace_with_copy(place, function);
    }
    Ok(print(&module, program.located))
}

/// The functions that have a body.
fn bodies<'c>(module: &Module<'c>) -> Vec<Op<'c>> {
    let ops = module.body().ops().into_iter();
    ops.filter(|op| op.isa::<func::Func>() && op.region(0).entry().is_some()).collect()
}

/// A module with one function: functions that it refers to are declared, other symbols are there in full.
pub(crate) fn unit<'c>(module: &Module<'c>, function: Op<'c>, symbols: &HashMap<String, Op<'c>>) -> Module<'c> {
    let alone = Module::empty_like(module);
    let mut b = Builder::at_end(alone.body(), function.location());
    b.clone_op(function, &[]);
    let mut known: HashSet<String> = function.str("sym_name").into_iter().collect();
    let mut open = references(function);
    while let Some(name) = open.pop() {
        let Some(&op) = symbols.get(&name).filter(|_| known.insert(name)) else { continue };
        if op.isa::<func::Func>() {
            declare(&mut b, op);
        } else {
            open.extend(references(op));
            b.clone_op(op, &[]);
        }
    }
    alone
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
    b.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
}
