//! Plug-ins: dialects and passes in a shared library of their own, which a tool loads when it starts.
//!
//! [`dialect_plugin!`](crate::dialect_plugin) and [`pass_plugin!`](crate::pass_plugin) write two C symbols each: MLIR's own, by which
//! any tool of MLIR's takes the plug-in, and one by which our tools take the Rust definitions themselves. The definitions are those of
//! the tool then: interfaces of their ops are seen, and passes may depend on dialects of the tool.

use crate::dialect::{DialectDef, registered};
use crate::ir::string_ref;
use crate::pass::{PassEntry, register_pass};
use crate::registry::Registry;
use libloading::os::unix::Library;
use mlir_sys::MlirDialectRegistry;
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use strata_core_sys::{strata_pass_exists, strata_register_dialect};

/// What plug-in and tool were built from; the memory layout of definitions follows from it.
const BUILD: &CStr = match CStr::from_bytes_with_nul(concat!(env!("STRATA_CORE_BUILD"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("hexadecimal digits have no zero byte among them"),
};

/// What a plug-in brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginKind {
    /// Dialects.
    Dialect,
    /// Passes.
    Pass,
}

impl PluginKind {
    /// MLIR's flag that loads one.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Dialect => "--load-dialect-plugin",
            Self::Pass => "--load-pass-plugin",
        }
    }

    /// The macro that writes its symbols.
    fn writer(self) -> &'static str {
        match self {
            Self::Dialect => "strata_core::dialect_plugin!",
            Self::Pass => "strata_core::pass_plugin!",
        }
    }
}

/// A plug-in that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PluginError {
    #[error("the plug-in {path} cannot be opened: {reason}")]
    Open { path: PathBuf, reason: libloading::Error },
    #[error("{path} has no symbol of a plug-in for {flag}; write one with {writer}")]
    Kind { path: PathBuf, flag: &'static str, writer: &'static str },
    #[error("the plug-in {path} was built from other sources of strata-core than this tool; build both again, from one workspace")]
    Build { path: PathBuf },
    #[error("the plug-in {path} is for version {found} of MLIR's interface, this tool has {API_VERSION}; build it with LLVM 22")]
    Version { path: PathBuf, found: u32 },
    #[error("the plug-in {path} brings '{name}', which is there already; give it another name")]
    Taken { path: PathBuf, name: &'static str },
}

/// The version of MLIR's plug-in interface.
const API_VERSION: u32 = 1;

/// What MLIR asks of a plug-in: `mlir::PassPluginLibraryInfo`, `mlir::DialectPluginLibraryInfo`.
#[doc(hidden)]
#[repr(C)]
pub struct Info<F> {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: F,
}

impl<F> Info<F> {
    /// Of a plug-in built from these sources.
    pub const fn new(name: &'static CStr, register: F) -> Self {
        Self { api_version: API_VERSION, name: name.as_ptr(), version: BUILD.as_ptr(), register }
    }
}

/// What our tools ask of a plug-in.
#[doc(hidden)]
#[repr(C)]
pub struct Parts<T: 'static> {
    build: *const c_char,
    first: *const T,
    count: usize,
}

impl<T> Parts<T> {
    /// Of a plug-in built from these sources.
    pub const fn new(parts: &'static [T]) -> Self {
        Self { build: BUILD.as_ptr(), first: parts.as_ptr(), count: parts.len() }
    }

    fn get(self, path: &Path) -> Result<&'static [T], PluginError> {
        // SAFETY: the text is in the plug-in, which stays.
        if unsafe { CStr::from_ptr(self.build) } != BUILD {
            return Err(PluginError::Build { path: path.to_owned() });
        }
        // SAFETY: the list is in the plug-in, which stays, and of the layout that it has here, since the sources are the same.
        Ok(unsafe { std::slice::from_raw_parts(self.first, self.count) })
    }
}

type PassInfo = unsafe extern "C" fn() -> Info<unsafe extern "C" fn()>;
type DialectInfo = unsafe extern "C" fn() -> Info<unsafe extern "C" fn(*mut c_void)>;

/// Registers dialects in a tool of MLIR's.
///
/// # Safety
/// `registry` is an `mlir::DialectRegistry`.
#[doc(hidden)]
pub unsafe fn register_dialects(registry: *mut c_void, dialects: &'static [&'static DialectDef]) {
    for &def in dialects {
        // SAFETY: the caller's promise; definitions live as long as the plug-in.
        unsafe { strata_register_dialect(MlirDialectRegistry { ptr: registry }, registered(def)) };
    }
}

/// Registers passes in a tool of MLIR's.
#[doc(hidden)]
pub fn register_passes(passes: &[PassEntry]) {
    passes.iter().for_each(register_pass);
}

impl Registry {
    /// Adds what a plug-in brings: one of ours, or any of MLIR's. It stays loaded.
    ///
    /// # Errors
    /// When the library is no such plug-in, was built from other sources, or brings a name that is taken.
    pub fn with_plugin(mut self, kind: PluginKind, path: &Path) -> Result<Self, PluginError> {
        let owned = || path.to_owned();
        let absent = || PluginError::Kind { path: owned(), flag: kind.flag(), writer: kind.writer() };
        let version = |found| if found == API_VERSION { Ok(()) } else { Err(PluginError::Version { path: owned(), found }) };
        // SAFETY: whoever names a plug-in wants its code to run. It is never unloaded.
        let library = unsafe { Library::new(path) }.map_err(|reason| PluginError::Open { path: owned(), reason })?;
        let library: &'static Library = Box::leak(Box::new(library));
        self.note_plugin(path);
        // SAFETY: a symbol of this name has this type: it is MLIR's, or written by our macros, which `Parts` makes sure of.
        unsafe {
            match kind {
                PluginKind::Dialect => {
                    if let Ok(parts) = library.get::<unsafe extern "C" fn() -> Parts<&'static DialectDef>>(b"strata_dialect_plugin") {
                        let dialects = parts().get(path)?;
                        if let Some(taken) = dialects.iter().find(|def| self.dialects().iter().any(|other| other.name == def.name)) {
                            return Err(PluginError::Taken { path: owned(), name: taken.name });
                        }
                        return Ok(self.with_dialects(dialects));
                    }
                    let info = library.get::<DialectInfo>(b"mlirGetDialectPluginInfo").map_err(|_| absent())?();
                    version(info.api_version)?;
                    (info.register)(self.to_raw().ptr);
                }
                PluginKind::Pass => {
                    if let Ok(parts) = library.get::<unsafe extern "C" fn() -> Parts<PassEntry>>(b"strata_pass_plugin") {
                        let passes = parts().get(path)?;
                        if let Some(taken) = passes.iter().find(|pass| strata_pass_exists(string_ref(pass.def.argument))) {
                            return Err(PluginError::Taken { path: owned(), name: taken.def.argument });
                        }
                        return Ok(self.with_passes(passes));
                    }
                    let info = library.get::<PassInfo>(b"mlirGetPassPluginInfo").map_err(|_| absent())?();
                    version(info.api_version)?;
                    (info.register)();
                }
            }
        }
        Ok(self)
    }
}

/// Makes a `cdylib` a plug-in with dialects: `dialect_plugin!(c"mine", [&MINE]);`.
#[macro_export]
macro_rules! dialect_plugin {
    ($name:literal, [$($dialect:expr),+ $(,)?]) => {
        const _: () = {
            static DIALECTS: &[&$crate::dialect::DialectDef] = &[$($dialect),+];

            unsafe extern "C" fn register(registry: *mut ::std::ffi::c_void) {
                // SAFETY: MLIR gives the registry of its tool.
                unsafe { $crate::plugin::register_dialects(registry, DIALECTS) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn mlirGetDialectPluginInfo() -> $crate::plugin::Info<unsafe extern "C" fn(*mut ::std::ffi::c_void)> {
                $crate::plugin::Info::new($name, register)
            }

            #[unsafe(no_mangle)]
            extern "C" fn strata_dialect_plugin() -> $crate::plugin::Parts<&'static $crate::dialect::DialectDef> {
                $crate::plugin::Parts::new(DIALECTS)
            }
        };
    };
}

/// Makes a `cdylib` a plug-in with passes: `pass_plugin!(c"mine", [PassEntry::of::<DropZero>()]);`.
#[macro_export]
macro_rules! pass_plugin {
    ($name:literal, [$($pass:expr),+ $(,)?]) => {
        const _: () = {
            static PASSES: &[$crate::pass::PassEntry] = &[$($pass),+];

            unsafe extern "C" fn register() {
                $crate::plugin::register_passes(PASSES)
            }

            #[unsafe(no_mangle)]
            extern "C" fn mlirGetPassPluginInfo() -> $crate::plugin::Info<unsafe extern "C" fn()> {
                $crate::plugin::Info::new($name, register)
            }

            #[unsafe(no_mangle)]
            extern "C" fn strata_pass_plugin() -> $crate::plugin::Parts<$crate::pass::PassEntry> {
                $crate::plugin::Parts::new(PASSES)
            }
        };
    };
}
