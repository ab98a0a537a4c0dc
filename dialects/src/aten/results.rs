//! What an operator gives, before anything is computed: how many results, and of which element types.
//!
//! [`super::infer`] checks what a file says; here are the types themselves, for programs that say none. Sizes are not here: the
//! decomposition of an operator computes them.

use super::dtype::{DType, Numeric, Weight, result_type};
use super::infer::{self, Wanted};
use super::schema::Kind;
use super::view::{AtenOp, Scalar, Size};
use super::{Operator, op};

/// The number of results with lists flattened, where the arguments tell it.
pub fn count(op: &AtenOp<'_>) -> Option<usize> {
    let schema = op.schema();
    if !schema.returns.iter().any(|returned| returned.ty.list) {
        return Some(schema.returns.len());
    }
    let pieces = pieces(op)?;
    // A program of more is not one that somebody wrote.
    usize::try_from(pieces).ok().filter(|count| *count <= MAX_PIECES)
}

const MAX_PIECES: usize = 1 << 16;

/// The length of the list that an operator returns.
fn pieces(op: &AtenOp<'_>) -> Option<i64> {
    let size = |dim: i64| -> Option<i64> {
        let shape = op.tensor("self").ok()?.ty().shape();
        let dim = if dim < 0 { dim.checked_add(shape.len() as i64)? } else { dim };
        shape.get(usize::try_from(dim).ok()?).copied().filter(|size| *size >= 0)
    };
    let dim = || op.int("dim").ok();
    let sections = |name: &str| match op.size(name).ok()? {
        Size::Const(sections) => Some(sections),
        Size::Value(_) => None,
    };
    let indices = || Some(op.ints("indices").ok()?.len() as i64 + 1);
    match Operator::of(op.op())? {
        op::UNBIND_INT | op::UNBIND_COPY_INT => size(dim()?),
        op::SPLIT_TENSOR | op::SPLIT_COPY_TENSOR | op::UNSAFE_SPLIT_TENSOR => match (size(dim()?)?, sections("split_size")?) {
            (0, _) | (_, 0) => Some(1),
            (size, piece) if piece > 0 => Some(size.checked_add(piece - 1)? / piece),
            _ => None,
        },
        op::SPLIT_WITH_SIZES | op::SPLIT_WITH_SIZES_COPY | op::UNSAFE_SPLIT_WITH_SIZES => Some(op.ints("split_sizes").ok()?.len() as i64),
        op::SPLIT_SIZES => Some(op.ints("split_size").ok()?.len() as i64),
        op::CHUNK | op::UNSAFE_CHUNK => match (size(dim()?)?, sections("chunks")?) {
            (0, chunks) => Some(chunks),
            (size, chunks) if chunks > 0 => {
                let piece = size.checked_add(chunks - 1)? / chunks;
                Some(size.checked_add(piece - 1)? / piece)
            }
            _ => None,
        },
        op::TENSOR_SPLIT_SECTIONS | op::HSPLIT_INT | op::VSPLIT_INT | op::DSPLIT_INT => sections("sections"),
        op::TENSOR_SPLIT_INDICES | op::HSPLIT_ARRAY | op::VSPLIT_ARRAY | op::DSPLIT_ARRAY => indices(),
        // One of rank 0 is taken for a line.
        op::WHERE | op::NONZERO_NUMPY => Some(op.tensor(op.schema().args[0].name).ok()?.ty().rank().max(1) as i64),
        // A gradient along each dimension that is asked for, or along all.
        _ if name(op.op().name()) == "gradient" => match (op.schema().position("dim"), op.opt_ints("dim"), op.opt_size("dim")) {
            (Some(_), Ok(Some(dims)), _) => Some(dims.len() as i64),
            (Some(_), _, Ok(Some(_))) => Some(1),
            _ => Some(op.tensor("self").ok()?.ty().rank() as i64),
        },
        _ => Some(op.tensors(op.schema().tensor_args().find(|arg| arg.ty.list)?.name).ok()?.len() as i64),
    }
}

/// Gives floats of the default type where no type is asked for.
const DEFAULT: &[&str] = &[
    "bartlett_window",
    "blackman_window",
    "empty",
    "empty_permuted",
    "empty_strided",
    "eye",
    "fft_fftfreq",
    "fft_rfftfreq",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "rand",
    "randn",
    "scalar_tensor",
    "zeros",
];
/// Gives whole numbers where no type is asked for.
const WHOLE: &[&str] = &["bucketize", "count_nonzero", "randint", "randperm", "searchsorted", "tril_indices", "triu_indices"];
/// Adds up in `i64` what is whole.
const ADDS: &[&str] = &["cumprod", "cumsum", "nansum", "prod", "sum", "sum_to_size", "trace"];
/// Says whether something holds, in bool (in `ui8` of `ui8`).
const TRUTH: &[&str] = &["all", "any"];
/// Of the type of `self`, whatever else they are given.
const SELF: &[&str] = &[
    "bernoulli",
    "binomial",
    "clamp_max",
    "clamp_min",
    "copy",
    "dist",
    "empty_like",
    "exponential",
    "fill",
    "full_like",
    "geometric",
    "log_normal",
    "masked_scatter",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "norm",
    "ones_like",
    "poisson",
    "put",
    "rand_like",
    "randint_like",
    "randn_like",
    "random",
    "renorm",
    "resize",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "uniform",
    "zeros_like",
];

/// The element type of result `index`, where the arguments tell it without the operator's formula.
pub fn dtype(op: &AtenOp<'_>, index: usize) -> Option<DType> {
    let schema = op.schema();
    let returned = schema.returns.get(index.min(schema.returns.len().checked_sub(1)?))?;
    if let Some(alias) = returned.alias.filter(|alias| alias.ends_with('!')) {
        let written = schema.args.iter().find(|arg| arg.alias == Some(alias))?;
        return op.tensors(written.name).ok()?.get(if written.ty.list { index } else { 0 })?.ty().element_type();
    }
    let name = name(schema.name);
    for asked in ["dtype", "out_dtype", "output_dtype"] {
        let typed = schema.arg(asked).is_some_and(|arg| arg.ty.kind == Kind::ScalarType);
        if let Some(dtype) = op.dtype(asked).ok().flatten().filter(|_| typed) {
            return Some(dtype);
        }
    }
    match infer::results(op) {
        Some(Wanted::Exactly(dtype)) => return Some(dtype),
        Some(Wanted::Float) => return Some(DType::F32),
        None => {}
    }
    match name {
        "arange" | "full" | "range" => {
            let number = |arg: &super::schema::Arg| op.opt_scalar(arg.name).ok().flatten();
            let numbers = schema.args.iter().filter(|arg| arg.ty.kind == Kind::Scalar).filter_map(number);
            Some(numbers.map(Scalar::dtype).max_by_key(|dtype| dtype.category()).unwrap_or(DType::F32)).map(|dtype| match (name, dtype) {
                ("arange", DType::Bool) => DType::I64,
                ("range", dtype) => dtype.to_float(),
                (_, dtype) => dtype,
            })
        }
        _ if DEFAULT.contains(&name) => Some(DType::F32),
        "bucketize" | "searchsorted" if op.bool("out_int32").is_ok_and(|small| small) => Some(DType::I32),
        "bincount" => Some(match op.opt_tensor("weights").ok()?.map(|weights| weights.ty().element_type()) {
            None => DType::I64,
            Some(Some(DType::F32)) => DType::F32,
            Some(_) => DType::F64,
        }),
        "square" => op.tensor("self").ok()?.ty().element_type().map(|dtype| if dtype == DType::Bool { DType::I64 } else { dtype }),
        "avg_pool1d" | "avg_pool2d" | "avg_pool3d" => op.tensor("self").ok()?.ty().element_type(),
        // Without `return_complex` the parts stand in a last dimension.
        "stft" => promoted(op)
            .map(|dtype| if op.opt_bool("return_complex").is_ok_and(|asked| asked == Some(true)) { dtype.to_complex() } else { dtype }),
        "special_erfcx" | "trapezoid" | "trapz" | "cumulative_trapezoid" => promoted(op).map(Numeric::to_float),
        "feature_alpha_dropout" if !op.bool("train").ok()? => op.tensor("input").ok()?.ty().element_type(),
        _ if WHOLE.contains(&name) => Some(DType::I64),
        _ if ADDS.contains(&name) => promoted(op).map(|dtype| if dtype.is_integral() { DType::I64 } else { dtype }),
        _ if TRUTH.contains(&name) => promoted(op).map(|dtype| if dtype == DType::U8 { dtype } else { DType::Bool }),
        _ if SELF.contains(&name) => op.tensor(schema.tensor_args().next()?.name).ok()?.ty().element_type(),
        _ => None,
    }
}

/// The type that all tensors of an op promote to.
pub fn promoted(op: &AtenOp<'_>) -> Option<DType> {
    let tensors = op.op().operand_types().into_iter().filter(|ty| ty.is_tensor());
    let weighed = tensors.filter_map(|ty| Some((ty.element_type()?, if ty.rank() == 0 { Weight::ZeroDim } else { Weight::Dimensioned })));
    let weighed: Vec<_> = weighed.collect();
    (!weighed.is_empty()).then(|| result_type(&weighed))
}

/// The name without library and overload.
fn name(full: &str) -> &str {
    full.split('.').nth(1).unwrap_or(full)
}
