//! Dialects as data: an op is an [`OpDef`], a dialect is a [`DialectDef`], and MLIR asks both through the C++ shim.
//!
//! Most ops are written with `#[op]` of `strata-macros`; a dialect built from a table makes its `OpDef`s at start.

mod data;
mod def;
mod hooks;
mod interface;
mod register;
mod spec;
mod traits;
mod verify;
mod view;

pub use data::DataDef;
pub use def::{Arity, AttrDef, ConstantFn, DialectDef, OpDef, RegionDef, ValueDef};
pub use hooks::{Canonicalize, Fold, FoldInput, Folded, Infer, Verify, Violation};
pub use interface::{Caster, Interface, InterfaceRef};
pub(crate) use register::registered;
pub use spec::{AttrKind, AttrSpec, TypeConstraint, TypeSpec};
pub use traits::{Effects, Traits};
pub use view::{OpName, OpType};

/// The kinds of operands, results and attributes that `#[op]` fields name.
pub mod kinds {
    pub use super::spec::attrs::*;
    pub use super::spec::types::*;
}

#[doc(hidden)]
pub mod macro_support {
    pub use super::view::{attr_of, group, opt_attr_of, segments_attr};
}
