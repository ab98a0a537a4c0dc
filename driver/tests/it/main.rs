//! Tests of the whole compiler, from text to results.

mod calls;
mod device;
mod held;
mod infer;
mod layers;
mod mutants;
mod orders;
mod ptx;
mod sizes;
mod stablehlo;
mod torchscript;
mod train;
