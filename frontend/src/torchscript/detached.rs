//! Values without a gradient: those of operators under `torch.no_grad()`.

use strata_dialects::aten::{Input, op};

use super::error::Eval;
use super::evaluate::Evaluator;
use super::value::Value;

impl<'c> Evaluator<'_, 'c> {
    /// What an operator gives where gradients are switched off. A tensor that was written to stays the one that others go on with.
    pub fn detached(&mut self, value: Value<'c>, written: bool) -> Eval<Value<'c>> {
        match &value {
            Value::Tensor(tensor) if tensor.ty().element_type().is_some_and(|dtype| dtype.is_float() || dtype.is_complex()) => {
                let detached = self.build(op::DETACH.schema(), &[Some(Input::Tensor(*tensor))])?;
                let Value::Tensor(source) = detached else { return Ok(value) };
                if !written {
                    return Ok(detached);
                }
                self.build(op::COPY_.schema(), &[Some(Input::Tensor(*tensor)), Some(Input::Tensor(source))])?;
                Ok(value)
            }
            Value::List(items) => {
                let items = items.borrow().clone().into_iter().map(|item| self.detached(item, written)).collect::<Eval<_>>()?;
                Ok(self.list(items))
            }
            Value::Tuple(items) => {
                let items = items.iter().cloned().map(|item| self.detached(item, written)).collect::<Eval<_>>()?;
                Ok(self.tuple(items))
            }
            _ => Ok(value),
        }
    }
}
