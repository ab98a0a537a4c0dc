//! LLVM's tables of CPUs.

use crate::ir::{string_from, string_ref};
use mlir_sys::MlirStringRef;
use std::ffi::c_void;
use strata_core_sys::strata_subtarget;

/// The features that the instructions of a CPU need, by LLVM's names; nothing where LLVM's target for the triple knows no such CPU, or is
/// not initialised.
pub fn cpu_features(triple: &str, cpu: &str) -> Option<Vec<String>> {
    unsafe extern "C" fn push(data: *mut c_void, name: MlirStringRef) {
        // SAFETY: `data` is the list below, alive for the call, and the name is alive for this one.
        unsafe { (*data.cast::<Vec<String>>()).push(string_from(name)) };
    }
    let mut features: Vec<String> = Vec::new();
    // SAFETY: the strings and the list outlive the call.
    let known = unsafe { strata_subtarget(string_ref(triple), string_ref(cpu), (&raw mut features).cast(), push) };
    known.then_some(features)
}
