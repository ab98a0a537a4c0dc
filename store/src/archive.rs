//! Entries in one file, to carry them to another machine: a zip archive of entry files by their keys.

use crate::{Entry, Key, Kind, Store, StoreError};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Entries that went or came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Whole ones.
    pub entries: u64,
    /// Ones that were left out because they are not whole.
    pub unusable: u64,
}

impl Store {
    /// Writes all entries, or those of one kind, to a file.
    pub fn export(&self, path: &Path, kind: Option<Kind>) -> Result<Moved, StoreError> {
        let failed = |reason: String| StoreError::Archive { path: path.into(), reason };
        let file = File::create(path).map_err(|error| failed(error.to_string()))?;
        let mut archive = zip::ZipWriter::new(BufWriter::new(file));
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
        let mut moved = Moved::default();
        for kind in Kind::ALL.into_iter().filter(|found| kind.is_none_or(|kind| kind == *found)) {
            for file in self.files(kind) {
                let Ok(bytes) = fs::read(&file.path) else { continue };
                let Some(key) = Entry::from_bytes(bytes.clone(), None).ok().and_then(|entry| entry.meta.key()) else {
                    moved.unusable += 1;
                    continue;
                };
                archive.start_file(key.to_string(), stored).map_err(|error| failed(error.to_string()))?;
                archive.write_all(&bytes).map_err(|error| failed(error.to_string()))?;
                moved.entries += 1;
            }
        }
        let mut file = archive.finish().map_err(|error| failed(error.to_string()))?;
        file.flush().map_err(|error| failed(error.to_string()))?;
        Ok(moved)
    }

    /// Takes the entries of a file in; what is not whole or not what its name says is left out.
    pub fn import(&self, path: &Path) -> Result<Moved, StoreError> {
        let failed = |reason: String| StoreError::Archive { path: path.into(), reason };
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        // Nothing stands before the archive; looking for something, the library takes some archives for damaged ones.
        let config = zip::read::Config { archive_offset: zip::read::ArchiveOffset::Known(0) };
        let mut archive = zip::ZipArchive::with_config(config, file).map_err(|error| failed(error.to_string()))?;
        let mut moved = Moved::default();
        for at in 0..archive.len() {
            let mut file = archive.by_index(at).map_err(|error| failed(error.to_string()))?;
            let (key, mut bytes) = (file.name().ok().and_then(|name| Key::parse(&name)), Vec::new());
            let read = file.read_to_end(&mut bytes).is_ok();
            match key.filter(|key| read && Entry::from_bytes(bytes.clone(), Some(key)).is_ok()) {
                Some(key) => {
                    self.write(&key, &bytes)?;
                    moved.entries += 1;
                }
                None => moved.unusable += 1,
            }
        }
        Ok(moved)
    }
}
