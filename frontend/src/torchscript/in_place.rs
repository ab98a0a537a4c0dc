//! Operators that change the sizes of their argument in place, and those that write to a tensor that is given by `out`.

use strata_core::ir;
use strata_dialects::aten::{Input, op, schema};

use super::error::Eval;
use super::evaluate::Evaluator;
use super::overload::Given;
use super::value::Value;

/// The view that an operator makes of its argument in place.
pub(super) fn reshaping(name: &str) -> Option<&str> {
    const RESHAPING: [&str; 7] = ["as_strided_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"];
    RESHAPING.contains(&name).then(|| name.trim_end_matches('_'))
}

/// Whether an operator has an overload that writes its result to a tensor.
pub(super) fn has_out(library: &str, name: &str) -> bool {
    schema::names()
        .filter(|known| {
            known
                .strip_prefix(library)
                .and_then(|rest| rest.strip_prefix('.')?.strip_prefix(name))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .filter_map(schema::schema)
        .any(|schema| schema.has("out"))
}

impl<'c> Evaluator<'_, 'c> {
    /// A call that writes its result to a tensor.
    pub fn written_out(&mut self, library: &str, name: &str, (args, named): Given<'c>, out: &Value<'c>) -> Eval<Value<'c>> {
        let float =
            |value: &Value<'c>| matches!(value, Value::Tensor(tensor) if tensor.ty().element_type().is_some_and(|dtype| dtype.is_float()));
        // Before version 4 the quotient that is written to floats was not truncated.
        let name = if name == "div" && self.program.version < 4 && float(out) { "true_divide" } else { name };
        let (result, Value::Tensor(out)) = (self.operator(library, name, args, named)?, out) else {
            return Err(format!("`{name}` has several results to write").into());
        };
        let Value::Tensor(result) = result else { return Err(format!("`{name}` has several results to write").into()) };
        let out = self.facts.shaped(*out);
        if result.ty().shape() != out.ty().shape() || !result.ty().is_static() {
            return Err(format!("`{name}` writes a {} to a tensor of other sizes", result.ty()).into());
        }
        self.build(op::COPY_.schema(), &[Some(Input::Tensor(out)), Some(Input::Tensor(result))])?;
        Ok(Value::Tensor(out))
    }

    /// The first elements of a tensor in other sizes: those of a list, or of another tensor.
    pub fn resized(&mut self, tensor: ir::Value<'c>, like: &Value<'c>) -> Eval<ir::Value<'c>> {
        let sizes = match like {
            Value::Tensor(_) => self.operator("aten", "size", vec![like.clone()], Vec::new())?,
            sizes => sizes.clone(),
        };
        let mut count = Value::Int(1);
        for size in sizes.items().unwrap_or_default() {
            count = self.number("mul", &[count, size])?.ok_or("a size is no number")?;
        }
        let (Value::Int(count), Some(there)) = (&count, tensor.ty().num_elements()) else {
            return Err("a tensor is resized to, or from, sizes that only a call knows".into());
        };
        if *count > there || super::writes::base(tensor) != tensor {
            return Err("a tensor is resized to more elements than it has, or is a view of one".into());
        }
        let flat = self.operator("aten", "flatten", vec![Value::Tensor(tensor)], Vec::new())?;
        let first =
            self.operator("aten", "slice", vec![flat, Value::Int(0), Value::Int(0), Value::Int(*count), Value::Int(1)], Vec::new())?;
        match self.operator("aten", "view", vec![first, sizes], Vec::new())? {
            Value::Tensor(now) => Ok(now),
            other => Err(format!("{} is no tensor", other.kind()).into()),
        }
    }
}
