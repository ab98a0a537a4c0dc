//! Element types and single elements, with PyTorch's casting and promotion rules.

use half::{bf16, f16};
use num_complex::Complex64;

use super::float8;

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum DType {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F8E4M3FN,
    F8E5M2,
    F16,
    Bf16,
    F32,
    F64,
    C64,
    C128,
}

/// The rank of an element type in promotion: bool < integer < float < complex.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Category {
    Bool,
    Int,
    Float,
    Complex,
}

/// One element. Integers are wide enough for every signed and unsigned type.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Scalar {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(Complex64),
}

use DType::*;

impl DType {
    /// The promotion category.
    pub fn category(self) -> Category {
        match self {
            Bool => Category::Bool,
            U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 => Category::Int,
            F8E4M3FN | F8E5M2 | F16 | Bf16 | F32 | F64 => Category::Float,
            C64 | C128 => Category::Complex,
        }
    }

    /// True for floats of every width.
    pub fn is_float(self) -> bool {
        self.category() == Category::Float
    }

    /// True for floats of 8 bits, which are only stored.
    pub fn is_float8(self) -> bool {
        matches!(self, F8E4M3FN | F8E5M2)
    }

    /// True for c64 and c128.
    pub fn is_complex(self) -> bool {
        self.category() == Category::Complex
    }

    /// True for integers; bool is not an integer here.
    pub fn is_int(self) -> bool {
        self.category() == Category::Int
    }

    /// True for bool and integers.
    pub fn is_integral(self) -> bool {
        self.category() <= Category::Int
    }

    /// True for signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Bytes of one element in a buffer.
    pub fn size(self) -> usize {
        match self {
            Bool | U8 | I8 | F8E4M3FN | F8E5M2 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 | C64 => 8,
            C128 => 16,
        }
    }

    /// The type of the real part.
    pub fn real(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            other => other,
        }
    }

    /// The complex type whose parts hold this type.
    pub fn complex(self) -> DType {
        match self {
            F64 | C128 => C128,
            _ => C64,
        }
    }

    /// Itself when floating or complex, otherwise the default float type.
    pub fn floating(self) -> DType {
        if self.is_integral() { F32 } else { self }
    }

    /// The distance from 1 to the next larger value of a float type.
    pub fn epsilon(self) -> f64 {
        match self.real() {
            F16 => f64::powi(2.0, -10),
            Bf16 => f64::powi(2.0, -7),
            F64 => f64::EPSILON,
            _ => f32::EPSILON as f64,
        }
    }

    /// The largest finite value of a float type.
    pub fn max_float(self) -> f64 {
        match self.real() {
            F16 => f16::MAX.to_f64(),
            Bf16 => bf16::MAX.to_f64(),
            F64 => f64::MAX,
            _ => f32::MAX as f64,
        }
    }

    /// The smallest and the largest value of an integer type (0 and 1 for bool).
    pub fn int_range(self) -> (i128, i128) {
        let bits = self.size() as u32 * 8;
        match self {
            Bool => (0, 1),
            _ if self.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            _ => (0, (1i128 << bits) - 1),
        }
    }

    /// The least value: minus infinity, or the smallest integer.
    pub fn lowest(self) -> Scalar {
        if self.is_integral() { self.cast(Scalar::Int(self.int_range().0)) } else { Scalar::Float(f64::NEG_INFINITY) }
    }

    /// The greatest value: infinity, or the largest integer.
    pub fn highest(self) -> Scalar {
        if self.is_integral() { self.cast(Scalar::Int(self.int_range().1)) } else { Scalar::Float(f64::INFINITY) }
    }

    /// Rounds to the nearest value of this float type.
    pub fn round(self, x: f64) -> f64 {
        match self.real() {
            F16 => f16::from_f64(x).to_f64(),
            Bf16 => bf16::from_f64(x).to_f64(),
            F32 => x as f32 as f64,
            F8E4M3FN | F8E5M2 => float8::decode(self, float8::encode(self, x)),
            _ => x,
        }
    }

    /// Reduces an integer modulo two to the width of this type.
    pub fn wrap(self, x: i128) -> i128 {
        match self {
            Bool => (x != 0) as i128,
            U8 => x as u8 as i128,
            U16 => x as u16 as i128,
            U32 => x as u32 as i128,
            U64 => x as u64 as i128,
            I8 => x as i8 as i128,
            I16 => x as i16 as i128,
            I32 => x as i32 as i128,
            _ => x as i64 as i128,
        }
    }

    /// Converts an element to this type, as `Tensor.to` does.
    ///
    /// Out-of-range floats become what x86 makes of them: the smallest integer of the conversion.
    pub fn cast(self, x: Scalar) -> Scalar {
        match self.category() {
            Category::Bool => Scalar::Bool(x.truthy()),
            Category::Int => Scalar::Int(match x {
                Scalar::Float(v) => self.wrap(self.truncate(v)),
                Scalar::Complex(v) => self.wrap(self.truncate(v.re)),
                other => self.wrap(other.int()),
            }),
            Category::Float => Scalar::Float(self.round(x.float())),
            Category::Complex => {
                let v = x.complex();
                Scalar::Complex(Complex64::new(self.round(v.re), self.round(v.im)))
            }
        }
    }

    fn truncate(self, v: f64) -> i128 {
        match self {
            U64 if (9.223_372_036_854_776e18..1.844_674_407_370_955_2e19).contains(&v) => v as i128,
            I64 | U64 | U8 | U32 => {
                if v.is_nan() || !(-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&v) {
                    i64::MIN as i128
                } else {
                    v as i128
                }
            }
            _ if v.is_nan() || v <= -2147483649.0 || v >= 2147483648.0 => i32::MIN as i128,
            _ => v as i128,
        }
    }
}

impl Scalar {
    /// The type a Python number of this kind promotes as.
    pub fn default_dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => Bool,
            Scalar::Int(_) => I64,
            Scalar::Float(_) => F32,
            Scalar::Complex(_) => C64,
        }
    }

    /// As a real number; the imaginary part is dropped.
    pub fn float(self) -> f64 {
        match self {
            Scalar::Bool(v) => v as u8 as f64,
            Scalar::Int(v) => v as f64,
            Scalar::Float(v) => v,
            Scalar::Complex(v) => v.re,
        }
    }

    /// As an integer, truncating.
    pub fn int(self) -> i128 {
        match self {
            Scalar::Bool(v) => v as i128,
            Scalar::Int(v) => v,
            Scalar::Float(v) => v as i128,
            Scalar::Complex(v) => v.re as i128,
        }
    }

    /// As a complex number.
    pub fn complex(self) -> Complex64 {
        match self {
            Scalar::Complex(v) => v,
            other => Complex64::new(other.float(), 0.0),
        }
    }

    /// Not equal to zero.
    pub fn truthy(self) -> bool {
        match self {
            Scalar::Bool(v) => v,
            Scalar::Int(v) => v != 0,
            Scalar::Float(v) => v != 0.0,
            Scalar::Complex(v) => v.re != 0.0 || v.im != 0.0,
        }
    }

    /// NaN, or complex with a NaN part.
    pub fn is_nan(self) -> bool {
        match self {
            Scalar::Float(v) => v.is_nan(),
            Scalar::Complex(v) => v.re.is_nan() || v.im.is_nan(),
            _ => false,
        }
    }
}

/// The smallest type that holds both, as `torch.promote_types`.
pub fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let (low, high) = if a.category() <= b.category() { (a, b) } else { (b, a) };
    if low.category() != high.category() {
        return match (low, high) {
            (F64, C64) => C128,
            _ => high,
        };
    }
    match high.category() {
        Category::Complex => C128,
        Category::Float if a == F64 || b == F64 => F64,
        Category::Float => F32,
        _ if a.is_signed() == b.is_signed() => {
            if a.size() >= b.size() {
                a
            } else {
                b
            }
        }
        _ => {
            let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
            match unsigned.size() {
                _ if signed.size() > unsigned.size() => signed,
                1 => I16,
                2 => I32,
                _ => I64,
            }
        }
    }
}
