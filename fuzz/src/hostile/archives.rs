//! Broken archives: `.pt2`, and `.pt` of TorchScript with the call beside them.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Broken, Corpus, Failure, break_bytes, files, json, root};
use crate::rng::Rng;

/// Larger archives only have larger weights.
const MAX_BYTES: u64 = 100_000;

/// Archives by their entries.
pub struct Archives(Vec<Archive>);

struct Archive {
    entries: Vec<Entry>,
    /// The file of its call, for one that has no types of its own.
    call: Option<PathBuf>,
}

#[derive(Clone)]
struct Entry {
    name: String,
    bytes: Vec<u8>,
}

impl Archives {
    /// Those of the repository's tests, and of a folder.
    pub fn read(more: Option<&Path>) -> Result<Archives, Failure> {
        let mut found = Vec::new();
        for ending in ["pt2", "pt"] {
            found.extend(files(&root().join("test"), ending)?);
            if let Some(more) = more {
                found.extend(files(more, ending)?);
            }
        }
        let mut archives = Vec::new();
        for path in found {
            if path.metadata()?.len() <= MAX_BYTES {
                let entries = entries(std::fs::read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
                let script = path.extension().is_some_and(|ending| ending == "pt");
                // The inputs of its call, or of the first of several.
                let calls = ["safetensors", "s0.safetensors"].map(|ending| path.with_extension(ending));
                archives.push(Archive { entries, call: calls.into_iter().find(|call| script && call.exists()) });
            }
        }
        Ok(Archives(archives))
    }
}

fn entries(bytes: Vec<u8>) -> Result<Vec<Entry>, Failure> {
    let mut zip = ZipArchive::new(Cursor::new(bytes))?;
    let mut entries = Vec::new();
    for place in 0..zip.len() {
        let mut file = zip.by_index(place)?;
        let (name, mut bytes) = (String::from_utf8_lossy(file.name_raw()).into_owned(), Vec::new());
        file.read_to_end(&mut bytes)?;
        entries.push(Entry { name, bytes });
    }
    Ok(entries)
}

impl Corpus for Archives {
    fn broken(&self, rng: &mut Rng) -> Broken {
        let archive = &self.0[rng.below(self.0.len())];
        let mut entries = archive.entries.clone();
        let structure = rng.chance(20);
        if !structure {
            match rng.below(10) {
                0..=7 if archive.call.is_some() => edit_script(&mut entries, rng),
                // The program says the most.
                0..=6 => edit_json(&mut entries, rng, "models/model.json"),
                7 => edit_json(&mut entries, rng, "_config.json"),
                8 => edit_json(&mut entries, rng, ".json"),
                _ => edit_entries(&mut entries, rng),
            }
        }
        // A name that the library does not write is a broken archive too: of no entries.
        let mut bytes = written(&entries).unwrap_or_default();
        if structure {
            break_bytes(&mut bytes, rng);
        }
        if let Some(call) = &archive.call {
            return Broken { bytes, ending: "pt", command: format!("rs-run --no-cache %s --inputs {}", call.display()) };
        }
        let command = match rng.below(4) {
            0 => "rs-run --no-cache --verify-weights %s",
            1 => "rs-opt %s --to=prim",
            _ => "rs-run --no-cache %s",
        };
        Broken { bytes, ending: "pt2", command: command.into() }
    }
}

/// The program's text, or a pickle.
fn edit_script(entries: &mut [Entry], rng: &mut Rng) {
    let mut found: Vec<&mut Entry> =
        entries.iter_mut().filter(|entry| entry.name.ends_with(".py") || entry.name.ends_with(".pkl")).collect();
    let count = found.len();
    if let Some(entry) = found.get_mut(rng.below(count)) {
        break_bytes(&mut entry.bytes, rng);
    }
}

fn edit_json(entries: &mut [Entry], rng: &mut Rng, ending: &str) {
    let mut found: Vec<&mut Entry> = entries.iter_mut().filter(|entry| entry.name.ends_with(ending)).collect();
    let count = found.len();
    let Some(entry) = found.get_mut(rng.below(count)) else { return };
    let Ok(mut document) = serde_json::from_slice::<Value>(&entry.bytes) else { return };
    // What the operators are given says more than the descriptions around it.
    let inside = if rng.chance(60) { "/graph_module/graph/nodes" } else { "" };
    match document.pointer_mut(inside) {
        Some(nodes) => json::edit(nodes, rng),
        None => json::edit(&mut document, rng),
    }
    entry.bytes = json::text(&document, rng);
}

fn edit_entries(entries: &mut Vec<Entry>, rng: &mut Rng) {
    let at = rng.below(entries.len());
    match rng.below(5) {
        0 => drop(entries.remove(at)),
        1 => entries[at].bytes.truncate(rng.below(16)),
        2 => break_bytes(&mut entries[at].bytes, rng),
        3 => {
            let other = entries[rng.below(entries.len())].bytes.clone();
            entries[at].bytes = other;
        }
        _ => {
            entries[at].name = rng.pick(&["a/../../b", "model/data/weights/x", "elsewhere/model.json", "x", "model/archive_version"]).into()
        }
    }
}

fn written(entries: &[Entry]) -> Result<Vec<u8>, Failure> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        zip.start_file(&*entry.name, SimpleFileOptions::default().compression_method(CompressionMethod::Stored))?;
        zip.write_all(&entry.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
