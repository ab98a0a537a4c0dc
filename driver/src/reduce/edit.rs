//! Changes that make a program smaller, each on a range of the places where it could be made.

use super::instead::Instead;
use std::ops::Range;
use strata_core::ir::{Attr, Op, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// An op goes away; other values stand for its results.
    Op,
    /// A function gives one result fewer.
    Result,
    /// A function takes one argument fewer, which nothing uses.
    Argument,
    /// An attribute goes away.
    Attribute,
    /// The elements of a constant are all its first one.
    Elements,
}

impl Edit {
    /// All of them, the boldest first.
    pub const ALL: [Edit; 5] = [Edit::Result, Edit::Op, Edit::Argument, Edit::Attribute, Edit::Elements];

    /// In how many places the change could be made.
    pub fn count(self, module: Op<'_>) -> usize {
        match self {
            Self::Op => removable(module).len(),
            Self::Result => signatures(module, Type::results).len(),
            Self::Argument => signatures(module, Type::inputs).len(),
            Self::Attribute => attributes(module).len(),
            Self::Elements => constants(module).len(),
        }
    }

    /// Makes it in some of these places, as far as it can be made there.
    pub fn apply(self, module: Op<'_>, range: Range<usize>, way: Instead) {
        let mut rewriter = Rewriter::before(module);
        match self {
            Self::Op => removable(module)[range].iter().rev().for_each(|op| remove(*op, way, &mut rewriter)),
            Self::Result => {
                let places = signatures(module, Type::results);
                places[range].iter().rev().for_each(|(function, at)| drop_result(*function, *at, &mut rewriter));
            }
            Self::Argument => {
                let places = signatures(module, Type::inputs);
                places[range].iter().rev().for_each(|(function, at)| drop_argument(*function, *at, &mut rewriter));
            }
            Self::Attribute => {
                for (op, name) in &attributes(module)[range] {
                    rewriter.remove_attr(*op, name);
                }
            }
            Self::Elements => {
                for (op, name, splat) in &constants(module)[range] {
                    rewriter.set_attr(*op, name, *splat);
                }
            }
        }
    }
}

/// All ops but the module and those that end a block.
fn removable(module: Op<'_>) -> Vec<Op<'_>> {
    let mut ops = Vec::new();
    module.walk(&mut |op| {
        if op.block().is_some_and(|block| block.terminator() != Some(op)) {
            ops.push(op);
        }
    });
    ops
}

fn remove<'c>(op: Op<'c>, way: Instead, rewriter: &mut Rewriter<'c>) {
    for result in op.results() {
        if result.is_unused() {
            continue;
        }
        match way.or_any(op, result, rewriter) {
            Some(value) => rewriter.replace_uses(result, value),
            None => return,
        }
    }
    rewriter.erase(op);
}

/// Functions with a body, once for each of their arguments or results.
fn signatures<'c>(module: Op<'c>, list: fn(Type<'c>) -> Vec<Type<'c>>) -> Vec<(Op<'c>, usize)> {
    let functions = module.find_all(func::Func::NAME).into_iter().filter(|op| op.region(0).entry().is_some());
    functions.flat_map(|op| (0..function_type(op).map_or(0, |ty| list(ty).len())).map(move |at| (op, at))).collect()
}

fn function_type(function: Op<'_>) -> Option<Type<'_>> {
    function.attr("function_type").and_then(Attr::as_type).filter(|ty| ty.is_function())
}

/// How many arguments and results a type of functions has; 0 for others.
pub(super) fn arity(ty: Type<'_>) -> usize {
    if ty.is_function() { ty.inputs().len() + ty.results().len() } else { 0 }
}

/// Types of arguments or results, with their attributes.
type Entries<'c> = Vec<(Type<'c>, Attr<'c>)>;

/// Changes what a function says of its arguments and results.
pub(super) fn set_signature<'c>(rewriter: &mut Rewriter<'c>, function: Op<'c>, change: &mut dyn FnMut(&mut Entries<'c>, &mut Entries<'c>)) {
    let Some(ty) = function_type(function) else { return };
    let cx = function.cx();
    let list = |name: &str, types: Vec<Type<'c>>| -> Entries<'c> {
        let attrs = function.attr(name).and_then(Attr::as_array).filter(|attrs| attrs.len() == types.len());
        let attrs = attrs.unwrap_or_else(|| vec![cx.dict_attr(&[]); types.len()]);
        types.into_iter().zip(attrs).collect()
    };
    let (mut inputs, mut results) = (list("arg_attrs", ty.inputs()), list("res_attrs", ty.results()));
    change(&mut inputs, &mut results);
    let types = |entries: &Entries<'c>| entries.iter().map(|(ty, _)| *ty).collect::<Vec<_>>();
    func::set_type(rewriter, function, &types(&inputs), &types(&results));
    for (name, entries) in [("arg_attrs", inputs), ("res_attrs", results)] {
        if function.attr(name).is_some() {
            rewriter.set_attr(function, name, cx.array_attr(&entries.iter().map(|(_, attr)| *attr).collect::<Vec<_>>()));
        }
    }
}

fn drop_result<'c>(function: Op<'c>, at: usize, rewriter: &mut Rewriter<'c>) {
    for end in function.region(0).blocks().into_iter().filter_map(|block| block.terminator()).filter(|op| op.isa::<func::Return>()) {
        let mut operands = end.operands();
        operands.remove(at);
        rewriter.set_operands(end, &operands);
    }
    set_signature(rewriter, function, &mut |_, results| {
        results.remove(at);
    });
}

fn drop_argument<'c>(function: Op<'c>, at: usize, rewriter: &mut Rewriter<'c>) {
    let body = function.body(0);
    if body.arg(at).is_unused() {
        rewriter.erase_arg(body, at);
        set_signature(rewriter, function, &mut |inputs, _| {
            inputs.remove(at);
        });
    }
}

/// Attributes that may go away: not those that make a function or a constant what it is.
fn attributes(module: Op<'_>) -> Vec<(Op<'_>, String)> {
    let mut found = Vec::new();
    module.walk(&mut |op| {
        let names = op.attrs().into_iter().map(|(name, _)| name);
        found.extend(names.filter(|name| !matches!(name.as_str(), "function_type" | "sym_name" | "value")).map(|name| (op, name)));
    });
    found
}

/// Constants with several elements, and what they are with one.
fn constants<'c>(module: Op<'c>) -> Vec<(Op<'c>, String, Attr<'c>)> {
    let mut found = Vec::new();
    module.walk(&mut |op| {
        for (name, attr) in op.attrs() {
            let Some((bytes, false)) = attr.as_dense() else { continue };
            let size = attr.ty().element_type().map_or(0, |element| element.bytes());
            let splat = bytes.get(..size).filter(|first| !first.is_empty()).and_then(|first| op.cx().dense_attr(attr.ty(), first));
            found.extend(splat.map(|splat| (op, name, splat)));
        }
    });
    found
}
