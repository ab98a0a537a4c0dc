//! Calls of kernels of a user's libraries: the runtime makes what `strata_ops.h` describes from words on the stack.

use super::Host;
use crate::emit::{Error, memory};
use crate::num::Num;
use strata_core::ir::{ElementType, Op, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::func;
use strata_dialects::host;

/// Words before those of the arguments: how many arguments there are, and how many outputs.
const HEAD: i64 = 2;

/// What the first word of a number says in the place of an element type.
mod number {
    pub const INT: i64 = -1;
    pub const FLOAT: i64 = -2;
    pub const BOOL: i64 = -3;
}

/// Words of the widest call in a function: for a tensor its element type, rank, address and sizes, for a number its kind and value.
pub(super) fn most_words(function: Op<'_>) -> i64 {
    let words = |op: &Op<'_>| HEAD + op.num_operands() as i64 + 2 * op.ints("ranks").map_or(0, |ranks| ranks.len() as i64);
    function.find_all(host::CustomCall::NAME).iter().map(words).max().unwrap_or(0)
}

impl<'c> Host<'c, '_> {
    pub(super) fn custom_call(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let import = op.str("import").ok_or_else(|| Error::at(op, "it names no kernel"))?;
        if self.device.is_some() {
            return Err(Error::at(
                op,
                format!("`{import}` is a kernel for the CPU, and the program is for a device; compile it for the CPU"),
            ));
        }
        let wrong = || Error::at(op, "its arguments are not what its ranks say");
        let (ranks, dtypes) = (op.ints("ranks").unwrap_or_default(), op.ints("dtypes").unwrap_or_default());
        let mut words = Words { base: self.words, next: 0 };
        words.constant(self, ranks.len() as i64);
        words.constant(self, op.int("outputs").unwrap_or_default());
        let mut rest = operands.iter().copied();
        for (&rank, &dtype) in ranks.iter().zip(&dtypes) {
            let value = rest.next().ok_or_else(wrong)?;
            if rank < 0 {
                words.number(self, value);
                continue;
            }
            words.constant(self, dtype);
            words.constant(self, rank);
            words.value(self, value);
            for _ in 0..rank {
                let size = rest.next().ok_or_else(wrong)?;
                let size = self.i64(size);
                words.value(self, size);
            }
        }
        let callee = self.cx.symbol_attr("strata_op_begin");
        let pointer = memory::pointer(self.cx);
        let call = self.b.value(func::Call::NAME, &[self.call, self.words], pointer, &[("callee", callee)]);
        let status = self.b.value(func::Call::NAME, &[call], self.cx.int(32), &[("callee", self.cx.symbol_attr(&import))]);
        let zero = self.b.const_int(self.cx.int(32), 0);
        let done = arith::cmpi(&mut self.b, CmpIPredicate::Eq, status, zero);
        let detail = arith::index_cast(&mut self.b, status, self.cx.index());
        let message = self.message(op);
        self.require(done, message, &[detail]);
        Ok(())
    }
}

/// Words on the stack, written one after the other.
struct Words<'c> {
    base: Value<'c>,
    next: i64,
}

impl<'c> Words<'c> {
    fn value(&mut self, host: &mut Host<'c, '_>, value: Value<'c>) {
        host.store_word(self.base, 8 * self.next, value);
        self.next += 1;
    }

    fn constant(&mut self, host: &mut Host<'c, '_>, value: i64) {
        let value = host.b.const_int(host.cx.int(64), value);
        self.value(host, value);
    }

    /// Its kind and its value.
    fn number(&mut self, host: &mut Host<'c, '_>, value: Value<'c>) {
        let element = value.ty().element_type().unwrap_or(ElementType::I64);
        if element.is_float() {
            self.constant(host, number::FLOAT);
            return self.value(host, value);
        }
        if element == ElementType::Bool {
            self.constant(host, number::BOOL);
            self.constant(host, 0);
            let at = memory::element_pointer(&mut host.b, self.base, Num::Const(8 * (self.next - 1)), ElementType::I8);
            return memory::store(&mut host.b, at, Num::Const(0), value, element);
        }
        self.constant(host, number::INT);
        let value = host.i64(value);
        self.value(host, value);
    }
}
