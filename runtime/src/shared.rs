//! A program as a shared library: `rs-compile --emit=so` puts the artefact inside under two names, and this reads it back.

use std::path::Path;

use libloading::os::unix::Library;

use crate::artefact::{Artefact, ArtefactError};

/// The symbol of the artefact's first byte.
pub const ARTEFACT_SYMBOL: &str = "strata_artefact";
/// The symbol of the artefact's length, a `uint64_t`.
pub const LENGTH_SYMBOL: &str = "strata_artefact_bytes";

/// The artefact inside a shared library.
pub fn read(path: &Path) -> Result<Artefact, ArtefactError> {
    let io = |reason: String| ArtefactError::Io { path: path.into(), source: std::io::Error::other(reason) };
    // A bare file name would be looked up in the system's folders instead of here.
    let full = path.canonicalize().map_err(|source| ArtefactError::Io { path: path.into(), source })?;
    // SAFETY: a program library has no initialisers of its own; the user asked for this file to be run.
    let library = unsafe { Library::new(full) }.map_err(|e| io(e.to_string()))?;
    // SAFETY: the two symbols are data of these types by the definition above; the bytes are copied before the library closes.
    unsafe {
        let start = library.get::<*const u8>(ARTEFACT_SYMBOL.as_bytes()).map_err(|e| io(e.to_string()))?;
        let bytes = library.get::<*const u64>(LENGTH_SYMBOL.as_bytes()).map_err(|e| io(e.to_string()))?;
        let (start, bytes) = (start.into_raw().cast::<u8>(), bytes.into_raw().cast::<u64>());
        Artefact::from_bytes(std::slice::from_raw_parts(start, bytes.read_unaligned() as usize))
    }
}
