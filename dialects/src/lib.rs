//! strata-dialects.

pub mod aten;
pub mod capture;
pub mod contract;
mod custom_call;
mod custom_gradient;
pub mod entry;
pub mod float8;
pub mod host;
pub mod loops;
pub mod numerics;
pub mod prim;
pub mod prim_builder;
pub mod target;
