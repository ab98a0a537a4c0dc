//! What a captured entry takes and gives.

use super::Error;
use std::collections::HashMap;
use strata_core::ir::{Attr, DYNAMIC, ElementType, Op, Type};
use strata_dialects::capture;
use strata_dialects::capture::{Continuation, continuation, dim_order};

/// One argument of the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// `input`, `parameter`, `buffer`, `constant`, `state`, or `prepared` for what `@prepare` computes from weights.
    pub kind: String,
    /// Its name in the captured program.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Sizes; `None` is symbolic.
    pub shape: Vec<Option<i64>>,
    /// Its dims from the outermost to the innermost in memory, where it is not row-major.
    pub dim_order: Option<Vec<usize>>,
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
    /// Its dims from the outermost to the innermost in memory, where it is not row-major.
    pub dim_order: Option<Vec<usize>>,
    /// Whether it may be written over the old value of what is mutated.
    pub in_place: bool,
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
    /// Takes over what a later level says of the same program: its prepared weights, and which results are written in place. All else stays
    /// as it was.
    pub fn prepare(&mut self, later: &Program) {
        for (result, later) in self.results.iter_mut().zip(&later.results) {
            result.in_place = later.in_place;
        }
        let known = std::mem::take(&mut self.arguments);
        let places: HashMap<_, _> =
            known.iter().filter(|old| !old.is_prepared()).map(|old| ((old.kind.as_str(), old.index), old)).collect();
        let same = |new: &Argument| places.get(&(new.kind.as_str(), new.index)).copied();
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

    /// Whether it is the state of an optimizer, which begins as zeros.
    pub fn is_state(&self) -> bool {
        self.kind == "state"
    }

    /// Whether `@prepare` computes it.
    pub fn is_prepared(&self) -> bool {
        self.kind == "prepared"
    }
}

/// `capture.kind` and `capture.name` of all arguments or results of a function.
fn attributes(func: Op<'_>, list: &str) -> Vec<(Option<String>, Option<String>)> {
    let dicts = func.attr(list).and_then(Attr::as_array).unwrap_or_default();
    let text = |dict: Attr<'_>, name: &str| dict.entry(name).and_then(Attr::as_str);
    dicts.into_iter().map(|dict| (text(dict, capture::KIND), text(dict, capture::NAME))).collect()
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
        let order = |list: &str, at: usize, ty: Type<'_>| match dim_order(func, list, at) {
            Some(order) if order.len() != ty.rank() => Err(Error::at(func, format!("{order:?} is no order of the dims of {ty}"))),
            order => Ok(order),
        };
        let (mut arguments, mut known) = (Vec::new(), attributes(func, "arg_attrs").into_iter());
        for (at, ty) in ty.inputs().into_iter().enumerate() {
            let (kind, name) = known.next().unwrap_or_default();
            let kind = kind.unwrap_or_else(|| "input".to_owned());
            let counter = if kind == "input" { &mut inputs } else { &mut weights };
            *counter += 1;
            let index = *counter - 1;
            let name = name.unwrap_or_else(|| format!("arg{at}"));
            let dim_order = order("arg_attrs", at, ty)?;
            arguments.push(Argument { kind, name, element: element(ty)?, shape: sizes(ty), dim_order, tensor: ty.is_tensor(), index });
        }
        let (mut results, mut known) = (Vec::new(), attributes(func, "res_attrs").into_iter());
        let in_place = func.attr("res_attrs").and_then(Attr::as_array).unwrap_or_default();
        let in_place: Vec<_> = in_place.into_iter().map(|dict| dict.entry(capture::IN_PLACE).is_some()).collect();
        for (at, ty) in ty.results().into_iter().enumerate() {
            let (kind, name) = known.next().unwrap_or_default();
            results.push(Returned {
                kind: kind.unwrap_or_else(|| "output".to_owned()),
                name: name.unwrap_or_else(|| format!("out{at}")),
                element: element(ty)?,
                shape: sizes(ty),
                dim_order: order("res_attrs", at, ty)?,
                in_place: in_place.get(at).copied().unwrap_or_default(),
            });
        }
        Ok(Self { name: func.str("sym_name").unwrap_or_default(), arguments, results, next: continuation(func) })
    }
}
