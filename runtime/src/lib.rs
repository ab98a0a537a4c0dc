//! strata-runtime.
