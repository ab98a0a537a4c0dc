//! Conformance cases: `manifest.json` and the input sets beside it.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use strata_runtime::{DType, Tensor, TensorFile};

use super::gradient::Gradient;

/// Elements of a tensor that a signature says.
const MAX_ELEMENTS: i64 = 64;

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
    /// The program: an archive of `torch.export`, or of `torch.jit.save` (`.pt`).
    #[serde(alias = "pt")]
    pub pt2: PathBuf,
    /// The input sets.
    pub io: Vec<PathBuf>,
    /// Outputs of the call.
    pub n_out: usize,
    /// Relative tolerance.
    #[serde(deserialize_with = "checked_tolerance")]
    pub rtol: f64,
    /// Absolute tolerance.
    #[serde(deserialize_with = "checked_tolerance")]
    pub atol: f64,
    /// What is compared.
    pub check: Check,
    /// What is special about it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Outputs whose values are free.
    #[serde(default)]
    pub skip_outputs: Vec<usize>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Values, within a tolerance.
    #[default]
    Close,
    /// Shapes and element types: values are free.
    Shape,
}

impl FromStr for Check {
    type Err = String;

    fn from_str(text: &str) -> Result<Check, String> {
        match text {
            "close" => Ok(Check::Close),
            "shape" => Ok(Check::Shape),
            _ => Err("close and shape are the two".into()),
        }
    }
}

/// A tolerance: what is infinite, negative or no number at all would make every comparison pass or fail.
pub fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "a tolerance is a finite number from 0 up".into())
}

fn checked_tolerance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    tolerance(&number.to_string()).map_err(D::Error::custom)
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
    path: PathBuf,
    file: TensorFile,
    scalars: HashMap<String, serde_json::Value>,
    /// Inputs of the call in order.
    inputs: Vec<Tensor>,
    /// The types of its tensors and the values of its numbers, in order.
    signature: Vec<String>,
    /// What it says of gradients.
    gradient: Option<Gradient>,
}

impl InputSet {
    /// Reads an input set.
    pub fn read(path: &Path) -> Result<InputSet, Box<dyn Error>> {
        InputSet::read_for(path, &[])
    }

    /// Reads an input set in which the inputs may have these names of theirs in the place of `in_0`, `in_1`, ...
    pub fn read_for(path: &Path, names: &[&str]) -> Result<InputSet, Box<dyn Error>> {
        refuse_numpy(path)?;
        let mut file = TensorFile::read(path)?;
        by_place(&mut file, names);
        let scalars: HashMap<String, serde_json::Value> = match file.metadata.get("scalars") {
            Some(text) => serde_json::from_str(text).map_err(|e| format!("{}: scalars: {e}", path.display()))?,
            None => HashMap::new(),
        };
        for (name, value) in &scalars {
            well_formed(value).map_err(|why| format!("{}: scalars: `{name}`: {why}", path.display()))?;
        }
        known_names(file.tensors.keys().chain(scalars.keys())).map_err(|why| format!("{}: {why}", path.display()))?;
        let (mut inputs, mut signature) = (Vec::new(), Vec::new());
        for k in 0.. {
            let name = format!("in_{k}");
            match (file.tensors.remove(&name), scalars.get(&name)) {
                (Some(tensor), _) => {
                    signature.push(type_of(&tensor));
                    inputs.push(tensor);
                }
                // What is no tensor and no number was fixed when the program was captured and is no input of it.
                (None, Some(value)) => {
                    signature.push(value_of(value));
                    inputs.extend(scalar(value));
                }
                (None, None) => break,
            }
        }
        // Inputs that are entries of dicts have their keys in the file's metadata.
        let keys: HashMap<String, String> = match file.metadata.get("keys") {
            Some(text) => serde_json::from_str(text).map_err(|e| format!("{}: keys: {e}", path.display()))?,
            None => HashMap::new(),
        };
        for (place, leaf) in signature.iter_mut().enumerate() {
            if let Some(key) = keys.get(&format!("in_{place}")) {
                *leaf = format!("{key}:{leaf}");
            }
        }
        let mut set = InputSet { path: path.to_owned(), file, scalars, inputs, signature, gradient: None };
        set.gradient = set.metadata("grad", Gradient::read)?;
        Ok(set)
    }

    /// The call's signature, as `--signature` takes it.
    pub fn signature(&self) -> String {
        self.signature.join(",")
    }

    /// The same with the elements of small tensors, for a model that must know some of them.
    pub fn signature_with_elements(&self) -> String {
        signature_with_elements(self.inputs.iter())
    }

    /// The call's inputs.
    pub fn inputs(&self) -> Vec<&Tensor> {
        self.inputs.iter().collect()
    }

    /// What the file says of gradients.
    pub fn gradient(&self) -> Option<&Gradient> {
        self.gradient.as_ref()
    }

    /// Cotangents or tangents by their names.
    pub fn seeds(&self, names: &[String]) -> Result<Vec<&Tensor>, String> {
        let seed = |name: &String| {
            let found = self.file.tensors.get(name);
            found.ok_or_else(|| format!("{}: there is no `{name}`, which gradients are computed from", self.path.display()))
        };
        names.iter().map(seed).collect()
    }

    /// The arguments that the file has a tangent for, sorted.
    pub fn names_of_tangents(&self) -> Vec<String> {
        let argument = |name: &String| Some(name.strip_prefix("tan_").filter(|name| !name.starts_with("out_"))?.to_owned());
        let mut names: Vec<_> = self.file.tensors.keys().filter_map(argument).collect();
        names.sort_unstable();
        names
    }

    /// The outputs that the file has a cotangent for.
    pub fn places_of_cotangents(&self) -> Vec<usize> {
        let place = |name: &String| name.strip_prefix("cot_").and_then(|place| place.parse().ok());
        let mut places: Vec<_> = self.file.tensors.keys().filter_map(place).collect();
        places.sort_unstable();
        places
    }

    /// An expected gradient or tangent by its name.
    pub fn expected_gradient(&self, name: &str) -> Option<&Tensor> {
        self.file.tensors.get(name)
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

    /// The tolerance that the file asks for: `rtol` or `atol` of its metadata.
    pub fn tolerance(&self, name: &str) -> Result<Option<f64>, String> {
        self.metadata(name, tolerance)
    }

    /// What the file wants compared: `check` of its metadata.
    pub fn check(&self) -> Result<Check, String> {
        Ok(self.metadata("check", Check::from_str)?.unwrap_or_default())
    }

    fn metadata<T>(&self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
        let text = self.file.metadata.get(name);
        let wrong = |text: &str, why: String| format!("{}: __metadata__: `{name}` is {text:?}; {why}", self.path.display());
        text.map(|text| read(text).map_err(|why| wrong(text, why))).transpose()
    }
}

/// NumPy's files hold tensors too, and are asked for often enough to be refused by name.
fn refuse_numpy(path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.display();
    let kind = path.extension().and_then(|kind| kind.to_str());
    let mut start = [0; 6];
    let marked = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"\x93NUMPY";
    let load = match kind {
        Some("npz") => format!("dict(np.load('{name}'))"),
        Some("npy") => format!("{{'in_0': np.load('{name}')}}"),
        _ if marked => format!("{{'in_0': np.load('{name}')}}"),
        _ => return Ok(()),
    };
    let convert = format!("import numpy as np, safetensors.numpy as s; s.save_file({load}, 'inputs.safetensors')");
    Err(format!(
        "{name}: a NumPy file, and only safetensors files with tensors in_0, in_1, .. are read; convert it: python3 -c \"{convert}\""
    )
    .into())
}

/// Gives tensors that bear the names of inputs the names of their places. A name that could be a place already is one.
fn by_place(file: &mut TensorFile, names: &[&str]) {
    let own = |name: &str| !["in_", "out_", "mut_", "cot_", "tan_"].iter().any(|prefix| name.starts_with(prefix));
    for (k, name) in names.iter().enumerate().filter(|(_, name)| own(name)) {
        let place = format!("in_{k}");
        if !file.tensors.contains_key(&place)
            && let Some(tensor) = file.tensors.remove(*name)
        {
            file.tensors.insert(place, tensor);
        }
    }
}

/// Every tensor is an input, an output or a mutation, and none is missing between two.
fn known_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let (mut inputs, mut outputs) = (HashSet::new(), HashSet::new());
    for name in names {
        let place = |prefix: &str| {
            name.strip_prefix(prefix).and_then(|place| place.parse::<usize>().ok()).filter(|k| name == &format!("{prefix}{k}"))
        };
        match (place("in_"), place("out_")) {
            (Some(place), _) => drop(inputs.insert(place)),
            (_, Some(place)) => drop(outputs.insert(place)),
            _ if ["mut_", "cot_", "grad_", "tan_"].iter().any(|prefix| name.starts_with(prefix)) => {}
            _ => {
                return Err(format!(
                    "`{name}` is no tensor of this call; the names are in_0, in_1, .. (or those of the program's inputs, where it is compiled), out_0, out_1, .. and mut_NAME; of gradients cot_0, .. and grad_in_0, .. and grad_p_NAME, of tangents tan_NAME"
                ));
            }
        }
    }
    for (prefix, places) in [("in", inputs), ("out", outputs)] {
        if let Some(missing) = (0..places.len()).find(|place| !places.contains(place)) {
            return Err(format!("`{prefix}_{missing}` is missing before others"));
        }
    }
    Ok(())
}

/// A tensor in a signature, `f32[2x3]`.
fn type_of(tensor: &Tensor) -> String {
    let sizes: Vec<_> = tensor.shape().iter().map(ToString::to_string).collect();
    format!("{}[{}]", tensor.dtype(), sizes.join("x"))
}

/// The types of tensors, with the elements of small ones.
pub fn signature_with_elements<'t>(inputs: impl Iterator<Item = &'t Tensor>) -> String {
    inputs.map(|tensor| elements_of(tensor).unwrap_or_else(|| type_of(tensor))).collect::<Vec<_>>().join(",")
}

/// A small tensor in a signature, `i64[2]={0 1}`.
fn elements_of(tensor: &Tensor) -> Option<String> {
    let count: i64 = tensor.shape().iter().product();
    let (bytes, size) = (tensor.bytes(), tensor.dtype().size());
    let text = |chunk: &[u8]| -> Option<String> {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(chunk);
        let (bits, unused) = (u64::from_le_bytes(wide), 64 - 8 * size as u32);
        Some(match tensor.dtype() {
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => bits.to_string(),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => (((bits << unused) as i64) >> unused).to_string(),
            DType::F32 => f32::from_bits(bits as u32).to_string(),
            DType::F64 => f64::from_bits(bits).to_string(),
            _ => return None,
        })
    };
    if count > MAX_ELEMENTS || size > 8 {
        return None;
    }
    let elements = bytes.chunks_exact(size.max(1)).map(text).collect::<Option<Vec<_>>>()?;
    Some(format!("{}={{{}}}", type_of(tensor), elements.join(" ")))
}

/// A number in a signature, `int=3`.
fn value_of(value: &serde_json::Value) -> String {
    match value.as_object().and_then(|fields| fields.iter().next()) {
        Some((kind, value)) if kind != "none" => format!("{kind}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        _ => "none".to_owned(),
    }
}

/// A number that is written as one.
fn well_formed(value: &serde_json::Value) -> Result<(), String> {
    let kind = value.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.keys().next());
    match kind.ok_or("one kind with its value is expected, as in {\"int\": 3}")?.as_str() {
        kind @ ("int" | "float" | "bool") if scalar(value).is_none() => Err(format!("{value} is no {kind}")),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_place_and_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("inputs.safetensors");
        let number = |value: f64| Tensor::from_slice(DType::F64, &[], &[value]).expect("a number");
        let read = |names: &[&str]| {
            let tensors: Vec<_> = names.iter().zip(1..).map(|(name, k)| ((*name).to_owned(), number(f64::from(k)))).collect();
            let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
            TensorFile::write(&path, &tensors).expect("a file");
            let set = InputSet::read_for(&path, &["x", "in_0"]).map_err(|error| error.to_string())?;
            Ok::<_, String>(set.inputs().iter().map(|tensor| tensor.bytes().to_vec()).collect::<Vec<_>>())
        };
        let both = Ok([1.0f64, 2.0].map(|value| value.to_le_bytes().to_vec()).to_vec());
        assert_eq!(read(&["in_0", "in_1"]), both);
        assert_eq!(read(&["x", "in_1"]), both);
        assert!(read(&["z", "in_1"]).is_err_and(|error| error.contains("or those of the program's inputs")));
    }
}
