//! Rewrite patterns: `pattern.cpp`.

use mlir_sys::*;
use std::ffi::c_void;

#[repr(C)]
pub struct StrataPatternDef {
    pub name: MlirStringRef,
    pub root: MlirStringRef,
    pub benefit: u32,
    pub user: *mut c_void,
    pub rewrite: Option<unsafe extern "C" fn(*mut c_void, MlirOperation, MlirRewriterBase) -> bool>,
    pub drop: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub struct StrataGreedyConfig {
    pub max_iterations: i64,
    pub max_rewrites: i64,
    pub top_down: bool,
    pub fold: bool,
    pub strictness: i32,
    pub simplify_regions: i32,
}

unsafe extern "C" {
    pub fn strata_add_pattern(set: MlirRewritePatternSet, def: *const StrataPatternDef);
    pub fn strata_add_canonicalization_patterns(set: MlirRewritePatternSet, op_name: MlirStringRef, context: MlirContext);
    pub fn strata_apply_greedily(op: MlirOperation, set: MlirRewritePatternSet, config: *const StrataGreedyConfig) -> i32;
    pub fn strata_walk_and_apply(op: MlirOperation, set: MlirRewritePatternSet);
}
