//! Ops, dialects, diagnostics and questions on IR: `op_def.cpp`, `dialect.cpp`, `diagnostic.cpp`, `helpers.cpp`.

use mlir_sys::*;
use std::ffi::{c_int, c_void};

#[repr(C)]
pub struct StrataOpDef {
    pub name: MlirStringRef,
    pub traits: u64,
    pub effects: u64,
    pub symbol_attr: MlirStringRef,
    pub short_results: isize,
    pub num_regions: isize,
    pub num_attrs: usize,
    pub attrs: *const MlirStringRef,
    pub user: *const c_void,
    pub verify: Option<unsafe extern "C" fn(*const c_void, MlirOperation) -> bool>,
    pub verify_regions: Option<unsafe extern "C" fn(*const c_void, MlirOperation) -> bool>,
    pub fold: Option<unsafe extern "C" fn(*const c_void, MlirOperation, isize, *const MlirAttribute, *mut c_void) -> bool>,
    pub canonicalize: Option<unsafe extern "C" fn(*const c_void, MlirRewritePatternSet, MlirContext)>,
}

// SAFETY: a definition is never changed after it was built, and what it points at is leaked and `Sync`.
unsafe impl Sync for StrataOpDef {}
// SAFETY: as above.
unsafe impl Send for StrataOpDef {}

#[repr(C)]
pub struct StrataDataDef {
    pub name: MlirStringRef,
    pub num_params: usize,
    pub params: *const MlirStringRef,
    pub user: *const c_void,
    pub verify: unsafe extern "C" fn(*const c_void, isize, *const MlirAttribute, MlirStringCallback, *mut c_void) -> bool,
}

// SAFETY: a definition is never changed after it was built, and what it points at is leaked and `Sync`.
unsafe impl Sync for StrataDataDef {}
// SAFETY: as above.
unsafe impl Send for StrataDataDef {}

#[repr(C)]
pub struct StrataDialectDef {
    pub name: MlirStringRef,
    pub num_ops: usize,
    pub ops: *const StrataOpDef,
    pub num_types: usize,
    pub types: *const StrataDataDef,
    pub num_attrs: usize,
    pub attrs: *const StrataDataDef,
    pub num_dependents: usize,
    pub dependents: *const MlirStringRef,
    pub user: *const c_void,
    pub materialize: Option<unsafe extern "C" fn(*const c_void, MlirContext, MlirAttribute, MlirType, MlirLocation) -> MlirOperation>,
}

// SAFETY: a definition is never changed after it was built, and what it points at is leaked and `Sync`.
unsafe impl Sync for StrataDialectDef {}
// SAFETY: as above.
unsafe impl Send for StrataDialectDef {}

/// Dominator trees owned by C++.
#[repr(C)]
pub struct StrataDominance {
    _private: [u8; 0],
}

unsafe extern "C" {
    pub fn strata_op_def(op: MlirOperation) -> *const StrataOpDef;
    pub fn strata_op_def_by_name(context: MlirContext, name: MlirStringRef) -> *const StrataOpDef;
    pub fn strata_verify_traits(op: MlirOperation, traits: u64) -> bool;
    pub fn strata_fold_attribute(sink: *mut c_void, attribute: MlirAttribute);
    pub fn strata_fold_value(sink: *mut c_void, value: MlirValue);
    pub fn strata_fold_op(
        op: MlirOperation,
        result: unsafe extern "C" fn(*mut c_void, MlirAttribute, MlirValue),
        data: *mut c_void,
    ) -> bool;

    pub fn strata_register_dialect(registry: MlirDialectRegistry, def: *const StrataDialectDef) -> bool;
    pub fn strata_type_get(context: MlirContext, name: MlirStringRef, n: isize, params: *const MlirAttribute) -> MlirType;
    pub fn strata_attr_get(context: MlirContext, name: MlirStringRef, n: isize, params: *const MlirAttribute) -> MlirAttribute;
    pub fn strata_type_is(ty: MlirType, name: MlirStringRef) -> bool;
    pub fn strata_attr_is(attr: MlirAttribute, name: MlirStringRef) -> bool;
    pub fn strata_type_param(ty: MlirType, index: isize) -> MlirAttribute;
    pub fn strata_attr_param(attr: MlirAttribute, index: isize) -> MlirAttribute;
    pub fn strata_register_upstream(registry: MlirDialectRegistry, translations: bool);
    pub fn strata_register_upstream_passes();

    pub fn strata_emit_at_op(
        op: MlirOperation,
        severity: c_int,
        message: MlirStringRef,
        num_notes: isize,
        note_locs: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    pub fn strata_emit_at(
        location: MlirLocation,
        severity: c_int,
        message: MlirStringRef,
        num_notes: isize,
        note_locs: *const MlirLocation,
        notes: *const MlirStringRef,
    );

    pub fn strata_parse_module(context: MlirContext, source: MlirStringRef, name: MlirStringRef, signal: *mut c_int) -> MlirModule;
    pub fn strata_dominance_create(scope: MlirOperation) -> *mut StrataDominance;
    pub fn strata_dominance_destroy(dominance: *mut StrataDominance);
    pub fn strata_value_dominates(dominance: *mut StrataDominance, value: MlirValue, user: MlirOperation) -> bool;
    pub fn strata_op_properly_dominates(dominance: *mut StrataDominance, a: MlirOperation, b: MlirOperation) -> bool;
    pub fn strata_is_memory_effect_free(op: MlirOperation) -> bool;
    pub fn strata_is_speculatable(op: MlirOperation) -> bool;
    pub fn strata_is_trivially_dead(op: MlirOperation) -> bool;
    pub fn strata_has_trait(op: MlirOperation, bit: u64) -> bool;
    pub fn strata_clone_mapped(op: MlirOperation, n: isize, from: *const MlirValue, to: *const MlirValue) -> MlirOperation;
    pub fn strata_resolve_call(call: MlirOperation) -> MlirOperation;
    pub fn strata_symbol_uses(
        symbol: MlirOperation,
        from: MlirOperation,
        sink: unsafe extern "C" fn(*mut c_void, MlirOperation),
        data: *mut c_void,
    ) -> bool;
    pub fn strata_fuse_locations(context: MlirContext, n: isize, locs: *const MlirLocation) -> MlirLocation;
}
