//! Keeping the store within its bound: what was used longest ago goes first.

use crate::store::{Found, PARTS};
use crate::{Kind, Store, StoreError};
use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// A file in the making that is this old belongs to nobody: its process was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Entries.
    pub entries: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Store {
    /// Removes the entries used longest ago until nine tenths of the bound are kept, if the bound is passed,
    /// and what killed processes left behind.
    pub fn gc(&self) -> Result<Freed, StoreError> {
        self.written.store(1, Ordering::Relaxed);
        self.sweep();
        let mut files: Vec<Found> = Kind::ALL.into_iter().flat_map(|kind| self.files(kind)).collect();
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let mut freed = Freed::default();
        if bytes <= self.limit {
            return Ok(freed);
        }
        files.sort_by_key(|file| file.used);
        for file in files {
            if bytes <= self.limit / 10 * 9 {
                break;
            }
            match fs::remove_file(&file.path) {
                Ok(()) => freed = Freed { entries: freed.entries + 1, bytes: freed.bytes + file.bytes },
                // Another process evicts too.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Io { path: file.path, source }),
            }
            bytes -= file.bytes;
        }
        Ok(freed)
    }

    fn sweep(&self) {
        let now = SystemTime::now();
        for file in fs::read_dir(self.root().join(PARTS)).into_iter().flatten().flatten() {
            let age = file.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| now.duration_since(time).ok());
            if age.is_some_and(|age| age > ABANDONED) {
                // It may be gone already.
                let _ = fs::remove_file(file.path());
            }
        }
    }
}
