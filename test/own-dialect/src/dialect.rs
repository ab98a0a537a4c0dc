//! The dialect `sat`: two ops, a type and an attribute.

use strata_core::prelude::*;
use strata_interp::value::{Results, fail};
use strata_interp::{self as interp, Interpret, Scalar};

/// The dialect.
pub static SAT: DialectDef = DialectDef {
    name: "sat",
    doc: "Arithmetic that saturates.",
    ops: || vec![Add::DEF, Quantize::DEF],
    types: &[Fixed::DEF],
    attrs: &[Rounding::DEF],
    ..DialectDef::NEW
};

/// A number of `bits` bits, `fraction` of them behind the point.
///
/// C1: there are 1 to 64 bits. C2: the fraction is a part of them.
#[dialect_type("sat.fixed", verify = fits)]
pub struct Fixed {
    /// All bits.
    bits: I64,
    /// Bits behind the point.
    fraction: I64,
}

fn fits(bits: i64, fraction: i64) -> std::result::Result<(), Violation> {
    ensure!((1..=64).contains(&bits), 1, "a number of {bits} bits");
    ensure!((0..=bits).contains(&fraction), 2, "{fraction} of {bits} bits are behind the point");
    Ok(())
}

/// What becomes of digits that do not fit: `nearest` or `down`.
///
/// C1: the mode is one of these.
#[dialect_attr("sat.rounding", verify = is_mode)]
pub struct Rounding {
    /// The name of the rule.
    mode: Str,
}

fn is_mode(mode: String) -> std::result::Result<(), Violation> {
    ensure!(["nearest", "down"].contains(&mode.as_str()), 1, "the mode `{mode}` is neither nearest nor down");
    Ok(())
}

/// The fixed-point number next to a float; where it does not fit, the largest or smallest that does.
///
/// C1: the float holds all bits of the number.
#[op("sat.quantize", traits(Pure), verify)]
pub struct Quantize {
    x: Operand<Float>,
    result: Result<Fixed<'static>>,
    rounding: Attr<Rounding<'static>>,
}

impl Verify for Quantize<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let float = self.x().ty();
        let held = float.element_type().map_or(0, |element| i64::from(element.bits()));
        let bits = Fixed::cast(self.result().ty()).map_or(0, Fixed::bits);
        ensure!(bits <= held, 1, "{float} does not hold {bits} bits");
        Ok(())
    }
}

/// The sum; where it does not fit, the largest or smallest number that does.
///
/// C1: the numbers have at most 32 bits.
#[op("sat.add", traits(Pure, Commutative, SameOperandsAndResultType), interfaces(Interpret), verify)]
pub struct Add {
    lhs: Operand<Int>,
    rhs: Operand<Int>,
    sum: Result<Int>,
}

impl Verify for Add<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let bits = self.lhs().ty().element_type().map_or(0, |element| element.bits());
        ensure!(bits <= 32, 1, "numbers of {bits} bits are too wide");
        Ok(())
    }
}

impl Interpret for Add<'_> {
    fn interpret(&self, operands: &[interp::Value]) -> Results {
        let [interp::Value::Scalar(Scalar::Int(x)), interp::Value::Scalar(Scalar::Int(y))] = operands else {
            return Err(fail("its operands are integers"));
        };
        let bits = self.sum().ty().element_type().map_or(32, |element| element.bits());
        let largest = (1 << (bits - 1)) - 1;
        Ok(vec![interp::Value::Scalar(Scalar::Int((x + y).clamp(-largest - 1, largest)))])
    }
}
