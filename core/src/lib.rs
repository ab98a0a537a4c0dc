//! MLIR from Rust: the one crate that talks to MLIR's C and C++ API, and the only `unsafe` around it.
//!
//! Everything above speaks the safe handles of [`ir`]; dialects, passes and rewrites are defined with the other modules.

extern crate self as strata_core;

mod context_pool;
mod crash;
pub mod diagnostic;
pub mod dialect;
mod erased;
pub mod filecheck;
mod guard;
pub mod ir;
pub mod likeness;
mod limits;
pub mod pass;
pub mod plugin;
pub mod query;
pub mod registry;
pub mod remark;
pub mod rewrite;
pub mod subtarget;
pub mod tool;
pub mod upstream;

pub use context_pool::PooledContext;
pub use melior;
pub use strata_macros::{dialect_attr, dialect_type, op};
pub use tool::opt_main;

/// What a file that defines ops, passes or rewrites wants in scope.
pub mod prelude {
    pub use crate::dialect::kinds::*;
    pub use crate::dialect::{
        Canonicalize, DataDef, DialectDef, Effects, Fold, FoldInput, Folded, Infer, OpDef, OpName, OpType, Traits, Verify, Violation,
    };
    pub use crate::ensure;
    pub use crate::ir::{
        AffineExpr, AffineKind, AffineMap, Attr, Block, Builder, Context, Cx, DYNAMIC, ElementType, Location, Module, Op, OpSpec, Region,
        Type, Value,
    };
    pub use crate::pass::{Analysis, Counter, Pass, PassContext, PassEntry, PassError};
    pub use crate::rewrite::{Matched, NoMatch, Patterns, Rewriter};
    pub use crate::{dialect_attr, dialect_type, op};
}
