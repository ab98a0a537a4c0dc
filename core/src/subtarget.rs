//! LLVM's tables of CPUs.

use crate::ir::{string_from, string_ref};
use mlir_sys::MlirStringRef;
use std::ffi::c_void;
use strata_core_sys::{strata_may_use_tiles, strata_resolve_cpu, strata_subtarget};

/// Adds a name to the list of strings at `data`.
unsafe extern "C" fn push(data: *mut c_void, name: MlirStringRef) {
    // SAFETY: `data` is the list of the functions below, alive for their calls, and the name is alive for this one.
    unsafe { (*data.cast::<Vec<String>>()).push(string_from(name)) };
}

/// The name under which LLVM's tables have a CPU: its own, or of an alias (`cobalt-100`) that of the CPU that it stands for (`neoverse-n2`).
pub fn resolve_cpu(cpu: &str) -> String {
    let mut name: Vec<String> = Vec::new();
    // SAFETY: the string and the list outlive the call.
    unsafe { strata_resolve_cpu(string_ref(cpu), (&raw mut name).cast(), push) };
    name.pop().unwrap_or_else(|| cpu.to_owned())
}

/// The features that the instructions of a CPU need, by LLVM's names; nothing where LLVM's target for the triple knows no such CPU, or is
/// not initialised.
pub fn cpu_features(triple: &str, cpu: &str) -> Option<Vec<String>> {
    let mut features: Vec<String> = Vec::new();
    // SAFETY: the strings and the list outlive the call.
    let known = unsafe { strata_subtarget(string_ref(triple), string_ref(cpu), (&raw mut features).cast(), push) };
    known.then_some(features)
}

/// Whether the system lets this process use the tiles of matrix units (AMX), which a CPU that has them does not do by itself.
pub fn may_use_tiles() -> bool {
    // SAFETY: it has no arguments, and only widens what the process may do.
    unsafe { strata_may_use_tiles() }
}
