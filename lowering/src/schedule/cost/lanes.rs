//! What one point of a stage costs with lanes along one dim or another.

use crate::emit::complex_lanes;
use std::collections::HashSet;
use strata_core::ir::{AffineMap, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, distance, share_inside, stride, varying};
use strata_dialects::loops::growth::{growth, step};
use strata_dialects::loops::view::{KernelView, StageView, is_index};

/// Copies of a body side by side: a sum can be added to after four cycles, and what is loaded for it takes two loads in a cycle each.
pub const COPIES_FOR_LATENCY: i64 = 4;

/// Storing one element somewhere, in loads of one: more than such a load, since what is loaded can be turned in registers.
const SCATTERED_STORE: f64 = 1.25;

/// The same where the place is computed, and nothing is known of it: each lane is taken out, and stored by itself.
const LANE_STORE: f64 = 4.0;

/// A lane of a gather whose lanes read near each other: a load and a permutation for all (`emit/near.rs`).
const NEAR_LOAD: f64 = 0.25;

/// Elements that neighbours in a gather are apart in the mean, at most, to be near: those of two registers are one permutation.
const MOST_GROWTH: f64 = 2.0;

/// Lanes at most of elements that lie apart in memory: squares of them are turned in registers, and others are shuffled or loaded one by one. A
/// transposed copy of 1500x1237 bytes takes a Zen 4 63 us with so many, and 101 with twice as many.
const MOST_APART: i64 = 32;

/// What an operation saves that is the same in all lanes: CPUs begin four of scalars in a cycle and two of vectors.
const UNIFORM: f64 = 0.5;

/// Lanes along a dim that fit a register for the widest element of the kernel that differs between them; one where bodies have no vector
/// form.
pub fn lanes(kernel: &KernelView<'_>, dim: usize, vector_bits: i64) -> i64 {
    kernel.stages.iter().map(|stage| stage_lanes(stage, dim, vector_bits)).min().unwrap_or(1)
}

/// Bits of the widest element of a kernel that differs between lanes along a dim.
pub fn lane_bits(kernel: &KernelView<'_>, dim: usize) -> i64 {
    kernel.stages.iter().filter_map(|stage| stage_bits(stage, dim)).max().unwrap_or(8)
}

/// Lanes along a dim that fit a register for the widest element of a stage that differs between them.
pub fn stage_lanes(stage: &StageView<'_>, dim: usize, vector_bits: i64) -> i64 {
    let most = if lies_in_rows(stage, dim) { i64::MAX } else { MOST_APART };
    stage_bits(stage, dim).map_or(1, |bits| (vector_bits / bits).clamp(1, most))
}

/// Whether a stage reads and stores neighbours in memory along a dim, or what is the same in all lanes.
fn lies_in_rows(stage: &StageView<'_>, dim: usize) -> bool {
    let stored = !stage.is_scatter() && (!stage.reduce.is_empty() || stage.result_dims().last() == Some(&dim));
    let beside = |(operand, map): (Value<'_>, &AffineMap<'_>)| matches!(stride(*map, operand, dim), Stride::Zero | Stride::One);
    let gathers = |op: &Op<'_>| op.isa::<loops::Load>();
    stored && stage.op.operands().into_iter().zip(&stage.maps).all(beside) && !stage.op.body(0).ops().iter().any(gathers)
}

/// Bits of the widest element of a stage that differs between lanes along a dim; none where its body has no vector form. What is the same in all
/// lanes, the index of a row that is gathered, stays a scalar.
fn stage_bits(stage: &StageView<'_>, dim: usize) -> Option<i64> {
    let body = stage.op.body(0);
    let mut widest = 8;
    if body.args().iter().any(|arg| arg.ty().element_type().is_none()) || stage.segments && stage.parts_of().contains(&dim) {
        return None;
    }
    let varying = varying(stage, dim);
    for op in body.ops() {
        let types: Vec<_> = op.result_types().into_iter().chain(op.operand_types()).collect();
        if op.dialect() == "complex" && !complex_lanes::has_lanes(op) {
            return None;
        }
        // An index that is loaded is one at once: several registers hold its lanes, as those of a computed one.
        if op.isa::<arith::IndexCast>() && op.result(0).ty().is_index() {
            continue;
        }
        // Numbers of lanes are compared with a bound, in as few bits as there are (`emit/compared.rs`).
        if serves_comparisons(op, &varying, dim) {
            continue;
        }
        // What stands in lanes on one side of an op does so on the other.
        if !op.isa::<loops::Yield>() && !op.results().iter().any(|result| varying.contains(result)) {
            continue;
        }
        widest = types
            .into_iter()
            .filter(|ty| !ty.is_index() && !ty.is_tensor())
            .filter_map(|ty| ty.element_type())
            .map(|element| i64::from(element.bits()))
            .fold(widest, i64::max);
    }
    Some(widest)
}

/// Whether an index, or what is computed of indices, grows or falls by one along a dim.
fn steps(value: Value<'_>, dim: usize) -> bool {
    step(value, dim).is_some_and(|step| step.abs() == 1)
}

/// Whether an op compares what steps along a dim with what is the same at all its points.
fn is_compared<'c>(op: Op<'c>, varying: &HashSet<Value<'c>>, dim: usize) -> bool {
    let same = |value| !varying.contains(&value) || step(value, dim) == Some(0);
    let [lhs, rhs] = op.operands()[..] else { return false };
    CmpIPredicate::of(op).is_some_and(|predicate| !predicate.is_unsigned())
        && (steps(lhs, dim) && same(rhs) || same(lhs) && steps(rhs, dim))
}

/// Whether an op is such a comparison, or gives a value that steps and that only such comparisons are made of.
fn serves_comparisons<'c>(op: Op<'c>, varying: &HashSet<Value<'c>>, dim: usize) -> bool {
    let serves = |value: &Value<'c>| steps(*value, dim) && value.uses().into_iter().all(|using| serves_comparisons(using.op, varying, dim));
    is_compared(op, varying, dim) || op.results().iter().any(serves)
}

/// How a load of a body moves along a dim.
fn load_stride<'c>(load: Op<'c>, varying: &HashSet<Value<'c>>, dim: usize) -> Stride {
    match moving_index(load, varying) {
        Moving::None => Stride::Zero,
        Moving::Last(index) if is_index(index, dim) => Stride::One,
        _ => Stride::Other,
    }
}

/// Which indices of a load move along a dim.
enum Moving<'c> {
    /// None.
    None,
    /// The last one alone, along the rows.
    Last(Value<'c>),
    /// Others.
    Others,
}

fn moving_index<'c>(load: Op<'c>, varying: &HashSet<Value<'c>>) -> Moving<'c> {
    let indices = &load.operands()[1..];
    let moving: Vec<_> = indices.iter().filter(|index| varying.contains(index)).collect();
    match moving.as_slice() {
        [] => Moving::None,
        [index] if Some(*index) == indices.last() => Moving::Last(**index),
        _ => Moving::Others,
    }
}

/// Loads of a body for one point along a dim, in loads of one element.
fn load_cost<'c>(load: Op<'c>, varying: &HashSet<Value<'c>>, dim: usize, access: impl Fn(Stride) -> f64) -> f64 {
    let is_near = |index| growth(index, dim).is_some_and(|growth| (0.0..=MOST_GROWTH).contains(&growth));
    match moving_index(load, varying) {
        Moving::Last(index) if !is_index(index, dim) && is_near(index) => NEAR_LOAD.min(access(Stride::Other)),
        _ => access(load_stride(load, varying, dim)),
    }
}

/// Whether a load of a body takes each lane along a dim from a place of its own. Others are one vector, or one element for all lanes.
pub fn is_gather<'c>(stage: &StageView<'c>, load: Op<'c>, dim: usize) -> bool {
    load_stride(load, &varying(stage, dim), dim) == Stride::Other
}

/// The relative time of one point of a stage with lanes along a dim.
pub fn cost(stage: &StageView<'_>, lanes: Option<usize>, width: i64, size: i64) -> f64 {
    let body = stage.op.body(0).ops().len() as f64 + combined(stage);
    let Some(dim) = lanes else { return 1.0 + body + across_lines(stage) };
    let in_order = stage.is_scatter() && !stage.parallel().contains(&dim);
    if in_order || stage.scan == Some(dim) || !stage.domain.contains(&dim) || stage.parts_of().contains(&dim) {
        return 1.0 + body;
    }
    // Lanes that are used of those that are there.
    let used = (size as f64 / (size as f64 / width as f64).ceil()).max(1.0);
    let varying = varying(stage, dim);
    let uniform =
        |op: &Op<'_>| op.num_operands() > 0 && op.num_results() > 0 && !op.results().iter().any(|result| varying.contains(result));
    let scalar = stage.op.body(0).ops().iter().filter(|op| uniform(op)).count() as f64;
    let mut total = (body - UNIFORM * scalar) / used;
    let access = |stride: Stride| match stride {
        Stride::Zero => 0.1,
        Stride::One => 1.0 / used,
        Stride::Other => 1.0,
    };
    // Every second or every fourth element comes by vectors and shuffles, and what lies beyond an end by a loop of its own.
    let operands = stage.op.operands().into_iter().zip(&stage.maps);
    let reads = operands.enumerate().map(|(at, (operand, map))| {
        // Of what is concatenated one piece is read.
        let share = if stage.guarded[at] { share_inside(stage, at) } else { 1.0 };
        share
            * match distance(*map, operand, dim) {
                Some(step @ (2 | 4)) => (step as f64 / used).min(1.0),
                _ => access(stride(*map, operand, dim)),
            }
    });
    total += reads.sum::<f64>();
    let loads = stage.op.body(0).ops().into_iter().filter(|op| op.isa::<loops::Load>());
    total += loads.map(|load| load_cost(load, &varying, dim, access)).sum::<f64>();
    if stage.reduce.is_empty() {
        let scatter = stage.is_scatter();
        let contiguous = if scatter { writes_rows(stage, &varying, dim) } else { stage.result_dims().last() == Some(&dim) };
        let combines = stage.op.str("kind").is_some_and(|kind| kind != "set");
        let results = stage.op.num_results() as f64;
        total += results
            * match (contiguous, scatter) {
                (true, _) => 1.0 / used,
                // What a scan has for a lane is not turned in registers: it is stored before the next is known.
                (false, false) if stage.scan.is_some() => LANE_STORE,
                (false, false) => SCATTERED_STORE,
                (false, true) => LANE_STORE + if combines { access(Stride::Other) } else { 0.0 },
            };
    }
    total
}

/// Instructions of a reducer that is more than one: an exponential function and a logarithm.
fn combined(stage: &StageView<'_>) -> f64 {
    const EXP_AND_LOG: f64 = 24.0;
    if stage.op.str("reducer").as_deref() == Some("logaddexp") { EXP_AND_LOG } else { 0.0 }
}

/// What a scatter loses without lanes: the loops along which its iterations are independent stand around the others, and what lies side by
/// side along one of them is read across lines.
fn across_lines(stage: &StageView<'_>) -> f64 {
    if !stage.is_scatter() {
        return 0.0;
    }
    let parallel = stage.parallel();
    let across = |(operand, map): (Value<'_>, &AffineMap<'_>)| parallel.iter().any(|&dim| stride(*map, operand, dim) == Stride::One);
    stage.op.operands().into_iter().zip(&stage.maps).filter(|(operand, map)| across((*operand, map))).count() as f64
}

/// Whether a stage is a scatter that writes the elements of a row side by side along a dim.
pub fn scatters_rows(stage: &StageView<'_>, dim: usize) -> bool {
    stage.is_scatter() && writes_rows(stage, &varying(stage, dim), dim)
}

/// Whether a scatter writes the elements of a row side by side along a dim, given the values that vary along it.
fn writes_rows<'c>(stage: &StageView<'c>, varying: &HashSet<Value<'c>>, dim: usize) -> bool {
    let mut indices = stage.op.body(0).terminator().map(|op| op.operands()).unwrap_or_default();
    indices.pop(); // The update.
    let last = indices.pop();
    last.is_some_and(|last| is_index(last, dim)) && !indices.iter().any(|index| varying.contains(index))
}

/// The best dim for lanes inside a stage, with its cost.
pub fn own_dim(kernel: &KernelView<'_>, stage: &StageView<'_>, vector_bits: i64, size: &dyn Fn(usize) -> i64) -> (Option<usize>, f64) {
    let none = (None, cost(stage, None, 1, 1));
    let yielded = stage.op.body(0).terminator().and_then(|op| op.operands().first().copied());
    let bits = yielded.and_then(|value| value.ty().element_type()).map_or(0, |element| element.bits());
    let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    if (arg && (bits < 8 || stage.reduce.len() > 1)) || stage.scan.is_some() || stage.is_scatter() {
        return none;
    }
    let inner = stage.domain.iter().copied().filter(|dim| !kernel.outer.contains(dim));
    inner
        .map(|dim| (Some(dim), cost(stage, Some(dim), lanes(kernel, dim, vector_bits), size(dim))))
        .fold(none, |best, next| if next.1 < best.1 { next } else { best })
}

/// Copies of a body that are worth writing: accumulators and chains of mathematics wait for their own results. Very long chains
/// get fewer, for the sake of compile time. Functions of the same value share work, and count as one. Copies of a gather or
/// scatter share its row, and those of a scan wait for different elements.
pub fn side_by_side(stage: &StageView<'_>) -> i64 {
    if stage.is_scatter() || stage.scan.is_some() {
        return COPIES_FOR_LATENCY;
    }
    let functions = stage.op.body(0).ops().into_iter().filter(|op| op.dialect() == "math");
    let gathers = stage.op.body(0).ops().iter().any(|op| op.isa::<loops::Load>());
    match functions.map(|op| op.operands()).collect::<HashSet<_>>().len() {
        0 | 1 if stage.reduce.is_empty() && !gathers => 1,
        0..=8 => COPIES_FOR_LATENCY,
        _ => COPIES_FOR_LATENCY / 2,
    }
}
