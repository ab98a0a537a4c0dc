//! The hash of a program's source: of a text all of it, of a `.pt2` archive all but the numbers of its weights.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A source that cannot be hashed.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct SourceError {
    path: PathBuf,
    reason: String,
}

/// The hash of a source file.
///
/// New weights recompile nothing: of an archive's weights only names and sizes count. The program and the tables of weights
/// count in full, constants by the checksum in the archive's own directory, so that no large file is ever read for this.
/// Sample inputs, compression and the order of the entries do not count.
pub fn source_hash(path: &Path) -> Result<String, SourceError> {
    let failed = |reason: String| SourceError { path: path.into(), reason };
    let mut file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut hasher = blake3::Hasher::new();
    if path.extension().is_none_or(|extension| extension != "pt2") {
        std::io::copy(&mut file, &mut hasher).map_err(|error| failed(error.to_string()))?;
        return Ok(hasher.finalize().to_hex().to_string());
    }
    // Nothing stands before the archive; looking for something, the library takes some archives for damaged ones.
    let config = zip::read::Config { archive_offset: zip::read::ArchiveOffset::Known(0) };
    let mut archive = zip::ZipArchive::with_config(config, file).map_err(|error| failed(error.to_string()))?;
    let names: Result<Vec<String>, _> = archive.file_names().map(|name| Ok(name?.into_owned())).collect();
    let mut names = names.map_err(|error: zip::result::ZipError| failed(error.to_string()))?;
    names.sort();
    for name in names {
        // The folder at the root is named after the file.
        let inner = name.split_once('/').map_or(name.as_str(), |(_, inner)| inner);
        let part = Part::of(inner);
        if part == Part::Other {
            continue;
        }
        let mut entry = archive.by_name(&name).map_err(|error| failed(error.to_string()))?;
        hasher.update(&(inner.len() as u64).to_le_bytes()).update(inner.as_bytes()).update(&entry.size().to_le_bytes());
        match part {
            Part::Constant => drop(hasher.update(&entry.crc32().to_le_bytes())),
            Part::Text => {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).map_err(|error| failed(format!("{name}: {error}")))?;
                hasher.update(&bytes);
            }
            Part::Weight | Part::Other => {}
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// What an entry of an archive is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The program or a table: read in full.
    Text,
    /// Numbers that belong to the program.
    Constant,
    /// Numbers that may be others tomorrow.
    Weight,
    /// Nothing that a compilation depends on.
    Other,
}

impl Part {
    fn of(name: &str) -> Part {
        let folder = |folder: &str| name.starts_with(folder);
        match () {
            () if folder("models/") || folder("data/") && name.ends_with("_config.json") || folder("archive_") || name == "byteorder" => {
                Part::Text
            }
            () if folder("data/constants/") => Part::Constant,
            () if folder("data/weights/") => Part::Weight,
            () => Part::Other,
        }
    }
}

/// The hash of some bytes, as entries that depend on them name it.
pub fn content_hash(data: &[u8]) -> String {
    blake3::hash(data).to_hex().to_string()
}
