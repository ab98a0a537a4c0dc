//! One error type for everything that can be wrong with an archive.
//!
//! Each variant says where in the archive (entry, JSON field), what, and the way out; who opened the file knows its name.

/// Why a `.pt2` archive was refused.
#[derive(Debug, thiserror::Error)]
pub enum Pt2Error {
    /// The file itself cannot be opened or mapped.
    #[error("cannot be read: {source}; check the path and its permissions")]
    Io {
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a zip that `torch.export.save` could have written.
    #[error("not a .pt2 archive: {why}; write it again with torch.export.save")]
    Container {
        /// What is wrong with the container.
        why: String,
    },
    /// The archive is one of another kind.
    #[error("{why}")]
    Kind {
        /// What it is, and the way out.
        why: &'static str,
    },
    /// An entry of the archive is missing, damaged or has a form that is not read.
    #[error("archive entry `{entry}`: {why}; {help}")]
    Entry {
        /// The entry, without the archive's root folder.
        entry: String,
        /// What is wrong with it.
        why: String,
        /// The way out.
        help: &'static str,
    },
    /// A field of a JSON entry is malformed or contradicts another one.
    #[error("archive entry `{entry}`, field `{field}`: {why}; {help}")]
    Field {
        /// The entry, without the archive's root folder.
        entry: String,
        /// The JSON path inside the entry.
        field: String,
        /// What is wrong with it.
        why: String,
        /// The way out.
        help: &'static str,
    },
}

/// The way out when an archive is damaged rather than of an unknown kind.
pub const SAVE_AGAIN: &str = "the archive is damaged or was edited: write it again with torch.export.save";
/// The way out when an archive uses something that is not read.
pub const EXPORT_OTHERWISE: &str = "export the program without it, or open an issue with this message";

impl Pt2Error {
    /// A damaged entry.
    pub fn entry(entry: &str, why: impl Into<String>) -> Self {
        Self::Entry { entry: entry.to_owned(), why: why.into(), help: SAVE_AGAIN }
    }

    /// A malformed or contradictory field.
    pub fn field(entry: &str, field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Field { entry: entry.to_owned(), field: field.into(), why: why.into(), help: SAVE_AGAIN }
    }

    /// A well-formed field that asks for something that is not read.
    pub fn unsupported(entry: &str, field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Field { entry: entry.to_owned(), field: field.into(), why: why.into(), help: EXPORT_OTHERWISE }
    }
}
