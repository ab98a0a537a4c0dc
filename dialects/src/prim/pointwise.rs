//! Operators on single elements. Operands and result have one shape; there is no broadcasting and no promotion.
//!
//! A row is the whole op: its meaning, its types, its cost, and its scalar form for each kind of arithmetic that it has.

use strata_core::prelude::*;
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::{complex, math};

use super::check::{self, Checked};
use super::scalar::{self, Arithmetic, Cost, Elements, Pointwise, integer};
use super::types::*;
use crate::loops::elements::register_type;

/// The interface of an op with these forms: functions of a builder and one element of each operand.
macro_rules! forms {
    ($name:ident $cost:ident $b:ident $elements:tt $call:tt { $($kind:ident: $form:path),+ }) => {
        impl Pointwise for $name<'_> {
            fn cost(&self) -> Cost {
                Cost::$cost
            }

            fn scalar<'c>(&self, $b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
                let $elements = *args else { return None };
                match Arithmetic::of(elements.from) {
                    $(Arithmetic::$kind => Some($form $call),)+
                    #[allow(unreachable_patterns, reason = "some ops have a form for each kind")]
                    _ => None,
                }
            }
        }
    };
}

/// Ops of one operand whose result has the operand's type.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident $cost:ident $forms:tt;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Elementwise, SameOperandsAndResultType), effects(Pure), interfaces(Pointwise))]
            pub struct $name {
                x: Operand<$types>,
                result: Result<$types>,
            }
            forms!($name $cost b [x] (b, x) $forms);
        )*

        fn unary_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

/// Ops of two operands of one type, which is the result's.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident $([$($trait:ident),*])? $cost:ident $forms:tt;)*) => {
        $(
            $(#[$doc])*
            #[op($text, traits(Elementwise, SameOperandsAndResultType $($(, $trait)*)?), effects(Pure), interfaces(Pointwise))]
            pub struct $name {
                lhs: Operand<$types>,
                rhs: Operand<$types>,
                result: Result<$types>,
            }
            forms!($name $cost b [x, y] (b, x, y) $forms);
        )*

        fn binary_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

/// Comparisons of two operands of one type: predicates of floats, of signed and of unsigned integers, and the form of complex numbers.
macro_rules! comparison {
    ($($(#[$doc:meta])* $name:ident $text:literal $types:ident $([$($trait:ident),*])?
        ($float:ident, $signed:ident, $unsigned:ident $(, $complex:path)?);)*) => {
        $(
            $(#[$doc])*
            #[op(
                $text,
                traits(Elementwise, SameTypeOperands, SameOperandsAndResultShape $($(, $trait)*)?),
                effects(Pure),
                interfaces(Pointwise)
            )]
            pub struct $name {
                lhs: Operand<$types>,
                rhs: Operand<$types>,
                result: Result<BoolTensor>,
            }

            impl Pointwise for $name<'_> {
                fn cost(&self) -> Cost {
                    Cost::Cheap
                }

                fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
                    let [x, y] = *args else { return None };
                    match Arithmetic::of(elements.from) {
                        Arithmetic::Float => Some(arith::cmpf(b, CmpFPredicate::$float, x, y)),
                        Arithmetic::Signed => Some(arith::cmpi(b, CmpIPredicate::$signed, x, y)),
                        Arithmetic::Unsigned => Some(arith::cmpi(b, CmpIPredicate::$unsigned, x, y)),
                        $(Arithmetic::Complex => Some($complex(b, x, y)),)?
                        #[allow(unreachable_patterns, reason = "equality has a form for each kind")]
                        _ => None,
                    }
                }
            }
        )*

        fn comparison_definitions() -> Vec<OpDef> {
            vec![$($name::DEF),*]
        }
    };
}

unary! {
    /// `-x`; integers wrap.
    Neg "prim.neg" Numbers Cheap { Float: arith::negf, Signed: integer::neg, Unsigned: integer::neg, Complex: complex::neg };
    /// The sign: -1, 0 or 1; of NaN 0.
    Sign "prim.sign" Reals Cheap { Float: scalar::sign, Signed: integer::sign, Unsigned: integer::unsigned_sign };
    /// `e^x`.
    Exp "prim.exp" Analytic Expensive { Float: math::exp, Complex: complex::exp };
    /// `2^x`.
    Exp2 "prim.exp2" Analytic Expensive { Float: math::exp2 };
    /// `e^x - 1`, accurate near 0.
    Expm1 "prim.expm1" Analytic Expensive { Float: math::expm1, Complex: complex::expm1 };
    /// The natural logarithm; NaN below 0.
    Log "prim.log" Analytic Expensive { Float: math::log, Complex: complex::log };
    /// The logarithm to base 2.
    Log2 "prim.log2" Analytic Expensive { Float: math::log2 };
    /// The logarithm to base 10.
    Log10 "prim.log10" Analytic Expensive { Float: math::log10 };
    /// `log(1 + x)`, accurate near 0.
    Log1p "prim.log1p" Analytic Expensive { Float: math::log1p, Complex: complex::log1p };
    /// The square root, correctly rounded; NaN below 0.
    Sqrt "prim.sqrt" Analytic Expensive { Float: math::sqrt, Complex: complex::sqrt };
    /// `1 / sqrt(x)`.
    Rsqrt "prim.rsqrt" Analytic Expensive { Float: scalar::rsqrt, Complex: complex::rsqrt };
    /// The sine.
    Sin "prim.sin" Analytic Expensive { Float: math::sin, Complex: complex::sin };
    /// The cosine.
    Cos "prim.cos" Analytic Expensive { Float: math::cos, Complex: complex::cos };
    /// The tangent.
    Tan "prim.tan" Analytic Expensive { Float: math::tan, Complex: complex::tan };
    /// The arc sine.
    Asin "prim.asin" Analytic Expensive { Float: math::asin };
    /// The arc cosine.
    Acos "prim.acos" Analytic Expensive { Float: math::acos };
    /// The arc tangent.
    Atan "prim.atan" Analytic Expensive { Float: math::atan };
    /// The hyperbolic sine.
    Sinh "prim.sinh" Analytic Expensive { Float: math::sinh };
    /// The hyperbolic cosine.
    Cosh "prim.cosh" Analytic Expensive { Float: math::cosh };
    /// The hyperbolic tangent.
    Tanh "prim.tanh" Analytic Expensive { Float: math::tanh, Complex: complex::tanh };
    /// The inverse hyperbolic sine.
    Asinh "prim.asinh" Analytic Expensive { Float: math::asinh };
    /// The inverse hyperbolic cosine.
    Acosh "prim.acosh" Analytic Expensive { Float: math::acosh };
    /// The inverse hyperbolic tangent.
    Atanh "prim.atanh" Analytic Expensive { Float: math::atanh };
    /// The error function.
    Erf "prim.erf" Floats Expensive { Float: math::erf };
    /// `1 - erf(x)`, accurate for large x.
    Erfc "prim.erfc" Floats Expensive { Float: math::erfc };
    /// The inverse of the error function.
    Erfinv "prim.erfinv" Floats Expensive { Float: scalar::erfinv };
    /// The logarithm of the absolute value of the gamma function.
    Lgamma "prim.lgamma" Floats Expensive { Float: scalar::lgamma };
    /// The logarithmic derivative of the gamma function.
    Digamma "prim.digamma" Floats Expensive { Float: scalar::digamma };
    /// The largest integer not above x.
    Floor "prim.floor" Floats Cheap { Float: math::floor };
    /// The smallest integer not below x.
    Ceil "prim.ceil" Floats Cheap { Float: math::ceil };
    /// The nearest integer, the even one of two.
    Round "prim.round" Floats Cheap { Float: math::roundeven };
    /// The integer part, towards 0.
    Trunc "prim.trunc" Floats Cheap { Float: math::trunc };
    /// Logical negation of bool, complement of the bits of integers.
    Not "prim.not" Bits Cheap { Signed: integer::not, Unsigned: integer::not };
}

binary! {
    /// `x + y`; integers wrap.
    Add "prim.add" Numbers [Commutative] Cheap { Float: arith::addf, Signed: arith::addi, Unsigned: arith::addi, Complex: complex::add };
    /// `x - y`; integers wrap.
    Sub "prim.sub" Numbers Cheap { Float: arith::subf, Signed: arith::subi, Unsigned: arith::subi, Complex: complex::sub };
    /// `x * y`; integers wrap.
    Mul "prim.mul" Numbers [Commutative] Cheap { Float: arith::mulf, Signed: arith::muli, Unsigned: arith::muli, Complex: complex::mul };
    /// `x / y`; of integers truncated towards 0, and undefined where y is 0.
    Div "prim.div" Numbers Expensive { Float: arith::divf, Signed: integer::div, Unsigned: integer::unsigned_div, Complex: complex::div };
    /// `x - trunc(x / y) * y`, with the sign of x.
    Rem "prim.rem" Reals Expensive { Float: arith::remf, Signed: integer::rem, Unsigned: integer::unsigned_rem };
    /// `x^y`; of integers 0 where y is negative, except for x = 1 and x = -1.
    Pow "prim.pow" Numbers Expensive { Float: math::powf, Signed: integer::pow, Unsigned: integer::unsigned_pow, Complex: complex::pow };
    /// The angle of the point (y, x): operands are y, then x.
    Atan2 "prim.atan2" Floats Expensive { Float: math::atan2 };
    /// The larger one; NaN if either is.
    Maximum "prim.maximum" Ordered [Commutative] Cheap { Float: arith::maximumf, Signed: arith::maxsi, Unsigned: arith::maxui };
    /// The smaller one; NaN if either is.
    Minimum "prim.minimum" Ordered [Commutative] Cheap { Float: arith::minimumf, Signed: arith::minsi, Unsigned: arith::minui };
    /// Logical or bitwise "and".
    And "prim.and" Bits [Commutative] Cheap { Signed: arith::andi, Unsigned: arith::andi };
    /// Logical or bitwise "or".
    Or "prim.or" Bits [Commutative] Cheap { Signed: arith::ori, Unsigned: arith::ori };
    /// Logical or bitwise "exclusive or".
    Xor "prim.xor" Bits [Commutative] Cheap { Signed: arith::xori, Unsigned: arith::xori };
    /// `x * 2^y` in wrapping arithmetic; 0 where y is not below the width or is negative.
    Shl "prim.shl" Integers Cheap { Signed: integer::shl, Unsigned: integer::shl };
    /// `floor(x / 2^y)`: arithmetic on signed integers, logical on unsigned ones; y not below the width shifts all bits out.
    Shr "prim.shr" Integers Cheap { Signed: integer::shr, Unsigned: integer::unsigned_shr };
}

comparison! {
    /// `x = y`; NaN equals nothing.
    Eq "prim.eq" Computed [Commutative] (Oeq, Eq, Eq, complex::eq);
    /// `x != y`.
    Ne "prim.ne" Computed [Commutative] (Une, Ne, Ne, complex::neq);
    /// `x < y`.
    Lt "prim.lt" Ordered (Olt, Slt, Ult);
    /// `x <= y`.
    Le "prim.le" Ordered (Ole, Sle, Ule);
    /// `x > y`.
    Gt "prim.gt" Ordered (Ogt, Sgt, Ugt);
    /// `x >= y`.
    Ge "prim.ge" Ordered (Oge, Sge, Uge);
}

/// The absolute value; of a complex number its modulus. The most negative integer stays.
///
/// C1: the result's element type is the operand's, or that of the parts of a complex number.
#[op("prim.abs", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct Abs {
    x: Operand<Numbers>,
    result: Result<Reals>,
}

impl Pointwise for Abs<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x] = *args else { return None };
        Some(match Arithmetic::of(elements.from) {
            Arithmetic::Float => math::absf(b, x),
            Arithmetic::Signed => math::absi(b, x),
            Arithmetic::Unsigned => x,
            Arithmetic::Complex => complex::abs(b, x, register_type(x.cx(), elements.to)),
        })
    }
}

impl Verify for Abs<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// Whether x is NaN.
#[op("prim.is_nan", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise))]
pub struct IsNan {
    x: Operand<Floats>,
    result: Result<BoolTensor>,
}

forms!(IsNan Cheap b [x] (b, x) { Float: scalar::is_nan });

/// The real part.
///
/// C1: the result's element type is that of the parts.
#[op("prim.real", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct Real {
    x: Operand<Complex>,
    result: Result<Floats>,
}

impl Pointwise for Real<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x] = *args else { return None };
        Some(complex::re(b, x, register_type(x.cx(), elements.to)))
    }
}

impl Verify for Real<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// The imaginary part.
///
/// C1: the result's element type is that of the parts.
#[op("prim.imag", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct Imag {
    x: Operand<Complex>,
    result: Result<Floats>,
}

impl Pointwise for Imag<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x] = *args else { return None };
        Some(complex::im(b, x, register_type(x.cx(), elements.to)))
    }
}

impl Verify for Imag<'_> {
    fn verify(self) -> Checked {
        check_part(self.x(), self.result())
    }
}

/// The complex number of a real and an imaginary part.
///
/// C1: the result's parts have the operands' element type.
#[op("prim.complex", traits(Elementwise, SameTypeOperands, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct MakeComplex {
    real: Operand<Floats>,
    imaginary: Operand<Floats>,
    result: Result<Complex>,
}

impl Pointwise for MakeComplex<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [real, imaginary] = *args else { return None };
        Some(complex::create(b, real, imaginary, register_type(real.cx(), elements.to)))
    }
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
/// C1: `a`, `b` and the result have one type.
#[op("prim.select", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct Select {
    condition: Operand<BoolTensor>,
    a: Operand<AnyTensor>,
    b: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Pointwise for Select<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], _: Elements) -> Option<Value<'c>> {
        let [condition, x, y] = *args else { return None };
        Some(arith::select(b, condition, x, y))
    }

    fn widens_halves(&self) -> bool {
        false
    }
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

/// The next representable number after x in the direction of y.
#[op("prim.nextafter", traits(Elementwise, SameOperandsAndResultType), effects(Pure), interfaces(Pointwise))]
pub struct Nextafter {
    lhs: Operand<Floats>,
    rhs: Operand<Floats>,
    result: Result<Floats>,
}

impl Pointwise for Nextafter<'_> {
    fn cost(&self) -> Cost {
        Cost::Expensive
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x, y] = *args else { return None };
        Some(scalar::next_after(b, x, y, elements.from))
    }

    fn widens_halves(&self) -> bool {
        false
    }
}

/// The same number in another element type: integers truncated towards 0 and wrapped, floats rounded to nearest, bool
/// whether it is not 0, complex from real with imaginary part 0. A float out of the integer's range gives any integer; what is
/// too large for `f8E4M3FN`, which has no infinity, gives its largest number.
#[op("prim.convert", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise))]
pub struct Convert {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Pointwise for Convert<'_> {
    fn cost(&self) -> Cost {
        // Floats of 8 bits are converted by a dozen instructions.
        let stored = |value: Value<'_>| value.ty().element_type().is_some_and(ElementType::is_float8);
        if stored(self.x()) || stored(self.result()) { Cost::Expensive } else { Cost::Cheap }
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x] = *args else { return None };
        Some(scalar::convert(b, x, elements.from, elements.to))
    }

    fn widens_halves(&self) -> bool {
        false
    }
}

/// The same bits as another element type.
///
/// C1: both element types have the same width.
#[op("prim.bitcast", traits(Elementwise, SameOperandsAndResultShape), effects(Pure), interfaces(Pointwise), verify)]
pub struct Bitcast {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
}

impl Pointwise for Bitcast<'_> {
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>> {
        let [x] = *args else { return None };
        Some(arith::bitcast(b, x, register_type(x.cx(), elements.to)))
    }

    fn widens_halves(&self) -> bool {
        false
    }
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
    let others = [Abs::DEF, Bitcast::DEF, Convert::DEF, Imag::DEF, IsNan::DEF, MakeComplex::DEF, Nextafter::DEF, Real::DEF, Select::DEF];
    [unary_definitions(), binary_definitions(), comparison_definitions(), others.to_vec()].concat()
}
