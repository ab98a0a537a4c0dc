//! What matrices are made of.

use std::ops::Neg;
use std::sync::OnceLock;

use faer::traits::ComplexField;
use num_complex::{Complex32, Complex64};
use num_traits::{ConstOne, ConstZero, NumAssign};

use super::super::host;
use super::lapack::Lapack;

/// A real or complex number of single or double precision.
pub trait Number: Copy + Send + Sync + ComplexField + NumAssign + ConstZero + ConstOne + Neg<Output = Self> + 'static {
    /// From its parts, rounded; a real number has one.
    fn of(re: f64, im: f64) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part.
    fn im(self) -> f64;
    /// BLAS and LAPACK for these numbers, where the host has them.
    fn lapack() -> Option<&'static Lapack<Self>>;
    /// A real number, rounded.
    fn real(re: f64) -> Self {
        Self::of(re, 0.0)
    }
    /// The conjugate.
    fn conj(self) -> Self {
        Self::of(self.re(), -self.im())
    }
    /// Times a real number.
    fn scale(self, by: f64) -> Self {
        Self::of(self.re() * by, self.im() * by)
    }
    /// The absolute value.
    fn abs(self) -> f64 {
        // (That of a real number calls nothing.)
        if self.im() == 0.0 { self.re().abs() } else { self.re().hypot(self.im()) }
    }
    /// The square of the absolute value.
    fn square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
    /// What LAPACK compares pivots by: the sum of the parts' sizes.
    fn size(self) -> f64 {
        self.re().abs() + self.im().abs()
    }
}

/// An element of a tensor. Small matrices of single precision are computed with in double and rounded once.
pub trait Element: Number {
    /// The number of double precision of its kind.
    type Double: Number;
    /// The type of its real part.
    type Real: Element<Double = f64>;
    /// The type of complex numbers of its precision.
    type Complex: Element<Double = Complex64>;
}

macro_rules! elements {
    ($($letter:literal $element:ty, $double:ty, $real:ty, $complex:ty, |$x:ident| ($re:expr, $im:expr), |$a:ident, $b:ident| $of:expr;)*) => {$(
        impl Number for $element {
            fn of($a: f64, $b: f64) -> Self {
                let _ = $b;
                $of
            }

            fn re(self) -> f64 {
                let $x = self;
                f64::from($re)
            }

            fn im(self) -> f64 {
                let $x = self;
                let _ = $x;
                f64::from($im)
            }

            fn lapack() -> Option<&'static Lapack<Self>> {
                static FOUND: OnceLock<Option<Lapack<$element>>> = OnceLock::new();
                host::functions(&FOUND, || Lapack::of_host($letter))
            }
        }

        impl Element for $element {
            type Double = $double;
            type Real = $real;
            type Complex = $complex;
        }
    )*};
}

elements! {
    's' f32, f64, f32, Complex32, |x| (x, 0.0), |re, im| re as f32;
    'd' f64, f64, f64, Complex64, |x| (x, 0.0), |re, im| re;
    'c' Complex32, Complex64, f32, Complex32, |x| (x.re, x.im), |re, im| Complex32::new(re as f32, im as f32);
    'z' Complex64, Complex64, f64, Complex64, |x| (x.re, x.im), |re, im| Complex64::new(re, im);
}
