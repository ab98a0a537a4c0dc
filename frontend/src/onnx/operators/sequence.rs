//! Sequences and optional values: they are values of the import.

use std::collections::HashMap;

use strata_core::ir::ElementType;
use strata_dialects::aten::op;

use super::shape::sum;
use crate::onnx::call::{Call, i, n, one, t, ts, wrapped};
use crate::onnx::error::Eval;
use crate::onnx::importer::Scope;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

/// Items of a sequence that a tensor is split into.
const MAX_ITEMS: i64 = 1 << 12;

pub(in crate::onnx) const ROWS: &[Row] = &[
    row("ConcatFromSequence", |c| {
        let items = items(c, 0)?;
        let tensors = items.iter().map(|item| c.importer.tensor(item)).collect::<Eval<Vec<_>>>()?;
        let rank = tensors.first().ok_or("its sequence is empty")?.ty().rank();
        let operator = if c.flag("new_axis", false) { (op::STACK, rank + 1) } else { (op::CAT, rank) };
        let axis = c.axis(0, operator.1)?;
        c.op(operator.0, &[ts(&tensors), i(axis)]).map(one)
    }),
    row("Optional", |c| Ok(vec![c.input(0)])),
    row("OptionalGetElement", |c| match c.input(0) {
        Value::Absent => Err("its optional value holds nothing".into()),
        value => Ok(vec![value]),
    }),
    row("OptionalHasElement", |c| Ok(vec![Value::number(ElementType::Bool, Num::Int(i64::from(c.has(0))))])),
    row("SequenceAt", |c| {
        let (items, place) = (items(c, 0)?, c.known_int(1)?);
        Ok(vec![items[wrapped(place, items.len())? as usize].clone()])
    }),
    row("SequenceConstruct", |c| Ok(vec![Value::Sequence(c.inputs.clone().into())])),
    row("SequenceEmpty", |_| Ok(vec![Value::Sequence(Vec::new().into())])),
    row("SequenceErase", |c| {
        let mut items = items(c, 0)?;
        let place = if c.has(1) { c.known_int(1)? } else { -1 };
        items.remove(wrapped(place, items.len())? as usize);
        Ok(vec![Value::Sequence(items.into())])
    }),
    row("SequenceInsert", |c| {
        let mut items = items(c, 0)?;
        let place = if c.has(2) { wrapped(c.known_int(2)?, items.len() + 1)? as usize } else { items.len() };
        // Counted from the end, a place is one of the items.
        let place = if c.has(2) && c.known_int(2)? < 0 { place.saturating_sub(1) } else { place };
        items.insert(place, c.input(1));
        Ok(vec![Value::Sequence(items.into())])
    }),
    row("SequenceLength", |c| {
        let count = items(c, 0)?.len() as i64;
        Ok(vec![Value::number(ElementType::I64, Num::Int(count))])
    }),
    row("SequenceMap", map),
    row("SplitToSequence", split),
];

fn items<'c>(c: &Call<'_, '_, 'c>, place: usize) -> Eval<Vec<Value<'c>>> {
    match c.input(place) {
        Value::Sequence(items) => Ok(items.to_vec()),
        other => Err(format!("its input {place} is {} and no sequence", other.kind()).into()),
    }
}

/// A graph over the items of sequences.
fn map<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let graph = c.graph("body")?;
    let count = items(c, 0)?.len();
    let mut results = vec![Vec::new(); graph.output.len()];
    for place in 0..count {
        let mut inputs = Vec::new();
        for input in 0..c.inputs.len() {
            inputs.push(match c.input(input) {
                Value::Sequence(items) => items.get(place).cloned().ok_or("its sequences have different lengths")?,
                value => value,
            });
        }
        if inputs.len() != graph.input.len() {
            return Err("its graph takes another number of inputs".into());
        }
        let values: HashMap<_, _> = graph.input.iter().map(|input| input.name.as_str()).zip(inputs).collect();
        let mut inner = Scope { values, outer: Some(c.scope), attrs: c.scope.attrs, versions: c.scope.versions };
        for (list, value) in results.iter_mut().zip(c.importer.graph(graph, &mut inner)?) {
            list.push(value);
        }
    }
    Ok(results.into_iter().map(|list| Value::Sequence(list.into())).collect())
}

fn split<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let x = c.tensor(0)?;
    let axis = c.axis(0, x.ty().rank())?;
    let Num::Int(size) = c.importer.size_of(x, axis as usize) else {
        return Err("the length of the sequence depends on a call".into());
    };
    if size > MAX_ITEMS {
        return Err(format!("a sequence of {size} items is longer than {MAX_ITEMS}").into());
    }
    let (sizes, drop) = match c.has(1) {
        true => {
            let parts = c.known_ints(1)?;
            match (c.rank(1)?, &parts[..]) {
                (0, [part]) if *part > 0 => ((0..size).step_by(*part as usize).map(|start| (*part).min(size - start)).collect(), false),
                (0, _) => return Err("its parts have no size".into()),
                _ => (parts, false),
            }
        }
        false => (vec![1; size as usize], !c.flag("keepdims", true)),
    };
    let mut start = Num::Int(0);
    let mut parts = Vec::new();
    for size in sizes {
        let end = sum(c, start, Num::Int(size));
        parts.push(match drop {
            true => c.op(op::SELECT_INT, &[t(x), i(axis), n(start)])?,
            false => c.op(op::SLICE_TENSOR, &[t(x), i(axis), n(start), n(end)])?,
        });
        start = end;
    }
    Ok(vec![Value::Sequence(parts.into_iter().map(Value::Tensor).collect::<Vec<_>>().into())])
}
