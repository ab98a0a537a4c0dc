//! What the schedules of all kinds of kernels share: lanes, sizes, and where lanes cost least.

use crate::schedule::cost::lanes::{COPIES_FOR_LATENCY, cost, lane_bits, lanes, own_dim, side_by_side, stage_lanes};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops::edit::set_space;
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Target;

/// The part of a row's vectors that halves of a register must save: there are twice as many of them.
const WORTH_HALVING: u64 = 10;

/// A size that is not known while compiling is taken for this one.
pub const UNKNOWN_SIZE: i64 = 64;

/// A kernel, with what its schedule is chosen from.
pub struct Frame<'k, 'c> {
    /// The kernel.
    pub kernel: &'k KernelView<'c>,
    /// The machine.
    pub target: &'k Target,
    /// Lanes of a full register, whatever dim they run along.
    pub width: i64,
    /// The outer dim along which lanes cost least, if that is no more than with lanes of the stages' own.
    pub vector: Option<usize>,
    /// The best dim for lanes inside each stage.
    pub own: Vec<Option<usize>>,
    /// Whether somebody else chose where lanes run: then nothing cleverer than loops around them is asked for.
    pub constrained: bool,
}

/// Where lanes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Where they cost least.
    Cheapest,
    /// Along this outer dim.
    Outer(usize),
    /// Along a dim of each stage's own.
    Own,
}

impl<'k, 'c> Frame<'k, 'c> {
    /// Weighs the dims of a kernel.
    pub fn new(kernel: &'k KernelView<'c>, target: &'k Target, wanted: Lanes) -> Self {
        let lanes = |dim: usize| lanes(kernel, dim, target.vector_bits);
        let size = |dim: usize| kernel.static_size(dim).unwrap_or(UNKNOWN_SIZE);
        let weight = |stage: &StageView<'_>| stage.domain.iter().map(|&dim| size(dim) as f64).product::<f64>();
        // Cost of all stages with lanes along an outer dim, and with lanes of their own.
        let along =
            |dim: usize| kernel.stages.iter().map(|stage| weight(stage) * cost(stage, Some(dim), lanes(dim), size(dim))).sum::<f64>();
        let length = |stage: &StageView<'_>, dim: usize| kernel.length(stage, dim).unwrap_or(UNKNOWN_SIZE);
        let own = |stage| own_dim(kernel, stage, target.vector_bits, &|dim| length(stage, dim));
        let own: Vec<_> = kernel.stages.iter().map(own).collect();
        let own_cost: f64 = kernel.stages.iter().zip(&own).map(|(stage, own)| weight(stage) * own.1).sum();
        let outer = kernel.outer.iter().copied().map(|dim| (dim, along(dim))).min_by(|x, y| x.1.total_cmp(&y.1));
        // A tile has no dims of the outer loops, so there are no lanes along these.
        let tile = kernel.stages.iter().any(StageView::is_tile);
        let vector = match wanted {
            Lanes::Cheapest => outer.filter(|(dim, cost)| lanes(*dim) > 1 && !tile && *cost <= own_cost).map(|(dim, _)| dim),
            Lanes::Outer(dim) => Some(dim).filter(|&dim| lanes(dim) > 1 && !tile),
            Lanes::Own => None,
        };
        let own = own.into_iter().map(|own| own.0).collect();
        let width = (0..kernel.num_dims()).map(lanes).min().unwrap_or(1);
        Self { kernel, target, width, vector, own, constrained: wanted != Lanes::Cheapest }
    }

    /// The size of a dim, or a typical one.
    pub fn size(&self, dim: usize) -> i64 {
        self.kernel.static_size(dim).unwrap_or(UNKNOWN_SIZE)
    }

    /// Lanes along a dim: those of a full register, or as many as hold a shorter dim.
    pub fn width_along(&self, dim: usize) -> i64 {
        self.lanes_along(dim, lanes(self.kernel, dim, self.target.vector_bits))
    }

    /// Whether a dim fills more than half of a register of lanes.
    pub fn fills_register(&self, dim: usize) -> bool {
        self.held(dim, lanes(self.kernel, dim, self.target.vector_bits)) >= self.width
    }

    /// Lanes that hold a dim, of so many in a full register.
    fn held(&self, dim: usize, width: i64) -> i64 {
        self.kernel.static_size(dim).map_or(width, |size| width.min((size.max(1) as u64).next_power_of_two() as i64))
    }

    /// Lanes along a dim of so many in a full register.
    fn lanes_along(&self, dim: usize, width: i64) -> i64 {
        let Some(size) = self.kernel.static_size(dim).map(|size| size.max(1)) else { return width };
        let held = self.held(dim, width);
        // A vector that is not full costs as much as a full one, and its mask as much again.
        let bits = lane_bits(self.kernel, dim);
        let cost = |lanes: i64| {
            let ragged = size % lanes != 0;
            ((size as u64).div_ceil(lanes as u64) * self.target.turns(lanes * bits) as u64 + u64::from(ragged), ragged)
        };
        let half = (held / 2).max(1);
        let ((few, half_ragged), (most, held_ragged)) = (cost(half), cost(held));
        if (few == most && !half_ragged && held_ragged) || few + most / WORTH_HALVING < most { half } else { held }
    }

    /// A dim of lanes whose last ones, which do not fill `step` of them, end apart: where masks are vectors, masked stores take twenty times as long
    /// as whole ones.
    pub fn ragged(&self, dim: usize, step: i64) -> Option<Vec<usize>> {
        let whole = self.kernel.static_size(dim).is_some_and(|size| size % step == 0);
        (!whole && !self.target.has_mask_registers()).then(|| vec![dim])
    }

    /// Outer dims with lanes innermost, and dims of one iteration just before them, or behind where there are no others: the first loop is
    /// what threads share.
    pub fn order(&self) -> Vec<usize> {
        self.order_of(|_| 1)
    }

    /// The same, where a loop takes so many steps of a dim at once.
    fn order_of(&self, steps: impl Fn(usize) -> i64) -> Vec<usize> {
        let mut order = self.kernel.outer.clone();
        let single = |dim: usize| self.kernel.static_size(dim).is_some_and(|size| size <= steps(dim));
        let lanes = |dim: usize| Some(dim) == self.vector;
        let alone = order.iter().all(|&dim| lanes(dim) || single(dim));
        order.sort_by_key(|&dim| if alone { (!lanes(dim) && single(dim), false) } else { (lanes(dim), single(dim)) });
        order
    }

    /// Writes a schedule with lanes along an outer dim; `unroll` gives the copies of the body along each outer dim.
    pub fn write_outer(&self, vector: usize, unroll: impl Fn(usize) -> i64) {
        let order = self.order_of(&unroll);
        let unroll: Vec<i64> = order.iter().map(|&dim| unroll(dim)).collect();
        self.write_lanes(&order, vector, &unroll);
    }

    /// Writes a schedule with loops in this order and lanes along one of them, each unrolled as told.
    pub fn write_lanes(&self, order: &[usize], vector: usize, unroll: &[i64]) {
        let (unroll, width) = (Some(unroll.to_vec()), Some(self.width_along(vector)));
        self.write(order, KernelSchedule { unroll, vector: Some(vector), width, ..KernelSchedule::default() });
    }

    /// Writes a schedule with lanes of the stages' own. An outer dim `tile` moves inside: results in registers become tiles along it,
    /// and what reads them runs with lanes over the tile instead of one element at a time.
    pub fn write_own(&self, tile: Option<usize>) {
        let order: Vec<_> = self.order().into_iter().filter(|&dim| Some(dim) != tile).collect();
        self.write(&order, KernelSchedule::default());
        if self.width <= 1 {
            return;
        }
        let mut rewriter = Rewriter::before(self.kernel.op);
        for (stage, own) in self.kernel.stages.iter().zip(&self.own) {
            let Some(dim) = own.or(tile) else { continue };
            let wanted = side_by_side(stage);
            let width = stage_lanes(stage, dim, self.target.vector_bits);
            let length = self.kernel.length(stage, dim).unwrap_or(UNKNOWN_SIZE);
            let turns = if length < wanted * width { 1 } else { wanted };
            let width = Some(self.lanes_along(dim, width));
            let mut schedule = StageSchedule { vector: Some(dim), width, unroll: Some(turns), ..StageSchedule::default() };
            if tile.is_some() && stage.is_register() {
                set_space(&mut rewriter, stage.op, "tile");
            }
            if tile.is_some() && !stage.reduce.is_empty() {
                // Several rows of accumulators, rather than several accumulators of one row.
                (schedule.unroll, schedule.rows) = (Some(1), Some(COPIES_FOR_LATENCY));
            }
            schedule.set(stage.op);
        }
    }

    /// Writes the order of the outer loops, and more entries, on the kernel.
    pub fn write(&self, order: &[usize], more: KernelSchedule) {
        KernelSchedule { order: Some(order.to_vec()), ..more }.set(self.kernel.op);
    }
}
