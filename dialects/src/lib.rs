//! strata-dialects.

pub mod aten;
pub mod capture;
pub mod contract;
pub mod entry;
pub mod float8;
pub mod host;
pub mod loops;
pub mod numerics;
pub mod prim;
pub mod prim_builder;
pub mod target;
