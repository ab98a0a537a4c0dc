//! What one point of a stage costs with lanes along one dim or another.

use std::collections::HashSet;
use strata_core::ir::ElementType;
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::view::{KernelView, StageView};

/// Copies of a body side by side: a sum can be added to after four cycles, and what is loaded for it takes two loads in a cycle each.
pub const COPIES_FOR_LATENCY: i64 = 4;

/// Storing one element somewhere, in loads of one: more than such a load, since what is loaded can be turned in registers.
const SCATTERED_STORE: f64 = 1.25;

/// Lanes that fit a register for the widest element of the kernel; one where bodies have no vector form.
pub fn lanes(kernel: &KernelView<'_>, vector_bits: i64) -> i64 {
    kernel.stages.iter().map(|stage| stage_lanes(stage, vector_bits)).min().unwrap_or(1)
}

/// Lanes that fit a register for the widest element of a stage.
pub fn stage_lanes(stage: &StageView<'_>, vector_bits: i64) -> i64 {
    let body = stage.op.body(0);
    let mut widest = 8;
    for op in body.ops() {
        let types: Vec<_> = op.result_types().into_iter().chain(op.operand_types()).collect();
        // A gather of complex numbers has no operator on them, but its result.
        let complex = types.iter().filter_map(|ty| ty.element_type()).any(ElementType::is_complex);
        if complex || op.dialect() == "complex" {
            return 1;
        }
        widest = types
            .into_iter()
            .filter(|ty| !ty.is_index() && !ty.is_tensor())
            .filter_map(|ty| ty.element_type())
            .map(|element| i64::from(element.bits()))
            .fold(widest, i64::max);
    }
    for arg in body.args() {
        match arg.ty().element_type() {
            Some(element) if element.is_complex() => return 1,
            Some(element) => widest = widest.max(i64::from(element.bits())),
            None => return 1,
        }
    }
    (vector_bits / widest).clamp(1, 32)
}

/// The relative time of one point of a stage with lanes along a dim.
pub fn cost(stage: &StageView<'_>, lanes: Option<usize>, width: i64, size: i64) -> f64 {
    let body = stage.op.body(0).ops().len() as f64;
    let Some(dim) = lanes else { return 1.0 + body };
    let numbers_pieces = stage.chunk.is_some_and(|chunk| chunk.by == dim);
    if stage.is_scatter() || stage.scan == Some(dim) || !stage.domain.contains(&dim) || numbers_pieces {
        return 1.0 + body;
    }
    // Lanes that are used of those that are there.
    let used = (size as f64 / (size as f64 / width as f64).ceil()).max(1.0);
    let mut total = body / used;
    for (operand, map) in stage.op.operands().into_iter().zip(&stage.maps) {
        total += match stride(*map, operand, dim) {
            Stride::Zero => 0.1,
            Stride::One => 1.0 / used,
            Stride::Other => 1.0,
        };
    }
    let loads = stage.op.body(0).ops().iter().filter(|op| op.isa::<loops::Load>()).count();
    total += loads as f64 * 0.5;
    if stage.reduce.is_empty() {
        let contiguous = stage.result_dims().last() == Some(&dim);
        total += if contiguous { 1.0 / used } else { SCATTERED_STORE };
    }
    total
}

/// The best dim for lanes inside a stage, with its cost.
pub fn own_dim(kernel: &KernelView<'_>, stage: &StageView<'_>, width: i64, size: &dyn Fn(usize) -> i64) -> (Option<usize>, f64) {
    let none = (None, cost(stage, None, width, 1));
    let yielded = stage.op.body(0).terminator().and_then(|op| op.operands().first().copied());
    let bits = yielded.and_then(|value| value.ty().element_type()).map_or(0, |element| element.bits());
    let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    if (arg && (bits < 8 || stage.reduce.len() > 1)) || stage.scan.is_some() || stage.is_scatter() {
        return none;
    }
    let inner = stage.domain.iter().copied().filter(|dim| !kernel.outer.contains(dim));
    inner
        .map(|dim| (Some(dim), cost(stage, Some(dim), width, size(dim))))
        .fold(none, |best, next| if next.1 < best.1 { next } else { best })
}

/// Copies of a body that are worth writing: accumulators and chains of mathematics wait for their own results. Very long chains
/// get fewer, for the sake of compile time. Functions of the same value share work, and count as one.
pub fn side_by_side(stage: &StageView<'_>) -> i64 {
    let functions = stage.op.body(0).ops().into_iter().filter(|op| op.dialect() == "math");
    match functions.map(|op| op.operands()).collect::<HashSet<_>>().len() {
        0 | 1 if stage.reduce.is_empty() => 1,
        0..=8 => COPIES_FOR_LATENCY,
        _ => COPIES_FOR_LATENCY / 2,
    }
}
