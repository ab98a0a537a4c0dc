//! The compiler as a shared library, `libstrata_compiler.so`: its C functions, and how to find and call them.
//! Loading programs must not link MLIR or LLVM, so tools open the compiler only when there is something to compile.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::Library;

use crate::artefact::{Artefact, ArtefactError};
use crate::dlpack::DLTensor;
use crate::tensor::{Tensor, TensorError};

/// Version of the C functions below; both sides compare it.
pub const ABI_VERSION: u32 = 5;
/// Environment variable with the path of the library to open instead of the one beside the executable.
pub const OVERRIDE: &str = "STRATA_COMPILER";
/// File name of the library.
pub const LIBRARY: &str = "libstrata_compiler.so";

/// The one symbol of the library, `const StrataCompiler *strata_compiler(void)`: its functions.
pub const SYMBOL: &str = "strata_compiler";

/// The functions of a compiler; other versions have other fields behind the first.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the types say it")]
pub struct Functions {
    /// [`ABI_VERSION`] of the library.
    pub version: u32,
    pub build: BuildFn,
    pub operators: OperatorsFn,
    pub compile: CompileFn,
    pub record: RecordFn,
    pub interpret: InterpretFn,
    pub free: FreeFn,
}

/// The type of [`SYMBOL`]: what it gives stays.
pub type FunctionsFn = unsafe extern "C" fn() -> *const Functions;

/// `const char *build(void)`: the hash of what the library was built from, a text that stays.
pub type BuildFn = unsafe extern "C" fn() -> *const c_char;

/// `operators(&bytes, &len)`: the functional operators that are compiled, one name a line (`aten.add.Tensor`, and `aten.relu` for
/// an overload without a name). The text is freed with `free`.
pub type OperatorsFn = unsafe extern "C" fn(bytes: *mut *mut u8, len: *mut usize);

/// `int32_t compile(path, text, text_len, options_json, &bytes, &len)`: an artefact's bytes; 0 is success.
/// With a text (UTF-8) that is what a file of this name would hold, and none is read.
/// Bytes and error text (UTF-8, no terminator, its length in `len`) are freed with `free`.
pub type CompileFn = unsafe extern "C" fn(
    path: *const c_char,
    text: *const u8,
    text_len: usize,
    options: *const c_char,
    bytes: *mut *mut u8,
    len: *mut usize,
) -> i32;

/// `record(path, text, text_len, options_json, &bytes, &len, &record, &record_len)`: as `compile`, and with an
/// artefact also the record of the compilation as JSON (a `strata_report::Compilation`), freed in the same way.
pub type RecordFn = unsafe extern "C" fn(
    path: *const c_char,
    text: *const u8,
    text_len: usize,
    options: *const c_char,
    bytes: *mut *mut u8,
    len: *mut usize,
    record: *mut *mut u8,
    record_len: *mut usize,
) -> i32;

/// `interpret(path, options_json, n_in, inputs, ctx, output, &error, &len)`: runs the reference
/// interpreter and hands each result (outputs, then mutations) to `output` with its name. The error is freed as above.
pub type InterpretFn = unsafe extern "C" fn(
    path: *const c_char,
    options: *const c_char,
    n_in: usize,
    inputs: *const *const DLTensor,
    ctx: *mut c_void,
    output: OutputFn,
    error: *mut *mut u8,
    len: *mut usize,
) -> i32;

/// Receives one result; `mutation` is 1 for the new value of the buffer or input `name`. It copies what it wants to keep.
pub type OutputFn = unsafe extern "C" fn(ctx: *mut c_void, name: *const c_char, mutation: i32, tensor: *const DLTensor);

/// `free(bytes, len)`.
pub type FreeFn = unsafe extern "C" fn(bytes: *mut u8, len: usize);

/// Why the compiler gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// The library is not there or does not load.
    #[error(
        "the compiler library {LIBRARY} cannot be opened (looked in {looked}): {reason}; build it with `./x build`, or give a compiled .strata file"
    )]
    Library {
        /// Folders searched.
        looked: String,
        /// The loader's reason.
        reason: String,
    },
    /// The library is of another build.
    #[error("{path} has compiler interface {found}, this program needs {ABI_VERSION}; build both together")]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A path or option with a zero byte in it.
    #[error("`{0}` contains a zero byte")]
    Text(String),
    /// The compiler refused the program; the text is its diagnostic.
    #[error("{0}")]
    Refused(String),
    /// The compiler's artefact is unreadable.
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    /// The interpreter's result is unreadable.
    #[error("result of the interpreter: {0}")]
    Result(#[from] TensorError),
}

/// A result of the interpreter.
#[derive(Debug)]
pub struct NamedTensor {
    /// Name of the output, or of what was changed.
    pub name: String,
    /// Whether it is the new value of a buffer or input.
    pub mutation: bool,
    /// The value.
    pub tensor: Tensor,
}

/// The opened compiler.
#[derive(Debug)]
pub struct Compiler {
    functions: &'static Functions,
    /// Never closed: tables of MLIR, which stays, hold pointers to names in it.
    _library: ManuallyDrop<Library>,
}

impl Compiler {
    /// Opens the library beside this executable, or in the folder above it (where cargo puts libraries of tests).
    pub fn open() -> Result<Compiler, CompilerError> {
        Compiler::open_at(&Compiler::find()?)
    }

    /// Where the library is that [`Compiler::open`] opens.
    pub fn find() -> Result<PathBuf, CompilerError> {
        if let Some(path) = std::env::var_os(OVERRIDE) {
            return Ok(PathBuf::from(path));
        }
        let executable = std::env::current_exe().unwrap_or_default();
        let folders: Vec<PathBuf> = executable.ancestors().skip(1).take(2).map(Path::to_path_buf).collect();
        let looked = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ");
        let found = folders.iter().map(|folder| folder.join(LIBRARY)).find(|path| path.exists());
        found.ok_or_else(|| CompilerError::Library { looked, reason: "no such file".into() })
    }

    /// Opens the library at a path.
    pub fn open_at(path: &Path) -> Result<Compiler, CompilerError> {
        let fail = |e: libloading::Error| CompilerError::Library { looked: path.display().to_string(), reason: e.to_string() };
        // SAFETY: the library is our own compiler; its initialisers only set up its data.
        let library = unsafe { Library::new(path) }.map_err(fail)?;
        // SAFETY: a library with this symbol is a compiler, and what the symbol gives stays as long as the library, which is never closed.
        let functions = unsafe { &*library.get::<FunctionsFn>(SYMBOL.as_bytes()).map_err(fail)?() };
        if functions.version != ABI_VERSION {
            return Err(CompilerError::Version { path: path.into(), found: functions.version });
        }
        Ok(Compiler { functions, _library: ManuallyDrop::new(library) })
    }

    /// The hash of what the compiler was built from.
    pub fn build(&self) -> String {
        // SAFETY: the library gives a terminated text of its own that stays.
        unsafe { CStr::from_ptr((self.functions.build)()) }.to_string_lossy().into_owned()
    }

    /// The functional operators that are compiled: `aten.add.Tensor`, and `aten.relu` for an overload without a name.
    pub fn operators(&self) -> Vec<String> {
        let (mut bytes, mut len) = (std::ptr::null_mut(), 0);
        // SAFETY: the results go into our two variables.
        unsafe { (self.functions.operators)(&raw mut bytes, &raw mut len) };
        String::from_utf8_lossy(&self.take(bytes, len)).lines().map(str::to_owned).collect()
    }

    /// Compiles a program. `options` is the driver's option struct as JSON; `{}` is the default.
    pub fn compile(&self, path: &Path, options: &str) -> Result<Artefact, CompilerError> {
        self.compile_file(path, None, options)
    }

    /// Compiles a program that never was on disk: `text` is what the file `name` would hold.
    pub fn compile_text(&self, name: &Path, text: &str, options: &str) -> Result<Artefact, CompilerError> {
        self.compile_file(name, Some(text), options)
    }

    fn compile_file(&self, path: &Path, content: Option<&str>, options: &str) -> Result<Artefact, CompilerError> {
        let (path, options) = (text(path.as_os_str().as_bytes())?, text(options.as_bytes())?);
        let (mut bytes, mut len) = (std::ptr::null_mut(), 0);
        let (start, size) = content.map_or((std::ptr::null(), 0), |text| (text.as_ptr(), text.len()));
        // SAFETY: the texts are terminated or have their length beside them; the results go into our two variables.
        let status = unsafe { (self.functions.compile)(path.as_ptr(), start, size, options.as_ptr(), &raw mut bytes, &raw mut len) };
        let result = self.take(bytes, len);
        match status {
            0 => Ok(Artefact::from_bytes(&result)?),
            _ => Err(CompilerError::Refused(String::from_utf8_lossy(&result).into_owned())),
        }
    }

    /// Compiles a program, or with `content` what the file `path` would hold, and gives the record of the compilation as JSON.
    pub fn record(&self, path: &Path, content: Option<&str>, options: &str) -> Result<(Artefact, String), CompilerError> {
        let (path, options) = (text(path.as_os_str().as_bytes())?, text(options.as_bytes())?);
        let (mut bytes, mut len, mut record, mut record_len) = (std::ptr::null_mut(), 0, std::ptr::null_mut(), 0);
        let (start, size) = content.map_or((std::ptr::null(), 0), |text| (text.as_ptr(), text.len()));
        let (to, record_to) = ((&raw mut bytes, &raw mut len), (&raw mut record, &raw mut record_len));
        // SAFETY: the texts are terminated or have their length beside them; the results go into our four variables.
        let status = unsafe { (self.functions.record)(path.as_ptr(), start, size, options.as_ptr(), to.0, to.1, record_to.0, record_to.1) };
        let result = self.take(bytes, len);
        if status != 0 {
            return Err(CompilerError::Refused(String::from_utf8_lossy(&result).into_owned()));
        }
        let record = String::from_utf8_lossy(&self.take(record, record_len)).into_owned();
        Ok((Artefact::from_bytes(&result)?, record))
    }

    /// Runs a program in the reference interpreter.
    pub fn interpret(&self, path: &Path, options: &str, inputs: &[&Tensor]) -> Result<Vec<NamedTensor>, CompilerError> {
        let (path, options) = (text(path.as_os_str().as_bytes())?, text(options.as_bytes())?);
        let inputs: Vec<DLTensor> = inputs.iter().map(|tensor| tensor.dlpack()).collect();
        let pointers: Vec<*const DLTensor> = inputs.iter().map(|tensor| &raw const *tensor).collect();
        let mut results: Vec<Result<NamedTensor, TensorError>> = Vec::new();
        let (mut error, mut len) = (std::ptr::null_mut(), 0);
        // SAFETY: the texts are terminated, the tensors live through the call, `receive` gets our vector.
        let status = unsafe {
            let (into, n) = ((&raw mut results).cast(), pointers.len());
            let (path, options) = (path.as_ptr(), options.as_ptr());
            (self.functions.interpret)(path, options, n, pointers.as_ptr(), into, receive, &raw mut error, &raw mut len)
        };
        let error = self.take(error, len);
        match status {
            0 => Ok(results.into_iter().collect::<Result<_, _>>()?),
            _ => Err(CompilerError::Refused(String::from_utf8_lossy(&error).into_owned())),
        }
    }

    /// Copies bytes of the library and frees them there.
    fn take(&self, bytes: *mut u8, len: usize) -> Vec<u8> {
        if bytes.is_null() {
            return Vec::new();
        }
        // SAFETY: the library gave `len` bytes that are ours until we hand them back, once.
        unsafe {
            let copy = std::slice::from_raw_parts(bytes, len).to_vec();
            (self.functions.free)(bytes, len);
            copy
        }
    }
}

unsafe extern "C" fn receive(ctx: *mut c_void, name: *const c_char, mutation: i32, tensor: *const DLTensor) {
    // SAFETY: `interpret` passed its vector; the library passes a terminated name and a readable tensor.
    unsafe {
        let results = &mut *ctx.cast::<Vec<Result<NamedTensor, TensorError>>>();
        let name = CStr::from_ptr(name).to_string_lossy().into_owned();
        let tensor = Tensor::from_dlpack(&*tensor);
        results.push(tensor.map(|tensor| NamedTensor { name, mutation: mutation != 0, tensor }));
    }
}

fn text(bytes: &[u8]) -> Result<CString, CompilerError> {
    CString::new(bytes).map_err(|_| CompilerError::Text(String::from_utf8_lossy(bytes).into_owned()))
}
