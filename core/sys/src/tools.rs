//! Drivers of command line tools: `opt_main.cpp`, `translate.cpp`, `filecheck.cpp`.

use crate::StringSink;
use mlir_sys::*;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub struct StrataFileCheck {
    pub num_prefixes: usize,
    pub prefixes: *const MlirStringRef,
    pub num_comment_prefixes: usize,
    pub comment_prefixes: *const MlirStringRef,
    pub num_implicit_nots: usize,
    pub implicit_nots: *const MlirStringRef,
    pub num_defines: usize,
    pub defines: *const MlirStringRef,
    pub strict_whitespace: bool,
    pub match_full_lines: bool,
    pub ignore_case: bool,
    pub allow_empty: bool,
    pub allow_unused_prefixes: bool,
    pub enable_var_scope: bool,
    pub allow_deprecated_dag_overlap: bool,
    pub verbose: bool,
    pub very_verbose: bool,
}

unsafe extern "C" {
    pub fn strata_opt_main(
        argc: c_int,
        argv: *mut *mut c_char,
        name: MlirStringRef,
        registry: MlirDialectRegistry,
        check: unsafe extern "C" fn(MlirStringRef, MlirStringRef) -> bool,
        crashed: unsafe extern "C" fn(MlirStringRef, c_int),
    ) -> c_int;
    pub fn strata_lsp_main(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
        crashed: unsafe extern "C" fn(MlirStringRef, c_int),
    ) -> c_int;
    pub fn strata_reduce_main(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
    pub fn strata_translate_main(argc: c_int, argv: *mut *mut c_char, name: MlirStringRef) -> c_int;
    pub fn strata_resolve_cpu(cpu: MlirStringRef, data: *mut c_void, push: unsafe extern "C" fn(*mut c_void, MlirStringRef));
    pub fn strata_subtarget(
        triple: MlirStringRef,
        cpu: MlirStringRef,
        data: *mut c_void,
        push: unsafe extern "C" fn(*mut c_void, MlirStringRef),
    ) -> bool;
    pub fn strata_may_use_tiles() -> bool;
    pub fn strata_register_upstream_translations();
    pub fn strata_register_translation(
        name: MlirStringRef,
        description: MlirStringRef,
        user: *mut c_void,
        dialects: unsafe extern "C" fn(*mut c_void, MlirDialectRegistry),
        run: unsafe extern "C" fn(*mut c_void, MlirOperation, *mut c_void) -> bool,
    );
    pub fn strata_write(out: *mut c_void, text: MlirStringRef);
    pub fn strata_add_flag(name: MlirStringRef, description: MlirStringRef, user: *mut c_void, set: unsafe extern "C" fn(*mut c_void));
    pub fn strata_filecheck(
        request: *const StrataFileCheck,
        check_name: MlirStringRef,
        check_text: MlirStringRef,
        input_name: MlirStringRef,
        input_text: MlirStringRef,
        sink: StringSink,
        data: *mut c_void,
    ) -> c_int;
}
