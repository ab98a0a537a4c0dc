//! The two precisions that the functions are written for once.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `f32` or `f64`. Every step rounds to the type, as PyTorch's functions of one element do.
pub(super) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// A constant, rounded.
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn abs(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn acos(self) -> Self;
    /// `self * a + b`, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;
    fn is_nan(self) -> bool;
    const NAN: Self;
    const INFINITY: Self;
    /// The largest degree at which the type holds a Hermite polynomial.
    const HERMITE_LIMIT: i64;
    /// How many terms of the near and the far expansion of I1 the type can tell from none.
    const I1_TERMS: (usize, usize);
}

macro_rules! real {
    ($type:ident $limit:literal $i1:expr) => {
        impl Real for $type {
            const NAN: Self = $type::NAN;
            const INFINITY: Self = $type::INFINITY;
            const HERMITE_LIMIT: i64 = $limit;
            const I1_TERMS: (usize, usize) = $i1;

            fn of(value: f64) -> Self {
                value as $type
            }

            fn wide(self) -> f64 {
                self.into()
            }

            fn is_nan(self) -> bool {
                $type::is_nan(self)
            }

            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            real!(@forward $type abs exp ln sqrt sin cos acos);
        }
    };
    (@forward $type:ident $($method:ident)*) => {
        $(fn $method(self) -> Self {
            $type::$method(self)
        })*
    };
}

real!(f32 128 (17, 7));
real!(f64 512 (29, 25));
