//! What an entry is of: its kind, the named parts that it was made from, and the hash of both.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an entry holds; entries of one kind lie in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A compiled program.
    Artefact,
    /// IR after a group of passes.
    Group,
    /// Machine code of a kernel.
    Object,
    /// A measured schedule.
    Schedule,
    /// What the store needs to know about a file: the build of a compiler library.
    Build,
    /// Weights of a program as its kernels read them.
    Prepared,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] = [Kind::Artefact, Kind::Group, Kind::Object, Kind::Schedule, Kind::Build, Kind::Prepared];

    /// Its folder.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Artefact => "artefact",
            Kind::Group => "group",
            Kind::Object => "object",
            Kind::Schedule => "schedule",
            Kind::Build => "build",
            Kind::Prepared => "prepared",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The named parts that a result depends on, in the order they were added. `rs-cache why` compares them one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts(Vec<(String, String)>);

impl Parts {
    /// No parts yet.
    pub fn new() -> Parts {
        Parts::default()
    }

    /// Adds a part by its value: short texts that a person may read.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Parts {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Adds a part by the hash of its content.
    #[must_use]
    pub fn with_content(self, name: &str, content: &[u8]) -> Parts {
        self.with(name, blake3::hash(content).to_hex().to_string())
    }

    /// Name and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a part.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|part| part.0 == name).map(|part| part.1)
    }

    /// The key of a result of this kind.
    pub fn key(&self, kind: Kind) -> Key {
        let mut hasher = blake3::Hasher::new_derive_key("strata store key, version 1");
        for text in std::iter::once(kind.name()).chain(self.iter().flat_map(|(name, value)| [name, value])) {
            // With its length before it, no text can pass for two others.
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        Key { kind, hash: *hasher.finalize().as_bytes() }
    }
}

/// The name of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What the entry holds.
    pub kind: Kind,
    /// The hash of what it was made of.
    pub hash: [u8; 32],
}

impl Key {
    /// The hash in hexadecimal digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }

    /// The key that [`Key`] prints.
    pub fn parse(text: &str) -> Option<Key> {
        let (kind, hash) = text.split_once('/')?;
        let hash = blake3::Hash::from_hex(hash.replace('/', "")).ok()?;
        Some(Key { kind: Kind::named(kind)?, hash: *hash.as_bytes() })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
