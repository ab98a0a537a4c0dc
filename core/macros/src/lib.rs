//! strata-macros.
