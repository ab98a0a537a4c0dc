//! Tests of the whole road, from text to results.

mod calls;
mod device;
mod mutants;
mod ptx;
