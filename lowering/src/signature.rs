//! The signature of a program while a pass gives it other arguments and results.

use strata_core::ir::{Attr, Block, Cx, Op, Type, Value};
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::prim_builder::Prim;

/// The arguments and results of a program with their attributes.
pub(crate) struct Signature<'c> {
    function: Op<'c>,
    /// The body.
    pub block: Block<'c>,
    /// The return.
    pub end: Op<'c>,
    /// The attributes of the arguments.
    pub arguments: Vec<Attr<'c>>,
    /// What is returned, with its attributes: outputs, then mutations.
    pub results: Vec<(Value<'c>, Attr<'c>)>,
}

/// The attributes of a function's arguments or results.
fn attributes<'c>(function: Op<'c>, list: &str, count: usize) -> Vec<Attr<'c>> {
    let found = function.attr(list).and_then(Attr::as_array).unwrap_or_default();
    if found.len() == count { found } else { vec![function.cx().dict_attr(&[]); count] }
}

/// A text among the attributes of an argument or a result.
pub(crate) fn text(attr: Attr<'_>, entry: &str) -> Option<String> {
    attr.entry(entry).and_then(Attr::as_str)
}

impl<'c> Signature<'c> {
    /// Reads it; says why the function is none that can be changed.
    pub fn of(function: Op<'c>) -> Result<Self, String> {
        if capture::continuation(function).is_some() {
            return Err("is one part of a program that graph breaks divide; differentiate a program of one graph".to_owned());
        }
        let block = function.body(0);
        let end = block.terminator().filter(|op| op.isa::<func::Return>()).ok_or("its body does not end in a return")?;
        let arguments = attributes(function, "arg_attrs", block.args().len());
        let results = end.operands().into_iter().zip(attributes(function, "res_attrs", end.num_operands())).collect();
        Ok(Self { function, block, end, arguments, results })
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.function.cx()
    }

    /// How many results are outputs; the others are mutations.
    pub fn outputs(&self) -> usize {
        self.results.iter().filter(|(_, attr)| text(*attr, capture::KIND).is_none_or(|kind| kind == "output")).count()
    }

    /// The name of an argument.
    pub fn name(&self, argument: usize) -> String {
        text(self.arguments[argument], capture::NAME).unwrap_or_else(|| format!("arg{argument}"))
    }

    /// Whether the call gives an argument.
    pub fn is_input(&self, argument: usize) -> bool {
        text(self.arguments[argument], capture::KIND).is_none_or(|kind| kind == "input")
    }

    /// A name that no argument has yet: a joint program that is differentiated again has cotangents already.
    fn fresh(name: &str, taken: impl Fn(&str) -> bool) -> String {
        let mut found = name.to_owned();
        while taken(&found) {
            found.push_str("_2");
        }
        found
    }

    /// Adds an argument; gives it with its name, which is another one where that is taken.
    pub fn add_argument(&mut self, ty: Type<'c>, kind: &str, name: &str, more: &[(&str, Attr<'c>)]) -> (Value<'c>, String) {
        let name = Self::fresh(name, |name| (0..self.arguments.len()).any(|at| self.name(at) == name));
        let cx = self.cx();
        let entries = [&[(capture::KIND, cx.str_attr(kind)), (capture::NAME, cx.str_attr(&name))], more].concat();
        self.arguments.push(cx.dict_attr(&entries));
        (self.block.add_arg(ty, self.function.location()), name)
    }

    /// Adds an output behind the others, before the mutations.
    pub fn add_output(&mut self, value: Value<'c>, name: &str, more: &[(&str, Attr<'c>)]) {
        let taken = |name: &str| self.results.iter().any(|(_, attr)| text(*attr, capture::NAME).as_deref() == Some(name));
        let (name, cx) = (Self::fresh(name, taken), self.cx());
        let entries = [&[(capture::KIND, cx.str_attr("output")), (capture::NAME, cx.str_attr(&name))], more].concat();
        self.results.insert(self.outputs(), (value, cx.dict_attr(&entries)));
    }

    /// Adds the new value of an argument, by its name.
    pub fn add_mutation(&mut self, value: Value<'c>, name: &str) {
        let cx = self.cx();
        let attr = cx.dict_attr(&[(capture::KIND, cx.str_attr("mutation")), (capture::NAME, cx.str_attr(name))]);
        self.results.push((value, attr));
    }

    /// Takes attributes away from all arguments and results.
    pub fn forget(&mut self, names: &[&str]) {
        let cx = self.cx();
        let without = |attr: Attr<'c>| {
            let entries = attr.as_dict().unwrap_or_default();
            let kept: Vec<_> =
                entries.iter().filter(|(name, _)| !names.contains(&name.as_str())).map(|(name, attr)| (name.as_str(), *attr)).collect();
            cx.dict_attr(&kept)
        };
        self.arguments.iter_mut().for_each(|attr| *attr = without(*attr));
        self.results.iter_mut().for_each(|(_, attr)| *attr = without(*attr));
    }

    /// Takes an argument away that nothing uses.
    pub fn erase_argument(&mut self, prim: &Prim<'c>, argument: usize) {
        prim.build(|rewriter| rewriter.erase_arg(self.block, argument));
        self.arguments.remove(argument);
    }

    /// Takes an argument away whose place `value` takes.
    pub fn replace_argument(&mut self, prim: &Prim<'c>, argument: usize, value: Value<'c>) {
        let old = self.block.arg(argument);
        // What is returned may be the argument itself.
        self.results.iter_mut().filter(|(result, _)| *result == old).for_each(|(result, _)| *result = value);
        prim.build(|rewriter| rewriter.replace_uses(old, value));
        self.erase_argument(prim, argument);
    }

    /// Writes it to the function.
    pub fn write(self, prim: &Prim<'c>) {
        let (values, attrs): (Vec<_>, Vec<_>) = self.results.into_iter().unzip();
        let cx = self.function.cx();
        prim.build(|rewriter| {
            rewriter.set_operands(self.end, &values);
            let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
            func::set_type(rewriter, self.function, &types(&self.block.args()), &types(&values));
            rewriter.set_attr(self.function, "arg_attrs", cx.array_attr(&self.arguments));
            rewriter.set_attr(self.function, "res_attrs", cx.array_attr(&attrs));
        });
    }
}
