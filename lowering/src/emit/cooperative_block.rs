//! Threads of a block that run the same points of the outer loops together: they take turns in a stage's own loops, and what each of
//! them found becomes one result that all of them have.

use super::shuffle::from_lane_across;
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::emit::memory;
use crate::emit::reducer::Reducer;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::gpu;
use strata_dialects::target::gpu::WARP;

/// Bytes of shared memory for each warp's part of a result: two elements of 16 bytes.
pub const PART: i64 = 32;

/// The threads of a block, all at the same point of the outer loops.
#[derive(Clone, Copy, Debug)]
pub struct CooperativeBlock<'c> {
    /// The number of this thread, an `index`.
    pub thread: Value<'c>,
    /// How many threads there are: a power of two, at least a warp.
    pub count: i64,
    /// The dim of the present stage in whose loop they take turns.
    pub dim: Option<usize>,
    /// Shared memory with `PART` bytes for each warp.
    pub scratch: Value<'c>,
}

/// How two partial results, each of one or more values, become one.
type Combine<'a, 'c> = dyn FnMut(&mut Emitter<'c>, &[Value<'c>], &[Value<'c>]) -> Vec<Value<'c>> + 'a;

/// An element and where it is.
type Found<'c> = (Value<'c>, Value<'c>);

/// The better of two.
type Better<'a, 'c> = dyn FnMut(&mut Emitter<'c>, Found<'c>, Found<'c>) -> Found<'c> + 'a;

impl<'c> Emitter<'c> {
    /// Whether the threads take turns along one of these dims.
    pub(crate) fn block_shares(&self, dims: &[usize]) -> bool {
        self.cooperative.and_then(|block| block.dim).is_some_and(|dim| dims.contains(&dim))
    }

    /// What all threads found, combined.
    pub(crate) fn block_sum(&mut self, reducer: Reducer, value: Value<'c>) -> Result<Value<'c>, Error> {
        let combine =
            &mut |emitter: &mut Self, mine: &[Value<'c>], other: &[Value<'c>]| vec![reducer.combine(&mut emitter.b, mine[0], other[0])];
        Ok(self.block_reduce(vec![value], combine)?[0])
    }

    /// The best element of all threads and where it is; `first` gives the better of two.
    pub(crate) fn block_first(&mut self, best: Value<'c>, at: Value<'c>, first: &mut Better<'_, 'c>) -> Result<Found<'c>, Error> {
        let combine = &mut |emitter: &mut Self, mine: &[Value<'c>], other: &[Value<'c>]| {
            let (best, at) = first(emitter, (mine[0], mine[1]), (other[0], other[1]));
            vec![best, at]
        };
        let found = self.block_reduce(vec![best, at], combine)?;
        Ok((found[0], found[1]))
    }

    /// First within each warp through registers, then across warps through shared memory.
    fn block_reduce(&mut self, mut values: Vec<Value<'c>>, combine: &mut Combine<'_, 'c>) -> Result<Vec<Value<'c>>, Error> {
        let Some(block) = self.cooperative else { return Ok(values) };
        let mut distance = WARP / 2;
        while distance > 0 {
            let others: Vec<_> = values.iter().map(|&value| from_lane_across(&mut self.b, value, distance)).collect();
            values = combine(self, &values, &others);
            distance /= 2;
        }
        let warps = block.count / WARP;
        if warps <= 1 {
            return Ok(values);
        }
        let mut elements = Vec::new();
        for value in &values {
            let element = value.ty().element_type();
            elements.push(element.ok_or_else(|| Error::at(self.kernel.op, format!("threads cannot share a {}", value.ty())))?);
        }
        let warp = Num::Value(block.thread).floor_div(&mut self.b, Num::Const(WARP));
        let lane = Num::Value(block.thread).modulo(&mut self.b, Num::Const(WARP));
        let first = self.is_zero(lane);
        self.when(first, |emitter| {
            for (slot, (&value, &element)) in values.iter().zip(&elements).enumerate() {
                let at = emitter.part(block, warp, slot);
                memory::store(&mut emitter.b, at, Num::Const(0), value, element);
            }
        });
        self.barrier();
        let mut total: Option<Vec<Value<'c>>> = None;
        for warp in 0..warps {
            let mut part = Vec::new();
            for (slot, &element) in elements.iter().enumerate() {
                let at = self.part(block, Num::Const(warp), slot);
                part.push(memory::load(&mut self.b, at, Num::Const(0), element));
            }
            total = Some(match total {
                None => part,
                Some(before) => combine(self, &before, &part),
            });
        }
        // Nobody writes the next result before all have read this one.
        self.barrier();
        Ok(total.unwrap_or(values))
    }

    /// Where a warp's part of a result is.
    pub(crate) fn part(&mut self, block: CooperativeBlock<'c>, warp: Num<'c>, slot: usize) -> Value<'c> {
        let at = warp.mul(&mut self.b, Num::Const(PART)).add(&mut self.b, Num::Const(16 * slot as i64));
        memory::element_pointer(&mut self.b, block.scratch, at, ElementType::I8)
    }

    /// Runs `write` in the first thread only if `alone`, else in all.
    pub(crate) fn first_thread(&mut self, alone: bool, write: impl FnOnce(&mut Self)) {
        match self.cooperative.filter(|_| alone) {
            None => write(self),
            Some(block) => {
                let first = self.is_zero(Num::Value(block.thread));
                self.when(first, write);
            }
        }
    }

    pub(crate) fn is_zero(&mut self, number: Num<'c>) -> Value<'c> {
        let (number, zero) = (number.value(&mut self.b), self.b.const_index(0));
        arith::cmpi(&mut self.b, CmpIPredicate::Eq, number, zero)
    }

    /// All threads of the block wait for each other; what they wrote is seen by all.
    pub(crate) fn barrier(&mut self) {
        self.reads.clear();
        gpu::barrier(&mut self.b);
    }
}
