//! The store on disk: what was computed once, by its key, for every process on the machine (and for a team, behind a remote).
//!
//! An entry is a file named by the hash of what it was made of. Writers make a file beside it and rename it, readers check
//! its checksum: a reader sees all of an entry or none. What cannot be used (damaged, of another version, unreadable) is a
//! miss with a reason, never a wrong result. No MLIR, no LLVM: programs that only load what was compiled before link this.

mod archive;
mod entry;
mod error;
mod evict;
mod explain;
mod key;
mod remote;
mod source;
mod store;

pub use archive::Moved;
pub use entry::{Entry, Meta};
pub use error::{StoreError, Unusable};
pub use evict::Freed;
pub use explain::{Difference, Explanation};
pub use key::{Key, Kind, Parts};
pub use remote::{Redis, Remote};
pub use source::{SourceError, content_hash, source_hash};
pub use store::{Lookup, Settings, Stat, Store, Verified};

/// The folder of the store, for all processes of a user.
pub const DIR_VARIABLE: &str = "STRATA_CACHE_DIR";
/// The bound of the store's size: a number with `K`, `M`, `G`; `0` turns the store off.
pub const SIZE_VARIABLE: &str = "STRATA_CACHE_SIZE";
/// The address of a cache that a team shares, as in `redis://host:6379`.
pub const REMOTE_VARIABLE: &str = "STRATA_CACHE_REMOTE";
