//! Argument defaults, from the facts about PyTorch's schemas beside the corpus.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value as Json;
use strata_interp::{DType, Scalar, Value};

/// Defaults of every overload's arguments, by the dialect's op names.
pub struct Schemas {
    defaults: HashMap<String, Vec<(String, Value)>>,
}

impl Schemas {
    /// Reads the schemas' file.
    pub fn open(path: &Path) -> Schemas {
        let text = std::fs::read_to_string(path).expect("the schemas are readable");
        let all: Json = serde_json::from_str(&text).expect("the schemas are JSON");
        let mut defaults = HashMap::new();
        for s in all.as_array().into_iter().flatten() {
            let args = s["args"].as_array().into_iter().flatten();
            let given = args
                .filter_map(|a| {
                    Some((a["name"].as_str()?.to_string(), parse(a["default"].as_str()?, a["type"].as_str().unwrap_or_default())))
                })
                .collect();
            let name = s["name"].as_str().unwrap_or_default();
            defaults.insert(name.strip_suffix(".default").unwrap_or(name).to_string(), given);
        }
        Schemas { defaults }
    }

    /// The defaults of an overload.
    pub fn defaults(&self, name: &str) -> &[(String, Value)] {
        self.defaults.get(name).map_or(&[], Vec::as_slice)
    }
}

fn number(text: &str) -> Option<Scalar> {
    match text {
        "True" => Some(Scalar::Bool(true)),
        "False" => Some(Scalar::Bool(false)),
        t => t.parse().ok().map(Scalar::Int).or_else(|| t.parse().ok().map(Scalar::Float)),
    }
}

/// A default as Python writes it.
fn parse(text: &str, kind: &str) -> Value {
    if text == "None" || kind.starts_with("MemoryFormat") {
        return Value::None;
    }
    if kind.starts_with("ScalarType") {
        // PyTorch's own numbering.
        return Value::DType(if text == "4" { DType::I64 } else { DType::F32 });
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return Value::Scalars(inner.split(',').filter_map(|t| number(t.trim())).collect());
    }
    match number(text) {
        Some(v) => Value::Scalar(v),
        None => Value::Str(text.trim_matches(['"', '\'']).to_string()),
    }
}
