//! Element types: one list for tensors, artefacts and DLPack, so that no two layers can disagree about a size.

use serde::{Deserialize, Serialize};

use crate::dlpack::DLDataType;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $code:literal, $bits:literal, $store:expr;)*) => {
        /// The element type of a tensor. `bool` takes one byte in memory.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum DType {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl DType {
            /// Every element type; the position here is its number in the image ABI, so new ones go to the end.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// The short name used in artefacts, messages and MLIR-like text.
            pub fn name(self) -> &'static str {
                match self { $(DType::$variant => $name),* }
            }

            /// Size of one element in bytes.
            pub fn size(self) -> usize {
                match self { $(DType::$variant => $bits / 8),* }
            }

            /// DLPack's description of the type.
            pub fn dlpack(self) -> DLDataType {
                match self { $(DType::$variant => DLDataType { code: $code, bits: $bits, lanes: 1 }),* }
            }

            /// The type that a DLPack description means, if we have it.
            pub fn from_dlpack(dtype: DLDataType) -> Option<DType> {
                match (dtype.code, dtype.bits, dtype.lanes) {
                    $(($code, $bits, 1) => Some(DType::$variant),)*
                    _ => None,
                }
            }

            /// The safetensors type with the same bytes (it has none for `c128`).
            pub fn safetensors(self) -> Option<safetensors::Dtype> {
                match self { $(DType::$variant => $store),* }
            }
        }
    };
}

dtypes! {
    /// IEEE double.
    F64 = "f64", 2, 64, Some(safetensors::Dtype::F64);
    /// IEEE single.
    F32 = "f32", 2, 32, Some(safetensors::Dtype::F32);
    /// IEEE half.
    F16 = "f16", 2, 16, Some(safetensors::Dtype::F16);
    /// Brain float.
    BF16 = "bf16", 4, 16, Some(safetensors::Dtype::BF16);
    /// Signed, 64 bits.
    I64 = "i64", 0, 64, Some(safetensors::Dtype::I64);
    /// Signed, 32 bits.
    I32 = "i32", 0, 32, Some(safetensors::Dtype::I32);
    /// Signed, 16 bits.
    I16 = "i16", 0, 16, Some(safetensors::Dtype::I16);
    /// Signed, 8 bits.
    I8 = "i8", 0, 8, Some(safetensors::Dtype::I8);
    /// Unsigned, 8 bits.
    U8 = "u8", 1, 8, Some(safetensors::Dtype::U8);
    /// Unsigned, 16 bits.
    U16 = "u16", 1, 16, Some(safetensors::Dtype::U16);
    /// Unsigned, 32 bits.
    U32 = "u32", 1, 32, Some(safetensors::Dtype::U32);
    /// Unsigned, 64 bits.
    U64 = "u64", 1, 64, Some(safetensors::Dtype::U64);
    /// Truth value, one byte, 0 or 1.
    Bool = "bool", 6, 8, Some(safetensors::Dtype::BOOL);
    /// Complex of two f32.
    C64 = "c64", 5, 64, Some(safetensors::Dtype::C64);
    /// Complex of two f64.
    C128 = "c128", 5, 128, None;
    /// Float of 4 bits of exponent and 3 of mantissa, without infinities.
    F8E4M3FN = "f8e4m3fn", 10, 8, Some(safetensors::Dtype::F8_E4M3);
    /// Float of 5 bits of exponent and 2 of mantissa.
    F8E5M2 = "f8e5m2", 12, 8, Some(safetensors::Dtype::F8_E5M2);
}

impl DType {
    /// The type stored under a safetensors type.
    pub fn from_safetensors(dtype: safetensors::Dtype) -> Option<DType> {
        DType::ALL.iter().copied().find(|d| d.safetensors() == Some(dtype))
    }

    /// The type with this short name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|d| d.name() == name)
    }

    /// Whether the type is a real or complex floating type.
    pub fn is_floating(self) -> bool {
        !matches!(self.dlpack().code, 0 | 1 | 6)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
