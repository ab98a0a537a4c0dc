//! Entries in one file, to carry them to another machine: a zip archive of entry files by their keys.

use crate::{Key, Kind, Store, StoreError, Unusable};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Entries that went or came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Whole and authentic ones.
    pub entries: u64,
    /// Ones that were left out because they are whole, but of another key than this store's.
    pub strange: u64,
    /// Ones that were left out because they are not whole.
    pub damaged: u64,
}

impl Moved {
    fn count<T>(&mut self, checked: Result<T, Unusable>) -> Option<T> {
        match &checked {
            Ok(_) => self.entries += 1,
            Err(Unusable::NotAuthentic) => self.strange += 1,
            Err(_) => self.damaged += 1,
        }
        checked.ok()
    }
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
                let checked = file.key.ok_or(Unusable::Foreign).and_then(|key| self.check(bytes.clone(), &key).map(|_| key));
                let Some(key) = moved.count(checked) else { continue };
                archive.start_file(key.to_string(), stored).map_err(|error| failed(error.to_string()))?;
                archive.write_all(&bytes).map_err(|error| failed(error.to_string()))?;
            }
        }
        let mut file = archive.finish().map_err(|error| failed(error.to_string()))?;
        file.flush().map_err(|error| failed(error.to_string()))?;
        Ok(moved)
    }

    /// Takes the entries of a file in; what is not whole, or not written with this store's key under its name, is left out.
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
            let read = file.read_to_end(&mut bytes).map_err(|error| Unusable::Io(error.to_string()));
            let checked = read.and_then(|_| key.ok_or(Unusable::Foreign)).and_then(|key| self.check(bytes.clone(), &key).map(|_| key));
            if let Some(key) = moved.count(checked) {
                self.write(&key, &bytes)?;
            }
        }
        Ok(moved)
    }
}
