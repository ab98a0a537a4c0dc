//! Items and keys that are looked for in lists and dicts, where one of them is a number that only a call knows.

use strata_core::upstream::arith;

use super::control::guard;
use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::value::{Shared, Value};

impl<'c> Evaluator<'_, 'c> {
    /// Whether a list holds an item: known, or a number that a call knows.
    pub fn contains(&mut self, items: &[Value<'c>], item: &Value<'c>) -> Eval<Value<'c>> {
        let mut any = Value::Bool(false);
        for known in items {
            any = match (any, self.same_item(known, item)?) {
                (Value::Bool(true), _) | (_, Value::Bool(true)) => return Ok(Value::Bool(true)),
                (Value::Bool(false), other) | (other, Value::Bool(false)) => other,
                (a, b) => self.number("__or__", &[a, b])?.ok_or("items of such a list are not compared")?,
            };
        }
        Ok(any)
    }

    /// Whether two items are equal: known, or a number that a call knows.
    pub fn same_item(&mut self, a: &Value<'c>, b: &Value<'c>) -> Eval<Value<'c>> {
        if a.same(b) && !matches!(a, Value::Float(_)) {
            return Ok(Value::Bool(true));
        }
        match (a.items(), b.items()) {
            (Some(a), Some(b)) => self.equal(&a, &b, true),
            _ => Ok(self.number("eq", &[a.clone(), b.clone()])?.unwrap_or(Value::Bool(false))),
        }
    }

    /// The first place of an item; one way is taken where only a call knows.
    pub fn place_of(&mut self, items: &[Value<'c>], item: &Value<'c>) -> Eval<Option<usize>> {
        for (at, known) in items.iter().enumerate() {
            let same = self.same_item(known, item)?;
            if self.decided(&same, "it looks for an item of a list that only a call knows")? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The place of a key in a dict; one way is taken where only a call knows.
    pub fn place_of_key(&mut self, dict: &Shared<Vec<(Value<'c>, Value<'c>)>>, key: &Value<'c>) -> Eval<Option<usize>> {
        let keys: Vec<_> = dict.borrow().iter().map(|(known, _)| known.clone()).collect();
        if let Some(at) = keys.iter().position(|known| known.same(key)) {
            return Ok(Some(at));
        }
        for (at, known) in keys.iter().enumerate().filter(|(_, known)| [known, key].iter().any(|key| matches!(key, Value::Number(_)))) {
            let same = self.same_item(known, key)?;
            if self.decided(&same, "a dict has a key that only a call knows")? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The number at a key of a dict of numbers, where only a call knows which it is; `default` stands for it where there is none.
    pub fn number_at_key(
        &mut self,
        dict: &Shared<Vec<(Value<'c>, Value<'c>)>>,
        key: &Value<'c>,
        default: Option<&Value<'c>>,
    ) -> Eval<Option<Value<'c>>> {
        let items = dict.borrow().clone();
        let is_known = !matches!(key, Value::Number(_)) && !items.iter().any(|(known, _)| matches!(known, Value::Number(_)));
        if is_known || items.iter().any(|(known, _)| known.same(key)) {
            return Ok(None);
        }
        let mut ways = Vec::new();
        for (known, value) in items {
            ways.push((self.same_item(&known, key)?, value));
        }
        self.chosen(&ways, default, "KeyError")
    }

    /// The number of the first condition that holds, `default` where none does; nothing where they are no numbers of one type.
    pub fn chosen(&mut self, ways: &[(Value<'c>, Value<'c>)], default: Option<&Value<'c>>, missing: &str) -> Eval<Option<Value<'c>>> {
        let is_sure = |(holds, _): &&(Value<'c>, Value<'c>)| matches!(holds, Value::Bool(true));
        let otherwise = ways.iter().find(is_sure).map(|(_, value)| value).or(default);
        let open = ways.iter().take_while(|way| !is_sure(way)).filter(|(holds, _)| matches!(holds, Value::Number(_)));
        let open: Vec<_> = open.cloned().collect();
        let Some(last) = otherwise.or(open.last().map(|(_, value)| value)) else { return Err(Stop::Raised(missing.to_owned())) };
        if open.is_empty() {
            return Ok(Some(last.clone()));
        }
        let Some(mut result) = self.as_number(last) else { return Ok(None) };
        let mut any = Value::Bool(otherwise.is_some());
        for (holds, value) in open.into_iter().rev() {
            let (Value::Number(condition), Some(value)) = (&holds, self.as_number(&value)) else { return Ok(None) };
            if value.ty() != result.ty() {
                return Ok(None);
            }
            result = arith::select(&mut self.builder, *condition, value, result);
            any = self.number("__or__", &[any, holds])?.ok_or("a condition is no truth value")?;
        }
        if let (Value::Number(any), None) = (any, otherwise) {
            guard(self, any, 1, missing);
        }
        Ok(Some(Value::Number(result)))
    }

    /// The place in a list of this length that a number is; one way is taken where only a call knows.
    pub fn known_place(&mut self, len: usize, place: &Value<'c>) -> Eval<Value<'c>> {
        if !matches!(place, Value::Number(_)) || len == 0 {
            return Ok(place.clone());
        }
        self.guard_place(&Value::Int(len as i64), place)?;
        for at in 0..len - 1 {
            let here = self.is_place(len, at, place)?;
            if self.decided(&here, "a list is used at a place that only a call knows")? {
                return Ok(Value::Int(at as i64));
            }
        }
        Ok(Value::Int(len as i64 - 1))
    }

    /// A number as one of these, the nearest where it is none; one way is taken where only a call knows.
    pub fn nearest(&mut self, number: &Value<'c>, (first, last): (i64, i64)) -> Eval<Value<'c>> {
        if !matches!(number, Value::Number(_)) {
            return Ok(number.clone());
        }
        let mut near = number.clone();
        for (name, end) in [("max", first), ("min", last)] {
            near = self.number(name, &[near, Value::Int(end)])?.ok_or("a list is cut at a place that is no number")?;
        }
        self.one_of(&near, (first, last))
    }

    /// A number as one of these; one way is taken where only a call knows, and a call with another one fails.
    pub fn one_of(&mut self, number: &Value<'c>, (first, last): (i64, i64)) -> Eval<Value<'c>> {
        if !matches!(number, Value::Number(_)) {
            return Ok(number.clone());
        }
        for known in first..=last {
            let same = self.same_item(number, &Value::Int(known))?;
            if self.decided(&same, "a list is made, cut or changed by a number that only a call knows")? {
                return Ok(Value::Int(known));
            }
        }
        Err(Stop::Raised(format!("a list is made, cut or changed by a number that is none of {first} to {last}, for which it is compiled")))
    }
}
