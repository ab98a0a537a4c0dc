//! Values that do not fit into a word of the stack: lists, texts, and what may be absent.

use std::ffi::c_char;

use crate::error::status;

/// A list of words.
pub(crate) type List = Vec<u64>;

/// # Safety
/// `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_new_list_reserve_size(size: usize, result: *mut *mut List) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = Box::into_raw(Box::new(List::with_capacity(size.min(1 << 16)))) };
    0
}

/// # Safety
/// The list lives, and `size` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_list_size(list: *const List, size: *mut usize) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *size = (*list).len() };
    0
}

/// # Safety
/// The list lives, and `element` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_list_get_item(list: *const List, index: usize, element: *mut u64) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let list = unsafe { &*list };
        let value = list.get(index).ok_or_else(|| format!("a list of {} has no element {index}", list.len()))?;
        // SAFETY: as above.
        unsafe { *element = *value };
        Ok(())
    })
}

/// # Safety
/// The list lives.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_list_set_item(list: *mut List, index: usize, element: u64) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let list = unsafe { &mut *list };
        let length = list.len();
        *list.get_mut(index).ok_or_else(|| format!("a list of {length} has no element {index}"))? = element;
        Ok(())
    })
}

/// # Safety
/// The list lives.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_list_push_back(list: *mut List, element: u64) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { (*list).push(element) };
    0
}

/// # Safety
/// The list lives, and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_delete_list(list: *mut List) -> i32 {
    // SAFETY: it came from `Box`, and the extension gives it up.
    drop(unsafe { Box::from_raw(list) });
    0
}

/// A value that may be absent, on the heap: extensions of versions before 2.13 free it by C++'s `delete`, which is `free`.
pub(crate) fn present(value: u64) -> u64 {
    // SAFETY: eight bytes are asked for, and written where there are some.
    unsafe {
        let at = libc::malloc(8).cast::<u64>();
        if !at.is_null() {
            at.write(value);
        }
        at as u64
    }
}

/// Takes a value that may be absent.
///
/// # Safety
/// The word is 0 or comes from [`present`] or C++'s `new`.
pub(crate) unsafe fn take(word: u64) -> Option<u64> {
    let at = word as *mut u64;
    if at.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let value = at.read();
        libc::free(at.cast());
        Some(value)
    }
}

/// # Safety
/// `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_new_stable_ivalue(result: *mut *mut u64) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = present(0) as *mut u64 };
    0
}

/// # Safety
/// The value lives, and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_delete_stable_ivalue(value: *mut u64) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { libc::free(value.cast()) };
    0
}

/// # Safety
/// `length` bytes are readable, and `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_new_string_handle(data: *const c_char, length: usize, result: *mut *mut Vec<u8>) -> i32 {
    // SAFETY: the extension's promise.
    unsafe {
        let mut text = std::slice::from_raw_parts(data.cast::<u8>(), length).to_vec();
        text.push(0);
        *result = Box::into_raw(Box::new(text));
    }
    0
}

/// # Safety
/// The text lives, and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_delete_string(text: *mut Vec<u8>) -> i32 {
    // SAFETY: it came from `Box`, and the extension gives it up.
    drop(unsafe { Box::from_raw(text) });
    0
}

/// # Safety
/// The text lives, and `length` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_string_length(text: *const Vec<u8>, length: *mut usize) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *length = (*text).len() - 1 };
    0
}

/// # Safety
/// The text lives, and `data` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_string_c_str(text: *const Vec<u8>, data: *mut *const c_char) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *data = (*text).as_ptr().cast() };
    0
}
