//! Borders and insides: where no guarded access can leave its operand, nothing is tested.
//!
//! The schedule names outer dims (`peel`). The loop of such a dim becomes three: the indices before and behind those at which every
//! guarded access stays inside, and the inside itself. What is known of indices is an interval for each dim.

use super::Error;
use super::emitter::Emitter;
use super::nest::{Body, Copy, Loop, Tail};
use crate::num::Num;
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, AffineKind, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::access::coefficient;
use strata_dialects::loops::view::StageView;

/// The smallest and the largest value.
type Interval = (i64, i64);

/// What is known of the indices of the loops being written.
#[derive(Default)]
pub(crate) struct Insides {
    /// Values that each dim has here.
    bounds: Vec<Option<Interval>>,
    /// Dims whose loops are to be split: first and one past the last index inside.
    splits: HashMap<usize, Interval>,
}

impl Insides {
    /// Nothing but the sizes of the dims.
    pub(super) fn of(sizes: &[Num<'_>]) -> Self {
        let whole = |size: &Num<'_>| match size {
            Num::Const(size) => Some((0, size - 1)),
            Num::Value(_) => None,
        };
        Self { bounds: sizes.iter().map(whole).collect(), splits: HashMap::new() }
    }
}

impl<'c> Emitter<'c> {
    /// Finds the insides of the dims that the schedule names.
    pub(super) fn find_insides(&mut self) {
        let stages = self.stages();
        for dim in self.kernel.schedule().peel.unwrap_or_default() {
            let Some(Num::Const(size)) = self.sizes.get(dim).copied() else { continue };
            let found = stages.iter().try_fold((0, size), |inside, stage| self.inside_of(stage, dim, inside));
            if let Some(inside) = found.filter(|&(begin, end)| begin < end && (begin, end) != (0, size)) {
                self.insides.splits.insert(dim, inside);
            }
        }
    }

    /// The part of some indices of a dim at which no guarded access of a stage can leave its operand along it.
    fn inside_of(&self, stage: &StageView<'c>, dim: usize, (mut begin, mut end): Interval) -> Option<Interval> {
        for (operand, map) in stage.maps.iter().enumerate().filter(|(operand, _)| stage.guarded[*operand]) {
            let buffer = self.buffers.get(&stage.op.operand(operand))?;
            for (expr, extent) in map.results().into_iter().zip(&buffer.shape).filter(|(expr, _)| expr.uses_dim(dim)) {
                let (factor, Num::Const(extent)) = (coefficient(expr, dim).filter(|&factor| factor > 0)?, *extent) else { return None };
                let (least, most) = self.interval(expr, Some(dim))?;
                begin = begin.max((-least + factor - 1).div_euclid(factor));
                end = end.min((extent - 1 - most).div_euclid(factor) + 1);
            }
        }
        Some((begin, end))
    }

    /// The values of an expression; those of one dim count as 0.
    fn interval(&self, expr: AffineExpr<'c>, without: Option<usize>) -> Option<Interval> {
        let again = |expr| self.interval(expr, without);
        Some(match expr.kind() {
            AffineKind::Constant(number) => (number, number),
            AffineKind::Dim(dim) if without == Some(dim) => (0, 0),
            AffineKind::Dim(dim) => (*self.insides.bounds.get(dim)?)?,
            AffineKind::Add(lhs, rhs) => add(again(lhs)?, again(rhs)?),
            AffineKind::Mul(lhs, rhs) => multiply(again(lhs)?, again(rhs)?),
            _ => return None,
        })
    }

    /// Whether an index is known to stay inside of an extent here.
    pub(super) fn stays_inside(&self, expr: AffineExpr<'c>, extent: Num<'c>) -> bool {
        let Num::Const(extent) = extent else { return false };
        self.interval(expr, None).is_some_and(|(least, most)| least >= 0 && most < extent)
    }

    /// Comparisons `0 <= index < size` of a body that hold for all points here.
    pub(super) fn certain(&self, stage: &StageView<'c>) -> Vec<Op<'c>> {
        let mut known: HashMap<Value<'c>, Interval> = HashMap::new();
        let mut certain = Vec::new();
        if !stage.guarded.contains(&true) {
            return certain;
        }
        for op in stage.op.body(0).ops() {
            let operand = |at: usize| known.get(&op.operand(at)).copied();
            let pair = || Some((operand(0)?, operand(1)?));
            let interval = match op.name() {
                loops::Index::NAME => op.int("dim").and_then(|dim| *self.insides.bounds.get(dim as usize)?),
                arith::Constant::NAME if op.result(0).ty().is_index() => op.int("value").map(|value| (value, value)),
                arith::AddI::NAME => pair().map(|(lhs, rhs)| add(lhs, rhs)),
                arith::MulI::NAME => pair().map(|(lhs, rhs)| multiply(lhs, rhs)),
                arith::CmpI::NAME if CmpIPredicate::of(op) == Some(CmpIPredicate::Ult) => {
                    let holds = pair().is_some_and(|(index, size)| index.0 >= 0 && index.1 < size.0);
                    certain.extend(holds.then_some(op));
                    None
                }
                _ => None,
            };
            known.extend(interval.map(|interval| (op.result(0), interval)));
        }
        certain
    }

    /// The loops of a nest whose first one is to be split: before the inside, the inside, behind it. `None` when it is not.
    pub(super) fn around_inside(
        &mut self,
        loops: &[Loop<'c>],
        copies: &[Copy<'c>],
        carried: &[Value<'c>],
        body: &mut Body<'_, 'c>,
    ) -> Result<Option<Vec<Value<'c>>>, Error> {
        let Some(first) = loops.first() else { return Ok(None) };
        let step = first.width * first.unroll;
        let (Some(&inside), Num::Const(size)) = (self.insides.splits.get(&first.dim), self.sizes[first.dim]) else { return Ok(None) };
        let overlaps = matches!(first.tail, Tail::Overlap(_)) && inside.1 - inside.0 >= step;
        if first.tail != Tail::Loop && !overlaps {
            return Ok(None);
        }
        self.insides.splits.remove(&first.dim);
        let mut carried = carried.to_vec();
        for (begin, end) in [(0, inside.0), inside, (inside.1, size)].into_iter().filter(|(begin, end)| begin < end) {
            let from = first.range.0.max(&mut self.b, Num::Const(begin));
            let to = first.range.1.min(&mut self.b, Num::Const(end)).max(&mut self.b, from);
            let mut loops = loops.to_vec();
            loops[0] = Loop { range: (from, to), length: None, aligned: false, ..*first };
            // A step that begins earlier stays inside; a border has too few indices for one.
            match overlaps {
                true if (begin, end) == inside => loops[0].tail = Tail::Overlap(Num::Const(end)),
                true => (loops[0].unroll, loops[0].tail) = (1, Tail::Loop),
                false => {}
            }
            let before = self.insides.bounds[first.dim].replace((begin, end - 1));
            carried = self.nest(&loops, copies, carried, body)?;
            self.insides.bounds[first.dim] = before;
        }
        self.insides.splits.insert(first.dim, inside);
        Ok(Some(carried))
    }
}

fn add(x: Interval, y: Interval) -> Interval {
    (x.0.saturating_add(y.0), x.1.saturating_add(y.1))
}

fn multiply(x: Interval, y: Interval) -> Interval {
    let products = [x.0.saturating_mul(y.0), x.0.saturating_mul(y.1), x.1.saturating_mul(y.0), x.1.saturating_mul(y.1)];
    products.into_iter().fold((i64::MAX, i64::MIN), |(least, most), product| (least.min(product), most.max(product)))
}
