//! strata-dialects.

pub mod aten;
pub mod capture;
