//! `--expand-math`: mathematics that no instruction computes: `math` ops become our own vector code, or calls of the system's libraries.
//!
//! ```mlir
//! %1 = math.tanh %0 : vector<16xf32>
//! // becomes
//! %1 = func.call @strata_math.tanh.16xf32(%0) : (vector<16xf32>) -> vector<16xf32>
//! ```
//!
//! One private function per operation and type holds the body, so that a module pays for each once. Half floats are
//! computed in f32. Ops that LLVM has an instruction for stay.

mod bodies;
mod control;
mod erf;
mod exp;
mod far;
mod gamma;
mod integer;
mod inverse;
mod lanes;
mod libm;
mod log;
mod own;
mod pow;
mod rem;
mod round;
mod special;
mod tables;
#[cfg(test)]
mod tests;
mod trig;

pub use libm::is_libm;

use crate::target::{MathTarget, Target};
use bodies::Bodies;
use libm::Function;
use strata_core::ir::{ElementType, Op, Type};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, math};
use strata_dialects::loops;

/// Names of the functions made here begin so. Their rounding is designed: nothing may fuse or reorder inside.
pub const EXACT_PREFIX: &str = "strata_math.";

/// Behind the prefix, names of functions that are hardly ever called begin so. Their callers would rather not save registers for them.
pub const FAR: &str = "far.";

/// Marks an op that runs rarely (in the remainder of a loop): a call costs less than another copy of its code.
pub const RARE: &str = "strata.rare";

/// Mathematics that cannot be expanded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An op or type that has no expansion.
    #[error("{location}: '{op}' on {ty} has no expansion; extend it to f32 or f64, or add one to `expand_math`")]
    Unsupported {
        /// The op.
        op: String,
        /// Its type.
        ty: String,
        /// Where it is.
        location: String,
    },
}

/// Replaces mathematics that no instruction computes by calls of functions that do.
#[derive(Pass)]
#[pass(dependents("arith", "func", "llvm", "math", "scf", "vector"))]
pub struct ExpandMath;

impl Pass for ExpandMath {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        expand_math(op, &MathTarget::of(&Target::of(op)?)).map_err(|error| PassError::new(error.to_string()))
    }
}

/// Replaces every `math` op that is not an instruction, `loop.libm`, `arith.remf`, which LLVM would call the library for lane by lane, and
/// divisions of integers in lanes, which it would do lane by lane. The dialects of [`ExpandMath`] must be loaded.
pub fn expand_math(module: Op<'_>, target: &MathTarget) -> Result<(), Error> {
    let mut bodies = Bodies::new(module, *target);
    loop {
        let found = expanded(module, target);
        if found.is_empty() {
            return Ok(());
        }
        // Code of special functions uses functions of `math`, whose turn comes next.
        found.into_iter().try_for_each(|op| expand(&mut bodies, op))?;
    }
}

/// The ops that have an expansion.
fn expanded<'c>(module: Op<'c>, target: &MathTarget) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    module.walk(&mut |op| {
        let own = target.own && target.fma;
        let remainder = op.isa::<arith::RemF>() && own && target.library;
        let divides = target.quotients && integer::divides(op);
        if divides
            || remainder
            || own && rounds_half(op, target)
            || of_runtime(op)
            || op.dialect() == "math" && !NATIVE.contains(&op.name())
        {
            found.push(op);
        }
    });
    found
}

/// Whether an op rounds a half to an integer, in f32, and LLVM knows of it. It sees that the result is a half as well, and rounds halves, which
/// few machines do. Of a bf16 that is emulated it knows nothing.
fn rounds_half(op: Op<'_>, target: &MathTarget) -> bool {
    let rounds = matches!(op.name(), math::Ceil::NAME | math::Floor::NAME | math::RoundEven::NAME | math::Trunc::NAME);
    let from = || op.operand(0).defining_op().filter(|extended| extended.isa::<arith::ExtF>());
    rounds
        && from().is_some_and(|op| match op.operand(0).ty().element_type() {
            Some(ElementType::F16) => true,
            Some(ElementType::BF16) => target.bf16,
            _ => false,
        })
}

/// Whether an op is a function of the runtime that has a vector form.
fn of_runtime(op: Op<'_>) -> bool {
    op.isa::<loops::Libm>() && op.str("name").is_some_and(|name| has_lanes(&name, op.result(0).ty()))
}

/// Ops that LLVM compiles to a few instructions.
const NATIVE: &[&str] = &[
    math::AbsF::NAME,
    math::AbsI::NAME,
    math::Ceil::NAME,
    math::CopySign::NAME,
    math::CountLeadingZeros::NAME,
    math::CtPop::NAME,
    math::CountTrailingZeros::NAME,
    math::Floor::NAME,
    math::Fma::NAME,
    math::IsFinite::NAME,
    math::IsInf::NAME,
    math::IsNaN::NAME,
    math::IsNormal::NAME,
    math::Round::NAME,
    math::RoundEven::NAME,
    math::Rsqrt::NAME,
    math::Sqrt::NAME,
    math::Trunc::NAME,
];

/// Whether a function of `loop.libm` has a vector form on this type.
pub fn has_lanes(function: &str, ty: Type<'_>) -> bool {
    own::has(function, ty)
}

/// Whether an op of `math` on this type (f32 or f64) needs no library on a machine that has none.
pub fn has_own(target: &MathTarget, op: &str, ty: Type<'_>) -> bool {
    let name = op.trim_start_matches("math.");
    NATIVE.contains(&op) || (target.own && target.fma && own::has(name, ty))
}

fn expand<'c>(bodies: &mut Bodies<'c>, op: Op<'c>) -> Result<(), Error> {
    let ty = op.result(0).ty();
    let mut builder = Rewriter::before(op);
    if integer::divides(op) {
        let value = integer::divide(&mut builder, op);
        builder.replace(op, &[value]);
        return Ok(());
    }
    let mut operands = op.operands();
    if op.isa::<math::FPowI>() {
        operands[1] = builder.value(arith::SIToFP::NAME, &operands[1..], ty, &[]);
    }
    let half = matches!(ty.element_type(), Some(ElementType::F16 | ElementType::BF16));
    let wide = if half { with_element(ty, ty.cx().f32()) } else { ty };
    if half {
        for operand in &mut operands {
            *operand = arith::extf(&mut builder, *operand, wide);
        }
    }
    let named = op.isa::<loops::Libm>().then(|| op.str("name")).flatten();
    let name = named.as_deref().unwrap_or_else(|| op.name().trim_start_matches("math.").trim_start_matches("arith."));
    let function = Function::named(name).filter(|_| operands.iter().all(|operand| operand.ty() == wide));
    let float = matches!(wide.element_type(), Some(ElementType::F32 | ElementType::F64));
    let integer = integer::has(name, wide.element_type());
    let Some(function) = function.filter(|_| float || integer) else {
        let (op, location) = (op.name().to_owned(), op.location().to_string());
        return Err(Error::Unsupported { op, ty: ty.to_string(), location });
    };
    let mut result = match op.attr(RARE) {
        Some(_) => bodies.shared(&mut builder, function, &operands),
        None => bodies.value(&mut builder, function, &operands),
    };
    if half {
        result = arith::truncf(&mut builder, result, ty);
    }
    builder.replace(op, &[result]);
    Ok(())
}

/// The same scalar or vector with other elements.
fn with_element<'c>(ty: Type<'c>, element: Type<'c>) -> Type<'c> {
    if ty.is_vector() { ty.cx().vector(&ty.shape(), element) } else { element }
}
