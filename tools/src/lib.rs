//! strata-tools.
