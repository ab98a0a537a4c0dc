//! The folder of entries: looking one up, putting one in, counting and checking all.

use crate::{DIR_VARIABLE, Entry, Key, Kind, Meta, Parts, REMOTE_VARIABLE, Redis, Remote, SIZE_VARIABLE, StoreError, Unusable};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Entries lie in a folder of the format's version, so that programs of two versions share a folder without harm.
const FOLDER: &str = "v1";
/// Where files are written before they get their name.
pub(crate) const PARTS: &str = "tmp";
/// The size that a store may reach if nobody says otherwise.
const DEFAULT_SIZE: u64 = 4 << 30;

/// Where a store is, and how large it may become.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folder; `STRATA_CACHE_DIR` or the user's cache folder if there is none.
    pub dir: Option<PathBuf>,
    /// The bound in bytes; `STRATA_CACHE_SIZE` if there is none.
    pub size: Option<u64>,
    /// Address of the remote; `STRATA_CACHE_REMOTE` if there is none.
    pub remote: Option<String>,
}

/// A store that is open.
pub struct Store {
    root: PathBuf,
    pub(crate) limit: u64,
    remote: Option<Box<dyn Remote>>,
    /// Bytes put in since the size was last looked at.
    pub(crate) written: AtomicU64,
}

/// What looking up gave.
#[derive(Debug)]
pub enum Lookup {
    /// The entry.
    Hit(Entry),
    /// There is none.
    Miss,
    /// There is one that must not be used. It is removed, so that the next result can take its place.
    Unusable(Unusable),
}

impl Lookup {
    /// The data of a hit.
    pub fn data(self) -> Option<Vec<u8>> {
        match self {
            Lookup::Hit(entry) => Some(entry.data),
            _ => None,
        }
    }
}

/// Entries and bytes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// How many.
    pub entries: u64,
    /// Bytes of their files.
    pub bytes: u64,
}

/// What checking all entries found.
#[derive(Debug, Default)]
pub struct Verified {
    /// Entries that are whole.
    pub whole: u64,
    /// Files that are not, with the reason; they were removed.
    pub removed: Vec<(PathBuf, Unusable)>,
}

/// A file of the store.
pub(crate) struct Found {
    pub path: PathBuf,
    pub bytes: u64,
    pub used: SystemTime,
}

impl Store {
    /// Opens the store that the settings or the environment name; `None` when its size is bounded to zero.
    /// Nothing is written yet: a folder that cannot be written to is still read from.
    pub fn open(settings: &Settings) -> Result<Option<Store>, StoreError> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let limit = match (settings.size, variable(SIZE_VARIABLE)) {
            (Some(size), _) => size,
            (None, Some(text)) => size(&text.to_string_lossy())?,
            (None, None) => DEFAULT_SIZE,
        };
        if limit == 0 {
            return Ok(None);
        }
        let base = || {
            let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
            cache.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache"))).map(|dir| dir.join("strata"))
        };
        let dir = settings.dir.clone().or_else(|| variable(DIR_VARIABLE).map(PathBuf::from)).or_else(base).ok_or(StoreError::NoPlace)?;
        let address = settings.remote.clone().or_else(|| variable(REMOTE_VARIABLE).map(|text| text.to_string_lossy().into_owned()));
        let remote = address.map(|address| Redis::open(&address)).transpose()?;
        let remote = remote.map(|remote| Box::new(remote) as Box<dyn Remote>);
        Ok(Some(Store { root: dir.join(FOLDER), limit, remote, written: AtomicU64::new(0) }))
    }

    /// The folder with the entries.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where an entry lies.
    pub fn path(&self, key: &Key) -> PathBuf {
        let hex = key.hex();
        self.root.join(key.kind.name()).join(&hex[..2]).join(&hex[2..])
    }

    /// Looks an entry up, on disk and then at the remote.
    pub fn get(&self, key: &Key) -> Lookup {
        let path = self.path(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return self.get_remote(key),
            Err(error) => return Lookup::Unusable(Unusable::Io(error.to_string())),
        };
        match Entry::from_bytes(bytes, Some(key)) {
            Ok(entry) => {
                // The time of its last use; on a read-only disk eviction is nobody's concern.
                let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Lookup::Hit(entry)
            }
            Err(reason) => {
                // If it cannot be removed, the next reader will find the same.
                let _ = fs::remove_file(&path);
                Lookup::Unusable(reason)
            }
        }
    }

    fn get_remote(&self, key: &Key) -> Lookup {
        let Some(remote) = &self.remote else { return Lookup::Miss };
        match remote.get(key) {
            Ok(None) => Lookup::Miss,
            Ok(Some(bytes)) => match Entry::from_bytes(bytes.clone(), Some(key)) {
                Ok(entry) => {
                    // The next look-up finds it here; a disk that does not take it costs only that.
                    let _ = self.write(key, &bytes);
                    Lookup::Hit(entry)
                }
                Err(reason) => Lookup::Unusable(reason),
            },
            Err(error) => Lookup::Unusable(Unusable::Io(error.to_string())),
        }
    }

    /// Puts a result in. When this returns well, the entry is there for every process from now on.
    pub fn put(&self, kind: Kind, parts: &Parts, data: &[u8]) -> Result<Key, StoreError> {
        let (key, bytes) = (parts.key(kind), Entry::to_bytes(kind, parts, data));
        self.write(&key, &bytes)?;
        if let Some(remote) = &self.remote {
            remote.put(&key, &bytes)?;
        }
        Ok(key)
    }

    /// Writes the bytes of an entry beside its place and gives them its name.
    pub(crate) fn write(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        let (path, parts) = (self.path(key), self.root.join(PARTS));
        let folder = path.parent().unwrap_or(&self.root);
        for folder in [folder, &parts] {
            fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let mut file = tempfile::NamedTempFile::new_in(&parts).map_err(StoreError::io(&parts))?;
        file.write_all(bytes).map_err(StoreError::io(&path))?;
        file.persist(&path).map_err(|error| StoreError::Io { path, source: error.error })?;
        let written = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if written == bytes.len() as u64 || written > self.limit / 16 {
            // At the first write and when much was written: the bound holds within a sixteenth.
            self.gc()?;
        }
        Ok(())
    }

    /// What an entry was made of; `None` if it is not there.
    pub fn meta(&self, key: &Key) -> Option<Meta> {
        read_meta(&self.path(key)).ok()
    }

    /// Counts entries by kind.
    pub fn stat(&self) -> Vec<(Kind, Stat)> {
        let count =
            |kind| self.files(kind).fold(Stat::default(), |sum, file| Stat { entries: sum.entries + 1, bytes: sum.bytes + file.bytes });
        Kind::ALL.into_iter().map(|kind| (kind, count(kind))).collect()
    }

    /// Reads and checks every entry; removes what is not whole.
    pub fn verify(&self) -> Verified {
        let mut verified = Verified::default();
        for (kind, file) in Kind::ALL.into_iter().flat_map(|kind| self.files(kind).map(move |file| (kind, file))) {
            let check = |bytes| {
                let entry = Entry::from_bytes(bytes, None)?;
                let key = entry.meta.key().filter(|key| key.kind == kind && self.path(key) == file.path);
                key.map(|_| ()).ok_or_else(|| Unusable::Misplaced(entry.meta.key().map_or_else(String::new, |key| key.to_string())))
            };
            match fs::read(&file.path).map_err(|error| Unusable::Io(error.to_string())).and_then(check) {
                Ok(()) => verified.whole += 1,
                // Somebody else removed it between the listing and the reading.
                Err(Unusable::Io(_)) if !file.path.exists() => {}
                Err(reason) => {
                    let _ = fs::remove_file(&file.path);
                    verified.removed.push((file.path, reason));
                }
            }
        }
        verified
    }

    /// The files of a kind; those that vanish while one looks are left out.
    pub(crate) fn files(&self, kind: Kind) -> impl Iterator<Item = Found> + use<> {
        let shards = fs::read_dir(self.root.join(kind.name())).into_iter().flatten().flatten();
        let files = shards.flat_map(|shard| fs::read_dir(shard.path()).into_iter().flatten().flatten());
        files.filter_map(|file| {
            let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Found { path: file.path(), bytes: meta.len(), used: meta.modified().ok()? })
        })
    }
}

/// The description at the start of an entry's file.
pub(crate) fn read_meta(path: &Path) -> Result<Meta, Unusable> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| Unusable::Io(error.to_string()))?;
    // Descriptions are a few hundred bytes; a longer one is read in full.
    (&file).take(1 << 16).read_to_end(&mut bytes).map_err(|error| Unusable::Io(error.to_string()))?;
    Entry::meta_of(&bytes)
}

/// `2G`, `512M`, `100K` or a number of bytes.
fn size(text: &str) -> Result<u64, StoreError> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(|| StoreError::Size(text.into()))
}
