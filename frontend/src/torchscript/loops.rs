//! Loops that only a call decides: `scf.for` and `scf.while` on tensors and numbers, which carry the variables that the body assigns and
//! that exist before it.

use std::collections::BTreeSet;

use strata_core::ir::{self, Block, Op, OpSpec, Type};
use strata_core::upstream::scf;
use strata_dialects::aten::{Input, op};

use super::control::{fill, inside, region, use_instead, write_back};
use super::error::Eval;
use super::evaluate::{Evaluator, Flow, Frame};
use super::text::ast::{Expr, Stmt, StmtKind, Target};
use super::value::Value;
use super::writes;
use crate::types::{grows, widened};

/// How often a loop's sizes are made symbolic before it is refused.
const MAX_WIDENINGS: usize = 4;

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
                frame.variables.insert(name.to_owned(), Value::Int(place));
                if let Flow::Return(value) = eval.run(body, frame)? {
                    return Ok(Flow::Return(value));
                }
                eval.step()?;
            }
            Ok(Flow::Next)
        }
        Value::Number(count) => carried(eval, Steps::Count(name, count), body, frame),
        other => Err(format!("{} is no number of steps", other.kind()).into()),
    }
}

/// `while condition`; the text assigns the condition anew at the end of its body.
pub(super) fn while_loop<'c>(eval: &mut Evaluator<'_, 'c>, condition: &Expr, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    loop {
        let value = eval.expr(condition, frame)?;
        match eval.truth(&value)? {
            Value::Bool(false) => return Ok(Flow::Next),
            Value::Bool(true) => {
                if let Flow::Return(value) = eval.run(body, frame)? {
                    return Ok(Flow::Return(value));
                }
                eval.step()?;
            }
            Value::Number(_) => return carried(eval, Steps::While(condition), body, frame),
            other => return Err(format!("{} is no condition", other.kind()).into()),
        }
    }
}

/// What decides how often a loop runs.
enum Steps<'a, 'c> {
    Count(&'a str, ir::Value<'c>),
    While(&'a Expr),
}

/// A loop whose length only a call knows. Sizes that differ from step to step are symbolic.
fn carried<'c>(eval: &mut Evaluator<'_, 'c>, steps: Steps<'_, 'c>, body: &[Stmt], frame: &mut Frame<'c>) -> Eval<Flow<'c>> {
    let mut assigned = BTreeSet::new();
    names(body, &mut assigned);
    let carried: Vec<String> = assigned.into_iter().filter(|name| frame.variables.contains_key(name)).collect();
    let mut start = Vec::new();
    let shapes: Vec<Value<'c>> = carried.iter().map(|name| open(eval, &frame.variables[name], &mut start)).collect::<Eval<_>>()?;
    let (variables, mut written) = (start.len(), Vec::new());
    for _ in 0..MAX_WIDENINGS {
        let types: Vec<Type<'c>> = start.iter().map(|value| value.ty()).collect();
        let numbers = eval.numbers.clone();
        let (op, block) = loop_op(eval, &steps, &start, &types, &carried, &shapes, frame)?;
        let args = block.args();
        let state = if let Steps::Count(..) = steps { &args[1..] } else { &args[..] };
        let mut inner = frame.clone();
        for (name, shape) in carried.iter().zip(&shapes) {
            inner.variables.insert(name.clone(), fill(eval, shape, state));
        }
        if let Steps::Count(name, _) = steps {
            inner.variables.insert(name.to_owned(), Value::Number(args[0]));
        }
        let mut ends = Vec::new();
        let known = types.clone();
        let (result, journal) = region(eval, block, |eval| -> Eval<Option<Vec<Type<'c>>>> {
            if let Flow::Return(_) = eval.run(body, &mut inner)? {
                return Err("a loop whose length only a call knows returns".into());
            }
            for (name, shape) in carried.iter().zip(&shapes) {
                let first = ends.len();
                close(eval, shape, &inner.variables[name], &mut ends)?;
                let grown = ends[first..].iter().zip(&known[first..]).find_map(|(end, start)| grows(*start, end.ty()));
                if let Some(why) = grown {
                    return Err(format!("`{name}` changes its sizes: {why}").into());
                }
            }
            // Tensors that the loop writes to come behind its variables, as copies.
            ends.extend(&state[variables..]);
            let mut wider = Vec::new();
            for (place, end) in ends.iter_mut().enumerate() {
                if known[place] == eval.cx.f64() && end.ty().is_index() {
                    *end = crate::import::floats::to_float(&mut eval.builder, *end).ok_or("it is no number")?;
                }
                wider.push(widened(known[place], end.ty())?);
            }
            if wider != known {
                return Ok(Some(wider));
            }
            for (end, ty) in ends.iter_mut().zip(&known) {
                if end.ty() != *ty {
                    *end = eval.retyped(*end, *ty)?;
                }
            }
            scf::yield_(&mut eval.builder, &ends);
            Ok(None)
        });
        if !journal.is_empty() {
            return Err("a list, dict or attribute is changed in a loop whose length only a call knows".into());
        }
        let result = result?;
        for (value, state) in written.iter().zip(&state[variables..]) {
            use_instead(eval, *value, *state, op.region(op.regions().len() - 1));
        }
        let more = writes::written(op)?;
        match result {
            Some(wider) => {
                eval.builder.erase(op);
                eval.numbers = numbers;
                for (value, ty) in start.iter_mut().zip(wider) {
                    if value.ty() != ty {
                        *value = eval.retyped(*value, ty)?;
                    }
                }
            }
            None if !more.is_empty() => {
                eval.builder.erase(op);
                eval.numbers = numbers;
                for value in more {
                    match eval.build(op::CLONE.schema(), &[Some(Input::Tensor(value))])? {
                        Value::Tensor(copy) => start.push(copy),
                        other => return Err(format!("{} is no tensor", other.kind()).into()),
                    }
                    written.push(value);
                }
            }
            None => {
                let results = op.results();
                write_back(eval, &written, &results[variables..])?;
                for (name, shape) in carried.iter().zip(&shapes) {
                    frame.variables.insert(name.clone(), fill(eval, shape, &results));
                }
                return Ok(Flow::Next);
            }
        }
    }
    Err("the types of a loop's variables change from step to step".into())
}

/// The op of a loop, and the block of its body.
fn loop_op<'c>(
    eval: &mut Evaluator<'_, 'c>,
    steps: &Steps<'_, 'c>,
    start: &[ir::Value<'c>],
    types: &[Type<'c>],
    carried: &[String],
    shapes: &[Value<'c>],
    frame: &Frame<'c>,
) -> Eval<(Op<'c>, Block<'c>)> {
    match steps {
        Steps::Count(_, count) => {
            let bounds = [eval.builder.const_index(0), *count, eval.builder.const_index(1)];
            let operands = [&bounds, start].concat();
            let op = eval.builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: types, regions: 1, ..OpSpec::default() });
            let index = eval.cx.index();
            let block = eval.builder.add_block(op.region(0), &[&[index], types].concat());
            Ok((op, block))
        }
        Steps::While(condition) => {
            let op = eval.builder.op(OpSpec { name: scf::While::NAME, operands: start, results: types, regions: 2, ..OpSpec::default() });
            let before = eval.builder.add_block(op.region(0), types);
            let args = before.args();
            let mut inner = frame.clone();
            for (name, shape) in carried.iter().zip(shapes) {
                inner.variables.insert(name.clone(), fill(eval, shape, &args));
            }
            inside(eval, before, |eval| -> Eval<()> {
                let value = eval.expr(condition, &mut inner)?;
                let value = eval.truth(&value)?;
                let holds = eval.as_number(&value).ok_or("it is no condition")?;
                scf::condition(&mut eval.builder, holds, &args);
                Ok(())
            })?;
            let block = eval.builder.add_block(op.region(1), types);
            Ok((op, block))
        }
    }
}

/// A variable that a loop carries: its tensors and numbers become slots.
fn open<'c>(eval: &mut Evaluator<'_, 'c>, value: &Value<'c>, start: &mut Vec<ir::Value<'c>>) -> Eval<Value<'c>> {
    Ok(match value {
        Value::Tensor(tensor) => {
            start.push(*tensor);
            Value::Slot(start.len() - 1)
        }
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| open(eval, item, start)).collect::<Eval<Vec<_>>>()?.into()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Number(_) => {
            start.push(eval.as_number(value).ok_or("it is no number")?);
            Value::Slot(start.len() - 1)
        }
        other => other.clone(),
    })
}

/// What a variable is at the end of a step, in the order of its slots.
fn close<'c>(eval: &mut Evaluator<'_, 'c>, shape: &Value<'c>, value: &Value<'c>, ends: &mut Vec<ir::Value<'c>>) -> Eval<()> {
    match (shape, value) {
        (Value::Slot(_), Value::Tensor(tensor)) => ends.push(*tensor),
        (Value::Slot(_), value) => {
            let number = eval.as_number(value).ok_or_else(|| format!("a loop's variable becomes {}", value.kind()))?;
            ends.push(number);
        }
        (Value::Tuple(shapes), Value::Tuple(values)) if shapes.len() == values.len() => {
            for (shape, value) in shapes.iter().zip(values.iter()) {
                close(eval, shape, value, ends)?;
            }
        }
        (shape, value) if shape.same(value) => {}
        (_, value) => return Err(format!("{} changes in a loop whose length only a call knows", value.kind()).into()),
    }
    Ok(())
}

/// The names that statements assign.
fn names(body: &[Stmt], found: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign(targets, _) => {
                found.extend(
                    targets.all().iter().filter_map(|target| if let Target::Name(name) = target { Some(name.clone()) } else { None }),
                );
            }
            StmtKind::If(_, yes, no) => {
                names(yes, found);
                names(no, found);
            }
            StmtKind::For(_, _, body) | StmtKind::While(_, body) | StmtKind::With(_, _, body) => names(body, found),
            _ => {}
        }
    }
}
