//! The native entry of a program whose memory is a device's.
//!
//! The entry is the same as on the CPU: guards, sizes, control flow, memory that it asks for by size. Addresses are the device's, so what
//! would touch memory becomes a call of the runtime: starting kernels, copies, a number that is looked at. What only the host can
//! compute (kernels that stayed `loop.kernel`s, functions of the library) works on copies, which go back afterwards.

use super::Error;
use super::host::{Host, element_bytes};
use super::launch::symbols;
use crate::emit::memory;
use crate::num::{Num, number_of};
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, Attr, ElementType, Op, Value};
use strata_core::upstream::{arith, func, gpu, llvm};
use strata_dialects::loops::view::KernelView;
use strata_dialects::{capture, host};

/// The kernels that the device has, with their numbers: those of the program, then those in PTX that it brings.
pub struct Device<'c> {
    kernels: HashMap<String, (usize, Op<'c>)>,
    custom: Vec<CustomKernel>,
}

/// A kernel of a user's PTX, and how it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomKernel {
    /// The file of the PTX.
    pub ptx: String,
    /// Its name there.
    pub name: String,
    /// Threads of a block, in each dimension.
    pub threads: Vec<i64>,
    /// Bytes of dynamic shared memory.
    pub shared: i64,
    /// Where it is called first.
    pub location: String,
}

impl CustomKernel {
    /// The kernel that a call starts, where it starts one.
    fn of(call: Op<'_>) -> Option<Self> {
        let import = call.attr("parameters").and_then(|_| call.str("import"))?;
        Some(Self {
            ptx: call.str("ptx")?,
            name: capture::kernel_of(&import)?.1.to_owned(),
            threads: call.ints("threads").unwrap_or_default(),
            shared: call.int("shared").unwrap_or_default(),
            location: call.location().short(),
        })
    }

    /// Whether two calls start the same.
    fn is(&self, other: &Self) -> bool {
        (&self.ptx, &self.name, &self.threads, self.shared) == (&other.ptx, &other.name, &other.threads, other.shared)
    }
}

/// The kernels in PTX that a module starts, in the order of their numbers, which follow those of its own kernels.
pub fn custom_kernels(module: Op<'_>) -> Vec<CustomKernel> {
    let mut found: Vec<CustomKernel> = Vec::new();
    for kernel in module.find_all(host::CustomCall::NAME).into_iter().filter_map(CustomKernel::of) {
        if !found.iter().any(|known| known.is(&kernel)) {
            found.push(kernel);
        }
    }
    found
}

impl<'c> Device<'c> {
    /// The device that a module is for.
    pub fn of(module: Op<'c>) -> Option<Self> {
        module.attr(gpu::CONTAINER_MODULE)?;
        let kernels = kernels(module).into_iter().enumerate();
        let kernels = kernels.map(|(number, op)| (op.str("sym_name").unwrap_or_default(), (number, op))).collect();
        Some(Self { kernels, custom: custom_kernels(module) })
    }

    /// The number of the kernel in PTX that a call starts.
    pub(super) fn custom(&self, call: Op<'c>) -> Option<usize> {
        let kernel = CustomKernel::of(call)?;
        self.custom.iter().position(|known| known.is(&kernel)).map(|place| self.kernels.len() + place)
    }
}

/// The kernels of a module's device, in the order of their numbers.
pub fn kernels(module: Op<'_>) -> Vec<Op<'_>> {
    module.find_all(gpu::Module::NAME).into_iter().flat_map(|device| device.find_all(gpu::Func::NAME)).collect()
}

impl<'c> Host<'c, '_> {
    /// Writes an op in the form that it has for a device, if it has one of its own.
    pub(super) fn on_device(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<bool, Error> {
        match op.name() {
            host::Constant::NAME => {
                let (at, bytes) = self.constant(op)?;
                let bytes = self.b.const_int(self.cx.int(64), bytes);
                let there = self.ask("constant", &[at, bytes], true);
                self.values.extend(there.map(|there| (op.result(0), there)));
            }
            host::Load::NAME => {
                let scratch = self.slots;
                let bytes = self.b.const_int(self.cx.int(64), element_bytes(op.operand(0).ty()));
                self.ask("read", &[operands[0], scratch, bytes], false);
                let value = self.load(op, scratch);
                self.values.insert(op.result(0), value);
            }
            host::Store::NAME => {
                let scratch = self.slots;
                self.store(op, operands[0], scratch)?;
                let bytes = self.b.const_int(self.cx.int(64), element_bytes(op.operand(1).ty()));
                self.ask("write", &[scratch, operands[1], bytes], false);
            }
            host::Copy::NAME => {
                let bytes = self.b.const_index(element_bytes(op.operand(0).ty()));
                let bytes = arith::muli(&mut self.b, operands[2], bytes);
                let bytes = self.i64(bytes);
                self.ask("copy", &[operands[0], operands[1], bytes], false);
            }
            host::Extern::NAME if op.operands().iter().any(|operand| operand.ty().is_memref()) => self.library(op, operands)?,
            host::Launch::NAME => self.start(op, operands)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Calls `strata_device_NAME`.
    fn ask(&mut self, name: &str, arguments: &[Value<'c>], result: bool) -> Option<Value<'c>> {
        let arguments = [&[self.call], arguments].concat();
        let attrs = [("callee", self.cx.symbol_attr(&format!("strata_device_{name}")))];
        if result {
            return Some(self.b.value(func::Call::NAME, &arguments, memory::pointer(self.cx), &attrs));
        }
        self.b.effect(func::Call::NAME, &arguments, &attrs);
        None
    }

    /// Starts a kernel of the device, or runs one of the host on copies.
    fn start(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let name = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
        let found = self.device.and_then(|device| device.kernels.get(&name).copied());
        let Some((number, kernel)) = found else { return self.start_on_host(op, &name, operands) };
        let symbols = symbols(op, kernel.ints(host::SYMBOLS), operands)?;
        let grid = kernel.attr(host::GRID).and_then(Attr::as_map).filter(|grid| grid.num_symbols() == symbols.len());
        let grid = grid.ok_or_else(|| Error::at(op, "the kernel has no grid of its symbols"))?;
        let blocks = grid.results().first().map_or(Num::Const(1), |&expr| number_of(&mut self.b, expr, &symbols));
        let blocks = blocks.value(&mut self.b);
        let blocks = self.i64(blocks);
        let word = self.cx.int(64);
        for (slot, &argument) in operands.iter().enumerate() {
            let at = memory::element_pointer(&mut self.b, self.slots, Num::Const(slot as i64), ElementType::I64);
            let argument = if argument.ty().is_index() { self.i64(argument) } else { argument };
            if argument.ty().element_type().is_some_and(|element| element.bytes() < 8) {
                let zero = self.b.const_int(word, 0);
                memory::store(&mut self.b, at, Num::Const(0), zero, ElementType::I64);
                let element = argument.ty().element_type().unwrap_or(ElementType::I64);
                memory::store(&mut self.b, at, Num::Const(0), argument, element);
            } else {
                self.b.effect(llvm::Store::NAME, &[argument, at], &[("alignment", self.cx.i64_attr(8))]);
            }
        }
        let number = self.b.const_int(word, number as i64);
        let count = self.b.const_int(word, operands.len() as i64);
        self.ask("launch", &[number, blocks, self.slots, count], false);
        Ok(())
    }

    fn start_on_host(&mut self, op: Op<'c>, name: &str, operands: &[Value<'c>]) -> Result<(), Error> {
        let kernel = self.module.lookup_symbol(name).and_then(KernelView::new);
        let kernel = kernel.ok_or_else(|| Error::at(op, format!("kernel '{name}' is not defined")))?;
        let symbols = symbols(op, kernel.op.ints("symbols"), operands)?;
        let (shapes, types) = (kernel.shapes(), op.operand_types());
        let mut copies = Vec::new();
        for (k, &operand) in operands.iter().enumerate() {
            copies.push(match shapes.get(k).filter(|_| types[k].is_memref()) {
                Some(shape) => {
                    let elements = shape.results().into_iter().fold(self.cx.constant(1), |all, size| all * size);
                    self.staged(operand, elements, element_bytes(types[k]), &symbols)
                }
                None => operand,
            });
        }
        let (module, call, status) = (self.module, self.call, self.status);
        if let Some(launcher) = self.launcher.as_mut() {
            launcher.launch(module, &mut self.b, op, &copies, call, status)?;
        }
        self.unstage();
        Ok(())
    }

    /// A function of the library, on copies.
    fn library(&mut self, op: Op<'c>, operands: &[Value<'c>]) -> Result<(), Error> {
        let extents =
            op.attr("extents").and_then(Attr::as_map).ok_or_else(|| Error::at(op, "it does not say how large its tensors are"))?;
        let symbols: Vec<_> = operands.iter().copied().filter(|operand| operand.ty().is_index()).collect();
        if extents.num_symbols() > symbols.len() {
            return Err(Error::at(op, "its tensors are as large as sizes say that it does not take"));
        }
        let mut extents = extents.results().into_iter();
        let mut copies = Vec::new();
        for (&operand, ty) in operands.iter().zip(op.operand_types()) {
            copies.push(match ty.is_memref() {
                true => {
                    let extent = extents.next().ok_or_else(|| Error::at(op, "it has more tensors than extents"))?;
                    self.staged(operand, extent, element_bytes(ty), &symbols)
                }
                false => operand,
            });
        }
        self.call_extern(op, &copies)?;
        self.unstage();
        Ok(())
    }

    /// Starts a kernel in PTX: the words are its blocks in three dimensions, then its parameters.
    pub(super) fn start_custom_kernel(&mut self, number: i64, words: Value<'c>, count: i64) {
        let word = self.cx.int(64);
        let (number, count) = (self.b.const_int(word, number), self.b.const_int(word, count));
        self.ask("launch_custom", &[number, words, count], false);
    }

    /// Takes what the host has worked on back to the device.
    pub(super) fn unstage(&mut self) {
        self.ask("unstage", &[], false);
    }

    /// The host's copy of so many elements.
    fn staged(&mut self, at: Value<'c>, elements: AffineExpr<'c>, bytes: i64, symbols: &[Value<'c>]) -> Value<'c> {
        let elements = number_of(&mut self.b, elements, symbols);
        let bytes = elements.mul(&mut self.b, Num::Const(bytes));
        self.staged_bytes(at, bytes)
    }

    /// The host's copy of so many bytes.
    pub(super) fn staged_bytes(&mut self, at: Value<'c>, bytes: Num<'c>) -> Value<'c> {
        let bytes = bytes.value(&mut self.b);
        let bytes = self.i64(bytes);
        let copy = self.ask("stage", &[at, bytes], true).unwrap_or(at);
        self.obtained(copy)
    }
}
