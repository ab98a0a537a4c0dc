//! strata-passes.
