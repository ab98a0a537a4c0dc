//! `complex`: complex numbers.

use super::ops;

ops! {
    /// The modulus.
    cast Abs "complex.abs" abs(x);
    /// `x + y`.
    same Add "complex.add" add(lhs, rhs);
    /// The angle of a point.
    same Atan2 "complex.atan2" atan2(y, x);
    /// The cosine.
    same Cos "complex.cos" cos(x);
    /// The same bits as another type.
    cast Bitcast "complex.bitcast" bitcast(x);
    /// The conjugate.
    same Conj "complex.conj" conj(x);
    /// A constant.
    op Constant "complex.constant";
    /// A number of its two parts.
    cast Create "complex.create" create(real, imaginary);
    /// `x / y`.
    same Div "complex.div" div(lhs, rhs);
    /// Whether both parts are equal.
    test Eq "complex.eq" eq(lhs, rhs);
    /// `e^x`.
    same Exp "complex.exp" exp(x);
    /// `e^x - 1`.
    same Expm1 "complex.expm1" expm1(x);
    /// The imaginary part.
    cast Im "complex.im" im(x);
    /// The natural logarithm.
    same Log "complex.log" log(x);
    /// `log(1 + x)`.
    same Log1p "complex.log1p" log1p(x);
    /// `x * y`.
    same Mul "complex.mul" mul(lhs, rhs);
    /// `-x`.
    same Neg "complex.neg" neg(x);
    /// Whether a part differs.
    test NotEq "complex.neq" neq(lhs, rhs);
    /// `x^y`.
    same Pow "complex.pow" pow(x, power);
    /// The real part.
    cast Re "complex.re" re(x);
    /// `1 / sqrt(x)`.
    same Rsqrt "complex.rsqrt" rsqrt(x);
    /// The number of modulus 1 with the same angle; 0 of 0.
    same Sign "complex.sign" sign(x);
    /// The sine.
    same Sin "complex.sin" sin(x);
    /// The square root.
    same Sqrt "complex.sqrt" sqrt(x);
    /// `x - y`.
    same Sub "complex.sub" sub(lhs, rhs);
    /// The tangent.
    same Tan "complex.tan" tan(x);
    /// The hyperbolic tangent.
    same Tanh "complex.tanh" tanh(x);
}
