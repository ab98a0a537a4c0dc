//! Memory of the call: how much a tensor takes, checked where its sizes are computed, and where it is.

use super::flow::Predicate;
use super::{Host, layout};
use crate::loop_to_cpu::memory;
use crate::num::Num;
use strata_core::ir::{Op, Type, Value};
use strata_dialects::host::LARGEST;

/// The status of a call that did not get memory.
const OUT_OF_MEMORY: i64 = 2;

impl<'c> Host<'c, '_> {
    /// The address of memory that was asked for; the call ends where there is none.
    pub(crate) fn obtained(&mut self, memory: Value<'c>) -> Value<'c> {
        let word = self.b.value("llvm.ptrtoint", &[memory], self.cx.int(64), &[]);
        let none = self.b.const_int(self.cx.int(64), 0);
        let there = self.compare(Predicate::NotEqual, word, none);
        self.require(there, OUT_OF_MEMORY, &[]);
        memory
    }

    /// A product, and whether it overflows.
    pub(super) fn product(&mut self, lhs: Value<'c>, rhs: Value<'c>) -> (Value<'c>, Value<'c>) {
        let (lhs, rhs, word, bit) = (self.i64(lhs), self.i64(rhs), self.cx.int(64), self.cx.int(1));
        let pair = self.cx.parse_type("!llvm.struct<(i64, i1)>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        let both = self.b.value("llvm.intr.smul.with.overflow", &[lhs, rhs], pair, &[]);
        let [product, over] =
            [(0, word), (1, bit)].map(|(at, ty)| self.b.value("llvm.extractvalue", &[both], ty, &[("position", self.cx.i64s_attr(&[at]))]));
        (self.b.value("arith.index_cast", &[product], self.cx.index(), &[]), over)
    }

    /// The number of elements of a tensor that memory can hold.
    pub(super) fn elements(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Value<'c> {
        let (mut open, mut times) = (Vec::new(), Some(1i64));
        for &operand in operands {
            match Num::of(operand) {
                Num::Const(size) => times = times.and_then(|times| times.checked_mul(size)),
                Num::Value(size) => open.push(size),
            }
        }
        let bytes = times.and_then(|times| times.checked_mul(op.int("bytes").unwrap_or(1)));
        // Of elements that are none there may be any number.
        let most = bytes.map_or(0, |bytes| if bytes > 0 { LARGEST / bytes } else { i64::MAX });
        let most = self.b.const_index(most);
        let zero = self.b.const_index(0);
        let (index, bit) = (self.cx.index(), self.cx.int(1));
        let Some((&first, rest)) = open.split_first() else { return self.b.const_index(times.unwrap_or(0)) };
        let (mut all, mut signs) = (first, first);
        let mut empty = self.compare(Predicate::Equal, first, zero);
        let mut over = None;
        for &size in rest {
            let (product, wraps) = self.product(all, size);
            all = product;
            over = Some(over.map_or(wraps, |over| self.b.value("arith.ori", &[over, wraps], bit, &[])));
            signs = self.b.value("arith.ori", &[signs, size], index, &[]);
            let none = self.compare(Predicate::Equal, size, zero);
            empty = self.b.value("arith.ori", &[empty, none], bit, &[]);
        }
        // A negative number is a large unsigned one.
        let mut fits = match bytes {
            Some(0) => self.compare(Predicate::AtLeast, signs, zero),
            _ => self.compare(Predicate::UnsignedAtMost, all, most),
        };
        if let Some(over) = over.filter(|_| bytes != Some(0)) {
            let on = self.b.const_int(bit, 1);
            let exact = self.b.value("arith.xori", &[over, on], bit, &[]);
            fits = self.b.value("arith.andi", &[fits, exact], bit, &[]);
            fits = self.b.value("arith.ori", &[fits, empty], bit, &[]);
            let positive = self.compare(Predicate::AtLeast, signs, zero);
            fits = self.b.value("arith.andi", &[fits, positive], bit, &[]);
        }
        let status = self.message(op);
        self.require(fits, status, operands);
        Num::Value(all).mul(&mut self.b, Num::Const(times.unwrap_or(0))).value(&mut self.b)
    }

    pub(super) fn workspace(&mut self, bytes: Value<'c>) -> Value<'c> {
        let bytes = self.i64(bytes);
        let callee = self.cx.symbol_attr("strata_workspace");
        let memory = self.b.value("func.call", &[self.call, bytes], memory::pointer(self.cx), &[("callee", callee)]);
        self.obtained(memory)
    }

    pub(super) fn output(&mut self, op: Op<'c>, sizes: &[Value<'c>]) -> Value<'c> {
        let pointer = memory::pointer(self.cx);
        let mut bytes = Num::Const(element_bytes(op.result(0).ty()));
        if !sizes.is_empty() {
            let tensor = self.listed(layout::OUTPUTS, op);
            let shape = self.word(tensor, layout::SHAPE, pointer);
            for (dim, &size) in sizes.iter().enumerate() {
                let word = self.i64(size);
                self.store_word(shape, 8 * dim as i64, word);
                bytes = bytes.mul(&mut self.b, Num::Value(size));
            }
        }
        let bytes = bytes.value(&mut self.b);
        let bytes = self.i64(bytes);
        let index = self.b.const_int(self.cx.int(64), op.int("index").unwrap_or_default());
        let callee = self.cx.symbol_attr("strata_output");
        let memory = self.b.value("func.call", &[self.call, index, bytes], pointer, &[("callee", callee)]);
        self.obtained(memory)
    }
}

/// Bytes of one element of a buffer.
pub(crate) fn element_bytes(buffer: Type<'_>) -> i64 {
    buffer.element_type().map_or(1, |element| element.bytes() as i64)
}
