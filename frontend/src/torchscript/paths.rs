//! Programs whose branches leave what no op joins, for whoever calls the function around them: the rest of the whole program is evaluated
//! in both branches of an `if`.
//!
//! A program is evaluated again from its beginning for each way that it takes at such a place, and what it makes before the place is made
//! already: these ops are taken for those of the first evaluation. Evaluations are alike, since nothing but the text and the ways taken
//! decides about one. A loop whose steps leave what it cannot carry is such a place too: it takes a first step or none, and so on.

use strata_core::ir::{self, Block, Op, OpSpec};
use strata_core::upstream::{arith, scf};

use super::control::{closed, guard};
use super::entry::Call;
use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::facts::Facts;
use super::join::leaves;
use super::state;
use super::value::Value;

/// How often a program is evaluated.
const MAX_EVALUATIONS: u32 = 400;
/// Ops that are made by all evaluations but the first.
const MAX_OPS: u64 = 20_000;
/// Steps of a loop that are evaluated one by one where it cannot carry what they leave; a call with more fails.
pub(super) const MAX_STEPS_OF_LOOP: i64 = 16;

/// The way that an evaluation takes through the places where only a call decides; these are counted in its order.
#[derive(Default)]
pub(super) struct Paths<'c> {
    /// The ways taken, by the place.
    ways: Vec<(usize, bool)>,
    /// The place that the evaluation ends at, and the condition there.
    end: Option<usize>,
    condition: Option<ir::Value<'c>>,
    /// Places met.
    met: usize,
    /// Conditions that hold or do not on this way.
    known: Vec<(ir::Value<'c>, bool)>,
    evaluations: u32,
    ops: u64,
}

impl<'c> Paths<'c> {
    /// Those of another evaluation.
    pub fn again(&self, ways: &[(usize, bool)], end: Option<usize>, ops: u64) -> Self {
        let ops = if self.evaluations > 1 { self.ops + ops } else { 0 };
        Self { ways: ways.to_vec(), end, evaluations: self.evaluations + 1, ops, ..Self::default() }
    }

    /// Whether a condition is known to hold or not: it was met before, or those that it is made of were.
    fn holds(&self, condition: ir::Value<'c>, depth: u32) -> Option<bool> {
        if let Some((_, way)) = self.known.iter().find(|(known, _)| alike(*known, condition, 0)) {
            return Some(*way);
        }
        if depth > 16 {
            return None;
        }
        // One of several that all but one do not hold.
        let is_last = |(known, way): &(ir::Value<'c>, bool)| {
            *way && either(*known).is_some_and(|[a, b]| {
                let last = |one, other| alike(one, condition, 0) && self.holds(other, depth + 1) == Some(false);
                last(a, b) || last(b, a)
            })
        };
        if self.known.iter().any(is_last) {
            return Some(true);
        }
        let [a, b] = either(condition)?.map(|part| self.holds(part, depth + 1));
        if a == Some(true) || b == Some(true) { Some(true) } else { Some(false).filter(|_| a.is_some() && b.is_some()) }
    }

    /// Notes which way is taken at a condition.
    fn note(&mut self, condition: ir::Value<'c>, way: bool) {
        self.known.push((condition, way));
        if let (Some(parts), false) = (either(condition), way) {
            parts.into_iter().for_each(|part| self.note(part, false));
        }
    }

    fn is_spent(&self) -> bool {
        self.evaluations >= MAX_EVALUATIONS || self.ops >= MAX_OPS
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// Whether a condition holds on the way that this evaluation takes; nothing where both branches are to be evaluated here.
    pub fn way(&mut self, condition: ir::Value<'c>) -> Eval<Option<bool>> {
        if self.depth > 0 {
            return Ok(None);
        }
        let paths = &mut self.paths;
        if let Some(way) = paths.holds(condition, 0) {
            return Ok(Some(way));
        }
        let here = paths.met;
        paths.met += 1;
        if let Some((_, way)) = paths.ways.iter().find(|(place, _)| *place == here) {
            let way = *way;
            paths.note(condition, way);
            return Ok(Some(way));
        }
        if paths.end == Some(here) {
            paths.condition = Some(condition);
            return Err(Stop::Split);
        }
        Ok(None)
    }

    /// Whether a condition holds, where an evaluation goes one way only.
    pub fn decided(&mut self, condition: &Value<'c>, why: &str) -> Eval<bool> {
        match self.truth(condition)? {
            Value::Bool(holds) => Ok(holds),
            Value::Number(condition) => self.way(condition)?.ok_or_else(|| Stop::Here(why.to_owned())),
            other => Err(format!("{} is no condition", other.kind()).into()),
        }
    }
}

/// The two conditions of which either holds where this one does.
fn either(condition: ir::Value<'_>) -> Option<[ir::Value<'_>; 2]> {
    let op = condition.defining_op().filter(|op| op.isa::<arith::OrI>())?;
    Some([op.operand(0), op.operand(1)])
}

/// Whether two numbers are computed alike.
fn alike(a: ir::Value<'_>, b: ir::Value<'_>, depth: u32) -> bool {
    if a == b {
        return true;
    }
    let (Some(of_a), Some(of_b)) = (a.defining_op(), b.defining_op()) else { return false };
    depth < 16
        && a.index() == b.index()
        && of_a.dialect() == "arith"
        && of_a.name() == of_b.name()
        && of_a.attrs() == of_b.attrs()
        && a.ty() == b.ty()
        && of_a.num_operands() == of_b.num_operands()
        && of_a.operands().into_iter().zip(of_b.operands()).all(|(a, b)| alike(a, b, depth + 1))
}

/// Evaluates a program at the end of a block, on the ways given; where that fails, both ways from the last place on that helps.
pub(super) fn followed<'c>(
    eval: &mut Evaluator<'_, 'c>,
    block: Block<'c>,
    ways: &[(usize, bool)],
    run: &dyn Fn(&mut Evaluator<'_, 'c>) -> Eval<Call<'c>>,
) -> Eval<Call<'c>> {
    let last = block.ops().last().copied();
    eval.restart(block, ways, None);
    let stop = match run(eval) {
        Err(stop @ (Stop::Here(_) | Stop::Refused(_))) => eval.placed::<()>(Err(stop)).err().unwrap_or(Stop::Split),
        done => return done,
    };
    for place in (ways.last().map_or(0, |(place, _)| place + 1)..eval.paths.met).rev() {
        if eval.paths.is_spent() {
            break;
        }
        erase_behind(eval, block, last);
        eval.restart(block, ways, Some(place));
        match run(eval) {
            Err(Stop::Split) => {}
            _ => continue,
        }
        match both(eval, block, last, (ways, place), run) {
            Err(Stop::Here(_) | Stop::Refused(_) | Stop::Split) => {}
            done => return done,
        }
    }
    Err(stop)
}

/// Both ways from a place on, up to which the program stands in the block.
fn both<'c>(
    eval: &mut Evaluator<'_, 'c>,
    block: Block<'c>,
    last: Option<Op<'c>>,
    (ways, place): (&[(usize, bool)], usize),
    run: &dyn Fn(&mut Evaluator<'_, 'c>) -> Eval<Call<'c>>,
) -> Eval<Call<'c>> {
    let condition = eval.paths.condition.take().ok_or("it is evaluated otherwise")?;
    let before = behind(block, last);
    let draft = eval.builder.op(OpSpec { name: scf::If::NAME, operands: &[condition], regions: 2, ..OpSpec::default() });
    let blocks = [0, 1].map(|region| eval.builder.add_block(draft.region(region), &[]));
    let mut calls = Vec::new();
    for (inner, way) in blocks.into_iter().zip([true, false]) {
        let ways = [ways, &[(place, way)]].concat();
        calls.push(match followed(eval, inner, &ways, run) {
            Ok(mut call) => {
                taken(eval, &before, inner, &mut call)?;
                Ok(call)
            }
            Err(Stop::Raised(message)) => Err(message),
            Err(stop) => return Err(stop),
        });
    }
    eval.go_to_end(block);
    let [yes, no]: [Result<Call<'c>, String>; 2] = calls.try_into().map_err(|_| "there are two ways")?;
    let (call, way, message) = match (yes, no) {
        (Ok(yes), Ok(no)) => return joined(eval, draft, condition, blocks, [yes, no]),
        (Err(message), Err(_)) => return Err(Stop::Raised(message)),
        (Ok(call), Err(message)) => (call, 0, message),
        (Err(message), Ok(call)) => (call, 1, message),
    };
    // A way that raises is a condition on the call.
    guard(eval, condition, 1 - way, &message);
    let guards = behind(block, Some(draft));
    for op in &guards {
        eval.builder.move_before(*op, draft);
    }
    eval.builder.inline_block_before(blocks[way], draft, &[]);
    eval.builder.erase(draft);
    Ok(call)
}

/// Has a block use what was made before it, in the place of what the evaluation made again.
fn taken<'c>(eval: &mut Evaluator<'_, 'c>, before: &[Op<'c>], block: Block<'c>, call: &mut Call<'c>) -> Eval<()> {
    let again = block.ops();
    if again.len() < before.len() {
        return Err("it is evaluated otherwise a second time".into());
    }
    let again = &again[..before.len()];
    for (first, second) in before.iter().zip(again) {
        if first.name() != second.name() || first.result_types() != second.result_types() || first.operands() != second.operands() {
            return Err("it is evaluated otherwise a second time".into());
        }
        for (first, second) in first.results().into_iter().zip(second.results()) {
            eval.builder.replace_uses(second, first);
            call.0.iter_mut().filter(|(value, _)| *value == second).for_each(|(value, _)| *value = first);
        }
    }
    again.iter().rev().for_each(|op| eval.builder.erase(*op));
    Ok(())
}

/// One call of two: what they give, and what they leave.
fn joined<'c>(
    eval: &mut Evaluator<'_, 'c>,
    draft: Op<'c>,
    condition: ir::Value<'c>,
    blocks: [Block<'c>; 2],
    [yes, no]: [Call<'c>; 2],
) -> Eval<Call<'c>> {
    eval.facts = Facts::default();
    if yes.1 != no.1 {
        return Err("its results are of other kinds or lengths for other calls".into());
    }
    let held = |value: ir::Value<'c>| if value.ty().is_tensor() { Value::Tensor(value) } else { Value::Number(value) };
    let mut pairs = Vec::new();
    for ((yes, _), (no, _)) in yes.0.iter().zip(&no.0) {
        pairs.push(leaves(eval, &held(*yes), &held(*no), blocks)?);
    }
    let values = closed(eval, draft, condition, blocks, pairs)?;
    let results = values.into_iter().zip(yes.0).map(|(value, (_, output))| (value, output)).collect();
    Ok((results, yes.1, state::either(yes.2, no.2)?))
}

/// The ops of a block behind one of them.
fn behind<'c>(block: Block<'c>, last: Option<Op<'c>>) -> Vec<Op<'c>> {
    let mut ops: Vec<_> = block.ops().into_iter().rev().take_while(|op| Some(*op) != last).collect();
    ops.reverse();
    ops
}

fn erase_behind<'c>(eval: &mut Evaluator<'_, 'c>, block: Block<'c>, last: Option<Op<'c>>) {
    behind(block, last).into_iter().rev().for_each(|op| eval.builder.erase(op));
}

/// Has a call fail that takes more steps of a loop than are evaluated one by one.
pub(super) fn at_most<'c>(eval: &mut Evaluator<'_, 'c>, more: ir::Value<'c>) {
    let message = format!("a loop takes more than {MAX_STEPS_OF_LOOP} steps, and what they leave cannot be carried from step to step");
    guard(eval, more, 0, &message);
}
