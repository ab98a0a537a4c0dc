//! What a region changes of lists, dicts and objects around it: undone when the region ends, and joined where regions meet.

use std::fmt::Display;
use std::rc::Rc;

use super::evaluate::Evaluator;
use super::texts::is_open;
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
    /// The place that a value is.
    pub fn of(value: &Value<'c>) -> Option<Self> {
        Some(match value {
            Value::List(list) => Place::List(list.clone()),
            Value::Dict(dict) => Place::Dict(dict.clone()),
            Value::Object(object) => Place::Object(Rc::clone(object)),
            _ => return None,
        })
    }

    fn depth(&self) -> u32 {
        match self {
            Place::List(list) => list.depth(),
            Place::Dict(dict) => dict.depth(),
            Place::Object(object) => object.attrs.depth(),
        }
    }

    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Place::List(a), Place::List(b)) => a.is(b),
            (Place::Dict(a), Place::Dict(b)) => a.is(b),
            (Place::Object(a), Place::Object(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// A copy of what it holds.
    pub fn held(&self, depth: u32) -> Value<'c> {
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

    /// The first of its items, by name or place, that is another than in a copy; tensors of objects are another matter.
    pub fn changed(&self, before: &Value<'c>) -> Option<String> {
        match (self, before) {
            (Place::List(list), Value::List(held)) => {
                let (list, held) = (list.borrow(), held.borrow());
                let place = list.iter().zip(held.iter()).position(|(a, b)| !a.same(b));
                place.or((list.len() != held.len()).then_some(held.len())).map(|place| place.to_string())
            }
            (Place::Dict(dict), Value::Dict(held)) => {
                let (dict, held) = (dict.borrow(), held.borrow());
                let place = dict.iter().zip(held.iter()).position(|((a, c), (b, d))| !a.same(b) || !c.same(d));
                place.or((dict.len() != held.len()).then_some(held.len())).map(|place| place.to_string())
            }
            (Place::Object(_), Value::Object(held)) => self.changed_attributes(held).into_iter().next(),
            _ => None,
        }
    }

    /// The attributes of an object that are others than in a copy; tensors are another matter. Another list of the same items is no other one: what a
    /// call adds to a list of the archive is seen at that list.
    pub fn changed_attributes(&self, held: &Object<'c>) -> Vec<String> {
        let Place::Object(object) = self else { return Vec::new() };
        let held = held.attrs.borrow();
        let changed = held.iter().filter(|(name, before)| {
            object.get(name).is_some_and(|now| !alike(&now, before) && !matches!((&now, before), (Value::Tensor(_), Value::Tensor(_))))
        });
        changed.map(|(name, _)| name.clone()).collect()
    }

    /// Holds what a copy holds.
    pub fn hold(&self, value: &Value<'c>) {
        match (self, value) {
            (Place::List(list), Value::List(held)) => *list.borrow_mut() = held.borrow().clone(),
            (Place::Dict(dict), Value::Dict(held)) => *dict.borrow_mut() = held.borrow().clone(),
            (Place::Object(object), Value::Object(held)) => *object.attrs.borrow_mut() = held.attrs.borrow().clone(),
            _ => {}
        }
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// Notes what a place holds before the region around here changes it. Who holds a copy of it that control flow made, or is copied in
    /// it, does not have the change, and is an error to read.
    pub fn touch(&mut self, place: &Place<'c>) {
        self.note(place.clone());
        let mut others = Vec::new();
        for (copy, of) in &self.copies {
            if copy.is(place) {
                others.extend(of.iter().cloned());
            } else if of.iter().any(|of| of.is(place)) {
                others.push(copy.clone());
            }
        }
        for other in others {
            let held = other.apart();
            self.note(other.clone());
            other.hold(&held);
        }
    }

    /// Notes that a list, dict or object is a copy of one of these, of which the program has no copy.
    pub fn note_copy(&mut self, copy: &Value<'c>, of: &[Value<'c>]) {
        if let Some(copy) = Place::of(copy) {
            let of = of.iter().filter_map(Place::of).filter(|place| !place.is(&copy)).collect();
            self.copies.push((copy, of));
        }
    }

    fn note(&mut self, place: Place<'c>) {
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
    pub fn changed(&self, [yes, no]: &[Journal<'c>; 2]) -> Vec<(Place<'c>, [Value<'c>; 2])> {
        let at = |journal: &Journal<'c>, place: &Place<'c>| {
            let found = journal.iter().find(|(known, _)| known.is(place)).map(|(_, after)| after.clone());
            found.unwrap_or_else(|| place.held(self.depth))
        };
        let mut changed: Vec<(Place<'c>, [Value<'c>; 2])> = Vec::new();
        for (place, _) in yes.iter().chain(no) {
            if !changed.iter().any(|(known, _)| known.is(place)) {
                changed.push((place.clone(), [at(yes, place), at(no, place)]));
            }
        }
        changed
    }

    /// Changes a place to hold what a copy holds.
    pub fn set(&mut self, place: &Place<'c>, value: &Value<'c>) {
        self.touch(place);
        place.hold(value);
    }
}

/// Whether a value is made of nothing that a call or the archive decides; also gives the lists, dicts and objects in it, with the way to each.
pub(super) fn only_plain<'c>(value: &Value<'c>, way: &str, places: &mut Vec<(Place<'c>, String)>) -> bool {
    if let Some(place) = Place::of(value) {
        if places.iter().any(|(known, _)| known.is(&place)) {
            return true;
        }
        if place.depth() > 0 || matches!(&place, Place::Object(object) if !object.path.is_empty()) {
            return false;
        }
        places.push((place, way.to_owned()));
    }
    let mut part = |name: &dyn Display, value: &Value<'c>| only_plain(value, &format!("{way}.{name}"), places);
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Complex(..) | Value::Device(_) | Value::Member(..) => true,
        Value::Str(_) => !is_open(value),
        Value::Tuple(items) => items.iter().enumerate().all(|(k, item)| part(&k, item)),
        Value::List(items) => items.borrow().iter().enumerate().all(|(k, item)| part(&k, item)),
        Value::Dict(items) => items.borrow().iter().enumerate().all(|(k, (key, value))| part(&k, key) && part(&k, value)),
        Value::Object(object) => object.attrs.borrow().iter().all(|(name, value)| part(name, value)),
        _ => false,
    }
}

/// Whether two values are the same, or lists of such.
fn alike<'c>(a: &Value<'c>, b: &Value<'c>) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| alike(a, b))
        }
        _ => a.same(b),
    }
}
