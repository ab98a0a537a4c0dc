//! Arithmetic on tensors of the `prim` builder: pointwise operators with broadcasting.
//!
//! Operands must have one element type; numbers take the type of the tensor that they stand beside.

use std::ops::{Add, Div, Mul, Neg, Not, Rem, Sub};

use crate::aten::dtype::{Category, DType, Numeric};
use crate::prim;
use strata_core::ir::Value;

use super::builder::{Prim, Scalar};
use super::size::Size;
use super::tensor::Tensor;

/// Functions whose value is hardly ever exact, sorted. `erf`, `erfc` and `exp2` are rounded once in `f32` already, at every whole number.
const FUNCTIONS: &[&str] = &[
    prim::Acos::NAME,
    prim::Acosh::NAME,
    prim::Asin::NAME,
    prim::Asinh::NAME,
    prim::Atan::NAME,
    prim::Atan2::NAME,
    prim::Cos::NAME,
    prim::Exp::NAME,
    prim::Expm1::NAME,
    prim::Log::NAME,
    prim::Log10::NAME,
    prim::Log1p::NAME,
    prim::Log2::NAME,
    prim::Pow::NAME,
    prim::Sin::NAME,
    prim::Tan::NAME,
    prim::Tanh::NAME,
];

/// A tensor, or a number that becomes one beside a tensor.
pub trait Operand<'c>: Copy {
    /// The tensor, for use beside `other`.
    fn beside(self, other: Tensor<'c>) -> Tensor<'c>;
}

impl<'c> Operand<'c> for Tensor<'c> {
    fn beside(self, _: Tensor<'c>) -> Tensor<'c> {
        self
    }
}

impl<'c> Operand<'c> for f64 {
    fn beside(self, other: Tensor<'c>) -> Tensor<'c> {
        other.number(Scalar::Float(self))
    }
}

impl<'c> Operand<'c> for i64 {
    fn beside(self, other: Tensor<'c>) -> Tensor<'c> {
        other.number(Scalar::Int(self))
    }
}

impl<'c> Operand<'c> for Scalar<'c> {
    fn beside(self, other: Tensor<'c>) -> Tensor<'c> {
        other.number(self)
    }
}

impl<'c> Operand<'c> for Size<'c> {
    fn beside(self, other: Tensor<'c>) -> Tensor<'c> {
        other.prim.size_tensor(other.dtype(), self)
    }
}

impl<'c> Prim<'c> {
    /// The common shape of tensors aligned at their last dimensions.
    pub fn common_shape(&self, tensors: &[Tensor<'c>]) -> Vec<Size<'c>> {
        let shapes: Vec<_> = tensors.iter().map(|t| t.shape()).collect();
        self.common_sizes(&shapes.iter().map(|s| &s[..]).collect::<Vec<_>>())
    }

    /// The shape that shapes aligned at their last dimensions broadcast to. Sizes that are not known are equal and not 1.
    pub fn common_sizes(&self, shapes: &[&[Size<'c>]]) -> Vec<Size<'c>> {
        let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
        let mut common = vec![Size::Const(1); rank];
        for shape in shapes {
            for (size, other) in common[rank - shape.len()..].iter_mut().zip(*shape) {
                *size = match (*size, *other) {
                    (a, Size::Const(1)) => a,
                    (Size::Const(1), b) => b,
                    (Size::Const(a), Size::Const(b)) if a != b => {
                        self.fail(format!("sizes {a} and {b} do not broadcast"));
                        Size::Const(a)
                    }
                    (_, b @ Size::Const(_)) => b,
                    (a, _) => a,
                };
            }
        }
        common
    }

    /// Broadcasts tensors to their common shape.
    pub fn broadcast<const N: usize>(&self, tensors: [Tensor<'c>; N]) -> [Tensor<'c>; N] {
        let shape = self.common_shape(&tensors);
        tensors.map(|t| t.broadcast_to(&shape))
    }
}

impl<'c> Tensor<'c> {
    /// A pointwise op of one operand and the same result type.
    pub fn unary(self, name: &str) -> Tensor<'c> {
        if self.rounds_once(name) {
            return self.convert(DType::F64).plain(name).convert(DType::F32);
        }
        if self.dtype() == DType::F64 && self.prim.is_whole() && matches!(name, prim::Exp::NAME | prim::Log::NAME) {
            return self.special(name.trim_start_matches("prim."), &[]);
        }
        self.plain(name)
    }

    fn plain(self, name: &str) -> Tensor<'c> {
        self.prim.emit(name, &[self.value()], &[], self.dtype(), self.shape())
    }

    /// A pointwise op of two operands after broadcasting.
    pub fn binary(self, name: &str, other: impl Operand<'c>) -> Tensor<'c> {
        if self.rounds_once(name) {
            let other = other.beside(self).convert(DType::F64);
            return self.convert(DType::F64).binary(name, other).convert(DType::F32);
        }
        let dtype = self.dtype();
        self.pointwise(name, other.beside(self), dtype)
    }

    /// Whether a function's value is wanted rounded once, by way of `f64`: see [`Prim::set_whole`].
    fn rounds_once(self, name: &str) -> bool {
        self.dtype() == DType::F32 && self.prim.is_whole() && FUNCTIONS.binary_search(&name).is_ok()
    }

    /// A comparison after broadcasting.
    pub fn compare(self, name: &str, other: impl Operand<'c>) -> Tensor<'c> {
        self.pointwise(name, other.beside(self), DType::Bool)
    }

    fn pointwise(self, name: &str, other: Tensor<'c>, result: DType) -> Tensor<'c> {
        let [a, b] = self.prim.broadcast([self, other]);
        if a.dtype() != b.dtype() {
            self.prim.fail(format!("{name} of {} and {}", a.dtype(), b.dtype()));
            return a.convert(result);
        }
        self.prim.emit(name, &[a.value(), b.value()], &[], result, a.shape())
    }

    /// Where this condition holds `a`, else `b`; all broadcast.
    pub fn select(self, a: Tensor<'c>, b: impl Operand<'c>) -> Tensor<'c> {
        let [c, a, b] = self.prim.broadcast([self, a, b.beside(a)]);
        if c.dtype() != DType::Bool || a.dtype() != b.dtype() {
            self.prim.fail(format!("prim.select of {}, {} and {}", c.dtype(), a.dtype(), b.dtype()));
            return a;
        }
        let operands: [Value<'c>; 3] = [c.value(), a.value(), b.value()];
        self.prim.emit(prim::Select::NAME, &operands, &[], a.dtype(), a.shape())
    }

    /// Replaces elements by a number where `condition` holds.
    pub fn fill_where(self, condition: Tensor<'c>, number: impl Operand<'c>) -> Tensor<'c> {
        condition.select(number.beside(self), self)
    }

    /// The complex number of a real and an imaginary part.
    pub fn complex(self, imaginary: Tensor<'c>) -> Tensor<'c> {
        let dtype = self.dtype().to_complex();
        self.pointwise(prim::MakeComplex::NAME, imaginary, dtype)
    }

    /// The real part.
    pub fn real(self) -> Tensor<'c> {
        if !self.dtype().is_complex() {
            return self;
        }
        self.prim.emit(prim::Real::NAME, &[self.value()], &[], self.dtype().real_part(), self.shape())
    }

    /// The imaginary part.
    pub fn imag(self) -> Tensor<'c> {
        self.prim.emit(prim::Imag::NAME, &[self.value()], &[], self.dtype().real_part(), self.shape())
    }

    /// Which elements are NaN.
    pub fn is_nan(self) -> Tensor<'c> {
        match self.dtype().category() {
            Category::Float => self.prim.emit(prim::IsNan::NAME, &[self.value()], &[], DType::Bool, self.shape()),
            Category::Complex => self.real().is_nan().or(self.imag().is_nan()),
            _ => self.prim.full(DType::Bool, Scalar::Bool(false), &self.shape()),
        }
    }

    /// Absolute value; of a complex number its modulus.
    pub fn abs(self) -> Tensor<'c> {
        match self.dtype() {
            dtype if dtype.is_complex() => self.prim.emit(prim::Abs::NAME, &[self.value()], &[], dtype.real_part(), self.shape()),
            dtype if dtype.is_unsigned() || dtype == DType::Bool => self,
            _ => self.unary(prim::Abs::NAME),
        }
    }

    /// `1 / (1 + exp(-x))`.
    pub fn sigmoid(self) -> Tensor<'c> {
        ((-self).exp() + 1.0).reciprocal()
    }

    /// `1 / x`.
    pub fn reciprocal(self) -> Tensor<'c> {
        self.number(Scalar::Int(1)) / self
    }

    /// `x * x`.
    pub fn square(self) -> Tensor<'c> {
        self * self
    }

    /// The larger of x and 0.
    pub fn relu(self) -> Tensor<'c> {
        self.maximum(0)
    }

    /// At least `low` and at most `high`.
    pub fn clamp(self, low: impl Operand<'c>, high: impl Operand<'c>) -> Tensor<'c> {
        self.maximum(low).minimum(high)
    }
}

macro_rules! methods {
    ($kind:ident: $($(#[$doc:meta])* $method:ident => $op:ident),* $(,)?) => {
        impl<'c> Tensor<'c> {
            $(methods!(@$kind $(#[$doc])* $method $op);)*
        }
    };
    (@unary $(#[$doc:meta])* $method:ident $op:ident) => {
        $(#[$doc])*
        #[doc = concat!("[`prim::", stringify!($op), "`].")]
        pub fn $method(self) -> Tensor<'c> {
            self.unary(prim::$op::NAME)
        }
    };
    (@binary $(#[$doc:meta])* $method:ident $op:ident) => {
        $(#[$doc])*
        #[doc = concat!("[`prim::", stringify!($op), "`] after broadcasting.")]
        pub fn $method(self, other: impl Operand<'c>) -> Tensor<'c> {
            self.binary(prim::$op::NAME, other)
        }
    };
    (@compare $(#[$doc:meta])* $method:ident $op:ident) => {
        $(#[$doc])*
        #[doc = concat!("[`prim::", stringify!($op), "`] after broadcasting.")]
        pub fn $method(self, other: impl Operand<'c>) -> Tensor<'c> {
            self.compare(prim::$op::NAME, other)
        }
    };
}

methods!(unary: sign => Sign, exp => Exp, exp2 => Exp2, expm1 => Expm1, log => Log, log2 => Log2, log10 => Log10,
    log1p => Log1p, sqrt => Sqrt, rsqrt => Rsqrt, sin => Sin, cos => Cos, tan => Tan, asin => Asin, acos => Acos,
    atan => Atan, sinh => Sinh, cosh => Cosh, tanh => Tanh, asinh => Asinh, acosh => Acosh, atanh => Atanh,
    erf => Erf, erfc => Erfc, erfinv => Erfinv, lgamma => Lgamma, digamma => Digamma, floor => Floor, ceil => Ceil,
    round => Round, trunc => Trunc);
methods!(binary: pow => Pow, atan2 => Atan2, maximum => Maximum, minimum => Minimum, and => And, or => Or, xor => Xor,
    shift_left => Shl, shift_right => Shr, nextafter => Nextafter);
methods!(compare: equal => Eq, not_equal => Ne, less => Lt, less_equal => Le, greater => Gt, greater_equal => Ge);

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<'c, O: Operand<'c>> $trait<O> for Tensor<'c> {
            type Output = Tensor<'c>;

            fn $method(self, other: O) -> Tensor<'c> {
                self.binary(prim::$trait::NAME, other)
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul, Div div, Rem rem);

impl<'c> Neg for Tensor<'c> {
    type Output = Tensor<'c>;

    fn neg(self) -> Tensor<'c> {
        self.unary(prim::Neg::NAME)
    }
}

impl<'c> Not for Tensor<'c> {
    type Output = Tensor<'c>;

    fn not(self) -> Tensor<'c> {
        self.unary(prim::Not::NAME)
    }
}
