//! Entries whose data stay in their files: who uses them maps the file, so that all processes share its pages.

use crate::entry::{Entry, Head};
use crate::store::PARTS;
use crate::{Key, Kind, Parts, Store, StoreError, Unusable, folder};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// What the data begin at a multiple of, in bytes: a page of any machine.
const PAGE: usize = 1 << 16;
/// An entry takes at most this part of the store's bound: one program must not drive everything else out.
const PART: u64 = 4;

/// The data of an entry in its file.
#[derive(Debug)]
pub struct Region {
    /// The file.
    pub file: File,
    /// Where the data begin, a multiple of 65536.
    pub offset: u64,
    /// How long they are.
    pub bytes: u64,
}

/// An entry in the making, in a file that has no name in the store yet.
#[derive(Debug)]
pub struct Making {
    kind: Kind,
    parts: Parts,
    file: NamedTempFile,
    offset: u64,
    bytes: u64,
}

impl Making {
    /// Where the data go.
    ///
    /// # Errors
    /// When the process has no room for another open file.
    pub fn region(&self) -> Result<Region, StoreError> {
        let file = self.file.as_file().try_clone().map_err(StoreError::io(self.file.path()))?;
        Ok(Region { file, offset: self.offset, bytes: self.bytes })
    }
}

impl Store {
    /// Looks an entry up and leaves its data where they are. That its key's owner wrote it is checked, and that the file is as long as it
    /// was; the data are not read. [`Store::verify`] compares their checksum.
    pub fn region(&self, key: &Key) -> Option<Region> {
        let mut file = File::open(self.path(key)).ok()?;
        match self.checked(&mut file, key) {
            Ok((offset, bytes)) => {
                // The time of its last use; on a read-only disk eviction is nobody's concern.
                let _ = file.set_modified(SystemTime::now());
                Some(Region { file, offset, bytes })
            }
            Err(reason) => {
                // If it cannot be removed, the next reader will find the same.
                let _ = std::fs::remove_file(self.path(key));
                self.unusable(key, reason);
                None
            }
        }
    }

    fn checked(&self, file: &mut File, key: &Key) -> Result<(u64, u64), Unusable> {
        let io = |error: std::io::Error| Unusable::Io(error.to_string());
        let mut start = Vec::new();
        file.take(PAGE as u64).read_to_end(&mut start).map_err(io)?;
        let (offset, bytes) = Entry::extent_of(&start, key, &self.secret)?;
        let found = file.metadata().map_err(io)?.len();
        match offset.checked_add(bytes) {
            Some(wanted) if wanted == found && offset.is_multiple_of(PAGE as u64) => Ok((offset, bytes)),
            wanted => Err(Unusable::Short { found, wanted: wanted.unwrap_or(u64::MAX) }),
        }
    }

    /// Begins an entry with room for so many bytes of data; nothing where it would take more than a quarter of the store's bound.
    ///
    /// # Errors
    /// When the disk has no room, or cannot be written.
    pub fn begin(&self, kind: Kind, parts: Parts, bytes: u64) -> Result<Option<Making>, StoreError> {
        if bytes > self.limit / PART {
            return Ok(None);
        }
        let folder = self.root().join(PARTS);
        folder::make(&folder)?;
        let file = NamedTempFile::new_in(&folder).map_err(StoreError::io(&folder))?;
        let offset = Head::new(kind, &parts, PAGE).len() as u64;
        // All of it is the file's from now on: a disk that fills up later would end who writes to a mapped page.
        let room = rustix::fs::fallocate(file.as_file(), rustix::fs::FallocateFlags::empty(), 0, offset + bytes);
        room.map_err(|error| StoreError::Io { path: folder, source: error.into() })?;
        Ok(Some(Making { kind, parts, file, offset, bytes }))
    }

    /// Gives an entry its name, now that its data are there.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn finish(&self, made: Making) -> Result<(), StoreError> {
        let Making { kind, parts, mut file, offset, bytes } = made;
        let key = parts.key(kind);
        let path = self.path(&key);
        let mut sum = blake3::Hasher::new();
        file.as_file_mut().seek(SeekFrom::Start(offset)).map_err(StoreError::io(&path))?;
        sum.update_reader(file.as_file_mut()).map_err(StoreError::io(&path))?;
        let head = Head::new(kind, &parts, PAGE).to_bytes(bytes, sum.finalize(), &key, &self.secret);
        file.as_file().write_all_at(&head, 0).map_err(StoreError::io(&path))?;
        file.flush().map_err(StoreError::io(&path))?;
        self.persist(file, &key, offset + bytes)
    }
}
