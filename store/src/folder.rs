//! Whom a folder or file belongs to and who may write to it, by the rule of ssh: its owner is the user or root, and nobody else
//! may write to it.
//!
//! As ssh does for its own files, this looks at the thing itself and not at the folders above it: who may write to those can put
//! another in its place, but none that belongs to the user.

use crate::StoreError;
use std::fs::{DirBuilder, metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// What its owner and mode say of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is the user's.
    Own,
    /// It is the administrator's.
    Root,
    /// It is another user's.
    Foreign,
    /// Its group or everybody may write to it.
    Writable,
}

/// The rule, for a file of this owner and mode and a process of this user.
pub(crate) fn trust(owner: u32, mode: u32, user: u32) -> Trust {
    match owner {
        _ if owner != user && owner != 0 => Trust::Foreign,
        _ if mode & 0o022 != 0 => Trust::Writable,
        _ if owner == user => Trust::Own,
        _ => Trust::Root,
    }
}

/// Refuses a folder that others could put entries into. One that is not there yet is made by [`make`].
pub(crate) fn check(path: &Path) -> Result<(), StoreError> {
    let meta = match metadata(path) {
        Ok(meta) => meta,
        // Writing to it will say what is wrong with it.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(source) => return Err(StoreError::Io { path: path.into(), source }),
    };
    let refused = |reason: String| Err(StoreError::Folder { path: path.into(), reason });
    match trust(meta.uid(), meta.mode(), rustix::process::geteuid().as_raw()) {
        Trust::Own | Trust::Root => Ok(()),
        Trust::Foreign => refused(format!("it belongs to the user {}; set STRATA_CACHE_DIR to a folder of your own", meta.uid())),
        Trust::Writable => refused(format!(
            "others may write to it (its mode is {:04o}); take that from them (chmod go-w {}), or set STRATA_CACHE_DIR to a folder of your own",
            meta.mode() & 0o7777,
            path.display()
        )),
    }
}

/// Makes a folder that is the user's alone, whatever the umask.
pub(crate) fn make(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_the_user_or_root_and_nobody_else_may_write() {
        assert_eq!(trust(1000, 0o40755, 1000), Trust::Own);
        assert_eq!(trust(0, 0o40755, 1000), Trust::Root);
        assert_eq!(trust(0, 0o40700, 0), Trust::Own);
        assert_eq!(trust(1001, 0o40700, 1000), Trust::Foreign);
        assert_eq!(trust(1001, 0o40777, 0), Trust::Foreign);
        for mode in [0o40775, 0o40757, 0o41777] {
            assert_eq!(trust(1000, mode, 1000), Trust::Writable, "{mode:o}");
        }
    }
}
