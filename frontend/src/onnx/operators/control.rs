//! Branches and loops over graphs of their own.

use std::collections::HashMap;

use strata_core::ir::{self, OpSpec};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::scf;
use strata_dialects::aten::op;

use crate::onnx::call::{Call, i, n, t, unknown, wrapped};
use crate::onnx::error::{Eval, Stop};
use crate::onnx::importer::{Importer, Scope};
use crate::onnx::loops::{self, Start, Step, inside};
use crate::onnx::proto::Graph;
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};
use crate::types::widened;

pub(in crate::onnx) const ROWS: &[Row] = &[row("If", branch), row("Loop", repeated), row("Scan", scan)];

/// Imports a graph of a node, with these values for its inputs.
fn nested<'p, 'c>(
    importer: &mut Importer<'p, 'c>,
    graph: &'p Graph,
    scope: &Scope<'_, 'p, 'c>,
    inputs: Vec<Value<'c>>,
) -> Eval<Vec<Value<'c>>> {
    if inputs.len() != graph.input.len() {
        return Err(format!("its graph takes {} inputs, and is given {}", graph.input.len(), inputs.len()).into());
    }
    let values: HashMap<_, _> = graph.input.iter().map(|input| input.name.as_str()).zip(inputs).collect();
    let mut inner = Scope { values, outer: Some(scope), attrs: scope.attrs, versions: scope.versions };
    importer.graph(graph, &mut inner)
}

fn branch<'c>(c: &mut Call<'_, '_, 'c>) -> Eval<Vec<Value<'c>>> {
    let graphs = [c.graph("then_branch")?, c.graph("else_branch")?];
    let when = c.input(0);
    if let Some(when) = c.importer.truth(&when) {
        return nested(c.importer, graphs[usize::from(!when)], c.scope, Vec::new());
    }
    let condition = c.importer.condition(&when)?;
    let draft = c.importer.builder.op(OpSpec { name: scf::If::NAME, operands: &[condition], regions: 2, ..OpSpec::default() });
    let blocks = [0, 1].map(|region| c.importer.builder.add_block(draft.region(region), &[]));
    let mut ends = Vec::new();
    for (graph, block) in graphs.into_iter().zip(blocks) {
        let scope = c.scope;
        ends.push(inside(c.importer, block, |importer| nested(importer, graph, scope, Vec::new()))?);
    }
    let (mut leaves, mut shapes) = ([Vec::new(), Vec::new()], Vec::new());
    if ends[0].len() != ends[1].len() {
        return Err("its branches give different numbers of values".into());
    }
    for (yes, no) in ends[0].iter().zip(&ends[1]) {
        let counts = [yes, no].map(|value| if let Value::Sequence(items) = value { Some(items.len()) } else { None });
        if counts[0] != counts[1] {
            let why = "its branches give a tensor and a sequence, or sequences of different lengths";
            return Err(format!("{why}; {}", unknown("its condition")).into());
        }
        shapes.push(counts[0]);
        for (place, value) in [yes, no].into_iter().enumerate() {
            let items = if let Value::Sequence(items) = value { items.to_vec() } else { vec![value.clone()] };
            for item in items {
                let tensor = inside(c.importer, blocks[place], |importer| importer.tensor(&item))?;
                leaves[place].push(tensor);
            }
        }
    }
    let types = leaves[0].iter().zip(&leaves[1]).map(|(yes, no)| widened(yes.ty(), no.ty())).collect::<Result<Vec<_>, _>>();
    let types = types.map_err(|why| format!("{why}; {}", unknown("its condition")))?;
    for (place, block) in blocks.into_iter().enumerate() {
        for (value, ty) in leaves[place].iter_mut().zip(&types) {
            if value.ty() != *ty {
                *value = inside(c.importer, block, |importer| importer.retyped(*value, *ty))?;
            }
        }
    }
    let op =
        c.importer.builder.op(OpSpec { name: scf::If::NAME, operands: &[condition], results: &types, regions: 2, ..OpSpec::default() });
    for place in [0, 1] {
        let block = c.importer.builder.add_block(op.region(place), &[]);
        let mut builder = Rewriter::at_end(block, c.importer.builder.location());
        scf::yield_(&mut builder, &leaves[place]);
        if let Some(terminator) = block.terminator() {
            builder.inline_block_before(blocks[place], terminator, &[]);
        }
    }
    c.importer.builder.erase(draft);
    let mut results = op.results().into_iter().map(Value::Tensor);
    let value = |count: Option<usize>| match count {
        Some(count) => Value::Sequence(results.by_ref().take(count).collect::<Vec<_>>().into()),
        None => results.next().unwrap_or(Value::Absent),
    };
    Ok(shapes.into_iter().map(value).collect())
}

fn repeated<'p, 'c>(c: &mut Call<'_, 'p, 'c>) -> Eval<Vec<Value<'c>>> {
    let graph = c.graph("body")?;
    let count = if c.has(0) { c.numbers(0)?.first().copied() } else { None };
    // More steps than there are numbers are no bound.
    let count = count.filter(|count| *count != Num::Int(i64::MAX));
    let truth = || Value::number(ir::ElementType::Bool, Num::Int(1));
    let goes_on = if c.has(1) { c.input(1) } else { truth() };
    let start = c.inputs.get(2..).unwrap_or_default().to_vec();
    let (carried, scope) = (start.len(), c.scope);
    let mut body = |importer: &mut Importer<'p, 'c>, place: Num<'c>, goes_on: Value<'c>, state: &[Value<'c>]| {
        let place = Value::number(ir::ElementType::I64, place);
        let inputs = [place, goes_on].into_iter().chain(state.iter().cloned()).collect();
        let mut outputs = nested(importer, graph, scope, inputs)?.into_iter();
        let goes_on = outputs.next().ok_or("its body gives no condition")?;
        let next: Vec<_> = outputs.by_ref().take(carried).collect();
        Ok(Step { goes_on, carried: next, rows: outputs.collect() })
    };
    let (carried, rows) = loops::run(c.importer, Start { count, goes_on, carried: start, sizes: None }, &mut body)?;
    Ok(carried.into_iter().chain(rows).collect())
}

/// A loop over slices of tensors.
fn scan<'p, 'c>(c: &mut Call<'_, 'p, 'c>) -> Eval<Vec<Value<'c>>> {
    if c.version < 9 {
        return Err("before version 9 it had other inputs; convert the model with onnx.version_converter".into());
    }
    let graph = c.graph("body")?;
    let scanned = usize::try_from(c.int("num_scan_inputs", 0)).ok().filter(|count| *count > 0 && *count <= c.inputs.len());
    let scanned = scanned.ok_or("it scans no input")?;
    let carried = c.inputs.len() - scanned;
    let list = |name: &str, count: usize| c.ints(name).unwrap_or_else(|| vec![0; count]);
    let outputs = graph.output.len().saturating_sub(carried);
    let (axes, directions) = (list("scan_input_axes", scanned), list("scan_input_directions", scanned));
    let (out_axes, out_directions) = (list("scan_output_axes", outputs), list("scan_output_directions", outputs));
    if [axes.len(), directions.len()] != [scanned; 2] || [out_axes.len(), out_directions.len()] != [outputs; 2] {
        return Err("its lists of axes and directions have other lengths than its inputs and outputs".into());
    }
    let mut slices = Vec::new();
    for place in 0..scanned {
        let mut x = c.tensor(carried + place)?;
        let axis = wrapped(axes[place], x.ty().rank())?;
        if directions[place] != 0 {
            x = c.op(op::FLIP, &[t(x), crate::onnx::call::is(&[axis])])?;
        }
        slices.push((x, axis));
    }
    let count = c.importer.size_of(slices[0].0, slices[0].1 as usize);
    let start = c.inputs[..carried].to_vec();
    let (scope, truth) = (c.scope, Value::number(ir::ElementType::Bool, Num::Int(1)));
    let always = truth.clone();
    let mut body = |importer: &mut Importer<'p, 'c>, place: Num<'c>, _: Value<'c>, state: &[Value<'c>]| {
        let mut inputs = state.to_vec();
        for (x, axis) in &slices {
            inputs.push(Value::Tensor(importer.op(op::SELECT_INT, &[t(*x), i(*axis), n(place)])?));
        }
        let mut outputs = nested(importer, graph, scope, inputs)?;
        let rows = outputs.split_off(carried.min(outputs.len()));
        Ok::<_, Stop>(Step { goes_on: always.clone(), carried: outputs, rows })
    };
    let (mut results, rows) = loops::run(c.importer, Start { count: Some(count), goes_on: truth, carried: start, sizes: None }, &mut body)?;
    for (place, rows) in rows.into_iter().enumerate() {
        let mut rows = c.importer.tensor(&rows)?;
        if out_directions[place] != 0 {
            rows = c.op(op::FLIP, &[t(rows), crate::onnx::call::is(&[0])])?;
        }
        let axis = wrapped(out_axes[place], rows.ty().rank())?;
        if axis != 0 {
            rows = c.op(op::MOVEDIM_INT, &[t(rows), i(0), i(axis)])?;
        }
        results.push(Value::Tensor(rows));
    }
    Ok(results)
}
