//! Types.

use super::{Cx, DYNAMIC, ElementType, printed};
use mlir_sys::*;
use std::marker::PhantomData;

/// A type.
#[derive(Clone, Copy)]
pub struct Type<'c> {
    pub(crate) raw: MlirType,
    pub(crate) marker: PhantomData<&'c ()>,
}

super::identity!(Type);
printed!(Type, mlirTypePrint);

impl<'c> Type<'c> {
    /// # Safety
    /// The type must live for `'c`.
    pub unsafe fn from_raw(raw: MlirType) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw type.
    pub fn to_raw(self) -> MlirType {
        self.raw
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: the type is alive.
        Cx { raw: unsafe { mlirTypeGetContext(self.raw) }, marker: PhantomData }
    }

    /// A ranked tensor.
    pub fn is_tensor(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsARankedTensor(self.raw) }
    }

    /// A memref.
    pub fn is_memref(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsAMemRef(self.raw) }
    }

    /// A vector.
    pub fn is_vector(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsAVector(self.raw) }
    }

    /// `index`.
    pub fn is_index(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsAIndex(self.raw) }
    }

    /// A function type.
    pub fn is_function(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsAFunction(self.raw) }
    }

    /// A tensor, memref or vector.
    pub fn is_shaped(self) -> bool {
        // SAFETY: the type is alive.
        unsafe { mlirTypeIsAShaped(self.raw) }
    }

    /// Sizes of a ranked shaped type, [`DYNAMIC`] where not known; empty for scalars.
    pub fn shape(self) -> Vec<i64> {
        // SAFETY: only ranked shaped types are asked for their rank and sizes.
        unsafe {
            if !self.is_shaped() || !mlirShapedTypeHasRank(self.raw) {
                return Vec::new();
            }
            (0..mlirShapedTypeGetRank(self.raw)).map(|dim| mlirShapedTypeGetDimSize(self.raw, dim as isize)).collect()
        }
    }

    /// Number of dimensions (0 for scalars).
    pub fn rank(self) -> usize {
        // SAFETY: only ranked shaped types are asked for their rank.
        unsafe { if self.is_shaped() && mlirShapedTypeHasRank(self.raw) { mlirShapedTypeGetRank(self.raw) as usize } else { 0 } }
    }

    /// Whether all sizes are known.
    pub fn is_static(self) -> bool {
        self.shape().iter().all(|&size| size != DYNAMIC)
    }

    /// Number of elements when all sizes are known.
    pub fn num_elements(self) -> Option<i64> {
        self.shape().iter().try_fold(1i64, |total, &size| if size == DYNAMIC { None } else { total.checked_mul(size) })
    }

    /// Element type of a shaped type, a scalar type itself.
    pub fn element(self) -> Type<'c> {
        if !self.is_shaped() {
            return self;
        }
        // SAFETY: the type is shaped.
        Type { raw: unsafe { mlirShapedTypeGetElementType(self.raw) }, marker: PhantomData }
    }

    /// The same type with other sizes; scalars become tensors.
    pub fn with_shape(self, shape: &[i64]) -> Type<'c> {
        self.cx().tensor(shape, self.element())
    }

    /// The same tensor type with other elements.
    pub fn with_element(self, element: Type<'c>) -> Type<'c> {
        self.cx().tensor(&self.shape(), element)
    }

    /// The element type (of a shaped type or of a scalar) when it is one that tensors hold.
    pub fn element_type(self) -> Option<ElementType> {
        use ElementType::*;
        let raw = self.element().raw;
        // SAFETY: each query is asked of a type that was tested for its kind.
        unsafe {
            if mlirTypeIsAF32(raw) {
                Some(F32)
            } else if mlirTypeIsAF64(raw) {
                Some(F64)
            } else if mlirTypeIsAF16(raw) {
                Some(F16)
            } else if mlirTypeIsABF16(raw) {
                Some(BF16)
            } else if mlirTypeIsAFloat8E4M3FN(raw) {
                Some(F8E4M3FN)
            } else if mlirTypeIsAFloat8E5M2(raw) {
                Some(F8E5M2)
            } else if mlirTypeIsAIndex(raw) {
                Some(Index)
            } else if mlirTypeIsAInteger(raw) {
                let unsigned = mlirIntegerTypeIsUnsigned(raw);
                match (mlirIntegerTypeGetWidth(raw), unsigned) {
                    (1, _) => Some(Bool),
                    (8, false) => Some(I8),
                    (16, false) => Some(I16),
                    (32, false) => Some(I32),
                    (64, false) => Some(I64),
                    (8, true) => Some(U8),
                    (16, true) => Some(U16),
                    (32, true) => Some(U32),
                    (64, true) => Some(U64),
                    _ => None,
                }
            } else if mlirTypeIsAComplex(raw) {
                let part = mlirComplexTypeGetElementType(raw);
                if mlirTypeIsAF32(part) {
                    Some(C64)
                } else if mlirTypeIsAF64(part) {
                    Some(C128)
                } else {
                    None
                }
            } else {
                None
            }
        }
    }

    /// Inputs of a function type.
    pub fn inputs(self) -> Vec<Type<'c>> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: the type is a function type.
        unsafe {
            (0..mlirFunctionTypeGetNumInputs(self.raw)).map(|index| Type::from_raw(mlirFunctionTypeGetInput(self.raw, index))).collect()
        }
    }

    /// Results of a function type.
    pub fn results(self) -> Vec<Type<'c>> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: the type is a function type.
        unsafe {
            (0..mlirFunctionTypeGetNumResults(self.raw)).map(|index| Type::from_raw(mlirFunctionTypeGetResult(self.raw, index))).collect()
        }
    }
}
