//! Loops: steps one after the other where their number is known and small, `scf.for` and `scf.while` elsewhere.
//!
//! A loop carries values, and may give one row of further results at each step. Rows are collected in tensors that start empty.

use strata_core::ir::{self, Block, DYNAMIC, OpSpec, Type};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, scf};
use strata_dialects::aten::op;

use super::call::{d, i, is, n, ns, t, ts};
use super::error::Eval;
use super::importer::Importer;
use super::value::{Num, Value};
use crate::types::widened;

/// Steps that are written out.
const MAX_UNROLLED: i64 = 1 << 8;
/// How often the sizes of what a loop carries are made symbolic before it is refused.
const MAX_WIDENINGS: usize = 4;

/// What a step gives.
pub(super) struct Step<'c> {
    /// Whether there is another one.
    pub goes_on: Value<'c>,
    pub carried: Vec<Value<'c>>,
    pub rows: Vec<Value<'c>>,
}

/// A step, by its number, whether it happens, and what is carried.
pub(super) type Body<'b, 'p, 'c> = &'b mut dyn FnMut(&mut Importer<'p, 'c>, Num<'c>, Value<'c>, &[Value<'c>]) -> Eval<Step<'c>>;

/// How a loop begins.
pub(super) struct Start<'c> {
    /// The most steps.
    pub count: Option<Num<'c>>,
    /// Whether there is a first one.
    pub goes_on: Value<'c>,
    pub carried: Vec<Value<'c>>,
    /// Sizes of the rows, where whoever makes the loop knows them better than the types of a step do.
    pub sizes: Option<Vec<Num<'c>>>,
}

/// Runs a loop; gives what is carried, and the rows of all steps.
pub(super) fn run<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    start: Start<'c>,
    body: Body<'_, 'p, 'c>,
) -> Eval<(Vec<Value<'c>>, Vec<Value<'c>>)> {
    let Start { count, mut goes_on, mut carried, sizes } = start;
    let mut rows = Vec::<Vec<ir::Value<'c>>>::new();
    let long = match count {
        Some(Num::Int(count)) => count > MAX_UNROLLED,
        Some(Num::Value(_)) => true,
        None => false,
    };
    let mut step = 0;
    loop {
        if long {
            break;
        }
        if count == Some(Num::Int(step)) || count.is_some_and(|count| matches!(count, Num::Int(count) if count < step)) {
            return finished(importer, carried, rows, body);
        }
        match importer.truth(&goes_on) {
            Some(false) => return finished(importer, carried, rows, body),
            Some(true) if step < MAX_UNROLLED => {}
            // From here on only a call knows.
            _ => break,
        }
        let next = body(importer, Num::Int(step), goes_on.clone(), &carried)?;
        let values = next.rows.iter().map(|row| importer.tensor(row)).collect::<Eval<Vec<_>>>()?;
        rows.resize_with(values.len(), Vec::new);
        for (list, row) in rows.iter_mut().zip(values) {
            list.push(row);
        }
        (goes_on, carried, step) = (next.goes_on, next.carried, step + 1);
    }
    if !rows.is_empty() && step > 0 {
        return Err(
            "whether its first steps happen is known, and of later ones it is not; that is not imported where steps give rows".into()
        );
    }
    let (first, looped) = (step, body);
    let mut later = |importer: &mut Importer<'p, 'c>, place: Num<'c>, goes_on: Value<'c>, carried: &[Value<'c>]| {
        let place = match place {
            Num::Value(value) if first > 0 => {
                let first = importer.builder.const_index(first);
                Num::Value(importer.builder.value(arith::AddI::NAME, &[value, first], value.ty(), &[]))
            }
            place => place,
        };
        looped(importer, place, goes_on, carried)
    };
    let left = match count {
        Some(Num::Int(count)) => Some(Num::Int(count - first)),
        other => other,
    };
    unknown(importer, Start { count: left, goes_on, carried, sizes }, &mut later)
}

/// The rows of steps that were written out, one below the other.
fn finished<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    carried: Vec<Value<'c>>,
    rows: Vec<Vec<ir::Value<'c>>>,
    body: Body<'_, 'p, 'c>,
) -> Eval<(Vec<Value<'c>>, Vec<Value<'c>>)> {
    let mut stacked = Vec::new();
    if rows.is_empty() {
        // No step happened: the rows of one that did not tell the types.
        let types = drafted(importer, &carried, body)?.rows;
        for ty in types {
            let sizes: Vec<_> = [0].into_iter().chain(ty.shape().iter().map(|size| (*size).max(0))).collect();
            stacked.push(Value::Tensor(importer.op(op::ZEROS, &[is(&sizes), d(ty.element_type().ok_or("a row has no element type")?)])?));
        }
        return Ok((carried, stacked));
    }
    for list in rows {
        stacked.push(Value::Tensor(importer.op(op::STACK, &[ts(&list), i(0)])?));
    }
    Ok((carried, stacked))
}

/// What a step gives, as types.
struct Draft<'c> {
    /// Whether another step always follows.
    always: bool,
    carried: Vec<Type<'c>>,
    rows: Vec<Type<'c>>,
}

/// Imports a step in a place that is thrown away.
fn drafted<'p, 'c>(importer: &mut Importer<'p, 'c>, carried: &[Value<'c>], body: Body<'_, 'p, 'c>) -> Eval<Draft<'c>> {
    let start = carried.iter().map(|value| importer.tensor(value)).collect::<Eval<Vec<_>>>()?;
    let types: Vec<_> = start.iter().map(|value| value.ty()).collect();
    let (index, bool) = (importer.cx.index(), importer.cx.int(1));
    let draft = importer.builder.op(OpSpec { name: scf::While::NAME, operands: &start, regions: 2, ..OpSpec::default() });
    let block = importer.builder.add_block(draft.region(1), &[&[index, bool], types.as_slice()].concat());
    let result = inside(importer, block, |importer| {
        let args = block.args();
        let state: Vec<_> = args[2..].iter().map(|arg| Value::Tensor(*arg)).collect();
        let step = body(importer, Num::Value(args[0]), Value::number(ir::ElementType::Bool, Num::Value(args[1])), &state)?;
        let mut draft = Draft { always: importer.truth(&step.goes_on) == Some(true), carried: Vec::new(), rows: Vec::new() };
        // What only says again whether this step happens says that the next one does.
        draft.always |= matches!(&step.goes_on, Value::Known(known) if known.items == [Num::Value(args[1])]);
        for (values, types) in [(&step.carried, &mut draft.carried), (&step.rows, &mut draft.rows)] {
            for value in values {
                types.push(importer.tensor(value)?.ty());
            }
        }
        Ok(draft)
    });
    importer.builder.erase(draft);
    result
}

/// Runs `body` with the builder at the end of a block.
pub(super) fn inside<'p, 'c, T>(importer: &mut Importer<'p, 'c>, block: Block<'c>, body: impl FnOnce(&mut Importer<'p, 'c>) -> T) -> T {
    let location = importer.builder.location();
    let outer = std::mem::replace(&mut importer.builder, Rewriter::at_end(block, location));
    let result = body(importer);
    importer.builder = outer;
    importer.builder.set_location(location);
    result
}

/// A loop whose length only a call knows.
fn unknown<'p, 'c>(importer: &mut Importer<'p, 'c>, start: Start<'c>, body: Body<'_, 'p, 'c>) -> Eval<(Vec<Value<'c>>, Vec<Value<'c>>)> {
    let Start { count, goes_on, carried, sizes } = start;
    let mut start = carried.iter().map(|value| importer.tensor(value)).collect::<Eval<Vec<_>>>()?;
    let mut draft = None;
    for _ in 0..MAX_WIDENINGS {
        let values: Vec<_> = start.iter().map(|value| Value::Tensor(*value)).collect();
        let found = drafted(importer, &values, body)?;
        if found.carried.len() != start.len() {
            return Err(format!("its body gives {} values for {} that it carries", found.carried.len(), start.len()).into());
        }
        let types = start.iter().zip(&found.carried).map(|(value, ty)| widened(value.ty(), *ty)).collect::<Result<Vec<_>, _>>()?;
        if start.iter().zip(&types).all(|(value, ty)| value.ty() == *ty) {
            draft = Some(found);
            break;
        }
        for (value, ty) in start.iter_mut().zip(types) {
            if value.ty() != ty {
                *value = importer.retyped(*value, ty)?;
            }
        }
    }
    let draft = draft.ok_or("the types of what it carries change from step to step")?;
    let mut buffers = Vec::new();
    for ty in &draft.rows {
        let count = count.ok_or("it gives rows, and how many only a call knows; say the largest number of steps")?;
        let row = match &sizes {
            Some(sizes) => sizes.clone(),
            None if ty.shape().contains(&DYNAMIC) => return Err("it gives rows whose sizes only a call knows".into()),
            None => ty.shape().into_iter().map(Num::Int).collect(),
        };
        let sizes: Vec<_> = [count].into_iter().chain(row).collect();
        buffers.push(importer.op(op::EMPTY_MEMORY_FORMAT, &[ns(&sizes), d(ty.element_type().ok_or("a row has no element type")?)])?);
    }
    let carried = start.len();
    start.extend(&buffers);
    let known = importer.truth(&goes_on) == Some(true) && draft.always;
    match count.filter(|_| known) {
        Some(count) => counted(importer, count, &start, carried, body),
        None => checked(importer, count, &goes_on, &start, carried, body),
    }
}

/// One step of a loop in a region: its values in the types that the loop has, rows written to their places.
fn step<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    (place, goes_on): (ir::Value<'c>, Value<'c>),
    state: &[ir::Value<'c>],
    carried: usize,
    body: Body<'_, 'p, 'c>,
) -> Eval<(Value<'c>, Vec<ir::Value<'c>>)> {
    let values: Vec<_> = state[..carried].iter().map(|value| Value::Tensor(*value)).collect();
    let step = body(importer, Num::Value(place), goes_on, &values)?;
    let mut next = Vec::new();
    for (value, old) in step.carried.iter().zip(state) {
        let value = importer.tensor(value)?;
        next.push(if value.ty() == old.ty() { value } else { importer.retyped(value, old.ty())? });
    }
    for (row, whole) in step.rows.iter().zip(&state[carried..]) {
        let row = importer.tensor(row)?;
        next.push(importer.op(op::SELECT_SCATTER, &[t(*whole), t(row), i(0), n(Num::Value(place))])?);
    }
    for (value, old) in next.iter_mut().zip(state) {
        if value.ty() != old.ty() {
            *value = importer.retyped(*value, old.ty())?;
        }
    }
    Ok((step.goes_on, next))
}

fn counted<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    count: Num<'c>,
    start: &[ir::Value<'c>],
    carried: usize,
    body: Body<'_, 'p, 'c>,
) -> Eval<(Vec<Value<'c>>, Vec<Value<'c>>)> {
    let types: Vec<_> = start.iter().map(|value| value.ty()).collect();
    let bounds = [importer.builder.const_index(0), index(importer, count), importer.builder.const_index(1)];
    let operands = [&bounds, start].concat();
    let op = importer.builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
    let block = importer.builder.add_block(op.region(0), &[&[importer.cx.index()], types.as_slice()].concat());
    inside(importer, block, |importer| -> Eval<()> {
        let args = block.args();
        let always = Value::number(ir::ElementType::Bool, Num::Int(1));
        let (_, next) = step(importer, (args[0], always), &args[1..], carried, body)?;
        scf::yield_(&mut importer.builder, &next);
        Ok(())
    })?;
    let results: Vec<_> = op.results().into_iter().map(Value::Tensor).collect();
    Ok((results[..carried].to_vec(), results[carried..].to_vec()))
}

/// A loop that a condition ends. It carries the number of the step and whether that happens too.
fn checked<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    count: Option<Num<'c>>,
    goes_on: &Value<'c>,
    start: &[ir::Value<'c>],
    carried: usize,
    body: Body<'_, 'p, 'c>,
) -> Eval<(Vec<Value<'c>>, Vec<Value<'c>>)> {
    let first = [importer.builder.const_index(0), importer.condition(goes_on)?];
    let operands = [&first, start].concat();
    let types: Vec<_> = operands.iter().map(|value| value.ty()).collect();
    let count = count.map(|count| index(importer, count));
    let op = importer.builder.op(OpSpec { name: scf::While::NAME, operands: &operands, results: &types, regions: 2, ..OpSpec::default() });
    let before = importer.builder.add_block(op.region(0), &types);
    inside(importer, before, |importer| {
        let args = before.args();
        let mut holds = args[1];
        if let Some(count) = count {
            let below = arith::cmpi(&mut importer.builder, arith::CmpIPredicate::Slt, args[0], count);
            holds = importer.builder.value(arith::AndI::NAME, &[holds, below], holds.ty(), &[]);
        }
        scf::condition(&mut importer.builder, holds, &args);
    });
    let after = importer.builder.add_block(op.region(1), &types);
    inside(importer, after, |importer| -> Eval<()> {
        let args = after.args();
        let happens = Value::number(ir::ElementType::Bool, Num::Value(args[1]));
        let (goes_on, next) = step(importer, (args[0], happens), &args[2..], carried, body)?;
        let one = importer.builder.const_index(1);
        let place = importer.builder.value(arith::AddI::NAME, &[args[0], one], args[0].ty(), &[]);
        let goes_on = importer.condition(&goes_on)?;
        scf::yield_(&mut importer.builder, &[&[place, goes_on], next.as_slice()].concat());
        Ok(())
    })?;
    let results = op.results();
    let mut rows = Vec::new();
    for rest in &results[2 + carried..] {
        // As many rows as steps.
        rows.push(Value::Tensor(importer.op(op::SLICE_TENSOR, &[t(*rest), i(0), i(0), n(Num::Value(results[0]))])?));
    }
    Ok((results[2..2 + carried].iter().map(|value| Value::Tensor(*value)).collect(), rows))
}

fn index<'c>(importer: &mut Importer<'_, 'c>, number: Num<'c>) -> ir::Value<'c> {
    match number {
        Num::Int(value) => importer.builder.const_index(value),
        Num::Value(value) => value,
    }
}
