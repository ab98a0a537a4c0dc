//! Ops of one result, as operators of `aten`.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::{Operator, op};

use super::attributes::{field, int, ints, layouts, text};
use super::importer::{Importer, dtype, ty};
use crate::args::{self, Arg, b, d, f, i, is, s, t, ts};

/// Ops that are one operator of their operands, sorted.
const PLAIN: &[(&str, Operator)] = &[
    ("abs", op::ABS),
    ("acos", op::ACOS),
    ("acosh", op::ACOSH),
    ("add", op::ADD_TENSOR),
    ("asin", op::ASIN),
    ("asinh", op::ASINH),
    ("atan", op::ATAN),
    ("atan2", op::ATAN2),
    ("atanh", op::ATANH),
    ("ceil", op::CEIL),
    ("conj", op::CONJ_PHYSICAL),
    ("cosh", op::COSH),
    ("cosine", op::COS),
    ("digamma", op::DIGAMMA),
    ("erf", op::ERF),
    ("erf_inv", op::ERFINV),
    ("erfc", op::ERFC),
    ("exponential", op::EXP),
    ("exponential_minus_one", op::EXPM1),
    ("floor", op::FLOOR),
    ("imag", op::IMAG),
    ("is_finite", op::ISFINITE),
    ("is_inf", op::ISINF),
    ("lgamma", op::LGAMMA),
    ("log", op::LOG),
    ("log_plus_one", op::LOG1P),
    ("logistic", op::SIGMOID),
    ("maximum", op::MAXIMUM),
    ("minimum", op::MINIMUM),
    ("multiply", op::MUL_TENSOR),
    ("negate", op::NEG),
    ("power", op::POW_TENSOR_TENSOR),
    ("real", op::REAL),
    ("remainder", op::FMOD_TENSOR),
    ("round_nearest_even", op::ROUND),
    ("rsqrt", op::RSQRT),
    ("select", op::WHERE_SELF),
    ("shift_left", op::BITWISE_LEFT_SHIFT_TENSOR),
    ("shift_right_arithmetic", op::BITWISE_RIGHT_SHIFT_TENSOR),
    ("sign", op::SGN),
    ("sine", op::SIN),
    ("sinh", op::SINH),
    ("sqrt", op::SQRT),
    ("square", op::SQUARE),
    ("subtract", op::SUB_TENSOR),
    ("tan", op::TAN),
    ("tanh", op::TANH),
];

pub(super) type Made<'c> = Result<ir::Value<'c>, String>;

/// Imports an op with one result.
pub(super) fn import<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, name: &str, operands: &[ir::Value<'c>]) -> Made<'c> {
    if let Ok(place) = PLAIN.binary_search_by_key(&name, |(name, _)| name) {
        let inputs: Vec<_> = operands.iter().map(|operand| t(*operand)).collect();
        return m.emit(PLAIN[place].1, &inputs);
    }
    let result = op.result_types().into_iter().next().ok_or("it has no result")?;
    let result = ty(m.cx, result)?;
    match (name, operands) {
        ("and" | "or" | "xor", [x, y]) => {
            let bool = dtype(*x) == ElementType::Bool;
            let operator = match (name, bool) {
                ("and", true) => op::LOGICAL_AND,
                ("or", true) => op::LOGICAL_OR,
                ("xor", true) => op::LOGICAL_XOR,
                ("and", false) => op::BITWISE_AND_TENSOR,
                ("or", false) => op::BITWISE_OR_TENSOR,
                _ => op::BITWISE_XOR_TENSOR,
            };
            m.emit(operator, &[t(*x), t(*y)])
        }
        ("not", [x]) => m.emit(if dtype(*x) == ElementType::Bool { op::LOGICAL_NOT } else { op::BITWISE_NOT }, &[t(*x)]),
        ("divide", [x, y]) if dtype(*x).is_integer() => m.emit(op::DIV_TENSOR_MODE, &[t(*x), t(*y), args::text("trunc")]),
        ("divide", [x, y]) => m.emit(op::DIV_TENSOR, &[t(*x), t(*y)]),
        ("clamp", [low, x, high]) => m.emit(op::CLAMP_TENSOR, &[t(*x), t(*low), t(*high)]),
        ("cbrt", [x]) => {
            let (sign, size) = (m.emit(op::SGN, &[t(*x)])?, m.emit(op::ABS, &[t(*x)])?);
            let root = m.emit(op::POW_TENSOR_SCALAR, &[t(size), f(1.0 / 3.0)])?;
            m.emit(op::MUL_TENSOR, &[t(sign), t(root)])
        }
        ("complex", [x, y]) => m.emit(op::COMPLEX, &[t(*x), t(*y)]),
        ("convert", [x]) => m.emit(op::TO_DTYPE, &[t(*x), d(result.element_type().ok_or("it has no element type")?)]),
        ("constant", []) => m.constant(op),
        ("compare", [x, y]) => compare(m, op, *x, *y),
        ("broadcast_in_dim", [x]) => {
            let dims = ints(op, "broadcast_dimensions")?;
            let mut sizes = vec![1; result.rank()];
            for (dim, size) in dims.iter().zip(x.ty().shape()) {
                *usize::try_from(*dim).ok().and_then(|dim| sizes.get_mut(dim)).ok_or("a dimension is none of its result")? = size;
            }
            let shaped = m.emit(op::RESHAPE, &[t(*x), is(&sizes)])?;
            m.emit(op::EXPAND, &[t(shaped), is(&result.shape())])
        }
        ("reshape", [x]) => m.emit(op::RESHAPE, &[t(*x), is(&result.shape())]),
        ("transpose", [x]) => m.emit(op::PERMUTE, &[t(*x), is(&ints(op, "permutation")?)]),
        ("reverse", [x]) => m.emit(op::FLIP, &[t(*x), is(&ints(op, "dimensions")?)]),
        ("concatenate", parts) => m.emit(op::CAT, &[ts(parts), i(int(op, "dimension")?)]),
        ("iota", []) => {
            let (shape, dim) = (result.shape(), int(op, "iota_dimension")?);
            let size = usize::try_from(dim).ok().and_then(|dim| shape.get(dim)).ok_or("its dimension is none of its result")?;
            let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(*size), s(1), d(result.element_type().ok_or("it has no element type")?)])?;
            let sizes: Vec<_> = (0..shape.len() as i64).map(|place| if place == dim { -1 } else { 1 }).collect();
            let line = m.emit(op::RESHAPE, &[t(line), is(&sizes)])?;
            m.emit(op::EXPAND, &[t(line), is(&shape)])
        }
        ("slice", [x]) => {
            let (starts, ends, steps) = (ints(op, "start_indices")?, ints(op, "limit_indices")?, ints(op, "strides")?);
            let bounds = starts.iter().zip(&ends).zip(&steps).enumerate();
            bounds.into_iter().try_fold(*x, |x, (dim, ((start, end), step))| {
                m.emit(op::SLICE_TENSOR, &[t(x), i(dim as i64), i(*start), i(*end), i(*step)])
            })
        }
        ("dynamic_slice", [x, starts @ ..]) => {
            let sizes = ints(op, "slice_sizes")?;
            let mut x = *x;
            for (dim, (start, size)) in starts.iter().zip(&sizes).enumerate() {
                let places = places(m, x.ty().shape()[dim], *start, *size)?;
                x = m.emit(op::INDEX_SELECT, &[t(x), i(dim as i64), t(places)])?;
            }
            Ok(x)
        }
        ("dynamic_update_slice", [x, update, starts @ ..]) => {
            let (sizes, rank) = (update.ty().shape(), starts.len());
            let mut list = Vec::new();
            for (dim, start) in starts.iter().enumerate() {
                let places = places(m, x.ty().shape()[dim], *start, sizes[dim])?;
                let line: Vec<_> = (0..rank).map(|place| if place == dim { -1 } else { 1 }).collect();
                list.push(Some(m.emit(op::RESHAPE, &[t(places), is(&line)])?));
            }
            if rank == 0 {
                return Ok(*update);
            }
            m.emit(op::INDEX_PUT, &[t(*x), Some(strata_dialects::aten::Input::OptTensors(list)), t(*update)])
        }
        ("pad", [x, value]) => pad(m, op, *x, *value),
        ("dot_general", [x, y]) => dot(m, op, *x, *y),
        ("convolution", [x, weight]) => convolution(m, op, *x, *weight),
        ("gather", [x, starts]) => super::window::gather(m, op, *x, *starts),
        ("reduce", [x, first]) => reduce(m, op, *x, *first),
        ("reduce_window", [x, first]) => super::window::reduce(m, op, *x, *first),
        _ => Err("it has no counterpart here; lower it to other ops of StableHLO".to_owned()),
    }
}

fn compare<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, y: ir::Value<'c>) -> Made<'c> {
    let how = text(op, "comparison_direction");
    let operator = [
        ("EQ", op::EQ_TENSOR),
        ("GE", op::GE_TENSOR),
        ("GT", op::GT_TENSOR),
        ("LE", op::LE_TENSOR),
        ("LT", op::LT_TENSOR),
        ("NE", op::NE_TENSOR),
    ];
    let found = operator.iter().find(|(name, _)| how.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word == *name));
    m.emit(found.ok_or_else(|| format!("its comparison_direction {how} is not known"))?.1, &[t(x), t(y)])
}

/// The places of a slice, which is moved into the tensor.
fn places<'c>(m: &mut Importer<'_, '_, 'c>, whole: i64, start: ir::Value<'c>, size: i64) -> Made<'c> {
    let start = m.emit(op::TO_DTYPE, &[t(start), d(ElementType::I64)])?;
    let start = m.emit(op::CLAMP, &[t(start), s(0), s(whole.saturating_sub(size).max(0))])?;
    let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(size), s(1), d(ElementType::I64)])?;
    m.emit(op::ADD_TENSOR, &[t(line), t(start)])
}

fn pad<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, value: ir::Value<'c>) -> Made<'c> {
    let (low, high) = (ints(op, "edge_padding_low")?, ints(op, "edge_padding_high")?);
    if ints(op, "interior_padding")?.iter().any(|pad| *pad != 0) {
        return Err("padding between elements is not imported".to_owned());
    }
    let pads: Vec<_> = low.iter().zip(&high).rev().flat_map(|(low, high)| [*low, *high]).collect();
    padded(m, x, &pads, value)
}

/// A tensor with a value of the program around it; the last dimension's pads first.
pub(super) fn padded<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, pads: &[i64], value: ir::Value<'c>) -> Made<'c> {
    let inside = m.emit(op::ONES_LIKE, &[t(x), d(ElementType::Bool)])?;
    let inside = m.emit(op::CONSTANT_PAD_ND, &[t(inside), is(pads), b(false)])?;
    let padded = m.emit(op::CONSTANT_PAD_ND, &[t(x), is(pads), s(0)])?;
    m.emit(op::WHERE_SELF, &[t(inside), t(padded), t(value)])
}

/// A product of tensors as a sum over letters.
fn dot<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, y: ir::Value<'c>) -> Made<'c> {
    let numbers = text(op, "dot_dimension_numbers");
    let list = |name: &str| field(&numbers, name);
    let (x_batch, y_batch) = (list("lhs_batching_dimensions"), list("rhs_batching_dimensions"));
    let (x_sum, y_sum) = (list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions"));
    let (ranks, mut letters) = ([x.ty().rank(), y.ty().rank()], ('a'..='z').chain('A'..='Z'));
    let mut names = [vec![None; ranks[0]], vec![None; ranks[1]]];
    let (mut out, none) = (String::new(), || "its dimensions are none of its operands".to_owned());
    for (summed, pairs) in [(false, x_batch.iter().zip(&y_batch)), (true, x_sum.iter().zip(&y_sum))] {
        for (a, b) in pairs {
            let letter = letters.next().ok_or_else(none)?;
            for (side, dim) in [a, b].into_iter().enumerate() {
                *usize::try_from(*dim).ok().and_then(|dim| names[side].get_mut(dim)).ok_or_else(none)? = Some(letter);
            }
            if !summed {
                out.push(letter);
            }
        }
    }
    for side in &mut names {
        for name in side.iter_mut().filter(|name| name.is_none()) {
            let letter = letters.next().ok_or_else(none)?;
            *name = Some(letter);
            out.push(letter);
        }
    }
    let spelled = |side: &[Option<char>]| side.iter().flatten().collect::<String>();
    let equation = format!("{},{}->{out}", spelled(&names[0]), spelled(&names[1]));
    m.emit(op::EINSUM, &[args::text(&equation), ts(&[x, y])])
}

/// Batch and features first, then the spatial dimensions, as `aten` has them.
fn convolution<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, weight: ir::Value<'c>) -> Made<'c> {
    let layouts = layouts(&text(op, "dimension_numbers")).ok_or("its dimension_numbers are not read")?;
    let rank = x.ty().rank().checked_sub(2).ok_or("it has no spatial dimensions")?;
    let order = |layout: &[String], first: [&str; 2]| -> Result<Vec<i64>, String> {
        let spatial: Vec<_> = (0..rank).map(|dim| dim.to_string()).collect();
        let wanted = first.into_iter().chain(spatial.iter().map(String::as_str));
        let place = |name: &str| layout.iter().position(|part| part == name).map(|place| place as i64);
        wanted.map(|name| place(name).ok_or_else(|| format!("its layout has no dimension `{name}`"))).collect()
    };
    let list = |name: &str| op.ints(name).unwrap_or_else(|| vec![1; rank]);
    if list("lhs_dilation").iter().any(|step| *step != 1) || op.int("batch_group_count").is_some_and(|count| count != 1) {
        return Err("dilated inputs and groups of batches are not imported".to_owned());
    }
    let pads = op.attr("padding").and_then(|pads| pads.as_dense());
    let mut flat = Vec::new();
    if let Some((bytes, splat)) = pads {
        let pads: Vec<i64> = bytes.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect();
        let pads = if splat { vec![pads.first().copied().unwrap_or(0); 2 * rank] } else { pads };
        flat.extend(pads.chunks_exact(2).rev().flatten());
    }
    let mut x = m.emit(op::PERMUTE, &[t(x), is(&order(&layouts[0], ["b", "f"])?)])?;
    if flat.iter().any(|pad| *pad != 0) {
        x = m.emit(op::CONSTANT_PAD_ND, &[t(x), is(&flat), s(0)])?;
    }
    let weight = m.emit(op::PERMUTE, &[t(weight), is(&order(&layouts[1], ["o", "i"])?)])?;
    let none: Arg<'c> = is(&vec![0; rank]);
    let (strides, dilations) = (is(&list("window_strides")), is(&list("rhs_dilation")));
    let groups = i(op.int("feature_group_count").unwrap_or(1));
    let inputs = [t(x), t(weight), Some(strata_dialects::aten::Input::None), strides, none.clone(), dilations, b(false), none, groups];
    let result = m.emit(op::CONVOLUTION, &inputs)?;
    let back = order(&layouts[2], ["b", "f"])?;
    let mut inverse = vec![0; back.len()];
    for (from, to) in back.iter().enumerate() {
        *inverse.get_mut(*to as usize).ok_or("its layout has other dimensions")? = from as i64;
    }
    m.emit(op::PERMUTE, &[t(result), is(&inverse)])
}

/// A reduction whose region is one op, with its first value.
fn reduce<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, first: ir::Value<'c>) -> Made<'c> {
    let dims = ints(op, "dimensions")?;
    reduced(m, op, x, dims, first)
}

/// A tensor reduced along dimensions by the one op of a region, together with a first value.
pub(super) fn reduced<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    x: ir::Value<'c>,
    dims: Vec<i64>,
    first: ir::Value<'c>,
) -> Made<'c> {
    let body = op.regions().first().and_then(|region| region.entry()).ok_or("it has no region")?;
    let ops = body.ops();
    let inner = ops.first().filter(|_| ops.len() == 2).map(|op| op.name().trim_start_matches("stablehlo.")).unwrap_or_default();
    let dtype = dtype(x);
    let bool = dtype == ElementType::Bool;
    let (reduced, join) = match (inner, bool) {
        _ if dims.is_empty() => (x, None),
        ("add", false) => (m.emit(op::SUM_DIM_INTLIST, &[t(x), is(&dims), b(false), d(dtype)])?, Some(op::ADD_TENSOR)),
        ("maximum", false) => (m.emit(op::AMAX, &[t(x), is(&dims)])?, Some(op::MAXIMUM)),
        ("minimum", false) => (m.emit(op::AMIN, &[t(x), is(&dims)])?, Some(op::MINIMUM)),
        ("and" | "minimum" | "multiply", true) => (m.emit(op::ALL_DIMS, &[t(x), is(&dims)])?, Some(op::LOGICAL_AND)),
        ("or" | "maximum" | "add", true) => (m.emit(op::ANY_DIMS, &[t(x), is(&dims)])?, Some(op::LOGICAL_OR)),
        ("multiply", false) => {
            let (mut dims, mut product) = (dims, x);
            dims.sort_unstable();
            for dim in dims.into_iter().rev() {
                product = m.emit(op::PROD_DIM_INT, &[t(product), i(dim), b(false), d(dtype)])?;
            }
            (product, Some(op::MUL_TENSOR))
        }
        (other, _) => return Err(format!("a reduction by `{other}` of {dtype} is not imported")),
    };
    match join {
        Some(join) => m.emit(join, &[t(reduced), t(first)]),
        None => Ok(reduced),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        for pair in PLAIN.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} stands before {}", pair[0].0, pair[1].0);
        }
    }
}
