//! Ops without functions, as operators of `aten`.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::{Input, Operator, op};

use super::attributes::{int, ints, pairs, text, word};
use super::importer::{self, Importer, dtype};
use super::{bits, index, linalg, product, random, reduce, region, sizes, sort, window};
use crate::args::{self, b, d, f, i, is, s, t, ts};

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
    ("bessel_i0e", op::SPECIAL_I0E),
    ("bessel_i1e", op::SPECIAL_I1E),
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
    ("is_neg_inf", op::ISNEGINF),
    ("is_pos_inf", op::ISPOSINF),
    ("lgamma", op::LGAMMA),
    ("log", op::LOG),
    ("log_plus_one", op::LOG1P),
    ("logistic", op::SIGMOID),
    ("maximum", op::MAXIMUM),
    ("minimum", op::MINIMUM),
    ("multiply", op::MUL_TENSOR),
    ("negate", op::NEG),
    ("next_after", op::NEXTAFTER),
    ("power", op::POW_TENSOR_TENSOR),
    ("real", op::REAL),
    ("remainder", op::FMOD_TENSOR),
    ("round_nearest_even", op::ROUND),
    ("rsqrt", op::RSQRT),
    ("select", op::WHERE_SELF),
    ("sine", op::SIN),
    ("sinh", op::SINH),
    ("sqrt", op::SQRT),
    ("square", op::SQUARE),
    ("subtract", op::SUB_TENSOR),
    ("tan", op::TAN),
    ("tanh", op::TANH),
    ("zeta", op::SPECIAL_ZETA),
];

/// Other ops that take each element by itself, sorted.
const ELEMENTWISE: &[&str] = &[
    "and",
    "cbrt",
    "clamp",
    "compare",
    "complex",
    "constant",
    "convert",
    "count_leading_zeros",
    "divide",
    "not",
    "or",
    "popcnt",
    "reduce_precision",
    "round_nearest_afz",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "xor",
];

/// Whether an op takes each element by itself.
pub(super) fn is_pointwise(name: &str) -> bool {
    PLAIN.binary_search_by_key(&name, |(name, _)| name).is_ok() || ELEMENTWISE.binary_search(&name).is_ok()
}

pub(super) type Made<'c> = Result<ir::Value<'c>, String>;

/// Imports an op without functions.
pub(super) fn import<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    name: &str,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, String> {
    match (name, operands) {
        ("reduce", all) => reduce::reduce(m, op, all),
        ("reduce_window", all) => window::reduce(m, op, all),
        ("select_and_scatter", all) => window::select_and_scatter(m, op, all),
        ("scatter", all) => index::scatter(m, op, all),
        ("sort", all) => sort::sort(m, op, all),
        ("top_k", [x]) => sort::top_k(m, op, *x),
        ("map", all) => {
            let (block, shape) = (region::block(op, 0)?, op.result(0).ty().shape());
            let results = region::apply(m, block, all)?;
            results.into_iter().map(|result| m.emit(op::EXPAND, &[t(result), is(&shape)])).collect()
        }
        ("custom_call", all) => linalg::custom_call(m, op, all),
        ("rng_bit_generator", [state]) => random::bit_generator(m, op, *state),
        _ => one(m, op, name, operands).map(|value| vec![value]),
    }
}

/// Imports an op with one result.
fn one<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, name: &str, operands: &[ir::Value<'c>]) -> Made<'c> {
    if let Ok(place) = PLAIN.binary_search_by_key(&name, |(name, _)| name) {
        let inputs: Vec<_> = operands.iter().map(|operand| t(*operand)).collect();
        return m.emit(PLAIN[place].1, &inputs);
    }
    if let Some(made) = sizes::import(m, op, name, operands) {
        return made;
    }
    let result = importer::result(m.cx, op, 0)?;
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
        ("broadcast_in_dim", [x]) => broadcast(m, op, *x, &result.shape()),
        ("reshape", [x]) => m.emit(op::RESHAPE, &[t(*x), is(&result.shape())]),
        ("transpose", [x]) => m.emit(op::PERMUTE, &[t(*x), is(&ints(op, "permutation")?)]),
        ("reverse", [x]) => m.emit(op::FLIP, &[t(*x), is(&ints(op, "dimensions")?)]),
        ("concatenate", parts) => m.emit(op::CAT, &[ts(parts), i(int(op, "dimension")?)]),
        ("iota", []) => iota(m, op, &result.shape()),
        ("slice", [x]) => slice(m, *x, &ints(op, "start_indices")?, &ints(op, "limit_indices")?, &ints(op, "strides")?),
        ("dynamic_slice", [x, starts @ ..]) => {
            let sizes = ints(op, "slice_sizes")?;
            let mut x = *x;
            if starts.len() != x.ty().rank() {
                return Err("it has other dimensions than its operand".to_owned());
            }
            for (dim, (start, size)) in starts.iter().zip(&sizes).enumerate() {
                let places = places(m, x.ty().shape()[dim], *start, *size)?;
                x = m.emit(op::INDEX_SELECT, &[t(x), i(dim as i64), t(places)])?;
            }
            Ok(x)
        }
        ("dynamic_update_slice", [x, update, starts @ ..]) => {
            let (sizes, rank) = (update.ty().shape(), starts.len());
            if sizes.len() != rank || x.ty().rank() != rank {
                return Err("it has other dimensions than its operand".to_owned());
            }
            let mut list = Vec::new();
            for (dim, start) in starts.iter().enumerate() {
                let places = places(m, x.ty().shape()[dim], *start, sizes[dim])?;
                let line: Vec<_> = (0..rank).map(|place| if place == dim { -1 } else { 1 }).collect();
                list.push(Some(m.emit(op::RESHAPE, &[t(places), is(&line)])?));
            }
            if rank == 0 {
                return Ok(*update);
            }
            m.emit(op::INDEX_PUT, &[t(*x), Some(Input::OptTensors(list)), t(*update)])
        }
        ("pad", [x, value]) => {
            let (low, high) = (ints(op, "edge_padding_low")?, ints(op, "edge_padding_high")?);
            padded_between(m, *x, (&low, &high, &ints(op, "interior_padding")?), *value)
        }
        ("dot_general", [x, y]) => product::dot(m, op, *x, *y, result),
        ("convolution", [x, weight]) => product::convolution(m, op, *x, *weight, pairs(op, "padding", x.ty().rank().saturating_sub(2))),
        ("gather", [x, starts]) => index::gather(m, op, *x, *starts, ints(op, "slice_sizes")?),
        ("bitcast_convert", [x]) => bits::bitcast(m, *x, result),
        ("shift_left" | "shift_right_arithmetic" | "shift_right_logical", [x, by]) => bits::shift(m, name, *x, *by),
        ("sign", [x]) if dtype(*x).is_float() => {
            // The sign of NaN is NaN.
            let (sign, nan) = (m.emit(op::SGN, &[t(*x)])?, m.emit(op::ISNAN, &[t(*x)])?);
            m.emit(op::WHERE_SELF, &[t(nan), t(*x), t(sign)])
        }
        ("sign", [x]) => m.emit(op::SGN, &[t(*x)]),
        ("popcnt", [x]) => bits::population(m, *x),
        ("count_leading_zeros", [x]) => bits::leading_zeros(m, *x),
        ("reduce_precision", [x]) => bits::reduce_precision(m, op, *x),
        ("round_nearest_afz", [x]) => {
            // Away from zero where the rest is a half or more.
            let whole = m.emit(op::TRUNC, &[t(*x)])?;
            let (rest, sign) = (m.emit(op::SUB_TENSOR, &[t(*x), t(whole)])?, m.emit(op::SGN, &[t(*x)])?);
            let rest = m.emit(op::ABS, &[t(rest)])?;
            let away = m.emit(op::GE_SCALAR, &[t(rest), f(0.5)])?;
            let further = m.emit(op::ADD_TENSOR, &[t(whole), t(sign)])?;
            m.emit(op::WHERE_SELF, &[t(away), t(further), t(whole)])
        }
        ("fft", [x]) => linalg::fft(m, op, *x),
        ("cholesky", [a]) => linalg::cholesky(m, op, *a),
        ("triangular_solve", [a, y]) => linalg::triangular_solve(m, op, *a, *y),
        _ => Err("it has no counterpart here; lower it to other ops of StableHLO".to_owned()),
    }
}

fn compare<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, y: ir::Value<'c>) -> Made<'c> {
    let total = dtype(x).is_float() && region::is_total(op);
    let (x, y) = if total { (bits::total_order(m, x)?, bits::total_order(m, y)?) } else { (x, y) };
    let operator = match word(op, "comparison_direction", &["EQ", "GE", "GT", "LE", "LT", "NE"]) {
        Some("EQ") => op::EQ_TENSOR,
        Some("GE") => op::GE_TENSOR,
        Some("GT") => op::GT_TENSOR,
        Some("LE") => op::LE_TENSOR,
        Some("LT") => op::LT_TENSOR,
        Some("NE") => op::NE_TENSOR,
        _ => return Err(format!("its comparison_direction {} is not known", text(op, "comparison_direction"))),
    };
    m.emit(operator, &[t(x), t(y)])
}

/// The places of a slice, which is moved into the tensor.
fn places<'c>(m: &mut Importer<'_, '_, 'c>, whole: i64, start: ir::Value<'c>, size: i64) -> Made<'c> {
    let start = m.emit(op::TO_DTYPE, &[t(start), d(ElementType::I64)])?;
    let start = m.emit(op::CLAMP, &[t(start), s(0), s(whole.saturating_sub(size).max(0))])?;
    let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(size), s(1), d(ElementType::I64)])?;
    m.emit(op::ADD_TENSOR, &[t(line), t(start)])
}

/// A tensor in the sizes of another, whose dimensions its own are.
pub(super) fn broadcast<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>, shape: &[i64]) -> Made<'c> {
    let dims = ints(op, "broadcast_dimensions")?;
    let mut sizes = vec![1; shape.len()];
    for (dim, size) in dims.iter().zip(x.ty().shape()) {
        *usize::try_from(*dim).ok().and_then(|dim| sizes.get_mut(dim)).ok_or("a dimension is none of its result")? = size;
    }
    let shaped = m.emit(op::RESHAPE, &[t(x), is(&sizes)])?;
    m.emit(op::EXPAND, &[t(shaped), is(shape)])
}

/// The index along a dimension.
pub(super) fn iota<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, shape: &[i64]) -> Made<'c> {
    let (result, dim) = (importer::result(m.cx, op, 0)?, int(op, "iota_dimension")?);
    let element = result.element_type().ok_or("it has no element type")?;
    let size = usize::try_from(dim).ok().and_then(|dim| shape.get(dim)).ok_or("its dimension is none of its result")?;
    let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(*size), s(1), d(element)])?;
    let sizes: Vec<_> = (0..shape.len() as i64).map(|place| if place == dim { -1 } else { 1 }).collect();
    let line = m.emit(op::RESHAPE, &[t(line), is(&sizes)])?;
    m.emit(op::EXPAND, &[t(line), is(shape)])
}

/// A part of a tensor.
pub(super) fn slice<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, starts: &[i64], ends: &[i64], steps: &[i64]) -> Made<'c> {
    starts
        .iter()
        .zip(ends)
        .zip(steps)
        .enumerate()
        .try_fold(x, |x, (dim, ((start, end), step))| m.emit(op::SLICE_TENSOR, &[t(x), i(dim as i64), i(*start), i(*end), i(*step)]))
}

/// A tensor with a value around it, so many times in front and behind of each dimension, and between its elements.
pub(super) fn padded_between<'c>(
    m: &mut Importer<'_, '_, 'c>,
    x: ir::Value<'c>,
    (low, high, between): (&[i64], &[i64], &[i64]),
    value: ir::Value<'c>,
) -> Made<'c> {
    let x = interleaved(m, x, between, value)?;
    padded(m, x, &low.iter().zip(high).map(|(low, high)| [*low, *high]).collect::<Vec<_>>(), value)
}

/// A tensor with a value of the program around it, so many times in front and behind of each dimension; less than none cuts off.
pub(super) fn padded<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, pads: &[[i64; 2]], value: ir::Value<'c>) -> Made<'c> {
    if pads.iter().flatten().all(|pad| *pad == 0) {
        return Ok(x);
    }
    let shape = x.ty().shape();
    let flat: Vec<_> = pads.iter().rev().flatten().copied().collect();
    if shape.iter().zip(pads).any(|(size, [low, high])| size.saturating_add(*low.min(&0)).saturating_add(*high.min(&0)) < 0) {
        return Err("it cuts off more than there is".to_owned());
    }
    if let Some(number) = m.number(value) {
        return m.emit(op::CONSTANT_PAD_ND, &[t(x), is(&flat), Some(Input::Scalar(number))]);
    }
    let inside = m.emit(op::ONES_LIKE, &[t(x), d(ElementType::Bool)])?;
    let inside = m.emit(op::CONSTANT_PAD_ND, &[t(inside), is(&flat), b(false)])?;
    let padded = m.emit(op::CONSTANT_PAD_ND, &[t(x), is(&flat), s(0)])?;
    m.emit(op::WHERE_SELF, &[t(inside), t(padded), t(value)])
}

/// A tensor with a value so many times between the neighbours of each dimension.
pub(super) fn interleaved<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, gaps: &[i64], value: ir::Value<'c>) -> Made<'c> {
    if gaps.len() != x.ty().rank() {
        return Err("it has other dimensions than its operand".to_owned());
    }
    let mut x = x;
    for (dim, gap) in gaps.iter().enumerate().filter(|(_, gap)| **gap > 0) {
        let mut shape = x.ty().shape();
        let size = shape[dim];
        if size < 2 {
            continue;
        }
        // Each element with the gap behind it; the last gap is cut off.
        let alone = m.emit(op::UNSQUEEZE, &[t(x), i(dim as i64 + 1)])?;
        let mut pads = vec![[0; 2]; alone.ty().rank()];
        pads[dim + 1] = [0, *gap];
        let wide = padded(m, alone, &pads, value)?;
        let all = gap.checked_add(1).and_then(|step| size.checked_mul(step)).ok_or("its result is too large")?;
        shape[dim] = all;
        let flat = m.emit(op::RESHAPE, &[t(wide), is(&shape)])?;
        x = m.emit(op::SLICE_TENSOR, &[t(flat), i(dim as i64), i(0), i(all - gap), i(1)])?;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        for pair in PLAIN.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} stands before {}", pair[0].0, pair[1].0);
        }
        assert!(ELEMENTWISE.is_sorted());
    }
}
