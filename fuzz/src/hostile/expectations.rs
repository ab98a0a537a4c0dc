//! Broken safetensors files: what `rs-run --expect` and `--inputs` read.

use std::path::{Path, PathBuf};

use serde_json::Value;
use strata_driver::{Options, compile};

use super::{Broken, Corpus, Failure, break_bytes, json, root};
use crate::rng::Rng;

/// Programs with an expectation beside them, of several element types, scalars and mutations.
const PROGRAMS: &[&str] = &[
    "test/models/chain30",
    "test/conformance/own/aliases/nested",
    "test/conformance/own/mutation/counter",
    "test/conformance/own/aliases/parts_of_complex",
];

/// Compiled programs with the bytes of what they are compared with.
pub struct Expectations(Vec<(PathBuf, Vec<u8>)>);

impl Expectations {
    /// Compiles the programs, once.
    pub fn read(scratch: &Path) -> Result<Expectations, Failure> {
        let mut all = Vec::new();
        for (place, program) in PROGRAMS.iter().enumerate() {
            let path = root().join(program);
            let artefact = scratch.join(format!("{place}.strata"));
            compile(strata_driver::standard(), &path.with_extension("pt2"), &Options::default(), None)?.write(&artefact)?;
            all.push((artefact, std::fs::read(path.with_extension("safetensors"))?));
        }
        Ok(Expectations(all))
    }
}

impl Corpus for Expectations {
    fn broken(&self, rng: &mut Rng) -> Broken {
        let (program, bytes) = &self.0[rng.below(self.0.len())];
        let mut bytes = bytes.clone();
        match rng.below(5) {
            0 => break_bytes(&mut bytes, rng),
            _ => bytes = edited(&bytes, rng).unwrap_or(bytes),
        }
        let flag = rng.pick(&["--expect", "--expect", "--inputs"]);
        Broken { bytes, ending: "safetensors", command: format!("rs-run {} {flag} %s", program.display()) }
    }
}

/// With another header: eight bytes of length, JSON, then the data.
fn edited(bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let length = usize::try_from(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)).ok()?;
    let mut header: Value = serde_json::from_slice(bytes.get(8..8 + length)?).ok()?;
    let metadata = header.get_mut("__metadata__").and_then(Value::as_object_mut);
    match (metadata, rng.below(3)) {
        (Some(metadata), 0) => {
            let name = rng.pick(&["rtol", "atol", "check", "scalars"]);
            let value = rng.pick(&["inf", "x", "-1", "NaN", "0", "shape", "values", "", "{}", "{\"in_0\": {\"int\": 1}}", "1e-3"]);
            metadata.insert(name.into(), value.into());
        }
        _ => json::edit(&mut header, rng),
    }
    let text = json::text(&header, rng);
    let mut whole = (text.len() as u64).to_le_bytes().to_vec();
    whole.extend(text);
    whole.extend(&bytes[8 + length..]);
    Some(whole)
}
