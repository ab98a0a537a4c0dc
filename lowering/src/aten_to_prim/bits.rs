//! What the bits of a number say: `frexp` and hashes.

use strata_dialects::aten::dtype::DType;

use super::args::Args;
use super::builder::Scalar;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};
use super::size::Size;
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[many("aten.frexp.Tensor", Exact, frexp), one("aten.hash_tensor", Exact, hash)];

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
    let digit = a.prim.range(DType::I64, Size::Const(64));
    let odd = bits.unsqueeze(rank).shift_right(digit).and(1).reduce("sum", &dims, a.bool("keepdim")).and(1);
    let last = odd.rank() - 1;
    odd.shift_left(digit).reduce("sum", &[last], false).bitcast(DType::U64)
}
