//! Tests of the whole road, from text to results.

mod calls;
mod device;
mod layers;
mod mutants;
mod orders;
mod ptx;
mod sizes;
