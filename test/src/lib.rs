//! strata-test.
