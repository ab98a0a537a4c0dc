//! MLIR's remark engine: `remark.cpp`.

use mlir_sys::*;

unsafe extern "C" {
    pub fn strata_has_remark_engine(location: MlirLocation) -> bool;
    pub fn strata_remark_missed(
        location: MlirLocation,
        category: MlirStringRef,
        name: MlirStringRef,
        function: MlirStringRef,
        reason: MlirStringRef,
    );
}
