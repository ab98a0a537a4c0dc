//! The element types that ATen gives, where one rule says it: a program that declares others was not written by PyTorch.
//!
//! These are checks of what a file says, not what lowerings go by, so an operator that is in no list is not checked.

use strata_core::ir::Value;

use super::dtype::{DType, Numeric, Weight, result_type};
use super::schema::Kind;
use super::view::{AtenOp, Scalar};

/// Of one rule each, by the name without overload.
const BOOL: &[&str] = &[
    "eq",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "signbit",
];
const INDEX: &[&str] = &["argmax", "argmin", "argsort", "nonzero"];
const SAME: &[&str] = &[
    "alias",
    "as_strided",
    "broadcast_to",
    "ceil",
    "chunk",
    "clone",
    "constant_pad_nd",
    "contiguous",
    "detach",
    "diagonal",
    "expand",
    "expand_as",
    "flatten",
    "flip",
    "floor",
    "gather",
    "index",
    "index_select",
    "lift_fresh_copy",
    "masked_fill",
    "movedim",
    "narrow",
    "neg",
    "permute",
    "ravel",
    "relu",
    "repeat",
    "reshape",
    "reshape_as",
    "roll",
    "round",
    "select",
    "sgn",
    "sign",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "t",
    "tril",
    "triu",
    "transpose",
    "trunc",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view_as",
];
const PROMOTED: &[&str] = &[
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "fmax",
    "fmin",
    "fmod",
    "maximum",
    "minimum",
    "mul",
    "pow",
    "remainder",
    "rsub",
    "sub",
];
const FLOAT: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "true_divide",
];

/// What the element types of an op's results must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// This one.
    Exactly(DType),
    /// Any float: the default type, which a program may have set.
    Float,
}

impl Wanted {
    /// Whether a type is a wanted one.
    pub fn is(self, dtype: DType) -> bool {
        match self {
            Wanted::Exactly(wanted) => wanted == dtype,
            Wanted::Float => matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64),
        }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wanted::Exactly(dtype) => write!(f, "{dtype}"),
            Wanted::Float => f.write_str("a float type"),
        }
    }
}

/// What ATen gives for the op's arguments, if that is known here. Reading fails where the op does not fit its schema.
pub fn results(op: &AtenOp<'_>) -> Option<Wanted> {
    let schema = op.schema();
    let (name, overload) = schema.name.strip_prefix("aten.")?.split_once('.').unwrap_or((schema.name.strip_prefix("aten.")?, ""));
    if schema.has("inplace") {
        return itself(op);
    }
    match name {
        _ if BOOL.contains(&name) => Some(Wanted::Exactly(DType::Bool)),
        _ if INDEX.contains(&name) => Some(Wanted::Exactly(DType::I64)),
        _ if SAME.contains(&name) || name == "view" && overload.is_empty() => itself(op),
        _ if PROMOTED.contains(&name) => promoted(op).map(Wanted::Exactly),
        // With a rounding mode the quotient of integers is one.
        _ if FLOAT.contains(&name) || name == "div" && !overload.ends_with("_mode") => Some(match promoted(op)? {
            whole if whole.is_integral() => Wanted::Float,
            dtype => Wanted::Exactly(dtype),
        }),
        _ => None,
    }
}

fn itself(op: &AtenOp<'_>) -> Option<Wanted> {
    op.tensor("self").ok()?.ty().element_type().map(Wanted::Exactly)
}

/// The type that all tensors and numbers promote to; `alpha` only scales.
fn promoted(op: &AtenOp<'_>) -> Option<DType> {
    let mut operands = Vec::new();
    for arg in op.schema().args.iter().filter(|arg| arg.name != "alpha") {
        if arg.ty.is_tensor() {
            let value = op.tensor(arg.name).ok()?;
            operands.push((value.ty().element_type()?, weight(value)));
        } else if arg.ty.kind == Kind::Scalar {
            operands.push((number(op.scalar(arg.name).ok()?)?, Weight::Number));
        }
    }
    (!operands.is_empty()).then(|| result_type(&operands))
}

fn weight(value: Value<'_>) -> Weight {
    if value.ty().rank() == 0 { Weight::ZeroDim } else { Weight::Dimensioned }
}

/// A Python number's type in promotion.
fn number(scalar: Scalar<'_>) -> Option<DType> {
    Some(match scalar {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::Float(_) => DType::F32,
        Scalar::Complex(..) => DType::C64,
        Scalar::Value(value) => match value.ty().element_type()? {
            DType::Bool => DType::Bool,
            dtype if dtype.is_float() => DType::F32,
            _ => DType::I64,
        },
    })
}
