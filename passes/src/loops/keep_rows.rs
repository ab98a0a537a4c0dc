//! `--keep-rows`: what a reduction computes for each element of a row is kept, when a later stage would compute it again.
//!
//! A softmax sums `exp(x - max)` over a row and then divides each of them by the sum. The exponentials become a stage of their own
//! whose result is a tile: one row that stays in the core's own cache.
//!
//! ```mlir
//! %1 = loop.stage %x, %0 {domain = array<i64: 0, 3>, reduce = array<i64: 3>, reducer = "sum", ...}   // exp(x - max)
//! %2 = loop.stage %x, %0, %1 {domain = array<i64: 0, 1>, ...}                                        // exp(x - max) / sum
//! // becomes
//! %e = loop.stage %x, %0 {domain = array<i64: 0, 3>, space = "tile", ...}                            // exp(x - max)
//! %1 = loop.stage %e {domain = array<i64: 0, 3>, reduce = array<i64: 3>, reducer = "sum", ...}
//! %2 = loop.stage %e, %1 {domain = array<i64: 0, 1>, ...}                                            // e / sum
//! ```
//!
//! Only mathematics is worth the memory: a row must have a known size that fits the cache, and be read in the order of memory.

use strata_core::ir::{AffineExpr, AffineMap, DYNAMIC, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::{Matched, NoMatch, Rewriter};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::edit::{erase_unused, set_reads, set_space};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Target;

/// Keeps rows of mathematics for the stages that need them again.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct KeepRows {}

impl Pass for KeepRows {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let most = Target::of(op)?.row_bytes();
        let mut rewriter = cx.rewriter();
        for op in op.find_all(loops::Stage::NAME) {
            let Some(kernel) = op.parent().and_then(KernelView::new) else { continue };
            let Some(at) = kernel.stages.iter().position(|stage| stage.op == op && is_candidate(stage)) else { continue };
            cx.remarks().found(op, keep(&kernel, at, most, &mut rewriter));
        }
        Ok(())
    }
}

/// Whether a stage reduces mathematics.
fn is_candidate(stage: &StageView<'_>) -> bool {
    !stage.reduce.is_empty() && stage.op.body(0).ops().iter().any(|op| op.dialect() == "math")
}

/// Keeps the row that a stage reduces, of at most so many bytes.
fn keep<'c>(kernel: &KernelView<'c>, at: usize, most: i64, rewriter: &mut Rewriter<'c>) -> Matched {
    let row = Row::of(kernel, &kernel.stages[at], most)?;
    let again: Vec<_> = kernel.stages[at + 1..].iter().filter_map(|later| row.again(kernel, later)).collect();
    if again.is_empty() {
        return Err("no later stage computes the row again".into());
    }
    row.keep(kernel, &again, rewriter);
    Ok(())
}

/// What a reduction yields for each element of a row.
struct Row<'k, 'c> {
    stage: &'k StageView<'c>,
    dim: usize,
    yielded: Value<'c>,
}

/// A stage that computes the row again, along its dim `dim`, as `value`.
struct Again<'k, 'c> {
    stage: &'k StageView<'c>,
    dim: usize,
    value: Value<'c>,
}

impl<'k, 'c> Row<'k, 'c> {
    fn of(kernel: &KernelView<'c>, stage: &'k StageView<'c>, most: i64) -> Result<Self, NoMatch> {
        let [dim] = stage.reduce[..] else { return Err("it reduces several dims".into()) };
        let yielded = stage.op.body(0).terminator().and_then(|end| end.operands().first().copied()).ok_or("it yields nothing")?;
        let size = kernel.static_size(dim).ok_or("the size of a row is not known")?;
        let bytes = size.saturating_mul(yielded.ty().element_type().map_or(i64::MAX, |element| element.bytes() as i64));
        let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
        let outer = stage.parallel().iter().all(|dim| kernel.outer.contains(dim));
        let mut strides = stage.op.operands().into_iter().zip(&stage.maps).map(|(operand, map)| stride(*map, operand, dim));
        let in_order = strides.all(|stride| stride != Stride::Other);
        if !outer || arg || stage.is_in_parts() || yielded.ty().is_index() {
            return Err("it reduces positions, pieces or segments, or its results are no rows of the outer loops".into());
        }
        if !in_order {
            return Err("a row is not read in the order of memory".into());
        }
        if bytes > most {
            return Err(format!("a row of {bytes} bytes is larger than {most}, which stay in the cache").into());
        }
        Ok(Self { stage, dim, yielded })
    }

    /// Where a later stage computes the row again.
    fn again(&self, kernel: &KernelView<'c>, stage: &'k StageView<'c>) -> Option<Again<'k, 'c>> {
        if stage.is_scatter() || stage.scan.is_some() || stage.is_in_parts() {
            return None;
        }
        let mut own = stage.domain.iter().copied().filter(|dim| !self.stage.domain.contains(dim) || *dim == self.dim);
        let (dim, None) = (own.next()?, own.next()) else { return None };
        let around = self.stage.parallel().iter().all(|dim| stage.domain.contains(dim));
        if !around || kernel.outer.contains(&dim) || kernel.static_size(dim) != kernel.static_size(self.dim) {
            return None;
        }
        let value = stage.op.body(0).ops().into_iter().flat_map(Op::results).find(|&value| self.same(self.yielded, stage, dim, value))?;
        Some(Again { stage, dim, value })
    }

    /// Whether `mine`, of the row's body, is what `theirs` is in the body of `stage`, where that has `dim` for the row's dim.
    fn same(&self, mine: Value<'c>, stage: &StageView<'c>, dim: usize, theirs: Value<'c>) -> bool {
        let argument =
            |stage: &StageView<'c>, value: Value<'c>| value.owner_block().filter(|block| *block == stage.op.body(0)).map(|_| value.index());
        match (mine.defining_op(), theirs.defining_op()) {
            (None, None) => match (argument(self.stage, mine), argument(stage, theirs)) {
                (Some(mine), Some(theirs)) => {
                    self.stage.op.operand(mine) == stage.op.operand(theirs)
                        && self.stage.guarded[mine] == stage.guarded[theirs]
                        && rename(self.stage.maps[mine], self.dim, dim) == stage.maps[theirs].results()
                }
                (None, None) => mine == theirs,
                _ => false,
            },
            (Some(mine), Some(theirs)) => {
                let pure = matches!(mine.dialect(), "arith" | "math" | "complex") && mine.num_results() == 1;
                let operands = mine.operands().into_iter().zip(theirs.operands());
                pure && mine.name() == theirs.name()
                    && mine.attrs() == theirs.attrs()
                    && mine.result_types() == theirs.result_types()
                    && mine.num_operands() == theirs.num_operands()
                    && operands.into_iter().all(|(mine, their)| self.same(mine, stage, dim, their))
            }
            _ => false,
        }
    }

    /// Makes the row a stage, and reads it wherever it was computed.
    fn keep(&self, kernel: &KernelView<'c>, again: &[Again<'_, 'c>], rewriter: &mut Rewriter<'c>) {
        let cx = self.stage.op.cx();
        rewriter.go_before(self.stage.op);
        let op = rewriter.clone_op(self.stage.op, &self.stage.op.operands());
        let shape: Vec<_> = self.stage.domain.iter().map(|&dim| kernel.static_size(dim).unwrap_or(DYNAMIC)).collect();
        let result = op.result(0);
        rewriter.set_type(result, cx.tensor(&shape, self.yielded.ty()));
        for name in ["reduce", "reducer"] {
            rewriter.remove_attr(op, name);
        }
        set_space(rewriter, op, "tile");
        read(kernel, self.stage, self.yielded, result, &self.stage.domain, rewriter);
        for later in again {
            let place: Vec<_> = self.stage.domain.iter().map(|&dim| if dim == self.dim { later.dim } else { dim }).collect();
            read(kernel, later.stage, later.value, result, &place, rewriter);
        }
    }
}

/// The results of a map with one dim in the place of another.
fn rename<'c>(map: AffineMap<'c>, from: usize, to: usize) -> Vec<AffineExpr<'c>> {
    let cx = map.cx();
    let dims: Vec<_> = (0..map.num_dims()).map(|dim| cx.dim(if dim == from { to } else { dim })).collect();
    let renaming = cx.map(map.num_dims(), map.num_symbols(), &dims);
    map.results().into_iter().map(|expr| expr.compose(renaming)).collect()
}

/// Replaces a value in the body of a stage by a read of `tensor` at these dims, and forgets what only that value needed.
fn read<'c>(
    kernel: &KernelView<'c>,
    stage: &StageView<'c>,
    value: Value<'c>,
    tensor: Value<'c>,
    place: &[usize],
    rewriter: &mut Rewriter<'c>,
) {
    let (op, cx) = (stage.op, stage.op.cx());
    let body = op.body(0);
    let argument = body.add_arg(value.ty(), op.location());
    rewriter.replace_uses(value, argument);
    erase_unused(rewriter, body);
    let access: Vec<_> = place.iter().map(|&dim| cx.dim(dim)).collect();
    let map = cx.map(kernel.num_dims(), kernel.sizes.num_symbols(), &access);
    let (mut operands, mut maps, mut guarded) = (op.operands(), stage.maps.clone(), stage.guarded.clone());
    operands.push(tensor);
    maps.push(map);
    guarded.push(false);
    for at in (0..operands.len()).rev() {
        if !body.arg(at).is_unused() {
            continue;
        }
        rewriter.erase_arg(body, at);
        operands.remove(at);
        maps.remove(at);
        guarded.remove(at);
    }
    set_reads(rewriter, op, &operands, &maps, &guarded);
}
