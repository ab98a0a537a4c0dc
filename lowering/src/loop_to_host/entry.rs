//! What a captured entry takes and gives.

use super::Error;
use strata_core::ir::{Attr, DYNAMIC, ElementType, Op, Type};
use strata_dialects::capture::{Continuation, continuation};

/// One argument of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// `input`, `parameter`, `buffer`, `constant`, or `prepared` for what `@prepare` computes from these.
    pub kind: String,
    /// Its name in the captured program.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Sizes; `None` is symbolic.
    pub shape: Vec<Option<i64>>,
    /// Whether it is a tensor (and not a scalar of the call).
    pub tensor: bool,
    /// Its position among the inputs, or among the weights.
    pub index: usize,
}

/// One result of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// `output`, `mutation`, or `prepared` for a result of `@prepare`.
    pub kind: String,
    /// Name of the output, or of what is mutated.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Sizes; `None` is symbolic.
    pub shape: Vec<Option<i64>>,
}

/// The signature of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Symbol of the entry.
    pub name: String,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// Results in order.
    pub results: Vec<Returned>,
    /// Where the program goes on, when this is not its last part.
    pub next: Option<Continuation>,
}

impl Program {
    /// Takes over the prepared weights of the same program at a later level, where there may be others. All else stays as it was.
    pub fn prepare(&mut self, later: &Program) {
        let known = std::mem::take(&mut self.arguments);
        let same = |new: &Argument| known.iter().find(|old| !old.is_prepared() && (&old.kind, old.index) == (&new.kind, new.index));
        self.arguments = later.arguments.iter().map(|new| same(new).unwrap_or(new).clone()).collect();
    }
}

impl Argument {
    /// Whether the call passes it (and not the program).
    pub fn is_input(&self) -> bool {
        self.kind == "input"
    }

    /// Whether it is data that the program's file brings.
    pub fn is_weight(&self) -> bool {
        !self.is_input() && !self.is_prepared()
    }

    /// Whether `@prepare` computes it.
    pub fn is_prepared(&self) -> bool {
        self.kind == "prepared"
    }
}

fn attributes<'c>(func: Op<'c>, list: &str, at: usize) -> (Option<String>, Option<String>) {
    let dict = func.attr(list).and_then(Attr::as_array).and_then(|dicts| dicts.get(at).copied());
    let text = |name: &str| dict.and_then(|dict| dict.entry(name)).and_then(Attr::as_str);
    (text("capture.kind"), text("capture.name"))
}

fn sizes(ty: Type<'_>) -> Vec<Option<i64>> {
    ty.shape().into_iter().map(|size| (size != DYNAMIC).then_some(size)).collect()
}

impl Program {
    /// Reads the signature of a function.
    pub fn of(func: Op<'_>) -> Result<Self, Error> {
        let ty = func.attr("function_type").and_then(Attr::as_type).ok_or_else(|| Error::at(func, "it has no type"))?;
        let (mut inputs, mut weights) = (0, 0);
        let element = |ty: Type<'_>| ty.element_type().ok_or_else(|| Error::at(func, format!("values of type {ty} cannot cross the call")));
        let mut arguments = Vec::new();
        for (at, ty) in ty.inputs().into_iter().enumerate() {
            let (kind, name) = attributes(func, "arg_attrs", at);
            let kind = kind.unwrap_or_else(|| "input".to_owned());
            let counter = if kind == "input" { &mut inputs } else { &mut weights };
            *counter += 1;
            let index = *counter - 1;
            let name = name.unwrap_or_else(|| format!("arg{at}"));
            arguments.push(Argument { kind, name, element: element(ty)?, shape: sizes(ty), tensor: ty.is_tensor(), index });
        }
        let mut results = Vec::new();
        for (at, ty) in ty.results().into_iter().enumerate() {
            let (kind, name) = attributes(func, "res_attrs", at);
            results.push(Returned {
                kind: kind.unwrap_or_else(|| "output".to_owned()),
                name: name.unwrap_or_else(|| format!("out{at}")),
                element: element(ty)?,
                shape: sizes(ty),
            });
        }
        Ok(Self { name: func.str("sym_name").unwrap_or_default(), arguments, results, next: continuation(func) })
    }
}
