//! The folder of entries: looking one up, putting one in, counting and checking all.

use crate::{
    DIR_VARIABLE, Entry, Key, Kind, Meta, Parts, Place, REMOTE_VARIABLE, Remote, SIZE_VARIABLE, Secret, StoreError, Unusable, content_hash,
};
use crate::{entry, folder};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

/// Where files are written before they get their name.
pub(crate) const PARTS: &str = "tmp";
/// The size that a store may reach if nobody says otherwise.
const DEFAULT_SIZE: u64 = 4 << 30;

/// Where a store is, how large it may become, and whose entries it believes.
#[derive(Clone, Default)]
pub struct Settings {
    /// The folder; `STRATA_CACHE_DIR` or the user's cache folder if there is none.
    pub dir: Option<PathBuf>,
    /// The bound in bytes; `STRATA_CACHE_SIZE` if there is none.
    pub size: Option<u64>,
    /// Address of the remote, nowhere if it is empty; `STRATA_CACHE_REMOTE` if there is none.
    pub remote: Option<String>,
    /// The key of the entries; `STRATA_CACHE_KEY` or the user's own if there is none.
    pub key: Option<Secret>,
    /// Hears what is wrong with entries and the remote; standard error if there is none.
    pub warn: Option<fn(&str)>,
}

/// A store that is open.
pub struct Store {
    root: PathBuf,
    pub(crate) limit: u64,
    remote: Option<Remote>,
    pub(crate) secret: Secret,
    warn: fn(&str),
    /// Whether an entry was told to be unusable: a cache of another key has thousands.
    warned: AtomicBool,
    /// Whether the remote was told to have failed: threads may find it out at the same time.
    remote_warned: AtomicBool,
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
    /// There is one that must not be used; the first is told. It is removed, so that the next result can take its place.
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
    /// Entries that are as they were written, whoever wrote them.
    pub whole: u64,
    /// Those of them that were written with this cache's key.
    pub authentic: u64,
    /// Files that are not both, with the reason; they were removed.
    pub removed: Vec<(PathBuf, Unusable)>,
}

/// A file of the store.
pub(crate) struct Found {
    pub path: PathBuf,
    /// The entry whose place it is in; `None` for a file that no store puts there.
    pub key: Option<Key>,
    pub bytes: u64,
    pub used: SystemTime,
}

impl Store {
    /// Opens the store that the settings or the environment name; `None` when its size is bounded to zero.
    /// Nothing is written yet but a key if there is none: a folder that cannot be written to is still read from.
    ///
    /// # Errors
    /// When there is no place or no key for it, when others may write to its folder, and for settings that make no sense.
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
        // Entries lie in a folder of the format's version, so that programs of two versions share a folder without harm.
        let root = dir.join(format!("v{}", entry::VERSION));
        folder::check(&dir)?;
        folder::check(&root)?;
        let address = settings.remote.clone().or_else(|| variable(REMOTE_VARIABLE).map(|text| text.to_string_lossy().into_owned()));
        let remote = address.filter(|address| !address.is_empty()).map(|address| Remote::open(&address, limit)).transpose()?;
        let secret = settings.key.clone().map_or_else(Secret::of_environment, Ok)?;
        let warn = settings.warn.unwrap_or(to_stderr);
        Ok(Some(Store {
            root,
            limit,
            remote,
            secret,
            warn,
            warned: AtomicBool::new(false),
            remote_warned: AtomicBool::new(false),
            written: AtomicU64::new(0),
        }))
    }

    /// The store of the settings for a program that goes on without it: what is wrong with it is a warning.
    pub fn open_or_warn(settings: &Settings) -> Option<Store> {
        Store::open(settings).unwrap_or_else(|error| {
            settings.warn.unwrap_or(to_stderr)(&format!("{error}; this process goes on without a cache"));
            None
        })
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
            Err(error) => return self.unusable(key, Unusable::Io(error.to_string())),
        };
        match self.check(bytes, key) {
            Ok(entry) => {
                // The time of its last use; on a read-only disk eviction is nobody's concern.
                let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Lookup::Hit(entry)
            }
            Err(reason) => {
                // If it cannot be removed, the next reader will find the same.
                let _ = fs::remove_file(&path);
                self.unusable(key, reason)
            }
        }
    }

    /// Whether entries are what they were: each by its name and the hash of its data, which is empty for one that was not there.
    pub fn holds<'e>(&self, entries: impl IntoIterator<Item = (&'e str, &'e str)>) -> bool {
        entries.into_iter().all(|(name, hash)| {
            let data = Key::parse(name).and_then(|key| self.get(&key).data());
            data.map(|data| content_hash(&data)).unwrap_or_default() == hash
        })
    }

    pub(crate) fn unusable(&self, key: &Key, reason: Unusable) -> Lookup {
        if !self.warned.swap(true, Ordering::Relaxed) {
            (self.warn)(&format!("cache entry {key} is not used: {reason} (`rs-cache verify` looks at all entries)"));
        }
        Lookup::Unusable(reason)
    }

    fn get_remote(&self, key: &Key) -> Lookup {
        let Some(remote) = &self.remote else { return Lookup::Miss };
        let bytes = match remote.get(key, &self.secret) {
            Ok(None) => return Lookup::Miss,
            Ok(Some(bytes)) => bytes,
            Err(error) => {
                self.remote_failed_by(&error);
                return Lookup::Miss;
            }
        };
        match Entry::from_bytes(bytes.clone(), key, &self.secret, Place::Remote) {
            Ok(entry) => {
                // The next look-up finds it here; a disk that does not take it costs only that.
                let _ = self.write(key, &bytes);
                Lookup::Hit(entry)
            }
            Err(reason) => {
                // A server that gives what nobody with the key put there is asked no more.
                self.remote_failed_by(&remote.fail(format!("its entry {key} is not used: {reason}")));
                Lookup::Unusable(reason)
            }
        }
    }

    /// Puts a result in. When this returns well, the entry is there for every process from now on. A remote that fails is a warning.
    pub fn put(&self, kind: Kind, parts: &Parts, data: &[u8]) -> Result<Key, StoreError> {
        let (key, bytes) = (parts.key(kind), Entry::to_bytes(kind, parts, data, &self.secret));
        self.write(&key, &bytes)?;
        if let Some(Err(error)) = self.remote.as_ref().map(|remote| remote.put(&key, &self.secret, &bytes)) {
            self.remote_failed_by(&error);
        }
        Ok(key)
    }

    /// Whether there was a remote that is asked no more.
    pub fn remote_failed(&self) -> bool {
        self.remote.as_ref().is_some_and(Remote::is_down)
    }

    fn remote_failed_by(&self, error: &StoreError) {
        if !self.remote_warned.swap(true, Ordering::Relaxed) {
            (self.warn)(&error.to_string());
        }
    }

    /// Checks the bytes of an entry under its name.
    pub(crate) fn check(&self, bytes: Vec<u8>, key: &Key) -> Result<Entry, Unusable> {
        Entry::from_bytes(bytes, key, &self.secret, Place::Disk)
    }

    /// Writes the bytes of an entry beside its place and gives them its name.
    pub(crate) fn write(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        let parts = self.root.join(PARTS);
        folder::make(&parts)?;
        let mut file = tempfile::NamedTempFile::new_in(&parts).map_err(StoreError::io(&parts))?;
        file.write_all(bytes).map_err(StoreError::io(&parts))?;
        self.persist(file, key, bytes.len() as u64)
    }

    /// Gives a file of so many bytes the name of an entry.
    pub(crate) fn persist(&self, file: tempfile::NamedTempFile, key: &Key, bytes: u64) -> Result<(), StoreError> {
        let path = self.path(key);
        folder::make(path.parent().unwrap_or(&self.root))?;
        file.persist(&path).map_err(|error| StoreError::Io { path, source: error.error })?;
        let written = self.written.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if written == bytes || written > self.limit / 16 {
            // At the first write and when much was written: the bound holds within a sixteenth.
            self.gc()?;
        }
        Ok(())
    }

    /// Counts entries by kind.
    pub fn stat(&self) -> Vec<(Kind, Stat)> {
        let count =
            |kind| self.files(kind).fold(Stat::default(), |sum, file| Stat { entries: sum.entries + 1, bytes: sum.bytes + file.bytes });
        Kind::ALL.into_iter().map(|kind| (kind, count(kind))).collect()
    }

    /// Reads and checks every entry; removes what is not whole or not authentic.
    pub fn verify(&self) -> Verified {
        let mut verified = Verified::default();
        for file in Kind::ALL.into_iter().flat_map(|kind| self.files(kind)) {
            let bytes = fs::read(&file.path).map_err(|error| Unusable::Io(error.to_string()));
            let checked = bytes.and_then(|bytes| self.check(bytes, &file.key.ok_or(Unusable::Foreign)?));
            verified.whole += u64::from(matches!(checked, Ok(_) | Err(Unusable::NotAuthentic)));
            match checked {
                Ok(_) => verified.authentic += 1,
                // Somebody else removed it between the listing and the reading.
                Err(Unusable::Io(_)) if !file.path.exists() => {}
                Err(reason) => {
                    // Next time it is told again.
                    let _ = fs::remove_file(&file.path);
                    verified.removed.push((file.path, reason));
                }
            }
        }
        verified
    }

    /// What an entry's file was made of.
    pub(crate) fn read_meta(&self, file: &Found) -> Result<Meta, Unusable> {
        let mut bytes = Vec::new();
        let start = File::open(&file.path).map_err(|error| Unusable::Io(error.to_string()))?;
        // Descriptions are a few hundred bytes.
        start.take(1 << 16).read_to_end(&mut bytes).map_err(|error| Unusable::Io(error.to_string()))?;
        Entry::meta_of(&bytes, &file.key.ok_or(Unusable::Foreign)?, &self.secret)
    }

    /// The files of a kind; those that vanish while one looks are left out.
    pub(crate) fn files(&self, kind: Kind) -> impl Iterator<Item = Found> + use<> {
        let shards = fs::read_dir(self.root.join(kind.name())).into_iter().flatten().flatten();
        let files = shards.flat_map(|shard| fs::read_dir(shard.path()).into_iter().flatten().flatten());
        files.filter_map(move |file| {
            let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
            let path = file.path();
            let name = [path.parent()?.file_name()?, path.file_name()?].map(|name| name.to_string_lossy());
            let key = Key::parse(&format!("{kind}/{}{}", name[0], name[1]));
            Some(Found { path, key, bytes: meta.len(), used: meta.modified().ok()? })
        })
    }
}

fn to_stderr(text: &str) {
    eprintln!("warning: {text}");
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
