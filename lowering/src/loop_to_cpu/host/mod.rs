//! The host program as the native entry `strata_entry(call) -> status`, and `@prepare` as `strata_prepare` of the same shape.

mod flow;
mod image;
mod room;

pub(super) use room::element_bytes;

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

/// What the first two statuses say: `INDEX_OUT_OF_BOUNDS`, and `OUT_OF_MEMORY`, of which the runtime knows more.
const MESSAGES: [&str; 2] = ["index out of bounds", "out of memory"];

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
