//! Values of the program while it is evaluated: Python's own live at import time, tensors and numbers known only at a call are values of
//! the IR.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use strata_core::ir;

use super::rows::Row;
use super::text::ast::Function;

/// A value of the program.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are Python's")]
pub enum Value<'c> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    Str(Rc<str>),
    Device(Rc<str>),
    Tensor(ir::Value<'c>),
    /// A number that only a call knows: `index`, `f64` or `i1`.
    Number(ir::Value<'c>),
    Tuple(Rc<[Value<'c>]>),
    List(Shared<Vec<Value<'c>>>),
    /// Items in the order in which they were added.
    Dict(Shared<Vec<(Value<'c>, Value<'c>)>>),
    Object(Rc<Object<'c>>),
    /// The one item of a list whose length only a call knows: its items are the rows of the tensor.
    Rows(ir::Value<'c>, Row<'c>),
    /// A member of an enum: its class and name, and its value.
    Member(Rc<str>, Rc<Value<'c>>),
    /// A function with the variables around it; `fork` makes one.
    Closure(Rc<Function>, Rc<Vec<(String, Value<'c>)>>),
    /// What a branch left open that raises.
    Uninitialized,
    /// What two branches leave that cannot be joined; it is an error to read it.
    Apart,
    /// A result of an op that is not made yet.
    Slot(usize),
    /// The same, for the rows of a list.
    SlotRows(usize, Row<'c>),
}

/// Something that may be changed, by whoever stands in a region as deep as its own or deeper.
#[derive(Debug)]
pub struct Shared<T>(Rc<(u32, RefCell<T>)>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    /// Made in so many regions whose execution only a call decides.
    pub fn new(depth: u32, value: T) -> Self {
        Self(Rc::new((depth, RefCell::new(value))))
    }

    /// The number of regions around it.
    pub fn depth(&self) -> u32 {
        self.0.0
    }

    pub fn borrow(&self) -> Ref<'_, T> {
        self.0.1.borrow()
    }

    pub fn borrow_mut(&self) -> RefMut<'_, T> {
        self.0.1.borrow_mut()
    }

    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// An object of a class of the archive.
#[derive(Debug)]
pub struct Object<'c> {
    /// The class's qualified name.
    pub class: Rc<str>,
    /// The way to it from the module that was saved; empty for one that the program made.
    pub path: String,
    /// Its attributes.
    pub attrs: Shared<Vec<(String, Value<'c>)>>,
}

impl<'c> Object<'c> {
    pub fn get(&self, name: &str) -> Option<Value<'c>> {
        self.attrs.borrow().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    pub fn set(&self, name: &str, value: Value<'c>) {
        let mut attrs = self.attrs.borrow_mut();
        match attrs.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => attrs.push((name.to_owned(), value)),
        }
    }
}

impl<'c> Value<'c> {
    pub fn text(text: &str) -> Self {
        Value::Str(text.into())
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an int",
            Value::Float(_) => "a float",
            Value::Complex(..) => "a complex number",
            Value::Str(_) => "a string",
            Value::Device(_) => "a device",
            Value::Tensor(_) => "a tensor",
            Value::Number(_) => "a number that only a call knows",
            Value::Tuple(_) => "a tuple",
            Value::List(_) => "a list",
            Value::Dict(_) => "a dict",
            Value::Object(_) => "an object",
            Value::Rows(..) => "a list whose length only a call knows",
            Value::Member(..) => "a member of an enum",
            Value::Closure(..) => "a function",
            Value::Uninitialized | Value::Slot(_) | Value::SlotRows(..) => "nothing",
            Value::Apart => "a value that two branches leave with different ranks, lengths or types",
        }
    }

    /// Whether it is an int, a float or a bool.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Number(_))
    }

    /// The items of a list or tuple.
    pub fn items(&self) -> Option<Vec<Value<'c>>> {
        match self {
            Value::Tuple(items) => Some(items.to_vec()),
            Value::List(items) => Some(items.borrow().clone()),
            Value::Object(object) if object.get(FIELDS).is_some() => {
                Some(object.attrs.borrow().iter().filter(|(name, _)| name != FIELDS).map(|(_, value)| value.clone()).collect())
            }
            _ => None,
        }
    }

    /// Whether a tensor is somewhere in it, or in a list or tuple.
    pub fn has_tensor(&self) -> bool {
        match self {
            Value::Tensor(_) | Value::Rows(..) => true,
            Value::Tuple(items) => items.iter().any(Value::has_tensor),
            Value::List(items) => items.borrow().iter().any(Value::has_tensor),
            _ => false,
        }
    }

    /// Whether it, or a list or dict's length, is what two branches leave that cannot be joined.
    pub fn is_apart(&self) -> bool {
        match self {
            Value::Apart => true,
            Value::List(items) => items.borrow().iter().any(|item| matches!(item, Value::Apart)),
            Value::Dict(items) => items.borrow().iter().any(|(key, _)| matches!(key, Value::Apart)),
            _ => false,
        }
    }

    /// Whether both are the same value of the program: equal numbers and texts, the same tensor, the same object.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::None, Value::None) | (Value::Uninitialized, Value::Uninitialized) | (Value::Apart, Value::Apart) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Complex(a, b), Value::Complex(c, d)) => a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits(),
            (Value::Str(a), Value::Str(b)) | (Value::Device(a), Value::Device(b)) => a == b,
            (Value::Tensor(a), Value::Tensor(b)) | (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (Value::List(a), Value::List(b)) => a.is(b),
            (Value::Dict(a), Value::Dict(b)) => a.is(b),
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            (Value::Rows(a, _), Value::Rows(b, _)) => a == b,
            (Value::Member(a, _), Value::Member(b, _)) => a == b,
            (Value::Closure(a, _), Value::Closure(b, _)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The attribute that marks a NamedTuple, whose other attributes are its fields in order.
pub const FIELDS: &str = "__fields__";
