//! Values of the archive: what its pickles hold, read when the program first reads it.

use std::rc::Rc;

use super::error::{Eval, ScriptError, Stop};
use super::evaluate::{Evaluator, Frame};
use super::pickle::{self, Pickled};
use super::program;
use super::state::Elements;
use super::text::ast::Expr;
use super::value::{Object, Shared, Value};
use crate::import::{Input, InputKind};
use crate::types;

impl<'c> Evaluator<'_, 'c> {
    /// A value of a pickle; `path` is the way to it, `owner` its owner's class.
    pub fn unpickle(&mut self, value: &Pickled, path: &str, folder: &str, owner: Option<(&str, &str)>) -> Eval<Value<'c>> {
        Ok(match value {
            Pickled::None => Value::None,
            Pickled::Bool(value) => Value::Bool(*value),
            Pickled::Int(value) => Value::Int(*value),
            Pickled::Float(value) => Value::Float(*value),
            Pickled::Str(text) | Pickled::Global(text) => Value::Str(Rc::clone(text)),
            Pickled::Persistent(_) => return Err("a storage stands where a value is expected".into()),
            Pickled::Tuple(items) => {
                let item = |(k, item): (usize, &Pickled)| self.unpickle(item, &format!("{path}.{k}"), folder, None);
                Value::Tuple(items.iter().enumerate().map(item).collect::<Eval<Vec<_>>>()?.into())
            }
            Pickled::List(items) => {
                let items = items.borrow().clone();
                let item = |(k, item): (usize, &Pickled)| self.unpickle(item, &format!("{path}.{k}"), folder, None);
                let list = Shared::new(0, items.iter().enumerate().map(item).collect::<Eval<Vec<_>>>()?);
                self.note_state(Value::List(list), path)?
            }
            Pickled::Dict(items) => {
                let items = items.borrow().clone();
                let mut read = Vec::new();
                for (k, (key, value)) in items.iter().enumerate() {
                    let name = if let Pickled::Str(text) = key { text.to_string() } else { k.to_string() };
                    read.push((self.unpickle(key, path, folder, None)?, self.unpickle(value, &format!("{path}.{name}"), folder, None)?));
                }
                self.note_state(Value::Dict(Shared::new(0, read)), path)?
            }
            Pickled::Object(object) => match (&*object.class, &*object.args) {
                ("torch._utils._rebuild_tensor_v2", _) => self.weight(object, path, folder, owner)?,
                ("torch._utils._rebuild_parameter", [Pickled::Object(tensor), ..]) => self.weight(tensor, path, folder, owner)?,
                (
                    "torch.jit._pickle.build_intlist"
                    | "torch.jit._pickle.build_doublelist"
                    | "torch.jit._pickle.build_boollist"
                    | "torch.jit._pickle.build_tensorlist",
                    [list],
                ) => self.unpickle(&list.clone(), path, folder, None)?,
                ("torch.device", [kind, ..]) => match kind {
                    Pickled::Str(kind) => Value::Device(Rc::clone(kind)),
                    _ => Value::Device("cpu".into()),
                },
                ("builtins.complex", [Pickled::Float(real), Pickled::Float(imag)]) => Value::Complex(*real, *imag),
                (class, args) => self.object(object, class, args, path, folder)?,
            },
        })
    }

    fn object(&mut self, object: &pickle::Object, class: &str, args: &[Pickled], path: &str, folder: &str) -> Eval<Value<'c>> {
        let place = std::ptr::from_ref(object);
        if let Some(known) = self.objects.get(&place) {
            return Ok(known.clone());
        }
        let found = self.program.class(class)?;
        let Some(found) = found else {
            return Err(Stop::Refused(ScriptError::Pickle {
                entry: "data.pkl".to_owned(),
                why: format!("`{path}` is an object of `{class}`, which is not a class of the archive (torchbind, packed parameters)"),
            }));
        };
        let value = match (found.item.base.as_deref(), args) {
            (Some("Enum"), [value]) => {
                let value = self.unpickle(&value.clone(), path, folder, None)?;
                let mut member = None;
                for field in &found.item.fields {
                    if let Some(known) = &field.value
                        && self.expr(known, &mut Frame::default())?.same(&value)
                    {
                        member = Some(field.name.clone());
                    }
                }
                let member = member.ok_or_else(|| format!("`{class}` has no member of this value"))?;
                Value::Member(format!("{class}.{member}").into(), Rc::new(value))
            }
            (Some("NamedTuple"), args) => {
                let args = args.iter().enumerate().map(|(k, item)| self.unpickle(item, &format!("{path}.{k}"), folder, None));
                let args = args.collect::<Eval<Vec<_>>>()?;
                self.named_tuple(class, &found.item.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>(), args)?
            }
            _ => {
                let made = Rc::new(Object {
                    class: class.into(),
                    path: if path.is_empty() { ".".to_owned() } else { path.to_owned() },
                    attrs: Shared::new(0, Vec::new()),
                });
                self.objects.insert(place, Value::Object(Rc::clone(&made)));
                let state = object.state.borrow().clone();
                let attrs = match &state {
                    Some(Pickled::Dict(items)) => items.borrow().clone(),
                    _ => Vec::new(),
                };
                for (key, value) in &attrs {
                    let Pickled::Str(name) = key else { return Err("the name of an attribute is no string".into()) };
                    let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                    let value = self.unpickle(value, &below, folder, Some((class, name)))?;
                    made.set(name, value);
                }
                self.note_state(Value::Object(made), path)?
            }
        };
        self.objects.insert(place, value.clone());
        Ok(value)
    }

    /// A tensor of the archive, an argument of the entry.
    fn weight(&mut self, object: &pickle::Object, path: &str, folder: &str, owner: Option<(&str, &str)>) -> Eval<Value<'c>> {
        let weight = program::tensor(&self.program.archive, folder, object).map_err(|why| format!("tensor `{path}`: {why}"))?;
        // Tensors of one storage are one: what is written to the one is read from the other.
        let key = format!("{weight:?}");
        if let Some(value) = self.known_weights.get(&key) {
            return Ok(Value::Tensor(*value));
        }
        let kind = match owner {
            _ if folder == "constants" => InputKind::Constant,
            Some((class, name)) if self.lists(class, "__parameters__", name)? => InputKind::Parameter,
            _ => InputKind::Buffer,
        };
        let sizes: Vec<i64> = weight.sizes.iter().map(|size| *size as i64).collect();
        let ty = types::tensor(self.cx, weight.dtype, &sizes)?;
        let value = self.entry.add_arg(ty, self.cx.unknown());
        self.weights.push((Input { name: path.to_owned(), kind }, Elements::Archive(weight)));
        self.known_weights.insert(key, value);
        Ok(Value::Tensor(value))
    }

    /// Whether a class lists a name, such as those of its parameters.
    fn lists(&self, class: &str, list: &str, name: &str) -> Eval<bool> {
        let Some(found) = self.program.class(class)? else { return Ok(false) };
        let field = found.item.fields.iter().find(|field| field.name == list);
        let names = field.and_then(|field| if let Some(Expr::List(names)) = &field.value { Some(names) } else { None });
        Ok(names.is_some_and(|names| names.iter().any(|known| matches!(known, Expr::Str(known) if known == name))))
    }
}
