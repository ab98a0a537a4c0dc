//! strata-lowering.
