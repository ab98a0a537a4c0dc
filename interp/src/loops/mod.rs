//! `loop` kernels, point by point.
//!
//! Without a schedule each stage runs over its whole domain before the next. With one, a kernel runs in the order that the schedule
//! says: all stages at a point of the outer loops, those loops cut into blocks, tiles and register tiles. A stage that reads what this
//! order computes later is an error, so that a schedule that does not fit its kernel shows.

pub(super) mod body;
pub(super) mod partial;
mod softmax;
mod stage;

use strata_core::ir::{Attr, Op};
use strata_core::upstream::arith;
use strata_dialects::loops;
use strata_dialects::loops::schedule::{NestLoop, SCHEDULE, nest};
use strata_dialects::loops::view::KernelView;

use super::affine::Expr;
use super::budget;
use super::run::{Machine, Slot, place, unsupported};
use super::tensor::Tensor;
use super::value::{InterpError, Results, Value, fail};
use crate::DType;
use stage::Stage;

/// Runs an op of the dialect that stands in a program: `loop.call` or `loop.words`.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    let operands = op.operands().into_iter().map(|v| m.get(v)).collect::<Result<Vec<_>, _>>()?;
    if op.isa::<loops::Words>() {
        return words(&operands);
    }
    if !op.isa::<loops::Call>() {
        return Err(unsupported(op));
    }
    let kernel = find(m, op)?;
    run_kernel(m, kernel, operands)
}

/// The elements of a tensor, which lie in the order of their bytes, as words.
fn words(operands: &[Value]) -> Results {
    let [Value::Tensor(tensor)] = operands else { return Err(fail("one tensor is read as words")) };
    let mut shape = tensor.shape().to_vec();
    let last = shape.last_mut().ok_or_else(|| fail("a tensor without dims has no words"))?;
    *last = *last * tensor.dtype().size() / DType::I32.size();
    Tensor::from_bytes(DType::I32, &shape, &tensor.to_bytes()).map(|words| vec![Value::Tensor(words)])
}

/// The kernel that an op calls.
pub(super) fn find<'c>(m: &Machine<'c>, op: Op<'c>) -> Result<Op<'c>, InterpError> {
    let name = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
    m.module.lookup_symbol(&name).filter(|k| k.isa::<loops::Kernel>()).ok_or_else(|| fail(format!("kernel `@{name}` is not defined")))
}

/// The shapes of a kernel's arguments and results, as maps over its symbols.
pub(super) fn shapes(kernel: Op<'_>, symbols: &[i64]) -> Result<Vec<Vec<usize>>, InterpError> {
    maps(kernel, "shapes").iter().map(|map| sizes(map, symbols)).collect()
}

/// The values of the kernel's symbols among its arguments.
pub(super) fn symbols(kernel: Op<'_>, arguments: &[Value]) -> Result<Vec<i64>, InterpError> {
    let positions = kernel.ints("symbols").unwrap_or_default();
    positions
        .into_iter()
        .map(|p| match usize::try_from(p).ok().and_then(|p| arguments.get(p)) {
            Some(Value::Scalar(s)) => Ok(s.int() as i64),
            _ => Err(fail("a symbol is not an index argument")),
        })
        .collect()
}

fn maps(op: Op<'_>, name: &str) -> Vec<Vec<Expr>> {
    op.attr(name).and_then(Attr::as_array).unwrap_or_default().into_iter().filter_map(Attr::as_map).map(Expr::map).collect()
}

fn sizes(map: &[Expr], symbols: &[i64]) -> Result<Vec<usize>, InterpError> {
    map.iter().map(|e| usize::try_from(e.value(&[], symbols)?).map_err(|_| fail("a negative size"))).collect()
}

/// Runs a kernel on its arguments.
pub(super) fn run_kernel<'c>(m: &mut Machine<'c>, kernel: Op<'c>, arguments: Vec<Value>) -> Results {
    let symbols = symbols(kernel, &arguments)?;
    let dims = kernel.attr("sizes").and_then(Attr::as_map).ok_or_else(|| fail("the kernel has no sizes"))?;
    let sizes = sizes(&Expr::map(dims), &symbols)?;
    let block = kernel.regions().first().and_then(|r| r.entry()).ok_or_else(|| fail("the kernel is empty"))?;
    for (at, value) in block.args().into_iter().zip(arguments) {
        m.bind_slot(at, Slot::Plain(value));
    }
    for op in block.ops().into_iter().filter(|op| op.isa::<arith::Constant>()) {
        super::scalar::run(m, op).and_then(|value| m.bind_results(op, value)).map_err(|e| e.at(op.name(), &place(op)))?;
    }
    let scheduled = kernel.attr(SCHEDULE).and_then(|_| KernelView::new(kernel)).filter(|view| view.op.body(0).terminator().is_some());
    match scheduled {
        Some(view) => {
            for phase in view.phases() {
                let stages: Vec<Op<'c>> = phase.stages.iter().map(|stage| stage.op).collect();
                run_stages(m, &stages, &phase.outer, &nest(&phase), &sizes, &symbols)?;
            }
        }
        None => {
            for op in block.ops().into_iter().filter(|op| op.isa::<loops::Stage>() || op.isa::<loops::Scatter>()) {
                run_stages(m, &[op], &[], &[], &sizes, &symbols)?;
            }
        }
    }
    let end = block.terminator().filter(|op| op.isa::<loops::Return>()).ok_or_else(|| fail("the kernel does not return"))?;
    end.operands().into_iter().map(|v| m.get(v)).collect()
}

/// Runs some stages together: all of them at each point of the `outer` dims, which the loops of `nest` visit.
fn run_stages<'c>(
    m: &mut Machine<'c>,
    ops: &[Op<'c>],
    outer: &[usize],
    nest: &[NestLoop],
    sizes: &[usize],
    symbols: &[i64],
) -> Result<(), InterpError> {
    let mut stages = Vec::new();
    for &op in ops {
        // A stage finds what those before it compute, as far as they have come.
        let stage = Stage::new(m, op, sizes, symbols, outer).map_err(|e| e.at(op.name(), &place(op)))?;
        stages.push(stage);
    }
    let ranges: Vec<(usize, usize)> = sizes.iter().map(|&size| (0, size)).collect();
    let mut visits = 0u64;
    each_point(nest, &ranges, &mut |point| {
        visits += 1;
        if visits.is_multiple_of(TIME_CHECK) {
            budget::time()?;
        }
        stages.iter_mut().try_for_each(|stage| stage.run_at(point).map_err(|e| e.at(stage.op.name(), &place(stage.op))))
    })?;
    stages.into_iter().try_for_each(|stage| stage.finish(m))
}

/// Points of the outer loops between two looks at the time.
const TIME_CHECK: u64 = 1 << 10;

/// Calls `f` with each point that a nest of loops visits; dims without a loop stay at the start of their range.
fn each_point(
    nest: &[NestLoop],
    ranges: &[(usize, usize)],
    f: &mut dyn FnMut(&[i64]) -> Result<(), InterpError>,
) -> Result<(), InterpError> {
    let Some((first, rest)) = nest.split_first() else {
        return f(&ranges.iter().map(|range| range.0 as i64).collect::<Vec<_>>());
    };
    let (begin, end) = ranges[first.dim];
    let mut inner = ranges.to_vec();
    for start in (begin..end).step_by(usize::try_from(first.step).unwrap_or(1).max(1)) {
        inner[first.dim] = (start, end.min(start.saturating_add(first.step as usize)));
        each_point(rest, &inner, f)?;
    }
    Ok(())
}
