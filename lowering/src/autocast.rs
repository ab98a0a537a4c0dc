//! `--autocast`: a program computes as under `torch.autocast("cpu", dtype)`.
//!
//! [Operators that gain](strata_dialects::aten::autocast) (products of matrices, convolutions, attention) take their floats in the type `dtype`,
//! those that need the range or the digits (losses, linear algebra, Fourier transforms) in `f32`, and all others as they come. Arguments
//! keep their types: parameters of `f32` are the master weights, whose casts a gradient goes through. The types of what is computed follow.
//!
//! It runs where operators still stand as they were captured, since one that writes to its argument keeps the argument's type.
//! It refuses, at the op: recurrent layers and others that are cast inside of themselves, loops in which something is cast, branches that give
//! other types, and programs that have nothing to cast.
//!
//! ```mlir
//! func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> (tensor<2x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = aten.linear %x, %w {segments = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
//!   return %0 : tensor<2x4xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> (tensor<2x4xbf16> {capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = aten._to_copy %x {dtype = bf16} : (tensor<2x3xf32>) -> tensor<2x3xbf16>
//!   %1 = aten._to_copy %w {dtype = bf16} : (tensor<4x3xf32>) -> tensor<4x3xbf16>
//!   %2 = aten.linear %0, %1 {segments = array<i64: 1, 1, 0>} : (tensor<2x3xbf16>, tensor<4x3xbf16>) -> tensor<2x4xbf16>
//!   return %2 : tensor<2x4xbf16>
//! }
//! ```

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Block, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{func, scf, tensor};
use strata_dialects::aten::autocast::{Policy, cast, policy};
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::{self, AtenOp, Input, is_operator, op};
use strata_dialects::capture;

use crate::aten_to_prim::infer;

/// Computes as under `torch.autocast("cpu")`.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("aten", "prim", "arith", "capture"))]
pub struct Autocast {
    /// The type of what gains by it: `bf16` or `f16`.
    #[option(default = "bf16")]
    dtype: String,
    /// Casts made.
    casts: Counter,
}

impl Pass for Autocast {
    fn run<'c>(&self, function: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if function.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        let lower = match self.dtype.as_str() {
            "bf16" => DType::BF16,
            "f16" => DType::F16,
            other => return Err(Refusal::Type(other.to_owned()).at(function)),
        };
        let body = function.body(0);
        let end = body.terminator().filter(|op| op.isa::<func::Return>()).ok_or_else(|| Refusal::Parts.at(function))?;
        let mut casts = Casts { rewriter: cx.rewriter(), lower, met: 0, made: HashMap::new(), changed: HashSet::new() };
        casts.block(body)?;
        if casts.met == 0 {
            return Err(Refusal::Nothing.at(function));
        }
        self.casts.add(casts.made.len());
        func::set_type(&mut casts.rewriter, function, &body.args().into_iter().map(Value::ty).collect::<Vec<_>>(), &end.operand_types());
        Ok(())
    }
}

/// Why a program is not cast.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("dtype={0}: autocast computes in bf16 or in f16")]
    Type(String),
    #[error("is one part of a program that graph breaks divide; autocast is for a program of one graph")]
    Parts,
    #[error("has no operator that autocast casts for; leave it out, or give the program as it was captured")]
    Nothing,
    #[error("is cast inside of itself under autocast, which is not done here; write it with the operators that it is made of")]
    Inside,
    #[error("is repeated, and autocast changes the types inside of it; cast in front of it and behind it instead")]
    Loop,
    #[error("gives {then} in one branch under autocast and {other} in the other; cast both to one type")]
    Branches { then: String, other: String },
    #[error("takes {0} and autocast makes another type of that; cast in front of it with `to`")]
    Operand(String),
    #[error("has no types under autocast: {0}")]
    Types(String),
}

impl Refusal {
    /// The error of the pass.
    fn at(self, op: Op<'_>) -> PassError {
        PassError::at(op, &self.to_string())
    }
}

/// A program while it is cast.
struct Casts<'c> {
    rewriter: Rewriter<'c>,
    lower: DType,
    /// Operators that have a policy.
    met: usize,
    /// Casts of values, by the block that they stand in.
    made: HashMap<(Value<'c>, DType, Block<'c>), Value<'c>>,
    /// Values of other types than were captured.
    changed: HashSet<Value<'c>>,
}

impl<'c> Casts<'c> {
    fn block(&mut self, block: Block<'c>) -> Result<(), PassError> {
        block.ops().into_iter().try_for_each(|op| self.op(op, block))
    }

    fn op(&mut self, op: Op<'c>, block: Block<'c>) -> Result<(), PassError> {
        if is_operator(op) {
            self.operator(op, block)?;
        } else if !op.regions().is_empty() {
            self.regions(op)?;
        } else if let Some(operand) = op.operands().into_iter().find(|operand| self.changed.contains(operand)) {
            match op.results().as_slice() {
                [] => {}
                [result] if op.isa::<tensor::Cast>() => self.retype(*result, operand.ty()),
                _ => return Err(Refusal::Operand(operand.ty().to_string()).at(op)),
            }
        }
        Ok(())
    }

    fn operator(&mut self, op: Op<'c>, block: Block<'c>) -> Result<(), PassError> {
        let broken = |error: String| Refusal::Types(error).at(op);
        let view = AtenOp::new(op).map_err(|error| broken(error.to_string()))?;
        if let Some(policy) = policy(&view) {
            if policy == Policy::Inside {
                return Err(Refusal::Inside.at(op));
            }
            self.met += 1;
            let all: Vec<_> = op.operand_types().into_iter().filter_map(|ty| ty.element_type().filter(|_| ty.is_tensor())).collect();
            for (at, operand) in op.operands().into_iter().enumerate().filter(|(_, operand)| operand.ty().is_tensor()) {
                let Some(to) = operand.ty().element_type().and_then(|from| cast(policy, from, self.lower, &all)) else { continue };
                let made = self.cast(op, operand, to, block).map_err(|error| broken(error.to_string()))?;
                self.rewriter.set_operand(op, at, made);
            }
        }
        if !op.operands().iter().any(|operand| self.changed.contains(operand)) {
            return Ok(());
        }
        let types = infer(op).map_err(|reason| broken(reason.to_string()))?;
        if types.len() != op.num_results() {
            return Err(broken(format!("it gives {} results, and {} are captured", types.len(), op.num_results())));
        }
        op.results().into_iter().zip(types).for_each(|(result, ty)| self.retype(result, ty));
        Ok(())
    }

    /// A value in another type, cast in front of an op; one cast serves all that stands in a block.
    fn cast(&mut self, before: Op<'c>, value: Value<'c>, to: DType, block: Block<'c>) -> Result<Value<'c>, aten::AtenError> {
        if let Some(made) = self.made.get(&(value, to, block)) {
            return Ok(*made);
        }
        self.rewriter.go_before(before);
        let inputs = [Some(Input::Tensor(value)), Some(Input::DType(to))];
        let ty = with_element(value.ty(), to);
        let made = aten::build(&mut self.rewriter, op::_TO_COPY.schema(), &inputs, &[ty])?.result(0);
        self.changed.insert(made);
        self.made.insert((value, to, block), made);
        Ok(made)
    }

    /// Gives a value the element type of another one.
    fn retype(&mut self, value: Value<'c>, like: Type<'c>) {
        let Some(element) = like.element_type().filter(|_| value.ty().is_tensor() && like.is_tensor()) else { return };
        if value.ty().element_type() != Some(element) {
            self.rewriter.set_type(value, with_element(value.ty(), element));
            self.changed.insert(value);
        }
    }

    fn regions(&mut self, op: Op<'c>) -> Result<(), PassError> {
        let before = (self.made.len(), self.changed.len());
        let blocks: Vec<_> = op.regions().into_iter().flat_map(|region| region.blocks()).collect();
        blocks.iter().try_for_each(|block| self.block(*block))?;
        if !op.isa::<scf::If>() {
            let taken = op.operands().iter().any(|operand| self.changed.contains(operand));
            return if taken || before != (self.made.len(), self.changed.len()) { Err(Refusal::Loop.at(op)) } else { Ok(()) };
        }
        let given: Vec<_> = blocks.iter().filter_map(|block| block.terminator()).map(|end| end.operand_types()).collect();
        let [then, other] = given.as_slice() else { return Ok(()) };
        for (result, (then, other)) in op.results().into_iter().zip(then.iter().zip(other)) {
            if then.element_type() != other.element_type() {
                return Err(Refusal::Branches { then: then.to_string(), other: other.to_string() }.at(op));
            }
            self.retype(result, *then);
        }
        Ok(())
    }
}

/// A type with other elements.
fn with_element(ty: Type<'_>, element: DType) -> Type<'_> {
    ty.cx().tensor(&ty.shape(), ty.cx().element(element))
}
