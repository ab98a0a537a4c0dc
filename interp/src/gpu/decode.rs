//! From a `gpu.func` to its flat form. Functions that it calls are copied into it.

use super::super::run::place;
use super::super::value::{InterpError, fail};
use super::code::{Code, Do, Reg, Step};
use super::matrix::Product;
use super::memory::{CONSTANT, LOCAL, SHARED, pointer};
use super::scalar;
use std::collections::HashMap;
use std::sync::Arc;
use strata_core::ir::{Attr, Block, ElementType, Op, Type, Value as Ssa};
use strata_core::upstream::{arith, complex, func, gpu, llvm, math, nvvm, scf, vector};
use strata_dialects::target::Gpu;

type Done<T = ()> = Result<T, InterpError>;

/// Reads a kernel of a device's module.
pub fn decode(device: Op<'_>, function: Op<'_>) -> Done<Code> {
    let block = function.region(0).entry().ok_or_else(|| fail("the kernel is empty"))?;
    let threads = function.ints("known_block_size").unwrap_or_default().first().copied().unwrap_or(1);
    let mut reader =
        Reader { device, known: HashMap::new(), registers: 0, shared: 0, local: 0, globals: HashMap::new(), constants: Vec::new() };
    let arguments = block.args().into_iter().map(|arg| reader.bind(arg)).collect();
    let (steps, _) = reader.block(block)?;
    let Reader { registers, shared, local, constants, .. } = reader;
    let most = Gpu::of(device).map_err(|wrong| fail(wrong.to_string()))?.shared.bytes_of_block;
    if shared as i64 > most {
        return Err(fail(format!("the kernel has {shared} bytes of shared memory, and a block at most {most}")));
    }
    Ok(Code { steps, registers, arguments, threads: threads.max(1) as usize, shared, local, constants })
}

struct Reader<'c> {
    device: Op<'c>,
    known: HashMap<Ssa<'c>, Reg>,
    registers: usize,
    shared: usize,
    local: usize,
    globals: HashMap<String, u64>,
    constants: Vec<Vec<u8>>,
}

/// How many registers a value takes, and the type in each.
fn parts(ty: Type<'_>) -> (usize, ElementType) {
    let element = if ty.is_vector() { ty.element() } else { ty };
    let lanes = if ty.is_vector() { ty.num_elements().unwrap_or(1).max(1) as usize } else { 1 };
    match element.element_type() {
        Some(ElementType::C64) => (2 * lanes, ElementType::F32),
        Some(ElementType::C128) => (2 * lanes, ElementType::F64),
        // A pointer is a number of 64 bits.
        Some(ElementType::Index) | None => (lanes, ElementType::I64),
        Some(element) => (lanes, element),
    }
}

fn bits(element: ElementType) -> u32 {
    if element == ElementType::Bool { 1 } else { element.bits() }
}

impl<'c> Reader<'c> {
    fn fresh(&mut self, count: usize) -> Reg {
        self.registers += count;
        self.registers - count
    }

    fn bind(&mut self, value: Ssa<'c>) -> Reg {
        let reg = self.fresh(parts(value.ty()).0);
        self.known.insert(value, reg);
        reg
    }

    fn reg(&self, value: Ssa<'c>) -> Done<Reg> {
        self.known.get(&value).copied().ok_or_else(|| fail("an operand has no value"))
    }

    /// The steps of a block, and what its terminator hands on.
    fn block(&mut self, block: Block<'c>) -> Done<(Vec<Step>, Vec<Ssa<'c>>)> {
        let mut steps = Vec::new();
        for op in block.ops() {
            if matches!(op.name(), scf::Yield::NAME | gpu::Return::NAME | func::Return::NAME) {
                return Ok((steps, op.operands()));
            }
            self.op(op, &mut steps).map_err(|error| error.at(op.name(), &place(op)))?;
        }
        Err(fail("a block has no terminator"))
    }

    fn op(&mut self, op: Op<'c>, steps: &mut Vec<Step>) -> Done {
        let operands = op.operands().into_iter().map(|operand| self.reg(operand)).collect::<Done<Vec<_>>>()?;
        let origin = (intern(op.name()), Arc::<str>::from(place(op)));
        let mut push = |what| steps.push(Step { what, origin: origin.clone() });
        match op.name() {
            scf::If::NAME | scf::For::NAME => return self.control(op, &operands, steps),
            func::Call::NAME => return self.call(op, &operands, steps),
            gpu::Barrier::NAME => {
                push(Do::Barrier);
                return Ok(());
            }
            llvm::Fence::NAME => {
                // Releasing and acquiring, in the order of all or not, and for the device at least.
                let both = op.int("ordering").is_some_and(|ordering| ordering >= 6);
                let wide = op.str("syncscope").is_none_or(|scope| scope == "device");
                push(Some(Do::Fence).filter(|_| both && wide).ok_or_else(|| unknown(op))?);
                return Ok(());
            }
            nvvm::CpAsync::NAME => {
                if op.int("size") != Some(16) {
                    return Err(unknown(op));
                }
                push(Do::StartCopy { to: operands[0], from: operands[1], size: operands.get(2).copied() });
                return Ok(());
            }
            nvvm::CpAsyncCommitGroup::NAME => {
                push(Do::Group);
                return Ok(());
            }
            nvvm::CpAsyncWaitGroup::NAME => {
                push(Do::Arrive { left: op.int("n").unwrap_or(0).max(0) as usize });
                return Ok(());
            }
            llvm::Store::NAME => {
                let (count, element) = parts(op.operand(0).ty());
                let size = size_of(element);
                push(aligned(op, operands[1], size));
                for k in 0..count {
                    push(Do::Store { from: operands[0] + k, pointer: operands[1], at: (k * size) as u64, size });
                }
                return Ok(());
            }
            _ => {}
        }
        let result = op.results().first().copied().ok_or_else(|| unknown(op))?;
        if op.isa::<nvvm::LdMatrix>() {
            let to = self.fresh(4);
            self.known.insert(result, to);
            let four = op.int("num") == Some(4);
            let turned = op.attr("layout").filter(|_| four).ok_or_else(|| unknown(op))?.to_string().contains("col");
            push(Do::Matrices { to, pointer: operands[0], turned });
            return Ok(());
        }
        if op.isa::<nvvm::MmaSync>() {
            let to = self.fresh(4);
            self.known.insert(result, to);
            push(Do::Matrix(Product::of(op, &operands, to).ok_or_else(|| unknown(op))?));
            return Ok(());
        }
        let (count, element) = parts(result.ty());
        let to = self.bind(result);
        match op.name() {
            arith::Constant::NAME | complex::Constant::NAME => {
                for (k, value) in constant(op, count, element)?.into_iter().enumerate() {
                    push(Do::Set { to: to + k, value });
                }
            }
            gpu::ThreadId::NAME => push(Do::Thread { to }),
            gpu::BlockId::NAME => push(Do::Block { to }),
            gpu::Shuffle::NAME => {
                let xor = op.attr("mode").is_some_and(|mode| mode.to_string().contains("xor"));
                if !xor {
                    return Err(unknown(op));
                }
                let valid = self.bind(op.result(1));
                push(Do::Shuffle { to, from: operands[0], distance: operands[1], width: operands[2] });
                push(Do::Set { to: valid, value: 1 });
            }
            llvm::Load::NAME => {
                let size = size_of(element);
                push(aligned(op, operands[0], size));
                for k in 0..count {
                    push(Do::Load { to: to + k, pointer: operands[0], at: (k * size) as u64, size });
                }
            }
            llvm::AtomicRMW::NAME => {
                let join = op.int("bin_op").and_then(|how| scalar::join(how, element)).ok_or_else(|| unknown(op))?;
                push(aligned(op, operands[0], size_of(element)));
                push(Do::Atomic { to, from: operands[1], pointer: operands[0], size: size_of(element), join });
            }
            llvm::GetElementPtr::NAME => {
                let size = op.attr("elem_type").and_then(Attr::as_type).map_or(1, |ty| size_of(parts(ty).1)) as u64;
                let index = match operands.get(1) {
                    Some(&index) => index,
                    None => {
                        let number = op.ints("rawConstantIndices").and_then(|list| list.first().copied()).unwrap_or(0);
                        let index = self.fresh(1);
                        push(Do::Set { to: index, value: number as u64 });
                        index
                    }
                };
                push(Do::Offset { to, pointer: operands[0], index, size });
            }
            llvm::Alloca::NAME => {
                let count = op.operand(0).defining_op().and_then(|op| op.attr("value")).and_then(Attr::as_int);
                let size = op.attr("elem_type").and_then(Attr::as_type).map_or(1, |ty| size_of(parts(ty).1));
                let at = self.local.next_multiple_of(64);
                self.local = at + count.ok_or_else(|| fail("memory of a thread needs a known size"))?.max(0) as usize * size;
                push(Do::Set { to, value: pointer(LOCAL, 0, at) });
            }
            llvm::AddressOf::NAME => {
                let value = self.global(&op.attr("global_name").and_then(Attr::as_symbol).unwrap_or_default())?;
                push(Do::Set { to, value });
            }
            llvm::AddrSpaceCast::NAME | complex::Bitcast::NAME => push(Do::Move { to, from: operands[0] }),
            complex::Create::NAME => {
                push(Do::Move { to, from: operands[0] });
                push(Do::Move { to: to + 1, from: operands[1] });
            }
            complex::Re::NAME => push(Do::Move { to, from: operands[0] }),
            complex::Im::NAME => push(Do::Move { to, from: operands[0] + 1 }),
            // A word as smaller elements.
            llvm::Bitcast::NAME if count > 1 && !op.operand(0).ty().is_vector() => {
                let bits = bits(element);
                (0..count).for_each(|k| push(Do::Part { to: to + k, a: operands[0], shift: bits * k as u32, bits }));
            }
            llvm::ExtractValue::NAME => {
                let at = op.ints("position").and_then(|list| list.first().copied()).ok_or_else(|| unknown(op))? as usize;
                push(Do::Move { to, from: operands[0] + at });
            }
            vector::Broadcast::NAME => (0..count).for_each(|k| push(Do::Move { to: to + k, from: operands[0] })),
            vector::Extract::NAME | vector::Insert::NAME => {
                let at = op.ints("static_position").and_then(|list| list.first().copied()).ok_or_else(|| unknown(op))? as usize;
                if op.isa::<vector::Extract>() {
                    push(Do::Move { to, from: operands[0] + at });
                } else {
                    (0..count).for_each(|k| push(Do::Move { to: to + k, from: if k == at { operands[0] } else { operands[1] + k } }));
                }
            }
            arith::MulUIExtended::NAME => {
                let high = self.bind(op.result(1));
                push(Do::Product { low: to, high, a: operands[0], b: operands[1], bits: bits(element) });
            }
            arith::Select::NAME => {
                let step = if op.operand(0).ty().is_vector() { 1 } else { 0 };
                (0..count).for_each(|k| {
                    push(Do::Select { to: to + k, condition: operands[0] + k * step, a: operands[1] + k, b: operands[2] + k })
                });
            }
            _ => (0..count).try_for_each(|k| {
                let at: Vec<Reg> = operands.iter().map(|reg| reg + k).collect();
                let from = op.operands().first().map_or(element, |operand| parts(operand.ty()).1);
                push(elementwise(op, to + k, &at, from, element).ok_or_else(|| unknown(op))?);
                Ok::<_, InterpError>(())
            })?,
        }
        Ok(())
    }

    /// The address of a global of the module.
    fn global(&mut self, name: &str) -> Done<u64> {
        if let Some(&at) = self.globals.get(name) {
            return Ok(at);
        }
        let global = self.device.lookup_symbol(name).ok_or_else(|| fail(format!("`@{name}` is not defined")))?;
        let at = match global.attr("value").and_then(Attr::as_dense) {
            Some((bytes, _)) => {
                self.constants.push(bytes);
                pointer(CONSTANT, self.constants.len() - 1, 0)
            }
            None => {
                let text = global.attr("global_type").map(|ty| ty.to_string()).unwrap_or_default();
                let bytes =
                    text.split_once("array<").and_then(|(_, rest)| rest.split_once(" x i8")).and_then(|(count, _)| count.parse().ok());
                let at = self.shared.next_multiple_of(16);
                self.shared = at + bytes.unwrap_or(0usize);
                pointer(SHARED, 0, at)
            }
        };
        self.globals.insert(name.to_owned(), at);
        Ok(at)
    }

    /// Copies each value to a place of its own, then from there on: they may be read while they are written.
    fn hand_on(&mut self, from: &[(Reg, usize)], to: &[Reg], origin: &(&'static str, Arc<str>), steps: &mut Vec<Step>) {
        let between: Vec<Reg> = from.iter().map(|&(_, count)| self.fresh(count)).collect();
        let mut copy = |to: Reg, from: Reg, count: usize| {
            steps.extend((0..count).map(|k| Step { what: Do::Move { to: to + k, from: from + k }, origin: origin.clone() }));
        };
        from.iter().zip(&between).for_each(|(&(from, count), &between)| copy(between, from, count));
        from.iter().zip(&between).zip(to).for_each(|((&(_, count), &between), &to)| copy(to, between, count));
    }

    fn sized(&self, values: &[Ssa<'c>]) -> Done<Vec<(Reg, usize)>> {
        values.iter().map(|&value| Ok((self.reg(value)?, parts(value.ty()).0))).collect()
    }

    fn control(&mut self, op: Op<'c>, operands: &[Reg], steps: &mut Vec<Step>) -> Done {
        let origin = (intern(op.name()), Arc::<str>::from(place(op)));
        let results: Vec<Reg> = op.results().into_iter().map(|result| self.bind(result)).collect();
        if op.isa::<scf::If>() {
            let mut sides = [Vec::new(), Vec::new()];
            for (side, region) in sides.iter_mut().zip(op.regions()) {
                let Some(block) = region.entry() else { continue };
                let (mut inner, yields) = self.block(block)?;
                let from = self.sized(&yields)?;
                self.hand_on(&from, &results, &origin, &mut inner);
                *side = inner;
            }
            let [then, otherwise] = sides;
            steps.push(Step { what: Do::If { condition: operands[0], then, otherwise }, origin });
            return Ok(());
        }
        let block = op.region(0).entry().ok_or_else(|| fail("no body"))?;
        let arguments: Vec<Reg> = block.args().into_iter().map(|arg| self.bind(arg)).collect();
        let carried: Vec<(Reg, usize)> = self.sized(&op.operands()[3..])?;
        self.hand_on(&carried, &results, &origin, steps);
        // The results hold what is carried from one turn to the next.
        let held: Vec<(Reg, usize)> = results.iter().zip(&carried).map(|(&reg, &(_, count))| (reg, count)).collect();
        let mut body = Vec::new();
        for (&(from, count), &to) in held.iter().zip(&arguments[1..]) {
            body.extend((0..count).map(|k| Step { what: Do::Move { to: to + k, from: from + k }, origin: origin.clone() }));
        }
        let (inner, yields) = self.block(block)?;
        body.extend(inner);
        let from = self.sized(&yields)?;
        self.hand_on(&from, &results, &origin, &mut body);
        let number = arguments[0];
        steps.push(Step { what: Do::Move { to: number, from: operands[0] }, origin: origin.clone() });
        steps.push(Step { what: Do::For { number, end: operands[1], step: operands[2], body }, origin });
        Ok(())
    }

    fn call(&mut self, op: Op<'c>, operands: &[Reg], steps: &mut Vec<Step>) -> Done {
        let name = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
        let body = self.device.lookup_symbol(&name).and_then(|function| function.regions().first()?.entry());
        let body = body.ok_or_else(|| fail(format!("`@{name}` has no body")))?;
        for (argument, &operand) in body.args().into_iter().zip(operands) {
            self.known.insert(argument, operand);
        }
        let (inner, returned) = self.block(body)?;
        steps.extend(inner);
        for (result, value) in op.results().into_iter().zip(returned) {
            let reg = self.reg(value)?;
            self.known.insert(result, reg);
        }
        Ok(())
    }
}

/// What an access asks of its pointer.
fn aligned(op: Op<'_>, pointer: Reg, size: usize) -> Do {
    let to = op.int("alignment").filter(|&bytes| bytes > 0).map_or(size as u64, |bytes| bytes as u64);
    Do::Aligned { pointer, to }
}

/// An op that works on each element by itself.
fn elementwise(op: Op<'_>, to: Reg, at: &[Reg], from: ElementType, result: ElementType) -> Option<Do> {
    let (name, ty) = (op.name(), from);
    let (a, b) = (at.first().copied()?, at.get(1).copied());
    let width = bits(from);
    Some(match (name, b) {
        (arith::CmpI::NAME, Some(b)) => Do::Two { to, a, b, f: scalar::compare_integers(op.int("predicate")?)?, bits: width, result: 1 },
        (arith::CmpF::NAME, Some(b)) => Do::Compare { to, a, b, predicate: op.int("predicate")?, ty },
        (math::Fma::NAME, Some(b)) => Do::Fused { to, a, b, c: at.get(2).copied()?, ty },
        (_, Some(b)) => match scalar::integer(name) {
            Some(f) => Do::Two { to, a, b, f, bits: width, result: width },
            None => Do::Floats { to, a, b, f: scalar::floats(name)?, ty },
        },
        (_, None) => {
            if let Some(f) = scalar::float_one(name) {
                Do::Float { to, a, f, ty }
            } else if let Some(f) = scalar::float_test(name) {
                Do::Test { to, a, f, ty }
            } else if let Some(f) = scalar::integer_one(name) {
                Do::One { to, a, f, bits: width }
            } else {
                scalar::convert(name, 0, from, result)?;
                Do::Convert { to, a, name: name.to_owned(), from, result }
            }
        }
    })
}

fn size_of(element: ElementType) -> usize {
    if element == ElementType::Bool { 1 } else { element.bytes() }
}

/// The bits of a constant, one for each register.
fn constant(op: Op<'_>, count: usize, element: ElementType) -> Done<Vec<u64>> {
    let attr = op.attr("value").ok_or_else(|| fail("a constant without a value"))?;
    let scalar = |attr: Attr<'_>| match (element.is_float(), attr.as_int(), attr.as_float()) {
        (true, _, Some(number)) => Some(scalar::bits_of(number, element)),
        (false, Some(number), _) => Some(scalar::low(number as u64, bits(element))),
        _ => None,
    };
    let values = match (attr.as_dense(), attr.as_array()) {
        (Some((bytes, splat)), _) => {
            let size = size_of(element);
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| (word << 8) | u64::from(byte));
            let words: Vec<u64> = bytes.chunks(size).map(word).collect();
            Some(if splat { vec![words.first().copied().unwrap_or(0); count] } else { words })
        }
        (None, Some(list)) => list.into_iter().map(scalar).collect(),
        (None, None) => scalar(attr).map(|value| vec![value]),
    };
    values.filter(|values| values.len() == count).ok_or_else(|| fail("a constant of a kind that the emulator does not know"))
}

fn unknown(op: Op<'_>) -> InterpError {
    InterpError::Unsupported { op: op.name().to_owned(), location: place(op) }
}

/// Names of ops live as long as the process: there are few.
fn intern(name: &str) -> &'static str {
    thread_local! {
        static NAMES: std::cell::RefCell<std::collections::HashSet<&'static str>> = std::cell::RefCell::default();
    }
    NAMES.with_borrow_mut(|names| match names.get(name) {
        Some(&known) => known,
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.insert(name);
            name
        }
    })
}
