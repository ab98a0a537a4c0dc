//! The rows of the decomposition tables.

use strata_core::ir::Value;
use strata_dialects::aten::Operator;
use strata_dialects::prim_builder::Tensor;

use super::args::Args;

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
    /// The operator.
    pub operator: Operator,
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
pub const fn unary(operator: Operator, precision: Precision, body: for<'c> fn(Tensor<'c>) -> Tensor<'c>) -> Rule {
    Rule { operator, precision, body: Body::Unary(body) }
}

/// A row for an operator with one result.
pub const fn one(operator: Operator, precision: Precision, body: for<'c> fn(&Args<'c>) -> Tensor<'c>) -> Rule {
    Rule { operator, precision, body: Body::One(body) }
}

/// A row for an operator with several results.
pub const fn many(operator: Operator, precision: Precision, body: for<'c> fn(&Args<'c>) -> Vec<Tensor<'c>>) -> Rule {
    Rule { operator, precision, body: Body::Many(body) }
}

/// A row for an operator with a scalar result or none.
pub const fn scalar(operator: Operator, body: for<'c> fn(&Args<'c>) -> Option<Value<'c>>) -> Rule {
    Rule { operator, precision: Precision::Exact, body: Body::Scalar(body) }
}
