//! Runs a module: the entry function, block by block, op by op.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use strata_core::dialect::Traits;
use strata_core::upstream::func;

use strata_core::ir::{Attr, Block, DYNAMIC, Op, Type, Value as Ssa};

use super::alias::{Heap, Ref};
use super::budget;
use super::dtype::{DType, Scalar};
use super::host::Memory;
use super::kernel::Kernels;
use super::loops::partial::{Partial, Source};
use super::tensor::Tensor;
use super::value::{InterpError, Results, Seeds, Value, fail};
use super::{args, capture, control, gpu, host, loops, own, prim, scalar};
use strata_dialects::aten::is_operator;
use strata_dialects::capture::{KIND, NAME, PREPARE, continuation, storage};

/// Ops executed before a run is given up as endless.
const FUEL: u64 = 1 << 32;

/// What a call gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outputs {
    /// The results of kind `output`, in order.
    pub outputs: Vec<Value>,
    /// New values of buffers and inputs, by `capture.name`.
    pub mutations: Vec<(String, Value)>,
}

/// Where the data of parameters, buffers and constants comes from.
pub type Weights<'a> = &'a dyn Fn(&str) -> Option<Tensor>;

/// What a caller lends a run.
#[derive(Clone, Copy)]
pub struct Lent<'a> {
    /// Data of parameters, buffers and constants.
    pub weights: Weights<'a>,
    /// The opened libraries whose kernels the program may call.
    pub kernels: Option<&'a Arc<dyn Kernels>>,
}

impl<'a> Lent<'a> {
    /// Weights alone.
    pub fn weights(weights: Weights<'a>) -> Self {
        Self { weights, kernels: None }
    }
}

/// Runs a function of the module on the call's inputs, at any level down to `loop`.
///
/// `entry` is the function's symbol; without it, the one marked `capture.entry`, or the first. Arguments of kind `input`
/// take `inputs` in order, those of kind `prepared` what the function marked `capture.prepare` computes, and the others ask
/// `weights` for their `capture.name`.
///
/// Where a part of the program ends in a graph break, the next part runs on its outputs; writes of one part are read by the next.
pub fn run(module: Op<'_>, entry: Option<&str>, inputs: Vec<Value>, lent: Lent<'_>) -> Result<Outputs, InterpError> {
    let mut function = find_entry(module, entry)?;
    let (mut inputs, mut changed) = (inputs, Vec::<(String, Value)>::new());
    let mut parts = HashSet::new();
    loop {
        let latest = |name: &str| match changed.iter().find(|(known, _)| known == name) {
            Some((_, Value::Tensor(tensor))) => Some(tensor.clone()),
            _ => (lent.weights)(name),
        };
        let part = run_part(module, function, inputs, Lent { weights: &latest, ..lent })?;
        for (name, value) in part.mutations {
            changed.retain(|(known, _)| *known != name);
            changed.push((name, value));
        }
        let Some(next) = continuation(function) else { return Ok(Outputs { outputs: part.outputs, mutations: changed }) };
        if !parts.insert(next.resume.clone()) {
            return Err(fail(format!("the program resumes at `@{}` for ever", next.resume)).at(func::Func::NAME, &place(function)));
        }
        (function, inputs) = (find_entry(module, Some(&next.resume))?, part.outputs);
    }
}

/// Runs one captured function.
fn run_part(module: Op<'_>, function: Op<'_>, inputs: Vec<Value>, lent: Lent<'_>) -> Result<Outputs, InterpError> {
    let mut machine = Machine::new(module, lent.kernels.cloned());
    let body = function
        .regions()
        .first()
        .and_then(|r| r.entry())
        .ok_or_else(|| fail("the entry has no body").at(func::Func::NAME, &place(function)))?;
    let mut inputs = inputs.into_iter();
    let mut prepared = None;
    let mut arguments = Vec::new();
    for (k, argument) in body.args().into_iter().enumerate() {
        let (kind, name) = names(function, "arg_attrs", k);
        let value = match kind.as_deref() {
            None | Some("input") => inputs.next(),
            Some("prepared") => match &mut prepared {
                Some(values) => values,
                none => none.insert(prepare(module, lent)?),
            }
            .next(),
            _ => name.as_deref().and_then(lent.weights).map(Value::Tensor),
        };
        let what = name.clone().unwrap_or_else(|| format!("argument {k}"));
        let value = value.ok_or_else(|| fail(format!("the call gives no value for `{what}`")).at(func::Func::NAME, &place(function)))?;
        check_type(&value, argument.ty())
            .map_err(|text| InterpError::Guard { text: format!("`{what}` {text}"), location: place(function) })?;
        machine.bind(argument, value)?;
        arguments.push((name, argument));
    }
    let results = machine.block(body)?;
    let mut out = Outputs::default();
    for (k, slot) in results.iter().enumerate() {
        let value = machine.load(slot)?;
        match names(function, "res_attrs", k) {
            (Some(kind), Some(name)) if kind == "mutation" => out.mutations.push((name, value)),
            _ => out.outputs.push(value),
        }
    }
    for (name, argument) in arguments {
        if let (Some(name), Some(value)) = (name, machine.mutated(argument)?) {
            out.mutations.push((name, value));
        }
    }
    Ok(out)
}

/// What the function marked `capture.prepare` computes from the weights.
fn prepare(module: Op<'_>, lent: Lent<'_>) -> Result<std::vec::IntoIter<Value>, InterpError> {
    let function =
        marked(module, PREPARE).ok_or_else(|| fail("there is no function that prepares weights").at(module.name(), &place(module)))?;
    Ok(run(module, function.str("sym_name").as_deref(), Vec::new(), lent)?.outputs.into_iter())
}

/// The function with a mark.
pub fn marked<'c>(module: Op<'c>, mark: &str) -> Option<Op<'c>> {
    module.regions().into_iter().flat_map(|r| r.blocks()).flat_map(|b| b.ops()).find(|op| op.isa::<func::Func>() && op.attr(mark).is_some())
}

/// The function to run.
pub fn find_entry<'c>(module: Op<'c>, name: Option<&str>) -> Result<Op<'c>, InterpError> {
    let functions = || module.regions().into_iter().flat_map(|r| r.blocks()).flat_map(|b| b.ops()).filter(|op| op.isa::<func::Func>());
    let found = match name {
        Some(name) => functions().find(|f| f.str("sym_name").as_deref() == Some(name)),
        None => strata_dialects::capture::entry(module)
            .map_err(|error| fail(error.to_string()).at(func::Func::NAME, &place(error.second)))?
            .or_else(|| functions().next()),
    };
    found.ok_or_else(|| fail("there is no such function").at(module.name(), &place(module)))
}

/// `capture.kind` and `capture.name` of an argument or result.
pub fn names(function: Op<'_>, list: &str, at: usize) -> (Option<String>, Option<String>) {
    let dict = function.attr(list).and_then(Attr::as_array).and_then(|d| d.get(at).copied());
    let text = |name: &str| dict.and_then(|d| d.entry(name)).and_then(Attr::as_str);
    (text(KIND), text(NAME))
}

/// An op's location as text.
pub fn place(op: Op<'_>) -> String {
    op.location().short()
}

/// The element type of a tensor or scalar type; `index` is held as i64.
pub fn dtype_of(ty: Type<'_>) -> Result<DType, InterpError> {
    use strata_core::ir::ElementType as E;
    Ok(match ty.element_type() {
        Some(E::Bool) => DType::Bool,
        Some(E::U8) => DType::U8,
        Some(E::U16) => DType::U16,
        Some(E::U32) => DType::U32,
        Some(E::U64) => DType::U64,
        Some(E::I8) => DType::I8,
        Some(E::I16) => DType::I16,
        Some(E::I32) => DType::I32,
        Some(E::I64 | E::Index) => DType::I64,
        Some(E::F8E4M3FN) => DType::F8E4M3FN,
        Some(E::F8E5M2) => DType::F8E5M2,
        Some(E::F16) => DType::F16,
        Some(E::BF16) => DType::Bf16,
        Some(E::F32) => DType::F32,
        Some(E::F64) => DType::F64,
        Some(E::C64) => DType::C64,
        Some(E::C128) => DType::C128,
        None => return Err(fail(format!("the type {ty} holds no elements that the interpreter knows"))),
    })
}

/// Says how a value differs from a type.
fn check_type(value: &Value, ty: Type<'_>) -> Result<(), String> {
    let Value::Tensor(t) = value else { return Ok(()) };
    if !ty.is_tensor() {
        return Ok(());
    }
    let shape = ty.shape();
    let fits =
        shape.len() == t.rank() && shape.iter().zip(t.shape()).all(|(&want, &got)| want == strata_core::ir::DYNAMIC || want == got as i64);
    match dtype_of(ty) {
        Ok(d) if d == t.dtype() && fits => Ok(()),
        _ => Err(format!("is {:?} {:?} where {ty} was expected", t.dtype(), t.shape())),
    }
}

/// A bound value: in programs that mutate, tensors live on a heap.
#[derive(Clone)]
pub(super) enum Slot {
    Plain(Value),
    Shared(Ref),
    Buffer(host::View),
    /// What a stage of a kernel is computing.
    Partial(Rc<RefCell<Partial>>),
}

/// The state of a run.
pub(super) struct Machine<'c> {
    /// Where kernels and functions are looked up.
    pub module: Op<'c>,
    env: HashMap<Ssa<'c>, Slot>,
    /// Storages, in programs that mutate.
    pub heap: Heap,
    /// Storages that were written.
    pub written: HashSet<usize>,
    /// Whether tensors share storage.
    pub aliasing: bool,
    /// The call's memory at the host level.
    pub memory: Memory,
    /// Kernels of the user's libraries, where there are some.
    pub libraries: Option<Arc<dyn Kernels>>,
    /// Kernels of a device that were launched before.
    pub kernels: gpu::Known,
    /// The seeds of random numbers that were drawn.
    pub seeds: Seeds,
    /// Calls of functions that are being run.
    pub calls: usize,
    fuel: u64,
}

impl<'c> Machine<'c> {
    pub fn new(module: Op<'c>, libraries: Option<Arc<dyn Kernels>>) -> Machine<'c> {
        let mut aliasing = false;
        module.walk(&mut |op| aliasing |= args::mutates(op) || args::addresses_storage(op));
        Machine {
            module,
            env: HashMap::new(),
            heap: Heap::default(),
            written: HashSet::new(),
            aliasing,
            memory: Memory::default(),
            libraries,
            kernels: gpu::Known::new(),
            seeds: Seeds::default(),
            calls: 0,
            fuel: FUEL,
        }
    }

    /// Gives an SSA value its value.
    pub fn bind(&mut self, at: Ssa<'c>, value: Value) -> Result<(), InterpError> {
        let slot = match value {
            Value::Tensor(t) if self.aliasing => Slot::Shared(self.heap.store(&t, &storage(at))?),
            other => Slot::Plain(other),
        };
        self.env.insert(at, slot);
        Ok(())
    }

    pub fn bind_slot(&mut self, at: Ssa<'c>, slot: Slot) {
        self.env.insert(at, slot);
    }

    pub fn slot(&self, at: Ssa<'c>) -> Result<&Slot, InterpError> {
        self.env.get(&at).ok_or_else(|| fail("an operand has no value"))
    }

    /// The value of an SSA value.
    pub fn get(&self, at: Ssa<'c>) -> Result<Value, InterpError> {
        self.load(self.slot(at)?)
    }

    /// The value in a slot.
    pub fn load(&self, slot: &Slot) -> Result<Value, InterpError> {
        match slot {
            Slot::Plain(v) => Ok(v.clone()),
            Slot::Shared(r) => Ok(Value::Tensor(self.heap.load(r)?)),
            Slot::Buffer(_) => Err(fail("a buffer where a value was expected")),
            Slot::Partial(partial) => Ok(Value::Tensor(partial.borrow().tensor().clone())),
        }
    }

    /// What a stage reads by an SSA value.
    pub fn source(&self, at: Ssa<'c>) -> Result<Source, InterpError> {
        match self.slot(at)? {
            Slot::Partial(partial) => Ok(Source::Partial(Rc::clone(partial))),
            slot => Ok(Source::Value(self.load(slot)?)),
        }
    }

    pub fn tensor(&self, at: Ssa<'c>) -> Result<Tensor, InterpError> {
        self.get(at)?.tensor().cloned()
    }

    /// The scalar of an SSA value; a 0-d tensor counts as one.
    pub fn scalar(&self, at: Ssa<'c>) -> Result<Scalar, InterpError> {
        match self.get(at)? {
            Value::Scalar(s) => Ok(s),
            Value::Tensor(t) => t.item(),
            other => Err(fail(format!("{} where a number was expected", other.kind()))),
        }
    }

    pub fn int(&self, at: Ssa<'c>) -> Result<i64, InterpError> {
        i64::try_from(self.scalar(at)?.int()).map_err(|_| fail("a size is out of range"))
    }

    /// The new value of an argument that was written to.
    fn mutated(&self, at: Ssa<'c>) -> Result<Option<Value>, InterpError> {
        match self.slot(at)? {
            Slot::Shared(r) if self.written.contains(&r.storage()) => Ok(Some(Value::Tensor(self.heap.load(r)?))),
            _ => Ok(None),
        }
    }

    /// Runs a block; gives the operands of its terminator.
    pub fn block(&mut self, block: Block<'c>) -> Result<Vec<Slot>, InterpError> {
        for op in block.ops() {
            if self.fuel == 0 {
                return Err(fail("the program does not end").at(op.name(), &place(op)));
            }
            self.fuel -= 1;
            budget::time().map_err(|e| e.at(op.name(), &place(op)))?;
            if op.has_trait(Traits::TERMINATOR) {
                return op
                    .operands()
                    .into_iter()
                    .map(|v| self.slot(v).cloned())
                    .collect::<Result<_, _>>()
                    .map_err(|e: InterpError| e.at(op.name(), &place(op)));
            }
            self.op(op).map_err(|e| e.at(op.name(), &place(op)))?;
        }
        Ok(Vec::new())
    }

    fn op(&mut self, op: Op<'c>) -> Result<(), InterpError> {
        let results = match op.dialect() {
            _ if is_operator(op) => return args::run(self, op),
            "scf" | "func" => return control::run(self, op),
            "host" => return host::run(self, op),
            "capture" => capture::run(self, op)?,
            "prim" => prim::run(self, op)?,
            "loop" => loops::run(self, op)?,
            "arith" | "math" | "complex" | "tensor" => scalar::run(self, op)?,
            _ => own::run(self, op)?,
        };
        self.bind_results(op, results)
    }

    /// Gives an op's results their values; every tensor must have the type that the op states.
    pub fn bind_results(&mut self, op: Op<'c>, results: Vec<Value>) -> Result<(), InterpError> {
        if results.len() != op.num_results() {
            return Err(fail(format!("{} values for {} results", results.len(), op.num_results())));
        }
        // Where the rank of a shape that depends on data is declared wrongly (PyTorch's export does that), nothing is checked.
        let open = |value: &Value, ty: Type<'_>| matches!(value, Value::Tensor(t) if ty.is_tensor() && ty.shape().contains(&DYNAMIC) && ty.rank() != t.rank());
        // Nor where nothing asks for a result: it may be left out.
        let misdeclared = results.iter().zip(op.result_types()).any(|(value, ty)| open(value, ty));
        for (at, value) in op.results().into_iter().zip(results) {
            check_type(&value, at.ty())
                .or_else(|text| if misdeclared || at.is_unused() { Ok(()) } else { Err(fail(format!("a result {text}"))) })?;
            self.bind(at, value)?;
        }
        Ok(())
    }
}

/// The error for an op without an arm.
pub(super) fn unsupported(op: Op<'_>) -> InterpError {
    InterpError::Unsupported { op: op.name().to_string(), location: place(op) }
}

/// One result.
pub(super) fn single(value: Value) -> Results {
    Ok(vec![value])
}
