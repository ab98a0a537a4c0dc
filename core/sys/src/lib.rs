//! Raw declarations of the C++ shim in `shim/`: MLIR's extension points as a C ABI.
//!
//! `shim/strata.h` documents every item; this file mirrors it. The safe API is `strata-core`.
#![allow(missing_docs, reason = "documented in shim/strata.h, which this mirrors name by name")]

mod conversion;
mod dialect;
mod pass;
mod pattern;
mod remark;
mod tools;

pub use conversion::*;
pub use dialect::*;
pub use pass::*;
pub use pattern::*;
pub use remark::*;
pub use tools::*;
