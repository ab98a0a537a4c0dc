//! `--schedule-cpu`: a first cost model that writes schedules for the CPU.
//!
//! For every kernel it chooses the dim that lanes run along (the outer loops' or each stage's own), the number of lanes, the order
//! of the outer loops, and how far they are unrolled so that a contraction's operands are reused from registers.
//! A schedule only changes speed: without this pass the same kernels run one element at a time.
//!
//! ```mlir
//! loop.kernel {sym_name = "k", ...} ...
//! // becomes
//! loop.kernel {sym_name = "k", schedule = {order = array<i64: 0, 1>, unroll = array<i64: 8, 2>, vector = 1, width = 16}, ...} ...
//! ```

use crate::kernel_view::{KernelView, StageView};
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, DYNAMIC, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};

/// Writes a schedule for the CPU on every kernel.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct ScheduleCpu {
    /// Bits of a vector register.
    #[option(default = 512)]
    vector_bits: i64,
}

impl Pass for ScheduleCpu {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        for kernel in op.find_all("loop.kernel") {
            schedule(kernel, self.vector_bits);
        }
        Ok(())
    }
}

/// A size that is not known while compiling is taken for this one.
const TYPICAL: i64 = 64;
/// Rows that a contraction keeps in registers.
const ROWS: i64 = 8;

/// Copies that hide the latency of long bodies and of accumulators.
const TURNS: i64 = 4;

/// How an access moves when one dim moves by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stride {
    Zero,
    One,
    Other,
}

/// Writes the schedule of one kernel.
pub fn schedule(op: Op<'_>, vector_bits: i64) {
    let Some(kernel) = KernelView::new(op) else { return };
    let cx = op.cx();
    let width = lanes(&kernel, vector_bits);
    let size = |dim: usize| kernel.static_size(dim).unwrap_or(TYPICAL);
    let weight = |stage: &StageView<'_>| stage.domain.iter().map(|&dim| size(dim) as f64).product::<f64>();
    // Cost of all stages with lanes along an outer dim, and with lanes of their own.
    let along = |dim: usize| kernel.stages.iter().map(|stage| weight(stage) * cost(stage, Some(dim), width, size(dim))).sum::<f64>();
    let own: Vec<_> = kernel.stages.iter().map(|stage| own_dim(&kernel, stage, width, &size)).collect();
    let own_cost: f64 = kernel.stages.iter().zip(&own).map(|(stage, own)| weight(stage) * own.1).sum();
    let outer = kernel.outer.iter().copied().map(|dim| (dim, along(dim))).min_by(|x, y| x.1.total_cmp(&y.1));
    let vector = outer.filter(|(_, cost)| width > 1 && *cost <= own_cost).map(|(dim, _)| dim);
    let order = order(&kernel, vector);
    let dims: Vec<i64> = order.iter().map(|&dim| dim as i64).collect();
    let mut entries = vec![("order", cx.i64s_attr(&dims))];
    if let Some(vector) = vector {
        let width = kernel.static_size(vector).map_or(width, |size| width.min(enough(size)));
        let unroll: Vec<i64> = order.iter().map(|&dim| unroll(&kernel, vector, dim, width)).collect();
        entries.extend([("unroll", cx.i64s_attr(&unroll)), ("vector", cx.i64_attr(vector as i64)), ("width", cx.i64_attr(width))]);
    } else if width > 1 {
        let tile = tile_dim(&kernel, &own);
        if let Some(tile) = tile {
            let rest: Vec<i64> = dims.iter().copied().filter(|&dim| dim != tile as i64).collect();
            entries = vec![("order", cx.i64s_attr(&rest))];
        }
        for (stage, (dim, _)) in kernel.stages.iter().zip(&own) {
            let Some(dim) = dim.or(tile) else { continue };
            let wanted = side_by_side(stage);
            let turns = if size(dim) < wanted * width { 1 } else { wanted };
            let width = kernel.static_size(dim).map_or(width, |size| width.min(enough(size)));
            let mut entries = vec![("vector", cx.i64_attr(dim as i64)), ("width", cx.i64_attr(width)), ("unroll", cx.i64_attr(turns))];
            if tile.is_some() && !stage.reduce.is_empty() {
                stage.op.set_attr("space", cx.str_attr("tile"));
                // Several rows of accumulators, rather than several accumulators of one row.
                entries[2].1 = cx.i64_attr(1);
                entries.push(("rows", cx.i64_attr(TURNS)));
            }
            stage.op.set_attr("schedule", cx.dict_attr(&entries));
        }
    }
    op.set_attr("schedule", cx.dict_attr(&entries));
}

/// Lanes that hold a dim of this size.
fn enough(size: i64) -> i64 {
    (size.max(1) as u64).next_power_of_two() as i64
}

/// Lanes that fit a register for the widest element of the kernel; one where bodies have no vector form.
fn lanes(kernel: &KernelView<'_>, vector_bits: i64) -> i64 {
    let mut widest = 8;
    for stage in &kernel.stages {
        for op in stage.op.body(0).ops() {
            if op.dialect() == "complex" {
                return 1;
            }
            let types = op.result_types().into_iter().chain(op.operand_types());
            widest = types
                .filter(|ty| !ty.is_index() && !ty.is_tensor())
                .filter_map(|ty| ty.element_type())
                .map(|element| i64::from(element.bits()))
                .fold(widest, i64::max);
        }
        for arg in stage.op.body(0).args() {
            match arg.ty().element_type() {
                Some(element) if element.is_complex() => return 1,
                Some(element) => widest = widest.max(i64::from(element.bits())),
                None => return 1,
            }
        }
    }
    (vector_bits / widest.max(8)).clamp(1, 32)
}

/// The relative time of one point of a stage with lanes along a dim.
fn cost(stage: &StageView<'_>, lanes: Option<usize>, width: i64, size: i64) -> f64 {
    let body = stage.op.body(0).ops().len() as f64;
    let Some(dim) = lanes else { return 1.0 + body };
    if stage.is_scatter() || stage.scan == Some(dim) || !stage.domain.contains(&dim) {
        return 1.0 + body;
    }
    // Lanes that are used of those that are there.
    let used = (size as f64 / (size as f64 / width as f64).ceil()).max(1.0);
    let mut total = body / used;
    for (operand, map) in stage.op.operands().into_iter().zip(&stage.maps) {
        total += match stride(*map, operand, dim) {
            Stride::Zero => 0.1,
            Stride::One => 1.0 / used,
            Stride::Other => 1.0,
        };
    }
    let loads = stage.op.body(0).ops().iter().filter(|op| op.is("loop.load")).count();
    total += loads as f64 * 0.5;
    if stage.reduce.is_empty() {
        let contiguous = stage.result_dims().last() == Some(&dim);
        total += if contiguous { 1.0 / used } else { 1.0 };
    }
    total
}

/// The best dim for lanes inside a stage, with its cost.
fn own_dim(kernel: &KernelView<'_>, stage: &StageView<'_>, width: i64, size: &dyn Fn(usize) -> i64) -> (Option<usize>, f64) {
    let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    let none = (None, cost(stage, None, width, 1));
    if arg || stage.scan.is_some() || stage.is_scatter() {
        return none;
    }
    let inner = stage.domain.iter().copied().filter(|dim| !kernel.outer.contains(dim));
    inner
        .map(|dim| (Some(dim), cost(stage, Some(dim), width, size(dim))))
        .fold(none, |best, next| if next.1 < best.1 { next } else { best })
}

/// Copies of a body that are worth writing: accumulators and chains of mathematics wait for their own results. Very long chains
/// get fewer, for the sake of compile time.
fn side_by_side(stage: &StageView<'_>) -> i64 {
    let mathematics = stage.op.body(0).ops().iter().filter(|op| op.dialect() == "math").count();
    match mathematics {
        0 | 1 if stage.reduce.is_empty() => 1,
        0..=8 => TURNS,
        _ => TURNS / 2,
    }
}

/// Largest number of elements that a tile keeps on the stack.
const TILE: i64 = 4096;

/// The outer dim that moves inside, when a contraction runs its lanes along what it reduces: its results for the last outer dim
/// become a tile, and what follows runs with lanes over the tile instead of one element at a time.
fn tile_dim(kernel: &KernelView<'_>, own: &[(Option<usize>, f64)]) -> Option<usize> {
    let (reductions, maps): (Vec<_>, Vec<_>) = kernel.stages.iter().zip(own).partition(|(stage, _)| !stage.reduce.is_empty());
    let [(reduction, (Some(_), _))] = reductions.as_slice() else { return None };
    let last = *reduction.parallel().last()?;
    let size = kernel.static_size(last)?;
    let rows: i64 = kernel.outer.iter().filter(|dim| **dim != last).map(|&dim| kernel.static_size(dim).unwrap_or(TYPICAL)).product();
    // A single reduction over rows is better off with several accumulators, and with its rows split over threads.
    let worth = reduction.maps.len() > 1 && (rows >= 4 || size <= 256);
    let fits = (2..=TILE).contains(&size) && worth;
    let arg = reduction.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    let follow = maps.iter().all(|(stage, _)| stage.scan.is_none() && !stage.is_scatter() && stage.parallel() == reduction.parallel());
    (fits && follow && !arg && kernel.outer.last() == Some(&last)).then_some(last)
}

/// Outer dims with lanes innermost, and dims of one iteration just before them: the first loop is what threads share.
fn order(kernel: &KernelView<'_>, vector: Option<usize>) -> Vec<usize> {
    let mut order = kernel.outer.clone();
    order.sort_by_key(|&dim| (Some(dim) == vector, kernel.static_size(dim) == Some(1)));
    order
}

/// Copies of the body along an outer dim: a contraction reuses what it loads for several rows and vectors.
fn unroll(kernel: &KernelView<'_>, vector: usize, dim: usize, width: i64) -> i64 {
    let Some(stage) = kernel.stages.iter().find(|stage| !stage.reduce.is_empty()) else {
        let wanted = kernel.stages.iter().map(side_by_side).min().unwrap_or(1);
        let enough = kernel.static_size(dim).unwrap_or(TYPICAL) >= wanted * width;
        return if dim == vector && enough { wanted } else { 1 };
    };
    let touches = |dim: usize| {
        let uses = stage.maps.iter().map(|map| map.results().iter().any(|expr| expr.uses_dim(dim)));
        uses.filter(|used| *used).count()
    };
    // Reuse along a dim needs an operand that does not move with it, and a reused operand that does.
    let reused = |dim: usize| touches(dim) < stage.maps.len() && touches(dim) > 0;
    if stage.maps.len() < 2 || !reused(vector) {
        return 1;
    }
    let size = kernel.static_size(dim).unwrap_or(TYPICAL);
    if dim == vector {
        return if size >= 2 * width { 2 } else { 1 };
    }
    // One dim of rows: the last one before the lanes whose operands differ from those of the lanes.
    let moves = |dim: usize| -> Vec<bool> { stage.maps.iter().map(|map| map.results().iter().any(|expr| expr.uses_dim(dim))).collect() };
    let fits = |row: usize| row != vector && reused(row) && moves(row) != moves(vector) && kernel.static_size(row) != Some(1);
    let rows = kernel.outer.iter().copied().rfind(|&row| fits(row));
    if rows == Some(dim) { size.min(ROWS) } else { 1 }
}

/// How an access moves along a dim.
fn stride(map: AffineMap<'_>, operand: Value<'_>, dim: usize) -> Stride {
    let shape = operand.ty().shape();
    let mut total = Stride::Zero;
    let mut inner = Some(1i64);
    for (expr, &size) in map.results().into_iter().zip(&shape).rev() {
        let step = coefficient(expr, dim);
        total = match (step, total, inner) {
            (Some(0), _, _) => total,
            (Some(1), Stride::Zero, Some(1)) => Stride::One,
            _ => Stride::Other,
        };
        inner = if size == DYNAMIC { None } else { inner.map(|inner| inner.saturating_mul(size)) };
    }
    total
}

/// The factor of a dim in an expression, when the expression is linear in it.
fn coefficient(expr: AffineExpr<'_>, dim: usize) -> Option<i64> {
    if !expr.uses_dim(dim) {
        return Some(0);
    }
    match expr.kind() {
        AffineKind::Dim(_) => Some(1),
        AffineKind::Add(lhs, rhs) => Some(coefficient(lhs, dim)? + coefficient(rhs, dim)?),
        AffineKind::Mul(lhs, rhs) => match (lhs.as_constant(), rhs.as_constant()) {
            (Some(factor), _) => Some(factor * coefficient(rhs, dim)?),
            (_, Some(factor)) => Some(factor * coefficient(lhs, dim)?),
            _ => None,
        },
        _ => None,
    }
}
