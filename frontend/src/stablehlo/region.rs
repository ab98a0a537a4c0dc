//! Regions of scalars: applied to whole tensors, or asked for an order.

use strata_core::ir::{self, Block, Op};
use strata_dialects::aten::Scalar;

use super::attributes::word;
use super::importer::{Importer, scalar};

/// The block of a region.
pub(super) fn block<'s>(op: Op<'s>, place: usize) -> Result<Block<'s>, String> {
    op.regions().get(place).and_then(|region| region.entry()).ok_or_else(|| format!("it has no region {place}"))
}

/// The name of the only op of a region, where it reads the region's arguments in their order.
pub(super) fn only_op<'s>(block: Block<'s>) -> Option<&'s str> {
    let ops = block.ops();
    let [inner, last] = ops[..] else { return None };
    (inner.operands() == block.args() && last.operands() == inner.results()).then(|| inner.name().trim_start_matches("stablehlo."))
}

/// Applies a region of scalars to each element of tensors: its ops are pointwise, so they take tensors as they take numbers.
pub(super) fn apply<'s, 'c>(m: &mut Importer<'_, 's, 'c>, block: Block<'s>, args: &[ir::Value<'c>]) -> Result<Vec<ir::Value<'c>>, String> {
    let outer = std::mem::replace(&mut m.elementwise, true);
    let results = m.block(block, args);
    m.elementwise = outer;
    results.map_err(|error| error.to_string())
}

/// What a region of comparisons gives for these arguments; nothing where it does anything else.
pub(super) fn compared(block: Block<'_>, args: &[f64]) -> Option<Vec<f64>> {
    let mut known: Vec<_> = block.args().into_iter().zip(args.iter().copied()).collect();
    for op in block.ops() {
        let of = |operand: ir::Value<'_>| {
            let found = known.iter().find(|(value, _)| *value == operand).map(|(_, number)| *number);
            // Numbers may stand around the region.
            found.or_else(|| number(operand.defining_op().filter(|op| op.name() == "stablehlo.constant")?))
        };
        let operands = op.operands().into_iter().map(of).collect::<Option<Vec<_>>>()?;
        if op.next().is_none() {
            return Some(operands);
        }
        let truth = |holds: bool| f64::from(u8::from(holds));
        let number = match (op.name().trim_start_matches("stablehlo."), &operands[..]) {
            ("constant", []) => number(op)?,
            ("compare", [x, y]) => truth(holds(op, *x, *y)?),
            ("select", [which, x, y]) => {
                if *which != 0.0 {
                    *x
                } else {
                    *y
                }
            }
            ("and", [x, y]) => truth(*x != 0.0 && *y != 0.0),
            ("or", [x, y]) => truth(*x != 0.0 || *y != 0.0),
            ("xor", [x, y]) => truth((*x != 0.0) != (*y != 0.0)),
            ("not", [x]) => truth(*x == 0.0),
            _ => return None,
        };
        known.push((op.result(0), number));
    }
    None
}

/// The truth value that a region of comparisons gives for these arguments.
pub(super) fn answer(block: Block<'_>, args: &[f64]) -> Option<bool> {
    compared(block, args)?.first().map(|result| *result != 0.0)
}

/// The number of a constant of one element.
fn number(op: Op<'_>) -> Option<f64> {
    let (bytes, _) = op.attr("value").filter(|_| op.result(0).ty().rank() == 0)?.as_dense()?;
    match scalar(op.result(0).ty().element_type()?, &bytes)? {
        Scalar::Bool(value) => Some(f64::from(u8::from(value))),
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        _ => None,
    }
}

/// Whether a comparison is of the total order, in which zeros have signs, and NaN is more than all others.
pub(super) fn is_total(op: Op<'_>) -> bool {
    word(op, "compare_type", &["TOTALORDER"]).is_some()
}

/// A comparison of two numbers.
fn holds(op: Op<'_>, x: f64, y: f64) -> Option<bool> {
    let order = if is_total(op) { Some(x.total_cmp(&y)) } else { x.partial_cmp(&y) };
    Some(match word(op, "comparison_direction", &["EQ", "GE", "GT", "LE", "LT", "NE"])? {
        "EQ" => order.is_some_and(|order| order.is_eq()),
        "GE" => order.is_some_and(|order| order.is_ge()),
        "GT" => order.is_some_and(|order| order.is_gt()),
        "LE" => order.is_some_and(|order| order.is_le()),
        "LT" => order.is_some_and(|order| order.is_lt()),
        _ => order.is_none_or(|order| order.is_ne()),
    })
}
