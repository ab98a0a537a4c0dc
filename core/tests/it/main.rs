//! Tests of `strata-core` on a toy dialect.

mod dialect;
mod toy;
