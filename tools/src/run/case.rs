//! Conformance cases: `manifest.json` and the input sets beside it.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strata_runtime::{DType, Tensor, TensorFile};

/// The manifest of a folder.
#[derive(Debug, Deserialize)]
pub struct Manifest {
    /// Its cases.
    pub cases: Vec<Case>,
}

/// One case: a program and its input sets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Unique name, `group__...`.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The operator's or model's name.
    #[serde(default)]
    pub op: String,
    /// The element type that the case is about.
    #[serde(default)]
    pub dtype: String,
    /// The program.
    pub pt2: PathBuf,
    /// The input sets.
    pub io: Vec<PathBuf>,
    /// Outputs of the call.
    pub n_out: usize,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// `close`, or `shape` when values are free.
    pub check: String,
    /// What is special about it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Outputs whose values are free.
    #[serde(default)]
    pub skip_outputs: Vec<usize>,
}

impl Case {
    /// The tag for which the case does not count, if any: its values are not determined.
    pub fn skipped(&self) -> Option<&str> {
        let free = ["non_unique", "ill_conditioned", "ub_cast"];
        self.tags.iter().map(String::as_str).find(|tag| free.contains(tag))
    }
}

impl Manifest {
    /// Reads `DIR/manifest.json`.
    pub fn read(folder: &Path) -> Result<Manifest, Box<dyn Error>> {
        let path = folder.join("manifest.json");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?)
    }
}

/// An expected output: a tensor, or a python scalar.
#[derive(Debug)]
pub enum Expected<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A scalar, as its element type and value.
    Scalar(Tensor),
    /// `None`: nothing is computed for it.
    Nothing,
}

/// One input set: inputs, expected outputs and mutations.
pub struct InputSet {
    file: TensorFile,
    scalars: HashMap<String, serde_json::Value>,
    /// Inputs of the call in order.
    inputs: Vec<Tensor>,
}

impl InputSet {
    /// Reads an input set.
    pub fn read(path: &Path) -> Result<InputSet, Box<dyn Error>> {
        let mut file = TensorFile::read(path)?;
        let scalars: HashMap<String, serde_json::Value> = match file.metadata.get("scalars") {
            Some(text) => serde_json::from_str(text).map_err(|e| format!("{}: scalars: {e}", path.display()))?,
            None => HashMap::new(),
        };
        let mut inputs = Vec::new();
        for k in 0.. {
            let name = format!("in_{k}");
            match (file.tensors.remove(&name), scalars.get(&name)) {
                (Some(tensor), _) => inputs.push(tensor),
                // What is no tensor and no number was fixed when the program was captured and is no input of it.
                (None, Some(value)) => inputs.extend(scalar(value)),
                (None, None) => break,
            }
        }
        Ok(InputSet { file, scalars, inputs })
    }

    /// The call's inputs.
    pub fn inputs(&self) -> Vec<&Tensor> {
        self.inputs.iter().collect()
    }

    /// Expected output `k`, if the file has it.
    pub fn output(&self, k: usize) -> Option<Expected<'_>> {
        let name = format!("out_{k}");
        let tensor = self.file.tensors.get(&name).map(Expected::Tensor);
        tensor.or_else(|| Some(scalar(self.scalars.get(&name)?).map_or(Expected::Nothing, Expected::Scalar)))
    }

    /// Number of expected outputs.
    pub fn outputs(&self) -> usize {
        (0..).take_while(|&k| self.output(k).is_some()).count()
    }

    /// Expected mutations by name.
    pub fn mutations(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.file.tensors.iter().filter_map(|(name, tensor)| Some((name.strip_prefix("mut_")?, tensor)))
    }

    /// A value of the file's metadata, as in `rtol`.
    pub fn metadata(&self, name: &str) -> Option<&str> {
        self.file.metadata.get(name).map(String::as_str)
    }
}

/// `{"int": 3}`, `{"float": "0.5"}`, `{"bool": true}` as a tensor of rank 0; nothing for other kinds.
fn scalar(value: &serde_json::Value) -> Option<Tensor> {
    let (kind, value) = value.as_object()?.iter().next()?;
    match kind.as_str() {
        "int" => Tensor::from_slice(DType::I64, &[], &[value.as_i64()?]).ok(),
        "float" => {
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
            Tensor::from_slice(DType::F64, &[], &[number]).ok()
        }
        "bool" => Tensor::from_slice(DType::Bool, &[], &[u8::from(value.as_bool()?)]).ok(),
        _ => None,
    }
}
