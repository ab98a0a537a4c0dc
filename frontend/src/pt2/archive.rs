//! The container: a zip under one root folder, read through a memory map.
//!
//! Every path, offset and size is checked when the archive is opened, so the rest of the reader only sees slices that exist.
//! Stored entries are such slices; the text of TorchScript archives is compressed, and inflated when it is asked for.

use std::{borrow::Cow, collections::BTreeMap, fmt, io::Cursor, ops::Range, path::Path, sync::Arc};

use memmap2::Mmap;
use zip::read::{ArchiveOffset, Config};
use zip::{CompressionMethod, ZipArchive};

use super::{error::Pt2Error, map::map};

/// More entries than any program has weights.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_PATH: usize = 1024;
/// No program's compressed text is larger.
const MAX_INFLATED: usize = 64 << 20;
const MAX_PATH_DEPTH: usize = 16;

/// An open archive. Cheap to clone: all clones share the mapping.
#[derive(Clone)]
pub struct Archive {
    bytes: Arc<Mmap>,
    entries: Arc<BTreeMap<String, Stored>>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("bytes", &self.bytes.len()).field("entries", &self.entries.len()).finish()
    }
}

/// Where an entry's bytes lie in the file.
#[derive(Debug, Clone)]
struct Stored {
    data: Range<usize>,
    crc32: u32,
    /// The number of bytes that it inflates to, where it is compressed.
    inflated: Option<usize>,
}

impl Archive {
    /// Opens and checks the container.
    pub fn open(path: &Path) -> Result<Self, Pt2Error> {
        let bytes = map(path).map_err(|source| Pt2Error::Io { source })?;
        let entries = directory(&bytes).map_err(|why| Pt2Error::Container { why })?;
        Ok(Self { bytes: Arc::new(bytes), entries: Arc::new(entries) })
    }

    /// The entries' names, without the root folder, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Whether the archive has this entry.
    pub fn has(&self, entry: &str) -> bool {
        self.entries.contains_key(entry)
    }

    /// The bytes of an entry as they lie in the file; their checksum is not looked at.
    pub fn bytes(&self, entry: &str) -> Result<&[u8], Pt2Error> {
        let stored = self.entries.get(entry).ok_or_else(|| Pt2Error::entry(entry, "it is missing"))?;
        if stored.inflated.is_some() {
            return Err(Pt2Error::entry(entry, "it is compressed, and only stored entries can be mapped"));
        }
        self.bytes.get(stored.data.clone()).ok_or_else(|| Pt2Error::entry(entry, "it lies outside of the file"))
    }

    /// The bytes of an entry after their checksum was compared.
    pub fn verified(&self, entry: &str) -> Result<&[u8], Pt2Error> {
        let bytes = self.bytes(entry)?;
        self.checked(entry, bytes)?;
        Ok(bytes)
    }

    /// The bytes of an entry that may be compressed, after their checksum was compared.
    pub fn inflated(&self, entry: &str) -> Result<Cow<'_, [u8]>, Pt2Error> {
        let Some((data, size)) = self.entries.get(entry).and_then(|stored| Some((stored.data.clone(), stored.inflated?))) else {
            return self.verified(entry).map(Cow::Borrowed);
        };
        if size > MAX_INFLATED {
            return Err(Pt2Error::entry(entry, format!("it inflates to {size} bytes, more than {MAX_INFLATED}")));
        }
        let data = self.bytes.get(data).ok_or_else(|| Pt2Error::entry(entry, "it lies outside of the file"))?;
        let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(data, size);
        let bytes = bytes.map_err(|_| Pt2Error::entry(entry, format!("it does not inflate to the {size} bytes that the archive says")))?;
        self.checked(entry, &bytes)?;
        Ok(Cow::Owned(bytes))
    }

    fn checked(&self, entry: &str, bytes: &[u8]) -> Result<(), Pt2Error> {
        let (found, wanted) = (crc32fast::hash(bytes), self.entries.get(entry).map_or(0, |stored| stored.crc32));
        if found == wanted {
            return Ok(());
        }
        Err(Pt2Error::entry(entry, format!("its checksum is {found:08x}, the archive says {wanted:08x}")))
    }
}

/// Reads the central directory: name without root folder -> place.
fn directory(bytes: &[u8]) -> Result<BTreeMap<String, Stored>, String> {
    // Nothing stands before the archive. Looking for something, the library takes some archives for damaged ones.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(|error| error.to_string())?;
    if zip.len() > MAX_ENTRIES {
        return Err(format!("it lists {} entries, more than {MAX_ENTRIES}", zip.len()));
    }
    let mut entries = BTreeMap::new();
    let mut root: Option<String> = None;
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index).map_err(|error| format!("entry {index}: {error}"))?;
        let raw = std::str::from_utf8(file.name_raw()).map_err(|_| format!("the name of entry {index} is not UTF-8"))?;
        let (folder, name) = split_root(raw)?;
        if root.get_or_insert_with(|| folder.to_owned()) != folder {
            return Err(format!("entry `{raw}` lies outside of the root folder `{}`", root.unwrap_or_default()));
        }
        if file.encrypted() {
            return Err(format!("entry `{raw}` is encrypted"));
        }
        let inflated = match file.compression() {
            CompressionMethod::Stored if file.size() == file.compressed_size() => None,
            CompressionMethod::DEFLATE => usize::try_from(file.size()).ok(),
            method => return Err(format!("entry `{raw}` is compressed ({method}), and only stored and deflated entries are read")),
        };
        let start = file.data_start().ok_or_else(|| format!("entry `{raw}` has no data"))?;
        let range =
            start.checked_add(file.compressed_size()).and_then(|end| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        let data = range.filter(|range| range.end <= bytes.len());
        let data = data.ok_or_else(|| format!("entry `{raw}` ends behind the end of the file"))?;
        if name.is_empty() {
            continue;
        }
        if entries.insert(name.to_owned(), Stored { data, crc32: file.crc32(), inflated }).is_some() {
            return Err(format!("entry `{raw}` is there twice"));
        }
    }
    Ok(entries)
}

/// Splits `ROOT/a/b` after the root folder and refuses names that could mean another place.
fn split_root(raw: &str) -> Result<(&str, &str), String> {
    let (root, name) = raw.split_once('/').ok_or_else(|| format!("entry `{raw}` is not in a root folder"))?;
    let tricky = raw.len() > MAX_PATH
        || raw.contains(['\\', '\0', ':'])
        || raw.chars().any(char::is_control)
        || name.split('/').count() > MAX_PATH_DEPTH
        || raw.trim_end_matches('/').split('/').any(|part| matches!(part, "" | "." | ".."));
    if tricky {
        let shown: String = raw.chars().take(80).collect();
        return Err(format!("entry {shown:?} has a name that no exporter writes"));
    }
    Ok((root, name.trim_end_matches('/')))
}
