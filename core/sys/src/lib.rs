//! strata-core-sys.
