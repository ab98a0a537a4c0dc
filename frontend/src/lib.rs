//! strata-frontend.
