//! What a call changes of the archive's objects beside tensors. Only tensors are kept from call to call: a number that changes is a buffer
//! of rank 0, and anything else may change where the next call is the same program.

use std::rc::Rc;

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::{Input as Operand, op};

use super::error::Eval;
use super::evaluate::Evaluator;
use super::journal::{Place, only_plain};
use super::overload::number_dtype;
use super::value::{Object, Value};
use crate::import::{Input, InputKind, Source, Stored};
use crate::pt2::weights::Weight;

/// The elements of a weight.
pub(super) enum Elements {
    Archive(Weight),
    /// Those of a number of the archive.
    Number(Vec<u8>),
}

impl Elements {
    pub fn stored(&self) -> Stored {
        match self {
            Elements::Archive(weight) => Stored::from(weight),
            Elements::Number(bytes) => {
                Stored { source: Source::Inline(bytes.as_slice().into()), sizes: Vec::new(), strides: Vec::new(), offset: 0 }
            }
        }
    }
}

/// A number of the archive that is a buffer.
pub(super) struct Kept<'c> {
    object: Rc<Object<'c>>,
    name: String,
    buffer: ir::Value<'c>,
}

/// An attribute of the archive with the value that a call leaves there.
#[derive(Clone)]
pub(super) struct Left<'c> {
    /// The way to its object.
    path: String,
    name: String,
    value: Value<'c>,
    /// The lists, dicts and objects that its value is made of, and the way to each.
    places: Vec<(Place<'c>, String)>,
    /// Whether it is a number before the call and after it.
    pub is_number: bool,
    /// Whether no call decides about its value.
    pub is_plain: bool,
    /// Whether the call reads it, before it changes it. What it does not read the next call may.
    pub is_read: bool,
}

impl Left<'_> {
    /// The way to the attribute.
    pub fn way(&self) -> String {
        way(&self.path, &self.name)
    }

    pub fn refused(&self) -> String {
        let way = self.way();
        format!("the call changes the attribute `{way}`; only tensors and numbers are kept from call to call")
    }
}

fn way(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The attributes that the call changes; those that it reads might have the next one give something else.
pub(super) fn left<'c>(eval: &Evaluator<'_, 'c>) -> Eval<Vec<Left<'c>>> {
    let mut left = Vec::new();
    for (place, before, path) in &eval.state {
        let one = |name, value, is_read| {
            let (places, is_number, is_plain) = (Vec::new(), false, false);
            Left { path: path.clone(), name, value, places, is_number, is_plain, is_read }
        };
        let (Place::Object(object), Value::Object(held)) = (place, before) else {
            match place.changed(before) {
                Some(name) => return Err(one(name, Value::None, true).refused().into()),
                None => continue,
            }
        };
        for name in place.changed_attributes(held) {
            let is_kept = eval.kept.iter().any(|kept| Rc::ptr_eq(&kept.object, object) && kept.name == name);
            let Some(value) = object.get(&name).filter(|_| !is_kept) else { continue };
            // Reads of objects that a call before this one made are not noted.
            let is_read = object.path.is_empty() || eval.reads.contains(&(Rc::as_ptr(object), name.clone()));
            let dtype = |value: &Value<'c>| value.is_number().then(|| number_dtype(value));
            let mut one = one(name, value, is_read);
            one.is_number = dtype(&one.value).is_some() && dtype(&one.value) == held.get(&one.name).as_ref().and_then(dtype);
            let is_archives = |(place, _): &(Place<'c>, String)| eval.state.iter().any(|(known, ..)| known.is(place));
            let way = one.way();
            one.is_plain = only_plain(&one.value, &way, &mut one.places) && !one.places.iter().any(is_archives);
            if !one.is_plain && !one.is_number && is_read {
                return Err(one.refused().into());
            }
            if !one.is_plain {
                // An error for the next call to read.
                (one.value, one.places) = (Value::Apart, Vec::new());
            }
            left.push(one);
        }
    }
    Ok(left)
}

/// Writes the numbers that are buffers to them.
pub(super) fn kept(eval: &mut Evaluator<'_, '_>) -> Eval<()> {
    for Kept { object, name, buffer } in std::mem::take(&mut eval.kept) {
        let value = object.get(&name).unwrap_or(Value::None);
        let dtype = buffer.ty().element_type();
        let scalar = match &value {
            // An int of a float attribute is no other number.
            Value::Int(value) if dtype == Some(ElementType::F64) => eval.scalar(&Value::Float(*value as f64))?,
            value => eval.scalar(value)?,
        };
        let dtype = dtype.map(Operand::DType);
        match eval.build(op::SCALAR_TENSOR.schema(), &[Some(Operand::Scalar(scalar)), dtype])? {
            Value::Tensor(new) => eval.build(op::COPY_.schema(), &[Some(Operand::Tensor(buffer)), Some(Operand::Tensor(new))])?,
            other => return Err(format!("{} is no tensor", other.kind()).into()),
        };
    }
    Ok(())
}

/// What a call leaves that takes one of two ways.
pub(super) fn either<'c>(yes: Vec<Left<'c>>, no: Vec<Left<'c>>) -> Eval<Vec<Left<'c>>> {
    let (mut either, mut no) = (Vec::new(), no);
    let mut ways: Vec<(Option<Left<'c>>, Option<Left<'c>>)> = Vec::new();
    for left in yes {
        let other = no.iter().position(|other| other.way() == left.way()).map(|place| no.remove(place));
        ways.push((Some(left), other));
    }
    ways.extend(no.into_iter().map(|left| (None, Some(left))));
    for way in ways {
        let mut left = match way {
            (Some(yes), Some(no)) if yes.is_plain && no.is_plain && yes.value.same(&no.value) => {
                either.push(Left { is_read: yes.is_read || no.is_read, ..yes });
                continue;
            }
            (Some(yes), Some(no)) => Left { is_read: yes.is_read || no.is_read, is_number: yes.is_number && no.is_number, ..yes },
            (Some(left), None) | (None, Some(left)) => left,
            (None, None) => continue,
        };
        if left.is_read && !left.is_number {
            return Err(left.refused().into());
        }
        (left.is_plain, left.value, left.places) = (false, Value::Apart, Vec::new());
        either.push(left);
    }
    Ok(either)
}

impl<'c> Evaluator<'_, 'c> {
    /// Notes what a list, dict or object of the archive holds before the call. An object takes what a call before this one left, and the
    /// numbers that are buffers.
    pub fn note_state(&mut self, value: Value<'c>, path: &str) -> Eval<Value<'c>> {
        if let Value::Object(object) = &value {
            let left: Vec<_> = self.left.iter().filter(|left| left.path == path).cloned().collect();
            for left in left {
                object.set(&left.name, left.value.clone());
                left.places.iter().for_each(|(place, way)| self.note_place(place.clone(), way));
            }
            let attrs = object.attrs.borrow().clone();
            for (name, number) in attrs.iter().filter(|(_, value)| value.is_number()) {
                let way = way(path, name);
                if self.counted.contains(&way) {
                    let buffer = self.buffer(way, number)?;
                    object.set(name, self.operator("aten", "item", vec![Value::Tensor(buffer)], Vec::new())?);
                    self.kept.push(Kept { object: Rc::clone(object), name: name.clone(), buffer });
                }
            }
        }
        if let Some(place) = Place::of(&value) {
            self.note_place(place, path);
        }
        Ok(value)
    }

    fn note_place(&mut self, place: Place<'c>, path: &str) {
        let held = place.held(0);
        self.state.push((place, held, path.to_owned()));
    }

    /// A buffer of rank 0 that holds a number of the archive.
    fn buffer(&mut self, way: String, number: &Value<'c>) -> Eval<ir::Value<'c>> {
        let (dtype, bytes) = match number {
            Value::Bool(value) => (ElementType::Bool, vec![u8::from(*value)]),
            Value::Int(value) => (ElementType::I64, value.to_le_bytes().to_vec()),
            Value::Float(value) => (ElementType::F64, value.to_le_bytes().to_vec()),
            other => return Err(format!("{} is no number of the archive", other.kind()).into()),
        };
        if let Some(known) = self.known_weights.get(&way) {
            return Ok(*known);
        }
        let ty = self.cx.tensor(&[], self.cx.element(dtype));
        let buffer = self.entry.add_arg(ty, self.cx.unknown());
        self.known_weights.insert(way.clone(), buffer);
        self.weights.push((Input { name: way, kind: InputKind::Buffer }, Elements::Number(bytes)));
        Ok(buffer)
    }
}
