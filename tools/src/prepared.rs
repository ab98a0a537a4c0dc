//! Prepared weights in the store: the first process that runs a program computes them into a file there, and every other maps it.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use strata_runtime::{Artefact, PreparedFiles};
use strata_store::{Kind, Making, Parts, Region, Store, content_hash};

use crate::cached::{open_store, warn};

/// Bytes below which a process computes them in less time than it takes to look for them: some milliseconds.
const FEW: u64 = 16 << 20;

/// The files of one program with its weights.
pub struct Prepared {
    store: Store,
    parts: Parts,
    /// The entry that is being filled.
    making: RefCell<Option<Making>>,
}

impl Prepared {
    /// Of a program that came from the file `source`, its weights from the files that it names or from `weights`. Nothing for few bytes, where
    /// there is no store, and where a file of weights has no name or no time by which it is known.
    pub fn of(source: &Path, artefact: &Artefact, weights: Option<&Path>) -> Option<Prepared> {
        let manifest = &artefact.manifest;
        let bytes = manifest.prepared.iter().try_fold(0u64, |sum, weight| sum.checked_add(weight.bytes()?))?;
        if manifest.device.is_some() || bytes < FEW {
            return None;
        }
        let mut files: Vec<PathBuf> = match (weights, &manifest.packed) {
            (Some(weights), _) => vec![weights.into()],
            (None, Some(_)) => vec![source.into()],
            (None, None) => {
                manifest.weights.iter().map(|weight| weight.source.path()).filter(|path| !path.as_os_str().is_empty()).collect()
            }
        };
        files.sort();
        files.dedup();
        let described = serde_json::to_vec(&(&manifest.weights, &manifest.prepared, &manifest.packed)).ok()?;
        let mut parts = Parts::new().with_content("code", &artefact.image.bytes).with_content("weights", &described);
        for file in files {
            parts = parts.with("file", identity(&file)?);
        }
        Some(Prepared { store: open_store()?, parts, making: RefCell::default() })
    }
}

impl PreparedFiles for Prepared {
    fn find(&self, bytes: u64) -> Option<(File, u64)> {
        let region = self.store.region(&self.parts.key(Kind::Prepared)).filter(|region| region.bytes == bytes)?;
        Some((region.file, region.offset))
    }

    fn make(&self, bytes: u64) -> Option<(File, u64)> {
        let begun = self.store.begin(Kind::Prepared, self.parts.clone(), bytes).and_then(|made| {
            let region = made.as_ref().map(Making::region).transpose()?;
            Ok(made.zip(region))
        });
        let (made, Region { file, offset, .. }) = begun.map_err(|error| warn(&error)).ok()??;
        *self.making.borrow_mut() = Some(made);
        Some((file, offset))
    }

    fn finish(&self) {
        if let Some(Err(error)) = self.making.take().map(|made| self.store.finish(made)) {
            warn(&error);
        }
    }
}

/// A file by its place, length and time: that of a program, whose weights are too many to be read for it.
fn identity(file: &Path) -> Option<String> {
    let (path, meta) = (file.canonicalize().ok()?, std::fs::metadata(file).ok()?);
    let time = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(content_hash(format!("{}\n{}\n{time}", path.display(), meta.len()).as_bytes()))
}
