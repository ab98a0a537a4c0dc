//! The C structures shared with compiled programs (see "The compiled program" in the architecture page).

use std::ffi::c_void;

use crate::dlpack::DLTensor;

/// The one argument of a program's entry.
#[repr(C)]
#[derive(Debug)]
pub struct StrataCall {
    /// Inputs, dense row-major.
    pub inputs: *const *const DLTensor,
    /// Outputs, then mutations; `shape` has room for `ndim` sizes, `data` may be null.
    pub outputs: *const *mut DLTensor,
    /// Dense data of parameters, buffers and constants, in manifest order.
    pub weights: *const *mut c_void,
    /// The running call, for the runtime's own functions.
    pub runtime: *mut c_void,
    /// Details of a failure.
    pub detail: [i64; 4],
}

/// `strata_entry`.
pub type Entry = unsafe extern "C" fn(*mut StrataCall) -> i32;

/// A loop body given to `strata_parallel`.
pub type Body = unsafe extern "C" fn(*mut c_void, i64, i64);
