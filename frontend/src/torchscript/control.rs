//! Branches that only a call decides: `scf.if` on tensors and numbers.
//!
//! A branch is evaluated into a region of an op without results; then it is known which variables differ, and the op with results takes
//! the regions over. Where the branches leave values that no op joins, such as tensors of different ranks, and the statements behind
//! need them, these statements run in both branches.

use std::collections::BTreeSet;

use strata_core::ir::{self, Block, DYNAMIC, Op, OpSpec, Region, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, scf};
use strata_dialects::aten::{Input, Size, op};
use strata_dialects::capture;

use super::error::{Eval, Stop};
use super::evaluate::{Evaluator, Flow, Frame};
use super::journal::Journal;
use super::text::ast::{Stmt, mentions};
use super::value::{Object, Shared, Value};
use super::writes;
use crate::types::widened;

/// `if` of a condition that only a call knows; `rest` are the statements behind it in its block.
pub(super) fn branch<'c>(
    eval: &mut Evaluator<'_, 'c>,
    condition: ir::Value<'c>,
    branches: [&[Stmt]; 2],
    rest: &[Stmt],
    frame: &mut Frame<'c>,
) -> Eval<Flow<'c>> {
    let before = frame.clone();
    match joined(eval, condition, branches, &[], (rest, frame))? {
        Some(flow) => Ok(flow),
        None => {
            *frame = before;
            let flow = joined(eval, condition, branches, rest, (&[], frame))?;
            Ok(match flow {
                Some(Flow::Return(value)) => Flow::Return(value),
                _ => Flow::Through,
            })
        }
    }
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
    let (mut frames, numbers) = ([frame.clone(), frame.clone()], eval.numbers.clone());
    let mut journals = [Vec::new(), Vec::new()];
    let mut ends = [0, 1].map(|place| {
        let (end, journal) = region(eval, blocks[place], |eval| match eval.run(branches[place], &mut frames[place])? {
            Flow::Next => eval.run(tail, &mut frames[place]),
            returned => Ok(returned),
        });
        journals[place] = journal;
        end
    });
    // A branch that raises is a condition on the call, and the other one is what happens.
    for place in [0, 1] {
        if let Err(Stop::Raised(message)) = &mut ends[place] {
            let message = std::mem::take(message);
            eval.builder.erase(draft);
            // Values of the erased branches are no more.
            eval.numbers = numbers;
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
    let mut pairs = Vec::new();
    let (joined, mut apart) = join_frames(eval, frame, &frames, blocks, &mut pairs)?;
    apart.retain(|name| mentions(rest, name));
    let (mut places, mut places_apart) = (Vec::new(), false);
    for (place, [yes, no]) in eval.changed(journals) {
        let count = pairs.len();
        match join(eval, &yes, &no, blocks, &mut pairs) {
            Ok(value) => places.push((place, value)),
            Err(Stop::Here(_)) => {
                pairs.truncate(count);
                places_apart = true;
                let held = place.apart();
                places.push((place, held));
            }
            Err(stop) => return Err(stop),
        }
    }
    if matches!(flows, [Flow::Next, Flow::Next]) && !rest.is_empty() && (places_apart || !apart.is_empty()) {
        eval.builder.erase(draft);
        eval.numbers = numbers;
        return Ok(None);
    }
    let flow = match flows {
        [Flow::Return(yes), Flow::Return(no)] => Flow::Return(join(eval, &yes, &no, blocks, &mut pairs)?),
        [Flow::Next, Flow::Next] => Flow::Next,
        _ => return Err("one branch returns, and the other goes on".into()),
    };
    let written = writes::written(draft)?;
    for value in &written {
        let copies = [0, 1].map(|place| copy_into(eval, *value, draft.region(place), blocks[place]));
        let [yes, no] = copies;
        pairs.push([yes?, no?]);
    }
    let op = finish(eval, draft, condition, blocks, &pairs);
    let results = op.results();
    write_back(eval, &written, &results[pairs.len() - written.len()..])?;
    for (place, value) in places {
        let value = fill(eval, &value, &results);
        eval.set(&place, &value);
    }
    for (name, value) in joined {
        frame.variables.insert(name, fill(eval, &value, &results));
    }
    Ok(Some(match flow {
        Flow::Return(value) => Flow::Return(fill(eval, &value, &results)),
        next => next,
    }))
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
    let holds = if raises == 0 {
        let one = eval.builder.const_int(condition.ty(), 1);
        arith::xori(&mut eval.builder, condition, one)
    } else {
        condition
    };
    let text = eval.cx.str_attr(message);
    eval.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
    eval.run(other, frame)
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

/// A copy of a tensor in a region, which reads and writes the copy from now on.
fn copy_into<'c>(eval: &mut Evaluator<'_, 'c>, value: ir::Value<'c>, region: Region<'c>, block: Block<'c>) -> Eval<ir::Value<'c>> {
    let first = block.first_op();
    let copy = inside(eval, block, |eval| {
        if let Some(first) = first {
            eval.builder.go_before(first);
        }
        eval.build(op::CLONE.schema(), &[Some(Input::Tensor(value))])
    })?;
    let Value::Tensor(copy) = copy else { return Err("it is no tensor".into()) };
    use_instead(eval, value, copy, region);
    Ok(copy)
}

/// Has a region use another value, but for the op that makes that of it.
pub(super) fn use_instead<'c>(eval: &mut Evaluator<'_, 'c>, value: ir::Value<'c>, instead: ir::Value<'c>, region: Region<'c>) {
    let maker = instead.defining_op();
    let within = |op: Op<'c>| {
        let mut block = op.block();
        while let Some(at) = block {
            if at.parent_region() == Some(region) {
                return true;
            }
            block = at.parent_op().and_then(Op::block);
        }
        false
    };
    eval.builder.replace_uses_if(value, instead, |using| Some(using.op) != maker && within(using.op));
}

/// Writes what regions give back to the tensors that they wrote to.
pub(super) fn write_back<'c>(eval: &mut Evaluator<'_, 'c>, written: &[ir::Value<'c>], results: &[ir::Value<'c>]) -> Eval<()> {
    for (value, result) in written.iter().zip(results) {
        eval.build(op::COPY_.schema(), &[Some(Input::Tensor(*value)), Some(Input::Tensor(*result))])?;
    }
    Ok(())
}

/// Runs `body` with the builder at the end of a block of a region that a call decides about.
pub(super) fn inside<'c, T>(eval: &mut Evaluator<'_, 'c>, block: Block<'c>, body: impl FnOnce(&mut Evaluator<'_, 'c>) -> T) -> T {
    let location = eval.builder.location();
    let outer = std::mem::replace(&mut eval.builder, Rewriter::at_end(block, location));
    eval.depth += 1;
    let result = body(eval);
    eval.depth -= 1;
    eval.builder = outer;
    eval.builder.set_location(location);
    result
}

/// Variables and what they hold.
type Variables<'c> = Vec<(String, Value<'c>)>;

/// The variables after a branch that are not those before it, joined; and the names of those that cannot be.
fn join_frames<'c>(
    eval: &mut Evaluator<'_, 'c>,
    before: &Frame<'c>,
    frames: &[Frame<'c>; 2],
    blocks: [Block<'c>; 2],
    pairs: &mut Vec<[ir::Value<'c>; 2]>,
) -> Eval<(Variables<'c>, Vec<String>)> {
    let names: BTreeSet<&String> = frames[0].variables.keys().collect();
    let (mut joined, mut apart) = (Vec::new(), Vec::new());
    for name in names {
        let (yes, Some(no)) = (&frames[0].variables[name], frames[1].variables.get(name)) else { continue };
        let unchanged = before.variables.get(name).is_some_and(|old| old.same(yes) && old.same(no));
        if !unchanged {
            // What cannot be joined is an error for whoever reads it, and mostly nobody does.
            let count = pairs.len();
            match join(eval, yes, no, blocks, pairs) {
                Ok(value) => joined.push((name.clone(), value)),
                Err(Stop::Here(_)) => {
                    pairs.truncate(count);
                    joined.push((name.clone(), Value::Apart));
                    apart.push(name.clone());
                }
                Err(stop) => return Err(stop),
            }
        }
    }
    Ok((joined, apart))
}

/// One value of two: what differs becomes a result of the op, a pair of what the branches give.
fn join<'c>(
    eval: &mut Evaluator<'_, 'c>,
    yes: &Value<'c>,
    no: &Value<'c>,
    blocks: [Block<'c>; 2],
    pairs: &mut Vec<[ir::Value<'c>; 2]>,
) -> Eval<Value<'c>> {
    if yes.same(no) && !matches!(yes, Value::Tensor(_) | Value::Number(_)) {
        return Ok(yes.clone());
    }
    let mut each = |eval: &mut Evaluator<'_, 'c>, a: &[Value<'c>], b: &[Value<'c>]| {
        if a.len() != b.len() {
            return Err(Stop::Here("the branches give lists of different lengths".to_owned()));
        }
        a.iter().zip(b).map(|(a, b)| join(eval, a, b, blocks, pairs)).collect::<Eval<Vec<_>>>()
    };
    match (yes, no) {
        (Value::Tuple(a), Value::Tuple(b)) => Ok(Value::Tuple(each(eval, a, b)?.into())),
        (Value::List(a), Value::List(b)) => Ok(Value::List(Shared::new(eval.depth, each(eval, &a.borrow(), &b.borrow())?))),
        (Value::Dict(a), Value::Dict(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            if a.len() != b.len() || !a.iter().zip(b.iter()).all(|((a, _), (b, _))| a.same(b)) {
                return Err("the branches give dicts with different keys".into());
            }
            let values = |items: &[(Value<'c>, Value<'c>)]| items.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
            let values = each(eval, &values(&a), &values(&b))?;
            Ok(eval.dict(a.iter().map(|(key, _)| key.clone()).zip(values).collect()))
        }
        (Value::Object(a), Value::Object(b)) if a.class == b.class && a.path.is_empty() && b.path.is_empty() => {
            let (a_attrs, b_attrs) = (a.attrs.borrow(), b.attrs.borrow());
            let values = |items: &[(String, Value<'c>)]| items.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
            let values = each(eval, &values(&a_attrs), &values(&b_attrs))?;
            let attrs = a_attrs.iter().map(|(name, _)| name.clone()).zip(values).collect();
            Ok(Value::Object(Object { class: a.class.clone(), path: String::new(), attrs: Shared::new(eval.depth, attrs) }.into()))
        }
        (a, b) => {
            let pair = leaves(eval, a, b, blocks)?;
            pairs.push(pair);
            Ok(Value::Slot(pairs.len() - 1))
        }
    }
}

/// Two values of one type at the ends of the branches.
fn leaves<'c>(eval: &mut Evaluator<'_, 'c>, a: &Value<'c>, b: &Value<'c>, blocks: [Block<'c>; 2]) -> Eval<[ir::Value<'c>; 2]> {
    let values = [a, b];
    let mut found = [None, None];
    for place in [0, 1] {
        found[place] = match values[place] {
            Value::Tensor(tensor) => Some(*tensor),
            value => inside(eval, blocks[place], |eval| eval.as_number(value)),
        };
    }
    // What raises leaves its variables open: anything of the other's type stands for them.
    for place in [0, 1] {
        if let (Value::Uninitialized, Some(other)) = (values[place], found[1 - place]) {
            found[place] = Some(inside(eval, blocks[place], |eval| anything(eval, other.ty()))?);
        }
    }
    let [Some(mut a_value), Some(mut b_value)] = found else {
        return Err(format!("the branches give {} and {}", a.kind(), b.kind()).into());
    };
    // A float beside an int is a float.
    let float = eval.cx.f64();
    if b_value.ty() == float && a_value.ty().is_index() {
        a_value = inside(eval, blocks[0], |eval| crate::import::floats::to_float(&mut eval.builder, a_value)).ok_or("it is no number")?;
    }
    if a_value.ty() == float && b_value.ty().is_index() {
        b_value = inside(eval, blocks[1], |eval| crate::import::floats::to_float(&mut eval.builder, b_value)).ok_or("it is no number")?;
    }
    let ty = widened(a_value.ty(), b_value.ty())?;
    let mut fitted = [a_value, b_value];
    for place in [0, 1] {
        if fitted[place].ty() != ty {
            fitted[place] = inside(eval, blocks[place], |eval| eval.retyped(fitted[place], ty))?;
        }
    }
    Ok(fitted)
}

/// A value of a type that nobody reads.
fn anything<'c>(eval: &mut Evaluator<'_, 'c>, ty: Type<'c>) -> Eval<ir::Value<'c>> {
    if ty.is_index() {
        return Ok(eval.builder.const_index(0));
    }
    if ty == eval.cx.f64() {
        return Ok(eval.builder.const_float(ty, 0.0));
    }
    let Some(dtype) = ty.element_type().filter(|_| ty.is_tensor()) else { return Ok(eval.builder.const_int(ty, 0)) };
    let sizes = ty.shape().into_iter().map(|size| Size::Const(if size == DYNAMIC { 1 } else { size })).collect();
    match eval.build(op::ZEROS.schema(), &[Some(Input::Ints(sizes)), Some(Input::DType(dtype))])? {
        Value::Tensor(value) if value.ty() == ty => Ok(value),
        Value::Tensor(value) => eval.retyped(value, ty),
        other => Err(format!("{} is no tensor", other.kind()).into()),
    }
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

/// A joined value with the op's results in its slots.
pub(super) fn fill<'c>(eval: &Evaluator<'_, 'c>, value: &Value<'c>, results: &[ir::Value<'c>]) -> Value<'c> {
    let all = |items: &[Value<'c>]| items.iter().map(|item| fill(eval, item, results)).collect::<Vec<_>>();
    match value {
        Value::Slot(place) => match results.get(*place) {
            Some(value) if value.ty().is_tensor() => Value::Tensor(*value),
            Some(value) => Value::Number(*value),
            None => Value::Uninitialized,
        },
        Value::Tuple(items) => Value::Tuple(all(items).into()),
        Value::List(items) if has_slot(value) => Value::List(Shared::new(eval.depth, all(&items.borrow()))),
        Value::Dict(items) if has_slot(value) => Value::Dict(Shared::new(
            eval.depth,
            items.borrow().iter().map(|(key, value)| (key.clone(), fill(eval, value, results))).collect(),
        )),
        Value::Object(object) if has_slot(value) => {
            let attrs = object.attrs.borrow().iter().map(|(name, value)| (name.clone(), fill(eval, value, results))).collect();
            Value::Object(Object { class: object.class.clone(), path: String::new(), attrs: Shared::new(eval.depth, attrs) }.into())
        }
        other => other.clone(),
    }
}

fn has_slot(value: &Value<'_>) -> bool {
    match value {
        Value::Slot(_) => true,
        Value::Tuple(items) => items.iter().any(has_slot),
        Value::List(items) => items.borrow().iter().any(has_slot),
        Value::Dict(items) => items.borrow().iter().any(|(_, value)| has_slot(value)),
        Value::Object(object) if object.path.is_empty() => object.attrs.borrow().iter().any(|(_, value)| has_slot(value)),
        _ => false,
    }
}
