//! The two precisions that the functions are written for once.

use num_traits::{Float, NumAssign};

/// `f32` or `f64`. Every step rounds to the type, as PyTorch's functions of one element do.
pub(super) trait Real: Float + NumAssign + Into<f64> {
    /// A constant, rounded.
    fn of(value: f64) -> Self;
    /// Without loss.
    fn wide(self) -> f64 {
        self.into()
    }
}

macro_rules! real {
    ($type:ident) => {
        impl Real for $type {
            fn of(value: f64) -> Self {
                value as $type
            }
        }
    };
}

real!(f32);
real!(f64);

/// The C library's exponential.
#[inline(always)]
pub(super) fn exp<T: Real>(x: T) -> T {
    x.exp()
}

/// The C library's natural logarithm.
#[inline(always)]
pub(super) fn log<T: Real>(x: T) -> T {
    x.ln()
}
