//! `complex`: complex numbers.

use super::ops;

ops! {
    /// `x + y`.
    same Add "complex.add" add(lhs, rhs);
    /// A number of its two parts.
    cast Create "complex.create" create(real, imaginary);
    /// Whether both parts are equal.
    op Eq "complex.eq";
    /// The imaginary part.
    cast Im "complex.im" im(x);
    /// `x * y`.
    same Mul "complex.mul" mul(lhs, rhs);
    /// Whether a part differs.
    op NotEq "complex.neq";
    /// The real part.
    cast Re "complex.re" re(x);
}
