//! The host program as the native entry `strata_entry(call) -> status`, and `@prepare` as `strata_prepare` of the same shape.

use super::device::Device;
use super::launch::Launcher;
use super::table::{Tables, slice};
use super::{Error, memory};
use crate::codegen::{ENTRY, PREPARE};
use crate::num::Num;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, Block, Builder, Cx, ElementType, Op, OpSpec, Type, Value};

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

/// What status `INDEX_OUT_OF_BOUNDS` says.
const OUT_OF_BOUNDS: &str = "index out of bounds";

/// Writes the native entries from the functions with `host.entry` and `host.prepare`, which are erased. Where there are more than `long`
/// launches they are in tables.
pub fn lower(module: Op<'_>, long: usize) -> Result<Messages, Error> {
    let marked = |mark: &str| module.body(0).ops().into_iter().find(|op| op.attr(mark).is_some());
    let host = marked("host.entry").ok_or_else(|| Error::at(module, "there is no host program"))?;
    let mut messages = vec![OUT_OF_BOUNDS.to_owned()];
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
                self.guard(op, &operands, top);
                return Ok(());
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

    /// The same control flow, with pointers for buffers.
    fn control(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let results: Vec<_> = op.result_types().into_iter().map(|ty| self.ty(ty)).collect();
        let regions = op.regions();
        let around = self.b.insertion_block();
        let new = self.b.op(OpSpec { name: op.name(), operands, results: &results, regions: regions.len(), ..OpSpec::default() });
        for (region, target) in regions.into_iter().zip(new.regions()) {
            let Some(block) = region.entry() else { continue };
            let types: Vec<_> = block.args().into_iter().map(|arg| self.ty(arg.ty())).collect();
            let inner = target.append_block(&types, op.location());
            self.values.extend(block.args().into_iter().zip(inner.args()));
            self.b.set_at_end(inner);
            self.block(block, false)?;
        }
        if let Some(around) = around {
            self.b.set_at_end(around);
        }
        self.values.extend(op.results().into_iter().zip(new.results()));
        Ok(())
    }

    fn workspace(&mut self, bytes: Value<'c>) -> Value<'c> {
        let bytes = self.i64(bytes);
        let callee = self.cx.symbol_attr("strata_workspace");
        self.b.value("func.call", &[self.call, bytes], memory::pointer(self.cx), &[("callee", callee)])
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
        self.b.value("func.call", &[self.call, index, bytes], pointer, &[("callee", callee)])
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

    /// At the top level the call ends here; inside control flow the status is kept for the end.
    fn guard(&mut self, op: Op<'c>, operands: &[Value<'c>], top: bool) {
        let cx = self.cx;
        self.messages.push(op.str("text").unwrap_or_default());
        let code = self.messages.len() as i64;
        let location = op.location();
        if !top {
            let on = self.b.const_int(cx.int(1), 1);
            let failed = self.b.value("arith.xori", &[operands[0], on], cx.int(1), &[]);
            let branch = self.b.op(OpSpec { name: "scf.if", operands: &[failed], regions: 2, ..OpSpec::default() });
            let then = branch.region(0).append_block(&[], location);
            let status = self.status;
            self.b.within(then, |b| {
                let code = b.const_int(cx.int(32), code);
                memory::store(b, status, Num::Const(0), code, ElementType::I32);
                b.effect("scf.yield", &[], &[]);
            });
            return;
        }
        let region = self.func.region(0);
        let (next, failed) = (region.append_block(&[], location), region.append_block(&[], location));
        self.b.op(OpSpec {
            name: "cf.cond_br",
            operands: &[operands[0]],
            attrs: &[("operandSegmentSizes", cx.i32s_attr(&[1, 0, 0]))],
            successors: &[next, failed],
            ..OpSpec::default()
        });
        self.b.set_at_end(failed);
        for (slot, &detail) in operands[1..].iter().take(4).enumerate() {
            let detail = self.i64(detail);
            self.store_word(self.call, layout::DETAIL + 8 * slot as i64, detail);
        }
        let code = self.b.const_int(cx.int(32), code);
        self.b.effect("func.return", &[code], &[]);
        self.b.set_at_end(next);
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
