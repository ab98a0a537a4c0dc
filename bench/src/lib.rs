//! `libstrata_bench.so`: Strata as a peer of a side-by-side benchmark that loads compilers through a small C interface.
//! It compiles `model.pt2` of a bundle with the compiler library beside it and calls the result on the harness's tensors.

mod peer;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::path::Path;

pub use peer::{BenchTensor, Peer};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

fn report(error: String) {
    // A text with a zero byte inside is shown up to there.
    let text = error.split('\0').next().unwrap_or_default().to_string();
    ERROR.set(CString::new(text).unwrap_or_default());
}

/// Compiles the program of a bundle; null on failure, see [`bench_error`].
///
/// # Safety
/// `bundle` is a terminated path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_prepare(bundle: *const c_char, threads: c_int) -> *mut c_void {
    // SAFETY: the caller's promise.
    let bundle = unsafe { CStr::from_ptr(bundle) }.to_string_lossy();
    match Peer::prepare(Path::new(&*bundle), usize::try_from(threads).unwrap_or(0)) {
        Ok(peer) => Box::into_raw(Box::new(peer)).cast(),
        Err(error) => {
            report(error.to_string());
            std::ptr::null_mut()
        }
    }
}

/// Calls the program `times` times on the same tensors; 0 is success.
///
/// # Safety
/// `handle` comes from [`bench_prepare`]; the tensors describe memory of the caller; one call at a time per handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_run(
    handle: *mut c_void,
    n_in: c_int,
    inputs: *const BenchTensor,
    n_out: c_int,
    outputs: *mut BenchTensor,
    times: c_long,
) -> c_int {
    // SAFETY: the caller's promise; an empty list may be null.
    let list = |start: *const BenchTensor, count: c_int| unsafe {
        if count <= 0 { &[] } else { std::slice::from_raw_parts(start, count as usize) }
    };
    // SAFETY: as above.
    let done = unsafe {
        let peer = &mut *handle.cast::<Peer>();
        peer.run(list(inputs, n_in), list(outputs, n_out), times)
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            report(error);
            1
        }
    }
}

/// The text of this thread's last failure, valid until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn bench_error() -> *const c_char {
    ERROR.with_borrow(|text| text.as_ptr())
}
