//! The store on disk: what was computed once, by its key, for every process on the machine (and for a team, behind a remote).
//!
//! An entry is a file named by the hash of what it was made of. Writers make a file beside it and rename it, readers check
//! its checksum: a reader sees all of an entry or none. Entries are code, so readers also check that the owner of the cache's key
//! wrote them. What cannot be used (damaged, not authentic, of another version, unreadable) is a
//! miss with a reason, never a wrong result. No MLIR, no LLVM: programs that only load what was compiled before link this.

mod address;
mod archive;
mod entry;
mod error;
mod evict;
mod explain;
mod folder;
mod key;
mod program;
mod region;
mod remote;
mod resp;
mod secret;
mod source;
mod store;
mod stream;

pub use archive::Moved;
pub use entry::{Entry, Meta, Place};
pub use error::{StoreError, Unusable};
pub use evict::Freed;
pub use explain::{Difference, Explanation};
pub use key::{Key, Kind, Parts};
pub use program::program_parts;
pub use region::{Making, Region};
pub use remote::Remote;
pub use secret::Secret;
pub use source::{SourceError, content_hash, source_hash};
pub use store::{Lookup, Settings, Stat, Store, Verified};

/// The folder of the store, for all processes of a user.
pub const DIR_VARIABLE: &str = "STRATA_CACHE_DIR";
/// The bound of the store's size: a number with `K`, `M`, `G`; `0` turns the store off.
pub const SIZE_VARIABLE: &str = "STRATA_CACHE_SIZE";
/// The key of the entries, for a team: 64 hexadecimal digits, or the path of a file that holds them.
pub const KEY_VARIABLE: &str = "STRATA_CACHE_KEY";
/// The address of a cache that a team shares, as in `redis://host:6379`.
pub const REMOTE_VARIABLE: &str = "STRATA_CACHE_REMOTE";
