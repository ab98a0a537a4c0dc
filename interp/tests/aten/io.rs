//! Inputs and expected outputs of a case.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde_json::Value as Json;
use strata_interp::{DType, Scalar, Tensor, Value};

use super::{Problem, wrong};

/// One input set.
pub struct Set {
    tensors: BTreeMap<String, Tensor>,
    scalars: Json,
}

impl Set {
    /// Reads a safetensors file.
    pub fn open(path: &Path) -> Result<Set, Problem> {
        let bytes = std::fs::read(path).map_err(wrong)?;
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(wrong)?;
        let meta = header.metadata().clone().unwrap_or_default();
        let scalars = meta.get("scalars").map_or(Ok(Json::Null), |s| serde_json::from_str(s)).map_err(wrong)?;
        let file = SafeTensors::deserialize(&bytes).map_err(wrong)?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.tensors() {
            tensors.insert(name, Tensor::from_bytes(dtype(view.dtype())?, view.shape(), view.data())?);
        }
        Ok(Set { tensors, scalars })
    }

    /// An input or output by name.
    pub fn value(&self, name: &str) -> Result<Value, Problem> {
        if let Some(t) = self.tensors.get(name) {
            return Ok(Value::Tensor(t.clone()));
        }
        let s = &self.scalars[name];
        let number = |v: &Json| {
            v.as_f64().or_else(|| v.as_str().and_then(|s| s.replace("inf", "Infinity").replace("Infinityinity", "Infinity").parse().ok()))
        };
        if let Some(v) = s["int"].as_i64() {
            Ok(Value::int(v))
        } else if let Some(v) = s["bool"].as_bool() {
            Ok(Value::Scalar(Scalar::Bool(v)))
        } else if let Some(v) = number(&s["float"]) {
            Ok(Value::float(v))
        } else if let Some(v) = s["str"].as_str() {
            Ok(Value::Str(v.to_string()))
        } else if s.get("none").is_some() {
            Ok(Value::None)
        } else {
            Err(wrong(format!("no value `{name}`")))
        }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        (0..).take_while(|k| self.value(&format!("in_{k}")).is_ok()).count()
    }

    /// Expected mutations by buffer name.
    pub fn mutations(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().filter_map(|(n, t)| Some((n.strip_prefix("mut_")?, t)))
    }
}

fn dtype(d: Dtype) -> Result<DType, Problem> {
    Ok(match d {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::U16 => DType::U16,
        Dtype::U32 => DType::U32,
        Dtype::U64 => DType::U64,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::Bf16,
        Dtype::F8_E4M3 => DType::F8E4M3FN,
        Dtype::F8_E5M2 => DType::F8E5M2,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::C64 => DType::C64,
        other => return Err(wrong(format!("element type {other:?}"))),
    })
}
