//! Tests of the whole road, from text to results.

mod calls;
mod mutants;
mod ptx;
