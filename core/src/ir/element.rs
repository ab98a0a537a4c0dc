//! The element types of tensors.

use std::fmt;

/// An element type, with the sign that PyTorch gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are PyTorch's and MLIR's")]
pub enum ElementType {
    F64,
    F32,
    F16,
    BF16,
    F8E4M3FN,
    F8E5M2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    C64,
    C128,
    Index,
}

impl ElementType {
    /// Width of one element in registers (`Bool` is 1).
    pub fn bits(self) -> u32 {
        use ElementType::*;
        match self {
            Bool => 1,
            I8 | U8 | F8E4M3FN | F8E5M2 => 8,
            F16 | BF16 | I16 | U16 => 16,
            F32 | I32 | U32 => 32,
            F64 | I64 | U64 | C64 | Index => 64,
            C128 => 128,
        }
    }

    /// Bytes of one element in a buffer (`Bool` takes one).
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// f64, f32, f16 or bf16: a type that is computed with.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F64 | Self::F32 | Self::F16 | Self::BF16)
    }

    /// A float of 8 bits: a type that numbers are stored in, and converted from and to.
    pub fn is_float8(self) -> bool {
        matches!(self, Self::F8E4M3FN | Self::F8E5M2)
    }

    /// A complex type.
    pub fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// A signed integer (not bool, not index).
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I64 | Self::I32 | Self::I16 | Self::I8)
    }

    /// An unsigned integer (not bool).
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::U64 | Self::U32 | Self::U16 | Self::U8)
    }

    /// An integer, signed or unsigned (not bool).
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }
}

impl fmt::Display for ElementType {
    /// As MLIR prints it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ElementType::*;
        formatter.write_str(match self {
            F64 => "f64",
            F32 => "f32",
            F16 => "f16",
            BF16 => "bf16",
            F8E4M3FN => "f8E4M3FN",
            F8E5M2 => "f8E5M2",
            I64 => "i64",
            I32 => "i32",
            I16 => "i16",
            I8 => "i8",
            U64 => "ui64",
            U32 => "ui32",
            U16 => "ui16",
            U8 => "ui8",
            Bool => "i1",
            C64 => "complex<f32>",
            C128 => "complex<f64>",
            Index => "index",
        })
    }
}
