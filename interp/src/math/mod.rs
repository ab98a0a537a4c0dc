//! Special functions, from their defining series and integrals.

pub mod airy;
pub mod bessel;
pub mod erf;
pub mod gamma;
mod ldl;
pub mod matrix;
pub mod philox;
pub mod polynomial;
pub mod quantile;
