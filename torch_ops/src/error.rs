//! How functions of the shim fail: a status, and a text that the extension puts into its exception.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a body; its failure is kept for the extension.
pub(crate) fn status(body: impl FnOnce() -> Result<(), String>) -> i32 {
    match body() {
        Ok(()) => 0,
        Err(text) => {
            let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
            LAST.with_borrow_mut(|last| *last = text);
            1
        }
    }
}

/// A text that C++ has written.
pub(crate) fn said(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text of this thread's last failure.
#[unsafe(no_mangle)]
extern "C" fn torch_exception_get_what_without_backtrace() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// The same with a backtrace, which extensions print as well; there is none.
#[unsafe(no_mangle)]
extern "C" fn torch_exception_get_what() -> *const c_char {
    std::ptr::null()
}
