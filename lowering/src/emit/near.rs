//! Gathers of elements that lie near each other, as resampling, windows and sorted indices read them.
//!
//! Where all lanes read less than a register or two behind lane 0, loads of these and a permutation of its lanes are several times faster than a gather.
//! Indices are data, so each vector finds out which of the two it takes; the branch is predicted, since what is near mostly stays near.

use super::emitter::{Buffer, Emitter};
use super::lanes;
use super::memory;
use crate::num::Num;
use std::collections::HashSet;
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{llvm, scf, vector};
use strata_dialects::loops::elements::memory_type;
use strata_dialects::loops::roles::uses;
use strata_dialects::loops::view::StageView;
use strata_dialects::target::Target;

/// An instruction that puts lanes of a register in an order that another register holds.
pub(crate) struct Permutation {
    /// The feature of the CPU that it comes with.
    feature: &'static str,
    /// Bits of a lane.
    bits: u32,
    /// Lanes of a register.
    lanes: i64,
    /// Registers that lanes are taken from: one, or two that lie side by side in memory.
    sources: i64,
    /// LLVM's name.
    intrinsic: &'static str,
}

/// By bits, then by how far they reach.
const PERMUTATIONS: &[Permutation] = &[
    Permutation { feature: "ssse3", bits: 8, lanes: 16, sources: 1, intrinsic: "llvm.x86.ssse3.pshuf.b.128" },
    Permutation { feature: "avx512vbmi", bits: 8, lanes: 32, sources: 1, intrinsic: "llvm.x86.avx512.permvar.qi.256" },
    Permutation { feature: "avx512vbmi", bits: 8, lanes: 64, sources: 1, intrinsic: "llvm.x86.avx512.permvar.qi.512" },
    Permutation { feature: "avx512vbmi", bits: 8, lanes: 64, sources: 2, intrinsic: "llvm.x86.avx512.vpermi2var.qi.512" },
    Permutation { feature: "avx512bw", bits: 16, lanes: 8, sources: 1, intrinsic: "llvm.x86.avx512.permvar.hi.128" },
    Permutation { feature: "avx512bw", bits: 16, lanes: 16, sources: 1, intrinsic: "llvm.x86.avx512.permvar.hi.256" },
    Permutation { feature: "avx512bw", bits: 16, lanes: 32, sources: 1, intrinsic: "llvm.x86.avx512.permvar.hi.512" },
    Permutation { feature: "avx512bw", bits: 16, lanes: 32, sources: 2, intrinsic: "llvm.x86.avx512.vpermi2var.hi.512" },
    Permutation { feature: "avx2", bits: 32, lanes: 8, sources: 1, intrinsic: "llvm.x86.avx2.permd" },
    Permutation { feature: "avx512f", bits: 32, lanes: 16, sources: 1, intrinsic: "llvm.x86.avx512.permvar.si.512" },
    Permutation { feature: "avx512f", bits: 32, lanes: 16, sources: 2, intrinsic: "llvm.x86.avx512.vpermi2var.d.512" },
    Permutation { feature: "avx512vl", bits: 64, lanes: 4, sources: 1, intrinsic: "llvm.x86.avx512.permvar.di.256" },
    Permutation { feature: "avx512f", bits: 64, lanes: 8, sources: 1, intrinsic: "llvm.x86.avx512.permvar.di.512" },
    Permutation { feature: "avx512f", bits: 64, lanes: 8, sources: 2, intrinsic: "llvm.x86.avx512.vpermi2var.q.512" },
];

/// The permutations that a CPU has, in the registers that kernels use.
pub(crate) fn permutations(target: &Target) -> Vec<&'static Permutation> {
    let fits = |permutation: &Permutation| i64::from(permutation.bits) * permutation.lanes <= target.vector_bits;
    PERMUTATIONS.iter().filter(|permutation| target.has(permutation.feature) && fits(permutation)).collect()
}

/// What is known of the places that the lanes of a gather read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    /// They may be near each other.
    MayBeNear,
    /// They are in no order.
    Anywhere,
}

impl Places {
    /// Those of a load in a body. Where memory holds an index for each point, it is taken to be in no order: what resamples or selects along
    /// a dim does so for all rows alike.
    pub(super) fn of(load: Op<'_>) -> Self {
        let Some(stage) = load.parent().map(StageView::new) else { return Self::MayBeNear };
        let arguments = stage.op.body(0).args();
        let (mut values, mut seen) = (load.operands()[1..].to_vec(), HashSet::new());
        while let Some(value) = values.pop() {
            let argument = arguments.iter().position(|argument| *argument == value);
            let map = argument.and_then(|at| stage.maps.get(at));
            if map.is_some_and(|map| stage.domain.iter().all(|&dim| uses(*map, dim))) {
                return Self::Anywhere;
            }
            let op = value.defining_op().filter(|_| argument.is_none() && seen.insert(value));
            values.extend(op.into_iter().flat_map(|op| op.operands()));
        }
        Self::MayBeNear
    }
}

impl<'c> Emitter<'c> {
    /// The permutation for elements of so many bits: of two vectors' elements, so that every second one is still near, else of as many as there
    /// are.
    fn permutation(&self, bits: u32) -> Option<&'static Permutation> {
        let mut fitting = self.permutations.iter().copied().filter(|found| found.bits == bits && found.lanes >= self.width);
        fitting.clone().find(|found| found.reach() >= 2 * self.width).or(fitting.next_back())
    }

    /// Elements at a vector of linear indices that may be near each other; lanes that `mask` leaves out are zero.
    pub(super) fn gather_near(&mut self, buffer: &Buffer<'c>, indices: Value<'c>, mask: Option<Value<'c>>) -> Value<'c> {
        let (base, element) = (buffer.base, buffer.element);
        let size = buffer.shape.iter().fold(Num::Const(1), |size, &extent| size.mul(&mut self.b, extent));
        let bits = 8 * memory::memory_bytes(element) as u32;
        let found =
            self.permutation(bits).filter(|found| !element.is_complex() && !matches!(size, Num::Const(size) if size < found.reach()));
        let Some(permutation) = found else { return memory::gather(&mut self.b, base, indices, element, mask) };
        let (b, width) = (&mut self.b, self.width);
        let first = vector::extract(b, indices, 0);
        let firsts = memory::broadcast(b, first, width);
        let offsets = arith::subi(b, indices, firsts);
        let reach = b.const_index(permutation.reach());
        let reach = memory::broadcast(b, reach, width);
        let mut near = arith::cmpi(b, CmpIPredicate::Ult, offsets, reach);
        if let Some(mask) = mask {
            let on = b.const_int(b.cx().int(1), 1);
            let on = memory::broadcast(b, on, width);
            let off = arith::xori(b, mask, on);
            near = arith::ori(b, near, off);
        }
        let near = vector::reduction(b, vector::CombiningKind::And, near);
        // The whole registers must lie in the tensor. (Lane 0 may be off, and its index any number.)
        let starts = size.add(b, Num::Const(1 - permutation.reach())).max(b, Num::Const(0)).value(b);
        let fits = arith::cmpi(b, CmpIPredicate::Ult, first, starts);
        let near = arith::andi(b, near, fits);
        let ty = b.cx().vector(&[width], strata_dialects::loops::elements::register_type(b.cx(), element));
        let load = |b: &mut Builder<'c>| {
            let value = permutation.load(b, (base, Num::of(first)), element, offsets);
            let Some(mask) = mask else { return value };
            let zero = lanes::zero_of(b, element);
            let zero = memory::broadcast(b, zero, width);
            arith::select(b, mask, value, zero)
        };
        scf::choose(b, near, ty, load, |b| memory::gather(b, base, indices, element, mask))
    }
}

impl Permutation {
    /// Elements that lanes are taken from.
    fn reach(&self) -> i64 {
        self.lanes * self.sources
    }

    /// Elements at `offsets` behind the one at an index of memory; the whole registers are loaded.
    fn load<'c>(&self, b: &mut Builder<'c>, (base, first): (Value<'c>, Num<'c>), element: ElementType, offsets: Value<'c>) -> Value<'c> {
        let (cx, width) = (b.cx(), offsets.ty().shape()[0]);
        let bits = cx.int(self.bits);
        let rows: Vec<_> = (0..self.sources)
            .map(|source| {
                let first = first.add(b, Num::Const(source * self.lanes));
                let at = memory::element_pointer(b, base, first, element);
                memory::load_words(b, at, self.bits, self.lanes)
            })
            .collect();
        let offsets = arith::index_cast(b, offsets, cx.vector(&[width], bits));
        let offsets = vector::shuffle(b, offsets, offsets, (0..self.lanes).map(|lane| lane % width));
        // The order stands behind the first register.
        let operands = [&rows[..1], &[offsets], &rows[1..]].concat();
        let value = llvm::call_intrinsic(b, self.intrinsic, &operands, rows[0].ty());
        let value = vector::shuffle(b, value, value, 0..width);
        let value = vector::bitcast(b, value, cx.vector(&[width], memory_type(cx, element)));
        memory::from_memory(b, value, element)
    }
}
