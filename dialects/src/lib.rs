//! strata-dialects.

pub mod aten;
