//! Numbers of tensors that are known at import time: traced programs take sizes through tensors of rank 0, and detection networks ask
//! constant tensors for their elements.

use strata_core::ir::{self, ElementType};

use super::evaluate::Evaluator;
use super::state::Elements;
use super::value::Value;
use crate::fold::{self, is_written};
use crate::import::InputKind;
use crate::operators::Constant;

impl<'c> Evaluator<'_, 'c> {
    /// The number that a tensor of one element holds, where it is known.
    pub fn known_number(&mut self, tensor: ir::Value<'c>) -> Option<Value<'c>> {
        if let Some(known) = self.facts.numbers.get(&tensor) {
            return Some(known.clone()).filter(|_| !is_written(tensor) && !fold::depends_on(tensor, &self.facts.changing));
        }
        if tensor.ty().num_elements() != Some(1) || fold::depends_on(tensor, &self.facts.changing) {
            return None;
        }
        let (constant, steps) = fold::constant(self.operators, &|value| self.constant_weight(value), tensor);
        self.ops = self.ops.saturating_add(steps);
        let number = constant?.number()?;
        self.facts.numbers.insert(tensor, number.clone());
        Some(number)
    }

    /// A constant of the archive.
    fn constant_weight(&self, value: ir::Value<'c>) -> Option<Constant> {
        if value.owner_block() != Some(self.entry) {
            return None;
        }
        let inputs = self.entry.args().len().checked_sub(self.weights.len())?;
        let (input, elements) = self.weights.get(value.index().checked_sub(inputs)?)?;
        let Elements::Archive(weight) = elements else { return None };
        if input.kind != InputKind::Constant {
            return None;
        }
        let bytes = weight.dense(&self.program.archive).ok()?.into_owned();
        let shape = weight.sizes.iter().map(|size| *size as i64).collect();
        Some(Constant { dtype: value.ty().element_type()?, shape, bytes })
    }

    /// Notes the number of a tensor that arithmetic on known numbers gives, so that sizes stay sizes.
    pub fn note_number(&mut self, name: &str, args: &[Option<Value<'c>>], result: &Value<'c>) {
        let Value::Tensor(tensor) = result else { return };
        if tensor.ty().rank() != 0 || tensor.ty().element_type() != Some(ElementType::I64) {
            return;
        }
        let number = |arg: &Value<'c>| match arg {
            Value::Tensor(tensor) => self.facts.numbers.get(tensor).cloned(),
            Value::Int(_) | Value::Number(_) => Some(arg.clone()),
            _ => None,
        };
        let numbers: Option<Vec<_>> = args.iter().flatten().take(2).map(number).collect();
        let Some(numbers) = numbers.filter(|numbers| numbers.iter().any(|number| matches!(number, Value::Number(_)))) else { return };
        let name = match name {
            "floor_divide" => "floordiv",
            "add" | "sub" | "mul" | "neg" | "remainder" => name,
            "clone" | "detach" | "to" | "contiguous" => {
                self.facts.numbers.insert(*tensor, numbers[0].clone());
                return;
            }
            _ => return,
        };
        if let Ok(Some(number)) = self.number(name, &numbers) {
            self.facts.numbers.insert(*tensor, number);
        }
    }
}

impl Constant {
    /// The number of one element.
    fn number<'c>(&self) -> Option<Value<'c>> {
        let bytes = &self.bytes;
        Some(match self.dtype {
            ElementType::Bool => Value::Bool(*bytes.first()? != 0),
            ElementType::U8 => Value::Int(i64::from(*bytes.first()?)),
            ElementType::I8 => Value::Int(i64::from(*bytes.first()? as i8)),
            ElementType::I16 => Value::Int(i16::from_le_bytes(bytes.get(..2)?.try_into().ok()?).into()),
            ElementType::I32 => Value::Int(i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?).into()),
            ElementType::I64 => Value::Int(i64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)),
            ElementType::F32 => Value::Float(f32::from_le_bytes(bytes.get(..4)?.try_into().ok()?).into()),
            ElementType::F64 => Value::Float(f64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)),
            _ => return None,
        })
    }
}
