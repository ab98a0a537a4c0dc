//! What a loop carries: tensors and numbers of its variables, lists, dicts and objects are opened into slots before it, and closed at the
//! end of each step.

use std::collections::BTreeSet;

use strata_core::ir::{self, Op, Type};

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::join::{anything, has_slot, with_items};
use super::journal::Place;
use super::rows::{self, Row};
use super::text::ast::{Stmt, StmtKind, Target};
use super::value::Value;
use super::writes::{Written, itself, outer};

/// What a loop carries, as far as its body was seen to need it.
#[derive(Default)]
pub(super) struct Carried<'c> {
    /// Variables that name one tensor in every step: they are not carried.
    pub steady: BTreeSet<String>,
    /// Variables that were thought to, and do not.
    pub moving: BTreeSet<String>,
    /// Why the body was refused; it is evaluated once more without regard to names of tensors, which may show variables that name one.
    pub refused: Option<Stop>,
    /// Variables without a value before the loop, and one of the type that they get.
    pub opened: Vec<(String, Value<'c>)>,
    /// Lists, dicts and objects that a step changes, and which of their items.
    pub places: Vec<(Place<'c>, BTreeSet<usize>)>,
    /// Lists that a step appends to, and the type of what it appends.
    pub rows: Vec<(Place<'c>, Row<'c>)>,
    /// Tensors around the loop that it writes to.
    pub written: Vec<Written<'c>>,
    /// The types of the slots, once they are wider than those of the start.
    pub types: Vec<Type<'c>>,
    /// Slots that a step leaves with tensors that may be views of one, two by two.
    pub related: Vec<(usize, usize)>,
    /// Slots that a step leaves with tensors that may be views of tensors around the loop.
    pub views: Vec<(usize, ir::Value<'c>)>,
}

impl<'c> Carried<'c> {
    /// Forgets what is known by slots: others are carried.
    pub fn forget(&mut self) {
        self.types.clear();
        self.related.clear();
        self.views.clear();
    }

    /// Notes which items of a list, dict or object a step changes; whether it changes more than was known.
    pub fn changes(&mut self, place: &Place<'c>, before: &Value<'c>, after: &Value<'c>) -> Eval<bool> {
        if self.rows.iter().any(|(known, _)| known.is(place)) {
            return Ok(false);
        }
        if let (Value::List(before), Value::List(after)) = (before, after)
            && let Some(row) = rows::appended(&before.borrow(), &after.borrow())
        {
            self.rows.push((place.clone(), row));
            return Ok(true);
        }
        let (before, after) = (items(before), items(after));
        let same_keys = before.len() == after.len()
            && before.iter().zip(&after).all(|((a, _), (b, _))| match (a, b) {
                (Some(a), Some(b)) => a.same(b),
                (None, None) => true,
                _ => false,
            });
        if !same_keys {
            return Err("a list or dict grows or shrinks in a loop whose length only a call knows".into());
        }
        let changed: BTreeSet<usize> =
            before.iter().zip(&after).enumerate().filter(|(_, ((_, a), (_, b)))| !same(a, b)).map(|(place, _)| place).collect();
        match self.places.iter_mut().find(|(known, _)| known.is(place)) {
            Some((_, known)) => {
                let count = known.len();
                known.extend(changed);
                Ok(known.len() != count)
            }
            None if changed.is_empty() => Ok(false),
            None => {
                self.places.push((place.clone(), changed));
                Ok(true)
            }
        }
    }
}

/// Whether two values are the same; a tensor is after a write in place, too.
pub(super) fn same<'c>(a: &Value<'c>, b: &Value<'c>) -> bool {
    a.same(b) || matches!((a, b), (Value::Tensor(a), Value::Tensor(b)) if itself(*a) == itself(*b))
}

/// The items of a list, dict or object, those of dicts with their keys, of objects with their names.
pub(super) fn items<'c>(held: &Value<'c>) -> Vec<(Option<Value<'c>>, Value<'c>)> {
    match held {
        Value::List(items) => items.borrow().iter().map(|item| (None, item.clone())).collect(),
        Value::Dict(items) => items.borrow().iter().map(|(key, value)| (Some(key.clone()), value.clone())).collect(),
        Value::Object(object) => object.attrs.borrow().iter().map(|(name, value)| (Some(Value::text(name)), value.clone())).collect(),
        _ => Vec::new(),
    }
}

/// What a list, dict or object holds with slots for the items that a loop changes.
pub(super) fn open_items<'c>(
    eval: &mut Evaluator<'_, 'c>,
    held: &Value<'c>,
    changed: &BTreeSet<usize>,
    start: &mut Vec<ir::Value<'c>>,
) -> Eval<Value<'c>> {
    let opened = items(held).into_iter().enumerate().map(
        |(place, (_, item))| {
            if changed.contains(&place) { open(eval, &item, start) } else { Ok(item) }
        },
    );
    let opened: Vec<_> = opened.collect::<Eval<_>>()?;
    Ok(with_items(eval, held, opened))
}

/// What a list, dict or object is at the end of a step.
pub(super) fn close_items<'c>(
    eval: &mut Evaluator<'_, 'c>,
    shape: &Value<'c>,
    held: &Value<'c>,
    ends: &mut Vec<ir::Value<'c>>,
) -> Eval<()> {
    let (shapes, items) = (items(shape), items(held));
    if shapes.len() != items.len() {
        return Err("a list or dict grows or shrinks in a loop whose length only a call knows".into());
    }
    // Items that are found to change are carried in the next attempt.
    shapes
        .iter()
        .zip(&items)
        .filter(|((_, shape), _)| has_slot(shape))
        .try_for_each(|((_, shape), (_, item))| close(eval, shape, item, ends))
}

/// What a variable becomes in a loop that has no value before it.
pub(super) enum Opened<'c> {
    Of(Type<'c>),
    /// A value that the loop does not make.
    Plain(Value<'c>),
    Tuple(Vec<Opened<'c>>),
}

impl<'c> Opened<'c> {
    /// That of a value at the end of a step of a loop, if it can carry such.
    pub fn of(eval: &Evaluator<'_, 'c>, value: &Value<'c>, op: Op<'c>) -> Option<Self> {
        Some(match value {
            // What is there before the loop stands for what nobody reads.
            Value::Tensor(tensor) if outer(itself(*tensor), op) == Some(itself(*tensor)) => Opened::Plain(Value::Tensor(itself(*tensor))),
            Value::Tensor(value) | Value::Number(value) => Opened::Of(value.ty()),
            Value::Int(_) => Opened::Of(eval.cx.index()),
            Value::Float(_) => Opened::Of(eval.cx.f64()),
            Value::Bool(_) => Opened::Of(eval.cx.int(1)),
            Value::None | Value::Str(_) | Value::Device(_) | Value::Member(..) => Opened::Plain(value.clone()),
            Value::Tuple(items) => Opened::Tuple(items.iter().map(|item| Self::of(eval, item, op)).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    /// A value like it that nobody reads.
    pub fn first(&self, eval: &mut Evaluator<'_, 'c>) -> Eval<Value<'c>> {
        Ok(match self {
            Opened::Of(ty) if ty.is_tensor() => Value::Tensor(anything(eval, *ty)?),
            Opened::Of(ty) => Value::Number(anything(eval, *ty)?),
            Opened::Plain(value) => value.clone(),
            Opened::Tuple(items) => Value::Tuple(items.iter().map(|item| item.first(eval)).collect::<Eval<Vec<_>>>()?.into()),
        })
    }
}

/// A variable that a loop carries: its tensors and numbers become slots.
pub(super) fn open<'c>(eval: &mut Evaluator<'_, 'c>, value: &Value<'c>, start: &mut Vec<ir::Value<'c>>) -> Eval<Value<'c>> {
    Ok(match value {
        Value::Tensor(tensor) => {
            start.push(eval.facts.shaped(*tensor));
            Value::Slot(start.len() - 1)
        }
        Value::Rows(tensor, row) => {
            start.push(*tensor);
            Value::SlotRows(start.len() - 1, *row)
        }
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| open(eval, item, start)).collect::<Eval<Vec<_>>>()?.into()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Number(_) => {
            start.push(eval.as_number(value).ok_or("it is no number")?);
            Value::Slot(start.len() - 1)
        }
        other => other.clone(),
    })
}

/// What a variable is at the end of a step, in the order of its slots.
pub(super) fn close<'c>(eval: &mut Evaluator<'_, 'c>, shape: &Value<'c>, value: &Value<'c>, ends: &mut Vec<ir::Value<'c>>) -> Eval<()> {
    match (shape, value) {
        (Value::Slot(_), Value::Tensor(tensor)) => {
            eval.readable(*tensor)?;
            ends.push(eval.facts.shaped(*tensor));
        }
        (Value::SlotRows(_, row), Value::Rows(tensor, other)) if row == other => ends.push(*tensor),
        (Value::Slot(_), value) => {
            let number = eval.as_number(value).ok_or_else(|| format!("a loop's variable becomes {}", value.kind()))?;
            ends.push(number);
        }
        (Value::Tuple(shapes), Value::Tuple(values)) if shapes.len() == values.len() => {
            for (shape, value) in shapes.iter().zip(values.iter()) {
                close(eval, shape, value, ends)?;
            }
        }
        (shape, value) if shape.same(value) => {}
        (_, value) => return Err(format!("{} changes in a loop whose length only a call knows", value.kind()).into()),
    }
    Ok(())
}

/// The names that statements assign.
pub(super) fn names(body: &[Stmt], found: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign(targets, _) => {
                found.extend(
                    targets.all().iter().filter_map(|target| if let Target::Name(name) = target { Some(name.clone()) } else { None }),
                );
            }
            StmtKind::If(_, yes, no) => {
                names(yes, found);
                names(no, found);
            }
            StmtKind::For(_, _, body) | StmtKind::While(_, body) | StmtKind::With(_, _, body) => names(body, found),
            _ => {}
        }
    }
}
