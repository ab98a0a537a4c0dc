//! The host level: the call's memory in bytes, buffers as typed views of it, launches of kernels.
//!
//! Memory is real bytes, so a plan that reuses memory too early gives wrong values here as it would in machine code.

use strata_core::ir::{Attr, Op, Value as Ssa};
use strata_core::upstream::func;
use strata_dialects::host;

use super::loops;
use super::run::{Lent, Machine, Outputs, Slot, dtype_of, find_entry, marked, names, place, unsupported};
use super::tensor::{Tensor, filled, numel};
use super::value::{InterpError, Value, fail};
use super::{DType, kernel, library};
use strata_dialects::capture::{dim_order, inverse};
use strata_dialects::host::{LARGEST, MARK};

/// What a compiled program takes and gives, read from the captured entry before it is lowered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signature {
    /// Names of parameters, buffers and constants, in order.
    pub weights: Vec<String>,
    /// Element types of the results.
    pub results: Vec<DType>,
    /// The names of results that are mutations.
    pub mutations: Vec<Option<String>>,
    /// Orders in memory of the inputs that are not row-major.
    pub input_orders: Vec<Option<Vec<usize>>>,
    /// Orders in memory of the results that are not row-major.
    pub result_orders: Vec<Option<Vec<usize>>>,
}

impl Signature {
    /// Reads the entry of a module at a level above `host`.
    pub fn of(module: Op<'_>) -> Result<Signature, InterpError> {
        let function = find_entry(module, None)?;
        let ty = function.attr("function_type").and_then(Attr::as_type).ok_or_else(|| fail("the entry has no type"))?;
        let mut s = Signature::default();
        for k in 0..ty.inputs().len() {
            let (kind, name) = names(function, "arg_attrs", k);
            match (kind.as_deref().unwrap_or("input"), name) {
                ("input", _) => s.input_orders.push(dim_order(function, "arg_attrs", k)),
                ("prepared", _) | (_, None) => {}
                (_, Some(name)) => s.weights.push(name),
            }
        }
        for (k, ty) in ty.results().into_iter().enumerate() {
            s.results.push(dtype_of(ty)?);
            s.result_orders.push(dim_order(function, "res_attrs", k));
            s.mutations.push(match names(function, "res_attrs", k) {
                (Some(kind), name) if kind == "mutation" => name,
                _ => None,
            });
        }
        Ok(s)
    }
}

/// Memory of a call.
#[derive(Default)]
pub(super) struct Memory {
    blocks: Vec<Vec<u8>>,
    inputs: Vec<Value>,
    input_orders: Vec<Option<Vec<usize>>>,
    weights: Vec<Option<Tensor>>,
    input_views: Vec<Option<usize>>,
    weight_views: Vec<Option<usize>>,
    /// Block and sizes of each output.
    outputs: Vec<Option<(usize, Vec<usize>)>>,
}

/// A typed view of a block of memory.
#[derive(Clone, Copy)]
pub(super) struct View {
    block: usize,
    offset: usize,
    dtype: DType,
}

/// Runs the host entry of a module, on the weights given and on what the function marked `host.prepare` computes from them.
pub fn run_host(module: Op<'_>, signature: &Signature, inputs: Vec<Value>, lent: Lent<'_>) -> Result<Outputs, InterpError> {
    let function = find_entry(module, None)?;
    let mut given: Vec<Option<Tensor>> = signature.weights.iter().map(|name| (lent.weights)(name)).collect();
    if let Some(prepare) = marked(module, host::PREPARE) {
        let mut m = run_function(module, prepare, Vec::new(), Vec::new(), given.clone(), lent)?;
        for (block, _) in std::mem::take(&mut m.memory.outputs).into_iter().flatten() {
            let data = &m.memory.blocks[block];
            given.push(Some(Tensor::from_bytes(DType::U8, &[data.len()], data)?));
        }
    }
    let m = run_function(module, function, inputs, signature.input_orders.clone(), given, lent)?;
    let mut out = Outputs::default();
    for (k, &dtype) in signature.results.iter().enumerate() {
        let Some((block, shape)) = m.memory.outputs.get(k).and_then(Option::as_ref) else {
            return Err(fail(format!("output {k} is not written")).at(func::Func::NAME, &place(function)));
        };
        let bytes = numel(shape)? * dtype.size();
        let data = m.memory.blocks[*block].get(..bytes).ok_or_else(|| fail("an output is smaller than its sizes"))?;
        let tensor = match signature.result_orders.get(k).and_then(Option::as_ref) {
            Some(order) => {
                let inside: Vec<usize> = order.iter().filter_map(|&dim| shape.get(dim).copied()).collect();
                Tensor::from_bytes(dtype, &inside, data)?.permute(&inverse(order))?
            }
            None => Tensor::from_bytes(dtype, shape, data)?,
        };
        let value = Value::Tensor(tensor);
        match signature.mutations.get(k) {
            Some(Some(name)) => out.mutations.push((name.clone(), value)),
            _ => out.outputs.push(value),
        }
    }
    Ok(out)
}

/// Runs one function; the machine holds its outputs.
fn run_function<'c>(
    module: Op<'c>,
    function: Op<'c>,
    inputs: Vec<Value>,
    input_orders: Vec<Option<Vec<usize>>>,
    weights: Vec<Option<Tensor>>,
    lent: Lent<'_>,
) -> Result<Machine<'c>, InterpError> {
    let body = function.regions().first().and_then(|r| r.entry());
    let body = body.ok_or_else(|| fail("the entry has no body").at(func::Func::NAME, &place(function)))?;
    let outputs = function.find_all(host::Output::NAME).iter().filter_map(|op| op.int("index")).max().map_or(0, |last| last as usize + 1);
    let mut m = Machine::new(module, lent.kernels.cloned());
    m.memory.input_views = vec![None; inputs.len()];
    (m.memory.inputs, m.memory.input_orders) = (inputs, input_orders);
    m.memory.weight_views = vec![None; weights.len()];
    m.memory.weights = weights;
    m.memory.outputs = vec![None; outputs];
    m.block(body)?;
    Ok(m)
}

/// Fresh memory holds this, so that what reads it before a write is seen.
const FRESH: u8 = 0xA5;

impl View {
    /// Which block of memory, and the byte in it.
    pub(super) fn place(self) -> (usize, usize) {
        (self.block, self.offset)
    }
}

impl Memory {
    /// All blocks.
    pub(super) fn blocks(&mut self) -> &mut [Vec<u8>] {
        &mut self.blocks
    }

    /// A new block of these bytes.
    pub(super) fn add_block(&mut self, bytes: Vec<u8>) -> usize {
        self.blocks.push(bytes);
        self.blocks.len() - 1
    }

    /// The bytes of a block, which nothing reads any more.
    pub(super) fn take_block(&mut self, block: usize) -> Vec<u8> {
        std::mem::take(&mut self.blocks[block])
    }

    fn allocate(&mut self, bytes: usize) -> Result<usize, InterpError> {
        numel(&[bytes])?;
        self.blocks.push(filled(FRESH, bytes)?);
        Ok(self.blocks.len() - 1)
    }

    fn holding(&mut self, t: &Tensor) -> usize {
        self.blocks.push(t.to_bytes());
        self.blocks.len() - 1
    }

    fn bytes(&mut self, v: View, bytes: usize) -> Result<&mut [u8], InterpError> {
        let end = v.offset.checked_add(bytes);
        end.and_then(|end| self.blocks.get_mut(v.block)?.get_mut(v.offset..end)).ok_or_else(|| fail("an access leaves its memory"))
    }

    pub(super) fn read(&mut self, v: View, dtype: DType, shape: &[usize]) -> Result<Tensor, InterpError> {
        let bytes = numel(shape)? * dtype.size();
        Tensor::from_bytes(dtype, shape, self.bytes(v, bytes)?)
    }

    pub(super) fn write(&mut self, v: View, t: &Tensor) -> Result<(), InterpError> {
        let data = t.to_bytes();
        self.bytes(v, data.len())?.copy_from_slice(&data);
        Ok(())
    }
}

pub(super) fn view<'c>(m: &Machine<'c>, at: Ssa<'c>) -> Result<View, InterpError> {
    match m.slot(at)? {
        Slot::Buffer(v) => Ok(*v),
        _ => Err(fail("an operand is not a buffer")),
    }
}

/// A scalar as a register holds it.
pub(super) fn register<'c>(m: &Machine<'c>, at: Ssa<'c>) -> Result<u64, InterpError> {
    let bytes = Tensor::scalar(dtype_of(at.ty())?, m.scalar(at)?).to_bytes();
    Ok(bytes.iter().take(8).rev().fold(0, |word, &byte| (word << 8) | u64::from(byte)))
}

pub(super) fn size<'c>(m: &Machine<'c>, at: Ssa<'c>) -> Result<usize, InterpError> {
    usize::try_from(m.int(at)?).map_err(|_| fail("a negative size"))
}

fn index(op: Op<'_>) -> Result<usize, InterpError> {
    op.int("index").and_then(|i| usize::try_from(i).ok()).ok_or_else(|| fail("no index"))
}

/// Elements of a tensor that a process has addresses for.
fn elements(sizes: &[i64], bytes: i64) -> Option<i64> {
    if sizes.iter().any(|&size| size < 0) {
        return None;
    }
    if sizes.contains(&0) {
        return Some(0);
    }
    let all = sizes.iter().try_fold(1i64, |all, &size| all.checked_mul(size))?;
    (all.checked_mul(bytes)? <= LARGEST).then_some(all)
}

/// Runs an op and binds its results.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let buffer = |m: &mut Machine<'c>, block: usize, offset: usize| -> Result<(), InterpError> {
        let dtype = dtype_of(op.result(0).ty())?;
        m.bind_slot(op.result(0), Slot::Buffer(View { block, offset, dtype }));
        Ok(())
    };
    match op.name() {
        host::Input::NAME => {
            let k = index(op)?;
            let value = m.memory.inputs.get(k).cloned().ok_or_else(|| fail(format!("the call has no input {k}")))?;
            let t = match value {
                Value::Tensor(t) => t,
                Value::Scalar(s) => Tensor::scalar(dtype_of(op.result(0).ty())?, s),
                other => return Err(fail(format!("{} as an input", other.kind()))),
            };
            let t = match m.memory.input_orders.get(k).and_then(Option::as_ref) {
                Some(order) => t.permute(order)?,
                None => t,
            };
            let block = *m.memory.input_views[k].get_or_insert_with(|| {
                m.memory.blocks.push(t.to_bytes());
                m.memory.blocks.len() - 1
            });
            buffer(m, block, 0)
        }
        host::Weight::NAME => {
            let k = index(op)?;
            let t = m.memory.weights.get(k).cloned().flatten().ok_or_else(|| fail(format!("weight {k} is not given")))?;
            let block = match m.memory.weight_views[k] {
                Some(b) => b,
                None => m.memory.holding(&t),
            };
            m.memory.weight_views[k] = Some(block);
            buffer(m, block, 0)
        }
        host::InputSize::NAME => {
            let (k, d) = (index(op)?, op.int("dim").unwrap_or(-1));
            let Some(Value::Tensor(t)) = m.memory.inputs.get(k) else { return Err(fail(format!("input {k} has no sizes"))) };
            let size = usize::try_from(d).ok().and_then(|d| t.shape().get(d).copied()).ok_or_else(|| fail("no such dimension"))?;
            m.bind(op.result(0), Value::int(size as i64))
        }
        host::Constant::NAME => {
            let Value::Tensor(t) = super::scalar::constant(op)? else { return Err(fail("a constant that is no tensor")) };
            let block = m.memory.holding(&t);
            buffer(m, block, 0)
        }
        host::Guard::NAME => super::capture::guard(m, op),
        // A kernel that fails here ends the call at once.
        host::Settle::NAME => Ok(()),
        host::Elements::NAME => {
            let sizes: Vec<i64> = op.operands().into_iter().map(|v| m.int(v)).collect::<Result<_, _>>()?;
            let bytes = op.int("bytes").unwrap_or(1);
            match elements(&sizes, bytes) {
                Some(n) => m.bind(op.result(0), Value::int(n)),
                None => Err(super::capture::failed(op, &sizes)),
            }
        }
        host::Product::NAME => {
            let (lhs, rhs) = (m.int(op.operand(0))?, m.int(op.operand(1))?);
            match lhs.checked_mul(rhs) {
                Some(n) => m.bind(op.result(0), Value::int(n)),
                None => Err(super::capture::failed(op, &[lhs, rhs])),
            }
        }
        host::Alloc::NAME => {
            let n = size(m, op.operand(0))?;
            let bytes = n.checked_mul(dtype_of(op.result(0).ty())?.size()).ok_or_else(|| fail("too much memory"))?;
            // Complex numbers are two floats: the buffer's type does not tell.
            let block = m.memory.allocate(bytes.saturating_mul(2))?;
            buffer(m, block, 0)
        }
        host::Arena::NAME => {
            let n = size(m, op.operand(0))?;
            let block = m.memory.allocate(n)?;
            buffer(m, block, 0)
        }
        host::Slice::NAME => {
            let (v, offset) = (view(m, op.operand(0))?, size(m, op.operand(1))?);
            buffer(m, v.block, v.offset + offset)
        }
        host::Output::NAME => {
            let k = index(op)?;
            let shape: Vec<usize> = op.operands().into_iter().map(|v| size(m, v)).collect::<Result<_, _>>()?;
            let bytes = numel(&shape)? * 16;
            let block = m.memory.allocate(bytes)?;
            *m.memory.outputs.get_mut(k).ok_or_else(|| fail(format!("there is no output {k}")))? = Some((block, shape));
            buffer(m, block, 0)
        }
        host::Copy::NAME => {
            let (from, to, n) = (view(m, op.operand(0))?, view(m, op.operand(1))?, size(m, op.operand(2))?);
            let t = m.memory.read(from, from.dtype, &[n])?;
            m.memory.write(to, &t)
        }
        host::Load::NAME => {
            let v = view(m, op.operand(0))?;
            let dtype = dtype_of(op.result(0).ty())?;
            let value = m.memory.read(v, if dtype == DType::Bool { DType::U8 } else { v.dtype }, &[1])?.at(0);
            m.bind(op.result(0), Value::Scalar(dtype.cast(value)))
        }
        host::Store::NAME => {
            let v = view(m, op.operand(1))?;
            let value = m.scalar(op.operand(0))?;
            m.memory.write(v, &Tensor::scalar(v.dtype, value))
        }
        host::Launch::NAME => launch(m, op),
        host::Extern::NAME if op.str("name").as_deref() == Some(MARK) => Ok(()),
        host::Extern::NAME => library::run(m, op),
        host::CustomCall::NAME => kernel::launched(m, op),
        _ => Err(unsupported(op)),
    }
}

/// Operands are the kernel's arguments, then a buffer for each result.
fn launch<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let callee = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
    if let Some(found) = super::gpu::find(m.module, &callee) {
        return super::gpu::launch(m, op, found);
    }
    let kernel = loops::find(m, op)?;
    let block = kernel.regions().first().and_then(|r| r.entry()).ok_or_else(|| fail("the kernel is empty"))?;
    let (parameters, operands) = (block.args(), op.operands());
    if operands.len() < parameters.len() {
        return Err(fail("too few operands for the kernel"));
    }
    // Scalars first: they are the symbols of the shapes.
    let mut arguments = vec![Value::None; parameters.len()];
    for (k, p) in parameters.iter().enumerate().filter(|(_, p)| !p.ty().is_tensor()) {
        arguments[k] = Value::Scalar(dtype_of(p.ty())?.cast(m.scalar(operands[k])?));
    }
    let symbols = loops::symbols(kernel, &arguments)?;
    let shapes = loops::shapes(kernel, &symbols)?;
    for (k, p) in parameters.iter().enumerate().filter(|(_, p)| p.ty().is_tensor()) {
        let (v, dtype) = (view(m, operands[k])?, dtype_of(p.ty())?);
        let shape = shapes.get(k).ok_or_else(|| fail("the kernel has too few shapes"))?;
        arguments[k] = Value::Tensor(m.memory.read(v, dtype, shape)?);
    }
    let results = loops::run_kernel(m, kernel, arguments)?;
    for (value, &at) in results.iter().zip(&operands[parameters.len()..]) {
        let v = view(m, at)?;
        m.memory.write(v, value.tensor()?)?;
    }
    Ok(())
}
