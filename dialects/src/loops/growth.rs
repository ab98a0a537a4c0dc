//! How fast indices grow that bodies compute: resampling reads `floor(i * 0.5)`, which neighbours along `i` have in common or nearly so.

use super::view::is_index;
use strata_core::ir::Value;
use strata_core::upstream::{arith, math};

/// Operations that an index goes through at most.
const DEPTH: usize = 16;

/// By how much a value grows in the mean from one point along a dim to the next, where it is made of the index by sums, differences,
/// products with constants, roundings and bounds. A bound that holds makes it grow less.
pub fn growth(value: Value<'_>, dim: usize) -> Option<f64> {
    slope(value, dim, DEPTH)
}

fn slope(value: Value<'_>, dim: usize, depth: usize) -> Option<f64> {
    let op = value.defining_op()?;
    let of = |at: usize| slope(op.operand(at), dim, depth.checked_sub(1)?);
    let constant = |at: usize| {
        let value = op.operand(at).defining_op().filter(|op| op.isa::<arith::Constant>())?.attr("value")?;
        value.as_float().or(value.as_int().map(|value| value as f64))
    };
    Some(match op.name() {
        _ if is_index(value, dim) => 1.0,
        crate::loops::Index::NAME | arith::Constant::NAME => 0.0,
        arith::IndexCast::NAME | arith::SIToFP::NAME | arith::FPToSI::NAME | arith::ExtF::NAME | arith::TruncF::NAME => of(0)?,
        arith::ExtSI::NAME | arith::TruncI::NAME | math::Floor::NAME | math::Ceil::NAME | math::Trunc::NAME => of(0)?,
        arith::AddF::NAME | arith::AddI::NAME => of(0)? + of(1)?,
        arith::SubF::NAME | arith::SubI::NAME => of(0)? - of(1)?,
        arith::MulF::NAME | arith::MulI::NAME => match (constant(0), constant(1)) {
            (_, Some(factor)) => of(0)? * factor,
            (Some(factor), _) => of(1)? * factor,
            _ => return None,
        },
        arith::DivF::NAME | arith::DivSI::NAME | arith::FloorDivSI::NAME => of(0)? / constant(1)?,
        arith::MinSI::NAME | arith::MaxSI::NAME | arith::MinimumF::NAME | arith::MaximumF::NAME => f64::max(of(0)?, of(1)?),
        _ => return None,
    })
}

/// Constants that indices are compared by: with dims of fewer than 2^60 elements, sums of these do not wrap around.
const LARGEST_CONSTANT: u64 = 1 << 32;

/// By how much a value grows from each point along a dim to the next, where it is made of indices and constants alone by sums and differences.
pub fn step(value: Value<'_>, dim: usize) -> Option<i64> {
    exact(value, dim, DEPTH)
}

fn exact(value: Value<'_>, dim: usize, depth: usize) -> Option<i64> {
    let op = value.defining_op()?;
    let of = |at: usize| exact(op.operand(at), dim, depth.checked_sub(1)?);
    match op.name() {
        crate::loops::Index::NAME => Some(i64::from(is_index(value, dim))),
        arith::Constant::NAME => op.int("value").filter(|number| number.unsigned_abs() < LARGEST_CONSTANT).map(|_| 0),
        arith::IndexCast::NAME => of(0),
        arith::AddI::NAME => Some(of(0)? + of(1)?),
        arith::SubI::NAME => Some(of(0)? - of(1)?),
        _ => None,
    }
}
