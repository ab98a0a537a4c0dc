//! Branches that only a call decides: `scf.if` on tensors and numbers.
//!
//! A branch is evaluated into a region of an op without results; then it is known which variables differ, and the op with results takes
//! the regions over. Where the branches leave values that no op joins, such as tensors of different ranks, and the statements behind
//! need them, these statements run in both branches.

use strata_core::ir::{self, Block, Op, OpSpec};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, scf};
use strata_dialects::aten::op;
use strata_dialects::capture;

use super::error::{Eval, Stop};
use super::evaluate::{Evaluator, Flow, Frame};
use super::join::{Join, Results};
use super::journal::Journal;
use super::text::ast::{Stmt, mentions};
use super::writes::{self, copy_into, write_back};

/// `if` of a condition that only a call knows; `rest` are the statements behind it in its block.
pub(super) fn branch<'c>(
    eval: &mut Evaluator<'_, 'c>,
    condition: ir::Value<'c>,
    branches: [&[Stmt]; 2],
    rest: &[Stmt],
    frame: &mut Frame<'c>,
) -> Eval<Flow<'c>> {
    if let Some(way) = eval.way(condition)? {
        return eval.run(branches[usize::from(!way)], frame);
    }
    let before = frame.clone();
    let found = tried(eval, |eval| match joined(eval, condition, branches, &[], (rest, frame))? {
        Some(flow) => Ok(flow),
        None => {
            *frame = before.clone();
            match joined(eval, condition, branches, rest, (&[], frame))? {
                Some(Flow::Return(value)) => Ok(Flow::Return(value)),
                _ => Ok(Flow::Through),
            }
        }
    });
    match (found, holds_of_elements(condition)) {
        (Err(stop @ (Stop::Raised(_) | Stop::Split)), _) => Err(stop),
        // What a program does without elements has other ranks now and then: such a call fails.
        (Err(stop), Some(some)) => {
            *frame = before;
            let message = "the program gives something of another type where there are no elements";
            guarded(eval, condition, usize::from(some), message, branches[usize::from(!some)], frame)
                .map_err(|other| if matches!(other, Stop::Split) { other } else { stop })
        }
        (found, _) => found,
    }
}

/// Whether a condition on a size holds where there are elements; nothing where it is none.
fn holds_of_elements(condition: ir::Value<'_>) -> Option<bool> {
    let op = condition.defining_op().filter(|op| op.isa::<arith::CmpI>())?;
    let zero = op.operand(1).defining_op().filter(|op| op.isa::<arith::Constant>())?.attr("value")?.as_int()? == 0;
    let sizes = |value: ir::Value<'_>| {
        let (mut todo, mut seen) = (vec![value], 0);
        while let Some(value) = todo.pop() {
            let Some(op) = value.defining_op() else { return false };
            seen += 1;
            match op.name() {
                name if name == op::SYM_SIZE_INT.name() || op.isa::<arith::Constant>() => {}
                arith::AddI::NAME | arith::MulI::NAME if seen < 64 => todo.extend(op.operands()),
                _ => return false,
            }
        }
        true
    };
    match op.attr("predicate")?.as_int()? {
        _ if !zero || !sizes(op.operand(0)) => None,
        predicate if predicate == arith::CmpIPredicate::Sgt as i64 || predicate == arith::CmpIPredicate::Ne as i64 => Some(true),
        predicate if predicate == arith::CmpIPredicate::Eq as i64 => Some(false),
        _ => None,
    }
}

/// Tries something: where it fails, the ops that it made are gone, and so is what was known of them.
pub(super) fn tried<'c, T>(eval: &mut Evaluator<'_, 'c>, what: impl FnOnce(&mut Evaluator<'_, 'c>) -> Eval<T>) -> Eval<T> {
    let facts = eval.facts.clone();
    let ops = |eval: &Evaluator<'_, 'c>| eval.builder.insertion_block().map(Block::ops).unwrap_or_default();
    let last = ops(eval).last().copied();
    let done = what(eval);
    if done.is_err() && !matches!(done, Err(Stop::Split)) {
        for op in ops(eval).into_iter().rev().take_while(|op| Some(*op) != last) {
            eval.builder.erase(op);
        }
        eval.facts = facts;
    }
    done
}

/// The op of an `if` whose branches both end with `tail`, or nothing where the branches leave what cannot be joined and `rest` needs it.
fn joined<'c>(
    eval: &mut Evaluator<'_, 'c>,
    condition: ir::Value<'c>,
    branches: [&[Stmt]; 2],
    tail: &[Stmt],
    (rest, frame): (&[Stmt], &mut Frame<'c>),
) -> Eval<Option<Flow<'c>>> {
    let draft = eval.builder.op(OpSpec { name: scf::If::NAME, operands: &[condition], regions: 2, ..OpSpec::default() });
    let blocks = [0, 1].map(|region| eval.builder.add_block(draft.region(region), &[]));
    let (mut frames, facts) = ([frame.clone(), frame.clone()], eval.facts.clone());
    let mut journals = [Vec::new(), Vec::new()];
    let (sized, mut shapes) = (eval.facts.shapes(), false);
    let mut ends = [0, 1].map(|place| {
        let (end, journal) = region(eval, blocks[place], |eval| match eval.run(branches[place], &mut frames[place])? {
            Flow::Next => eval.run(tail, &mut frames[place]),
            returned => Ok(returned),
        });
        journals[place] = journal;
        let shaped = eval.facts.take_shapes(sized);
        shapes |= shaped.are_around(draft);
        frames[place].variables.values_mut().for_each(|value| *value = shaped.of(value));
        end.map(|flow| if let Flow::Return(value) = flow { Flow::Return(shaped.of(&value)) } else { flow })
    });
    // A branch that raises is a condition on the call, and the other one is what happens.
    for place in [0, 1] {
        if let Err(Stop::Raised(message)) = &mut ends[place] {
            let message = std::mem::take(message);
            eval.builder.erase(draft);
            // Values of the erased branches are no more.
            eval.facts = facts;
            if let Err(Stop::Raised(_)) = ends[1 - place] {
                return Err(Stop::Raised(message));
            }
            return match guarded(eval, condition, place, &message, branches[1 - place], frame)? {
                Flow::Next => eval.run(tail, frame).map(Some),
                returned => Ok(Some(returned)),
            };
        }
    }
    let [yes, no] = ends;
    let flows = [yes?, no?];
    if shapes && matches!(flows, [Flow::Next, Flow::Next]) {
        if rest.is_empty() {
            return Err("a branch that only a call decides about changes the sizes of a tensor in place".into());
        }
        eval.builder.erase(draft);
        eval.facts = facts;
        return Ok(None);
    }
    let mut join = Join::new(blocks, &journals);
    let (joined, mut apart) = join.frames(eval, frame, &frames)?;
    apart.retain(|name| mentions(rest, name));
    let (mut places, mut places_apart) = (Vec::new(), false);
    for (place, [yes, no]) in eval.changed(&journals) {
        let held = match join.attempt_places(eval, &yes, &no)? {
            Some(held) => held,
            None => match if rest.is_empty() { join.rows(eval, &yes, &no)? } else { None } {
                Some(held) => held,
                None => {
                    places_apart = true;
                    place.apart()
                }
            },
        };
        places.push((place, held));
    }
    if matches!(flows, [Flow::Next, Flow::Next]) && !rest.is_empty() && (places_apart || !apart.is_empty()) {
        eval.builder.erase(draft);
        eval.facts = facts;
        return Ok(None);
    }
    let flow = match flows {
        [Flow::Return(yes), Flow::Return(no)] => Flow::Return(join.values(eval, &yes, &no)?),
        [Flow::Next, Flow::Next] => Flow::Next,
        _ => return Err("one branch returns, and the other goes on".into()),
    };
    let around: Vec<_> = join.pairs.iter().map(|pair| eval.facts.around(pair, draft)).collect();
    let related = [0, 1].map(|place| eval.facts.relations(&join.pairs.iter().map(|pair| pair[place]).collect::<Vec<_>>()));
    let pairs = std::mem::take(&mut join.pairs);
    let results = closed(eval, draft, condition, blocks, pairs)?;
    for (result, around) in results.iter().zip(&around) {
        eval.facts.may_view(*result, around);
    }
    related.iter().flatten().for_each(|(a, b)| eval.facts.relate(results[*a], results[*b]));
    let mut results = Results::new(results);
    for (place, value) in places {
        let value = results.fill(eval, &value);
        eval.set(&place, &value);
    }
    for (name, value) in joined {
        frame.variables.insert(name, results.fill(eval, &value));
    }
    let flow = match flow {
        Flow::Return(value) => Flow::Return(results.fill(eval, &value)),
        next => next,
    };
    results.note_copies(eval, &join);
    Ok(Some(flow))
}

/// The condition under which a branch does not raise, and the other branch in its place.
fn guarded<'c>(
    eval: &mut Evaluator<'_, 'c>,
    condition: ir::Value<'c>,
    raises: usize,
    message: &str,
    other: &[Stmt],
    frame: &mut Frame<'c>,
) -> Eval<Flow<'c>> {
    guard(eval, condition, raises, message);
    eval.run(other, frame)
}

/// The condition under which the branch of this place does not raise.
pub(super) fn guard<'c>(eval: &mut Evaluator<'_, 'c>, condition: ir::Value<'c>, raises: usize, message: &str) {
    let holds = if raises == 0 { opposite(eval, condition) } else { condition };
    let text = eval.cx.str_attr(message);
    eval.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
}

fn opposite<'c>(eval: &mut Evaluator<'_, 'c>, condition: ir::Value<'c>) -> ir::Value<'c> {
    let one = eval.builder.const_int(condition.ty(), 1);
    arith::xori(&mut eval.builder, condition, one)
}

/// The op of two branches that gives one value of each pair; what they write to tensors around them is written behind it.
pub(super) fn closed<'c>(
    eval: &mut Evaluator<'_, 'c>,
    draft: Op<'c>,
    condition: ir::Value<'c>,
    blocks: [Block<'c>; 2],
    mut pairs: Vec<[ir::Value<'c>; 2]>,
) -> Eval<Vec<ir::Value<'c>>> {
    let (count, written) = (pairs.len(), writes::written(draft, pairs.as_flattened()));
    for written in &written {
        let mut copies = Vec::new();
        for place in [0, 1] {
            let names = copy_into(eval, written, draft.region(place), blocks[place])?;
            for pair in &mut pairs {
                pair[place] = names.iter().find(|(value, _)| *value == pair[place]).map_or(pair[place], |(_, instead)| *instead);
            }
            copies.push(names[0].1);
        }
        pairs.push([copies[0], copies[1]]);
    }
    let mut results = finish(eval, draft, condition, blocks, &pairs).results();
    write_back(eval, &written, &results[count..])?;
    results.truncate(count);
    Ok(results)
}

/// Runs `body` as [`inside`] does, and undoes what it changes of values around the region; gives that, too.
pub(super) fn region<'c, T>(
    eval: &mut Evaluator<'_, 'c>,
    block: Block<'c>,
    body: impl FnOnce(&mut Evaluator<'_, 'c>) -> T,
) -> (T, Journal<'c>) {
    eval.journals.push(Vec::new());
    let result = inside(eval, block, body);
    let journal = eval.journals.pop().unwrap_or_default();
    (result, eval.undo(journal))
}

/// Runs `body` with the builder at the end of a block of a region that a call decides about. What it assigns may be read as it was before:
/// the region may not run.
pub(super) fn inside<'c, T>(eval: &mut Evaluator<'_, 'c>, block: Block<'c>, body: impl FnOnce(&mut Evaluator<'_, 'c>) -> T) -> T {
    let location = eval.builder.location();
    let outer = std::mem::replace(&mut eval.builder, Rewriter::at_end(block, location));
    let writes = eval.writes.clone();
    eval.depth += 1;
    let result = body(eval);
    eval.depth -= 1;
    eval.writes = writes;
    eval.builder = outer;
    eval.builder.set_location(location);
    result
}

/// The op with results, which takes the draft's regions over.
fn finish<'c>(
    eval: &mut Evaluator<'_, 'c>,
    draft: Op<'c>,
    condition: ir::Value<'c>,
    blocks: [Block<'c>; 2],
    pairs: &[[ir::Value<'c>; 2]],
) -> Op<'c> {
    let types: Vec<_> = pairs.iter().map(|[yes, _]| yes.ty()).collect();
    let op = eval.builder.op(OpSpec { name: scf::If::NAME, operands: &[condition], results: &types, regions: 2, ..OpSpec::default() });
    for place in [0, 1] {
        let block = eval.builder.add_block(op.region(place), &[]);
        let values: Vec<_> = pairs.iter().map(|pair| pair[place]).collect();
        let location = eval.builder.location();
        let mut builder = Rewriter::at_end(block, location);
        scf::yield_(&mut builder, &values);
        if let Some(terminator) = block.terminator() {
            builder.inline_block_before(blocks[place], terminator, &[]);
        }
    }
    eval.builder.erase(draft);
    op
}
