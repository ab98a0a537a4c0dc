//! Crashes of MLIR's parser: its release builds have no assertions, and some texts bring it to a signal. Where one is caught the
//! text is refused, with the words of this module; what [`crate::limits`] knows never gets that far.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Crashes caught in this process.
static CRASHES: AtomicUsize = AtomicUsize::new(0);

/// Crashes caught in this process so far: a context that saw one may hold its own locks.
pub(crate) fn count() -> usize {
    CRASHES.load(Ordering::Relaxed)
}

/// Notes a crash; gives what to say of it, in two lines.
pub(crate) fn report(file: &str, signal: c_int) -> String {
    CRASHES.fetch_add(1, Ordering::Relaxed);
    let what = match signal {
        4 => "illegal instruction",
        5 => "trap",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        11 => "segmentation fault",
        _ => "signal",
    };
    format!(
        "{file}:1: error: MLIR's parser crashed on this text (signal {signal}, {what}): a defect of MLIR 22, which Strata cannot read around\n\
         {file}:1: note: to see it again: rs-opt {file}; to report it: https://github.com/llvm/llvm-project/issues"
    )
}
