//! The four kinds of stages inside the outer loops: maps, reductions, scans, scatters.

use super::emitter::Emitter;
use super::lanes::Point;
use super::nest::{Copy, Loop, Tail};
use super::non_temporal::Route;
use super::prefetch::Ahead;
use super::reducer::{Reducer, start_in_lanes};
use super::tiles::groups_along;
use super::{Error, lanes};
use crate::emit::Scan;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::llvm::{self, AtomicBinOp};
use strata_core::upstream::scf;
use strata_core::upstream::vector::{self, CombiningKind};
use strata_dialects::loops::access::varying;
use strata_dialects::loops::view::StageView;

/// Where a loop begins and ends.
type Range<'c> = (Num<'c>, Num<'c>);

impl<'c> Emitter<'c> {
    /// Writes one stage for all copies of the outer loops.
    pub(crate) fn stage(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        if let Some(apart) = self.copies_apart(stage) {
            return self.when(apart, |emitter| emitter.one_stage(stage, copies));
        }
        if self.distribution.is_some() {
            return self.one_stage(stage, copies);
        }
        self.distribution = self.distribution(stage, stage.schedule().vector);
        let written = self.one_stage(stage, copies);
        self.distribution = None;
        written
    }

    /// Of a stage that copies what a scatter writes to: whether the call has two memories for the old value and the new one.
    pub(super) fn copies_apart(&mut self, stage: &StageView<'c>) -> Option<Value<'c>> {
        let place = |(result, place): (Value<'c>, Option<usize>)| {
            let scatter = result.defining_op().filter(|op| StageView::new(*op).is_scatter())?;
            (scatter.operand(0).defining_op() == Some(stage.op)).then_some((result, place?))
        };
        let (result, place) = self.kernel.results().into_iter().zip(self.kernel.in_place()).find_map(place)?;
        let old = self.kernel.op.body(0).args()[place];
        let body = stage.op.body(0);
        let copied = body.terminator().is_some_and(|op| op.operands() == body.args());
        if !copied || stage.op.operands() != [old] {
            return None;
        }
        let bases = [old, result].map(|tensor| self.buffers.get(&tensor).map(|buffer| buffer.base));
        let [from, to] = bases.map(|base| base.map(|base| llvm::ptrtoint(&mut self.b, base, self.cx.int(64))));
        Some(arith::cmpi(&mut self.b, CmpIPredicate::Ne, from?, to?))
    }

    pub(super) fn one_stage(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        if stage.is_scatter() {
            self.scatter(stage, copies)
        } else if stage.scan.is_some() {
            self.scan(stage, copies)
        } else if stage.reduce.is_empty() {
            self.map(stage, copies)
        } else if stage.op.str("reducer").is_some_and(|name| name.starts_with("arg")) {
            self.arg_reduce(stage, copies)
        } else {
            self.reduce(stage, copies)
        }
    }

    /// Loops over the dims of a stage that the outer loops do not cover, around the point of a copy of these.
    pub(crate) fn inner_loops(&mut self, stage: &StageView<'c>, copy: Option<&Copy<'c>>) -> Result<Vec<Loop<'c>>, Error> {
        let schedule = stage.schedule();
        let dims: Vec<_> = stage.domain.iter().copied().filter(|dim| !self.kernel.outer.contains(dim)).collect();
        dims.into_iter()
            .map(|dim| {
                let lanes = schedule.vector == Some(dim);
                let (range, length) = self.range(stage, dim, copy)?;
                // Threads of a cooperative block take neighbours where these come and go together, and turn by turn elsewhere.
                let unroll = if lanes && (self.wide || self.cooperative.is_none()) { schedule.unroll.unwrap_or(1) } else { 1 };
                let pieces = self.wide && stage.piece(dim).is_some_and(|size| size % unroll == 0);
                Ok(Loop {
                    dim,
                    width: if lanes { schedule.width.unwrap_or(1) } else { 1 },
                    unroll,
                    range,
                    length,
                    tail: Tail::Loop,
                    aligned: range.0 == Num::Const(0) || pieces,
                })
            })
            .collect()
    }

    /// Where a dim begins and ends, and how long it is if that is known: a chunked dim has the piece of the present chunk, one in segments
    /// what memory says.
    fn range(&mut self, stage: &StageView<'c>, dim: usize, copy: Option<&Copy<'c>>) -> Result<(Range<'c>, Option<i64>), Error> {
        let whole = (Num::Const(0), self.sizes[dim]);
        if let Some(copy) = copy.filter(|_| stage.segmented_by(dim).is_some()) {
            return Ok((self.segment(stage, copy, whole.1)?, None));
        }
        Ok(self.piece(stage, dim, copy, whole))
    }

    /// Where the segment of a point begins and ends, inside of the dim.
    fn segment(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, size: Num<'c>) -> Result<Range<'c>, Error> {
        let copy = Copy { mask: None, ..copy.clone() };
        let index = self.cx.index();
        let mut bound = |operand: usize, least: Num<'c>| {
            let told = self.read(stage, operand, &copy)?;
            let told = Num::Value(arith::index_cast(&mut self.b, told, index));
            Ok(told.max(&mut self.b, least).min(&mut self.b, size))
        };
        let begin = bound(0, Num::Const(0))?;
        Ok((begin, bound(1, begin)?))
    }

    fn piece(&mut self, stage: &StageView<'c>, dim: usize, copy: Option<&Copy<'c>>, whole: Range<'c>) -> (Range<'c>, Option<i64>) {
        let Some(chunk) = stage.chunk.filter(|chunk| chunk.dim == dim) else { return (whole, None) };
        // (`refuse` has seen to it that there is a loop over the pieces.)
        let Some(by) = copy.and_then(|copy| copy.point[chunk.by]) else { return (whole, None) };
        let size = Num::Const(chunk.size);
        let begin = by.base.mul(&mut self.b, size);
        let end = begin.add(&mut self.b, size);
        match whole.1 {
            Num::Const(all) if all % chunk.size == 0 => ((begin, end), Some(chunk.size)),
            all => ((begin, end.min(&mut self.b, all)), None),
        }
    }

    fn map(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        let loops = self.inner_loops(stage, copies.first())?;
        let mut body = |emitter: &mut Self, copies: &[Copy<'c>], carried: Vec<Value<'c>>| {
            emitter.reads.clear();
            let yields = if stage.spread.is_empty() { emitter.bodies(stage, copies)? } else { emitter.spread(stage, copies)? };
            if yields.is_empty() {
                // A part of the body that yields nothing yet.
                return Ok(carried);
            }
            for (k, result) in stage.op.results().into_iter().enumerate() {
                let values: Vec<_> = yields.iter().map(|values| values[k]).collect();
                if emitter.write_wide(stage, result, copies, &values) || emitter.write_interleaved(stage, result, copies, &values) {
                    continue;
                }
                for (copy, value) in copies.iter().zip(values) {
                    emitter.write(stage, result, copy, value)?;
                }
            }
            emitter.reads.clear();
            Ok(carried)
        };
        if let Some((last, around)) = loops.split_last().filter(|(last, _)| self.rows_are_ragged(stage, last)) {
            self.nest(around, copies, Vec::new(), &mut |emitter, copies, carried| {
                emitter.ragged_row(stage, copies, last, &mut body)?;
                Ok(carried)
            })?;
            return Ok(());
        }
        self.nest(&loops, copies, Vec::new(), &mut body)?;
        Ok(())
    }

    /// Puts an element of a stage's result where it lives.
    pub(crate) fn write(&mut self, stage: &StageView<'c>, result: Value<'c>, copy: &Copy<'c>, value: Value<'c>) -> Result<(), Error> {
        let Some(buffer) = self.buffers.get(&result).cloned() else {
            self.registers.insert((result, copy.outer), value);
            return Ok(());
        };
        let buffer = buffer.of_copy(&mut self.b, copy.outer);
        self.mask = copy.mask;
        let dims: Vec<_> = stage.result_dims().into_iter().map(|dim| self.cx.dim(dim)).collect();
        let indices: Vec<_> = dims.into_iter().map(|dim| self.index(&copy.point, dim)).collect();
        let route = self.route(stage, result);
        let alone = self.cooperative.is_some() && !self.block_shares(&stage.result_dims());
        self.first_thread(alone, |emitter| emitter.store(&buffer, &indices, value, route));
        Ok(())
    }

    pub(super) fn element(&self, stage: &StageView<'c>) -> Result<ElementType, Error> {
        stage.op.result(0).ty().element_type().ok_or_else(|| Error::at(stage.op, "its element type has no code"))
    }

    fn reduce(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        let schedule = stage.schedule();
        let name = stage.op.str("reducer").unwrap_or_default();
        let reducer =
            Reducer::named(&name, self.element(stage)?).ok_or_else(|| Error::at(stage.op, format!("there is no reducer '{name}'")))?;
        let (parallel, loops): (Vec<_>, Vec<_>) =
            self.inner_loops(stage, copies.first())?.into_iter().partition(|lp| !stage.reduce.contains(&lp.dim));
        if self.kernel.schedule().matrix_units == Some(true) {
            return self.matrix_products(stage, copies, &loops);
        }
        let asks = schedule.prefetch == Some(true);
        let in_parts = asks && parallel.is_empty() && schedule.outer_reduction.is_none();
        let ahead = if in_parts { self.ahead(copies, &loops) } else { None };
        if asks && ahead.is_none() {
            self.prefetch_after(stage, copies);
        }
        if let Some(steps) = schedule.outer_reduction {
            return self.outer_reduction(stage, copies, (&parallel, &loops), (reducer, steps));
        }
        if !parallel.is_empty() {
            // The result is a tile: its own loops stand around the reduction.
            let parallel: Vec<_> = parallel.into_iter().map(|lp| Loop { unroll: schedule.rows.unwrap_or(1), ..lp }).collect();
            self.nest(&parallel, copies, Vec::new(), &mut |emitter, copies, carried| {
                emitter.combine(stage, copies, &loops, reducer, None)?;
                Ok(carried)
            })?;
            return Ok(());
        }
        self.combine(stage, copies, &loops, reducer, ahead)
    }

    /// Loops of which the first one ends at once where one inside of it has nothing to do: its range may be any number then.
    fn unless_idle(&mut self, loops: &[Loop<'c>]) -> Vec<Loop<'c>> {
        let mut loops = loops.to_vec();
        let inner: Vec<_> = loops.iter().skip(1).map(|lp| lp.range).collect();
        for (begin, end) in inner {
            let first = &mut loops[0];
            let stop = match (begin, end) {
                (Num::Const(begin), Num::Const(end)) if begin < end => continue,
                (Num::Const(_), Num::Const(_)) => first.range.0,
                (begin, end) => {
                    let [begin, end] = [begin, end].map(|num| num.value(&mut self.b));
                    let some = arith::cmpi(&mut self.b, CmpIPredicate::Slt, begin, end);
                    let [from, to] = [first.range.0, first.range.1].map(|num| num.value(&mut self.b));
                    Num::Value(arith::select(&mut self.b, some, to, from))
                }
            };
            *first = Loop { range: (first.range.0, stop), length: None, ..*first };
        }
        loops
    }

    /// The loops of a reduction around its accumulators, which ask for what follows on the way.
    fn combine(
        &mut self,
        stage: &StageView<'c>,
        copies: &[Copy<'c>],
        loops: &[Loop<'c>],
        reducer: Reducer,
        ahead: Option<Ahead>,
    ) -> Result<(), Error> {
        let loops = &self.unless_idle(loops);
        let turns: i64 = loops.iter().map(|lp| lp.unroll).product();
        let inner_lanes = loops.iter().map(|lp| lp.width).max().unwrap_or(1);
        let width = self.width.max(inner_lanes);
        let start = reducer.start(&mut self.b);
        let start = start_in_lanes(&mut self.b, start, width);
        let mut carried = vec![start; copies.len() * turns as usize];
        let sums = carried.len();
        let numbers = reducer.of_numbers().filter(|_| self.ignores_nan && width > 1);
        if numbers.is_some() {
            // For each copy of the outer loops the lanes that have seen a NaN.
            let no = arith::cmpf(&mut self.b, CmpFPredicate::Uno, start, start);
            carried.extend(vec![no; copies.len()]);
        }
        let reducer = numbers.unwrap_or(reducer);
        let numbered: Vec<_> = copies.iter().enumerate().map(|(slot, copy)| Copy { slot, ..copy.clone() }).collect();
        let mut body = |emitter: &mut Self, copies: &[Copy<'c>], mut carried: Vec<Value<'c>>| {
            emitter.reads.clear();
            if let Some(steps) = stage.schedule().prefetch_loads {
                emitter.prefetch_loads(stage, copies, steps)?;
            }
            if emitter.has_instruction(stage) {
                for copy in in_turn(copies).iter().flatten() {
                    carried[copy.slot] = emitter.dot(stage, copy, carried[copy.slot])?;
                }
                emitter.reads.clear();
                return Ok(carried);
            }
            let mut seen: Vec<Vec<Value<'c>>> = vec![Vec::new(); carried.len().saturating_sub(sums)];
            for copies in in_turn(copies) {
                for (copy, yields) in copies.iter().zip(emitter.bodies(stage, &copies)?) {
                    let value = yields[0];
                    let mut value = if width > 1 { lanes::in_lanes(&mut emitter.b, value, width) } else { value };
                    let before = carried[copy.slot];
                    if let Some(seen) = seen.get_mut(copy.slot / turns as usize) {
                        if let Some(mask) = copy.mask.filter(|_| inner_lanes > 1) {
                            value = lanes::select(&mut emitter.b, mask, value, before, width);
                        }
                        seen.push(value);
                        carried[copy.slot] = reducer.combine(&mut emitter.b, before, value);
                        continue;
                    }
                    let mut after = reducer.combine(&mut emitter.b, before, value);
                    if let Some(mask) = copy.mask.filter(|_| inner_lanes > 1) {
                        after = lanes::select(&mut emitter.b, mask, after, before, width);
                    }
                    carried[copy.slot] = after;
                }
            }
            for (nan, seen) in carried.iter_mut().skip(sums).zip(seen) {
                // One comparison tells of two values whether either is NaN.
                for pair in seen.chunks(2) {
                    let found = arith::cmpf(&mut emitter.b, CmpFPredicate::Uno, pair[0], pair[pair.len() - 1]);
                    *nan = arith::ori(&mut emitter.b, *nan, found);
                }
            }
            emitter.reads.clear();
            Ok(carried)
        };
        let carried = match ahead {
            None => self.nest(loops, &numbered, carried, &mut body)?,
            Some(ahead) => {
                let (begin, end) = loops[0].range;
                self.repeat(begin, end, ahead.steps, carried, &mut |emitter, from, carried| {
                    let done = from.sub(&mut emitter.b, begin);
                    emitter.prefetch_part(stage, copies, &ahead, done);
                    let whole = loops[0].steps().is_some_and(|steps| steps % ahead.steps == 0);
                    let stop = from.add(&mut emitter.b, Num::Const(ahead.steps));
                    let stop = if whole { stop } else { stop.min(&mut emitter.b, end) };
                    let part = Loop { range: (from, stop), length: whole.then_some(ahead.steps), ..loops[0] };
                    emitter.nest(&[&[part], &loops[1..]].concat(), &numbered, carried, &mut body)
                })?
            }
        };
        let mut each: Vec<_> = (carried[..sums].chunks(turns as usize)).map(|parts| reducer.tree(&mut self.b, parts.to_vec())).collect();
        if inner_lanes > 1 {
            each = reducer.across_each(&mut self.b, each);
        }
        for ((slot, copy), mut value) in copies.iter().enumerate().zip(each) {
            if let Some(&lanes) = carried.get(sums + slot) {
                let some = if inner_lanes > 1 { vector::reduction(&mut self.b, CombiningKind::Or, lanes) } else { lanes };
                let scalar = if value.ty().is_vector() { value.ty().element() } else { value.ty() };
                let nan = self.b.const_float(scalar, f64::NAN);
                let nan = if value.ty().is_vector() { start_in_lanes(&mut self.b, nan, width) } else { nan };
                value = arith::select(&mut self.b, some, nan, value);
            }
            let value = if self.block_shares(&stage.reduce) { self.block_sum(reducer, value)? } else { value };
            self.write(stage, stage.op.result(0), copy, value)?;
        }
        Ok(())
    }

    fn scan(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        let name = stage.op.str("reducer").unwrap_or_default();
        let to = self.element(stage)?;
        let accumulated = combined_in(to);
        let reducer_of =
            |element| Reducer::named(&name, element).ok_or_else(|| Error::at(stage.op, format!("there is no reducer '{name}'")));
        if let (Some(dim), [copy]) = (stage.scan, copies)
            && self.block_scan(stage, copy, Scan { dim, reducer: reducer_of(accumulated)?, accumulated, to })?
        {
            return Ok(());
        }
        // One thread adds up a whole row: in f64, as PyTorch does.
        let doubled = to == ElementType::F32 && matches!(name.as_str(), "sum" | "prod" | "logaddexp");
        let carried_in = if doubled { ElementType::F64 } else { accumulated };
        let reducer = reducer_of(carried_in)?;
        let loops = self.inner_loops(stage, copies.first())?;
        let start = reducer.start(&mut self.b);
        let start = start_in_lanes(&mut self.b, start, self.width);
        let numbered: Vec<_> = copies.iter().enumerate().map(|(slot, copy)| Copy { slot, ..copy.clone() }).collect();
        self.nest(&loops, &numbered, vec![start; copies.len()], &mut |emitter, copies, mut carried| {
            emitter.reads.clear();
            for (copy, yields) in copies.iter().zip(emitter.bodies(stage, copies)?) {
                let value = yields[0];
                let value = if emitter.width > 1 { lanes::in_lanes(&mut emitter.b, value, emitter.width) } else { value };
                let value = emitter.cast(arith::ExtF::NAME, value, accumulated, carried_in);
                let sum = reducer.combine(&mut emitter.b, carried[copy.slot], value);
                carried[copy.slot] = sum;
                let narrow = emitter.narrow(sum, carried_in, to);
                emitter.write(stage, stage.op.result(0), copy, narrow)?;
            }
            emitter.reads.clear();
            Ok(carried)
        })?;
        Ok(())
    }

    /// An element in the type that it is combined in.
    pub(super) fn widen(&mut self, value: Value<'c>, from: ElementType) -> Value<'c> {
        self.cast(arith::ExtF::NAME, value, from, combined_in(from))
    }

    /// An accumulated value in the element type of the result.
    pub(crate) fn narrow(&mut self, value: Value<'c>, from: ElementType, to: ElementType) -> Value<'c> {
        self.cast(arith::TruncF::NAME, value, from, to)
    }

    /// A float, or lanes of floats, in another type.
    fn cast(&mut self, op: &str, value: Value<'c>, from: ElementType, to: ElementType) -> Value<'c> {
        if from == to {
            return value;
        }
        let scalar = strata_dialects::loops::elements::register_type(self.cx, to);
        let ty = if value.ty().is_vector() { self.cx.vector(&value.ty().shape(), scalar) } else { scalar };
        self.b.value(op, &[value], ty, &[])
    }

    /// Writes in the order of the domain: later ones win or combine with what is there.
    fn scatter(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        let result = stage.op.result(0);
        let buffer = self.buffers.get(&result).cloned().ok_or_else(|| Error::at(stage.op, "its result is nowhere in memory"))?;
        let kind = stage.op.str("kind").unwrap_or_default();
        let reducer = Reducer::named(&kind, buffer.element);
        if reducer.is_none() && kind != "set" {
            return Err(Error::at(stage.op, format!("there is no way to combine by '{kind}'")));
        }
        let yielded = stage.op.body(0).terminator().map_or_else(Vec::new, |op| op.operands());
        let atomic = reducer.and_then(Reducer::atomic).filter(|_| stage.schedule().atomic == Some(true));
        let loops: Vec<_> = self.inner_loops(stage, copies.first())?.into_iter().map(|lp| Loop { width: 1, unroll: 1, ..lp }).collect();
        // Dims on which a place depends whose bounds are checked: copies that differ in others only check it once.
        let checked: Vec<_> = yielded.iter().zip(&buffer.shape).filter(|(value, extent)| !self.is_in_bounds(**value, **extent)).collect();
        let depends = |dim: usize| {
            let varying = varying(stage, dim);
            checked.iter().any(|(value, _)| varying.contains(*value))
        };
        let placed: Vec<bool> = (0..self.sizes.len()).map(depends).collect();
        self.nest(&loops, copies, Vec::new(), &mut |emitter, copies, carried| {
            emitter.reads.clear();
            let mut updates = Vec::new();
            for (mut yields, copy) in emitter.bodies(stage, copies)?.into_iter().zip(copies) {
                let update = yields.pop().ok_or_else(|| Error::at(stage.op, "its body yields no update"))?;
                let indices: Vec<_> = yields.into_iter().map(|value| emitter.computed(value)).collect();
                updates.push((indices, update, copy));
            }
            let mut rest = updates.as_slice();
            while let Some((indices, _, first)) = rest.first() {
                let same = rest.iter().take_while(|(.., copy)| in_same_place(&placed, &first.point, &copy.point)).count().max(1);
                let (row, later) = rest.split_at(same);
                rest = later;
                emitter.mask = first.mask;
                let inside = if stage.is_in_bounds() { None } else { emitter.check_bounds(&buffer, &yielded, indices) };
                let lanes = inside.filter(|inside| inside.ty().is_vector());
                let store = |emitter: &mut Self, lanes: Option<Value<'c>>| {
                    for (indices, update, copy) in row {
                        emitter.mask = lanes::both(&mut emitter.b, copy.mask, lanes, emitter.width);
                        emitter.combine_store(&buffer, indices, *update, (reducer, atomic));
                    }
                };
                match inside {
                    None => store(emitter, None),
                    Some(inside) if lanes.is_none() => emitter.when(inside, |emitter| store(emitter, None)),
                    Some(inside) => {
                        let all = emitter.all(inside);
                        let (_, [whole, some]) = scf::branches(&mut emitter.b, all, &[]);
                        for (block, lanes) in [(whole, None), (some, lanes)] {
                            emitter.in_block(block, |emitter| {
                                store(emitter, lanes);
                                scf::yield_(&mut emitter.b, &[]);
                            });
                        }
                    }
                }
            }
            emitter.reads.clear();
            Ok(carried)
        })?;
        Ok(())
    }

    fn combine_store(
        &mut self,
        buffer: &super::emitter::Buffer<'c>,
        indices: &[lanes::Index<'c>],
        update: Value<'c>,
        (reducer, atomic): (Option<Reducer>, Option<AtomicBinOp>),
    ) {
        if let Some(how) = atomic {
            let at = self.linear(buffer, indices).base;
            super::memory::combine(&mut self.b, buffer.base, at, update, buffer.element, how);
            return;
        }
        let value = match reducer {
            None => update,
            Some(reducer) => {
                // Halves are combined in f32 and rounded each time; LLVM would call a function of its own runtime library for that.
                let before = self.load_at(buffer, indices);
                let update = if before.ty().is_vector() { lanes::in_lanes(&mut self.b, update, self.width) } else { update };
                let [before, update] = [before, update].map(|value| self.widen(value, buffer.element));
                let combined = reducer.combine(&mut self.b, before, update);
                self.narrow(combined, combined_in(buffer.element), buffer.element)
            }
        };
        self.store(buffer, indices, value, Route::Through);
    }
}

/// Whether two points differ only in dims on which nothing `placed` depends, nor in the lanes of such a one.
fn in_same_place(placed: &[bool], first: &Point<'_>, other: &Point<'_>) -> bool {
    let mut dims = placed.iter().zip(first.iter().zip(other));
    dims.all(|(placed, (first, other))| !placed || (first == other && first.is_none_or(|coord| !coord.lanes)))
}

/// The type in which an element of memory is combined with another.
pub(super) fn combined_in(element: ElementType) -> ElementType {
    if matches!(element, ElementType::F16 | ElementType::BF16) { ElementType::F32 } else { element }
}

/// Copies that hide each other's latency; more of them only need registers.
const ENOUGH: usize = 8;

/// The copies in the parts in which they are written. A large register block goes point by point, those that differ in their lanes
/// together: then an element that is the same for them, and each product, lives for a moment only.
fn in_turn<'c>(copies: &[Copy<'c>]) -> Vec<Vec<Copy<'c>>> {
    if copies.len() <= ENOUGH {
        return vec![copies.to_vec()];
    }
    let lanes = copies[0].point.iter().position(|coord| coord.is_some_and(|coord| coord.lanes));
    let groups = lanes.map_or_else(|| vec![copies.to_vec()], |dim| groups_along(copies, dim));
    groups.into_iter().flatten().map(|copy| vec![copy]).collect()
}
