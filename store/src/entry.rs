//! The bytes of an entry: a fixed header, what it was made of as JSON, the data. The header has a checksum of each, which tells what
//! is damaged, and a MAC of itself and the entry's name, which tells what is not ours.

use crate::{Key, Kind, Parts, Secret, Unusable};
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"STRATA\x1ac";
/// The format; its folder on disk and its names at a remote have it, too.
pub(crate) const VERSION: u32 = 2;
/// Magic, version, length of the description, length of the data, the checksums of both: what the MAC is of.
const SIGNED: usize = 8 + 4 + 4 + 8 + 32 + 32;
const HEADER: usize = SIGNED + 32;

/// What an entry says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    kind: String,
    /// What it was made of.
    pub parts: Parts,
}

/// Where an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On disk.
    Disk,
    /// At the remote. It is on disk now, too.
    Remote,
}

/// An entry, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it was made of.
    pub meta: Meta,
    /// What was computed.
    pub data: Vec<u8>,
    /// Where it was found.
    pub place: Place,
}

/// What is before the data of an entry.
pub(crate) struct Head {
    /// The description as JSON, with spaces behind it that bring the data to their place.
    meta: Vec<u8>,
}

impl Head {
    /// Of an entry whose data begin at a multiple of so many bytes.
    pub fn new(kind: Kind, parts: &Parts, align: usize) -> Head {
        let meta = Meta { kind: kind.name().into(), parts: parts.clone() };
        let mut meta = serde_json::to_vec(&meta).expect("a description has only text keys");
        meta.resize((HEADER + meta.len()).next_multiple_of(align) - HEADER, b' ');
        Head { meta }
    }

    /// Where the data begin.
    pub fn len(&self) -> usize {
        HEADER + self.meta.len()
    }

    /// Its bytes, for data of this length and checksum.
    pub fn to_bytes(&self, data: u64, sum: blake3::Hash, name: &Key, secret: &Secret) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.meta.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&data.to_le_bytes());
        bytes.extend_from_slice(blake3::hash(&self.meta).as_bytes());
        bytes.extend_from_slice(sum.as_bytes());
        let mac = secret.mac(name, &bytes);
        bytes.extend_from_slice(mac.as_bytes());
        bytes.extend_from_slice(&self.meta);
        bytes
    }
}

impl Entry {
    pub(crate) fn to_bytes(kind: Kind, parts: &Parts, data: &[u8], secret: &Secret) -> Vec<u8> {
        let head = Head::new(kind, parts, 1);
        let mut bytes = head.to_bytes(data.len() as u64, blake3::hash(data), &parts.key(kind), secret);
        bytes.extend_from_slice(data);
        bytes
    }

    /// Checks all of an entry's bytes: that they are whole, and that the key's owner wrote them under this name.
    pub(crate) fn from_bytes(mut bytes: Vec<u8>, name: &Key, secret: &Secret, place: Place) -> Result<Entry, Unusable> {
        let header = Header::read(&bytes)?;
        let at = HEADER as u64 + header.meta;
        let wanted = at.saturating_add(header.data);
        if wanted != bytes.len() as u64 {
            return Err(Unusable::Short { found: bytes.len() as u64, wanted });
        }
        let (meta, data) = bytes[HEADER..].split_at(header.meta as usize);
        if blake3::hash(data) != header.data_sum {
            return Err(Unusable::Checksum);
        }
        let meta = header.authentic(meta, name, &bytes, secret)?;
        bytes.drain(..at as usize);
        Ok(Entry { meta, data: bytes, place })
    }

    /// The description alone, from the first bytes of an entry.
    pub(crate) fn meta_of(bytes: &[u8], name: &Key, secret: &Secret) -> Result<Meta, Unusable> {
        let header = Header::read(bytes)?;
        let end = HEADER as u64 + header.meta;
        let meta = usize::try_from(end).ok().and_then(|end| bytes.get(HEADER..end));
        header.authentic(meta.ok_or(Unusable::Short { found: bytes.len() as u64, wanted: end })?, name, bytes, secret)
    }

    /// Where the data begin and how long they are, from the first bytes of an entry.
    pub(crate) fn extent_of(bytes: &[u8], name: &Key, secret: &Secret) -> Result<(u64, u64), Unusable> {
        Entry::meta_of(bytes, name, secret)?;
        let header = Header::read(bytes)?;
        Ok((HEADER as u64 + header.meta, header.data))
    }
}

/// What the header says.
struct Header {
    meta: u64,
    data: u64,
    meta_sum: blake3::Hash,
    data_sum: blake3::Hash,
    mac: blake3::Hash,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Header, Unusable> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Unusable::Foreign);
        }
        let short = Unusable::Short { found: bytes.len() as u64, wanted: HEADER as u64 };
        let Some(bytes) = bytes.get(..HEADER) else { return Err(short) };
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if word(8) != VERSION {
            return Err(Unusable::Version { found: word(8), known: VERSION });
        }
        let hash = |at: usize| blake3::Hash::from_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let data = u64::from(word(16)) | u64::from(word(20)) << 32;
        Ok(Header { meta: word(12).into(), data, meta_sum: hash(24), data_sum: hash(56), mac: hash(SIGNED) })
    }

    /// The description, once it is known to be whole and authentic.
    fn authentic(&self, meta: &[u8], name: &Key, bytes: &[u8], secret: &Secret) -> Result<Meta, Unusable> {
        if blake3::hash(meta) != self.meta_sum {
            return Err(Unusable::Checksum);
        }
        // Hashes compare in constant time.
        if secret.mac(name, &bytes[..SIGNED]) != self.mac {
            return Err(Unusable::NotAuthentic);
        }
        serde_json::from_slice(meta).map_err(|error| Unusable::Meta(error.to_string()))
    }
}
