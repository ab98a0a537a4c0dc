//! Calls of kernels of a user's libraries: the runtime makes what `strata_ops.h` describes from words on the stack. On a device the kernel
//! works on copies of the host, or is one in PTX that is started there.

use super::Host;
use crate::emit::{Error, memory};
use crate::loop_to_host::DTYPE_CODES;
use crate::num::{Num, number_of};
use strata_core::ir::{Attr, ElementType, Op, Value};
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
    let words = |op: &Op<'_>| {
        let [ranks, parameters] = ["ranks", "parameters"].map(|name| op.ints(name).map_or(0, |list| list.len() as i64));
        (HEAD + op.num_operands() as i64 + 2 * ranks).max(GRID as i64 + parameters)
    };
    function.find_all(host::CustomCall::NAME).iter().map(words).max().unwrap_or(0)
}

impl<'c> Host<'c, '_> {
    pub(super) fn custom_call(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        if op.attr("parameters").is_some() {
            return self.start_custom(op, operands);
        }
        let import = op.str("import").ok_or_else(|| Error::at(op, "it names no kernel"))?;
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
            let sizes = (0..rank).map(|_| rest.next().ok_or_else(wrong)).collect::<Result<Vec<_>, _>>()?;
            let at = if self.device.is_some() { self.staged_tensor(value, dtype, &sizes) } else { value };
            words.constant(self, dtype);
            words.constant(self, rank);
            words.value(self, at);
            for size in sizes {
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
        if self.device.is_some() {
            self.unstage();
        }
        Ok(())
    }

    /// The host's copy of a tensor of the device.
    fn staged_tensor(&mut self, at: Value<'c>, dtype: i64, sizes: &[Value<'c>]) -> Value<'c> {
        let element = usize::try_from(dtype).ok().and_then(|dtype| DTYPE_CODES.get(dtype));
        let bytes = element.map_or(1, |element| element.bytes() as i64);
        let bytes = sizes.iter().fold(Num::Const(bytes), |bytes, size| bytes.mul(&mut self.b, Num::Value(*size)));
        self.staged_bytes(at, bytes)
    }

    /// Starts a kernel in PTX.
    fn start_custom(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let wrong = || Error::at(op, "its arguments are not what its launch says");
        let number = self.device.and_then(|device| device.custom(op)).ok_or_else(|| Error::at(op, "it is started on a device"))?;
        let (ranks, bits) = (op.ints("ranks").unwrap_or_default(), op.ints("parameters").unwrap_or_default());
        let mut rest = operands.iter().copied();
        let (mut tensors, mut numbers) = (Vec::new(), Vec::new());
        for &rank in &ranks {
            let value = rest.next().ok_or_else(wrong)?;
            (0..rank).try_for_each(|_| rest.next().map(drop)).ok_or_else(wrong)?;
            if rank < 0 { numbers.push(value) } else { tensors.push(value) }
        }
        let sizes: Vec<_> = numbers.iter().copied().filter(|number| number.ty().is_index()).collect();
        let unused = bits.len().checked_sub(tensors.len() + numbers.len()).ok_or_else(wrong)?;
        let mut parameters: Vec<_> =
            tensors.into_iter().chain(numbers).zip(bits).map(|(value, bits)| self.parameter(value, bits)).collect();
        let zero = self.b.const_int(self.cx.int(64), 0);
        parameters.resize(parameters.len() + unused, zero);
        let blocks = op.attr("blocks").and_then(Attr::as_map).filter(|blocks| blocks.num_symbols() == sizes.len()).ok_or_else(wrong)?;
        let mut words = Words { base: self.words, next: 0 };
        for dim in 0..GRID {
            let blocks = blocks.results().get(dim).map_or(Num::Const(1), |&expr| number_of(&mut self.b, expr, &sizes));
            let blocks = blocks.value(&mut self.b);
            let blocks = self.i64(blocks);
            words.value(self, blocks);
        }
        for parameter in parameters {
            words.value(self, parameter);
        }
        self.start_custom_kernel(number as i64, words.base, words.next);
        Ok(())
    }

    /// A word whose lowest bytes are a parameter of so many bits.
    fn parameter(&mut self, value: Value<'c>, bits: i64) -> Value<'c> {
        let (word, element) = (self.cx.int(64), value.ty().element_type());
        match element {
            Some(ElementType::F64) if bits == 32 => {
                let single = arith::truncf(&mut self.b, value, self.cx.f32());
                let narrow = arith::bitcast(&mut self.b, single, self.cx.int(32));
                arith::extui(&mut self.b, narrow, word)
            }
            Some(ElementType::Bool) => arith::extui(&mut self.b, value, word),
            _ if value.ty().is_index() => self.i64(value),
            _ => value,
        }
    }
}

/// Dimensions of a grid of blocks.
const GRID: usize = 3;

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
