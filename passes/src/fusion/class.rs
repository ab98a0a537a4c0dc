//! What fusion needs to know of an op.

use strata_core::ir::{ElementType, Op, Value};
use strata_dialects::capture::Permute;
use strata_dialects::prim;

/// How an op takes part in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Has no tensor operand and costs nothing per element: made again wherever it is read.
    Source,
    /// One element from the elements at the same index, at a cost.
    Pointwise(u32),
    /// An index transformation.
    View(View),
    /// Reads a kernel input at computed indices.
    Gather,
    /// `reduce` and `arg_reduce`.
    Reduce,
    /// `dot`, `conv`, `mix` and `softmax_dot`.
    Contract,
    /// A kernel, library call or host op of its own.
    Alone,
}

/// Kinds of index transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Each element is read at one place, or repeated along dimensions: `broadcast`, `transpose`, `slice`, `reverse`.
    Plain,
    /// Elements are read several times or not at all, with a condition: `pad`, `window`, `concat`.
    Guarded,
    /// `reshape`: free between kernels.
    Reshape,
}

/// Cost of an operation that is one or a few instructions.
pub const CHEAP: u32 = 1;
/// Cost of one that is a polynomial, a division or a library call.
pub const EXPENSIVE: u32 = 8;

/// Pointwise ops of small cost, sorted.
const CHEAP_OPS: &[&str] = &[
    "abs", "add", "and", "bitcast", "ceil", "complex", "convert", "eq", "floor", "ge", "gt", "imag", "is_nan", "le", "lt", "maximum",
    "minimum", "mul", "ne", "neg", "not", "or", "real", "round", "select", "shl", "shr", "sign", "sub", "trunc", "xor",
];

/// Pointwise ops that are worth storing rather than computing twice, sorted.
const EXPENSIVE_OPS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "digamma",
    "div",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nextafter",
    "pow",
    "rem",
    "rsqrt",
    "sin",
    "sinh",
    "special",
    "sqrt",
    "tan",
    "tanh",
];

/// Largest number of elements of a constant that is written into kernels; larger ones are kernel inputs, as are all but splats.
fn is_inline_constant(op: Op<'_>) -> bool {
    op.attr("value").and_then(|value| value.as_dense()).is_some_and(|(_, splat)| splat)
}

/// Whether an op computes each element from the elements at the same index.
pub fn is_pointwise(op: Op<'_>) -> bool {
    matches!(classify(op), Class::Pointwise(_))
}

/// The class of an op. What is not known makes a kernel of its own.
pub fn classify(op: Op<'_>) -> Class {
    let Some(name) = op.name().strip_prefix("prim.") else { return Class::Alone };
    if op.num_results() != 1 || !op.result(0).ty().is_tensor() {
        return Class::Alone;
    }
    if CHEAP_OPS.binary_search(&name).is_ok() {
        // Floats of 8 bits are converted by a dozen instructions.
        let stored = |value: Value<'_>| value.ty().element_type().is_some_and(ElementType::is_float8);
        let expensive = name == "convert" && (stored(op.operand(0)) || stored(op.result(0)));
        return Class::Pointwise(if expensive { EXPENSIVE } else { CHEAP });
    }
    if EXPENSIVE_OPS.binary_search(&name).is_ok() {
        return Class::Pointwise(EXPENSIVE);
    }
    match name {
        "constant" if is_inline_constant(op) => Class::Source,
        "iota" | "splat" => Class::Source,
        "broadcast" | "transpose" | "slice" | "reverse" => Class::View(View::Plain),
        "pad" | "window" | "concat" => Class::View(View::Guarded),
        "reshape" => Class::View(View::Reshape),
        "gather" => Class::Gather,
        "reduce" | "arg_reduce" => Class::Reduce,
        "dot" | "conv" | "mix" | "softmax_dot" => Class::Contract,
        _ => Class::Alone,
    }
}

/// Whether an op may be made again for each reader instead of sharing one value.
pub fn is_free(op: Op<'_>) -> bool {
    match classify(op) {
        Class::Source | Class::View(View::Plain | View::Reshape) => true,
        Class::Pointwise(_) | Class::View(View::Guarded) | Class::Gather | Class::Reduce | Class::Contract | Class::Alone => false,
    }
}

/// Whether a view puts elements next to each other that were apart: then a copy is faster to read than the view.
pub fn reorders(op: Op<'_>) -> bool {
    op.isa::<prim::Transpose>()
}

/// Whether executing the op does nothing but compute its results.
pub fn is_pure(op: Op<'_>) -> bool {
    matches!(op.dialect(), "prim" | "arith" | "math" | "complex" | "affine" | "tensor") || op.is(Permute::NAME)
}
