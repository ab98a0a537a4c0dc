//! The bytes of an entry: a fixed header, what it was made of as JSON, the data; one checksum over the latter two.

use crate::{Key, Kind, Parts, Unusable};
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"STRATA\x1ac";
const VERSION: u32 = 1;
/// Magic, version, length of the description, length of the data, checksum.
const HEADER: usize = 8 + 4 + 4 + 8 + 32;

/// What an entry says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    kind: String,
    /// What it was made of.
    pub parts: Parts,
}

impl Meta {
    pub(crate) fn new(kind: Kind, parts: &Parts) -> Meta {
        Meta { kind: kind.name().into(), parts: parts.clone() }
    }

    /// The key that follows from what it says.
    pub fn key(&self) -> Option<Key> {
        Some(self.parts.key(Kind::named(&self.kind)?))
    }
}

/// An entry, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was made of.
    pub meta: Meta,
    /// What was computed.
    pub data: Vec<u8>,
}

impl Entry {
    pub(crate) fn to_bytes(kind: Kind, parts: &Parts, data: &[u8]) -> Vec<u8> {
        let meta = serde_json::to_vec(&Meta::new(kind, parts)).expect("a description has only text keys");
        let mut bytes = Vec::with_capacity(HEADER + meta.len() + data.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(meta.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
        let checksum = checksum(&bytes, &[&meta, data]);
        bytes.extend_from_slice(&checksum);
        bytes.extend_from_slice(&meta);
        bytes.extend_from_slice(data);
        bytes
    }

    /// Checks all of an entry's bytes; with a key also that it is that entry.
    pub(crate) fn from_bytes(mut bytes: Vec<u8>, key: Option<&Key>) -> Result<Entry, Unusable> {
        let (meta_len, data_len) = lengths(&bytes)?;
        let wanted = (HEADER as u64).saturating_add(meta_len).saturating_add(data_len);
        if wanted != bytes.len() as u64 {
            return Err(Unusable::Short { found: bytes.len() as u64, wanted });
        }
        let (header, body) = bytes.split_at(HEADER);
        if checksum(&header[..HEADER - 32], &[body]) != header[HEADER - 32..] {
            return Err(Unusable::Checksum);
        }
        let at = HEADER + meta_len as usize;
        let meta = read_meta(&bytes[HEADER..at])?;
        if let Some(key) = key
            && meta.key() != Some(*key)
        {
            return Err(Unusable::Misplaced(meta.key().map_or_else(|| "nothing known".into(), |key| key.to_string())));
        }
        bytes.drain(..at);
        Ok(Entry { meta, data: bytes })
    }

    /// The description alone, from the first bytes of an entry; without a check of the data.
    pub(crate) fn meta_of(bytes: &[u8]) -> Result<Meta, Unusable> {
        let (meta_len, _) = lengths(bytes)?;
        let end = (HEADER as u64).saturating_add(meta_len);
        let body = bytes.get(HEADER..usize::try_from(end).unwrap_or(usize::MAX));
        read_meta(body.ok_or(Unusable::Short { found: bytes.len() as u64, wanted: end })?)
    }
}

fn lengths(bytes: &[u8]) -> Result<(u64, u64), Unusable> {
    if !bytes.starts_with(&MAGIC) {
        return Err(Unusable::Foreign);
    }
    if bytes.len() < HEADER {
        return Err(Unusable::Short { found: bytes.len() as u64, wanted: HEADER as u64 });
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if word(8) != VERSION {
        return Err(Unusable::Version { found: word(8), known: VERSION });
    }
    Ok((u64::from(word(12)), u64::from(word(16)) | u64::from(word(20)) << 32))
}

fn read_meta(bytes: &[u8]) -> Result<Meta, Unusable> {
    serde_json::from_slice(bytes).map_err(|error| Unusable::Meta(error.to_string()))
}

fn checksum(header: &[u8], body: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(header);
    for part in body {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}
