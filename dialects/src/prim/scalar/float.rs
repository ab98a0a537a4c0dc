//! Forms of floats that are more than one upstream op.

use crate::loops;
use strata_core::ir::{Builder, Value};
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::math;

/// Whether x is NaN.
pub fn is_nan<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    arith::cmpf(b, CmpFPredicate::Uno, x, x)
}

/// `1 / sqrt(x)`.
pub fn rsqrt<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let root = math::sqrt(b, x);
    let one = b.const_float(x.ty(), 1.0);
    arith::divf(b, one, root)
}

/// -1, 0 or 1.
pub fn sign<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    let ty = x.ty();
    // NaN compares false with zero on both sides and so stays zero, as PyTorch's sign does.
    let zero = b.const_float(ty, 0.0);
    let (one, minus) = (b.const_float(ty, 1.0), b.const_float(ty, -1.0));
    let positive = arith::cmpf(b, CmpFPredicate::Ogt, x, zero);
    let negative = arith::cmpf(b, CmpFPredicate::Olt, x, zero);
    let low = arith::select(b, negative, minus, zero);
    arith::select(b, positive, one, low)
}

/// The logarithmic derivative of the gamma function.
pub fn digamma<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    special(b, "digamma", &[x])
}

/// The inverse of the error function.
pub fn erfinv<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    special(b, "erfinv", &[x])
}

/// The logarithm of the absolute value of the gamma function.
pub fn lgamma<'c>(b: &mut Builder<'c>, x: Value<'c>) -> Value<'c> {
    special(b, "lgamma", &[x])
}

/// A function that the runtime computes element by element.
pub fn special<'c>(b: &mut Builder<'c>, function: &str, args: &[Value<'c>]) -> Value<'c> {
    let (ty, name) = (args[0].ty(), b.cx().str_attr(function));
    b.value(loops::Libm::NAME, args, ty, &[("name", name)])
}
