//! Ranges of numbers that bodies of stages make of indices and constants.

use crate::loops;
use crate::loops::view::{KernelView, StageView};
use strata_core::ir::{DYNAMIC, Op, Value};
use strata_core::upstream::{arith, math};

/// Operations that an index goes through at most.
const DEPTH: usize = 8;

/// The least and the largest value.
pub type Range = (i64, i64);

/// By which part of itself a bound of a float is off at most after an operation: more than f32 rounds.
const ROUNDING: f64 = 1e-6;

/// The range of a value that is made of indices and constants, if it and all it is made of fit 32 bits and their own types: then nothing
/// of it wraps around.
pub fn range(kernel: &KernelView<'_>, value: Value<'_>) -> Option<Range> {
    fits(kernel, value, DEPTH)
}

/// Whether an index is known to lie in `0..extent` at all points.
pub fn lies_inside(kernel: &KernelView<'_>, index: Value<'_>, extent: i64) -> bool {
    range(kernel, index).is_some_and(|(least, most)| least >= 0 && most < extent)
}

/// Whether a kernel loads or scatters at an index that is not known to lie inside of its tensor: then a call may fail.
pub fn may_reach_outside(kernel: &KernelView<'_>) -> bool {
    let inside = |load: &Op<'_>| {
        if load.attr("in_bounds").is_some() {
            return true;
        }
        let sizes = load.operand(0).ty().shape();
        load.operands()[1..].iter().zip(sizes).all(|(&index, size)| size != DYNAMIC && lies_inside(kernel, index, size))
    };
    let open = |op: &Op<'_>| !StageView::new(*op).is_in_bounds();
    kernel.op.find_all(loops::Load::NAME).iter().any(|load| !inside(load)) || kernel.op.find_all(loops::Scatter::NAME).iter().any(open)
}

fn fits(kernel: &KernelView<'_>, value: Value<'_>, depth: usize) -> Option<Range> {
    let op = value.defining_op()?;
    let operand = |at: usize| fits(kernel, op.operand(at), depth.checked_sub(1)?);
    let range = match op.name() {
        loops::Index::NAME => (0, kernel.static_size(usize::try_from(op.int("dim")?).ok()?)?.max(1) - 1),
        arith::Constant::NAME => (op.int("value")?, op.int("value")?),
        arith::IndexCast::NAME => operand(0)?,
        arith::FPToSI::NAME => {
            // A cast from a float saturates at 64 bits, and what does not fit 32 is no range below.
            let (low, high) = floats(kernel, op.operand(0), depth.checked_sub(1)?)?;
            (low as i64, high as i64)
        }
        arith::MinSI::NAME | arith::MaxSI::NAME => {
            let ((low, high), (other_low, other_high)) = (operand(0)?, operand(1)?);
            let choose = if op.isa::<arith::MinSI>() { i64::min } else { i64::max };
            (choose(low, other_low), choose(high, other_high))
        }
        name @ (arith::AddI::NAME | arith::SubI::NAME | arith::MulI::NAME) => {
            let ((low, high), (other_low, other_high)) = (operand(0)?, operand(1)?);
            // No product of two numbers of 32 bits overflows 64.
            match name {
                arith::AddI::NAME => (low + other_low, high + other_high),
                arith::SubI::NAME => (low - other_high, high - other_low),
                _ => {
                    let products = [low * other_low, low * other_high, high * other_low, high * other_high];
                    (*products.iter().min()?, *products.iter().max()?)
                }
            }
        }
        _ => return None,
    };
    let bits = if value.ty().is_index() { 32 } else { value.ty().element_type()?.bits().min(32) };
    let bounds = -(1i64 << (bits - 1))..=(1i64 << (bits - 1)) - 1;
    (bounds.contains(&range.0) && bounds.contains(&range.1)).then_some(range)
}

/// The range of a float of 32 or 64 bits that is made of indices and constants.
fn floats(kernel: &KernelView<'_>, value: Value<'_>, depth: usize) -> Option<(f64, f64)> {
    let op = value.defining_op()?;
    if value.ty().element_type()?.bits() < 32 {
        return None;
    }
    let operand = |at: usize| floats(kernel, op.operand(at), depth.checked_sub(1)?);
    let both = || Some((operand(0)?, operand(1)?));
    let (low, high) = match op.name() {
        arith::Constant::NAME => {
            let number = op.attr("value")?.as_float()?;
            (number, number)
        }
        arith::SIToFP::NAME => {
            let (low, high) = fits(kernel, op.operand(0), depth.checked_sub(1)?)?;
            (low as f64, high as f64)
        }
        arith::ExtF::NAME | arith::TruncF::NAME => operand(0)?,
        math::Floor::NAME => operand(0).map(|(low, high)| (low.floor(), high.floor()))?,
        math::Ceil::NAME => operand(0).map(|(low, high)| (low.ceil(), high.ceil()))?,
        math::Trunc::NAME => operand(0).map(|(low, high)| (low.trunc(), high.trunc()))?,
        arith::AddF::NAME => both().map(|(x, y)| (x.0 + y.0, x.1 + y.1))?,
        arith::SubF::NAME => both().map(|(x, y)| (x.0 - y.1, x.1 - y.0))?,
        arith::MulF::NAME => {
            let (x, y) = both()?;
            let products = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
            (products.into_iter().reduce(f64::min)?, products.into_iter().reduce(f64::max)?)
        }
        arith::MinimumF::NAME => both().map(|(x, y)| (x.0.min(y.0), x.1.min(y.1)))?,
        arith::MaximumF::NAME => both().map(|(x, y)| (x.0.max(y.0), x.1.max(y.1)))?,
        _ => return None,
    };
    // NaN is no bound: it would compare as one.
    (low.is_finite() && high.is_finite()).then_some((low - low.abs() * ROUNDING, high + high.abs() * ROUNDING))
}
