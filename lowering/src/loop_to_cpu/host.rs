//! The host program as the native entry `strata_entry(call) -> status`, and `@prepare` as `strata_prepare` of the same shape.

use super::device::Device;
use super::launch::Launcher;
use super::table::{Tables, slice};
use super::{Error, memory};
use crate::codegen::{ENTRY, PREPARE};
use crate::num::Num;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, Block, Builder, Cx, ElementType, Op, OpSpec, Type, Value};
use strata_dialects::host::LARGEST;

/// Byte offsets in `StrataCall` and `DLTensor`.
mod layout {
    pub const INPUTS: i64 = 0;
    pub const OUTPUTS: i64 = 8;
    pub const WEIGHTS: i64 = 16;
    pub const DETAIL: i64 = 32;
    pub const DATA: i64 = 0;
    pub const SHAPE: i64 = 24;
}

/// Texts of the entry's status codes: status `k` is text `k - 1`.
pub type Messages = Vec<String>;

/// What the first two statuses say: `INDEX_OUT_OF_BOUNDS`, and `OUT_OF_MEMORY`, of which the runtime knows more.
const MESSAGES: [&str; 2] = ["index out of bounds", "out of memory"];

/// The status of a call that did not get memory.
const OUT_OF_MEMORY: i64 = 2;

/// Comparisons of numbers, by `arith`'s numbers of them.
#[derive(Clone, Copy)]
enum Predicate {
    Equal = 0,
    NotEqual = 1,
    Less = 2,
    AtLeast = 5,
    UnsignedAtMost = 7,
}

/// Writes the native entries from the functions with `host.entry` and `host.prepare`, which are erased. Where there are more than `long`
/// launches they are in tables.
pub fn lower(module: Op<'_>, long: usize) -> Result<Messages, Error> {
    let marked = |mark: &str| module.body(0).ops().into_iter().find(|op| op.attr(mark).is_some());
    let host = marked("host.entry").ok_or_else(|| Error::at(module, "there is no host program"))?;
    let mut messages = MESSAGES.map(str::to_owned).to_vec();
    lower_function(module, host, ENTRY, long, &mut messages)?;
    if let Some(prepare) = marked("host.prepare") {
        lower_function(module, prepare, PREPARE, long, &mut messages)?;
    }
    Ok(messages)
}

fn lower_function<'c>(module: Op<'c>, host: Op<'c>, name: &'static str, long: usize, messages: &mut Messages) -> Result<(), Error> {
    let cx = module.cx();
    let pointer = memory::pointer(cx);
    let mut at = Builder::before(host);
    let func = at.op(OpSpec {
        name: "func.func",
        attrs: &[("sym_name", cx.str_attr(name)), ("function_type", cx.type_attr(cx.function(&[pointer], &[cx.int(32)])))],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&[pointer], host.location());
    let mut lowering = Host {
        module,
        cx,
        func,
        name,
        b: Builder::at_end(block, host.location()),
        call: block.arg(0),
        status: block.arg(0),
        launcher: None,
        device: Device::of(module),
        slots: block.arg(0),
        values: HashMap::new(),
        tables: None,
        messages,
        constants: 0,
    };
    lowering.prologue(host);
    lowering.prepare_tables(host, long);
    lowering.block(host.body(0), true)?;
    host.erase();
    Ok(())
}

pub(super) struct Host<'c, 'm> {
    pub(super) module: Op<'c>,
    pub(super) cx: Cx<'c>,
    func: Op<'c>,
    name: &'static str,
    pub(super) b: Builder<'c>,
    pub(super) call: Value<'c>,
    pub(super) status: Value<'c>,
    pub(super) launcher: Option<Launcher<'c>>,
    /// Where the program's memory is, if not on the host.
    pub(super) device: Option<Device<'c>>,
    /// Words for the arguments of a launch.
    pub(super) slots: Value<'c>,
    pub(super) values: HashMap<Value<'c>, Value<'c>>,
    /// Launches as data, where the program is long.
    pub(super) tables: Option<Tables<'c>>,
    messages: &'m mut Messages,
    constants: usize,
}

impl<'c> Host<'c, '_> {
    /// The status cell, and room for the arguments of the widest launch.
    fn prologue(&mut self, host: Op<'c>) {
        let slots = host.find_all("host.launch").iter().map(|op| op.num_operands() + 1).max().unwrap_or(1).max(2);
        self.status = self.stack(1);
        let zero = self.b.const_int(self.cx.int(32), 0);
        memory::store(&mut self.b, self.status, Num::Const(0), zero, ElementType::I32);
        self.slots = self.stack(slots as i64);
        self.launcher = Some(Launcher::new(self.slots));
    }

    /// So many 8-byte slots on the stack.
    pub(super) fn stack(&mut self, slots: i64) -> Value<'c> {
        let cx = self.cx;
        let count = self.b.const_int(cx.int(64), slots);
        let attrs = [("elem_type", cx.type_attr(cx.int(64))), ("alignment", cx.i64_attr(8))];
        self.b.value("llvm.alloca", &[count], memory::pointer(cx), &attrs)
    }

    /// The word at a byte offset from a pointer.
    fn word(&mut self, base: Value<'c>, offset: i64, ty: Type<'c>) -> Value<'c> {
        let at = memory::element_pointer(&mut self.b, base, Num::Const(offset), ElementType::I8);
        self.b.value("llvm.load", &[at], ty, &[("alignment", self.cx.i64_attr(8))])
    }

    pub(super) fn store_word(&mut self, base: Value<'c>, offset: i64, value: Value<'c>) {
        let at = memory::element_pointer(&mut self.b, base, Num::Const(offset), ElementType::I8);
        self.b.effect("llvm.store", &[value, at], &[("alignment", self.cx.i64_attr(8))]);
    }

    /// Entry `index` of a list of pointers in the call.
    fn listed(&mut self, list: i64, op: Op<'c>) -> Value<'c> {
        let pointer = memory::pointer(self.cx);
        let list = self.word(self.call, list, pointer);
        self.word(list, 8 * op.int("index").unwrap_or_default(), pointer)
    }

    pub(super) fn i64(&mut self, index: Value<'c>) -> Value<'c> {
        self.b.value("arith.index_cast", &[index], self.cx.int(64), &[])
    }

    /// What a value has become. A weight's pointer is read where it is used: a program of many layers could not keep them all.
    /// A slice's is made there where most are only rows of a table.
    pub(super) fn value(&mut self, value: Value<'c>) -> Value<'c> {
        if let Some(weight) = value.defining_op().filter(|op| op.is("host.weight")) {
            return self.listed(layout::WEIGHTS, weight);
        }
        if let Some((from, offset)) = slice(value).filter(|_| self.tables.is_some()) {
            let from = self.value(from);
            return memory::element_pointer(&mut self.b, from, Num::Const(offset), ElementType::I8);
        }
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn ty(&self, ty: Type<'c>) -> Type<'c> {
        if ty.is_memref() { memory::pointer(self.cx) } else { ty }
    }

    fn block(&mut self, block: Block<'c>, top: bool) -> Result<(), Error> {
        for op in block.ops() {
            self.b.set_location(op.location());
            self.op(op, top)?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, top: bool) -> Result<(), Error> {
        if top && self.waits(op) {
            return Ok(());
        }
        self.launch_waiting(op)?;
        if self.tables.is_some() && op.is("host.slice") && slice(op.result(0)).is_some() {
            return Ok(());
        }
        let operands: Vec<_> = op.operands().into_iter().map(|operand| self.value(operand)).collect();
        let pointer = memory::pointer(self.cx);
        if self.device.is_some() && self.on_device(op, &operands)? {
            return Ok(());
        }
        let result = match op.name() {
            "host.input" => {
                let tensor = self.listed(layout::INPUTS, op);
                self.word(tensor, layout::DATA, pointer)
            }
            "host.input_size" => {
                let tensor = self.listed(layout::INPUTS, op);
                let shape = self.word(tensor, layout::SHAPE, pointer);
                let size = self.word(shape, 8 * op.int("dim").unwrap_or_default(), self.cx.int(64));
                self.b.value("arith.index_cast", &[size], self.cx.index(), &[])
            }
            "host.weight" => return Ok(()),
            "host.constant" => self.constant(op)?.0,
            "host.alloc" => {
                let bytes = self.b.const_index(element_bytes(op.result(0).ty()));
                let bytes = self.b.value("arith.muli", &[operands[0], bytes], self.cx.index(), &[]);
                self.workspace(bytes)
            }
            "host.arena" => self.workspace(operands[0]),
            "host.slice" => memory::element_pointer(&mut self.b, operands[0], Num::Value(operands[1]), ElementType::I8),
            "host.output" => self.output(op, &operands),
            "host.load" => self.load(op, operands[0]),
            "host.store" => return self.store(op, operands[0], operands[1]),
            "host.copy" => {
                let bytes = self.b.const_index(element_bytes(op.operand(0).ty()));
                let bytes = self.b.value("arith.muli", &[operands[2], bytes], self.cx.index(), &[]);
                let bytes = self.i64(bytes);
                let callee = self.cx.symbol_attr("memcpy");
                self.b.value("func.call", &[operands[1], operands[0], bytes], pointer, &[("callee", callee)]);
                return Ok(());
            }
            "host.extern" => return self.call_extern(op, &operands),
            "host.guard" => {
                let status = self.message(op);
                self.require(operands[0], status, &operands[1..]);
                return Ok(());
            }
            "host.elements" => self.elements(op, &operands),
            "host.product" => {
                let (product, over) = self.product(operands[0], operands[1]);
                let on = self.b.const_int(self.cx.int(1), 1);
                let exact = self.b.value("arith.xori", &[over, on], self.cx.int(1), &[]);
                let status = self.message(op);
                self.require(exact, status, &operands);
                product
            }
            "host.launch" => return self.launch(op),
            "host.return" => {
                let status = memory::load(&mut self.b, self.status, Num::Const(0), ElementType::I32);
                self.b.effect("func.return", &[status], &[]);
                return Ok(());
            }
            "scf.if" | "scf.for" | "scf.while" => return self.control(op, &operands),
            _ => {
                let copy = self.b.clone_op(op, &operands);
                self.values.extend(op.results().into_iter().zip(copy.results()));
                return Ok(());
            }
        };
        self.values.insert(op.result(0), result);
        Ok(())
    }

    /// Control flow as branches between blocks of the entry, so that the call can end anywhere in it.
    fn control(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let results: Vec<_> = op.result_types().into_iter().map(|ty| self.ty(ty)).collect();
        let values = match op.name() {
            "scf.if" => {
                let after = self.append(&results);
                let blocks = [0, 1].map(|region| op.region(region).entry().map(|block| (block, self.append(&[]))));
                let [then, otherwise] = blocks.map(|known| known.map_or(after, |(_, block)| block));
                self.branch_if(operands[0], then, otherwise);
                for (block, place) in blocks.into_iter().flatten() {
                    self.b.set_at_end(place);
                    let handed = self.body(block)?;
                    self.branch(after, &handed);
                }
                self.b.set_at_end(after);
                after.args()
            }
            "scf.for" => {
                let [begin, end, step] = [operands[0], operands[1], operands[2]];
                let head = self.append(&[&[self.cx.index()], results.as_slice()].concat());
                let (body, after) = (self.append(&[]), self.append(&[]));
                self.branch(head, &[&[begin], &operands[3..]].concat());
                self.b.set_at_end(head);
                let at = head.arg(0);
                let more = self.compare(Predicate::Less, at, end);
                self.branch_if(more, body, after);
                self.values.extend(op.body(0).args().into_iter().zip(head.args()));
                self.b.set_at_end(body);
                let handed = self.body(op.body(0))?;
                let next = self.b.value("arith.addi", &[at, step], self.cx.index(), &[]);
                self.branch(head, &[&[next], handed.as_slice()].concat());
                self.b.set_at_end(after);
                head.args()[1..].to_vec()
            }
            _ => {
                let (test, turn) = (op.body(0), op.body(1));
                let types: Vec<_> = test.args().into_iter().map(|arg| self.ty(arg.ty())).collect();
                let head = self.append(&types);
                let (body, after) = (self.append(&[]), self.append(&[]));
                self.branch(head, operands);
                self.values.extend(test.args().into_iter().zip(head.args()));
                self.b.set_at_end(head);
                let passed = self.body(test)?;
                self.branch_if(passed[0], body, after);
                self.values.extend(turn.args().into_iter().zip(passed[1..].iter().copied()));
                self.b.set_at_end(body);
                let handed = self.body(turn)?;
                self.branch(head, &handed);
                self.b.set_at_end(after);
                passed[1..].to_vec()
            }
        };
        self.values.extend(op.results().into_iter().zip(values));
        Ok(())
    }

    /// Writes the ops of a region but its terminator, whose operands are given back.
    fn body(&mut self, block: Block<'c>) -> Result<Vec<Value<'c>>, Error> {
        let mut handed = Vec::new();
        for op in block.ops() {
            self.b.set_location(op.location());
            match op.next() {
                Some(_) => self.op(op, false)?,
                None => handed = op.operands().into_iter().map(|operand| self.value(operand)).collect(),
            }
        }
        Ok(handed)
    }

    /// A new block of the entry.
    fn append(&mut self, arguments: &[Type<'c>]) -> Block<'c> {
        self.func.region(0).append_block(arguments, self.b.location())
    }

    fn branch(&mut self, to: Block<'c>, operands: &[Value<'c>]) {
        self.b.op(OpSpec { name: "cf.br", operands, successors: &[to], ..OpSpec::default() });
    }

    fn branch_if(&mut self, condition: Value<'c>, then: Block<'c>, otherwise: Block<'c>) {
        self.b.op(OpSpec {
            name: "cf.cond_br",
            operands: &[condition],
            attrs: &[("operandSegmentSizes", self.cx.i32s_attr(&[1, 0, 0]))],
            successors: &[then, otherwise],
            ..OpSpec::default()
        });
    }

    fn compare(&mut self, predicate: Predicate, lhs: Value<'c>, rhs: Value<'c>) -> Value<'c> {
        let predicate = self.cx.i64_attr(predicate as i64);
        self.b.value("arith.cmpi", &[lhs, rhs], self.cx.int(1), &[("predicate", predicate)])
    }

    /// Ends the call with a status, which has these details, unless the condition holds.
    fn require(&mut self, condition: Value<'c>, status: i64, details: &[Value<'c>]) {
        let (next, failed) = (self.append(&[]), self.append(&[]));
        self.branch_if(condition, next, failed);
        self.b.set_at_end(failed);
        for (slot, &detail) in details.iter().take(4).enumerate() {
            let detail = self.i64(detail);
            self.store_word(self.call, layout::DETAIL + 8 * slot as i64, detail);
        }
        let status = self.b.const_int(self.cx.int(32), status);
        self.b.effect("func.return", &[status], &[]);
        self.b.set_at_end(next);
    }

    /// The status that says what an op's text says.
    fn message(&mut self, op: Op<'c>) -> i64 {
        let text = op.str("text").unwrap_or_default();
        let known = self.messages.iter().position(|known| *known == text);
        let at = known.unwrap_or_else(|| {
            self.messages.push(text);
            self.messages.len() - 1
        });
        at as i64 + 1
    }

    /// The address of memory that was asked for; the call ends where there is none.
    pub(super) fn obtained(&mut self, memory: Value<'c>) -> Value<'c> {
        let word = self.b.value("llvm.ptrtoint", &[memory], self.cx.int(64), &[]);
        let none = self.b.const_int(self.cx.int(64), 0);
        let there = self.compare(Predicate::NotEqual, word, none);
        self.require(there, OUT_OF_MEMORY, &[]);
        memory
    }

    /// A product, and whether it overflows.
    fn product(&mut self, lhs: Value<'c>, rhs: Value<'c>) -> (Value<'c>, Value<'c>) {
        let (lhs, rhs, word, bit) = (self.i64(lhs), self.i64(rhs), self.cx.int(64), self.cx.int(1));
        let pair = self.cx.parse_type("!llvm.struct<(i64, i1)>").unwrap_or_else(|| unreachable!("the LLVM dialect is loaded"));
        let both = self.b.value("llvm.intr.smul.with.overflow", &[lhs, rhs], pair, &[]);
        let [product, over] =
            [(0, word), (1, bit)].map(|(at, ty)| self.b.value("llvm.extractvalue", &[both], ty, &[("position", self.cx.i64s_attr(&[at]))]));
        (self.b.value("arith.index_cast", &[product], self.cx.index(), &[]), over)
    }

    /// The number of elements of a tensor that memory can hold.
    fn elements(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Value<'c> {
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

    fn workspace(&mut self, bytes: Value<'c>) -> Value<'c> {
        let bytes = self.i64(bytes);
        let callee = self.cx.symbol_attr("strata_workspace");
        let memory = self.b.value("func.call", &[self.call, bytes], memory::pointer(self.cx), &[("callee", callee)]);
        self.obtained(memory)
    }

    fn output(&mut self, op: Op<'c>, sizes: &[Value<'c>]) -> Value<'c> {
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

    /// Elements in the code image, and how many bytes they are.
    pub(super) fn constant(&mut self, op: Op<'c>) -> Result<(Value<'c>, i64), Error> {
        let value = op.attr("value").ok_or_else(|| Error::at(op, "it has no value"))?;
        let (mut bytes, splat) = value.as_dense().ok_or_else(|| Error::at(op, "its value is not dense"))?;
        if splat {
            bytes = bytes.repeat(value.ty().num_elements().unwrap_or(1).max(0) as usize);
        }
        let count = bytes.len().max(1) as i64;
        bytes.resize(count as usize, 0);
        Ok((self.data(op, &bytes)?, count))
    }

    /// Bytes in the code image.
    pub(super) fn data(&mut self, op: Op<'c>, bytes: &[u8]) -> Result<Value<'c>, Error> {
        let (cx, count) = (self.cx, bytes.len() as i64);
        let name = format!("{}.constant.{}", self.name, self.constants);
        self.constants += 1;
        let parse = |text: &str| cx.parse_type(text).ok_or_else(|| Error::at(op, "the LLVM dialect is not loaded"));
        let dense = cx.dense_attr(cx.tensor(&[count], cx.int(8)), bytes).ok_or_else(|| Error::at(op, "its bytes cannot be kept"))?;
        let linkage = cx.parse_attr("#llvm.linkage<internal>").ok_or_else(|| Error::at(op, "the LLVM dialect is not loaded"))?;
        Builder::before(self.func).op(OpSpec {
            name: "llvm.mlir.global",
            attrs: &[
                ("sym_name", cx.str_attr(&name)),
                ("global_type", cx.type_attr(parse(&format!("!llvm.array<{count} x i8>"))?)),
                ("linkage", linkage),
                ("constant", cx.unit()),
                ("value", dense),
                ("alignment", cx.i64_attr(64)),
                ("addr_space", cx.int_attr(cx.int(32), 0)),
            ],
            regions: 1,
            ..OpSpec::default()
        });
        Ok(self.b.value("llvm.mlir.addressof", &[], memory::pointer(cx), &[("global_name", cx.symbol_attr(&name))]))
    }

    /// The scalar of the program: `index` is kept as i64, bool as a byte.
    pub(super) fn load(&mut self, op: Op<'c>, buffer: Value<'c>) -> Value<'c> {
        let ty = op.result(0).ty();
        let element = ty.element_type().unwrap_or(ElementType::I64);
        memory::load(&mut self.b, buffer, Num::Const(0), element)
    }

    pub(super) fn store(&mut self, op: Op<'c>, value: Value<'c>, buffer: Value<'c>) -> Result<(), Error> {
        let element = value.ty().element_type().ok_or_else(|| Error::at(op, "a value of this type has no memory"))?;
        memory::store(&mut self.b, buffer, Num::Const(0), value, element);
        Ok(())
    }

    /// A runtime function; `index` arguments are passed as i64.
    pub(super) fn call_extern(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let name = op.str("name").ok_or_else(|| Error::at(op, "it has no name"))?;
        let mut arguments = vec![self.call];
        for &operand in operands {
            let argument = if operand.ty().is_index() { self.i64(operand) } else { operand };
            arguments.push(argument);
        }
        self.b.effect("func.call", &arguments, &[("callee", self.cx.symbol_attr(&name))]);
        Ok(())
    }
}

/// Bytes of one element of a buffer.
pub(super) fn element_bytes(buffer: Type<'_>) -> i64 {
    buffer.element_type().map_or(1, |element| element.bytes() as i64)
}

/// Declares every function that is called, or whose address is taken, and not defined here.
pub fn declare_imports(module: Op<'_>) {
    let cx = module.cx();
    let mut known: HashSet<String> = module.body(0).ops().into_iter().filter_map(|op| op.str("sym_name")).collect();
    let calls =
        module.find_all("func.call").into_iter().map(|op| (op.attr("callee"), cx.function(&op.operand_types(), &op.result_types())));
    let addresses = module.find_all("func.constant").into_iter().map(|op| (op.attr("value"), op.result(0).ty()));
    for (name, ty) in calls.chain(addresses) {
        let Some(name) = name.and_then(Attr::as_symbol).filter(|name| known.insert(name.clone())) else { continue };
        Builder::at_start(module.body(0), cx.unknown()).op(OpSpec {
            name: "func.func",
            attrs: &[("sym_name", cx.str_attr(&name)), ("function_type", cx.type_attr(ty)), ("sym_visibility", cx.str_attr("private"))],
            regions: 1,
            ..OpSpec::default()
        });
    }
}
