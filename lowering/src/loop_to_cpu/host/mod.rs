//! The host program as the native entry `strata_entry(call) -> status`, and `@prepare` as `strata_prepare` of the same shape.

mod custom_call;
mod flow;
mod image;
mod room;

pub(super) use room::element_bytes;

use super::Error;
use super::device::Device;
use super::launch::Launcher;
use super::table::{Tables, slice};
use crate::codegen::{ENTRY, PREPARE};
use crate::emit::memory;
use crate::num::Num;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, Block, Builder, Cx, ElementType, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, func, llvm, scf};
use strata_dialects::host;

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
    let host = marked(host::ENTRY).ok_or_else(|| Error::at(module, "there is no host program"))?;
    let (mut messages, device) = (MESSAGES.map(str::to_owned).to_vec(), Device::of(module));
    lower_function(module, (host, ENTRY), long, device.as_ref(), &mut messages)?;
    if let Some(prepare) = marked(host::PREPARE) {
        lower_function(module, (prepare, PREPARE), long, device.as_ref(), &mut messages)?;
    }
    Ok(messages)
}

fn lower_function<'c>(
    module: Op<'c>,
    (host, name): (Op<'c>, &'static str),
    long: usize,
    device: Option<&Device<'c>>,
    messages: &mut Messages,
) -> Result<(), Error> {
    let cx = module.cx();
    let pointer = memory::pointer(cx);
    let mut at = Rewriter::before(host);
    let func = at.op(OpSpec {
        name: func::Func::NAME,
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
        device,
        slots: block.arg(0),
        words: block.arg(0),
        values: HashMap::new(),
        tables: None,
        messages,
        constants: 0,
    };
    lowering.prologue(host);
    lowering.prepare_tables(host, long);
    lowering.block(host.body(0), true)?;
    at.erase(host);
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
    pub(super) device: Option<&'m Device<'c>>,
    /// Words for the arguments of a launch.
    pub(super) slots: Value<'c>,
    /// Words for the arguments of a kernel of a user's library.
    words: Value<'c>,
    pub(super) values: HashMap<Value<'c>, Value<'c>>,
    /// Launches as data, where the program is long.
    pub(super) tables: Option<Tables<'c>>,
    messages: &'m mut Messages,
    constants: usize,
}

impl<'c> Host<'c, '_> {
    /// The status cell, and room for the arguments of the widest launch.
    fn prologue(&mut self, host: Op<'c>) {
        let slots = host.find_all(host::Launch::NAME).iter().map(|op| op.num_operands() + 1).max().unwrap_or(1).max(2);
        self.status = self.stack(1);
        let zero = self.b.const_int(self.cx.int(32), 0);
        memory::store(&mut self.b, self.status, Num::Const(0), zero, ElementType::I32);
        self.slots = self.stack(slots as i64);
        let words = custom_call::most_words(host);
        if words > 0 {
            self.words = self.stack(words);
        }
        self.launcher = Some(Launcher::new(self.slots));
    }

    /// So many 8-byte slots on the stack.
    pub(super) fn stack(&mut self, slots: i64) -> Value<'c> {
        let cx = self.cx;
        let count = self.b.const_int(cx.int(64), slots);
        let attrs = [("elem_type", cx.type_attr(cx.int(64))), ("alignment", cx.i64_attr(8))];
        self.b.value(llvm::Alloca::NAME, &[count], memory::pointer(cx), &attrs)
    }

    /// The word at a byte offset from a pointer.
    fn word(&mut self, base: Value<'c>, offset: i64, ty: Type<'c>) -> Value<'c> {
        let at = memory::element_pointer(&mut self.b, base, Num::Const(offset), ElementType::I8);
        self.b.value(llvm::Load::NAME, &[at], ty, &[("alignment", self.cx.i64_attr(8))])
    }

    pub(super) fn store_word(&mut self, base: Value<'c>, offset: i64, value: Value<'c>) {
        let at = memory::element_pointer(&mut self.b, base, Num::Const(offset), ElementType::I8);
        self.b.effect(llvm::Store::NAME, &[value, at], &[("alignment", self.cx.i64_attr(8))]);
    }

    /// Entry `index` of a list of pointers in the call.
    fn listed(&mut self, list: i64, op: Op<'c>) -> Value<'c> {
        let pointer = memory::pointer(self.cx);
        let list = self.word(self.call, list, pointer);
        self.word(list, 8 * op.int("index").unwrap_or_default(), pointer)
    }

    pub(super) fn i64(&mut self, index: Value<'c>) -> Value<'c> {
        arith::index_cast(&mut self.b, index, self.cx.int(64))
    }

    /// What a value has become. A weight's pointer is read where it is used: a program of many layers could not keep them all.
    /// A slice's is made there where most are only rows of a table.
    pub(super) fn value(&mut self, value: Value<'c>) -> Value<'c> {
        if let Some(weight) = value.defining_op().filter(|op| op.isa::<host::Weight>()) {
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
        if self.tables.is_some() && op.isa::<host::Slice>() && slice(op.result(0)).is_some() {
            return Ok(());
        }
        let operands: Vec<_> = op.operands().into_iter().map(|operand| self.value(operand)).collect();
        let pointer = memory::pointer(self.cx);
        if self.device.is_some() && self.on_device(op, &operands)? {
            return Ok(());
        }
        let result = match op.name() {
            host::Input::NAME => {
                let tensor = self.listed(layout::INPUTS, op);
                self.word(tensor, layout::DATA, pointer)
            }
            host::InputSize::NAME => {
                let tensor = self.listed(layout::INPUTS, op);
                let shape = self.word(tensor, layout::SHAPE, pointer);
                let size = self.word(shape, 8 * op.int("dim").unwrap_or_default(), self.cx.int(64));
                arith::index_cast(&mut self.b, size, self.cx.index())
            }
            host::Weight::NAME => return Ok(()),
            host::Constant::NAME => self.constant(op)?.0,
            host::Alloc::NAME => {
                let bytes = self.b.const_index(element_bytes(op.result(0).ty()));
                let bytes = arith::muli(&mut self.b, operands[0], bytes);
                self.workspace(bytes)
            }
            host::Arena::NAME => self.workspace(operands[0]),
            host::Slice::NAME => memory::element_pointer(&mut self.b, operands[0], Num::Value(operands[1]), ElementType::I8),
            host::Output::NAME => self.output(op, &operands),
            host::Load::NAME => self.load(op, operands[0]),
            host::Store::NAME => return self.store(op, operands[0], operands[1]),
            host::Copy::NAME => {
                let bytes = self.b.const_index(element_bytes(op.operand(0).ty()));
                let bytes = arith::muli(&mut self.b, operands[2], bytes);
                let bytes = self.i64(bytes);
                let callee = self.cx.symbol_attr("strata_copy");
                self.b.effect(func::Call::NAME, &[self.call, operands[1], operands[0], bytes], &[("callee", callee)]);
                return Ok(());
            }
            host::CustomCall::NAME => return self.custom_call(op, &operands),
            host::Extern::NAME => return self.call_extern(op, &operands),
            host::Guard::NAME => {
                let status = self.message(op);
                self.require(operands[0], status, &operands[1..]);
                return Ok(());
            }
            host::Elements::NAME => self.elements(op, &operands),
            host::Product::NAME => {
                let (product, over) = self.product(operands[0], operands[1]);
                let on = self.b.const_int(self.cx.int(1), 1);
                let exact = arith::xori(&mut self.b, over, on);
                let status = self.message(op);
                self.require(exact, status, &operands);
                product
            }
            host::Launch::NAME => return self.launch(op),
            host::Return::NAME => {
                let status = memory::load(&mut self.b, self.status, Num::Const(0), ElementType::I32);
                func::ret(&mut self.b, &[status]);
                return Ok(());
            }
            host::Settle::NAME => {
                self.settle();
                return Ok(());
            }
            scf::If::NAME | scf::For::NAME | scf::While::NAME => return self.control(op, &operands),
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
        func::call(&mut self.b, &name, &arguments, &[]);
        Ok(())
    }
}

/// Declares every function that is called, or whose address is taken, and not defined here.
pub fn declare_imports(module: Op<'_>) {
    let cx = module.cx();
    let mut known: HashSet<String> = module.body(0).ops().into_iter().filter_map(|op| op.str("sym_name")).collect();
    let calls =
        module.find_all(func::Call::NAME).into_iter().map(|op| (op.attr("callee"), cx.function(&op.operand_types(), &op.result_types())));
    let addresses = module.find_all(func::Constant::NAME).into_iter().map(|op| (op.attr("value"), op.result(0).ty()));
    for (name, ty) in calls.chain(addresses) {
        let Some(name) = name.and_then(Attr::as_symbol).filter(|name| known.insert(name.clone())) else { continue };
        Builder::at_start(module.body(0), cx.unknown()).op(OpSpec {
            name: func::Func::NAME,
            attrs: &[("sym_name", cx.str_attr(&name)), ("function_type", cx.type_attr(ty)), ("sym_visibility", cx.str_attr("private"))],
            regions: 1,
            ..OpSpec::default()
        });
    }
}
