//! strata-driver.
