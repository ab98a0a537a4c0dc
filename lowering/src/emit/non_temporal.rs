//! Stores that go past the caches, for results that no cache will hold (`stream` in a stage's schedule).
//!
//! Such a store needs an address that is aligned to its own size, and is fast when whole cache lines are written so: a line that is
//! stored to both past the caches and through them is fetched, evicted and written in parts. A caller's memory is aligned to 16 bytes,
//! or to an element; so a row is written in three parts: an edge up to the first aligned register, whole registers, an edge behind them.
//!
//! - Where the row begins and ends at multiples of 16 bytes, the edges go past the caches as well, in pieces of 16 bytes: the end of a row
//!   and the beginning of the next one, which share a line, then meet in the buffer in which such stores wait.
//! - Elsewhere the edges go through the caches, and the first one reaches up to a whole line.
//!
//! Where lanes run along an outer loop there are no rows, and each store asks for itself.

use super::Error;
use super::emitter::Emitter;
use super::lanes::Coord;
use super::memory::{self, element_pointer, memory_bytes, to_memory};
use super::nest::{Body, Copy, Loop};
use crate::num::Num;
use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{llvm, scf, vector};
use strata_dialects::loops::view::StageView;

/// Bytes of a cache line.
pub(crate) const LINE: i64 = 64;
/// Bytes to which an allocator aligns memory, and the smallest register.
const PIECE: i64 = 16;

/// How a store goes to memory.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Route<'c> {
    /// Through the caches.
    Through,
    /// Past them where a register is aligned to its size, which each store asks.
    WhereAligned,
    /// The same; else in pieces, where those are aligned.
    InPieces,
    /// A register that is so aligned; one of which some lanes are on, in pieces where the flag holds.
    Row(Value<'c>),
    /// Nothing is known of its alignment but that the lanes that are on are whole, aligned pieces where the flag holds.
    Edge(Value<'c>),
}

impl<'c> Emitter<'c> {
    /// Whether a stage stores past the caches in rows that need not begin where a register's worth of elements may be stored so.
    pub(super) fn rows_are_ragged(&self, stage: &StageView<'c>, last: &Loop<'c>) -> bool {
        let streams = stage.schedule().non_temporal == Some(true) && !is_complex(stage.op.result(0));
        streams && last.width > 1 && stage.result_dims().last() == Some(&last.dim)
    }

    /// How a result of a stage is stored here.
    pub(super) fn route(&self, stage: &StageView<'c>, result: Value<'c>) -> Route<'c> {
        let schedule = stage.schedule();
        match self.row {
            _ if schedule.non_temporal != Some(true) || is_complex(result) => Route::Through,
            Some((row, route)) if row == result => route,
            _ if schedule.split_stores == Some(true) => Route::InPieces,
            _ => Route::WhereAligned,
        }
    }

    /// Writes the loop over such a row. Of several rows and results the first is looked at, the others ask at each store.
    pub(super) fn ragged_row(
        &mut self,
        stage: &StageView<'c>,
        copies: &[Copy<'c>],
        row: &Loop<'c>,
        body: &mut Body<'_, 'c>,
    ) -> Result<(), Error> {
        let result = stage.op.result(0);
        let element = self.element(stage)?;
        let (begin, end) = row.range;
        let addresses = [self.address(stage, &copies[0], row, begin)?, self.address(stage, &copies[0], row, end)?];
        let bytes = row.width * memory_bytes(element) as i64;
        let even = both_divide(&mut self.b, addresses, PIECE);
        let unit = if bytes < LINE {
            let word = self.cx.int(64);
            let (register, line) = (self.b.const_int(word, bytes), self.b.const_int(word, LINE));
            arith::select(&mut self.b, even, register, line)
        } else {
            self.b.const_int(self.cx.int(64), bytes)
        };
        let missing = to_multiple(&mut self.b, addresses[0], unit, element);
        let aligned = begin.add(&mut self.b, missing).min(&mut self.b, end);
        let first = (copies.len() == 1).then_some(result);
        self.row = first.map(|result| (result, Route::Edge(even)));
        self.edge(row, copies, (begin, aligned), Vec::new(), body)?;
        self.row = first.map(|result| (result, Route::Row(even)));
        // A step of whole lines ends at the end of one.
        let unroll = row.unroll.max((LINE / bytes).clamp(1, 2));
        self.nest(&[Loop { range: (aligned, end), length: None, unroll, ..*row }], copies, Vec::new(), body)?;
        self.row = None;
        Ok(())
    }

    /// The address of the stage's result at an index of a loop.
    fn address(&mut self, stage: &StageView<'c>, copy: &Copy<'c>, lp: &Loop<'c>, index: Num<'c>) -> Result<Value<'c>, Error> {
        let result = stage.op.result(0);
        let buffer = self.buffers.get(&result).cloned().ok_or_else(|| Error::at(stage.op, "its result is nowhere in memory"))?;
        let mut point = copy.point.clone();
        point[lp.dim] = Some(Coord { base: index, lanes: false, block: None });
        let dims: Vec<_> = stage.result_dims().into_iter().map(|dim| self.cx.dim(dim)).collect();
        let indices: Vec<_> = dims.into_iter().map(|dim| self.index(&point, dim)).collect();
        let at = self.linear(&buffer, &indices).base;
        let at = element_pointer(&mut self.b, buffer.base, at, buffer.element);
        Ok(llvm::ptrtoint(&mut self.b, at, self.cx.int(64)))
    }
}

/// Whether a tensor's elements are complex, whose parts are not in memory as they are in registers.
fn is_complex(tensor: Value<'_>) -> bool {
    tensor.ty().element_type().is_some_and(ElementType::is_complex)
}

/// Stores a register, of which some lanes may be off.
pub(super) fn store<'c>(
    b: &mut Builder<'c>,
    (base, index): (Value<'c>, Num<'c>),
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
    route: Route<'c>,
) {
    let through = |b: &mut Builder<'c>| memory::store_vector(b, base, index, value, element, mask);
    let bytes = value.ty().shape().last().copied().unwrap_or(1) * memory_bytes(element) as i64;
    let past = |b: &mut Builder<'c>| {
        let at = element_pointer(b, base, index, element);
        let value = to_memory(b, value, element);
        store_past(b, value, at, bytes);
    };
    let pieces = |b: &mut Builder<'c>| in_pieces(b, (base, index), value, element, mask);
    let divides = bytes % PIECE == 0;
    match (route, mask) {
        (Route::Row(_), None) => past(b),
        (Route::Row(even) | Route::Edge(even), Some(_)) if divides => scf::either(b, even, pieces, through),
        (Route::WhereAligned | Route::InPieces, None) => {
            let at = element_pointer(b, base, index, element);
            let address = llvm::ptrtoint(b, at, at.cx().int(64));
            let aligned = divides_by(b, address, bytes);
            scf::either(b, aligned, past, |b| {
                if route == Route::WhereAligned || !divides {
                    return through(b);
                }
                let even = divides_by(b, address, PIECE);
                scf::either(b, even, pieces, through);
            });
        }
        _ => through(b),
    }
}

/// Stores the pieces of a register whose last lane is on.
fn in_pieces<'c>(
    b: &mut Builder<'c>,
    (base, index): (Value<'c>, Num<'c>),
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) {
    let value = to_memory(b, value, element);
    let lanes = PIECE / memory_bytes(element) as i64;
    for first in (0..value.ty().shape()[0]).step_by(lanes as usize) {
        let piece = vector::shuffle(b, value, value, first..first + lanes);
        let at = index.add(b, Num::Const(first));
        let store = |b: &mut Builder<'c>| {
            let at = element_pointer(b, base, at, element);
            store_past(b, piece, at, PIECE);
        };
        let Some(mask) = mask else {
            store(b);
            continue;
        };
        let on = vector::extract(b, mask, first + lanes - 1);
        scf::either(b, on, store, |_| ());
    }
}

fn store_past<'c>(b: &mut Builder<'c>, value: Value<'c>, at: Value<'c>, bytes: i64) {
    let cx = b.cx();
    b.effect(llvm::Store::NAME, &[value, at], &[("alignment", cx.int_attr(cx.int(64), bytes)), ("nontemporal", cx.unit())]);
}

/// Whether a power of two divides an address.
fn divides_by<'c>(b: &mut Builder<'c>, address: Value<'c>, unit: i64) -> Value<'c> {
    let cx = b.cx();
    let word = cx.int(64);
    let (below, zero) = (b.const_int(word, unit - 1), b.const_int(word, 0));
    let past = arith::andi(b, address, below);
    arith::cmpi(b, CmpIPredicate::Eq, past, zero)
}

/// Whether a power of two divides both of two addresses.
fn both_divide<'c>(b: &mut Builder<'c>, addresses: [Value<'c>; 2], unit: i64) -> Value<'c> {
    let word = b.cx().int(64);
    let either = b.value(arith::OrI::NAME, &addresses, word, &[]);
    divides_by(b, either, unit)
}

/// How many elements lie between an address and the next multiple of a power of two: more than there are where elements themselves are not
/// aligned.
fn to_multiple<'c>(b: &mut Builder<'c>, address: Value<'c>, unit: Value<'c>, element: ElementType) -> Num<'c> {
    let cx = b.cx();
    let word = cx.int(64);
    let (zero, one, size) = (b.const_int(word, 0), b.const_int(word, 1), b.const_int(word, memory_bytes(element) as i64));
    let back = arith::subi(b, zero, address);
    let below = arith::subi(b, unit, one);
    let missing = arith::andi(b, back, below);
    let (elements, rest) = (arith::divui(b, missing, size), arith::remui(b, missing, size));
    let never = b.const_int(word, 1 << 62);
    let whole = arith::cmpi(b, CmpIPredicate::Eq, rest, zero);
    let elements = arith::select(b, whole, elements, never);
    Num::Value(arith::index_cast(b, elements, cx.index()))
}
