//! The compiler as a library: a registry behind the C functions that `strata_runtime::compiler` declares.
//!
//! A crate with a dialect of its own makes its `cdylib` a compiler by one line, which `rs-run` and `torch.compile` open in the place
//! of `libstrata_compiler.so`:
//!
//! ```text
//! strata_toolbox::compiler_library!(registry);
//! ```

use std::error::Error;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

pub use strata_core::registry::Registry;
pub use strata_driver::Held;
pub use strata_runtime::compiler::Functions;

use strata_driver::{Options, SourceFile};
use strata_runtime::Tensor;
use strata_runtime::compiler::{ABI_VERSION, OutputFn};
use strata_runtime::dlpack::DLTensor;
use strata_store::{Settings, Store};

/// Whose compiler it is; [`compiler_library!`](crate::compiler_library) implements it.
pub trait Library {
    /// What the compiler is made of.
    fn registry() -> &'static Registry;
    /// [`Registry::build`].
    fn build() -> &'static CStr;
    /// The database of the process.
    fn held() -> &'static Held;
}

/// The functions of a compiler.
pub const fn functions<L: Library>() -> Functions {
    Functions {
        version: ABI_VERSION,
        build: build::<L>,
        operators,
        compile: compile::<L>,
        record: record::<L>,
        interpret: interpret::<L>,
        free,
    }
}

/// Makes a `cdylib` a compiler of programs for the registry that a function gives: `compiler_library!(registry);`.
#[macro_export]
macro_rules! compiler_library {
    ($registry:path) => {
        const _: () = {
            use ::std::ffi::{CStr, CString};
            use ::std::sync::LazyLock;
            use $crate::library::{Functions, Held, Library, Registry, functions};

            struct Ours;

            impl Library for Ours {
                fn registry() -> &'static Registry {
                    static REGISTRY: LazyLock<&Registry> = LazyLock::new(|| $registry().leak());
                    &REGISTRY
                }

                fn build() -> &'static CStr {
                    static BUILD: LazyLock<CString> = LazyLock::new(|| CString::new(Ours::registry().build()).unwrap_or_default());
                    &BUILD
                }

                fn held() -> &'static Held {
                    static HELD: LazyLock<Held> = LazyLock::new(|| Held::new(Ours::registry()));
                    &HELD
                }
            }

            #[unsafe(no_mangle)]
            extern "C" fn strata_compiler() -> *const Functions {
                static FUNCTIONS: Functions = functions::<Ours>();
                &raw const FUNCTIONS
            }
        };
    };
}

type Bytes = (*mut *mut u8, *mut usize);

/// The hash of what the compiler was built from.
///
/// # Safety
/// None is needed; it is unsafe only to have the type that the other side declares.
unsafe extern "C" fn build<L: Library>() -> *const c_char {
    L::build().as_ptr()
}

/// The operators that are compiled.
///
/// # Safety
/// `bytes` and `len` may be written.
unsafe extern "C" fn operators(bytes: *mut *mut u8, len: *mut usize) {
    let compiled = strata_driver::op_coverage().into_iter().filter(|row| row.compiled);
    let names: Vec<_> = compiled.map(|row| row.operator.name()).collect();
    // SAFETY: the caller's promise.
    unsafe { give(names.join("\n").into_bytes(), (bytes, len)) };
}

/// Compiles a file, or the text that stands in its place, to an artefact's bytes.
///
/// # Safety
/// Path and options are terminated; `text` is null or has `text_len` bytes; `bytes` and `len` may be written.
unsafe extern "C" fn compile<L: Library>(
    path: *const c_char,
    text: *const u8,
    text_len: usize,
    options: *const c_char,
    bytes: *mut *mut u8,
    len: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guarded(|| unsafe {
        let (SourceFile { path, text }, options) = (source(path, text, text_len)?, parse(options)?);
        let (artefact, _) = L::held().compile(SourceFile { path, text }, &options, store(&options).as_ref())?;
        Ok(artefact.to_bytes())
    });
    let status = i32::from(result.is_err());
    // SAFETY: the caller's promise.
    unsafe { give(result.unwrap_or_else(String::into_bytes), (bytes, len)) };
    status
}

/// [`compile`], and the record of the compilation as JSON.
///
/// # Safety
/// Path and options are terminated; `text` is null or has `text_len` bytes; the four results may be written.
unsafe extern "C" fn record<L: Library>(
    path: *const c_char,
    text: *const u8,
    text_len: usize,
    options: *const c_char,
    bytes: *mut *mut u8,
    len: *mut usize,
    record: *mut *mut u8,
    record_len: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guarded(|| unsafe {
        let (source, options) = (source(path, text, text_len)?, parse(options)?);
        let (artefact, compilation) = strata_driver::record(L::registry(), source, &options, store(&options).as_ref())?;
        Ok((artefact.to_bytes(), serde_json::to_vec(&compilation)?))
    });
    let status = i32::from(result.is_err());
    let (artefact, compilation) = result.unwrap_or_else(|reason| (reason.into_bytes(), Vec::new()));
    // SAFETY: the caller's promise.
    unsafe {
        give(artefact, (bytes, len));
        give(compilation, (record, record_len));
    }
    status
}

/// Runs a file in the reference interpreter.
///
/// # Safety
/// The texts are terminated; the inputs describe readable memory; `output` may be called with `ctx`; `error` and `len` may be written.
unsafe extern "C" fn interpret<L: Library>(
    path: *const c_char,
    options: *const c_char,
    n_in: usize,
    inputs: *const *const DLTensor,
    ctx: *mut c_void,
    output: OutputFn,
    error: *mut *mut u8,
    len: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guarded(|| unsafe {
        let (path, options) = (file(path), parse(options)?);
        let inputs = (0..n_in).map(|k| Tensor::from_dlpack(&**inputs.add(k))).collect::<Result<Vec<_>, _>>()?;
        for result in strata_driver::interpret(L::registry(), path, &options, inputs)? {
            let name = CString::new(result.name)?;
            let tensor = result.tensor.dlpack();
            output(ctx, name.as_ptr(), result.mutation.into(), &raw const tensor);
        }
        Ok(())
    });
    let Err(text) = result else { return 0 };
    // SAFETY: the caller's promise.
    unsafe { give(text.into_bytes(), (error, len)) };
    1
}

/// Frees bytes that one of these functions gave.
///
/// # Safety
/// `bytes` and `len` are as they were given, once.
unsafe extern "C" fn free(bytes: *mut u8, len: usize) {
    // SAFETY: `give` leaked a boxed slice of this length.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes, len)) });
}

/// The result of a body, with its error or panic as text.
fn guarded<T>(body: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<T, String> {
    // Each call has a context of its own, so nothing half-done survives a panic.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("the compiler failed inside: {}; please report it with the program", text.unwrap_or("unknown")))
        }
    }
}

/// # Safety
/// `path` is a terminated text that outlives the result.
unsafe fn file<'a>(path: *const c_char) -> &'a Path {
    // SAFETY: the caller's promise.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

/// # Safety
/// `path` is a terminated text and `text` is null or has `len` bytes; both outlive the result.
unsafe fn source<'a>(path: *const c_char, text: *const u8, len: usize) -> Result<SourceFile<'a>, Box<dyn Error>> {
    // SAFETY: the caller's promise.
    let (path, text) = unsafe { (file(path), (!text.is_null()).then(|| std::slice::from_raw_parts(text, len))) };
    Ok(SourceFile { path, text: text.map(std::str::from_utf8).transpose()? })
}

/// The store that the options ask for.
fn store(options: &Options) -> Option<Arc<Store>> {
    let settings = Settings { remote: options.cache_local.then(String::new), ..Settings::default() };
    options.cache.then(|| Store::open_or_warn(&settings)).flatten().map(Arc::new)
}

/// # Safety
/// `options` is a terminated text.
unsafe fn parse(options: *const c_char) -> Result<Options, Box<dyn Error>> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(options) }.to_bytes();
    Ok(serde_json::from_slice(text).map_err(|e| format!("options: {e}"))?)
}

/// Leaks bytes to the caller, who gives them back to [`free`].
///
/// # Safety
/// Both pointers may be written.
unsafe fn give(bytes: Vec<u8>, to: Bytes) {
    let bytes = Box::leak(bytes.into_boxed_slice());
    // SAFETY: the caller's promise.
    unsafe {
        *to.1 = bytes.len();
        *to.0 = bytes.as_mut_ptr();
    }
}
