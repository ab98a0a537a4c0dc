//! Dialect conversion: `conversion.cpp`.

use mlir_sys::*;
use std::ffi::c_void;

/// A type converter owned by C++.
#[repr(C)]
pub struct StrataTypeConverter {
    _private: [u8; 0],
}

/// A conversion target owned by C++.
#[repr(C)]
pub struct StrataTarget {
    _private: [u8; 0],
}

pub type DropFn = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
pub struct StrataConversionPatternDef {
    pub name: MlirStringRef,
    pub root: MlirStringRef,
    pub benefit: u32,
    pub user: *mut c_void,
    pub rewrite: Option<unsafe extern "C" fn(*mut c_void, MlirOperation, isize, *const MlirValue, *const isize, MlirRewriterBase) -> bool>,
    pub drop: Option<DropFn>,
}

unsafe extern "C" {
    pub fn strata_type_converter_create() -> *mut StrataTypeConverter;
    pub fn strata_type_converter_destroy(converter: *mut StrataTypeConverter);
    pub fn strata_type_converter_add(
        converter: *mut StrataTypeConverter,
        user: *mut c_void,
        drop: Option<DropFn>,
        convert: unsafe extern "C" fn(*mut c_void, MlirType, *mut c_void) -> i32,
    );
    pub fn strata_push_type(sink: *mut c_void, ty: MlirType);
    pub fn strata_type_converter_materialize(
        converter: *mut StrataTypeConverter,
        kind: i32,
        user: *mut c_void,
        drop: Option<DropFn>,
        build: unsafe extern "C" fn(*mut c_void, MlirType, isize, *const MlirValue, MlirLocation) -> MlirOperation,
    );
    pub fn strata_convert_type(
        converter: *mut StrataTypeConverter,
        ty: MlirType,
        sink: unsafe extern "C" fn(*mut c_void, MlirType),
        data: *mut c_void,
    ) -> bool;
    pub fn strata_is_legal_signature(converter: *mut StrataTypeConverter, op: MlirOperation) -> bool;

    pub fn strata_target_create(context: MlirContext) -> *mut StrataTarget;
    pub fn strata_target_destroy(target: *mut StrataTarget);
    pub fn strata_target_dialect(target: *mut StrataTarget, dialect: MlirStringRef, action: i32);
    pub fn strata_target_op(target: *mut StrataTarget, op: MlirStringRef, action: i32);
    pub fn strata_target_dynamic(
        target: *mut StrataTarget,
        op: MlirStringRef,
        user: *mut c_void,
        drop: Option<DropFn>,
        legal: unsafe extern "C" fn(*mut c_void, MlirOperation) -> i32,
    );
    pub fn strata_target_recursively_legal(target: *mut StrataTarget, op: MlirStringRef);

    pub fn strata_add_conversion_pattern(
        set: MlirRewritePatternSet,
        converter: *mut StrataTypeConverter,
        def: *const StrataConversionPatternDef,
    );
    pub fn strata_add_function_conversion(set: MlirRewritePatternSet, converter: *mut StrataTypeConverter, op_name: MlirStringRef);
    pub fn strata_add_structural_conversion(set: MlirRewritePatternSet, converter: *mut StrataTypeConverter, target: *mut StrataTarget);
    pub fn strata_convert_region_types(rewriter: MlirRewriterBase, region: MlirRegion, converter: *mut StrataTypeConverter) -> bool;
    pub fn strata_replace_with_multiple(rewriter: MlirRewriterBase, op: MlirOperation, offsets: *const isize, values: *const MlirValue);
    pub fn strata_apply_conversion(op: MlirOperation, target: *mut StrataTarget, set: MlirRewritePatternSet, full: bool) -> bool;
}
