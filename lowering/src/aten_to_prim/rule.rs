//! The rows of the decomposition tables.

use strata_core::ir::Value;

use super::args::Args;
use super::tensor::Tensor;

/// In which element type a decomposition computes; results are rounded to the op's declared type once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As given: each step rounds to the type of its operands.
    Exact,
    /// Halves are computed with in `f32`, everything else stays.
    Wide,
    /// Integers and bool become `f32`, floats stay.
    Float,
    /// As `Float` and `Wide`: integers, bool and halves are computed with in `f32`.
    Compute,
}

/// The decomposition of one operator.
pub struct Rule {
    /// `aten.add.Tensor`.
    pub name: &'static str,
    /// The precision of its tensor arguments.
    pub precision: Precision,
    /// The decomposition.
    pub body: Body,
}

/// A decomposition, by what it gives.
pub enum Body {
    /// A formula of the argument `self`.
    Unary(for<'c> fn(Tensor<'c>) -> Tensor<'c>),
    /// One tensor.
    One(for<'c> fn(&Args<'c>) -> Tensor<'c>),
    /// Several tensors.
    Many(for<'c> fn(&Args<'c>) -> Vec<Tensor<'c>>),
    /// A scalar value, or none where the op has no result.
    Scalar(for<'c> fn(&Args<'c>) -> Option<Value<'c>>),
}

/// A row for a formula of `self`.
pub const fn unary(name: &'static str, precision: Precision, body: for<'c> fn(Tensor<'c>) -> Tensor<'c>) -> Rule {
    Rule { name, precision, body: Body::Unary(body) }
}

/// A row for an operator with one result.
pub const fn one(name: &'static str, precision: Precision, body: for<'c> fn(&Args<'c>) -> Tensor<'c>) -> Rule {
    Rule { name, precision, body: Body::One(body) }
}

/// A row for an operator with several results.
pub const fn many(name: &'static str, precision: Precision, body: for<'c> fn(&Args<'c>) -> Vec<Tensor<'c>>) -> Rule {
    Rule { name, precision, body: Body::Many(body) }
}

/// A row for an operator with a scalar result or none.
pub const fn scalar(name: &'static str, body: for<'c> fn(&Args<'c>) -> Option<Value<'c>>) -> Rule {
    Rule { name, precision: Precision::Exact, body: Body::Scalar(body) }
}
