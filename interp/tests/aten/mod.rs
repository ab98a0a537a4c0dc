//! Runs conformance cases through the interpreter's aten arms, straight from the exported graph.
//!
//! This needs neither MLIR nor the importer, so it tests the arms alone.

pub mod graph;
pub mod io;
pub mod schema;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use strata_interp::{DType, InterpError, Scalar, Tensor, Value};

/// The folder of conformance cases beside the repository, where there is one.
pub fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    path.join("manifest.json").is_file().then_some(path)
}

/// The manifest's cases.
pub fn cases(folder: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("the manifest is readable");
    let manifest: Json = serde_json::from_str(&text).expect("the manifest is JSON");
    manifest["cases"].as_array().cloned().unwrap_or_default()
}

/// What became of a case.
pub enum Outcome {
    /// All outputs are right.
    Pass,
    /// An op has no arm.
    Unsupported(String),
    /// A wrong output or an error.
    Fail(String),
}

/// Runs every input set of a case.
pub fn run(folder: &Path, schemas: &schema::Schemas, case: &Json) -> Outcome {
    let done = catch_unwind(AssertUnwindSafe(|| run_sets(folder, schemas, case)));
    match done {
        Ok(Ok(())) => Outcome::Pass,
        Ok(Err(Problem::Interp(InterpError::Unsupported { op, .. }))) => Outcome::Unsupported(op),
        Ok(Err(Problem::Interp(e))) => Outcome::Fail(e.to_string()),
        Ok(Err(Problem::Wrong(e))) => Outcome::Fail(e),
        Err(p) => Outcome::Fail(format!(
            "panic: {}",
            p.downcast_ref::<String>().cloned().or(p.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
        )),
    }
}

/// Why a case is not right.
#[derive(Debug)]
pub enum Problem {
    /// The interpreter refused.
    Interp(InterpError),
    /// The file is odd or the result wrong.
    Wrong(String),
}

impl From<InterpError> for Problem {
    fn from(e: InterpError) -> Problem {
        Problem::Interp(e)
    }
}

/// Anything that prints becomes a wrong case.
pub fn wrong(e: impl ToString) -> Problem {
    Problem::Wrong(e.to_string())
}

fn run_sets(folder: &Path, schemas: &schema::Schemas, case: &Json) -> Result<(), Problem> {
    let program = graph::Program::open(&folder.join(case["pt2"].as_str().unwrap_or_default()))?;
    for io in case["io"].as_array().into_iter().flatten() {
        let set = io::Set::open(&folder.join(io.as_str().unwrap_or_default()))?;
        let result = program.run(schemas, &set)?;
        compare(case, &set, &result)?;
    }
    Ok(())
}

pub fn compare(case: &Json, set: &io::Set, got: &graph::Result_) -> Result<(), Problem> {
    let skipped: Vec<u64> = case["skip_outputs"].as_array().into_iter().flatten().filter_map(Json::as_u64).collect();
    let (rtol, atol) = (case["rtol"].as_f64().unwrap_or(0.0), case["atol"].as_f64().unwrap_or(0.0));
    let shape_only = case["check"] == "shape";
    for (k, value) in got.outputs.iter().enumerate() {
        if !skipped.contains(&(k as u64)) {
            let name = format!("out_{k}");
            let want = set.value(&name)?;
            close(&want, value, rtol, atol, shape_only).map_err(|e| wrong(format!("{name}: {e}")))?;
        }
    }
    for (name, want) in set.mutations() {
        let value = got.mutations.get(name).ok_or_else(|| wrong(format!("mut_{name} is missing")))?;
        close(&Value::Tensor(want.clone()), value, rtol, atol, shape_only).map_err(|e| wrong(format!("mut_{name}: {e}")))?;
    }
    Ok(())
}

fn close(want: &Value, got: &Value, rtol: f64, atol: f64, shape_only: bool) -> Result<(), String> {
    let (want, got) = match (want, got) {
        (Value::Tensor(w), Value::Tensor(g)) => (w, g),
        (Value::Scalar(w), Value::Scalar(g)) => {
            return if near(*w, *g, rtol, atol) { Ok(()) } else { Err(format!("want {w:?}, got {g:?}")) };
        }
        (w, g) => return if w == g { Ok(()) } else { Err(format!("want {}, got {}", w.kind(), g.kind())) },
    };
    if (want.dtype(), want.shape()) != (got.dtype(), got.shape()) {
        return Err(format!("want {:?} {:?}, got {:?} {:?}", want.dtype(), want.shape(), got.dtype(), got.shape()));
    }
    if shape_only {
        return Ok(());
    }
    match (0..want.len()).find(|&k| !near(want.at(k), got.at(k), rtol, atol)) {
        Some(k) => Err(format!("element {k} of {:?}: want {:?}, got {:?}", want.shape(), want.at(k), got.at(k))),
        None => Ok(()),
    }
}

fn near(want: Scalar, got: Scalar, rtol: f64, atol: f64) -> bool {
    match (want, got) {
        (Scalar::Complex(w), Scalar::Complex(g)) => {
            let part = |w: f64, g: f64| near(Scalar::Float(w), Scalar::Float(g), rtol, atol);
            (w - g).norm() <= atol + rtol * w.norm() || (part(w.re, g.re) && part(w.im, g.im))
        }
        (Scalar::Float(w), _) => {
            let g = got.float();
            (w.is_nan() && g.is_nan()) || w == g || (w - g).abs() <= atol + rtol * w.abs()
        }
        (w, g) => w.int() == g.int(),
    }
}

/// Counts by group, and the reasons of failures.
#[derive(Default)]
pub struct Report {
    /// Passed, unsupported, failed.
    pub groups: BTreeMap<String, [usize; 3]>,
    /// One line for each case that did not pass.
    pub lines: Vec<String>,
    /// How often each op had no arm.
    pub missing: BTreeMap<String, usize>,
}

impl Report {
    /// Adds a case.
    pub fn add(&mut self, case: &Json, outcome: Outcome) {
        let text = |k: &str| case[k].as_str().unwrap_or_default().to_string();
        let counts = self.groups.entry(text("group")).or_default();
        match outcome {
            Outcome::Pass => counts[0] += 1,
            Outcome::Unsupported(op) => {
                counts[1] += 1;
                self.lines.push(format!("{} unsupported {op}", text("name")));
                *self.missing.entry(op).or_default() += 1;
            }
            Outcome::Fail(reason) => {
                counts[2] += 1;
                self.lines.push(format!("{} {}", text("name"), reason.chars().take(300).collect::<String>()));
            }
        }
    }
}

/// Element type codes of the exported program.
pub fn dtype(code: u64) -> Result<DType, Problem> {
    Ok(match code {
        1 => DType::U8,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::F16,
        7 => DType::F32,
        8 => DType::F64,
        10 => DType::C64,
        11 => DType::C128,
        12 => DType::Bool,
        13 => DType::Bf16,
        28 => DType::U16,
        29 => DType::F8E4M3FN,
        30 => DType::F8E5M2,
        34 => DType::U32,
        35 => DType::U64,
        other => return Err(wrong(format!("element type {other}"))),
    })
}

/// A tensor read from raw storage with strides.
pub fn strided(dtype: DType, sizes: &[usize], strides: &[usize], offset: usize, bytes: &[u8]) -> Result<Tensor, Problem> {
    let mut out = Vec::new();
    let mut at = vec![0; sizes.len()];
    if !sizes.contains(&0) {
        loop {
            let k = (offset + at.iter().zip(strides).map(|(a, b)| a * b).sum::<usize>()) * dtype.size();
            out.extend(bytes.get(k..k + dtype.size()).ok_or_else(|| wrong("a weight leaves its file"))?);
            if !strata_interp::tensor::advance(&mut at, sizes) {
                break;
            }
        }
    }
    Ok(Tensor::from_bytes(dtype, sizes, &out)?)
}
