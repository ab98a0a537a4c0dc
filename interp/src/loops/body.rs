//! The scalar body of a stage, read once: each op becomes a step on numbered registers.

use std::collections::HashMap;
use strata_core::upstream::arith;
use strata_dialects::loops;

use strata_core::ir::{Block, Op, Value as Ssa};

use super::partial::Source;
use crate::dtype::{DType, Scalar};
use crate::run::{Machine, dtype_of, place, unsupported};
use crate::scalar::{Evaluate, constant, decode, library};
use crate::value::{InterpError, Value, fail};

/// A body.
pub(crate) struct Body<'c> {
    /// The element type of each block argument; arguments are the first registers.
    pub arguments: Vec<DType>,
    registers: Vec<Scalar>,
    steps: Vec<Step<'c>>,
    yields: Vec<usize>,
}

struct Step<'c> {
    op: Op<'c>,
    what: What,
    operands: Vec<usize>,
    target: usize,
    dtype: DType,
}

enum What {
    Index(usize),
    Load(Source),
    Library(String),
    Scalar(Evaluate),
}

impl<'c> Body<'c> {
    /// Reads a body; values from outside of it are taken from the machine.
    pub fn new(m: &Machine<'c>, block: Block<'c>) -> Result<Body<'c>, InterpError> {
        let yielded = block.terminator().map(Op::operands).unwrap_or_default();
        Body::of(m, block, &yielded)
    }

    /// Reads a block without a terminator that computes `yielded`.
    pub fn of(m: &Machine<'c>, block: Block<'c>, yielded: &[Ssa<'c>]) -> Result<Body<'c>, InterpError> {
        let mut body = Body { arguments: Vec::new(), registers: Vec::new(), steps: Vec::new(), yields: Vec::new() };
        let mut at: HashMap<Ssa<'c>, usize> = HashMap::new();
        for argument in block.args() {
            body.arguments.push(dtype_of(argument.ty())?);
            at.insert(argument, body.register(Scalar::Int(0)));
        }
        for op in block.ops().into_iter().filter(|op| !op.isa::<loops::Yield>()) {
            body.op(m, op, &mut at).map_err(|e| e.at(op.name(), &place(op)))?;
        }
        body.yields = yielded.iter().map(|&v| body.read(m, &mut at, v)).collect::<Result<_, _>>()?;
        Ok(body)
    }

    fn register(&mut self, value: Scalar) -> usize {
        self.registers.push(value);
        self.registers.len() - 1
    }

    /// The register of a value; one from outside is a constant.
    fn read(&mut self, m: &Machine<'c>, at: &mut HashMap<Ssa<'c>, usize>, value: Ssa<'c>) -> Result<usize, InterpError> {
        if let Some(&r) = at.get(&value) {
            return Ok(r);
        }
        let r = self.register(m.scalar(value)?);
        at.insert(value, r);
        Ok(r)
    }

    fn op(&mut self, m: &Machine<'c>, op: Op<'c>, at: &mut HashMap<Ssa<'c>, usize>) -> Result<(), InterpError> {
        let result = op.results().first().copied().ok_or_else(|| unsupported(op))?;
        let dtype = dtype_of(result.ty())?;
        if op.isa::<arith::Constant>() {
            let Value::Scalar(s) = constant(op)? else { return Err(fail("a constant of a body is a number")) };
            let r = self.register(s);
            at.insert(result, r);
            return Ok(());
        }
        let (what, read) = match op.name() {
            loops::Index::NAME => {
                (What::Index(op.int("dim").and_then(|d| usize::try_from(d).ok()).ok_or_else(|| fail("no dim"))?), op.operands())
            }
            loops::Load::NAME => (What::Load(m.source(op.operand(0))?), op.operands()[1..].to_vec()),
            loops::Libm::NAME => (What::Library(op.str("name").unwrap_or_default()), op.operands()),
            _ if matches!(op.dialect(), "arith" | "math" | "complex") => (What::Scalar(decode(op)?), op.operands()),
            _ => return Err(unsupported(op)),
        };
        let operands = read.into_iter().map(|v| self.read(m, at, v)).collect::<Result<_, _>>()?;
        let target = self.register(Scalar::Int(0));
        at.insert(result, target);
        self.steps.push(Step { op, what, operands, target, dtype });
        Ok(())
    }

    /// Sets an argument for the next run.
    pub fn set(&mut self, argument: usize, value: Scalar) {
        self.registers[argument] = self.arguments[argument].cast(value);
    }

    /// Runs the body at a point.
    pub fn run(&mut self, point: &[i64]) -> Result<(), InterpError> {
        let mut operands = Vec::new();
        for step in &self.steps {
            operands.clear();
            operands.extend(step.operands.iter().map(|&r| self.registers[r]));
            let value = step.run(&operands, point).map_err(|e| e.at(step.op.name(), &place(step.op)))?;
            self.registers[step.target] = value;
        }
        Ok(())
    }

    /// How many values the body yields.
    pub fn num_yields(&self) -> usize {
        self.yields.len()
    }

    /// A value that the last run yielded.
    pub fn yielded(&self, k: usize) -> Scalar {
        self.registers[self.yields[k]]
    }
}

impl Step<'_> {
    fn run(&self, v: &[Scalar], point: &[i64]) -> Result<Scalar, InterpError> {
        match &self.what {
            What::Index(d) => point.get(*d).map(|&p| Scalar::Int(p as i128)).ok_or_else(|| fail("no such dim")),
            What::Load(t) => {
                let at: Vec<i64> = v.iter().map(|v| v.int() as i64).collect();
                t.at(&at)?.map(|value| self.dtype.cast(value)).ok_or_else(|| fail(format!("index out of bounds: {at:?}")))
            }
            What::Library(name) => library(name, self.dtype, v).map(|v| self.dtype.cast(v)).ok_or_else(|| unsupported(self.op)),
            What::Scalar(f) => f(v),
        }
    }
}
