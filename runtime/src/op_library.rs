//! Libraries of the user with kernels of custom operators, opened for the programs that call them.

use std::ffi::{CString, c_void};
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::artefact::Artefact;
use crate::torch_ops;

/// What a library of the user is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpLibraryKind {
    /// Functions of `strata_ops.h`.
    C,
    /// An extension on PyTorch's stable ABI, which registers operators.
    Torch,
    /// Kernels of CUDA devices as PTX.
    Ptx,
}

impl OpLibraryKind {
    /// What the library of a kernel of the host is: no C function has a name with a colon.
    pub fn of(symbol: &str) -> OpLibraryKind {
        if symbol.contains(':') { OpLibraryKind::Torch } else { OpLibraryKind::C }
    }

    /// The option that gives such a library.
    pub fn flag(self) -> &'static str {
        match self {
            OpLibraryKind::C | OpLibraryKind::Ptx => "--load-op-library",
            OpLibraryKind::Torch => "--load-torch-op",
        }
    }
}

/// A library that the user gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpLibraryFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: OpLibraryKind,
}

impl OpLibraryFile {
    /// A library of C functions, or a file of PTX, whose name ends in `.ptx`.
    pub fn kernels(path: impl Into<PathBuf>) -> OpLibraryFile {
        let path = path.into();
        let kind = if path.extension().is_some_and(|kind| kind == "ptx") { OpLibraryKind::Ptx } else { OpLibraryKind::C };
        OpLibraryFile { path, kind }
    }

    /// An extension on PyTorch's stable ABI.
    pub fn torch(path: impl Into<PathBuf>) -> OpLibraryFile {
        OpLibraryFile { path: path.into(), kind: OpLibraryKind::Torch }
    }

    /// The name of the file, without a folder.
    pub fn file(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// As on a command line.
impl Display for OpLibraryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind.flag(), self.path.display())
    }
}

/// A library of the user with kernels of custom operators. Its bytes say which build of it a program was compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpLibrary {
    /// The name of its file, without a folder.
    pub file: String,
    /// The length of the file.
    pub bytes: u64,
    /// The checksum of the file.
    pub crc32: u32,
    /// The schemas of its operators where it is an extension on PyTorch's stable ABI, which has some; a library of C functions has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<String>,
    /// What it holds where it is a file of PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<String>,
}

impl OpLibrary {
    /// What it is.
    pub fn kind(&self) -> OpLibraryKind {
        match &self.ptx {
            Some(_) => OpLibraryKind::Ptx,
            None if self.schemas.is_empty() => OpLibraryKind::C,
            None => OpLibraryKind::Torch,
        }
    }
}

/// Opened libraries. They stay open while a program is that calls them.
#[derive(Debug, Clone, Default)]
pub struct OpLibraries {
    opened: Vec<Arc<Opened>>,
}

#[derive(Debug)]
struct Opened {
    file: String,
    kernels: Kernels,
}

/// Where kernels of an opened library are.
#[derive(Debug)]
enum Kernels {
    /// In the library, by the names of functions.
    C(Library),
    /// In the host of extensions, by these names of operators.
    Torch(Vec<String>),
}

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpLibraryError {
    /// The file cannot be read.
    #[error("{library}: {source}")]
    Io {
        /// The file.
        library: OpLibraryFile,
        /// The reason.
        source: std::io::Error,
    },
    /// The system does not open it.
    #[error("{library}: it is no library that can be opened here: {reason}")]
    Open {
        /// The file.
        library: OpLibraryFile,
        /// The system's reason.
        reason: String,
    },
    /// The program was compiled for another build.
    #[error(
        "{library}: the program was compiled for another build of {file} ({wanted} bytes, checksum {wanted_crc32:08x}; this one \
         has {found} bytes, checksum {found_crc32:08x}); compile the program again, or give the library that it was compiled for"
    )]
    OtherBuild {
        /// The file that was given.
        library: OpLibraryFile,
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
    #[error("{library}: the program calls no kernel of it; leave the option out")]
    Unused {
        /// The file.
        library: OpLibraryFile,
    },
    /// It is not what the option says.
    #[error("{library}: the program was compiled with it by another option; give it with {flag}={path}", flag = wanted.flag(), path = library.path.display())]
    Kind {
        /// The file.
        library: OpLibraryFile,
        /// What it is.
        wanted: OpLibraryKind,
    },
    /// It is not given.
    #[error("the program calls kernels of the library {file}, and nobody says where it is; give it with {flag}=FOLDER/{file}", flag = kind.flag())]
    Missing {
        /// The file.
        file: String,
        /// What it is.
        kind: OpLibraryKind,
    },
}

/// What a program that is compiled for a library notes of it. An extension of PyTorch is opened, which runs its code.
///
/// # Errors
/// When the file cannot be read, or not opened.
pub fn describe(library: &OpLibraryFile) -> Result<OpLibrary, OpLibraryError> {
    let found = read(library)?;
    match library.kind {
        OpLibraryKind::C | OpLibraryKind::Ptx => Ok(found),
        OpLibraryKind::Torch => Ok(OpLibrary { schemas: schemas(library)?, ..found }),
    }
}

/// Which build of a library a file is.
fn read(library: &OpLibraryFile) -> Result<OpLibrary, OpLibraryError> {
    let bytes = std::fs::read(&library.path).map_err(|source| OpLibraryError::Io { library: library.clone(), source })?;
    let (length, crc32) = (bytes.len() as u64, crc32fast::hash(&bytes));
    let ptx = match library.kind {
        OpLibraryKind::Ptx => {
            let text = String::from_utf8(bytes).map_err(|error| error.to_string());
            Some(text.map_err(|reason| OpLibraryError::Open { library: library.clone(), reason })?)
        }
        OpLibraryKind::C | OpLibraryKind::Torch => None,
    };
    Ok(OpLibrary { file: library.file(), bytes: length, crc32, schemas: Vec::new(), ptx })
}

/// Opens an extension of PyTorch, which registers its operators; gives their schemas.
fn schemas(library: &OpLibraryFile) -> Result<Vec<String>, OpLibraryError> {
    torch_ops::open(&library.path).map_err(|reason| OpLibraryError::Open { library: library.clone(), reason })
}

impl Artefact {
    /// Whether the program calls a kernel of a library, by its file's name.
    pub fn calls(&self, library: &OpLibraryFile) -> bool {
        let (file, manifest) = (library.file(), &self.manifest);
        match library.kind {
            OpLibraryKind::Ptx => manifest.device.iter().flat_map(|code| &code.ptx_files).any(|known| known.file == file),
            OpLibraryKind::C | OpLibraryKind::Torch => manifest.op_libraries.iter().any(|known| known.file == file),
        }
    }

    /// The same program with the libraries whose kernels it calls. They run their own code when they are opened, as every library does.
    ///
    /// # Errors
    /// When one is missing, is not opened, is another than the program was compiled for, or is none that it calls.
    pub fn with_op_libraries(self, libraries: &[OpLibraryFile]) -> Result<Artefact, OpLibraryError> {
        let wanted = &self.manifest.op_libraries;
        let mut opened = Vec::new();
        for library in libraries {
            let found = read(library)?;
            if !self.calls(library) {
                return Err(OpLibraryError::Unused { library: library.clone() });
            }
            let known = wanted.iter().find(|known| known.file == found.file);
            let ptx = self.manifest.device.iter().flat_map(|code| &code.ptx_files).find(|known| known.file == found.file);
            let build = match (known, ptx) {
                (Some(known), _) => (known.bytes, known.crc32),
                (None, Some(file)) => (file.ptx.len() as u64, crc32fast::hash(file.ptx.as_bytes())),
                (None, None) => continue,
            };
            if build != (found.bytes, found.crc32) {
                return Err(OpLibraryError::OtherBuild {
                    library: library.clone(),
                    file: found.file,
                    wanted: build.0,
                    wanted_crc32: build.1,
                    found: found.bytes,
                    found_crc32: found.crc32,
                });
            }
            // The program has the text of PTX.
            let Some(known) = known else { continue };
            if known.kind() != library.kind {
                return Err(OpLibraryError::Kind { library: library.clone(), wanted: known.kind() });
            }
            opened.push(open(library)?);
        }
        let missing = wanted.iter().find(|wanted| !opened.iter().any(|opened| opened.file == wanted.file));
        match missing {
            Some(missing) => Err(OpLibraryError::Missing { file: missing.file.clone(), kind: missing.kind() }),
            None => Ok(Artefact { op_libraries: OpLibraries { opened }, ..self }),
        }
    }
}

/// Opens a library, which runs its code.
fn open(library: &OpLibraryFile) -> Result<Arc<Opened>, OpLibraryError> {
    let kernels = match library.kind {
        OpLibraryKind::C => {
            // A path without a folder would be looked for in the system's.
            let full = library.path.canonicalize().map_err(|source| OpLibraryError::Io { library: library.clone(), source })?;
            // SAFETY: the user asks for it by name: its initialisers are code that she trusts.
            let opened = unsafe { Library::open(Some(full), RTLD_NOW | RTLD_LOCAL) };
            Kernels::C(opened.map_err(|error| OpLibraryError::Open { library: library.clone(), reason: reason(&error) })?)
        }
        // Nothing of it runs here.
        OpLibraryKind::Ptx => Kernels::Torch(Vec::new()),
        OpLibraryKind::Torch => Kernels::Torch(schemas(library)?.iter().map(|schema| torch_ops::name(schema).to_owned()).collect()),
    };
    Ok(Arc::new(Opened { file: library.file(), kernels }))
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
    pub fn open(libraries: &[OpLibraryFile]) -> Result<OpLibraries, OpLibraryError> {
        Ok(OpLibraries { opened: libraries.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Whether a library of this name is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.opened.iter().any(|opened| opened.file == file)
    }

    /// The address of a kernel.
    pub(crate) fn kernel(&self, file: &str, symbol: &str) -> Option<*const c_void> {
        let opened = self.opened.iter().find(|opened| opened.file == file)?;
        let library = match &opened.kernels {
            Kernels::C(library) => library,
            Kernels::Torch(names) => return names.iter().find(|name| *name == symbol).and_then(|name| torch_ops::kernel(name)),
        };
        let symbol = CString::new(symbol).ok()?;
        // SAFETY: the symbol is only used as an address, and whoever has it keeps the library open.
        let found = unsafe { library.get::<*const c_void>(symbol.as_bytes_with_nul()) }.ok()?;
        Some(found.into_raw().cast_const()).filter(|address| !address.is_null())
    }
}
