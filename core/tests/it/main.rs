//! Tests of `strata-core` on a toy dialect.

mod dialect;
mod pass;
mod rewrite;
mod tools;
mod toy;
