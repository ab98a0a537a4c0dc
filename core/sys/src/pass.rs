//! Passes and pipelines: `pass.cpp`.

use mlir_sys::*;
use std::ffi::c_void;

/// A pass instance while it runs.
#[repr(C)]
pub struct StrataPass {
    _private: [u8; 0],
}

pub const STRATA_BOOL: i32 = 0;
pub const STRATA_INT: i32 = 1;
pub const STRATA_FLOAT: i32 = 2;
pub const STRATA_STRING: i32 = 3;
pub const STRATA_INTS: i32 = 4;
pub const STRATA_STRINGS: i32 = 5;

#[repr(C)]
pub struct StrataOptionDef {
    pub name: MlirStringRef,
    pub description: MlirStringRef,
    pub kind: i32,
    pub initial: MlirStringRef,
}

#[repr(C)]
pub struct StrataPassDef {
    pub name: MlirStringRef,
    pub argument: MlirStringRef,
    pub description: MlirStringRef,
    pub anchor: MlirStringRef,
    pub num_options: usize,
    pub options: *const StrataOptionDef,
    pub user: *const c_void,
    pub dependents: Option<unsafe extern "C" fn(*const c_void, MlirDialectRegistry)>,
    pub run: Option<unsafe extern "C" fn(*const c_void, MlirOperation, *mut StrataPass) -> bool>,
}

pub type StringSink = unsafe extern "C" fn(MlirStringRef, *mut c_void);

unsafe extern "C" {
    pub fn strata_register_pass(def: *const StrataPassDef);
    pub fn strata_create_pass(def: *const StrataPassDef) -> MlirPass;
    pub fn strata_register_pipeline(argument: MlirStringRef, description: MlirStringRef, text: MlirStringRef);
    pub fn strata_pass_exists(argument: MlirStringRef) -> bool;
    pub fn strata_count_passes(manager: MlirPassManager, count: *mut u64);
    pub fn strata_pass_bool(pass: *mut StrataPass, index: usize) -> bool;
    pub fn strata_pass_int(pass: *mut StrataPass, index: usize) -> i64;
    pub fn strata_pass_float(pass: *mut StrataPass, index: usize) -> f64;
    pub fn strata_pass_string(pass: *mut StrataPass, index: usize, sink: StringSink, data: *mut c_void);
    pub fn strata_pass_ints(pass: *mut StrataPass, index: usize, sink: unsafe extern "C" fn(*mut c_void, i64), data: *mut c_void);
    pub fn strata_pass_strings(pass: *mut StrataPass, index: usize, sink: StringSink, data: *mut c_void);
    pub fn strata_pass_run_pipeline(
        pass: *mut StrataPass,
        text: MlirStringRef,
        op: MlirOperation,
        error: StringSink,
        data: *mut c_void,
    ) -> bool;
    pub fn strata_pass_preserve_all(pass: *mut StrataPass);
    pub fn strata_pass_preserve(pass: *mut StrataPass, key: *const c_void);
    pub fn strata_pass_analysis(
        pass: *mut StrataPass,
        op: MlirOperation,
        key: *const c_void,
        drop: unsafe extern "C" fn(*mut c_void),
    ) -> *mut *mut c_void;
}
