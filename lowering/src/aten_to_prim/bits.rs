//! What the bits of a number say: `frexp`, hashes, and the same bits under another element type.

use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::cast::{view_as_complex, view_as_real};
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(FREXP_TENSOR, Exact, frexp),
    one(HASH_TENSOR, Exact, hash),
    one(VIEW_DTYPE, Exact, |a| view_dtype(a.tensor("self"), a.result_dtype(0))),
    one(VIEW_COPY_DTYPE, Exact, |a| view_dtype(a.tensor("self"), a.result_dtype(0))),
];

/// Bits of the exponent of `f64`.
const EXPONENT: i64 = 0x7ff << 52;

/// A mantissa from 1/2 to 1 and a power of 2, from the bits in `f64`; 0, infinities and NaN are their own mantissa.
fn frexp<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let wide = x.convert(DType::F64);
    // Subnormal numbers are made normal.
    let tiny = wide.abs().less(f64::MIN_POSITIVE);
    let scaled = tiny.select(wide * 2f64.powi(54), wide);
    let bits = scaled.bitcast(DType::I64);
    let power = bits.and(EXPONENT).shift_right(52) - 1022 - tiny.select(bits.number(Scalar::Int(54)), 0);
    let mantissa = bits.and(!EXPONENT).or(1022 << 52).bitcast(DType::F64);
    let special = wide.equal(0.0).or(!wide.abs().less(f64::INFINITY));
    vec![special.select(wide, mantissa).convert(x.dtype()), power.fill_where(special, 0).convert(DType::I32)]
}

/// The exclusive or of the elements' 64 bits as `f64` or `i64`: of each bit, whether it is set an odd number of times.
fn hash<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let rank = x.rank();
    let dims = a.dims_or_all("dim", rank);
    let bits = match x.dtype() {
        dtype if dtype.is_float() => x.convert(DType::F64).bitcast(DType::I64),
        DType::U64 => x.bitcast(DType::I64),
        _ => x.convert(DType::I64),
    };
    bits.reduce("xor", &dims, a.bool("keepdim")).bitcast(DType::U64)
}

/// The bytes of a tensor as elements of another type. Of types of different width the last dimension takes up the difference; bytes
/// are in little-endian order.
fn view_dtype(x: Tensor<'_>, to: DType) -> Tensor<'_> {
    let from = x.dtype();
    if x.rank() == 0 && from.is_complex() != to.is_complex() {
        return view_dtype(x.reshape(&[Size::Const(1)]), to).reshape(&[]);
    }
    let Some(last) =
        x.rank().checked_sub(1).filter(|_| from.bytes() != to.bytes() || [from, to].iter().any(|t| t.is_complex() || *t == DType::Bool))
    else {
        // Both halves are computed in f32, where their bits are others.
        let halves = [from, to].into_iter().all(|t| t.is_float() && t.bytes() == 2) && from != to;
        return if halves { x.bitcast(DType::I16).bitcast(to) } else { x.bitcast(to) };
    };
    if from == to {
        return x;
    }
    // A bool is a byte in memory.
    if from == DType::Bool {
        return view_dtype(x.convert(DType::U8), to);
    }
    if to == DType::Bool {
        return view_dtype(x, DType::U8).not_equal(0);
    }
    if from.is_complex() {
        return view_dtype(flat_from(view_as_real(x), last), to);
    }
    if to.is_complex() {
        let parts = view_dtype(x, to.real_part());
        return view_as_complex(split_last(parts, 2));
    }
    let (narrow, wide) = (unsigned(from.bytes().min(to.bytes())), unsigned(from.bytes().max(to.bytes())));
    let (count, bits) = ((wide.bytes() / narrow.bytes()) as i64, 8 * narrow.bytes() as i64);
    let places = x.prim().range(wide, Size::Const(count)) * bits;
    if from.bytes() > to.bytes() {
        let pieces = x.bitcast(wide).unsqueeze(last + 1).shift_right(places).convert(narrow);
        return flat_from(pieces, last).bitcast(to);
    }
    let pieces = split_last(x.bitcast(narrow), count).convert(wide).shift_left(places);
    pieces.reduce("sum", &[last + 1], false).bitcast(to)
}

/// The unsigned type of so many bytes.
fn unsigned(bytes: usize) -> DType {
    match bytes {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// The dimensions from `dim` on as one.
fn flat_from(x: Tensor<'_>, dim: usize) -> Tensor<'_> {
    let shape = x.shape();
    x.reshape(&[&shape[..dim], &[product(&shape[dim..])]].concat())
}

/// The last dimension as two, of which the last has `count` elements.
fn split_last(x: Tensor<'_>, count: i64) -> Tensor<'_> {
    let mut shape = x.shape().to_vec();
    let last = shape.pop().unwrap_or(Size::Const(1));
    x.reshape(&[shape, vec![last / count, Size::Const(count)]].concat())
}
