//! Elements of tensors in memory: where they lie, which lanes are inside, loads and stores.

use super::Error;
use super::complex_lanes;
use super::emitter::{Buffer, Emitter};
use super::lanes::{self, Across, Coord, Grid, Index, Point, evaluate};
use super::memory;
use super::near::Places;
use super::nest::Copy;
use super::non_temporal::{self, Route};
use crate::num::Num;
use strata_core::ir::{AffineExpr, AffineKind, Block, Builder, ElementType, Value};
use strata_core::upstream::{arith, scf, vector};
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// An index expression at a point.
    pub fn index(&mut self, point: &Point<'c>, expr: AffineExpr<'c>) -> Index<'c> {
        let grid = Grid { point, symbols: &self.symbols, width: self.width };
        evaluate(&mut self.b, &grid, expr)
    }

    /// The element that an operand of a stage reads, for all lanes.
    pub(crate) fn read(&mut self, stage: &StageView<'c>, operand: usize, copy: &Copy<'c>) -> Result<Value<'c>, Error> {
        self.mask = copy.mask;
        let tensor = stage.op.operand(operand);
        if let Some(&value) = self.registers.get(&(tensor, copy.outer)) {
            return Ok(value);
        }
        let buffer =
            self.buffers.get(&tensor).cloned().ok_or_else(|| Error::at(stage.op, format!("operand {operand} is nowhere in memory")))?;
        let buffer = buffer.of_copy(&mut self.b, copy.outer);
        let map = stage.maps[operand];
        let exprs = map.results();
        let used: Vec<_> = copy
            .point
            .iter()
            .enumerate()
            .filter(|(dim, _)| exprs.iter().any(|expr| expr.uses_dim(*dim)))
            .filter_map(|(_, coord)| *coord)
            .collect();
        let key = (tensor, map, used);
        if let Some(&value) = self.reads.get(&key) {
            return Ok(value);
        }
        let exprs = buffer.kept(exprs);
        if stays_in_panel(&buffer, &exprs, &copy.point) {
            // What lanes that are off read is there, and nobody uses it.
            self.mask = None;
        }
        if stage.guarded[operand] && exprs.iter().zip(&buffer.shape).any(|(expr, extent)| self.stays_outside(*expr, *extent)) {
            return Ok(lanes::zero_of(&mut self.b, buffer.element));
        }
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&copy.point, expr)).collect();
        let inside = if stage.guarded[operand] { self.inside(&buffer, &exprs, &indices) } else { None };
        let value = self.load(&buffer, &indices, inside, Places::MayBeNear);
        self.reads.insert(key, value);
        if stage.schedule().prefetch_operand == Some(operand) {
            self.read_ahead(stage, &buffer, &exprs, copy);
        }
        Ok(value)
    }

    /// Whether any lane of a vector of bits is set; one bit says so itself.
    pub(super) fn any(&mut self, bits: Value<'c>) -> Value<'c> {
        if bits.ty().is_vector() { vector::reduction(&mut self.b, vector::CombiningKind::Or, bits) } else { bits }
    }

    /// Whether all lanes of a vector of bits are set.
    pub(super) fn all(&mut self, bits: Value<'c>) -> Value<'c> {
        vector::reduction(&mut self.b, vector::CombiningKind::And, bits)
    }

    /// [`Emitter::read`] of one element where the condition holds, else zero.
    pub(crate) fn read_if(
        &mut self,
        stage: &StageView<'c>,
        operand: usize,
        copy: &Copy<'c>,
        condition: Value<'c>,
    ) -> Result<Value<'c>, Error> {
        let element = stage.op.operand(operand).ty().element_type();
        let element = element.ok_or_else(|| Error::at(stage.op, "its element type has no code"))?;
        let scalar = strata_dialects::loops::elements::register_type(self.cx, element);
        let (op, [then, otherwise]) = scf::branches(&mut self.b, condition, &[scalar]);
        self.in_block(then, |emitter| {
            let value = emitter.read(stage, operand, copy)?;
            scf::yield_(&mut emitter.b, &[value]);
            Ok(())
        })?;
        self.b.within(otherwise, |b| {
            let zero = lanes::zero_of(b, element);
            scf::yield_(b, &[zero]);
        });
        self.reads.clear();
        Ok(op.result(0))
    }

    /// Which lanes of an access lie inside of the operand; none is all.
    pub(super) fn inside(&mut self, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], indices: &[Index<'c>]) -> Option<Value<'c>> {
        let mut inside = None;
        for ((&index, &extent), expr) in indices.iter().zip(&buffer.shape).zip(exprs) {
            if self.stays(*expr, extent) || self.stays_inside(*expr, extent) {
                continue;
            }
            let test = lanes::inside(&mut self.b, index, extent, self.width);
            inside = lanes::both(&mut self.b, inside, Some(test), self.width);
        }
        inside
    }

    /// Whether an index never leaves its extent: a dim of the operand's own size.
    pub(super) fn stays(&self, expr: AffineExpr<'c>, extent: Num<'c>) -> bool {
        matches!(expr.kind(), AffineKind::Dim(dim) if self.sizes[dim] == extent)
    }

    /// Fetches what is read some steps later along a dim of the schedule, or in the next turn of the innermost outer loop.
    fn read_ahead(&mut self, stage: &StageView<'c>, buffer: &Buffer<'c>, exprs: &[AffineExpr<'c>], copy: &Copy<'c>) {
        let schedule = stage.schedule();
        let Some(dim) = schedule.prefetch_along.or(self.kernel.outer.last().copied()) else { return };
        let mut point = copy.point.clone();
        let Some(coord) = point.get(dim).copied().flatten() else { return };
        let steps = schedule.prefetch_distance.unwrap_or(1);
        point[dim] = Some(Coord { base: coord.base.add(&mut self.b, Num::Const(steps)), ..coord });
        let indices: Vec<_> = exprs.iter().map(|&expr| self.index(&point, expr)).collect();
        let at = self.linear(buffer, &indices);
        memory::prefetch(&mut self.b, buffer.base, at.base, buffer.element);
    }

    /// The linear index of an element: what the outer loops add to it first, what the innermost loop does last, and a number behind all, which
    /// copies of a body differ by.
    pub(crate) fn linear(&mut self, buffer: &Buffer<'c>, indices: &[Index<'c>]) -> Index<'c> {
        let mut stride = Num::Const(1);
        let mut linear = Index::uniform(Num::Const(0));
        let (mut parts, mut terms) = (Vec::new(), Vec::new());
        for (&index, &extent) in indices.iter().zip(&buffer.shape).rev() {
            let free = matches!(index.across, Across::Free(_));
            let rest = if free { index } else { Index { base: Num::Const(0), ..index } };
            parts.push(rest.scale(&mut self.b, stride, self.width));
            if !free {
                terms.extend(terms_of(index.base).into_iter().map(|term| (term, stride)));
            }
            stride = stride.mul(&mut self.b, extent);
        }
        terms.sort_by_key(|(term, _)| self.nesting(*term));
        let mut number = Num::Const(0);
        for (term, stride) in terms {
            let term = term.mul(&mut self.b, stride);
            match term {
                Num::Const(_) => number = number.add(&mut self.b, term),
                Num::Value(_) => linear.base = linear.base.add(&mut self.b, term),
            }
        }
        linear.base = linear.base.add(&mut self.b, number);
        parts.into_iter().fold(linear, |linear, part| linear.add(&mut self.b, part, self.width))
    }

    /// How many loops stand around what changes a term.
    fn nesting(&mut self, term: Num<'c>) -> usize {
        let Num::Value(value) = term else { return 0 };
        if let Some(&known) = self.nestings.get(&value) {
            return known;
        }
        let nesting = match value.defining_op() {
            Some(op) if op.regions().is_empty() => {
                op.operands().into_iter().map(|operand| self.nesting(Num::Value(operand))).max().unwrap_or(0)
            }
            _ => std::iter::successors(value.owner_block().and_then(Block::parent_op), |op| op.parent()).count(),
        };
        self.nestings.insert(value, nesting);
        nesting
    }

    /// Loads for all lanes; where `inside` is false the result is zero.
    pub(super) fn load(&mut self, buffer: &Buffer<'c>, indices: &[Index<'c>], inside: Option<Value<'c>>, places: Places) -> Value<'c> {
        let at = self.linear(buffer, indices);
        let (base, element, width) = (buffer.base, buffer.element, self.width);
        let at = match at.across {
            Across::Step(Num::Const(0)) => Index::uniform(at.base),
            _ => at,
        };
        let varied = inside.is_some_and(|inside| inside.ty().is_vector());
        let at = match (at.across, inside.filter(|_| varied)) {
            (Across::Step(Num::Const(step @ (1 | -1 | 2 | 4))), Some(inside)) => {
                let first = if step < 0 { width - 1 } else { 0 };
                Index { base: self.if_any(inside, at.base, first), ..at }
            }
            _ => at,
        };
        match at.across {
            Across::Uniform if !varied => match inside {
                None => memory::load(&mut self.b, base, at.base, element),
                Some(inside) => self.load_if(element, 1, inside, |b| memory::load(b, base, at.base, element)),
            },
            Across::Step(Num::Const(step @ (1 | -1))) => {
                let load = if step == 1 { memory::load_vector } else { memory::load_reversed };
                match inside.filter(|_| !varied) {
                    // All lanes are inside or none: a branch is predicted, a mask would be computed every time.
                    Some(inside) => {
                        let mask = self.mask.map(|mask| lanes::in_lanes(&mut self.b, mask, width));
                        self.load_if(element, width, inside, |b| load(b, base, at.base, element, width, mask))
                    }
                    None => {
                        let mask = lanes::both(&mut self.b, inside, self.mask, width).map(|mask| lanes::in_lanes(&mut self.b, mask, width));
                        load(&mut self.b, base, at.base, element, width, mask)
                    }
                }
            }
            Across::Step(Num::Const(step @ (2 | 4))) if width % 2 == 0 && !element.is_complex() => match inside.filter(|_| !varied) {
                Some(inside) => {
                    let mask = self.mask.map(|mask| lanes::in_lanes(&mut self.b, mask, width));
                    self.load_if(element, width, inside, |b| memory::load_every(b, base, at.base, element, (width, step), mask))
                }
                None => {
                    let mask = lanes::both(&mut self.b, inside, self.mask, width).map(|mask| lanes::in_lanes(&mut self.b, mask, width));
                    memory::load_every(&mut self.b, base, at.base, element, (width, step), mask)
                }
            },
            _ => {
                let mask = lanes::both(&mut self.b, inside, self.mask, width).map(|mask| lanes::in_lanes(&mut self.b, mask, width));
                let indices = at.vector(&mut self.b, width);
                match at.across {
                    Across::Free(_) if places == Places::MayBeNear => self.gather_near(buffer, indices, mask),
                    _ => memory::gather(&mut self.b, base, indices, element, mask),
                }
            }
        }
    }

    /// Where a row of lanes is read: at the `first` place of its tensor where all are off. They read nothing there, but an address that is not
    /// mapped costs as much as a hundred rows.
    pub(super) fn if_any(&mut self, on: Value<'c>, index: Num<'c>, first: i64) -> Num<'c> {
        let on = self.any(on);
        let [index, first] = [index, Num::Const(first)].map(|number| number.value(&mut self.b));
        Num::Value(arith::select(&mut self.b, on, index, first))
    }

    /// What `load` gives, or zero (in `width` lanes) without touching memory.
    fn load_if(
        &mut self,
        element: ElementType,
        width: i64,
        condition: Value<'c>,
        load: impl FnOnce(&mut Builder<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let scalar = strata_dialects::loops::elements::register_type(self.cx, element);
        let ty = match width {
            1 => scalar,
            _ if element.is_complex() => complex_lanes::ty(self.cx, element, width),
            _ => self.cx.vector(&[width], scalar),
        };
        scf::choose(&mut self.b, condition, ty, load, |b| {
            let zero = lanes::zero_of(b, element);
            if width > 1 { memory::broadcast(b, zero, width) } else { zero }
        })
    }

    /// Loads at indices that are known to be in bounds.
    pub(crate) fn load_at(&mut self, buffer: &Buffer<'c>, indices: &[Index<'c>]) -> Value<'c> {
        self.load(buffer, indices, None, Places::MayBeNear)
    }

    /// Stores for all lanes.
    pub(crate) fn store(&mut self, buffer: &Buffer<'c>, indices: &[Index<'c>], value: Value<'c>, route: Route<'c>) {
        let at = self.linear(buffer, &buffer.kept(indices.to_vec()));
        let width = self.width;
        match at.across {
            Across::Uniform => memory::store(&mut self.b, buffer.base, at.base, value, buffer.element),
            Across::Step(Num::Const(1)) => {
                let value = lanes::in_lanes(&mut self.b, value, width);
                non_temporal::store(&mut self.b, (buffer.base, at.base), value, buffer.element, self.mask, route);
            }
            _ => {
                let value = lanes::in_lanes(&mut self.b, value, width);
                let indices = at.vector(&mut self.b, width);
                memory::scatter(&mut self.b, buffer.base, indices, value, buffer.element, self.mask);
            }
        }
    }
}

/// Terms that a sum is taken apart into, at most.
const MOST_TERMS: usize = 16;

/// The terms of a sum.
fn terms_of(sum: Num<'_>) -> Vec<Num<'_>> {
    let (mut terms, mut sums) = (Vec::new(), vec![sum]);
    while let Some(sum) = sums.pop() {
        let add = if let Num::Value(value) = sum { value.defining_op().filter(|op| op.isa::<arith::AddI>()) } else { None };
        match add.filter(|_| terms.len() + sums.len() < MOST_TERMS) {
            Some(add) => sums.extend(add.operands().into_iter().map(Num::of)),
            None => terms.push(sum),
        }
    }
    terms
}

/// Whether the lanes of an access at a point are in one panel of the operand, which is there whole: `d mod p` is its last index.
fn stays_in_panel(buffer: &Buffer<'_>, exprs: &[AffineExpr<'_>], point: &Point<'_>) -> bool {
    let Some((last, others)) = exprs.split_last() else { return false };
    let panel_of = |expr: &AffineExpr<'_>| match expr.kind() {
        AffineKind::Mod(lhs, rhs) | AffineKind::FloorDiv(lhs, rhs) => match (lhs.kind(), rhs.as_constant()) {
            (AffineKind::Dim(dim), Some(panel)) => Some((dim, panel)),
            _ => None,
        },
        _ => None,
    };
    let Some((dim, panel)) = panel_of(last).filter(|_| matches!(last.kind(), AffineKind::Mod(..))) else { return false };
    let block = point[dim].filter(|coord| coord.lanes).and_then(|coord| coord.block);
    block.is_some_and(|block| panel % block.size == 0)
        && buffer.shape.last() == Some(&Num::Const(panel))
        && others.iter().all(|expr| !expr.uses_dim(dim) || panel_of(expr) == Some((dim, panel)))
}
