//! strata-dialects.
