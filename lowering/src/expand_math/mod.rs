//! Mathematics that no instruction computes: `math` ops become our own vector code, or calls of the system's libraries.
//!
//! ```mlir
//! %1 = math.tanh %0 : vector<16xf32>
//! // becomes
//! %1 = func.call @strata_math.tanh.16xf32(%0) : (vector<16xf32>) -> vector<16xf32>
//! ```
//!
//! One private function per operation and type holds the body, so that a module pays for each once. Half floats are
//! computed in f32. Ops that LLVM has an instruction for stay.

mod libm;

pub use libm::is_libm;

use std::collections::HashSet;
use strata_core::ir::{Builder, ElementType, Op, OpSpec, Type, Value};

/// Names of the functions made here begin so. Their rounding is designed: nothing may fuse or reorder inside.
pub const EXACT_PREFIX: &str = "strata_math.";

/// What the expansion must know of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MathTarget {
    /// Bits of the widest vector register: 128, 256 or 512.
    pub vector_bits: u32,
    /// Whether fused multiply-add is an instruction.
    pub fma: bool,
    /// Whether the C library's vector functions may be called where we have no expansion of our own.
    pub libmvec: bool,
}

impl Default for MathTarget {
    fn default() -> Self {
        Self { vector_bits: 128, fma: false, libmvec: true }
    }
}

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

/// Replaces every `math` op that is not an instruction.
pub fn expand_math(module: Op<'_>, target: &MathTarget) -> Result<(), Error> {
    let mut found = Vec::new();
    module.walk(&mut |op| {
        if op.dialect() == "math" && !NATIVE.contains(&op.name()) {
            found.push(op);
        }
    });
    let mut bodies = Bodies { module, target: *target, known: HashSet::new() };
    found.into_iter().try_for_each(|op| bodies.expand(op))
}

/// Ops that LLVM compiles to a few instructions.
const NATIVE: &[&str] = &[
    "math.absf",
    "math.absi",
    "math.ceil",
    "math.copysign",
    "math.ctlz",
    "math.ctpop",
    "math.cttz",
    "math.floor",
    "math.fma",
    "math.isfinite",
    "math.isinf",
    "math.isnan",
    "math.isnormal",
    "math.round",
    "math.roundeven",
    "math.rsqrt",
    "math.sqrt",
    "math.trunc",
];

/// The functions made so far.
struct Bodies<'c> {
    module: Op<'c>,
    target: MathTarget,
    known: HashSet<String>,
}

impl<'c> Bodies<'c> {
    fn expand(&mut self, op: Op<'c>) -> Result<(), Error> {
        let ty = op.result(0).ty();
        let mut builder = Builder::before(op);
        let mut operands = op.operands();
        if op.is("math.fpowi") {
            operands[1] = builder.value("arith.sitofp", &operands[1..], ty, &[]);
        }
        let half = matches!(ty.element_type(), Some(ElementType::F16 | ElementType::BF16));
        let wide = if half { with_element(ty, ty.cx().f32()) } else { ty };
        if half {
            for operand in &mut operands {
                *operand = builder.value("arith.extf", &[*operand], wide, &[]);
            }
        }
        let name = op.name().trim_start_matches("math.");
        let function = libm::Function::named(name).filter(|_| operands.iter().all(|operand| operand.ty() == wide));
        let (Some(function), Some(element @ (ElementType::F32 | ElementType::F64))) = (function, wide.element_type()) else {
            let (op, location) = (op.name().to_owned(), op.location().to_string());
            return Err(Error::Unsupported { op, ty: ty.to_string(), location });
        };
        let mut result = self.call(&mut builder, function, element, &operands);
        if half {
            result = builder.value("arith.truncf", &[result], ty, &[]);
        }
        op.replace_with(&[result]);
        Ok(())
    }

    /// The function's value at operands of one type: a call of a body, or of libm for a scalar.
    fn call(&mut self, builder: &mut Builder<'c>, function: libm::Function, element: ElementType, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        if !ty.is_vector() {
            return self.call_external(builder, &function.scalar_name(element), operands);
        }
        let shape: Vec<String> = ty.shape().iter().map(i64::to_string).collect();
        let name = format!("{EXACT_PREFIX}{}.{}x{}", function.name, shape.join("x"), ty.element());
        if self.known.insert(name.clone()) {
            let cx = ty.cx();
            let inputs = vec![ty; operands.len()];
            let func = self.declare(&name, &inputs, ty);
            let block = func.region(0).append_block(&inputs, builder.location());
            let mut inner = Builder::at_end(block, builder.location());
            let flat = cx.vector(&[ty.num_elements().unwrap_or(1)], ty.element());
            let cast = |inner: &mut Builder<'c>, value: Value<'c>, to: Type<'c>| {
                if value.ty() == to { value } else { inner.value("vector.shape_cast", &[value], to, &[]) }
            };
            let arguments: Vec<_> = block.args().into_iter().map(|argument| cast(&mut inner, argument, flat)).collect();
            let result = self.library(&mut inner, function, element, &arguments);
            let result = cast(&mut inner, result, ty);
            inner.effect("func.return", &[result], &[]);
        }
        call(builder, &name, operands, ty)
    }

    /// Calls a function of a C library, declaring it when it is new to the module.
    fn call_external(&mut self, builder: &mut Builder<'c>, name: &str, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        if self.known.insert(name.to_owned()) && self.module.lookup_symbol(name).is_none() {
            self.declare(name, &operands.iter().map(|operand| operand.ty()).collect::<Vec<_>>(), ty);
        }
        call(builder, name, operands, ty)
    }

    /// A private `func.func` without a body at the end of the module.
    fn declare(&self, name: &str, inputs: &[Type<'c>], result: Type<'c>) -> Op<'c> {
        let cx = result.cx();
        let attrs = [
            ("sym_name", cx.str_attr(name)),
            ("function_type", cx.type_attr(cx.function(inputs, &[result]))),
            ("sym_visibility", cx.str_attr("private")),
        ];
        let mut builder = Builder::at_end(self.module.body(0), self.module.location());
        builder.op(OpSpec { name: "func.func", attrs: &attrs, regions: 1, ..OpSpec::default() })
    }
}

fn call<'c>(builder: &mut Builder<'c>, name: &str, operands: &[Value<'c>], result: Type<'c>) -> Value<'c> {
    let callee = builder.cx().symbol_attr(name);
    builder.value("func.call", operands, result, &[("callee", callee)])
}

/// The same scalar or vector with other elements.
fn with_element<'c>(ty: Type<'c>, element: Type<'c>) -> Type<'c> {
    if ty.is_vector() { ty.cx().vector(&ty.shape(), element) } else { element }
}
