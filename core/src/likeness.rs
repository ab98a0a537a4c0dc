//! What operations consist of, so that equal ones can be found without printing them.

use crate::ir::{Attr, Op, Type, Value};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// What of an attribute of an op counts: the attribute, another one in its place, or nothing.
pub type Counts<'a, 'c> = dyn Fn(Op<'c>, &str, Attr<'c>) -> Option<Attr<'c>> + 'a;

/// Operations by their names, attributes, types and bodies. Attributes and types are one object each in a context, values go by
/// their number. Locations do not count.
#[derive(Default)]
pub struct Likeness<'c> {
    words: Vec<Word<'c>>,
    numbers: HashMap<Value<'c>, usize>,
}

#[derive(PartialEq, Eq, Hash)]
enum Word<'c> {
    Op(&'c str, usize),
    Attr(&'c str, Attr<'c>),
    Type(Type<'c>),
    Value(usize),
    Block,
    Note(Option<Attr<'c>>),
}

impl<'c> Likeness<'c> {
    /// Of the attributes and the body of one op; `counts` gives what of an attribute counts, here and in the body.
    pub fn of_body(op: Op<'c>, counts: &Counts<'_, 'c>) -> Self {
        let mut like = Self::default();
        like.attrs(op, counts);
        like.bodies(op, counts);
        like
    }

    /// A value that the operations read, or an argument: known by its number from now on, and alike where the type is.
    pub fn input(&mut self, value: Value<'c>) {
        self.words.push(Word::Type(value.ty()));
        self.numbers.insert(value, self.numbers.len());
    }

    /// A value that matters as a result.
    pub fn output(&mut self, value: Value<'c>) {
        self.words.push(Word::Value(self.number(value)));
    }

    /// What else must be the same.
    pub fn note(&mut self, attr: Option<Attr<'c>>) {
        self.words.push(Word::Note(attr));
    }

    /// The next operation.
    pub fn op(&mut self, op: Op<'c>) {
        self.op_as(op, &|_, _, attr| Some(attr));
    }

    fn op_as(&mut self, op: Op<'c>, counts: &Counts<'_, 'c>) {
        self.words.push(Word::Op(op.name(), op.regions().len()));
        for operand in op.operands() {
            self.words.push(Word::Value(self.number(operand)));
        }
        self.attrs(op, counts);
        op.results().into_iter().for_each(|result| self.input(result));
        self.bodies(op, counts);
    }

    fn attrs(&mut self, op: Op<'c>, counts: &Counts<'_, 'c>) {
        op.for_each_attr(&mut |name, attr| self.words.extend(counts(op, name, attr).map(|attr| Word::Attr(name, attr))));
    }

    fn bodies(&mut self, op: Op<'c>, counts: &Counts<'_, 'c>) {
        for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
            self.words.push(Word::Block);
            block.args().into_iter().for_each(|argument| self.input(argument));
            block.ops().into_iter().for_each(|op| self.op_as(op, counts));
        }
    }

    fn number(&self, value: Value<'c>) -> usize {
        self.numbers.get(&value).copied().unwrap_or(usize::MAX)
    }
}

impl PartialEq for Likeness<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Likeness<'_> {}

impl Hash for Likeness<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
    }
}
