//! Extensions that are built on PyTorch's stable ABI, by their host: `libstrata_torch_ops.so`, which has the functions that they call.
//! It is opened only when there is an extension to open.

use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// File name of the host.
const LIBRARY: &str = "libstrata_torch_ops.so";

/// Opens an extension; gives its operators or why not to the last function.
type OpenFn = unsafe extern "C" fn(*const c_char, *mut c_void, unsafe extern "C" fn(*mut c_void, *const u8, usize)) -> i32;

/// The kernel of an operator, null where there is none.
type KernelFn = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// The host, which is never closed: extensions are bound to its functions.
struct Host {
    open: OpenFn,
    kernel: KernelFn,
}

static HOST: OnceLock<Result<Host, String>> = OnceLock::new();

fn host() -> Result<&'static Host, String> {
    HOST.get_or_init(find).as_ref().map_err(Clone::clone)
}

/// Opens the library beside this executable, or in the folder above it (where cargo puts libraries of tests).
fn find() -> Result<Host, String> {
    let executable = std::env::current_exe().unwrap_or_default();
    let folders: Vec<PathBuf> = executable.ancestors().skip(1).take(2).map(Path::to_path_buf).collect();
    let found = folders.iter().map(|folder| folder.join(LIBRARY)).find(|path| path.exists());
    let looked = || folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
    let path = found.ok_or_else(|| format!("its host {LIBRARY} is not there (looked in {}); build it with `./x build`", looked()))?;
    let failed = |error: libloading::Error| format!("its host {} cannot be opened: {error}", path.display());
    // SAFETY: the library is our own; its initialisers only set up its data. Extensions look its functions up in all that is open.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) }.map_err(failed)?;
    // SAFETY: the functions have these types, and stay, since the library is never closed.
    let host = unsafe {
        let open = *library.get::<OpenFn>(b"strata_torch_open\0").map_err(failed)?;
        Host { open, kernel: *library.get::<KernelFn>(b"strata_torch_kernel\0").map_err(failed)? }
    };
    std::mem::forget(library);
    Ok(host)
}

/// Opens an extension for good, which runs its code; gives the schemas of its operators that have a kernel for the CPU, as in
/// `ns::name(Tensor x) -> Tensor`.
pub(crate) fn open(path: &Path) -> Result<Vec<String>, String> {
    let host = host()?;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let mut said = String::new();
    // SAFETY: the path is terminated, and `heard` takes the text.
    let status = unsafe { (host.open)(path.as_ptr(), (&raw mut said).cast(), heard) };
    match status {
        0 if said.is_empty() => Err("it registers no operator with a kernel for the CPU by STABLE_TORCH_LIBRARY".to_owned()),
        0 => Ok(said.lines().map(str::to_owned).collect()),
        _ => Err(said),
    }
}

/// # Safety
/// `text` is the text that [`open`] passes, and `length` bytes are readable.
unsafe extern "C" fn heard(text: *mut c_void, bytes: *const u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { *text.cast::<String>() = String::from_utf8_lossy(std::slice::from_raw_parts(bytes, length)).into_owned() };
}

/// The address of the kernel of an operator, as in `ns::name`, of the extensions that are open.
pub(crate) fn kernel(name: &str) -> Option<*const c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is terminated.
    let address = unsafe { (host().ok()?.kernel)(name.as_ptr()) };
    Some(address).filter(|address| !address.is_null())
}

/// The name of the operator of a schema.
pub(crate) fn name(schema: &str) -> &str {
    schema.split('(').next().unwrap_or_default()
}
