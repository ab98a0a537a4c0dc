//! The one place where a file becomes memory.

use std::{fs::File, io, path::Path};

use memmap2::Mmap;

/// Maps a whole file read-only; an empty file is an error, since no archive is empty.
pub(crate) fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if metadata.len() == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is empty"));
    }
    // SAFETY: the mapping is read-only and private to the archive. As with every mapped model file, another
    // process must not shorten the file while it is open; contents that change are only ever read as plain bytes.
    unsafe { Mmap::map(&file) }
}
