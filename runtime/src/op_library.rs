//! Libraries of the user with kernels of custom operators, opened for the programs that call them.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::artefact::Artefact;

/// A library of the user with kernels of custom operators. Its bytes say which build of it a program was compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpLibrary {
    /// The name of its file, without a folder.
    pub file: String,
    /// The length of the file.
    pub bytes: u64,
    /// The checksum of the file.
    pub crc32: u32,
}

/// Opened libraries. They stay open while a program is that calls them.
#[derive(Debug, Clone, Default)]
pub struct OpLibraries {
    opened: Vec<Arc<Opened>>,
}

#[derive(Debug)]
struct Opened {
    file: String,
    library: Library,
}

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpLibraryError {
    /// The file cannot be read.
    #[error("--load-op-library={path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The system does not open it.
    #[error("--load-op-library={path}: it is no library that can be opened here: {reason}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The program was compiled for another build.
    #[error(
        "--load-op-library={path}: the program was compiled for another build of {file} ({wanted} bytes, checksum {wanted_crc32:08x}; this one \
         has {found} bytes, checksum {found_crc32:08x}); compile the program again, or give the library that it was compiled for"
    )]
    OtherBuild {
        /// The file that was given.
        path: PathBuf,
        /// Its name.
        file: String,
        /// Length of the one that the program was compiled for.
        wanted: u64,
        /// Its checksum.
        wanted_crc32: u32,
        /// Length of this one.
        found: u64,
        /// Its checksum.
        found_crc32: u32,
    },
    /// The program does not call it.
    #[error("--load-op-library={path}: the program calls no kernel of it; leave the option out")]
    Unused {
        /// The file.
        path: PathBuf,
    },
    /// It is not given.
    #[error("the program calls kernels of the library {file}, and nobody says where it is; give it with --load-op-library=FOLDER/{file}")]
    Missing {
        /// The file.
        file: String,
    },
}

/// What a program that is compiled for a library notes of it.
///
/// # Errors
/// When the file cannot be read.
pub fn describe(path: &Path) -> Result<OpLibrary, OpLibraryError> {
    let bytes = std::fs::read(path).map_err(|source| OpLibraryError::Io { path: path.into(), source })?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(OpLibrary { file, bytes: bytes.len() as u64, crc32: crc32fast::hash(&bytes) })
}

impl Artefact {
    /// The same program with the libraries whose kernels it calls. They run their own code when they are opened, as every library does.
    ///
    /// # Errors
    /// When one is missing, is not opened, is another than the program was compiled for, or is none that it calls.
    pub fn with_op_libraries(self, paths: &[PathBuf]) -> Result<Artefact, OpLibraryError> {
        let wanted = &self.manifest.op_libraries;
        let mut opened = Vec::new();
        for path in paths {
            let found = describe(path)?;
            let known =
                wanted.iter().find(|known| known.file == found.file).ok_or_else(|| OpLibraryError::Unused { path: path.clone() })?;
            if *known != found {
                return Err(OpLibraryError::OtherBuild {
                    path: path.clone(),
                    file: found.file,
                    wanted: known.bytes,
                    wanted_crc32: known.crc32,
                    found: found.bytes,
                    found_crc32: found.crc32,
                });
            }
            opened.push(open(path, found.file)?);
        }
        let missing = wanted.iter().find(|wanted| !opened.iter().any(|opened| opened.file == wanted.file));
        match missing {
            Some(missing) => Err(OpLibraryError::Missing { file: missing.file.clone() }),
            None => Ok(Artefact { op_libraries: OpLibraries { opened }, ..self }),
        }
    }
}

/// Opens a library, which runs its code.
fn open(path: &Path, file: String) -> Result<Arc<Opened>, OpLibraryError> {
    // A path without a folder would be looked for in the system's.
    let full = path.canonicalize().map_err(|source| OpLibraryError::Io { path: path.into(), source })?;
    // SAFETY: the user asks for it by name: its initialisers are code that she trusts.
    let library = unsafe { Library::open(Some(full), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| OpLibraryError::Open { path: path.into(), reason: reason(&error) })?;
    Ok(Arc::new(Opened { file, library }))
}

/// The system's words, which the error keeps as its source.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

impl OpLibraries {
    /// Opens libraries for programs that are not compiled: see [`OpLibraries::call`].
    ///
    /// # Errors
    /// When one is not read or not opened.
    pub fn open(paths: &[PathBuf]) -> Result<OpLibraries, OpLibraryError> {
        let opened = paths.iter().map(|path| open(path, describe(path)?.file)).collect::<Result<_, _>>()?;
        Ok(OpLibraries { opened })
    }

    /// Whether a library of this name is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.opened.iter().any(|opened| opened.file == file)
    }

    /// The address of a kernel.
    pub(crate) fn kernel(&self, file: &str, symbol: &str) -> Option<*const c_void> {
        let opened = self.opened.iter().find(|opened| opened.file == file)?;
        let symbol = CString::new(symbol).ok()?;
        // SAFETY: the symbol is only used as an address, and whoever has it keeps the library open.
        let found = unsafe { opened.library.get::<*const c_void>(symbol.as_bytes_with_nul()) }.ok()?;
        Some(found.into_raw().cast_const()).filter(|address| !address.is_null())
    }
}
