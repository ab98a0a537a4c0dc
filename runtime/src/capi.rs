//! The C interface of `libstrata.so`: open a program, call it on DLPack tensors. [`crate::header`] writes its header.
//!
//! What a caller gives is checked before it is used: null pointers and such that are not aligned, lengths, ranks, element types,
//! devices, sizes and strides that lead beyond all memory. Each is an error with a text. What cannot be seen is whether a pointer leads
//! to what it should: to an open program, a terminated path, so many sizes, memory for all elements. That remains the caller's promise.

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::OpLibraryFile;
use crate::artefact::Artefact;
use crate::dlpack::{DLManagedTensor, DLTensor, is_given};
use crate::session::Session;
use crate::shared;
use crate::tensor::Tensor;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the text for [`strata_error`].
fn fail(error: impl ToString) {
    let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    // Where the thread is ending there is no place for it any more.
    let _ = ERROR.try_with(|error| *error.borrow_mut() = text);
}

/// Runs a fallible body; its error is kept and `otherwise` returned.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    // Nothing here panics that we know of. What does must not cross into C; the session it happened in stays usable.
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

type Failure = Box<dyn std::error::Error>;

/// # Safety
/// `program` is null or open.
unsafe fn opened<'a>(program: *const Session) -> Result<&'a Session, Failure> {
    // SAFETY: the caller's promise.
    if is_given(program) { Ok(unsafe { &*program }) } else { Err("no program was given (it is null)".into()) }
}

/// # Safety
/// `text` is null or a terminated path.
unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes())))
}

fn boxed(artefact: &Artefact, weights: Option<&Path>) -> Result<*mut Session, Failure> {
    Ok(Box::into_raw(Box::new(Session::load(artefact, weights)?)))
}

/// # Safety
/// As for [`strata_open`].
unsafe fn in_memory(artefact: *const c_void, bytes: u64) -> Result<Artefact, Failure> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= isize::MAX as usize && !artefact.is_null());
    let bytes = bytes.ok_or("no artefact was given (it is null, or longer than all memory)")?;
    // SAFETY: the caller's promise.
    Ok(Artefact::from_bytes(unsafe { std::slice::from_raw_parts(artefact.cast(), bytes) })?)
}

/// # Safety
/// `file` is null or a terminated path.
unsafe fn in_file(file: *const c_char) -> Result<Artefact, Failure> {
    // SAFETY: the caller's promise.
    let file = unsafe { path(file) }.ok_or("no path was given (it is null)")?;
    let library = file.extension().is_some_and(|kind| kind == "so");
    Ok(if library { shared::read(file)? } else { Artefact::read(file)? })
}

/// # Safety
/// `libraries` has `length` terminated paths.
unsafe fn paths(libraries: *const *const c_char, length: i32) -> Result<Vec<OpLibraryFile>, Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { list("libraries", libraries, length) }?;
    // SAFETY: as above.
    let read = |&each: &*const c_char| Ok(OpLibraryFile::kernels(unsafe { path(each) }.ok_or("the path of a library is null")?));
    given.iter().map(read).collect()
}

/// Opens a program in memory. `weights` may be null: the packed weights or the archives named at compile time are read. Null on failure.
///
/// # Safety
/// `bytes` bytes are readable at `artefact`; `weights` is null or a terminated path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_open(artefact: *const c_void, bytes: u64, weights: *const c_char) -> *mut Session {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { boxed(&in_memory(artefact, bytes)?, path(weights)) }
    })
}

/// [`strata_open`] for a program that calls kernels of the user's libraries: these are opened, and so run code.
///
/// # Safety
/// As for [`strata_open`]; `libraries` has `n_libraries` terminated paths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_open_with_libraries(
    artefact: *const c_void,
    bytes: u64,
    weights: *const c_char,
    n_libraries: i32,
    libraries: *const *const c_char,
) -> *mut Session {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { boxed(&in_memory(artefact, bytes)?.with_op_libraries(&paths(libraries, n_libraries)?)?, path(weights)) }
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
        unsafe { boxed(&in_file(file)?, path(weights)) }
    })
}

/// [`strata_open_file`] for a program that calls kernels of the user's libraries: these are opened, and so run code.
///
/// # Safety
/// As for [`strata_open_file`]; `libraries` has `n_libraries` terminated paths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_open_file_with_libraries(
    file: *const c_char,
    weights: *const c_char,
    n_libraries: i32,
    libraries: *const *const c_char,
) -> *mut Session {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        unsafe { boxed(&in_file(file)?.with_op_libraries(&paths(libraries, n_libraries)?)?, path(weights)) }
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
        unsafe { opened(program)?.run_into(list("inputs", inputs, n_in)?, list("outputs", outputs, n_out)?) }?;
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
        let (program, inputs) = unsafe { (opened(program)?, list("inputs", inputs, n_in)?) };
        let (room, count) = (count("outputs", outputs, n_out)?, program.manifest().outputs.len());
        if room > count {
            return Err(format!("the program has {count} results, {n_out} were asked for").into());
        }
        // SAFETY: as above.
        let results = unsafe { program.run_pointers(inputs) }?;
        for (k, tensor) in results.into_iter().take(room).enumerate() {
            // SAFETY: there is room for `n_out` pointers.
            unsafe { *outputs.add(k) = managed(tensor) };
        }
        Ok(0)
    })
}

/// The text of this thread's last failure, valid until its next one.
#[unsafe(no_mangle)]
pub extern "C" fn strata_error() -> *const c_char {
    ERROR.try_with(|text| text.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Closes a program.
///
/// # Safety
/// `program` is null or open, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_close(program: *mut Session) {
    if is_given(program) {
        guarded((), || {
            // SAFETY: it came from `boxed`, and the caller gives it up.
            drop(unsafe { Box::from_raw(program) });
            Ok(())
        });
    }
}

/// Bounds the memory that each call of a program may take, in bytes, for its scratch, its results and copies of its inputs. 0 is success.
///
/// # Safety
/// `program` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_set_memory_limit(program: *const Session, bytes: u64) -> i32 {
    guarded(1, || {
        // SAFETY: the caller's promise.
        unsafe { opened(program) }?.set_memory_limit(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(0)
    })
}

/// The length of a list that a caller gives.
fn count<T>(what: &str, start: *const T, count: i32) -> Result<usize, Failure> {
    let length = usize::try_from(count).map_err(|_| format!("{count} {what} were given"))?;
    match length == 0 || is_given(start) {
        true => Ok(length),
        false => Err(format!("the list of {count} {what} is null or not aligned").into()),
    }
}

/// # Safety
/// `length` elements are readable at `start`, where it is not null, for the time of the call.
unsafe fn list<'a, T>(what: &str, start: *const T, length: i32) -> Result<&'a [T], Failure> {
    match count(what, start, length)? {
        0 => Ok(&[]),
        // SAFETY: the caller's promise.
        count => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
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
