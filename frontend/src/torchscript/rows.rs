//! Lists whose length only a call knows, such as those that a loop appends to: their items are the rows of one tensor.

use strata_core::ir::{self, DYNAMIC, ElementType, Type};
use strata_dialects::aten::{Input, Size, op};

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::value::{Shared, Value};

/// What such a list holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Row<'c> {
    /// Tensors of this type.
    Tensor(Type<'c>),
    /// Numbers, in a tensor of this element type.
    Number(ElementType),
}

impl<'c> Row<'c> {
    fn of(value: &Value<'c>) -> Option<Self> {
        Some(match value {
            Value::Tensor(tensor) => Row::Tensor(tensor.ty()),
            Value::Rows(_, row) => *row,
            Value::Int(_) => Row::Number(ElementType::I64),
            Value::Float(_) => Row::Number(ElementType::F64),
            Value::Bool(_) => Row::Number(ElementType::Bool),
            Value::Number(number) if number.ty().is_index() => Row::Number(ElementType::I64),
            Value::Number(number) if number.ty() == number.cx().f64() => Row::Number(ElementType::F64),
            Value::Number(_) => Row::Number(ElementType::Bool),
            _ => return None,
        })
    }

    fn shape(self) -> Vec<i64> {
        if let Row::Tensor(ty) = self { ty.shape() } else { Vec::new() }
    }

    fn dtype(self) -> Option<ElementType> {
        match self {
            Row::Tensor(ty) => ty.element_type(),
            Row::Number(dtype) => Some(dtype),
        }
    }
}

/// What a step appends to a list: rows of one type and of known sizes, or more of those that are there.
pub(super) fn appended<'c>(before: &[Value<'c>], after: &[Value<'c>]) -> Option<Row<'c>> {
    let grows = after.len() > before.len() && before.iter().zip(after).all(|(a, b)| a.same(b));
    // A branch of a step may have appended.
    let rows = matches!(after, [Value::Rows(..)]) && !matches!(before, [Value::Rows(..)]);
    let row = of_items(after).filter(|_| grows || rows)?;
    (before.is_empty() || of_items(before) == Some(row)).then_some(row)
}

/// What the items of a list are, where they are of one type and of known sizes.
pub(super) fn of_items<'c>(items: &[Value<'c>]) -> Option<Row<'c>> {
    let row = Row::of(items.first()?)?;
    let known = if let Row::Tensor(ty) = row { ty.is_static() } else { true };
    (known && items.iter().all(|item| Row::of(item) == Some(row))).then_some(row)
}

/// The tensor of such a list, and what its rows are.
pub(super) fn of<'c>(list: &Value<'c>) -> Option<(ir::Value<'c>, Row<'c>)> {
    let Value::List(items) = list else { return None };
    match items.borrow().as_slice() {
        [Value::Rows(tensor, row)] => Some((*tensor, *row)),
        _ => None,
    }
}

/// The list of a tensor's rows.
pub(super) fn list<'c>(eval: &Evaluator<'_, 'c>, tensor: ir::Value<'c>, row: Row<'c>) -> Value<'c> {
    Value::List(Shared::new(eval.depth, vec![Value::Rows(tensor, row)]))
}

/// The tensor of a list's items, as many as there may be.
pub(super) fn start<'c>(eval: &mut Evaluator<'_, 'c>, list: &Value<'c>, row: Row<'c>) -> Eval<ir::Value<'c>> {
    if let Some((tensor, _)) = of(list) {
        return Ok(tensor);
    }
    let (mut rows, items) = (Vec::new(), list.items().unwrap_or_default());
    for item in &items {
        rows.push(as_row(eval, item, row)?);
    }
    let dtype = row.dtype().ok_or("a row has no element type")?;
    let shape = [&[0], row.shape().as_slice()].concat();
    let tensor = if rows.is_empty() {
        let sizes = shape.iter().map(|size| Size::Const(*size)).collect();
        eval.build(op::EMPTY_MEMORY_FORMAT.schema(), &[Some(Input::Ints(sizes)), Some(Input::DType(dtype))])?
    } else {
        eval.build(op::CAT.schema(), &[Some(Input::Tensors(rows)), Some(Input::Int(Size::Const(0)))])?
    };
    let tensor = tensor_of(tensor)?;
    let ty = tensor.ty().with_shape(&[&[DYNAMIC], row.shape().as_slice()].concat());
    let tensor = eval.retyped(tensor, ty)?;
    note_items(eval, tensor, &items);
    Ok(tensor)
}

/// Notes that a tensor holds copies of items, which are the items themselves to the program.
pub(super) fn note_items<'c>(eval: &mut Evaluator<'_, 'c>, tensor: ir::Value<'c>, items: &[Value<'c>]) {
    let tensors: Vec<_> = items.iter().filter_map(|item| if let Value::Tensor(tensor) = item { Some(*tensor) } else { None }).collect();
    eval.facts.may_view(super::writes::base(tensor), &tensors);
}

/// An item as a tensor of one row.
fn as_row<'c>(eval: &mut Evaluator<'_, 'c>, item: &Value<'c>, row: Row<'c>) -> Eval<ir::Value<'c>> {
    if Row::of(item) != Some(row) {
        return Err(format!("{} of another type is appended to a list whose length only a call knows", item.kind()).into());
    }
    let tensor = match (item, row) {
        (Value::Tensor(tensor), _) => *tensor,
        (number, Row::Number(dtype)) => {
            let scalar = eval.scalar(number)?;
            tensor_of(eval.build(op::SCALAR_TENSOR.schema(), &[Some(Input::Scalar(scalar)), Some(Input::DType(dtype))])?)?
        }
        _ => return Err("it is no row".into()),
    };
    tensor_of(eval.build(op::UNSQUEEZE.schema(), &[Some(Input::Tensor(tensor)), Some(Input::Int(Size::Const(0)))])?)
}

fn tensor_of<'c>(value: Value<'c>) -> Eval<ir::Value<'c>> {
    if let Value::Tensor(tensor) = value { Ok(tensor) } else { Err(format!("{} is no tensor", value.kind()).into()) }
}

impl<'c> Evaluator<'_, 'c> {
    /// A method or function of such a list.
    pub fn of_rows(&mut self, name: &str, list: &Shared<Vec<Value<'c>>>, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        let Some((tensor, row)) = of(&Value::List(list.clone())) else { return Ok(None) };
        let rows = Value::Tensor(tensor);
        let refused_when_empty = match name {
            "stack" => Some("stack expects a non-empty TensorList"),
            "cat" | "concat" => Some("torch.cat(): expected a non-empty list of Tensors"),
            "max" | "min" => Some("ValueError: it is the largest or smallest of no numbers"),
            _ => None,
        };
        if let Some(message) = refused_when_empty {
            let len = self.size_of(tensor, 0)?;
            let some = self.number("gt", &[len, Value::Int(0)])?.ok_or("a length is no number")?;
            self.require(&some, message)?;
        }
        let result = match (name, args) {
            ("len", []) => self.size_of(tensor, 0)?,
            ("__getitem__", [place]) => {
                let len = self.size_of(tensor, 0)?;
                self.guard_place(&len, place)?;
                let item = self.operator("aten", "select", vec![rows, Value::Int(0), place.clone()], Vec::new())?;
                if let Row::Tensor(_) = row { item } else { self.operator("aten", "item", vec![item], Vec::new())? }
            }
            ("append", [item]) => {
                let added = as_row(self, item, row)?;
                self.grow(list, row, vec![tensor, added], std::slice::from_ref(item))?;
                Value::None
            }
            ("extend" | "add_", [Value::List(more)]) => {
                let (mut all, mut items) = (vec![tensor], Vec::new());
                match of(&args[0]) {
                    Some((more, other)) if other == row => {
                        all.push(more);
                        items.push(Value::Tensor(more));
                    }
                    Some(_) => return Err("lists of different items are joined".into()),
                    None => {
                        items = more.borrow().clone();
                        for item in &items {
                            all.push(as_row(self, item, row)?);
                        }
                    }
                }
                self.grow(list, row, all, &items)?;
                Value::List(list.clone())
            }
            ("stack", dims) => {
                let at = dims.first().cloned().unwrap_or(Value::Int(0));
                self.operator("aten", "movedim", vec![rows, Value::Int(0), at], Vec::new())?
            }
            ("cat" | "concat", dims) if matches!(row, Row::Tensor(ty) if ty.rank() > 0) => {
                let rank = tensor.ty().rank() as i64 - 1;
                let at = match dims.first() {
                    None => 0,
                    Some(Value::Int(at)) if *at < 0 => at + rank,
                    Some(Value::Int(at)) => *at,
                    Some(_) => return Err("tensors are joined in a dimension that only a call knows".into()),
                };
                let moved = self.operator("aten", "movedim", vec![rows, Value::Int(0), Value::Int(at)], Vec::new())?;
                self.operator("aten", "flatten", vec![moved, Value::Int(at), Value::Int(at + 1)], Vec::new())?
            }
            ("sum" | "max" | "min" | "any" | "all", []) if matches!(row, Row::Number(_)) => {
                let reduced = self.operator("aten", name, vec![rows], Vec::new())?;
                self.operator("aten", "item", vec![reduced], Vec::new())?
            }
            ("list" | "copy", []) => self::list(self, tensor, row),
            _ => return Err(format!("`{name}` of a list whose length only a call knows is not evaluated").into()),
        };
        Ok(Some(result))
    }

    fn grow(&mut self, list: &Shared<Vec<Value<'c>>>, row: Row<'c>, parts: Vec<ir::Value<'c>>, items: &[Value<'c>]) -> Eval<()> {
        let before = parts[0];
        let joined = self.build(op::CAT.schema(), &[Some(Input::Tensors(parts)), Some(Input::Int(Size::Const(0)))])?;
        let joined = tensor_of(joined)?;
        note_items(self, joined, &[&[Value::Tensor(before)], items].concat());
        self.touch(&super::journal::Place::List(list.clone()));
        let mut items = list.borrow_mut();
        match items.first_mut() {
            Some(held) => *held = Value::Rows(joined, row),
            None => return Err(Stop::Here("a list has no rows".to_owned())),
        }
        Ok(())
    }
}
