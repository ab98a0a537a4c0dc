//! What a region changes of lists, dicts and objects around it: undone when the region ends, and joined where regions meet.

use std::rc::Rc;

use super::evaluate::Evaluator;
use super::value::{Object, Shared, Value};

/// Something that may change.
#[derive(Debug, Clone)]
pub(super) enum Place<'c> {
    List(Shared<Vec<Value<'c>>>),
    Dict(Shared<Vec<(Value<'c>, Value<'c>)>>),
    Object(Rc<Object<'c>>),
}

/// Places that a region changed, and what they held before it.
pub(super) type Journal<'c> = Vec<(Place<'c>, Value<'c>)>;

impl<'c> Place<'c> {
    fn depth(&self) -> u32 {
        match self {
            Place::List(list) => list.depth(),
            Place::Dict(dict) => dict.depth(),
            Place::Object(object) => object.attrs.depth(),
        }
    }

    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Place::List(a), Place::List(b)) => a.is(b),
            (Place::Dict(a), Place::Dict(b)) => a.is(b),
            (Place::Object(a), Place::Object(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// A copy of what it holds.
    fn held(&self, depth: u32) -> Value<'c> {
        match self {
            Place::List(list) => Value::List(Shared::new(depth, list.borrow().clone())),
            Place::Dict(dict) => Value::Dict(Shared::new(depth, dict.borrow().clone())),
            Place::Object(object) => {
                let attrs = Shared::new(depth, object.attrs.borrow().clone());
                Value::Object(Rc::new(Object { class: Rc::clone(&object.class), path: String::new(), attrs }))
            }
        }
    }

    /// What it holds where two branches leave what cannot be joined: a value that is an error to read.
    pub fn apart(&self) -> Value<'c> {
        match self {
            Place::List(_) => Value::List(Shared::new(0, vec![Value::Apart])),
            Place::Dict(_) => Value::Dict(Shared::new(0, vec![(Value::Apart, Value::Apart)])),
            Place::Object(object) => {
                let attrs = object.attrs.borrow().iter().map(|(name, _)| (name.clone(), Value::Apart)).collect();
                Value::Object(Rc::new(Object { class: Rc::clone(&object.class), path: String::new(), attrs: Shared::new(0, attrs) }))
            }
        }
    }

    /// Holds what a copy holds.
    fn hold(&self, value: &Value<'c>) {
        match (self, value) {
            (Place::List(list), Value::List(held)) => *list.borrow_mut() = held.borrow().clone(),
            (Place::Dict(dict), Value::Dict(held)) => *dict.borrow_mut() = held.borrow().clone(),
            (Place::Object(object), Value::Object(held)) => *object.attrs.borrow_mut() = held.attrs.borrow().clone(),
            _ => {}
        }
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// Notes what a place holds before the region around here changes it.
    pub fn touch(&mut self, place: Place<'c>) {
        let depth = self.depth;
        if place.depth() >= depth {
            return;
        }
        if let Some(journal) = self.journals.last_mut()
            && !journal.iter().any(|(known, _)| known.is(&place))
        {
            let held = place.held(depth);
            journal.push((place, held));
        }
    }

    /// Undoes the changes of a region; gives the places with what they held at its end.
    pub fn undo(&mut self, journal: Journal<'c>) -> Journal<'c> {
        let undone = journal.into_iter().map(|(place, before)| {
            let after = place.held(self.depth);
            place.hold(&before);
            (place, after)
        });
        undone.collect()
    }

    /// The places that either of two regions changed, with what each left there.
    pub fn changed(&self, [yes, no]: [Journal<'c>; 2]) -> Vec<(Place<'c>, [Value<'c>; 2])> {
        let at = |journal: &Journal<'c>, place: &Place<'c>| {
            let found = journal.iter().find(|(known, _)| known.is(place)).map(|(_, after)| after.clone());
            found.unwrap_or_else(|| place.held(self.depth))
        };
        let mut changed: Vec<(Place<'c>, [Value<'c>; 2])> = Vec::new();
        for (place, _) in yes.iter().chain(&no) {
            if !changed.iter().any(|(known, _)| known.is(place)) {
                changed.push((place.clone(), [at(&yes, place), at(&no, place)]));
            }
        }
        changed
    }

    /// Changes a place to hold what a copy holds.
    pub fn set(&mut self, place: &Place<'c>, value: &Value<'c>) {
        self.touch(place.clone());
        place.hold(value);
    }
}
