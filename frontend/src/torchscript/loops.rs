//! Loops that only a call decides: `scf.for` and `scf.while` on tensors and numbers, which carry the variables that the body assigns and
//! that exist before it.

use std::collections::{BTreeSet, HashSet};

use strata_core::ir::{self, Block, Op, OpSpec, Type};
use strata_core::upstream::{arith, scf};
use strata_dialects::aten::{Input, op};

use super::carried::{Carried, Opened, close, close_items, names, open, open_items, same};
use super::control::{guard, inside, region, tried};
use super::error::{Eval, Stop};
use super::evaluate::{Evaluator, Flow, Frame};
use super::join::Results;
use super::paths::{MAX_STEPS_OF_LOOP, at_most};
use super::rows;
use super::text::ast::{Expr, Stmt};
use super::value::Value;
use super::writes::{self, instead, itself, write_back};
use crate::types::widened;

/// How often a body is evaluated for what it carries before the loop is refused.
const MAX_ATTEMPTS: usize = 24;

/// `for name in range(count)`.
pub(super) fn for_loop<'c>(
    eval: &mut Evaluator<'_, 'c>,
    name: &str,
    count: &Value<'c>,
    body: &[Stmt],
    frame: &mut Frame<'c>,
) -> Eval<Flow<'c>> {
    match eval.number_of(count, "int")? {
        Value::Int(count) => {
            for place in 0..count.max(0) {
                if let returned @ Flow::Return(_) = step(eval, Some((name, place)), body, frame)? {
                    return Ok(returned);
                }
            }
            Ok(Flow::Next)
        }
        Value::Number(count) => open_for(eval, name, count, body, frame),
        other => Err(format!("{} is no number of steps", other.kind()).into()),
    }
}

/// `for` of a number of steps that only a call knows; the first ones are taken one by one where the evaluation's way says so.
fn open_for<'c>(eval: &mut Evaluator<'_, 'c>, name: &str, count: ir::Value<'c>, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    for first in 0..=MAX_STEPS_OF_LOOP {
        let taken = eval.builder.const_index(first);
        let more = arith::cmpi(&mut eval.builder, arith::CmpIPredicate::Sgt, count, taken);
        if first == MAX_STEPS_OF_LOOP {
            at_most(eval, more);
            break;
        }
        match eval.way(more)? {
            Some(true) => {}
            Some(false) => break,
            None => {
                [more, taken].into_iter().filter_map(ir::Value::defining_op).for_each(|op| eval.builder.erase(op));
                return carried(eval, Steps::Count(name, first, count), body, frame);
            }
        }
        if let returned @ Flow::Return(_) = step(eval, Some((name, first)), body, frame)? {
            return Ok(returned);
        }
    }
    Ok(Flow::Next)
}

/// A step of a loop; `place` is the variable that counts, and its number. What only the body names is gone behind it: in the text a variable
/// that is read there has a value before the loop.
fn step<'c>(eval: &mut Evaluator<'_, 'c>, place: Option<(&str, i64)>, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    let before: HashSet<String> = frame.variables.keys().cloned().collect();
    if let Some((name, place)) = place {
        frame.variables.insert(name.to_owned(), Value::Int(place));
    }
    let flow = eval.run(body, frame)?;
    eval.step()?;
    frame.variables.retain(|name, _| before.contains(name));
    Ok(flow)
}

/// `while condition`; the text assigns the condition anew at the end of its body.
pub(super) fn while_loop<'c>(eval: &mut Evaluator<'_, 'c>, condition: &Expr, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    let mut taken = 0;
    loop {
        let value = eval.expr(condition, frame)?;
        match eval.truth(&value)? {
            Value::Bool(false) => return Ok(Flow::Next),
            Value::Bool(true) => {}
            Value::Number(more) if taken == MAX_STEPS_OF_LOOP => {
                at_most(eval, more);
                return Ok(Flow::Next);
            }
            Value::Number(more) => match eval.way(more)? {
                Some(true) => taken += 1,
                Some(false) => return Ok(Flow::Next),
                None => return carried(eval, Steps::While(condition, more), body, frame),
            },
            other => return Err(format!("{} is no condition", other.kind()).into()),
        }
        if let returned @ Flow::Return(_) = step(eval, None, body, frame)? {
            return Ok(returned);
        }
    }
}

/// What decides how often a loop runs.
enum Steps<'a, 'c> {
    /// From a first step on.
    Count(&'a str, i64, ir::Value<'c>),
    /// While the expression holds, whose first value this is.
    While(&'a Expr, ir::Value<'c>),
}

/// A loop whose length only a call knows. Its body is evaluated until it is known what it carries; sizes that differ from step to step
/// are symbolic.
fn carried<'c>(eval: &mut Evaluator<'_, 'c>, steps: Steps<'_, 'c>, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    let mut carried = Carried::default();
    for _ in 0..MAX_ATTEMPTS {
        let refused = carried.refused.take();
        let strict = eval.strict;
        eval.strict = strict && refused.is_none();
        let done = tried(eval, |eval| attempt(eval, &steps, body, frame, &mut carried));
        eval.strict = strict;
        match (done, refused) {
            (Ok(true), None) => return Ok(Flow::Next),
            (Ok(false), _) => {}
            (Ok(true), Some(stop)) | (Err(_), Some(stop)) => return Err(stop),
            (Err(Stop::Raised(message)), None) => {
                no_step(eval, &steps, &message);
                return Ok(Flow::Next);
            }
            (Err(stop), None) if !strict => return Err(stop),
            (Err(stop), None) => carried.refused = Some(stop),
        }
    }
    Err("what a loop carries changes from step to step".into())
}

/// A loop whose first step raises: a call that takes it fails, and any other one goes on behind the loop.
fn no_step<'c>(eval: &mut Evaluator<'_, 'c>, steps: &Steps<'_, 'c>, message: &str) {
    let more = match steps {
        Steps::Count(_, first, count) => {
            let taken = eval.builder.const_index(*first);
            arith::cmpi(&mut eval.builder, arith::CmpIPredicate::Sgt, *count, taken)
        }
        Steps::While(_, more) => *more,
    };
    guard(eval, more, 0, message);
}

/// Why a body is evaluated again.
enum Again<'c> {
    /// Variables have one value in every step.
    Steady(Vec<String>),
    /// Variables that were thought to have one value do not.
    Moving(Vec<String>),
    /// A variable gets its first value in the loop.
    Opened(String, Opened<'c>),
    /// Types are wider.
    Wider(Vec<Type<'c>>),
    /// More slots are related, to each other or to tensors around the loop.
    Related(Vec<(usize, usize)>, Vec<(usize, ir::Value<'c>)>),
}

/// Makes the op of a loop; false where its body needs more carried than was known.
fn attempt<'c>(
    eval: &mut Evaluator<'_, 'c>,
    steps: &Steps<'_, 'c>,
    body: &[Stmt],
    frame: &mut Frame<'c>,
    carried: &mut Carried<'c>,
) -> Eval<bool> {
    let mut assigned = BTreeSet::new();
    names(body, &mut assigned);
    for (name, value) in &carried.opened {
        frame.variables.insert(name.clone(), value.clone());
    }
    let names: Vec<String> =
        assigned.into_iter().filter(|name| frame.variables.contains_key(name) && !carried.steady.contains(name)).collect();
    let mut start = Vec::new();
    let shapes: Vec<Value<'c>> = names.iter().map(|name| open(eval, &frame.variables[name], &mut start)).collect::<Eval<_>>()?;
    let mut held = Vec::new();
    for (place, items) in &carried.places {
        held.push(open_items(eval, &place.held(eval.depth), items, &mut start)?);
    }
    for (place, row) in &carried.rows {
        start.push(rows::start(eval, &place.held(eval.depth), *row)?);
    }
    let variables = start.len();
    for written in &carried.written {
        match eval.build(op::CLONE.schema(), &[Some(Input::Tensor(written.tensor))])? {
            Value::Tensor(copy) => start.push(copy),
            other => return Err(format!("{} is no tensor", other.kind()).into()),
        }
    }
    for (value, ty) in start.iter_mut().zip(&carried.types) {
        if value.ty() != *ty {
            *value = eval.retyped(*value, *ty)?;
        }
    }
    let types: Vec<Type<'c>> = start.iter().map(|value| value.ty()).collect();
    let (facts, stale) = (eval.facts.clone(), eval.stale());
    let (op, before, block) = loop_op(eval, steps, &start, &types)?;
    let args = block.args();
    let state = if let Steps::Count(..) = steps { &args[1..] } else { &args[..] };
    for args in std::iter::once(state).chain(before.map(|block| block.args()).as_deref()) {
        args.iter().zip(&start).for_each(|(arg, start)| eval.facts.stands_for(*arg, *start));
        carried.related.iter().for_each(|(a, b)| eval.facts.relate(args[*a], args[*b]));
        carried.views.iter().for_each(|(slot, of)| eval.facts.may_view(args[*slot], &[*of]));
    }
    eval.facts.changing.extend(carried.written.iter().map(|written| written.tensor));
    let condition = |eval: &mut Evaluator<'_, 'c>, block: Block<'c>| -> Eval<()> {
        let Steps::While(condition, _) = steps else { return Ok(()) };
        let (mut inner, mut given) = (frame.clone(), Results::new(block.args()));
        for (name, shape) in names.iter().zip(&shapes) {
            inner.variables.insert(name.clone(), given.fill(eval, shape));
        }
        inside(eval, block, |eval| {
            let value = eval.expr(condition, &mut inner)?;
            let value = eval.truth(&value)?;
            let holds = eval.as_number(&value).ok_or("it is no condition")?;
            scf::condition(&mut eval.builder, holds, &block.args());
            Ok(())
        })
    };
    if let Some(before) = before {
        condition(eval, before)?;
    }
    let (mut inner, mut given) = (frame.clone(), Results::new(state.to_vec()));
    for (name, shape) in names.iter().zip(&shapes) {
        inner.variables.insert(name.clone(), given.fill(eval, shape));
    }
    if let Steps::Count(name, ..) = steps {
        inner.variables.insert((*name).to_owned(), Value::Number(args[0]));
    }
    let mut ends = Vec::new();
    let (result, journal) = region(eval, block, |eval| -> Eval<Option<Again<'c>>> {
        for ((place, _), held) in carried.places.iter().zip(&held) {
            eval.touch(place);
            place.hold(&given.fill(eval, held));
        }
        for ((place, row), tensor) in carried.rows.iter().zip(&state[variables - carried.rows.len()..]) {
            eval.touch(place);
            place.hold(&rows::list(eval, *tensor, *row));
        }
        if let Flow::Return(_) = eval.run(body, &mut inner)? {
            return Err("a loop whose length only a call knows returns".into());
        }
        let moved = carried.steady.iter().filter(|name| !same(&frame.variables[*name], &inner.variables[*name]));
        let moved: Vec<_> = moved.cloned().collect();
        if !moved.is_empty() {
            return Ok(Some(Again::Moving(moved)));
        }
        let may = names.iter().zip(&shapes).filter(|(name, _)| !carried.moving.contains(*name));
        let steady = may.filter(|(name, shape)| match (shape, &inner.variables[*name]) {
            (Value::Slot(place), Value::Tensor(end)) => [state[*place], start[*place]].contains(&itself(*end)),
            (Value::Slot(place), Value::Number(end)) => *end == state[*place],
            _ => false,
        });
        let steady: Vec<_> = steady.map(|(name, _)| name.clone()).collect();
        if !steady.is_empty() {
            return Ok(Some(Again::Steady(steady)));
        }
        for (name, shape) in names.iter().zip(&shapes) {
            let end = &inner.variables[name];
            if let (Value::Uninitialized, Some(opened)) = (shape, Opened::of(eval, end, op)) {
                return Ok(Some(Again::Opened(name.clone(), opened)));
            }
            close(eval, shape, end, &mut ends)?;
        }
        for ((place, _), held) in carried.places.iter().zip(&held) {
            close_items(eval, held, &place.held(eval.depth), &mut ends)?;
        }
        for (place, _) in &carried.rows {
            ends.push(rows::of(&place.held(eval.depth)).ok_or("a list that grows in a loop is made anew in it")?.0);
        }
        // Tensors that the loop writes to come behind its variables, as copies.
        ends.extend(&state[variables..]);
        let mut wider = Vec::new();
        for (place, end) in ends.iter_mut().enumerate() {
            if types[place] == eval.cx.f64() && end.ty().is_index() {
                *end = crate::import::floats::to_float(&mut eval.builder, *end).ok_or("it is no number")?;
            }
            wider.push(widened(types[place], end.ty())?);
        }
        if wider != types {
            return Ok(Some(Again::Wider(wider)));
        }
        let mut related = eval.facts.relations(&ends[..variables]);
        let mut views = Vec::new();
        for (slot, end) in ends[..variables].iter().enumerate().filter(|(_, end)| end.ty().is_tensor()) {
            let around = eval.facts.around(&[*end], op).into_iter().map(|of| (slot, writes::base(of)));
            for (slot, of) in around.filter(|(_, of)| *of != writes::base(start[slot])) {
                // What the loop begins with is made again by each attempt; its slot stays.
                match start.iter().position(|start| start.ty().is_tensor() && writes::base(*start) == of) {
                    Some(begin) => related.push((slot.min(begin), slot.max(begin))),
                    None => views.push((slot, of)),
                }
            }
        }
        related.sort_unstable();
        related.dedup();
        related.retain(|pair| !carried.related.contains(pair));
        views.retain(|view| !carried.views.contains(view));
        if !related.is_empty() || !views.is_empty() {
            return Ok(Some(Again::Related(related, views)));
        }
        for (end, ty) in ends.iter_mut().zip(&types) {
            if end.ty() != *ty {
                *end = eval.retyped(*end, *ty)?;
            }
        }
        scf::yield_(&mut eval.builder, &ends);
        Ok(None)
    });
    let again = result?;
    if eval.facts.shapes_around(op) {
        return Err("a loop that only a call decides about changes the sizes of a tensor in place".into());
    }
    let mut more = false;
    for (place, after) in &journal {
        more |= carried.changes(place, &place.held(eval.depth), after)?;
    }
    if more {
        carried.forget();
    }
    match again {
        Some(Again::Steady(names)) => {
            carried.steady.extend(names);
            carried.forget();
            more = true;
        }
        Some(Again::Moving(names)) => {
            carried.steady.retain(|name| !names.contains(name));
            carried.moving.extend(names);
            carried.forget();
            more = true;
        }
        Some(Again::Opened(name, opened)) => {
            eval.builder.erase(op);
            eval.facts = facts;
            let first = opened.first(eval)?;
            carried.opened.push((name, first));
            carried.forget();
            return Ok(false);
        }
        Some(Again::Wider(types)) => {
            if !more {
                carried.types = types;
            }
            more = true;
        }
        Some(Again::Related(related, views)) => {
            if !more {
                carried.related.extend(related);
                carried.views.extend(views);
            }
            more = true;
        }
        None => {}
    }
    // What tensors are before copies stand for them.
    let around: Vec<_> = ends.iter().map(|end| eval.facts.around(&[*end], op)).collect();
    if !more {
        for (place, written) in carried.written.iter().enumerate() {
            let body = op.region(op.regions().len() - 1);
            inside(eval, block, |eval| {
                if let Some(first) = block.first_op() {
                    eval.builder.go_before(first);
                }
                instead(eval, written, state[variables + place], body);
            });
        }
        let written = writes::written(op, &[]);
        more = !written.is_empty();
        carried.written.extend(written);
    }
    if more {
        eval.builder.erase(op);
        eval.facts = facts;
        return Ok(false);
    }
    eval.steps_read_nothing_stale(op, stale)?;
    eval.facts.changing.clone_from(&facts.changing);
    let results = op.results();
    write_back(eval, &carried.written, &results[variables..])?;
    for ((result, around), start) in results.iter().zip(&around).zip(&start) {
        // A loop that takes no step writes nothing.
        eval.facts.may_view(*result, &[around.as_slice(), &[*start]].concat());
        if start.ty().is_tensor() && facts.is_stale(*start) {
            eval.facts.set_stale(*result);
        }
    }
    carried.related.iter().for_each(|(a, b)| eval.facts.relate(results[*a], results[*b]));
    let mut results = Results::new(results);
    for ((place, _), held) in carried.places.iter().zip(&held) {
        let held = results.fill(eval, held);
        eval.set(place, &held);
    }
    for ((place, row), tensor) in carried.rows.iter().zip(&op.results()[variables - carried.rows.len()..]) {
        let held = rows::list(eval, *tensor, *row);
        eval.set(place, &held);
    }
    for (name, shape) in names.iter().zip(&shapes) {
        frame.variables.insert(name.clone(), results.fill(eval, shape));
    }
    Ok(true)
}

/// The op of a loop, the block of its condition if it has one, and that of its body.
fn loop_op<'c>(
    eval: &mut Evaluator<'_, 'c>,
    steps: &Steps<'_, 'c>,
    start: &[ir::Value<'c>],
    types: &[Type<'c>],
) -> Eval<(Op<'c>, Option<Block<'c>>, Block<'c>)> {
    match steps {
        Steps::Count(_, first, count) => {
            let bounds = [eval.builder.const_index(*first), *count, eval.builder.const_index(1)];
            let operands = [&bounds, start].concat();
            let op = eval.builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: types, regions: 1, ..OpSpec::default() });
            let index = eval.cx.index();
            let block = eval.builder.add_block(op.region(0), &[&[index], types].concat());
            Ok((op, None, block))
        }
        Steps::While(..) => {
            let op = eval.builder.op(OpSpec { name: scf::While::NAME, operands: start, results: types, regions: 2, ..OpSpec::default() });
            let before = eval.builder.add_block(op.region(0), types);
            let block = eval.builder.add_block(op.region(1), types);
            Ok((op, Some(before), block))
        }
    }
}
