//! What a program function says about its arguments and results.

use std::collections::HashSet;

use strata_core::ir::{Attr, Op, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture;

/// Attributes of a function's arguments and results, to be read, extended and written back.
pub(crate) struct Signature<'c> {
    function: Op<'c>,
    pub arguments: Vec<Attr<'c>>,
    pub results: Vec<Attr<'c>>,
}

fn text(dict: Attr<'_>, name: &str) -> Option<String> {
    dict.entry(name).and_then(Attr::as_str)
}

impl<'c> Signature<'c> {
    pub fn of(function: Op<'c>) -> Self {
        let (inputs, results) = match function.attr("function_type").and_then(Attr::as_type) {
            Some(ty) => (ty.inputs().len(), ty.results().len()),
            None => (0, 0),
        };
        let empty = function.cx().dict_attr(&[]);
        let dicts = |name: &str, count: usize| {
            let listed = function.attr(name).and_then(Attr::as_array).filter(|dicts| dicts.len() == count);
            listed.unwrap_or_else(|| vec![empty; count])
        };
        Self { function, arguments: dicts("arg_attrs", inputs), results: dicts("res_attrs", results) }
    }

    /// `capture.kind` of an argument.
    pub fn kind(&self, at: usize) -> String {
        self.arguments.get(at).and_then(|dict| text(*dict, capture::KIND)).unwrap_or_else(|| "input".to_owned())
    }

    /// Whether a result is the new value of what a call changes.
    pub fn is_mutation(&self, result: usize) -> bool {
        self.results.get(result).and_then(|dict| text(*dict, capture::KIND)).as_deref() == Some("mutation")
    }

    /// Whether an argument is a weight that no call changes.
    pub fn is_fixed_weight(&self, at: usize) -> bool {
        let changed = |name: &str| {
            let named = |at: &usize| text(self.results[*at], capture::NAME).as_deref() == Some(name);
            (0..self.results.len()).filter(named).any(|at| self.is_mutation(at))
        };
        let name = self.arguments.get(at).and_then(|dict| text(*dict, capture::NAME));
        self.kind(at) != "input" && name.is_some_and(|name| !changed(&name))
    }

    /// Gives names for prepared values that no argument has, numbered from what is asked for.
    pub fn fresh_names(&self) -> impl FnMut(usize) -> String + use<> {
        let mut taken: HashSet<_> = self.arguments.iter().filter_map(|dict| text(*dict, capture::NAME)).collect();
        move |from| {
            let names = (from..).map(|number| format!("prepared.{number}"));
            let fresh = names.into_iter().find(|name| taken.insert(name.clone()));
            fresh.unwrap_or_default()
        }
    }

    /// Writes the attributes back, with the types of the arguments and the results.
    pub fn write(&self, rewriter: &mut Rewriter<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) {
        let cx = self.function.cx();
        func::set_type(rewriter, self.function, inputs, results);
        rewriter.set_attr(self.function, "arg_attrs", cx.array_attr(&self.arguments));
        rewriter.set_attr(self.function, "res_attrs", cx.array_attr(&self.results));
    }
}

/// The attributes of prepared value `name`.
pub(super) fn prepared<'c>(function: Op<'c>, name: &str) -> Attr<'c> {
    let cx = function.cx();
    cx.dict_attr(&[(capture::KIND, cx.str_attr("prepared")), (capture::NAME, cx.str_attr(name))])
}
