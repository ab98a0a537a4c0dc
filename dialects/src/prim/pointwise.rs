//! Operators on single elements. Operands and result have one shape; there is no broadcasting and no promotion.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::types::*;

/// Ops of one operand whose result has the operand's type.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Elementwise, SameOperandsAndResultType), effects(Pure))]
            pub struct $name {
                x: Operand<$types>,
                result: Result<$types>,
            }
        )*

        fn unary_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

/// Ops of two operands of one type, which is the result's.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident $([$($trait:ident),*])?;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Elementwise, SameOperandsAndResultType $($(, $trait)*)?), effects(Pure))]
            pub struct $name {
                lhs: Operand<$types>,
                rhs: Operand<$types>,
                result: Result<$types>,
            }
        )*

        fn binary_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

/// Comparisons of two operands of one type.
macro_rules! comparison {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident $([$($trait:ident),*])?;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Elementwise, SameTypeOperands, SameOperandsAndResultShape $($(, $trait)*)?), effects(Pure))]
            pub struct $name {
                lhs: Operand<$types>,
                rhs: Operand<$types>,
                result: Result<BoolTensor>,
            }
        )*

        fn comparison_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

unary! {
    /// `-x`; integers wrap.
    Neg "prim.neg" Numbers;
    /// The sign: -1, 0 or 1; of NaN 0.
    Sign "prim.sign" Reals;
    /// `e^x`.
    Exp "prim.exp" Analytic;
    /// `2^x`.
    Exp2 "prim.exp2" Analytic;
    /// `e^x - 1`, accurate near 0.
    Expm1 "prim.expm1" Analytic;
    /// The natural logarithm; NaN below 0.
    Log "prim.log" Analytic;
    /// The logarithm to base 2.
    Log2 "prim.log2" Analytic;
    /// The logarithm to base 10.
    Log10 "prim.log10" Analytic;
    /// `log(1 + x)`, accurate near 0.
    Log1p "prim.log1p" Analytic;
    /// The square root, correctly rounded; NaN below 0.
    Sqrt "prim.sqrt" Analytic;
    /// `1 / sqrt(x)`.
    Rsqrt "prim.rsqrt" Analytic;
    /// The sine.
    Sin "prim.sin" Analytic;
    /// The cosine.
    Cos "prim.cos" Analytic;
    /// The tangent.
    Tan "prim.tan" Analytic;
    /// The arc sine.
    Asin "prim.asin" Analytic;
    /// The arc cosine.
    Acos "prim.acos" Analytic;
    /// The arc tangent.
    Atan "prim.atan" Analytic;
    /// The hyperbolic sine.
    Sinh "prim.sinh" Analytic;
    /// The hyperbolic cosine.
    Cosh "prim.cosh" Analytic;
    /// The hyperbolic tangent.
    Tanh "prim.tanh" Analytic;
    /// The inverse hyperbolic sine.
    Asinh "prim.asinh" Analytic;
    /// The inverse hyperbolic cosine.
    Acosh "prim.acosh" Analytic;
    /// The inverse hyperbolic tangent.
    Atanh "prim.atanh" Analytic;
    /// The error function.
    Erf "prim.erf" Floats;
    /// `1 - erf(x)`, accurate for large x.
    Erfc "prim.erfc" Floats;
    /// The inverse of the error function.
    Erfinv "prim.erfinv" Floats;
    /// The logarithm of the absolute value of the gamma function.
    Lgamma "prim.lgamma" Floats;
    /// The logarithmic derivative of the gamma function.
    Digamma "prim.digamma" Floats;
    /// The largest integer not above x.
    Floor "prim.floor" Floats;
    /// The smallest integer not below x.
    Ceil "prim.ceil" Floats;
    /// The nearest integer, the even one of two.
    Round "prim.round" Floats;
    /// The integer part, towards 0.
    Trunc "prim.trunc" Floats;
    /// Logical negation of bool, complement of the bits of integers.
    Not "prim.not" Bits;
}

binary! {
    /// `x + y`; integers wrap.
    Add "prim.add" Numbers [Commutative];
    /// `x - y`; integers wrap.
    Sub "prim.sub" Numbers;
    /// `x * y`; integers wrap.
    Mul "prim.mul" Numbers [Commutative];
    /// `x / y`; of integers truncated towards 0, and undefined where y is 0.
    Div "prim.div" Numbers;
    /// `x - trunc(x / y) * y`, with the sign of x.
    Rem "prim.rem" Reals;
    /// `x^y`; of integers 0 where y is negative, except for x = 1 and x = -1.
    Pow "prim.pow" Numbers;
    /// The angle of the point (y, x): operands are y, then x.
    Atan2 "prim.atan2" Floats;
    /// The larger one; NaN if either is.
    Maximum "prim.maximum" Ordered [Commutative];
    /// The smaller one; NaN if either is.
    Minimum "prim.minimum" Ordered [Commutative];
    /// Logical or bitwise "and".
    And "prim.and" Bits [Commutative];
    /// Logical or bitwise "or".
    Or "prim.or" Bits [Commutative];
    /// Logical or bitwise "exclusive or".
    Xor "prim.xor" Bits [Commutative];
    /// `x * 2^y` in wrapping arithmetic; 0 where y is not below the width or is negative.
    Shl "prim.shl" Integers;
    /// `floor(x / 2^y)`: arithmetic on signed integers, logical on unsigned ones; y not below the width shifts all bits out.
    Shr "prim.shr" Integers;
    /// The next representable number after x in the direction of y.
    Nextafter "prim.nextafter" Floats;
}

comparison! {
    /// `x = y`; NaN equals nothing.
    Eq "prim.eq" Computed [Commutative];
    /// `x != y`.
    Ne "prim.ne" Computed [Commutative];
    /// `x < y`.
    Lt "prim.lt" Ordered;
    /// `x <= y`.
    Le "prim.le" Ordered;
    /// `x > y`.
    Gt "prim.gt" Ordered;
    /// `x >= y`.
    Ge "prim.ge" Ordered;
}

/// The absolute value; of a complex number its modulus. The most negative integer stays.
///
/// C1: the result's element type is the operand's, or that of the parts of a complex number.
#[op("prim.abs", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct Abs {
    x: Operand<Numbers>,
    result: Result<Reals>,
}

impl Verify for Abs<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// Whether x is NaN.
#[op("prim.is_nan", traits(Elementwise, SameOperandsAndResultShape), effects(Pure))]
pub struct IsNan {
    x: Operand<Floats>,
    result: Result<BoolTensor>,
}

/// The real part.
///
/// C1: the result's element type is that of the parts.
#[op("prim.real", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct Real {
    x: Operand<Complex>,
    result: Result<Floats>,
}

impl Verify for Real<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// The imaginary part.
///
/// C1: the result's element type is that of the parts.
#[op("prim.imag", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct Imag {
    x: Operand<Complex>,
    result: Result<Floats>,
}

impl Verify for Imag<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// The complex number of a real and an imaginary part.
///
/// C1: the result's parts have the operands' element type.
#[op("prim.complex", traits(Elementwise, SameTypeOperands, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct MakeComplex {
    real: Operand<Floats>,
    imaginary: Operand<Floats>,
    result: Result<Complex>,
}

impl Verify for MakeComplex<'_> {
    fn verify(self) -> Checked {
        check_part(self.result(), self.real())
    }
}

fn check_part(whole: Value<'_>, part: Value<'_>) -> Checked {
    let (whole, part) = (whole.ty().element_type(), part.ty().element_type());
    let wanted = match whole {
        Some(ElementType::C64) => Some(ElementType::F32),
        Some(ElementType::C128) => Some(ElementType::F64),
        other => other,
    };
    ensure!(part == wanted, 1, "the element type is not that of the complex number's parts");
    Ok(())
}

/// `a` where the condition holds, else `b`.
///
/// C1: `a`, `b` and the result have one type. C2: the condition has their shape.
#[op("prim.select", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct Select {
    condition: Operand<BoolTensor>,
    a: Operand<AnyTensor>,
    b: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Verify for Select<'_> {
    fn verify(self) -> Checked {
        let ty = self.result().ty();
        for value in [self.a(), self.b()] {
            check::same_elements(1, value.ty(), ty)?;
        }
        check::result_sizes(2, self.op())
    }
}

/// The same number in another element type: integers truncated towards 0 and wrapped, floats rounded to nearest, bool
/// whether it is not 0, complex from real with imaginary part 0. A float out of the integer's range gives any integer; what is
/// too large for `f8E4M3FN`, which has no infinity, gives its largest number.
#[op("prim.convert", traits(Elementwise, SameOperandsAndResultShape), effects(Pure))]
pub struct Convert {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

/// The same bits as another element type.
///
/// C1: both element types have the same width.
#[op("prim.bitcast", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), verify)]
pub struct Bitcast {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Verify for Bitcast<'_> {
    fn verify(self) -> Checked {
        let width = |value: Value<'_>| value.ty().element_type().map_or(0, |e| e.bytes());
        ensure!(width(self.x()) == width(self.result()), 1, "{} and {} differ in width", self.x().ty(), self.result().ty());
        Ok(())
    }
}

/// All definitions of this file.
pub(super) fn definitions() -> Vec<OpDef> {
    let others = [Abs::DEF, Bitcast::DEF, Convert::DEF, Imag::DEF, IsNan::DEF, MakeComplex::DEF, Real::DEF, Select::DEF];
    [unary_definitions(), binary_definitions(), comparison_definitions(), others.to_vec()].concat()
}
