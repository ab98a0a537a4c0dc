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
    /// The largest degree at which the type holds a Hermite polynomial.
    const HERMITE_LIMIT: i64;
    /// How many terms of the near and the far expansion of I1 the type can tell from none.
    const I1_TERMS: (usize, usize);
}

macro_rules! real {
    ($type:ident $limit:literal $i1:expr) => {
        impl Real for $type {
            const HERMITE_LIMIT: i64 = $limit;
            const I1_TERMS: (usize, usize) = $i1;

            fn of(value: f64) -> Self {
                value as $type
            }
        }
    };
}

real!(f32 128 (17, 7));
real!(f64 512 (29, 25));

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
