//! Files that are there whole or not at all.

use std::path::Path;
use std::{fs, io};

/// Writes a file beside a path first, and renames it then: a reader never sees half of it, and a writer that is stopped leaves what was
/// there. What is no regular file, a device or a pipe, is written to as it is.
pub(crate) fn replace<E>(path: &Path, failed: impl Fn(io::Error) -> E, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return write(path);
    }
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&part);
    let done = write(part).and_then(|()| fs::rename(part, path).map_err(failed));
    if done.is_err() {
        // The partial file is ours; failing to remove it adds nothing to the error.
        let _ = fs::remove_file(part);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        replace(&path, |error| error, |path| fs::write(path, "one")).unwrap();
        let failed = replace(&path, |error| error, |path| fs::write(path, "t").and(Err(io::Error::other("stopped"))));
        assert!(failed.is_err() && fs::read_to_string(&path).unwrap() == "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        replace(&path, |error| error, |path| fs::write(path, "lost")).unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    }
}
