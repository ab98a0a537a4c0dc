//! Gradients of sorts.

use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, coordinates};

use super::rule::Rule::Linear;
use super::rule::{At, Cotangents, Row, prim_rows};

prim_rows! {
    /// `g` back to where the values stood. PyTorch: `value_selecting_reduction_backward`.
    Sort => Linear(sort);
}

fn sort<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, positions) = (at.g(), at.y(1));
    vec![Some(g.filled(Scalar::Int(0)).scatter(g, &coordinates(positions, at.dim()), &g.all_dims(), "set"))]
}
