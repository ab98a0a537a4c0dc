//! Long bodies in parts (`distribute` in a stage's schedule): loop distribution, strip by strip.
//!
//! A processor has some hundred instructions in flight. One turn of a loop whose body is a chain of many functions is longer than that, so
//! each instruction waits for the one before it. Cut into parts, of which each is a loop of its own over a strip of vectors, turns of the
//! same part run beside each other:
//!
//! ```text
//! for strip { for i in strip { t[i] = sin(x[i]) }  for i in strip { t[i] = exp(t[i]) }  for i in strip { y[i] = cos(t[i]) } }
//! ```
//!
//! What a part leaves for later ones is in memory for one strip, in the core's own cache. Only arithmetic is cut: parts that touch neither
//! operands nor results compute whole vectors, also where the last one of a row is not full, and need no masks.

use super::Error;
use super::emitter::Emitter;
use super::lanes::in_lanes;
use super::memory;
use super::nest::{Body, Copy, Loop, Tail};
use crate::num::Num;
use std::collections::HashMap;
use std::rc::Rc;
use strata_core::ir::{Op, Value};
use strata_core::upstream::arith;
use strata_dialects::loops;
use strata_dialects::loops::view::StageView;

/// A part of a body.
pub(crate) struct Part<'c> {
    /// Its ops, and the constants that they use.
    pub ops: Vec<Op<'c>>,
    /// Values of earlier parts.
    pub takes: Vec<Value<'c>>,
    /// Values that later parts take.
    pub leaves: Vec<Value<'c>>,
    /// Whether it reads operands, or yields.
    touches_memory: bool,
}

/// The parts of a stage's body, cut before the ops of these numbers; nothing where it cannot be cut so.
pub(crate) fn parts<'c>(stage: &StageView<'c>, cuts: &[i64]) -> Option<Vec<Part<'c>>> {
    let block = stage.op.body(0);
    let (ops, args) = (block.ops(), block.args());
    let ends: Vec<usize> = cuts.iter().map(|&cut| cut as usize).chain([ops.len()]).collect();
    let ascending = ends.windows(2).all(|pair| pair[0] < pair[1]) && ends[0] > 0;
    if cuts.is_empty() || !ascending || !ops.iter().all(|&op| is_arithmetic(op)) {
        return None;
    }
    let part_of: HashMap<_, _> =
        ops.iter().enumerate().flat_map(|(at, op)| op.results().into_iter().map(move |result| (result, at))).collect();
    let number = |at: usize| ends.partition_point(|&end| end <= at);
    let mut parts: Vec<Part<'c>> = Vec::new();
    for end in &ends {
        let begin = parts.len().checked_sub(1).map_or(0, |last| ends[last]);
        let mut part = Part { ops: Vec::new(), takes: Vec::new(), leaves: Vec::new(), touches_memory: *end == ops.len() };
        for &op in ops[begin..*end].iter().filter(|op| !is_repeated(**op)) {
            for operand in op.operands() {
                match part_of.get(&operand) {
                    Some(&at) if is_repeated(ops[at]) => {
                        if !part.ops.contains(&ops[at]) {
                            part.ops.push(ops[at]);
                        }
                    }
                    Some(&at) if at < begin => {
                        if !part.takes.contains(&operand) {
                            part.takes.push(operand);
                        }
                        let leaves = &mut parts[number(at)].leaves;
                        if !leaves.contains(&operand) {
                            leaves.push(operand);
                        }
                    }
                    Some(_) => {}
                    None => part.touches_memory |= args.contains(&operand),
                }
            }
            part.ops.push(op);
        }
        parts.push(part);
    }
    Some(parts)
}

/// Whether an op may be computed for lanes that are not there.
fn is_arithmetic(op: Op<'_>) -> bool {
    let divides = matches!(
        op.name(),
        arith::DivSI::NAME
            | arith::DivUI::NAME
            | arith::RemSI::NAME
            | arith::RemUI::NAME
            | arith::FloorDivSI::NAME
            | arith::CeilDivSI::NAME
            | arith::CeilDivUI::NAME
    );
    (matches!(op.dialect(), "arith" | "math") && !divides) || op.isa::<loops::Index>() || op.isa::<loops::Yield>()
}

/// Whether an op is written again in each part that uses it.
pub(crate) fn is_repeated(op: Op<'_>) -> bool {
    op.isa::<arith::Constant>() || op.isa::<loops::Index>()
}

/// The stage that is being written in parts.
pub(crate) struct Distribution<'c> {
    /// The dim that lanes run along.
    dim: usize,
    /// Elements of a strip.
    strip: i64,
    parts: Rc<Vec<Part<'c>>>,
    /// Where a strip of each value is that one part leaves to another.
    places: HashMap<Value<'c>, Value<'c>>,
    /// The part that is being written, and where its strip begins.
    at: Option<(usize, Num<'c>)>,
}

impl<'c> Emitter<'c> {
    /// How a stage is distributed whose lanes run along a dim, if its schedule says so.
    pub(super) fn distribution(&mut self, stage: &StageView<'c>, lanes: Option<usize>) -> Option<Distribution<'c>> {
        let schedule = stage.schedule();
        let (cuts, strip, dim) = (schedule.distribute?, schedule.strip?, lanes?);
        let kept = stage.guarded.contains(&true) || stage.scan.is_some() || stage.is_scatter() || !stage.spread.is_empty();
        let reduces_in_turn = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg")) || schedule.outer_reduction.is_some();
        if kept || reduces_in_turn || self.cooperative.is_some() || self.has_instruction(stage) {
            return None;
        }
        let parts = parts(stage, &cuts)?;
        let mut places: HashMap<Value<'c>, Value<'c>> = HashMap::new();
        let mut free: Vec<(usize, Value<'c>)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            // A turn takes what is there before it leaves its own in the same place.
            let done = part.takes.iter().filter(|value| !parts[at + 1..].iter().any(|later| later.takes.contains(value)));
            free.extend(done.filter_map(|value| Some((value.ty().element_type()?.bytes(), places[value]))));
            for &value in &part.leaves {
                let element = value.ty().element_type()?;
                let bytes = element.bytes();
                let place = match free.iter().position(|(size, _)| *size == bytes) {
                    Some(at) => free.swap_remove(at).1,
                    None => self.scratch(stage.op, element, strip).ok()?,
                };
                places.insert(value, place);
            }
        }
        Some(Distribution { dim, strip, parts: Rc::new(parts), places, at: None })
    }

    /// Whether a loop, the innermost one of a nest, is to be written strip by strip.
    pub(super) fn distributes(&self, lp: &Loop<'c>, copies: &[Copy<'c>]) -> bool {
        let fits = |to: &Distribution<'c>| to.at.is_none() && to.dim == lp.dim && to.strip % (lp.width * lp.unroll) == 0;
        copies.len() == 1 && lp.width > 1 && lp.tail == Tail::Loop && self.distribution.as_ref().is_some_and(fits)
    }

    /// Writes such a loop: one over strips, in it a loop for each part.
    pub(super) fn strips(
        &mut self,
        lp: &Loop<'c>,
        copies: &[Copy<'c>],
        carried: Vec<Value<'c>>,
        body: &mut Body<'_, 'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let Some((strip, parts)) = self.distribution.as_ref().map(|to| (to.strip, Rc::clone(&to.parts))) else { return Ok(carried) };
        let (begin, end) = lp.range;
        let whole = lp.length.is_some_and(|length| length % strip == 0);
        let step = Num::Const(lp.width * lp.unroll);
        let carried = self.repeat(begin, end, strip, carried, &mut |emitter, start, mut carried| {
            let full = start.add(&mut emitter.b, Num::Const(strip));
            let stop = if whole { full } else { full.min(&mut emitter.b, end) };
            let length = stop.sub(&mut emitter.b, start);
            let rounded = length.ceil_div(&mut emitter.b, step).mul(&mut emitter.b, step);
            let rounded = start.add(&mut emitter.b, rounded);
            for (at, part) in parts.iter().enumerate() {
                emitter.part_from(Some((at, start)));
                let lp = match part.touches_memory {
                    true => Loop { range: (start, stop), length: whole.then_some(strip), ..*lp },
                    false => Loop { range: (start, rounded), length: None, tail: Tail::None, ..*lp },
                };
                if at + 1 < parts.len() {
                    emitter.nest(&[lp], copies, Vec::new(), body)?;
                } else {
                    carried = emitter.nest(&[lp], copies, carried, body)?;
                }
            }
            emitter.part_from(None);
            Ok(carried)
        })?;
        Ok(carried)
    }

    fn part_from(&mut self, at: Option<(usize, Num<'c>)>) {
        if let Some(to) = &mut self.distribution {
            to.at = at;
        }
    }

    /// The number of the part that is being written, if it is not the whole body.
    pub(super) fn part_now(&self) -> Option<(Rc<Vec<Part<'c>>>, usize)> {
        let to = self.distribution.as_ref()?;
        Some((Rc::clone(&to.parts), to.at?.0))
    }

    /// What earlier parts left for a copy.
    pub(super) fn take(&mut self, part: &Part<'c>, copy: &Copy<'c>, known: &mut HashMap<Value<'c>, Value<'c>>) {
        for &value in &part.takes {
            let Some((place, index)) = self.left_at(value, copy) else { continue };
            let Some(element) = value.ty().element_type() else { continue };
            known.insert(value, memory::load_vector(&mut self.b, place, index, element, self.width, None));
        }
    }

    /// Leaves what later parts need of a copy.
    pub(super) fn leave(&mut self, part: &Part<'c>, copy: &Copy<'c>, known: &HashMap<Value<'c>, Value<'c>>) {
        for value in &part.leaves {
            let Some((place, index)) = self.left_at(*value, copy) else { continue };
            let Some(element) = value.ty().element_type() else { continue };
            let lanes = in_lanes(&mut self.b, known[value], self.width);
            memory::store_vector(&mut self.b, place, index, lanes, element, None);
        }
    }

    /// Where the lanes of a copy lie in a value's strip.
    fn left_at(&mut self, value: Value<'c>, copy: &Copy<'c>) -> Option<(Value<'c>, Num<'c>)> {
        let to = self.distribution.as_ref()?;
        let (place, dim, (_, start)) = (*to.places.get(&value)?, to.dim, to.at?);
        Some((place, copy.point[dim]?.base.sub(&mut self.b, start)))
    }
}
