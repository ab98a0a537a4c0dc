//! Calls that are Python's own: conversions, annotations, `fork` and its kin.

use std::collections::HashSet;
use std::rc::Rc;

use strata_core::ir;
use strata_core::upstream::arith;
use strata_dialects::aten::{Input, Scalar, op};

use super::control::guard;
use super::error::{Eval, Stop};
use super::evaluate::{Evaluator, Frame};
use super::text::ast::{Call, Expr};
use super::value::{Shared, Value};

impl<'c> Evaluator<'_, 'c> {
    /// A call of a bare name.
    pub fn word(&mut self, name: &str, call: &Call, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        match (name, call.args.as_slice()) {
            ("annotate" | "unchecked_cast", [_, value]) => return self.expr(value, frame),
            ("uninitialized", _) => return Ok(Value::Uninitialized),
            ("getattr", [of, Expr::Str(name)]) => {
                let of = self.expr(of, frame)?;
                return self.attr(&of, name);
            }
            ("isinstance", [value, ty]) => {
                let value = self.expr(value, frame)?;
                if value.is_apart() {
                    return Err(format!("it asks for the type of {}", value.kind()).into());
                }
                return Ok(Value::Bool(is_instance(&value, ty)));
            }
            _ => {}
        }
        let (args, named) = self.arguments(call, frame)?;
        match (name, args.as_slice()) {
            ("int" | "float" | "bool", [value]) => self.number_of(value, name),
            ("complex", [real, imag]) => match (self.number_of(real, "float")?, self.number_of(imag, "float")?) {
                (Value::Float(real), Value::Float(imag)) => Ok(Value::Complex(real, imag)),
                _ => Err("a complex number is made of numbers that only a call knows".into()),
            },
            // In order: nothing of a program depends on when its parts run.
            ("fork", [callee, rest @ ..]) => self.called(callee, rest.to_vec(), named),
            _ => self.operator("prim", name, args, named),
        }
    }

    /// A number as an `int`, `float` or `bool`; a tensor's element where it is a tensor.
    pub fn number_of(&mut self, value: &Value<'c>, kind: &str) -> Eval<Value<'c>> {
        let cx = self.cx;
        Ok(match (kind, value) {
            (_, Value::Tensor(tensor)) => {
                if let Some(known) = self.known_number(*tensor) {
                    return self.number_of(&known, kind);
                }
                let number = self.item(*tensor, kind)?;
                return self.number_of(&number, kind);
            }
            ("int", Value::Int(_)) | ("float", Value::Float(_)) | ("bool", Value::Bool(_)) => value.clone(),
            ("int", Value::Bool(value)) => Value::Int((*value).into()),
            ("int", Value::Float(value)) if value.is_finite() => Value::Int(*value as i64),
            ("float", Value::Int(value)) => Value::Float(*value as f64),
            ("float", Value::Bool(value)) => Value::Float(f64::from(u8::from(*value))),
            ("bool", Value::Int(value)) => Value::Bool(*value != 0),
            ("bool", Value::Float(value)) => Value::Bool(*value != 0.0),
            ("int", Value::Str(text)) => Value::Int(text.trim().parse().map_err(|_| format!("{text:?} is no int"))?),
            ("float", Value::Str(text)) => Value::Float(text.trim().parse().map_err(|_| format!("{text:?} is no float"))?),
            (_, Value::Number(number)) => {
                let (builder, ty) = (&mut self.builder, number.ty());
                match kind {
                    "int" if ty.is_index() => value.clone(),
                    "float" if ty == cx.f64() => value.clone(),
                    "bool" if ty == cx.int(1) => value.clone(),
                    "float" if ty.is_index() => Value::Number(crate::import::floats::to_float(builder, *number).ok_or("it is no number")?),
                    "int" if ty == cx.int(1) => Value::Number(builder.value(arith::IndexCastUI::NAME, &[*number], cx.index(), &[])),
                    "bool" if ty.is_index() => {
                        let zero = builder.const_index(0);
                        Value::Number(arith::cmpi(builder, arith::CmpIPredicate::Ne, *number, zero))
                    }
                    "bool" if ty == cx.f64() => {
                        let zero = builder.const_float(ty, 0.0);
                        Value::Number(arith::cmpf(builder, arith::CmpFPredicate::Une, *number, zero))
                    }
                    "int" if ty == cx.f64() => {
                        let whole = crate::import::symbols::apply(builder, crate::pt2::expr::Func::TruncToInt, &[*number]);
                        Value::Number(whole.ok_or("it is no number")?)
                    }
                    _ => return Err(format!("a number of type {ty} as {kind} is not evaluated").into()),
                }
            }
            (_, other) => return Err(format!("{} is no {kind}", other.kind()).into()),
        })
    }

    /// The element of a tensor as an op.
    fn item(&mut self, tensor: ir::Value<'c>, kind: &str) -> Eval<Value<'c>> {
        let mut value = Value::Tensor(tensor);
        if kind == "bool" && tensor.ty().element() != self.cx.int(1) {
            value = self.build(op::NE_SCALAR.schema(), &[Some(Input::Tensor(tensor)), Some(Input::Scalar(Scalar::Int(0)))])?;
        }
        let Value::Tensor(tensor) = value else { return Err("it is no tensor".into()) };
        if tensor.ty().num_elements().is_some_and(|count| count != 1) {
            return Err(format!("a tensor of type {} is taken for one number", tensor.ty()).into());
        }
        self.build(op::ITEM.schema(), &[Some(Input::Tensor(tensor))])
    }

    /// A value as one of the IR: a known number becomes a constant.
    pub fn as_number(&mut self, value: &Value<'c>) -> Option<ir::Value<'c>> {
        let (cx, builder) = (self.cx, &mut self.builder);
        Some(match value {
            Value::Number(value) => *value,
            Value::Int(value) => builder.const_index(*value),
            Value::Float(value) => builder.const_float(cx.f64(), *value),
            Value::Bool(value) => builder.const_int(cx.int(1), i64::from(*value)),
            _ => return None,
        })
    }

    /// What stands behind a dot of a value that is no object.
    pub fn property(&mut self, of: &Value<'c>, name: &str) -> Eval<Value<'c>> {
        match of {
            Value::Tensor(_) => self.operator("prim", name, vec![of.clone()], Vec::new()),
            Value::Device(device) => match name {
                "type" => Ok(Value::text(device.split(':').next().unwrap_or_default())),
                "index" => Ok(Value::None),
                _ => Err(format!("a device has no attribute `{name}`").into()),
            },
            other => Err(format!("{} has no attribute `{name}`", other.kind()).into()),
        }
    }

    /// `of[index]`.
    pub fn subscript(&mut self, of: &Value<'c>, index: &Value<'c>) -> Eval<Value<'c>> {
        if let Value::Dict(items) = of {
            let found = self.place_of_key(items, index)?.map(|place| items.borrow()[place].1.clone());
            return found.ok_or_else(|| Stop::Raised("KeyError".to_owned()));
        }
        if let Value::Str(text) = of
            && let Value::Int(place) = index
        {
            let chars: Vec<char> = text.chars().collect();
            let place = wrap(*place, chars.len());
            let found = place.and_then(|place| chars.get(place)).ok_or_else(|| Stop::Raised("IndexError".to_owned()))?;
            return Ok(Value::text(&found.to_string()));
        }
        if let Value::List(list) = of
            && let Some(item) = self.of_rows("__getitem__", list, std::slice::from_ref(index))?
        {
            return Ok(item);
        }
        let items = of.items().ok_or_else(|| format!("{} has no items", of.kind()))?;
        let index = self.number_of(index, "int")?;
        let Value::Int(place) = index else { return self.selected(&items, &index) };
        let found = wrap(place, items.len()).and_then(|place| items.get(place)).cloned();
        found.ok_or_else(|| Stop::Raised("IndexError: list index out of range".to_owned()))
    }

    /// An item at a place that only a call knows: of tensors of one type, that of their stack, of numbers too.
    fn selected(&mut self, items: &[Value<'c>], place: &Value<'c>) -> Eval<Value<'c>> {
        let all = |wanted: fn(&Value<'c>) -> bool| !items.is_empty() && items.iter().all(wanted);
        let numbers = all(|item| matches!(item, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Number(_)));
        let Value::Number(index) = place else { return Err("a list is read at a place that is no number".into()) };
        let row = super::rows::of_items(items);
        let types: HashSet<_> = items.iter().map(|item| if let Value::Tensor(tensor) = item { Some(tensor.ty()) } else { None }).collect();
        if row.is_none() && (types.len() > 1 || types.contains(&None)) && !items.is_empty() {
            let place = self.known_place(items.len(), place)?;
            return self.subscript(&self.list(items.to_vec()), &place);
        }
        let stacked = if numbers {
            let row = row.ok_or("a list of different numbers is read at a place that only a call knows")?;
            super::rows::start(self, &self.list(items.to_vec()), row)?
        } else {
            let tensors = items.iter().filter_map(|item| if let Value::Tensor(tensor) = item { Some(*tensor) } else { None }).collect();
            match self.build(op::STACK.schema(), &[Some(Input::Tensors(tensors))])? {
                Value::Tensor(stacked) => {
                    super::rows::note_items(self, stacked, items);
                    stacked
                }
                other => return Err(format!("{} is no tensor", other.kind()).into()),
            }
        };
        self.guard_place(&Value::Int(items.len() as i64), place)?;
        let index = Some(Input::Int(strata_dialects::aten::Size::Value(*index)));
        let dim = Some(Input::Int(strata_dialects::aten::Size::Const(0)));
        let item = self.build(op::SELECT_INT.schema(), &[Some(Input::Tensor(stacked)), dim, index])?;
        if numbers { self.operator("aten", "item", vec![item], Vec::new()) } else { Ok(item) }
    }

    /// Whether a place that only a call knows, counted from the start or the end, is this one of so many.
    pub fn is_place(&mut self, len: usize, at: usize, place: &Value<'c>) -> Eval<Value<'c>> {
        let (at, len) = (at as i64, len as i64);
        let from_start = self.number("eq", &[place.clone(), Value::Int(at)])?;
        let from_end = self.number("eq", &[place.clone(), Value::Int(at - len)])?;
        let (Some(a), Some(b)) = (from_start, from_end) else { return Err("a place of a list is no number".into()) };
        self.number("__or__", &[a, b])?.ok_or_else(|| "a place of a list is no number".into())
    }

    /// A call fails whose place is not one of so many.
    pub fn guard_place(&mut self, len: &Value<'c>, place: &Value<'c>) -> Eval<()> {
        let missing = "a place of a list is no number";
        let first = self.number("sub", &[Value::Int(0), len.clone()])?.ok_or(missing)?;
        let from_start = self.number("lt", &[place.clone(), len.clone()])?.ok_or(missing)?;
        let from_end = self.number("ge", &[place.clone(), first])?.ok_or(missing)?;
        let inside = self.number("__and__", &[from_start, from_end])?.ok_or(missing)?;
        self.require(&inside, "IndexError: list index out of range")
    }

    /// A call raises this where a condition does not hold.
    pub fn require(&mut self, condition: &Value<'c>, message: &str) -> Eval<()> {
        match condition {
            Value::Bool(true) => Ok(()),
            Value::Number(holds) => {
                guard(self, *holds, 1, message);
                Ok(())
            }
            _ => Err(Stop::Raised(message.to_owned())),
        }
    }

    pub fn dict(&self, items: Vec<(Value<'c>, Value<'c>)>) -> Value<'c> {
        Value::Dict(Shared::new(self.depth, items))
    }

    pub fn tuple(&self, items: Vec<Value<'c>>) -> Value<'c> {
        Value::Tuple(Rc::from(items))
    }
}

/// Whether a value is of a type, or of one of several.
fn is_instance(value: &Value<'_>, ty: &Expr) -> bool {
    let name = match ty {
        Expr::Tuple(types) | Expr::List(types) => return types.iter().any(|ty| is_instance(value, ty)),
        Expr::Subscript(of, _) => of.dotted(),
        ty => ty.dotted(),
    };
    let number = |value: &Value<'_>, wanted: fn(ir::Type<'_>) -> bool| matches!(value, Value::Number(number) if wanted(number.ty()));
    match name.as_deref() {
        Some("Tensor") => matches!(value, Value::Tensor(_)),
        Some("int") => matches!(value, Value::Int(_)) || number(value, |ty| ty.is_index()),
        Some("float") => matches!(value, Value::Float(_)) || number(value, |ty| ty == ty.cx().f64()),
        Some("bool") => matches!(value, Value::Bool(_)) || number(value, |ty| ty == ty.cx().int(1)),
        Some("str") => matches!(value, Value::Str(_)),
        Some("list" | "List") => matches!(value, Value::List(_)),
        Some("tuple" | "Tuple") => matches!(value, Value::Tuple(_)),
        Some("dict" | "Dict") => matches!(value, Value::Dict(_)),
        Some("NoneType") => matches!(value, Value::None),
        Some("Device") => matches!(value, Value::Device(_)),
        Some(class) => matches!(value, Value::Object(object) if *object.class == *class),
        None => false,
    }
}

/// A place of a list, counted from its end where it is negative.
pub(super) fn wrap(place: i64, len: usize) -> Option<usize> {
    let place = if place < 0 { place.checked_add(len as i64)? } else { place };
    usize::try_from(place).ok()
}
