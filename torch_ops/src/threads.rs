//! Loops of an extension on the threads of the program that calls it.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{said, status};
use crate::kernel::OpCall;

type Body = unsafe extern "C" fn(i64, i64, *mut c_void);

unsafe extern "C" {
    fn strata_torch_guard_range(body: Body, begin: i64, end: i64, context: *mut c_void, text: *mut c_char, bytes: u64) -> i32;
}

thread_local! {
    /// The call that runs on this thread.
    pub(crate) static CALL: Cell<*const OpCall> = const { Cell::new(std::ptr::null()) };
    /// The chunk of a loop that runs on this thread: extensions keep memory by it.
    static CHUNK: Cell<u32> = const { Cell::new(0) };
}

/// A loop in chunks, one for each thread at the most.
struct Loop {
    body: Body,
    context: *mut c_void,
    range: Range<i64>,
    chunk: i64,
    failed: AtomicBool,
    text: *mut c_char,
}

const TEXT: usize = 512;

fn threads() -> u32 {
    std::thread::available_parallelism().map_or(1, |threads| u32::try_from(threads.get()).unwrap_or(u32::MAX))
}

/// # Safety
/// `context` is the loop.
unsafe extern "C" fn chunks(context: *mut c_void, from: i64, to: i64) {
    // SAFETY: `torch_parallel_for` passes its own loop.
    let each = unsafe { &*context.cast::<Loop>() };
    for place in from..to {
        let begin = each.range.start + place * each.chunk;
        let end = begin.saturating_add(each.chunk).min(each.range.end);
        let mut text = [0 as c_char; TEXT];
        let outer = CHUNK.replace(u32::try_from(place).unwrap_or(0));
        // SAFETY: the extension's promise for its body; the text has these bytes.
        let failed = unsafe { strata_torch_guard_range(each.body, begin, end, each.context, text.as_mut_ptr(), TEXT as u64) != 0 };
        CHUNK.set(outer);
        if failed && !each.failed.swap(true, Ordering::Relaxed) {
            // SAFETY: the first failure alone writes there.
            unsafe { each.text.copy_from_nonoverlapping(text.as_ptr(), TEXT) };
        }
    }
}

/// # Safety
/// The body takes the context, and ranges that do not overlap on any thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_parallel_for(begin: i64, end: i64, grain: i64, body: Body, context: *mut c_void) -> i32 {
    status(|| {
        let length = end.saturating_sub(begin);
        if length <= 0 {
            return Ok(());
        }
        let mut text = [0 as c_char; TEXT];
        let chunk = ((length - 1) / i64::from(threads()) + 1).max(grain);
        let failed = AtomicBool::new(false);
        let mut each = Loop { body, context, range: begin..end, chunk, failed, text: text.as_mut_ptr() };
        let (count, own) = ((length - 1) / chunk + 1, (&raw mut each).cast());
        // SAFETY: the extension's promise; the call lives while its kernel runs.
        unsafe {
            match CALL.get().as_ref() {
                Some(call) => (call.parallel)(call, chunks, own, count, 1),
                None => chunks(own, 0, count),
            }
        }
        if each.failed.into_inner() { Err(said(&text)) } else { Ok(()) }
    })
}

/// # Safety
/// `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_get_num_threads(result: *mut u32) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = threads() };
    0
}

/// # Safety
/// `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_get_thread_idx(result: *mut u32) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = CHUNK.get() };
    0
}
