//! Elements of f32 for matrix units, which look at their sign, exponent and first ten bits: each lane loads its own, whichever dim is
//! contiguous in shared memory, and rounds them to what the unit sees, as otherwise the rest would be cut off.

use super::matrix::Place;
use super::tiles::{Part, Tiles};
use crate::emit::emitter::Emitter;
use crate::emit::lanes::Index;
use crate::num::Num;
use strata_core::ir::{Builder, Value};
use strata_core::upstream::arith::{self, CmpFPredicate};

/// Bits that a unit does not see.
const UNSEEN: u32 = 13;

impl<'c> Emitter<'c> {
    /// The element of this lane in a unit's part of an operand: so many rows or columns, and elements of the reduced dim, ahead.
    pub(super) fn word(
        &mut self,
        part: &Part<'c>,
        tiles: &Tiles,
        (first, from): (Num<'c>, i64),
        place: Place<'c>,
        (across, along): (i64, i64),
    ) -> Value<'c> {
        let b = &mut self.b;
        let across = first.add(b, place.group).add(b, Num::Const(across));
        let along = place.number.add(b, Num::Const(from + along));
        let indices = if part.dims[1].0 == tiles.along { [across, along] } else { [along, across] };
        let value = self.load_at(&part.buffer, &indices.map(Index::uniform));
        rounded(&mut self.b, value)
    }
}

/// The bits of the nearest number that a unit sees, as a word.
fn rounded<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let word = b.cx().int(32);
    let bits = arith::bitcast(b, value, word);
    let half = b.const_int(word, 1 << (UNSEEN - 1));
    let seen = b.const_int(word, -(1 << UNSEEN));
    let bits = arith::addi(b, bits, half);
    let bits = arith::andi(b, bits, seen);
    // A NaN of all ones, as devices make them, would be carried over into a zero.
    let nan = arith::cmpf(b, CmpFPredicate::Uno, value, value);
    let quiet = b.const_int(word, i64::from(f32::NAN.to_bits()));
    arith::select(b, nan, quiet, bits)
}
