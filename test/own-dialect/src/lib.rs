//! The dialect `sat` and a pass on it, for tools that link them and for those that load them.

pub mod dialect;
pub mod drop_zero;

use strata_core::prelude::*;

strata_core::dialect_plugin!(c"own-dialect", [&dialect::SAT]);
strata_core::pass_plugin!(c"own-dialect", [PassEntry::of::<drop_zero::DropZero>()]);
