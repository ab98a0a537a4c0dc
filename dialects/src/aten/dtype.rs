//! Element types and PyTorch's rules for mixing them.

pub use strata_core::ir::ElementType as DType;
use strata_core::ir::ElementType::*;

use crate::float8;

/// What decides first when element types mix: any float beats any integer, any complex beats any float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the categories")]
pub enum Category {
    Bool,
    Integral,
    Float,
    Complex,
}

/// PyTorch's questions about an element type.
pub trait Numeric: Copy {
    /// The category of the type.
    fn category(self) -> Category;
    /// Integer or bool.
    fn is_integral(self) -> bool;
    /// `f16` or `bf16`: stored, but computed with in `f32`.
    fn is_half(self) -> bool;
    /// The type that operators on floats use for a tensor of this type: integers and bool become `f32`.
    fn to_float(self) -> DType;
    /// The type to compute in: `f32` for halves and floats of 8 bits.
    fn compute(self) -> DType;
    /// The type of real and imaginary parts; a real type itself.
    fn real_part(self) -> DType;
    /// The complex type with parts of this type.
    fn to_complex(self) -> DType;
}

impl Numeric for DType {
    fn category(self) -> Category {
        match self {
            Bool => Category::Bool,
            U8 | I8 | I16 | I32 | I64 | U16 | U32 | U64 | Index => Category::Integral,
            F8E4M3FN | F8E5M2 | F16 | BF16 | F32 | F64 => Category::Float,
            C64 | C128 => Category::Complex,
        }
    }

    fn is_integral(self) -> bool {
        self.category() <= Category::Integral
    }

    fn is_half(self) -> bool {
        matches!(self, F16 | BF16)
    }

    fn to_float(self) -> DType {
        if self.is_integral() { F32 } else { self }
    }

    fn compute(self) -> DType {
        if self.is_half() || self.is_float8() { F32 } else { self }
    }

    fn real_part(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            real => real,
        }
    }

    fn to_complex(self) -> DType {
        match self {
            F64 | C128 => C128,
            _ => C64,
        }
    }
}

/// The element type of ScalarType `code` as an exported program numbers them (float is 7), where the IR has one.
pub fn of_export_code(code: i64) -> Option<DType> {
    Some(match code {
        1 => U8,
        2 => I8,
        3 => I16,
        4 => I32,
        5 => I64,
        6 => F16,
        7 => F32,
        8 => F64,
        10 => C64,
        11 => C128,
        12 => Bool,
        13 => BF16,
        28 => U16,
        29 => F8E4M3FN,
        30 => F8E5M2,
        34 => U32,
        35 => U64,
        _ => return None,
    })
}

/// The element type of ScalarType `code` as ATen numbers them (float is 6), as in schema defaults (`dtype=4`).
pub fn of_aten_code(code: i64) -> Option<DType> {
    Some(match code {
        0 => U8,
        1 => I8,
        2 => I16,
        3 => I32,
        4 => I64,
        5 => F16,
        6 => F32,
        7 => F64,
        9 => C64,
        10 => C128,
        11 => Bool,
        15 => BF16,
        23 => F8E5M2,
        24 => F8E4M3FN,
        27 => U16,
        28 => U32,
        29 => U64,
        _ => return None,
    })
}

/// The type of a result of tensors of types `a` and `b`, both of rank above 0 or both of rank 0.
pub fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let (low, high) = if a.category() <= b.category() { (a, b) } else { (b, a) };
    match (low.category(), high.category()) {
        (l, Category::Complex) if l < Category::Complex => {
            if low == F64 {
                C128
            } else {
                high
            }
        }
        (l, h) if l < h => high,
        (Category::Complex, _) => C128,
        (Category::Float, _) => wider_float(low, high),
        _ => wider_integer(low, high),
    }
}

fn wider_float(a: DType, b: DType) -> DType {
    match (a, b) {
        (F16, BF16) | (BF16, F16) => F32,
        _ if a.bits() >= b.bits() => a,
        _ => b,
    }
}

/// Mixing signedness goes to the next wider signed type; `u8` fits into `i16`.
fn wider_integer(a: DType, b: DType) -> DType {
    let (signed, unsigned) = match (a.is_signed(), b.is_signed()) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return if a.bits() >= b.bits() { a } else { b },
    };
    match signed.bits().max(unsigned.bits() * 2) {
        16 => I16,
        32 => I32,
        _ => I64,
    }
}

/// How an operand takes part in promotion: of rank above 0, of rank 0, or a Python number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "explained above")]
pub enum Weight {
    Dimensioned,
    ZeroDim,
    Number,
}

/// PyTorch's `result_type`: an operand of lower weight only counts if its category is higher.
pub fn result_type(operands: &[(DType, Weight)]) -> DType {
    let of = |weight| operands.iter().filter(|o| o.1 == weight).map(|o| o.0).reduce(promote);
    let low = combine(of(Weight::ZeroDim), of(Weight::Number));
    combine(of(Weight::Dimensioned), low).unwrap_or(F32)
}

fn combine(high: Option<DType>, low: Option<DType>) -> Option<DType> {
    let (Some(h), Some(l)) = (high, low) else { return high.or(low) };
    Some(match (h.category(), l.category()) {
        (Category::Complex, _) => h,
        (Category::Float, Category::Complex) => h.to_complex(),
        (Category::Float, _) => h,
        (Category::Bool, _) | (_, Category::Float | Category::Complex) => promote(h, l),
        _ => h,
    })
}

/// The bytes of one element of type `dtype` with the value of a Python number, as PyTorch casts it.
pub fn encode(dtype: DType, int: i64, float: f64) -> Vec<u8> {
    match dtype {
        F64 => float.to_le_bytes().to_vec(),
        F32 => (float as f32).to_le_bytes().to_vec(),
        F16 => half::f16::from_f64(float).to_le_bytes().to_vec(),
        BF16 => half::bf16::from_f64(float).to_le_bytes().to_vec(),
        F8E4M3FN | F8E5M2 => vec![float8::encode(dtype, float)],
        C64 => [(float as f32).to_le_bytes(), [0; 4]].concat(),
        C128 => [float.to_le_bytes(), [0; 8]].concat(),
        Bool => vec![u8::from(float != 0.0)],
        integer => int.to_le_bytes()[..integer.bytes()].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_follows_pytorch() {
        assert_eq!(promote(U8, I8), I16);
        assert_eq!(promote(F16, BF16), F32);
        assert_eq!(promote(I64, F16), F16);
        assert_eq!(promote(F64, C64), C128);
        assert_eq!(result_type(&[(I32, Weight::Dimensioned), (F32, Weight::Number)]), F32);
        assert_eq!(result_type(&[(F16, Weight::Dimensioned), (F64, Weight::ZeroDim)]), F16);
        assert_eq!(result_type(&[(U8, Weight::Dimensioned), (I64, Weight::Number)]), U8);
        assert_eq!(result_type(&[(Bool, Weight::Dimensioned), (I64, Weight::Number)]), I64);
    }
}
