//! Constant tensors as numbers.

use half::{bf16, f16};
use strata_core::ir::{ElementType, Op, Value};
use strata_dialects::float8;
use strata_dialects::prim;

/// One element of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of a float type.
    Float(f64),
    /// Of an integer type, with its sign.
    Int(i128),
    /// A bool.
    Bool(bool),
}

/// The one number that all elements of a tensor are, through views that move or repeat elements.
pub fn splat(value: Value<'_>) -> Option<Number> {
    let mut op = value.defining_op()?;
    while matches!(op.name(), prim::Broadcast::NAME | prim::Reshape::NAME | prim::Transpose::NAME | prim::Slice::NAME | prim::Reverse::NAME)
    {
        op = op.operand(0).defining_op()?;
    }
    let (numbers, splat) = elements(op)?;
    numbers.first().copied().filter(|_| splat)
}

/// The one float that all elements of a tensor are.
pub fn splat_number(value: Value<'_>) -> Option<f64> {
    match splat(value)? {
        Number::Float(number) => Some(number),
        Number::Int(_) | Number::Bool(_) => None,
    }
}

/// The elements of a `prim.constant`, and whether one number stands for all.
pub fn elements(op: Op<'_>) -> Option<(Vec<Number>, bool)> {
    if !op.isa::<prim::Constant>() {
        return None;
    }
    let (bytes, splat) = op.attr("value")?.as_dense()?;
    let element = op.result(0).ty().element_type()?;
    let numbers = bytes.chunks_exact(element.bytes()).map(|bytes| decode(element, bytes)).collect::<Option<Vec<_>>>()?;
    Some((numbers, splat))
}

fn decode(element: ElementType, bytes: &[u8]) -> Option<Number> {
    use ElementType::*;
    macro_rules! read {
        ($ty:ty) => {
            <$ty>::from_le_bytes(bytes.try_into().ok()?)
        };
    }
    Some(match element {
        F64 => Number::Float(read!(f64)),
        F32 => Number::Float(read!(f32).into()),
        F16 => Number::Float(read!(f16).into()),
        BF16 => Number::Float(read!(bf16).into()),
        F8E4M3FN | F8E5M2 => Number::Float(float8::decode(element, *bytes.first()?)),
        I64 | Index => Number::Int(read!(i64).into()),
        I32 => Number::Int(read!(i32).into()),
        I16 => Number::Int(read!(i16).into()),
        I8 => Number::Int(read!(i8).into()),
        U64 => Number::Int(read!(u64).into()),
        U32 => Number::Int(read!(u32).into()),
        U16 => Number::Int(read!(u16).into()),
        U8 => Number::Int(read!(u8).into()),
        Bool => Number::Bool(*bytes.first()? != 0),
        C64 | C128 => return None,
    })
}

/// The bytes of a number in an element type, rounded once; `None` when the type does not hold it.
pub fn encode(element: ElementType, number: Number) -> Option<Vec<u8>> {
    use ElementType::*;
    macro_rules! whole {
        ($ty:ty, $value:expr) => {
            <$ty>::try_from($value).ok()?.to_le_bytes().to_vec()
        };
    }
    Some(match (element, number) {
        (F64, Number::Float(value)) => value.to_le_bytes().to_vec(),
        (F32, Number::Float(value)) => (value as f32).to_le_bytes().to_vec(),
        (F16, Number::Float(value)) => f16::from_f64(value).to_le_bytes().to_vec(),
        (BF16, Number::Float(value)) => bf16::from_f64(value).to_le_bytes().to_vec(),
        (F8E4M3FN | F8E5M2, Number::Float(value)) => vec![float8::encode(element, value)],
        (I64 | Index, Number::Int(value)) => whole!(i64, value),
        (I32, Number::Int(value)) => whole!(i32, value),
        (I16, Number::Int(value)) => whole!(i16, value),
        (I8, Number::Int(value)) => whole!(i8, value),
        (U64, Number::Int(value)) => whole!(u64, value),
        (U32, Number::Int(value)) => whole!(u32, value),
        (U16, Number::Int(value)) => whole!(u16, value),
        (U8, Number::Int(value)) => whole!(u8, value),
        (Bool, Number::Bool(value)) => vec![u8::from(value)],
        _ => return None,
    })
}

impl Number {
    /// Whether it is exactly a whole number (a float with that value, or an integer).
    pub fn is(self, whole: i64) -> bool {
        match self {
            Self::Float(value) => value == whole as f64 && !(whole == 0 && value.is_sign_negative()),
            Self::Int(value) => value == i128::from(whole),
            Self::Bool(_) => false,
        }
    }

    /// Whether it is the float -0.
    pub fn is_negative_zero(self) -> bool {
        matches!(self, Self::Float(value) if value == 0.0 && value.is_sign_negative())
    }
}

/// An integer brought into the range of its type as two's complement does.
pub fn wrap(element: ElementType, value: i128) -> Option<Number> {
    if !element.is_integer() {
        return None;
    }
    let modulus = 1i128 << element.bits();
    let low = value.rem_euclid(modulus);
    Some(Number::Int(if element.is_signed() && low >= modulus / 2 { low - modulus } else { low }))
}
