//! PyTorch's numbered enums: element types, layouts and memory formats.

use std::fmt;

use serde::Deserialize;

/// An element type, with PyTorch's serialization numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "i64")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ScalarType {
    U8,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    C32,
    C64,
    C128,
    Bool,
    BF16,
    U16,
    U32,
    U64,
    F8E4M3FN,
    F8E5M2,
    F8E4M3Fnuz,
    F8E5M2Fnuz,
    F8E8M0,
}

impl TryFrom<i64> for ScalarType {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        Ok(match number {
            1 => Self::U8,
            2 => Self::I8,
            3 => Self::I16,
            4 => Self::I32,
            5 => Self::I64,
            6 => Self::F16,
            7 => Self::F32,
            8 => Self::F64,
            9 => Self::C32,
            10 => Self::C64,
            11 => Self::C128,
            12 => Self::Bool,
            13 => Self::BF16,
            28 => Self::U16,
            29 => Self::F8E4M3FN,
            30 => Self::F8E5M2,
            31 => Self::F8E4M3Fnuz,
            32 => Self::F8E5M2Fnuz,
            33 => Self::F8E8M0,
            34 => Self::U32,
            35 => Self::U64,
            _ => return Err(format!("{number} is not the number of an element type")),
        })
    }
}

impl ScalarType {
    /// Bytes of one element in a buffer.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::F8E4M3FN | Self::F8E5M2 | Self::F8E4M3Fnuz | Self::F8E5M2Fnuz | Self::F8E8M0 => 1,
            Self::I16 | Self::F16 | Self::BF16 | Self::U16 => 2,
            Self::I32 | Self::F32 | Self::C32 | Self::U32 => 4,
            Self::I64 | Self::F64 | Self::C64 | Self::U64 => 8,
            Self::C128 => 16,
        }
    }

    /// The type as it is spelled in the IR, or `None` where the IR has no such element.
    pub fn spelling(self) -> Option<&'static str> {
        Some(match self {
            Self::U8 => "ui8",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C64 => "complex<f32>",
            Self::C128 => "complex<f64>",
            Self::Bool => "i1",
            Self::BF16 => "bf16",
            Self::F8E4M3FN => "f8E4M3FN",
            Self::F8E5M2 => "f8E5M2",
            Self::U16 => "ui16",
            Self::U32 => "ui32",
            Self::U64 => "ui64",
            _ => return None,
        })
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spelling() {
            Some(spelling) => f.write_str(spelling),
            None => write!(f, "{self:?}"),
        }
    }
}

/// A layout, with PyTorch's serialization numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i64")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Layout {
    SparseCoo,
    SparseCsr,
    SparseCsc,
    SparseBsr,
    SparseBsc,
    Mkldnn,
    Strided,
}

impl TryFrom<i64> for Layout {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        Ok(match number {
            1 => Self::SparseCoo,
            2 => Self::SparseCsr,
            3 => Self::SparseCsc,
            4 => Self::SparseBsr,
            5 => Self::SparseBsc,
            6 => Self::Mkldnn,
            7 => Self::Strided,
            _ => return Err(format!("{number} is not the number of a layout")),
        })
    }
}

impl Layout {
    /// PyTorch's name without the `torch.` prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::SparseCoo => "sparse_coo",
            Self::SparseCsr => "sparse_csr",
            Self::SparseCsc => "sparse_csc",
            Self::SparseBsr => "sparse_bsr",
            Self::SparseBsc => "sparse_bsc",
            Self::Mkldnn => "_mkldnn",
            Self::Strided => "strided",
        }
    }
}

/// A memory format, with PyTorch's serialization numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i64")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum MemoryFormat {
    Contiguous,
    ChannelsLast,
    ChannelsLast3d,
    Preserve,
}

impl TryFrom<i64> for MemoryFormat {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        Ok(match number {
            1 => Self::Contiguous,
            2 => Self::ChannelsLast,
            3 => Self::ChannelsLast3d,
            4 => Self::Preserve,
            _ => return Err(format!("{number} is not the number of a memory format")),
        })
    }
}

impl MemoryFormat {
    /// PyTorch's name without the `torch.` prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous_format",
            Self::ChannelsLast => "channels_last",
            Self::ChannelsLast3d => "channels_last_3d",
            Self::Preserve => "preserve_format",
        }
    }
}
