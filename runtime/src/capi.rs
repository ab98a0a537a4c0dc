//! The C interface of `libstrata.so`: open a program, call it on DLPack tensors. [`crate::header`] writes its header.

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::artefact::Artefact;
use crate::dlpack::{DLManagedTensor, DLTensor};
use crate::session::Session;
use crate::shared;
use crate::tensor::Tensor;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the text for [`strata_error`].
fn fail(error: impl ToString) {
    let text = error.to_string().replace('\0', " ");
    ERROR.set(CString::new(text).unwrap_or_default());
}

/// Runs a fallible body; its error is kept and `otherwise` returned.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> Result<T, Box<dyn std::error::Error>>) -> T {
    // A panic must not cross into C; the session it happened in stays usable.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            fail(error);
            otherwise
        }
        Err(_) => {
            fail("internal error of the runtime");
            otherwise
        }
    }
}

/// # Safety
/// `text` is null or a terminated path.
unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes())))
}

fn boxed(artefact: &Artefact, weights: Option<&Path>) -> Result<*mut Session, Box<dyn std::error::Error>> {
    Ok(Box::into_raw(Box::new(Session::load(artefact, weights)?)))
}

/// Opens a program in memory. `weights` may be null: the archives named at compile time are read. Null on failure.
///
/// # Safety
/// `bytes` bytes are readable at `artefact`; `weights` is null or a terminated path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_open(artefact: *const c_void, bytes: u64, weights: *const c_char) -> *mut Session {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (bytes, weights) = unsafe { (std::slice::from_raw_parts(artefact.cast(), bytes as usize), path(weights)) };
        boxed(&Artefact::from_bytes(bytes)?, weights)
    })
}

/// Opens a `.strata` or `.so` file. Null on failure.
///
/// # Safety
/// `file` is a terminated path; `weights` is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_open_file(file: *const c_char, weights: *const c_char) -> *mut Session {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (file, weights) = unsafe { (path(file).ok_or("no path was given")?, path(weights)) };
        let library = file.extension().is_some_and(|kind| kind == "so");
        boxed(&if library { shared::read(file)? } else { Artefact::read(file)? }, weights)
    })
}

/// Calls the program, writing into the caller's outputs. 0 is success.
///
/// # Safety
/// `program` is open; the lists have the lengths given and describe host memory, writable for outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_run(
    program: *const Session,
    n_in: i32,
    inputs: *const *const DLTensor,
    n_out: i32,
    outputs: *const *const DLTensor,
) -> i32 {
    guarded(1, || {
        // SAFETY: the caller's promise.
        unsafe { (*program).run_into(list(inputs, n_in), list(outputs, n_out)) }?;
        Ok(0)
    })
}

/// Calls the program and returns its first `n_out` results as new tensors, each to be released by its deleter. 0 is success.
///
/// # Safety
/// As for [`strata_run`]; `outputs` has room for `n_out` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_call(
    program: *const Session,
    n_in: i32,
    inputs: *const *const DLTensor,
    n_out: i32,
    outputs: *mut *mut DLManagedTensor,
) -> i32 {
    guarded(1, || {
        // SAFETY: the caller's promise.
        let results = unsafe { (*program).run_pointers(list(inputs, n_in)) }?;
        if n_out as usize > results.len() {
            return Err(format!("the program has {} results, {n_out} were asked for", results.len()).into());
        }
        for (k, tensor) in results.into_iter().take(n_out.max(0) as usize).enumerate() {
            // SAFETY: there is room for `n_out` pointers.
            unsafe { *outputs.add(k) = managed(tensor) };
        }
        Ok(0)
    })
}

/// The text of this thread's last failure, valid until its next one.
#[unsafe(no_mangle)]
pub extern "C" fn strata_error() -> *const c_char {
    ERROR.with_borrow(|text| text.as_ptr())
}

/// Closes a program.
///
/// # Safety
/// `program` is null or open, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_close(program: *mut Session) {
    if !program.is_null() {
        // SAFETY: it came from `boxed`, and the caller gives it up.
        drop(unsafe { Box::from_raw(program) });
    }
}

/// # Safety
/// `count` elements are readable at `start` for the time of the call.
unsafe fn list<'a, T>(start: *const T, count: i32) -> &'a [T] {
    if count <= 0 || start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}

/// Hands a tensor over to C.
fn managed(tensor: Tensor) -> *mut DLManagedTensor {
    unsafe extern "C" fn release(tensor: *mut DLManagedTensor) {
        // SAFETY: DLPack's rule: called once, on what `managed` returned.
        unsafe {
            let managed = Box::from_raw(tensor);
            drop(Box::from_raw(managed.manager_ctx.cast::<Tensor>()));
        }
    }
    let tensor = Box::new(tensor);
    let dl_tensor = tensor.dlpack();
    let manager_ctx = Box::into_raw(tensor).cast();
    Box::into_raw(Box::new(DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(release) }))
}
