//! `math`: functions of scalars and vectors.

use super::ops;

ops! {
    /// The absolute value of a float.
    same AbsF "math.absf" absf(x);
    /// The absolute value of a signed integer.
    same AbsI "math.absi" absi(x);
    /// The arc cosine.
    same Acos "math.acos" acos(x);
    /// The inverse hyperbolic cosine.
    same Acosh "math.acosh" acosh(x);
    /// The arc sine.
    same Asin "math.asin" asin(x);
    /// The inverse hyperbolic sine.
    same Asinh "math.asinh" asinh(x);
    /// The arc tangent.
    same Atan "math.atan" atan(x);
    /// The angle of a point `(x, y)`, of `y` and `x`.
    same Atan2 "math.atan2" atan2(y, x);
    /// The inverse hyperbolic tangent.
    same Atanh "math.atanh" atanh(x);
    /// The cube root.
    same Cbrt "math.cbrt" cbrt(x);
    /// The smallest integer not below.
    same Ceil "math.ceil" ceil(x);
    /// The magnitude of one float with the sign of another.
    same CopySign "math.copysign" copysign(magnitude, sign);
    /// The cosine.
    same Cos "math.cos" cos(x);
    /// The hyperbolic cosine.
    same Cosh "math.cosh" cosh(x);
    /// Number of zeros above the highest bit that is set.
    same CountLeadingZeros "math.ctlz" ctlz(x);
    /// Number of bits that are set.
    same CtPop "math.ctpop" ctpop(x);
    /// Number of zeros below the lowest bit that is set.
    same CountTrailingZeros "math.cttz" cttz(x);
    /// The error function.
    same Erf "math.erf" erf(x);
    /// One less the error function.
    same Erfc "math.erfc" erfc(x);
    /// `e^x`.
    same Exp "math.exp" exp(x);
    /// `2^x`.
    same Exp2 "math.exp2" exp2(x);
    /// `e^x - 1`.
    same ExpM1 "math.expm1" expm1(x);
    /// The largest integer not above.
    same Floor "math.floor" floor(x);
    /// `x * y + z`, rounded once.
    same Fma "math.fma" fma(x, y, z);
    /// A float to an integer power.
    same FPowI "math.fpowi" fpowi(x, power);
    /// An integer to an integer power.
    same IPowI "math.ipowi" ipowi(x, power);
    /// Neither infinite nor NaN.
    test IsFinite "math.isfinite" isfinite(x);
    /// Infinite.
    test IsInf "math.isinf" isinf(x);
    /// NaN.
    test IsNaN "math.isnan" isnan(x);
    /// Neither zero, subnormal, infinite nor NaN.
    test IsNormal "math.isnormal" isnormal(x);
    /// The natural logarithm.
    same Log "math.log" log(x);
    /// The logarithm to base 10.
    same Log10 "math.log10" log10(x);
    /// `log(1 + x)`.
    same Log1p "math.log1p" log1p(x);
    /// The logarithm to base 2.
    same Log2 "math.log2" log2(x);
    /// A float to a power.
    same PowF "math.powf" powf(x, power);
    /// The nearest integer, of two the one away from 0.
    same Round "math.round" round(x);
    /// The nearest integer, of two the even one.
    same RoundEven "math.roundeven" roundeven(x);
    /// `1 / sqrt(x)`.
    same Rsqrt "math.rsqrt" rsqrt(x);
    /// The sine.
    same Sin "math.sin" sin(x);
    /// The hyperbolic sine.
    same Sinh "math.sinh" sinh(x);
    /// The square root.
    same Sqrt "math.sqrt" sqrt(x);
    /// The tangent.
    same Tan "math.tan" tan(x);
    /// The hyperbolic tangent.
    same Tanh "math.tanh" tanh(x);
    /// The integer part.
    same Trunc "math.trunc" trunc(x);
}
