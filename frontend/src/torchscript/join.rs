//! One value of the two that branches leave: what differs becomes a result of the op.

use std::collections::BTreeSet;

use strata_core::ir::{self, Block, DYNAMIC, Type};
use strata_dialects::aten::{Input, Size, op};

use super::control::inside;
use super::error::{Eval, Stop};
use super::evaluate::{Evaluator, Frame};
use super::journal::{Journal, Place};
use super::rows;
use super::value::{Object, Shared, Value};
use super::writes::{itself, outer};
use crate::types::widened;

/// The ends of two branches, and what their op has to give.
pub(super) struct Join<'a, 'c> {
    /// The blocks of the branches.
    pub blocks: [Block<'c>; 2],
    /// What the branches changed of values around them.
    pub journals: &'a [Journal<'c>; 2],
    /// What each of them gives for each result of the op.
    pub pairs: Vec<[ir::Value<'c>; 2]>,
    /// Lists, dicts and objects that were joined.
    made: Vec<([Value<'c>; 2], Value<'c>)>,
}

/// Variables and what they hold.
pub(super) type Variables<'c> = Vec<(String, Value<'c>)>;

impl<'a, 'c> Join<'a, 'c> {
    pub fn new(blocks: [Block<'c>; 2], journals: &'a [Journal<'c>; 2]) -> Self {
        Self { blocks, journals, pairs: Vec::new(), made: Vec::new() }
    }

    /// The variables after a branch that are not those before it, joined; and the names of those that cannot be.
    pub fn frames(
        &mut self,
        eval: &mut Evaluator<'_, 'c>,
        before: &Frame<'c>,
        frames: &[Frame<'c>; 2],
    ) -> Eval<(Variables<'c>, Vec<String>)> {
        let names: BTreeSet<&String> = frames[0].variables.keys().collect();
        let (mut joined, mut apart) = (Vec::new(), Vec::new());
        for name in names {
            let (yes, Some(no)) = (&frames[0].variables[name], frames[1].variables.get(name)) else { continue };
            let unchanged = before.variables.get(name).is_some_and(|old| old.same(yes) && old.same(no));
            if !unchanged {
                // What cannot be joined is an error for whoever reads it, and mostly nobody does.
                match self.attempt(eval, yes, no)? {
                    Some(value) => joined.push((name.clone(), value)),
                    None => {
                        joined.push((name.clone(), Value::Apart));
                        apart.push(name.clone());
                    }
                }
            }
        }
        Ok((joined, apart))
    }

    /// One value of two, or nothing where they cannot be joined.
    pub fn attempt(&mut self, eval: &mut Evaluator<'_, 'c>, yes: &Value<'c>, no: &Value<'c>) -> Eval<Option<Value<'c>>> {
        self.or_nothing(|join| join.values(eval, yes, no))
    }

    /// What two lists, dicts or objects hold, joined, or nothing where that cannot be.
    pub fn attempt_places(&mut self, eval: &mut Evaluator<'_, 'c>, yes: &Value<'c>, no: &Value<'c>) -> Eval<Option<Value<'c>>> {
        self.or_nothing(|join| join.places(eval, yes, no))
    }

    /// Two lists of different lengths as one whose length only a call knows, or nothing where their items are not of one type.
    pub fn rows(&mut self, eval: &mut Evaluator<'_, 'c>, yes: &Value<'c>, no: &Value<'c>) -> Eval<Option<Value<'c>>> {
        let (Value::List(a), Value::List(b)) = (yes, no) else { return Ok(None) };
        let (a, b) = (a.borrow().clone(), b.borrow().clone());
        let row = |items: &[Value<'c>]| rows::of_items(items);
        let (Some(row), true) = (row(&a).or(row(&b)), [&a, &b].iter().all(|items| items.is_empty() || row(items) == row(&a).or(row(&b))))
        else {
            return Ok(None);
        };
        let mut pair = Vec::new();
        for (list, block) in [yes, no].into_iter().zip(self.blocks) {
            pair.push(Value::Tensor(inside(eval, block, |eval| rows::start(eval, list, row))?));
        }
        let pair = leaves(eval, &pair[0], &pair[1], self.blocks)?;
        self.pairs.push(pair);
        Ok(Some(eval.list(vec![Value::SlotRows(self.pairs.len() - 1, row)])))
    }

    fn or_nothing(&mut self, join: impl FnOnce(&mut Self) -> Eval<Value<'c>>) -> Eval<Option<Value<'c>>> {
        let (pairs, made) = (self.pairs.len(), self.made.len());
        match join(self) {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Here(_)) => {
                self.pairs.truncate(pairs);
                self.made.truncate(made);
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// One value of two: what differs becomes a result of the op, a pair of what the branches give.
    pub fn values(&mut self, eval: &mut Evaluator<'_, 'c>, yes: &Value<'c>, no: &Value<'c>) -> Eval<Value<'c>> {
        if let (Value::Tensor(a), Value::Tensor(b)) = (yes, no) {
            let [a, b] = [a, b].map(|tensor| itself(eval.facts.shaped(*tensor)));
            if a == b {
                return Ok(Value::Tensor(a));
            }
        }
        if yes.same(no) {
            return Ok(yes.clone());
        }
        if let Some((_, known)) = self.made.iter().find(|([a, b], _)| a.same(yes) && b.same(no)) {
            return Ok(known.clone());
        }
        // Nobody reads what a branch leaves open: whatever the other one gives stands for it.
        if let (Value::Uninitialized, other) | (other, Value::Uninitialized) = (yes, no)
            && let Some(known) = self.around(eval, other)
        {
            return Ok(known);
        }
        let open = match (yes, no) {
            (Value::Uninitialized, other) => opened(eval, &self.held(other, 1)).map(|open| [open, other.clone()]),
            (other, Value::Uninitialized) => opened(eval, &self.held(other, 0)).map(|open| [other.clone(), open]),
            _ => None,
        };
        if let Some([yes, no]) = open {
            return self.values(eval, &yes, &no);
        }
        let joined = match (yes, no) {
            (Value::Tuple(a), Value::Tuple(b)) => return Ok(Value::Tuple(self.each(eval, a, b)?.into())),
            (Value::List(_), Value::List(_)) => self.places(eval, &self.held(yes, 0), &self.held(no, 1))?,
            (Value::Dict(_), Value::Dict(_)) => self.places(eval, &self.held(yes, 0), &self.held(no, 1))?,
            (Value::Object(a), Value::Object(b)) if a.class == b.class && a.path.is_empty() && b.path.is_empty() => {
                self.places(eval, &self.held(yes, 0), &self.held(no, 1))?
            }
            (Value::Rows(a, row), Value::Rows(b, other)) if row == other => {
                let pair = leaves(eval, &Value::Tensor(*a), &Value::Tensor(*b), self.blocks)?;
                self.pairs.push(pair);
                return Ok(Value::SlotRows(self.pairs.len() - 1, *row));
            }
            (a, b) => {
                let pair = leaves(eval, a, b, self.blocks)?;
                // Two names of one tensor stay that.
                let known = self.pairs.iter().position(|known| *known == pair);
                let place = known.unwrap_or_else(|| {
                    self.pairs.push(pair);
                    self.pairs.len() - 1
                });
                return Ok(Value::Slot(place));
            }
        };
        self.made.push(([yes.clone(), no.clone()], joined.clone()));
        Ok(joined)
    }

    /// What two lists, dicts or objects hold, joined.
    fn places(&mut self, eval: &mut Evaluator<'_, 'c>, yes: &Value<'c>, no: &Value<'c>) -> Eval<Value<'c>> {
        match (yes, no) {
            (Value::List(a), Value::List(b)) => {
                let items = self.each(eval, &a.borrow(), &b.borrow())?;
                Ok(with_items(eval, yes, items))
            }
            (Value::Dict(a), Value::Dict(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                if a.len() != b.len() || !a.iter().zip(b.iter()).all(|((a, _), (b, _))| a.same(b)) {
                    return Err("the branches give dicts with different keys".into());
                }
                let values = |items: &[(Value<'c>, Value<'c>)]| items.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
                let values = self.each(eval, &values(&a), &values(&b))?;
                Ok(with_items(eval, yes, values))
            }
            (Value::Object(a), Value::Object(b)) => {
                let (a, b) = (a.attrs.borrow(), b.attrs.borrow());
                if a.len() != b.len() || !a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b) {
                    return Err("the branches give objects with different attributes".into());
                }
                let values = |items: &[(String, Value<'c>)]| items.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
                let values = self.each(eval, &values(&a), &values(&b))?;
                Ok(with_items(eval, yes, values))
            }
            _ => Err("the branches give different things".into()),
        }
    }

    fn each(&mut self, eval: &mut Evaluator<'_, 'c>, a: &[Value<'c>], b: &[Value<'c>]) -> Eval<Vec<Value<'c>>> {
        if a.len() != b.len() {
            return Err(Stop::Here("the branches give lists of different lengths".to_owned()));
        }
        a.iter().zip(b).map(|(a, b)| self.values(eval, a, b)).collect()
    }

    /// A tensor or number that is there without the branches.
    fn around(&self, eval: &Evaluator<'_, 'c>, value: &Value<'c>) -> Option<Value<'c>> {
        let op = self.blocks[0].parent_op()?;
        Some(match value {
            Value::Tensor(tensor) => {
                Value::Tensor(Some(itself(eval.facts.shaped(*tensor))).filter(|tensor| outer(*tensor, op) == Some(*tensor))?)
            }
            Value::Number(number) => Value::Number(Some(*number).filter(|number| outer(*number, op) == Some(*number))?),
            _ => return None,
        })
    }

    /// A list, dict or object as a branch leaves it.
    fn held(&self, value: &Value<'c>, branch: usize) -> Value<'c> {
        let place = Place::of(value);
        let changed = place.and_then(|place| self.journals[branch].iter().find(|(known, _)| known.is(&place)));
        changed.map_or_else(|| value.clone(), |(_, after)| after.clone())
    }
}

/// Two values of one type at the ends of the branches.
pub(super) fn leaves<'c>(eval: &mut Evaluator<'_, 'c>, a: &Value<'c>, b: &Value<'c>, blocks: [Block<'c>; 2]) -> Eval<[ir::Value<'c>; 2]> {
    let values = [a, b];
    let mut found = [None, None];
    for place in [0, 1] {
        found[place] = match values[place] {
            Value::Tensor(tensor) => {
                eval.readable(*tensor)?;
                Some(eval.facts.shaped(*tensor))
            }
            value => inside(eval, blocks[place], |eval| eval.as_number(value)),
        };
    }
    // What raises leaves its variables open: anything of the other's type stands for them.
    for place in [0, 1] {
        if let (Value::Uninitialized, Some(other)) = (values[place], found[1 - place]) {
            found[place] = Some(inside(eval, blocks[place], |eval| anything(eval, other.ty()))?);
        }
    }
    let [Some(a_value), Some(b_value)] = found else {
        return Err(format!("the branches give {} and {}", a.kind(), b.kind()).into());
    };
    let ty = widened(a_value.ty(), b_value.ty())?;
    let mut fitted = [a_value, b_value];
    for place in [0, 1] {
        if fitted[place].ty() != ty {
            fitted[place] = inside(eval, blocks[place], |eval| eval.retyped(fitted[place], ty))?;
        }
    }
    Ok(fitted)
}

/// A value like another whose tensors, and numbers that a call knows, are open; nothing where it would be open itself.
fn opened<'c>(eval: &Evaluator<'_, 'c>, value: &Value<'c>) -> Option<Value<'c>> {
    let each =
        |items: Vec<Value<'c>>| -> Vec<Value<'c>> { items.iter().map(|item| opened(eval, item).unwrap_or(Value::Uninitialized)).collect() };
    Some(match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Complex(..) => value.clone(),
        Value::Str(_) | Value::Device(_) | Value::Member(..) => value.clone(),
        Value::Tuple(items) => Value::Tuple(each(items.to_vec()).into()),
        Value::List(items) => with_items(eval, value, each(items.borrow().clone())),
        Value::Dict(items) => with_items(eval, value, each(items.borrow().iter().map(|(_, item)| item.clone()).collect())),
        Value::Object(object) if !object.path.is_empty() => value.clone(),
        Value::Object(object) => with_items(eval, value, each(object.attrs.borrow().iter().map(|(_, item)| item.clone()).collect())),
        _ => return None,
    })
}

/// A value of a type that nobody reads.
pub(super) fn anything<'c>(eval: &mut Evaluator<'_, 'c>, ty: Type<'c>) -> Eval<ir::Value<'c>> {
    if ty.is_index() {
        return Ok(eval.builder.const_index(0));
    }
    if ty == eval.cx.f64() {
        return Ok(eval.builder.const_float(ty, 0.0));
    }
    let Some(dtype) = ty.element_type().filter(|_| ty.is_tensor()) else { return Ok(eval.builder.const_int(ty, 0)) };
    let sizes = ty.shape().into_iter().map(|size| Size::Const(if size == DYNAMIC { 1 } else { size })).collect();
    match eval.build(op::ZEROS.schema(), &[Some(Input::Ints(sizes)), Some(Input::DType(dtype))])? {
        Value::Tensor(value) if value.ty() == ty => Ok(value),
        Value::Tensor(value) => eval.retyped(value, ty),
        other => Err(format!("{} is no tensor", other.kind()).into()),
    }
}

/// A list, dict or object like another, with other items.
pub(super) fn with_items<'c>(eval: &Evaluator<'_, 'c>, like: &Value<'c>, items: Vec<Value<'c>>) -> Value<'c> {
    match like {
        Value::Dict(of) => eval.dict(of.borrow().iter().map(|(key, _)| key.clone()).zip(items).collect()),
        Value::Object(of) => {
            let attrs = of.attrs.borrow().iter().map(|(name, _)| name.clone()).zip(items).collect();
            Value::Object(Object { class: of.class.clone(), path: String::new(), attrs: Shared::new(eval.depth, attrs) }.into())
        }
        _ => eval.list(items),
    }
}

/// The results of an op, for the slots of values that were joined or carried. What shares a list before shares it behind.
pub(super) struct Results<'c> {
    results: Vec<ir::Value<'c>>,
    filled: Vec<(Value<'c>, Value<'c>)>,
}

impl<'c> Results<'c> {
    pub fn new(results: Vec<ir::Value<'c>>) -> Self {
        Self { results, filled: Vec::new() }
    }

    /// A value with the results in its slots.
    pub fn fill(&mut self, eval: &Evaluator<'_, 'c>, value: &Value<'c>) -> Value<'c> {
        if let Some((_, known)) = self.filled.iter().find(|(known, _)| known.same(value)) {
            return known.clone();
        }
        let filled = match value {
            Value::Slot(place) => {
                return match self.results.get(*place) {
                    Some(value) if value.ty().is_tensor() => Value::Tensor(*value),
                    Some(value) => Value::Number(*value),
                    None => Value::Uninitialized,
                };
            }
            Value::SlotRows(place, row) => {
                return self.results.get(*place).map_or(Value::Uninitialized, |value| Value::Rows(*value, *row));
            }
            Value::Tuple(items) => return Value::Tuple(items.iter().map(|item| self.fill(eval, item)).collect::<Vec<_>>().into()),
            Value::List(items) if has_slot(value) => {
                let items = items.borrow().iter().map(|item| self.fill(eval, item)).collect();
                with_items(eval, value, items)
            }
            Value::Dict(items) if has_slot(value) => {
                let items = items.borrow().iter().map(|(_, value)| self.fill(eval, value)).collect();
                with_items(eval, value, items)
            }
            Value::Object(object) if has_slot(value) => {
                let items = object.attrs.borrow().iter().map(|(_, value)| self.fill(eval, value)).collect();
                with_items(eval, value, items)
            }
            other => return other.clone(),
        };
        self.filled.push((value.clone(), filled.clone()));
        filled
    }

    /// Notes which lists, dicts and objects are copies of which: a change of the one would be one of the other.
    pub fn note_copies(&self, eval: &mut Evaluator<'_, 'c>, join: &Join<'_, 'c>) {
        for (of, joined) in &join.made {
            let filled = self.filled.iter().find(|(known, _)| known.same(joined)).map_or(joined, |(_, filled)| filled);
            eval.note_copy(filled, of);
        }
    }
}

pub(super) fn has_slot(value: &Value<'_>) -> bool {
    match value {
        Value::Slot(_) | Value::SlotRows(..) => true,
        Value::Tuple(items) => items.iter().any(has_slot),
        Value::List(items) => items.borrow().iter().any(has_slot),
        Value::Dict(items) => items.borrow().iter().any(|(_, value)| has_slot(value)),
        Value::Object(object) if object.path.is_empty() => object.attrs.borrow().iter().any(|(_, value)| has_slot(value)),
        _ => false,
    }
}
