//! What matrices are made of: elements in memory, and the numbers that they are computed with.

use std::ops::Neg;

use num_complex::{Complex32, Complex64};
use num_traits::{ConstOne, ConstZero, NumAssign};

use super::product::Multiply;

/// A real or complex number of double precision.
pub trait Number: Copy + Send + Sync + From<f64> + Multiply + NumAssign + ConstZero + ConstOne + Neg<Output = Self> {
    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part.
    fn im(self) -> f64;
    /// The conjugate.
    fn conj(self) -> Self;
    /// Times a real number.
    fn scale(self, by: f64) -> Self;
    /// The absolute value.
    fn abs(self) -> f64 {
        self.re().hypot(self.im())
    }
    /// The square of the absolute value.
    fn square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
    /// What LAPACK compares pivots by: the sum of the parts' sizes.
    fn size(self) -> f64 {
        self.re().abs() + self.im().abs()
    }
    /// From its parts; a real number has one.
    fn of(re: f64, im: f64) -> Self;
}

impl Number for f64 {
    fn re(self) -> f64 {
        self
    }

    fn im(self) -> f64 {
        0.0
    }

    fn conj(self) -> f64 {
        self
    }

    fn scale(self, by: f64) -> f64 {
        self * by
    }

    fn of(re: f64, _: f64) -> f64 {
        re
    }
}

impl Number for Complex64 {
    fn re(self) -> f64 {
        self.re
    }

    fn im(self) -> f64 {
        self.im
    }

    fn conj(self) -> Complex64 {
        Complex64::new(self.re, -self.im)
    }

    fn scale(self, by: f64) -> Complex64 {
        Complex64::new(self.re * by, self.im * by)
    }

    fn of(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }
}

/// An element of a tensor. Single precision is computed with in double and rounded once.
pub trait Element: Copy {
    /// What it is computed with.
    type Number: Number;
    /// The type of its real part.
    type Real: Element<Number = f64>;
    /// The type of complex numbers of its precision.
    type Complex: Element<Number = Complex64>;
    /// As a number.
    fn get(self) -> Self::Number;
    /// From a number, rounded.
    fn put(number: Self::Number) -> Self;
}

macro_rules! elements {
    ($($element:ty, $number:ty, $real:ty, $complex:ty, $get:expr, $put:expr;)*) => {$(
        impl Element for $element {
            type Number = $number;
            type Real = $real;
            type Complex = $complex;

            fn get(self) -> $number {
                let get: fn($element) -> $number = $get;
                get(self)
            }

            fn put(number: $number) -> $element {
                let put: fn($number) -> $element = $put;
                put(number)
            }
        }
    )*};
}

elements! {
    f32, f64, f32, Complex32, f64::from, |x| x as f32;
    f64, f64, f64, Complex64, |x| x, |x| x;
    Complex32, Complex64, f32, Complex32, |x| Complex64::new(x.re.into(), x.im.into()), |x| Complex32::new(x.re as f32, x.im as f32);
    Complex64, Complex64, f64, Complex64, |x| x, |x| x;
}
