//! Index-set splitting: where a guarded access is known to stay inside of its operand, or to be outside, nothing is tested.
//!
//! The schedule names outer dims (`peel`). The loop of such a dim becomes three: the indices before and behind those at which every
//! guarded access stays inside, and the inside itself. Where no index is inside of all of them, as in concatenations and rolls, it is cut
//! where the body's comparisons change, or without any at the borders of each access: every piece then reads one operand. What is known of
//! indices is an interval for each dim.

use super::Error;
use super::emitter::Emitter;
use super::nest::{Body, Copy, Loop, Tail};
use crate::num::Num;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{AffineExpr, AffineKind, Block, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::loops;
use strata_dialects::loops::access::coefficient;
use strata_dialects::loops::view::StageView;

/// Pieces of a loop at most: a concatenation of more tensors reads them under masks.
const MOST_PIECES: usize = 512;
/// Ops that all copies of the bodies have together, but for what chooses between operands: a piece is written without it.
const MOST_OPS: usize = 1 << 15;

/// The smallest and the largest value.
type Interval = (i64, i64);

/// What is known of the indices of the loops being written.
#[derive(Default)]
pub(crate) struct Insides {
    /// Values that each dim has here.
    bounds: Vec<Option<Interval>>,
    /// Dims whose loops are to be split: where the pieces begin and end, from 0 to the size.
    splits: HashMap<usize, Vec<i64>>,
}

impl Insides {
    /// Whether the loop along a dim is cut where accesses reach a border.
    pub fn cuts(&self, dim: usize) -> bool {
        self.splits.contains_key(&dim)
    }
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
        let ops: usize = stages.iter().map(|stage| stage.op.body(0).ops().into_iter().filter(|op| !chooses(*op)).count()).sum();
        let mut copies = 1;
        for dim in self.kernel.schedule().peel.unwrap_or_default() {
            let Some(Num::Const(size)) = self.sizes.get(dim).copied() else { continue };
            let Some(parts) = stages.iter().map(|stage| self.insides_of(stage, dim, size)).collect::<Option<Vec<_>>>() else { continue };
            let parts = parts.concat();
            let (begin, end) = parts.iter().fold((0, size), |all, part| (all.0.max(part.0), all.1.min(part.1)));
            let compared: Vec<_> = stages.iter().flat_map(|stage| compared(stage, dim)).collect();
            let borders = match (begin < end, compared.is_empty()) {
                (true, _) => vec![begin, end],
                (false, false) => compared,
                (false, true) => parts.iter().flat_map(|&(begin, end)| [begin, end]).collect(),
            };
            let mut cuts: Vec<_> = borders.into_iter().chain([0, size]).map(|at| at.clamp(0, size)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            let pieces = cuts.len() - 1;
            if (2..=MOST_PIECES).contains(&pieces) && copies * pieces * ops.max(1) <= MOST_OPS {
                copies *= pieces;
                self.insides.splits.insert(dim, cuts);
            }
        }
    }

    /// For each guarded access of a stage the part of a dim at which it cannot leave its operand along it.
    fn insides_of(&self, stage: &StageView<'c>, dim: usize, size: i64) -> Option<Vec<Interval>> {
        let mut parts = Vec::new();
        for (operand, map) in stage.maps.iter().enumerate().filter(|(operand, _)| stage.guarded[*operand]) {
            let buffer = self.buffers.get(&stage.op.operand(operand))?;
            let (mut begin, mut end) = (0, size);
            for (expr, extent) in map.results().into_iter().zip(&buffer.shape).filter(|(expr, _)| expr.uses_dim(dim)) {
                let (factor, Num::Const(extent)) = (coefficient(expr, dim).filter(|&factor| factor != 0)?, *extent) else { return None };
                let (least, most) = self.interval(expr, Some(dim))?;
                // `factor * index` is to be at least `from` and at most `to`; a negative factor swaps the two.
                let (from, to) = if factor > 0 { (-least, extent - 1 - most) } else { (most + 1 - extent, least) };
                begin = begin.max((from + factor.abs() - 1).div_euclid(factor.abs()));
                end = end.min(to.div_euclid(factor.abs()) + 1);
            }
            parts.push((begin, end));
        }
        Some(parts)
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

    /// Whether an index is known to be outside of an extent here.
    pub(super) fn stays_outside(&self, expr: AffineExpr<'c>, extent: Num<'c>) -> bool {
        let Num::Const(extent) = extent else { return false };
        self.interval(expr, None).is_some_and(|(least, most)| most < 0 || least >= extent)
    }

    /// Comparisons of indices in a body that give the same for all points here.
    pub(super) fn certain(&self, stage: &StageView<'c>) -> HashMap<Op<'c>, bool> {
        let mut known: HashMap<Value<'c>, Interval> = HashMap::new();
        let mut certain = HashMap::new();
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
                arith::CmpI::NAME => {
                    let given = CmpIPredicate::of(op).zip(pair()).and_then(|(predicate, (lhs, rhs))| compare(predicate, lhs, rhs));
                    certain.extend(given.map(|given| (op, given)));
                    None
                }
                _ => None,
            };
            known.extend(interval.map(|interval| (op.result(0), interval)));
        }
        certain
    }

    /// The loops of a nest whose first one is to be split, piece by piece. `None` when it is not.
    pub(super) fn around_inside(
        &mut self,
        loops: &[Loop<'c>],
        copies: &[Copy<'c>],
        carried: &[Value<'c>],
        body: &mut Body<'_, 'c>,
    ) -> Result<Option<Vec<Value<'c>>>, Error> {
        let Some(first) = loops.first() else { return Ok(None) };
        let step = first.width * first.unroll;
        let holds_a_step = |piece: &[i64]| piece[1] - piece[0] >= step;
        let splits = |cuts: &Vec<i64>| match first.tail {
            Tail::Loop => true,
            Tail::Overlap(_) => cuts.windows(2).any(holds_a_step),
            Tail::None | Tail::Mask => false,
        };
        if !self.insides.splits.get(&first.dim).is_some_and(splits) {
            return Ok(None);
        }
        let Some(cuts) = self.insides.splits.remove(&first.dim) else { return Ok(None) };
        let mut carried = carried.to_vec();
        for (&begin, &end) in cuts.iter().zip(&cuts[1..]) {
            let from = first.range.0.max(&mut self.b, Num::Const(begin));
            let to = first.range.1.min(&mut self.b, Num::Const(end)).max(&mut self.b, from);
            let mut loops = loops.to_vec();
            loops[0] = Loop { range: (from, to), length: None, aligned: false, ..*first };
            if let Tail::Overlap(_) = first.tail {
                // A last step that begins earlier stays in its piece; a piece that holds no step goes index by index.
                match holds_a_step(&[begin, end]) {
                    true => loops[0].tail = Tail::Overlap(Num::Const(end)),
                    false => (loops[0].unroll, loops[0].tail) = (1, Tail::Loop),
                }
            }
            let before = self.insides.bounds[first.dim].replace((begin, end - 1));
            carried = self.nest(&loops, copies, carried, body)?;
            self.insides.bounds[first.dim] = before;
        }
        self.insides.splits.insert(first.dim, cuts);
        Ok(Some(carried))
    }
}

/// Whether an op only chooses between operands, by the index.
fn chooses(op: Op<'_>) -> bool {
    op.isa::<arith::CmpI>() || op.isa::<arith::Select>() || op.isa::<arith::Constant>() || op.isa::<loops::Index>()
}

/// The operand that a `select` gives where its condition is certain.
pub(super) fn chosen<'c>(op: Op<'c>, certain: &HashMap<Op<'c>, bool>) -> Option<Value<'c>> {
    let condition = op.isa::<arith::Select>().then(|| op.operand(0).defining_op()).flatten()?;
    certain.get(&condition).map(|&holds| op.operand(if holds { 1 } else { 2 }))
}

/// The values of a body that what it yields is made of, where some comparisons are certain; and those of what must run anyhow.
pub(super) fn needed<'c>(block: Block<'c>, certain: &HashMap<Op<'c>, bool>) -> HashSet<Value<'c>> {
    let mut needed = HashSet::new();
    for op in block.ops().into_iter().rev() {
        let runs = op.num_results() == 0 || !op.is_effect_free() || !op.regions().is_empty();
        if runs {
            needed.extend(op.results());
        } else if !op.results().iter().any(|result| needed.contains(result)) || certain.contains_key(&op) {
            continue;
        }
        match chosen(op, certain) {
            Some(value) => needed.extend([value]),
            None => needed.extend(op.operands()),
        }
    }
    needed
}

/// Where a body's comparisons of a dim's index with numbers change: the borders of what it selects between.
fn compared(stage: &StageView<'_>, dim: usize) -> Vec<i64> {
    let at = |op: Op<'_>| {
        let constant = |value: Value<'_>| value.defining_op().filter(|op| op.isa::<arith::Constant>())?.int("value");
        let index = op.operand(0).defining_op()?;
        let (index, shift) = match index.isa::<arith::AddI>() {
            true => (index.operand(0).defining_op()?, constant(index.operand(1))?),
            false => (index, 0),
        };
        let number = constant(op.operand(1))?.checked_sub(shift)?;
        let same = index.isa::<loops::Index>() && index.int("dim") == i64::try_from(dim).ok();
        match CmpIPredicate::of(op).filter(|_| same)? {
            CmpIPredicate::Slt | CmpIPredicate::Sge => Some(number),
            CmpIPredicate::Sle | CmpIPredicate::Sgt => number.checked_add(1),
            _ => None,
        }
    };
    stage.op.body(0).ops().into_iter().filter(|op| op.isa::<arith::CmpI>()).filter_map(at).collect()
}

/// What a comparison gives for all values of two intervals, if that is the same.
fn compare(predicate: CmpIPredicate, x: Interval, y: Interval) -> Option<bool> {
    let less = if x.1 < y.0 { Some(true) } else { (x.0 >= y.1).then_some(false) };
    let greater = if x.0 > y.1 { Some(true) } else { (x.1 <= y.0).then_some(false) };
    match predicate {
        CmpIPredicate::Slt => less,
        CmpIPredicate::Sge => less.map(|less| !less),
        CmpIPredicate::Sgt => greater,
        CmpIPredicate::Sle => greater.map(|greater| !greater),
        // A negative index is a large unsigned one.
        CmpIPredicate::Ult if y.0 >= 0 => {
            if x.1 < 0 {
                Some(false)
            } else {
                less.filter(|_| x.0 >= 0)
            }
        }
        _ => None,
    }
}

fn add(x: Interval, y: Interval) -> Interval {
    (x.0.saturating_add(y.0), x.1.saturating_add(y.1))
}

fn multiply(x: Interval, y: Interval) -> Interval {
    let products = [x.0.saturating_mul(y.0), x.0.saturating_mul(y.1), x.1.saturating_mul(y.0), x.1.saturating_mul(y.1)];
    products.into_iter().fold((i64::MAX, i64::MIN), |(least, most), product| (least.min(product), most.max(product)))
}
