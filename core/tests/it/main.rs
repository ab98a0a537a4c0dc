//! Tests of `strata-core` on a toy dialect.

mod conversion;
mod dialect;
mod pass;
mod query;
mod rewrite;
mod tools;
mod toy;
