//! Positions of extrema: each accumulator is the best element so far and where it was.

use super::emitter::Emitter;
use super::nest::Copy;
use super::reducer::{Reducer, better, start_in_lanes};
use super::stages::combined_in;
use super::{Error, lanes};
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::vector;
use strata_dialects::loops::elements::register_type;
use strata_dialects::loops::view::StageView;

/// What is compared, and the integers that positions are kept in.
struct Race {
    name: String,
    element: ElementType,
    position: ElementType,
}

impl<'c> Emitter<'c> {
    /// Writes a reduction whose result is the position of the first extremum.
    pub(super) fn arg_reduce(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>]) -> Result<(), Error> {
        let name = stage.op.str("reducer").unwrap_or_default();
        let yielded = stage.op.body(0).terminator().and_then(|op| op.operand(0).ty().element_type());
        let element = yielded.map_or_else(|| self.element(stage), Ok)?;
        // Machines compare halves as floats of 32 bits, which they are made once.
        let (given, element) = (element, combined_in(element));
        let unknown = || Error::at(stage.op, format!("there is no reducer '{name}'"));
        let extremum = Reducer::named(name.trim_start_matches("arg"), element).ok_or_else(unknown)?;
        let dim = stage.reduce[0];
        let loops = self.inner_loops(stage, copies.first())?;
        let inside = loops.iter().map(|lp| lp.width).max().unwrap_or(1);
        let short = inside > 1 && matches!(self.sizes[dim], Num::Const(size) if i32::try_from(size).is_ok());
        let race = Race { name, element, position: if short { ElementType::I32 } else { ElementType::I64 } };
        let turns: i64 = loops.iter().map(|lp| lp.unroll).product();
        let (width, count) = (self.width.max(inside), copies.len() * turns as usize);
        let best = extremum.start(&mut self.b);
        let best = start_in_lanes(&mut self.b, best, width);
        let at = self.b.const_int(register_type(self.cx, race.position), 0);
        let at = start_in_lanes(&mut self.b, at, width);
        let carried = [vec![best; count], vec![at; count]].concat();
        let numbered: Vec<_> = copies.iter().enumerate().map(|(slot, copy)| Copy { slot, ..copy.clone() }).collect();
        let found = self.nest(&loops, &numbered, carried, &mut |emitter, copies, mut carried| {
            emitter.reads.clear();
            for (copy, yields) in copies.iter().zip(emitter.bodies(stage, copies)?) {
                let value = emitter.widen(yields[0], given);
                let value = if width > 1 { lanes::in_lanes(&mut emitter.b, value, width) } else { value };
                let position = emitter.position(copy, dim, race.position);
                let position = if width > 1 { lanes::in_lanes(&mut emitter.b, position, width) } else { position };
                let mut wins = better(&mut emitter.b, &race.name, element, value, carried[copy.slot]);
                if let Some(mask) = copy.mask.filter(|_| inside > 1) {
                    wins = arith::andi(&mut emitter.b, wins, mask);
                }
                for (slot, new) in [(copy.slot, value), (count + copy.slot, position)] {
                    carried[slot] = arith::select(&mut emitter.b, wins, new, carried[slot]);
                }
            }
            emitter.reads.clear();
            Ok(carried)
        })?;
        for (slot, copy) in copies.iter().enumerate() {
            let slots = slot * turns as usize..(slot + 1) * turns as usize;
            let pairs: Vec<_> = slots.map(|slot| (found[slot], found[count + slot])).collect();
            let mut pairs = pairs.into_iter();
            let first = pairs.next().ok_or_else(|| Error::at(stage.op, "it has no accumulator"))?;
            let (best, at) = pairs.fold(first, |best, next| self.first_of(&race, best, next));
            let (best, at) = match self.block_shares(&stage.reduce) {
                true => self.block_first(best, at, &mut |emitter, mine, other| emitter.first_of(&race, mine, other))?,
                false => (best, at),
            };
            let at = if inside > 1 { self.first_lane(&race, extremum, best, at)? } else { at };
            let ty = if at.ty().is_vector() { at.ty() } else { self.cx.int(64) };
            let at = if short { arith::extsi(&mut self.b, at, ty) } else { at };
            self.write(stage, stage.op.result(0), copy, at)?;
        }
        Ok(())
    }

    /// The index of a copy along a dim, in each lane.
    fn position(&mut self, copy: &Copy<'c>, dim: usize, element: ElementType) -> Value<'c> {
        let index = self.index(&copy.point, self.cx.dim(dim));
        let scalar = register_type(self.cx, element);
        let base = index.base.value(&mut self.b);
        let base = arith::index_cast(&mut self.b, base, scalar);
        if let lanes::Across::Uniform = index.across {
            return base;
        }
        let (steps, ty) = (self.cx.vector(&[self.width], self.cx.index()), self.cx.vector(&[self.width], scalar));
        let steps = vector::step(&mut self.b, steps);
        let steps = arith::index_cast(&mut self.b, steps, ty);
        let base = lanes::in_lanes(&mut self.b, base, self.width);
        arith::addi(&mut self.b, base, steps)
    }

    /// The better of two accumulators; of equals the one that came first.
    fn first_of(&mut self, race: &Race, mine: (Value<'c>, Value<'c>), other: (Value<'c>, Value<'c>)) -> (Value<'c>, Value<'c>) {
        let wins = better(&mut self.b, &race.name, race.element, other.0, mine.0);
        let loses = better(&mut self.b, &race.name, race.element, mine.0, other.0);
        let earlier = arith::cmpi(&mut self.b, CmpIPredicate::Slt, other.1, mine.1);
        // Neither is better, and the other came first.
        let equal = arith::cmpi(&mut self.b, CmpIPredicate::Eq, wins, loses);
        let earlier = arith::andi(&mut self.b, equal, earlier);
        let wins = arith::ori(&mut self.b, wins, earlier);
        let mut pick = |other: Value<'c>, mine: Value<'c>| arith::select(&mut self.b, wins, other, mine);
        (pick(other.0, mine.0), pick(other.1, mine.1))
    }

    /// The least position of the lanes that hold the extremum.
    fn first_lane(&mut self, race: &Race, extremum: Reducer, best: Value<'c>, at: Value<'c>) -> Result<Value<'c>, Error> {
        let width = best.ty().shape()[0];
        let top = extremum.across(&mut self.b, best);
        let top = lanes::in_lanes(&mut self.b, top, width);
        // A lane loses when the extremum is better than what it holds.
        let loses = better(&mut self.b, &race.name, race.element, top, best);
        let least = Reducer::named("min", race.position).ok_or_else(|| Error::at(self.kernel.op, "positions have no minimum"))?;
        let last = least.start(&mut self.b);
        let last = start_in_lanes(&mut self.b, last, width);
        let candidates = arith::select(&mut self.b, loses, last, at);
        Ok(least.across(&mut self.b, candidates))
    }
}
