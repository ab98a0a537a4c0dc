//! Memory of the call: how much a tensor takes, checked where its sizes are computed, and where it is.

use super::{Host, layout};
use crate::emit::memory;
use crate::num::Num;
use strata_core::ir::{Op, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{func, llvm};
use strata_dialects::host::LARGEST;

/// The status of a call that did not get memory.
const OUT_OF_MEMORY: i64 = 2;

impl<'c> Host<'c, '_> {
    /// The address of memory that was asked for; the call ends where there is none.
    pub(crate) fn obtained(&mut self, memory: Value<'c>) -> Value<'c> {
        let word = llvm::ptrtoint(&mut self.b, memory, self.cx.int(64));
        let none = self.b.const_int(self.cx.int(64), 0);
        let there = arith::cmpi(&mut self.b, CmpIPredicate::Ne, word, none);
        self.require(there, OUT_OF_MEMORY, &[]);
        memory
    }

    /// A product, and whether it overflows.
    pub(super) fn product(&mut self, lhs: Value<'c>, rhs: Value<'c>) -> (Value<'c>, Value<'c>) {
        let (lhs, rhs, word, bit) = (self.i64(lhs), self.i64(rhs), self.cx.int(64), self.cx.int(1));
        let pair = self.cx.parse_type("!llvm.struct<(i64, i1)>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        let both = llvm::smul_with_overflow(&mut self.b, lhs, rhs, pair);
        let [product, over] = [(0, word), (1, bit)].map(|(at, ty)| llvm::extractvalue(&mut self.b, both, at, ty));
        (arith::index_cast(&mut self.b, product, self.cx.index()), over)
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
        let bit = self.cx.int(1);
        let Some((&first, rest)) = open.split_first() else { return self.b.const_index(times.unwrap_or(0)) };
        let (mut all, mut signs) = (first, first);
        let mut empty = arith::cmpi(&mut self.b, CmpIPredicate::Eq, first, zero);
        let mut over = None;
        for &size in rest {
            let (product, wraps) = self.product(all, size);
            all = product;
            over = Some(over.map_or(wraps, |over| arith::ori(&mut self.b, over, wraps)));
            signs = arith::ori(&mut self.b, signs, size);
            let none = arith::cmpi(&mut self.b, CmpIPredicate::Eq, size, zero);
            empty = arith::ori(&mut self.b, empty, none);
        }
        // A negative number is a large unsigned one.
        let mut fits = match bytes {
            Some(0) => arith::cmpi(&mut self.b, CmpIPredicate::Sge, signs, zero),
            _ => arith::cmpi(&mut self.b, CmpIPredicate::Ule, all, most),
        };
        if let Some(over) = over.filter(|_| bytes != Some(0)) {
            let on = self.b.const_int(bit, 1);
            let exact = arith::xori(&mut self.b, over, on);
            fits = arith::andi(&mut self.b, fits, exact);
            fits = arith::ori(&mut self.b, fits, empty);
            let positive = arith::cmpi(&mut self.b, CmpIPredicate::Sge, signs, zero);
            fits = arith::andi(&mut self.b, fits, positive);
        }
        let status = self.message(op);
        self.require(fits, status, operands);
        Num::Value(all).mul(&mut self.b, Num::Const(times.unwrap_or(0))).value(&mut self.b)
    }

    pub(super) fn workspace(&mut self, bytes: Value<'c>) -> Value<'c> {
        let bytes = self.i64(bytes);
        let callee = self.cx.symbol_attr("strata_workspace");
        let memory = self.b.value(func::Call::NAME, &[self.call, bytes], memory::pointer(self.cx), &[("callee", callee)]);
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
        let memory = self.b.value(func::Call::NAME, &[self.call, index, bytes], pointer, &[("callee", callee)]);
        self.obtained(memory)
    }
}

/// Bytes of one element of a buffer.
pub(crate) fn element_bytes(buffer: Type<'_>) -> i64 {
    buffer.element_type().map_or(1, |element| element.bytes() as i64)
}
