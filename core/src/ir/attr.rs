//! Attributes and what they hold.

use super::{AffineMap, Cx, ElementType, Type, printed, string_from};
use mlir_sys::*;
use std::marker::PhantomData;

/// An attribute. The `as_*` methods give its content when it is of that kind.
#[derive(Clone, Copy)]
pub struct Attr<'c> {
    pub(crate) raw: MlirAttribute,
    pub(crate) marker: PhantomData<&'c ()>,
}

super::identity!(Attr);
printed!(Attr, mlirAttributePrint);

// SAFETY of this impl: `self` is alive, and each accessor is reached only after the test for its kind.
impl<'c> Attr<'c> {
    /// # Safety
    /// The attribute must live for `'c`.
    pub unsafe fn from_raw(raw: MlirAttribute) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw attribute.
    pub fn to_raw(self) -> MlirAttribute {
        self.raw
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: see the impl.
        Cx { raw: unsafe { mlirAttributeGetContext(self.raw) }, marker: PhantomData }
    }

    /// The type of a typed attribute.
    pub fn ty(self) -> Type<'c> {
        // SAFETY: see the impl.
        Type { raw: unsafe { mlirAttributeGetType(self.raw) }, marker: PhantomData }
    }

    /// The unit attribute.
    pub fn is_unit(self) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAUnit(self.raw) }
    }

    /// A bool.
    pub fn as_bool(self) -> Option<bool> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsABool(self.raw).then(|| mlirBoolAttrGetValue(self.raw)) }
    }

    /// An integer (bools are 0 and 1).
    pub fn as_int(self) -> Option<i64> {
        // SAFETY: see the impl.
        unsafe {
            if !mlirAttributeIsAInteger(self.raw) {
                return None;
            }
            let ty = mlirAttributeGetType(self.raw);
            Some(if mlirTypeIsAInteger(ty) && mlirIntegerTypeIsUnsigned(ty) {
                mlirIntegerAttrGetValueUInt(self.raw) as i64
            } else if mlirTypeIsAInteger(ty) && mlirIntegerTypeIsSigned(ty) {
                mlirIntegerAttrGetValueSInt(self.raw)
            } else if let Some(value) = self.as_bool() {
                i64::from(value)
            } else {
                mlirIntegerAttrGetValueInt(self.raw)
            })
        }
    }

    /// A float.
    pub fn as_float(self) -> Option<f64> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAFloat(self.raw).then(|| mlirFloatAttrGetValueDouble(self.raw)) }
    }

    /// A string.
    pub fn as_str(self) -> Option<String> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAString(self.raw).then(|| string_from(mlirStringAttrGetValue(self.raw))) }
    }

    /// The name in `@name`.
    pub fn as_symbol(self) -> Option<String> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAFlatSymbolRef(self.raw).then(|| string_from(mlirFlatSymbolRefAttrGetValue(self.raw))) }
    }

    /// A type.
    pub fn as_type(self) -> Option<Type<'c>> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAType(self.raw).then(|| Type::from_raw(mlirTypeAttrGetValue(self.raw))) }
    }

    /// `array<i64: ..>` (also `array<i32: ..>`).
    pub fn as_i64s(self) -> Option<Vec<i64>> {
        // SAFETY: see the impl.
        unsafe {
            if mlirAttributeIsADenseI64Array(self.raw) {
                let count = mlirDenseArrayGetNumElements(self.raw);
                return Some((0..count).map(|index| mlirDenseI64ArrayGetElement(self.raw, index)).collect());
            }
            if mlirAttributeIsADenseI32Array(self.raw) {
                let count = mlirDenseArrayGetNumElements(self.raw);
                return Some((0..count).map(|index| i64::from(mlirDenseI32ArrayGetElement(self.raw, index))).collect());
            }
            None
        }
    }

    /// `array<f64: ..>`.
    pub fn as_f64s(self) -> Option<Vec<f64>> {
        // SAFETY: see the impl.
        unsafe {
            mlirAttributeIsADenseF64Array(self.raw)
                .then(|| (0..mlirDenseArrayGetNumElements(self.raw)).map(|index| mlirDenseF64ArrayGetElement(self.raw, index)).collect())
        }
    }

    /// `array<i1: ..>`.
    pub fn as_bools(self) -> Option<Vec<bool>> {
        // SAFETY: see the impl.
        unsafe {
            mlirAttributeIsADenseBoolArray(self.raw)
                .then(|| (0..mlirDenseArrayGetNumElements(self.raw)).map(|index| mlirDenseBoolArrayGetElement(self.raw, index)).collect())
        }
    }

    /// `[a, b, ..]`.
    pub fn as_array(self) -> Option<Vec<Attr<'c>>> {
        // SAFETY: see the impl.
        unsafe {
            mlirAttributeIsAArray(self.raw).then(|| {
                (0..mlirArrayAttrGetNumElements(self.raw)).map(|index| Attr::from_raw(mlirArrayAttrGetElement(self.raw, index))).collect()
            })
        }
    }

    /// `{name = value, ..}`.
    pub fn as_dict(self) -> Option<Vec<(String, Attr<'c>)>> {
        // SAFETY: see the impl.
        unsafe {
            mlirAttributeIsADictionary(self.raw).then(|| {
                (0..mlirDictionaryAttrGetNumElements(self.raw))
                    .map(|index| {
                        let named = mlirDictionaryAttrGetElement(self.raw, index);
                        (string_from(mlirIdentifierStr(named.name)), Attr::from_raw(named.attribute))
                    })
                    .collect()
            })
        }
    }

    /// One entry of a dictionary.
    pub fn entry(self, name: &str) -> Option<Attr<'c>> {
        self.as_dict()?.into_iter().find(|(key, _)| key == name).map(|(_, attr)| attr)
    }

    /// An affine map.
    pub fn as_map(self) -> Option<AffineMap<'c>> {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsAAffineMap(self.raw).then(|| AffineMap { raw: mlirAffineMapAttrGetValue(self.raw), marker: PhantomData }) }
    }

    /// Whether it is `dense<..>`.
    pub fn is_dense(self) -> bool {
        // SAFETY: see the impl.
        unsafe { mlirAttributeIsADenseElements(self.raw) }
    }

    /// `dense<..>` as bytes (row-major, native layout, one byte per bool) with whether it is a splat of one element.
    pub fn as_dense(self) -> Option<(Vec<u8>, bool)> {
        // SAFETY: see the impl; MLIR's raw data holds the number of elements computed here.
        unsafe {
            if !mlirAttributeIsADenseElements(self.raw) {
                return None;
            }
            let ty = self.ty();
            let element = ty.element_type()?;
            let splat = mlirDenseElementsAttrIsSplat(self.raw);
            let count = if splat { 1 } else { mlirElementsAttrGetNumElements(self.raw) as usize };
            if count == 0 {
                return Some((Vec::new(), false));
            }
            if element == ElementType::Bool {
                let bytes = if splat {
                    vec![u8::from(mlirDenseElementsAttrGetBoolSplatValue(self.raw) != 0)]
                } else {
                    (0..count).map(|index| u8::from(mlirDenseElementsAttrGetBoolValue(self.raw, index as isize))).collect()
                };
                return Some((bytes, splat));
            }
            let data = mlirDenseElementsAttrGetRawData(self.raw).cast::<u8>();
            Some((std::slice::from_raw_parts(data, count * element.bytes()).to_vec(), splat))
        }
    }
}
