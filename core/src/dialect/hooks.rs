//! What an op may do besides being data: verify, fold, canonicalize, infer its types.

use crate::ir::{Attr, Cx, Op, Type, Value};
use crate::rewrite::Patterns;
use std::borrow::Cow;

/// A broken rule of an op, with the number it has in the op's documentation (`C1`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Violation {
    /// Number of the constraint; 0 for those that hold for every op.
    pub constraint: u32,
    /// What is wrong and what would be right.
    pub message: Cow<'static, str>,
}

impl Violation {
    /// A violation of constraint `C<constraint>`.
    pub fn new(constraint: u32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { constraint, message: message.into() }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.constraint {
            0 => formatter.write_str(&self.message),
            number => write!(formatter, "C{number}: {}", self.message),
        }
    }
}

/// Returns a [`Violation`] of a numbered constraint unless a condition holds: `ensure!(ok, 2, "dims {dims:?} repeat")`.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $constraint:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::dialect::Violation::new($constraint, format!($($message)+)));
        }
    };
}

/// An op's own checks; counts, types, attribute kinds and traits were checked before.
pub trait Verify {
    /// Reports the first broken constraint.
    fn verify(self) -> Result<(), Violation>;
}

/// What a fold knows: the op's operands where they are constants.
pub struct FoldInput<'a, 'c> {
    /// One entry per operand.
    pub constants: &'a [Option<Attr<'c>>],
}

/// What an op folds to, per result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded<'c> {
    /// A constant of the result's type.
    Attr(Attr<'c>),
    /// A value that exists already.
    Value(Value<'c>),
}

/// Folding. It may not create ops.
pub trait Fold<'c> {
    /// One entry per result, none at all when the op was changed in place; `None` when nothing folds.
    fn fold(self, input: FoldInput<'_, 'c>) -> Option<Vec<Folded<'c>>>;
}

/// Canonicalization patterns, run by `--canonicalize`.
pub trait Canonicalize {
    /// Adds them.
    fn canonicalize(patterns: &mut Patterns<'_>);
}

/// Result types from operands and attributes.
pub trait Infer {
    /// The types of all results.
    fn infer<'c>(cx: Cx<'c>, operands: &[Value<'c>], attrs: &[(&str, Attr<'c>)]) -> Result<Vec<Type<'c>>, Violation>;
}

pub(crate) type FoldFn = for<'c> fn(Op<'c>, FoldInput<'_, 'c>) -> Option<Vec<Folded<'c>>>;
pub(crate) type CanonicalizeFn = fn(&mut Patterns<'_>);
pub(crate) type InferFn = for<'c> fn(Cx<'c>, &[Value<'c>], &[(&str, Attr<'c>)]) -> Result<Vec<Type<'c>>, Violation>;
