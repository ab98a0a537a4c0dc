//! strata-dialects.

pub mod aten;
pub mod capture;
pub mod contract;
pub mod prim;
pub mod host;
pub mod loops;
pub mod interp;
