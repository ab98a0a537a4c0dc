//! Broken `.strata` files: bytes that the checksums do not cover any more, and manifests that say something else.

use serde_json::Value;
use strata_driver::{Options, compile};
use strata_runtime::Artefact;
use strata_runtime::manifest::Manifest;

use super::{Broken, Corpus, Failure, break_bytes, json, root};
use crate::rng::Rng;

/// Programs with weights, several outputs, symbolic sizes.
const PROGRAMS: &[&str] =
    &["test/models/chain30.pt2", "test/conformance/own/aliases/views_dynamic.pt2", "test/conformance/own/mutation/counter.pt2"];

/// Compiled programs.
pub struct Artefacts(Vec<Artefact>);

impl Artefacts {
    /// Compiles the programs, once: with their weights elsewhere, and in them.
    pub fn read() -> Result<Artefacts, Failure> {
        let mut programs = Vec::new();
        for program in PROGRAMS {
            let program = compile(strata_driver::standard(), &root().join(program), &Options::default(), None)?;
            programs.extend([program.clone(), program.pack(None)?]);
        }
        Ok(Artefacts(programs))
    }
}

impl Corpus for Artefacts {
    fn broken(&self, rng: &mut Rng) -> Broken {
        let artefact = &self.0[rng.below(self.0.len())];
        let mut bytes = artefact.to_bytes();
        match rng.below(3) {
            0 => break_bytes(&mut bytes, rng),
            _ => bytes = edited(artefact, rng).unwrap_or(bytes),
        }
        let command = rng.pick(&["rs-run %s", "rs-run --print-guards %s", "rs-run --report %s"]);
        Broken { bytes, ending: "strata", command: command.into() }
    }
}

/// With another manifest, and checksums that are right. The layout stays: it places the code and binds its imports, so that another one is
/// other code.
fn edited(artefact: &Artefact, rng: &mut Rng) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::to_value(&artefact.manifest).ok()?;
    let layout = document["layout"].clone();
    json::edit(&mut document, rng);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("layout".to_owned(), layout);
    }
    let manifest: Manifest = serde_json::from_value(document).ok()?;
    Some(Artefact { manifest, ..artefact.clone() }.to_bytes())
}
