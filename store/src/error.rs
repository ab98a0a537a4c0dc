//! What can go wrong with a store, and with one entry.

use std::path::PathBuf;

/// A store, a remote or an export that cannot be used. Compilation goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system said no.
    #[error("cache {path}: {source}; set STRATA_CACHE_DIR to a folder that can be written, or STRATA_CACHE_SIZE=0 to do without a cache")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// There is no place for it.
    #[error("no folder for the cache: neither STRATA_CACHE_DIR, XDG_CACHE_HOME nor HOME is set")]
    NoPlace,
    /// A size that is no size.
    #[error("`{0}` is no size for the cache; write a number of bytes with K, M or G, as in STRATA_CACHE_SIZE=2G")]
    Size(String),
    /// A folder that others could put entries into.
    #[error("cache {path}: {reason}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason and the way out.
        reason: String,
    },
    /// The key of the entries.
    #[error(
        "cache key {place}: {reason}; set STRATA_CACHE_KEY to 64 hexadecimal digits or a file of yours with them (openssl rand -hex 32)"
    )]
    Key {
        /// The file or variable.
        place: String,
        /// The reason.
        reason: String,
    },
    /// An address that is none. It may hold a password, so it is not repeated.
    #[error("STRATA_CACHE_REMOTE: {0}; write redis://host:6379, or rediss://user:password@host:6380/0?connect_ms=250&request_ms=2000")]
    Address(String),
    /// The remote failed.
    #[error("remote cache {address}: {reason}; this process goes on with what is on disk")]
    Remote {
        /// Where it is, without the password.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A file of exported entries that cannot be read or written.
    #[error("exported cache {path}: {reason}")]
    Archive {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> StoreError {
        let path = path.into();
        move |source| StoreError::Io { path, source }
    }
}

/// Why an entry that is there is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not one of our files.
    #[error("it is not an entry of a Strata cache")]
    Foreign,
    /// Of another version of the format.
    #[error("it has format {found}, this program reads format {known}")]
    Version {
        /// The version in the file.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// Cut short.
    #[error("it has {found} bytes of {wanted}")]
    Short {
        /// Bytes in the file.
        found: u64,
        /// Bytes that it says it has.
        wanted: u64,
    },
    /// Changed.
    #[error("it is damaged: its checksum does not match")]
    Checksum,
    /// Whole, and somebody else's: to use it would run a stranger's code.
    #[error(
        "it is whole but not authentic: it was written with another key than this one, or under another name, or was changed by somebody; \
         if a team shares it set STRATA_CACHE_KEY to the team's key, else find out who could write to the cache"
    )]
    NotAuthentic,
    /// Its description does not read.
    #[error("its description is not readable: {0}")]
    Meta(String),
    /// The file system does not give it.
    #[error("it cannot be read: {0}")]
    Io(String),
}
