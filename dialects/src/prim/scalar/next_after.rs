//! The next number of a type in the direction of another: one step up or down in its bits.

use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};

/// `nextafter(x, to)` on floats of any width. The bits of floats of one sign are ordered as their magnitudes are.
pub fn next_after<'c>(b: &mut Builder<'c>, x: Value<'c>, to: Value<'c>, element: ElementType) -> Value<'c> {
    let (ty, width) = (x.ty(), element.bits());
    let int = b.cx().int(width);
    let (zero, one, minus) = (b.const_int(int, 0), b.const_int(int, 1), b.const_int(int, -1));
    let sign = b.const_int(int, i64::MIN >> (64 - width));
    let bits = arith::bitcast(b, x, int);
    let magnitude = {
        let mask = arith::xori(b, sign, minus);
        arith::andi(b, bits, mask)
    };
    // Away from zero where the direction is that of the sign.
    let up = arith::cmpf(b, CmpFPredicate::Olt, x, to);
    let float_zero = b.const_float(ty, 0.0);
    let positive = arith::cmpf(b, CmpFPredicate::Ogt, x, float_zero);
    let inwards = arith::xori(b, up, positive);
    let step = arith::select(b, inwards, minus, one);
    let moved = arith::addi(b, bits, step);
    // From zero to the smallest number with the sign of the direction.
    let direction = arith::select(b, up, zero, sign);
    let smallest = arith::ori(b, direction, one);
    let from_zero = arith::cmpi(b, CmpIPredicate::Eq, magnitude, zero);
    let stepped = arith::select(b, from_zero, smallest, moved);
    let stepped = arith::bitcast(b, stepped, ty);
    let arrived = arith::cmpf(b, CmpFPredicate::Oeq, x, to);
    let next = arith::select(b, arrived, to, stepped);
    let unordered = arith::cmpf(b, CmpFPredicate::Uno, x, to);
    let nan = b.const_float(ty, f64::NAN);
    arith::select(b, unordered, nan, next)
}
