//! The next number of a type in the direction of another: one step up or down in its bits.

use super::scalar::{EQ, OEQ, OGT, OLT, Predicate, UNO, compare};
use strata_core::ir::{Builder, ElementType, Value};

/// `nextafter(x, to)` on floats of any width. The bits of floats of one sign are ordered as their magnitudes are.
pub fn emit<'c>(b: &mut Builder<'c>, args: &[Value<'c>], element: ElementType) -> Value<'c> {
    let (x, to) = (args[0], args[1]);
    let (ty, width) = (x.ty(), element.bits());
    let int = b.cx().int(width);
    let (zero, one, minus) = (b.const_int(int, 0), b.const_int(int, 1), b.const_int(int, -1));
    let sign = b.const_int(int, i64::MIN >> (64 - width));
    let bits = b.value("arith.bitcast", &[x], int, &[]);
    let magnitude = {
        let mask = b.value("arith.xori", &[sign, minus], int, &[]);
        b.value("arith.andi", &[bits, mask], int, &[])
    };
    // Away from zero where the direction is that of the sign.
    let up = compare(b, Predicate::Float(OLT), &[x, to]);
    let float_zero = b.const_float(ty, 0.0);
    let positive = compare(b, Predicate::Float(OGT), &[x, float_zero]);
    let inwards = b.value("arith.xori", &[up, positive], up.ty(), &[]);
    let step = b.value("arith.select", &[inwards, minus, one], int, &[]);
    let moved = b.value("arith.addi", &[bits, step], int, &[]);
    // From zero to the smallest number with the sign of the direction.
    let direction = b.value("arith.select", &[up, zero, sign], int, &[]);
    let smallest = b.value("arith.ori", &[direction, one], int, &[]);
    let from_zero = compare(b, Predicate::Integer(EQ), &[magnitude, zero]);
    let stepped = b.value("arith.select", &[from_zero, smallest, moved], int, &[]);
    let stepped = b.value("arith.bitcast", &[stepped], ty, &[]);
    let arrived = compare(b, Predicate::Float(OEQ), &[x, to]);
    let next = b.value("arith.select", &[arrived, to, stepped], ty, &[]);
    let unordered = compare(b, Predicate::Float(UNO), &[x, to]);
    let nan = b.const_float(ty, f64::NAN);
    b.value("arith.select", &[unordered, nan, next], ty, &[])
}
