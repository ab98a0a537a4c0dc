//! A copyable handle to a context: where types, attributes and locations come from.

use super::{AffineExpr, AffineMap, Attr, Context, ElementType, Location, Type, string_ref};
use mlir_sys::*;
use std::marker::PhantomData;

/// A context as a plain handle; makes types, attributes, affine expressions and locations.
#[derive(Clone, Copy)]
pub struct Cx<'c> {
    pub(crate) raw: MlirContext,
    pub(crate) marker: PhantomData<&'c Context>,
}

impl<'c> From<&'c Context> for Cx<'c> {
    fn from(context: &'c Context) -> Self {
        Self { raw: context.to_raw(), marker: PhantomData }
    }
}

impl<'c> Cx<'c> {
    /// # Safety
    /// The context must live for `'c`.
    pub unsafe fn from_raw(raw: MlirContext) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw context.
    pub fn to_raw(self) -> MlirContext {
        self.raw
    }

    fn ty(self, raw: MlirType) -> Type<'c> {
        Type { raw, marker: PhantomData }
    }

    fn attr(self, raw: MlirAttribute) -> Attr<'c> {
        Attr { raw, marker: PhantomData }
    }

    // Types.

    /// The `index` type.
    pub fn index(self) -> Type<'c> {
        // SAFETY: the context is alive.
        self.ty(unsafe { mlirIndexTypeGet(self.raw) })
    }

    /// A signless integer type.
    pub fn int(self, width: u32) -> Type<'c> {
        // SAFETY: the context is alive.
        self.ty(unsafe { mlirIntegerTypeGet(self.raw, width) })
    }

    /// The `f32` type.
    pub fn f32(self) -> Type<'c> {
        self.element(ElementType::F32)
    }

    /// The `f64` type.
    pub fn f64(self) -> Type<'c> {
        self.element(ElementType::F64)
    }

    /// The MLIR type of an element type.
    pub fn element(self, element: ElementType) -> Type<'c> {
        use ElementType::*;
        // SAFETY: the context is alive.
        let raw = unsafe {
            match element {
                F64 => mlirF64TypeGet(self.raw),
                F32 => mlirF32TypeGet(self.raw),
                F16 => mlirF16TypeGet(self.raw),
                BF16 => mlirBF16TypeGet(self.raw),
                F8E4M3FN => mlirFloat8E4M3FNTypeGet(self.raw),
                F8E5M2 => mlirFloat8E5M2TypeGet(self.raw),
                Bool => mlirIntegerTypeGet(self.raw, 1),
                I8 | I16 | I32 | I64 => mlirIntegerTypeGet(self.raw, element.bits()),
                U8 | U16 | U32 | U64 => mlirIntegerTypeUnsignedGet(self.raw, element.bits()),
                C64 => mlirComplexTypeGet(mlirF32TypeGet(self.raw)),
                C128 => mlirComplexTypeGet(mlirF64TypeGet(self.raw)),
                Index => mlirIndexTypeGet(self.raw),
            }
        };
        self.ty(raw)
    }

    /// `tensor<shape x element>`; [`super::DYNAMIC`] is `?`.
    pub fn tensor(self, shape: &[i64], element: Type<'c>) -> Type<'c> {
        // SAFETY: all handles are alive, `shape` has the length given.
        let raw = unsafe {
            let rank = shape.len() as isize;
            mlirRankedTensorTypeGetChecked(self.unknown().raw, rank, shape.as_ptr(), element.raw, mlirAttributeGetNull())
        };
        self.checked(raw, "tensor", shape, element)
    }

    /// `memref<shape x element>` with the identity layout.
    pub fn memref(self, shape: &[i64], element: Type<'c>) -> Type<'c> {
        // SAFETY: all handles are alive, `shape` has the length given.
        let raw = unsafe {
            let rank = shape.len() as isize;
            mlirMemRefTypeContiguousGetChecked(self.unknown().raw, element.raw, rank, shape.as_ptr(), mlirAttributeGetNull())
        };
        self.checked(raw, "memref", shape, element)
    }

    /// `vector<shape x element>`.
    pub fn vector(self, shape: &[i64], element: Type<'c>) -> Type<'c> {
        // SAFETY: all handles are alive, `shape` has the length given.
        let raw = unsafe { mlirVectorTypeGetChecked(self.unknown().raw, shape.len() as isize, shape.as_ptr(), element.raw) };
        self.checked(raw, "vector", shape, element)
    }

    /// A shaped type that MLIR agreed to make. Panics otherwise, as the caller asked for what cannot be.
    fn checked(self, raw: MlirType, what: &str, shape: &[i64], element: Type<'c>) -> Type<'c> {
        assert!(!raw.ptr.is_null(), "there is no {what} of shape {shape:?} with elements '{element}'");
        self.ty(raw)
    }

    /// A function type.
    pub fn function(self, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
        let inputs: Vec<_> = inputs.iter().map(|ty| ty.raw).collect();
        let results: Vec<_> = results.iter().map(|ty| ty.raw).collect();
        // SAFETY: all handles are alive.
        self.ty(unsafe { mlirFunctionTypeGet(self.raw, inputs.len() as isize, inputs.as_ptr(), results.len() as isize, results.as_ptr()) })
    }

    /// Parses a type, for instance `!llvm.ptr`.
    pub fn parse_type(self, text: &str) -> Option<Type<'c>> {
        crate::limits::check(text.as_bytes()).ok()?;
        // SAFETY: the context and the string are alive for the call.
        let raw = unsafe { mlirTypeParseGet(self.raw, string_ref(text)) };
        (!raw.ptr.is_null()).then(|| self.ty(raw))
    }

    // Attributes.

    /// Parses an attribute.
    pub fn parse_attr(self, text: &str) -> Option<Attr<'c>> {
        crate::limits::check(text.as_bytes()).ok()?;
        // SAFETY: the context and the string are alive for the call.
        let raw = unsafe { mlirAttributeParseGet(self.raw, string_ref(text)) };
        (!raw.ptr.is_null()).then(|| self.attr(raw))
    }

    /// The unit attribute.
    pub fn unit(self) -> Attr<'c> {
        // SAFETY: the context is alive.
        self.attr(unsafe { mlirUnitAttrGet(self.raw) })
    }

    /// A bool attribute.
    pub fn bool_attr(self, value: bool) -> Attr<'c> {
        // SAFETY: the context is alive.
        self.attr(unsafe { mlirBoolAttrGet(self.raw, i32::from(value)) })
    }

    /// `value : i64`.
    pub fn i64_attr(self, value: i64) -> Attr<'c> {
        self.int_attr(self.int(64), value)
    }

    /// `value : index`.
    pub fn index_attr(self, value: i64) -> Attr<'c> {
        self.int_attr(self.index(), value)
    }

    /// An integer attribute of a type.
    pub fn int_attr(self, ty: Type<'c>, value: i64) -> Attr<'c> {
        // SAFETY: the type is alive.
        self.attr(unsafe { mlirIntegerAttrGet(ty.raw, value) })
    }

    /// `value : f64`.
    pub fn f64_attr(self, value: f64) -> Attr<'c> {
        self.float_attr(self.f64(), value)
    }

    /// A float attribute of a float type.
    pub fn float_attr(self, ty: Type<'c>, value: f64) -> Attr<'c> {
        // SAFETY: the context and the type are alive.
        self.attr(unsafe { mlirFloatAttrDoubleGet(self.raw, ty.raw, value) })
    }

    /// A string attribute.
    pub fn str_attr(self, value: &str) -> Attr<'c> {
        // SAFETY: the string is alive for the call.
        self.attr(unsafe { mlirStringAttrGet(self.raw, string_ref(value)) })
    }

    /// `@name`.
    pub fn symbol_attr(self, name: &str) -> Attr<'c> {
        // SAFETY: the string is alive for the call.
        self.attr(unsafe { mlirFlatSymbolRefAttrGet(self.raw, string_ref(name)) })
    }

    /// A type as an attribute.
    pub fn type_attr(self, ty: Type<'c>) -> Attr<'c> {
        // SAFETY: the type is alive.
        self.attr(unsafe { mlirTypeAttrGet(ty.raw) })
    }

    /// A list of affine maps.
    pub fn maps_attr(self, maps: &[AffineMap<'c>]) -> Attr<'c> {
        self.array_attr(&maps.iter().map(|&map| self.map_attr(map)).collect::<Vec<_>>())
    }

    /// `array<i64: ..>`.
    pub fn i64s_attr(self, values: &[i64]) -> Attr<'c> {
        // SAFETY: `values` has the length given.
        self.attr(unsafe { mlirDenseI64ArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `array<i32: ..>`.
    pub fn i32s_attr(self, values: &[i32]) -> Attr<'c> {
        // SAFETY: `values` has the length given.
        self.attr(unsafe { mlirDenseI32ArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `array<f64: ..>`.
    pub fn f64s_attr(self, values: &[f64]) -> Attr<'c> {
        // SAFETY: `values` has the length given.
        self.attr(unsafe { mlirDenseF64ArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `array<i1: ..>`.
    pub fn bools_attr(self, values: &[bool]) -> Attr<'c> {
        let values: Vec<i32> = values.iter().map(|&value| i32::from(value)).collect();
        // SAFETY: `values` has the length given.
        self.attr(unsafe { mlirDenseBoolArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `[a, b, ..]`.
    pub fn array_attr(self, values: &[Attr<'c>]) -> Attr<'c> {
        let values: Vec<_> = values.iter().map(|attr| attr.raw).collect();
        // SAFETY: `values` has the length given.
        self.attr(unsafe { mlirArrayAttrGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `{name = value, ..}`.
    pub fn dict_attr(self, entries: &[(&str, Attr<'c>)]) -> Attr<'c> {
        let entries: Vec<_> = entries.iter().map(|(name, attr)| self.named(name, *attr)).collect();
        // SAFETY: `entries` has the length given.
        self.attr(unsafe { mlirDictionaryAttrGet(self.raw, entries.len() as isize, entries.as_ptr()) })
    }

    /// An affine map as an attribute.
    pub fn map_attr(self, map: AffineMap<'c>) -> Attr<'c> {
        // SAFETY: the map is alive.
        self.attr(unsafe { mlirAffineMapAttrGet(map.raw) })
    }

    /// `dense<..>` from the elements' bytes (row-major, native layout, one byte per bool); one element is a splat.
    pub fn dense_attr(self, ty: Type<'c>, bytes: &[u8]) -> Option<Attr<'c>> {
        if ty.element_type() == Some(ElementType::Bool) {
            let values: Vec<i32> = bytes.iter().map(|&byte| i32::from(byte != 0)).collect();
            // SAFETY: `values` has the length given, and MLIR copies.
            let raw = unsafe { mlirDenseElementsAttrBoolGet(ty.raw, values.len() as isize, values.as_ptr()) };
            return (!raw.ptr.is_null()).then(|| self.attr(raw));
        }
        // SAFETY: MLIR copies `bytes` and returns null when their number does not fit the type.
        let raw = unsafe { mlirDenseElementsAttrRawBufferGet(ty.raw, bytes.len(), bytes.as_ptr().cast()) };
        (!raw.ptr.is_null()).then(|| self.attr(raw))
    }

    pub(crate) fn named(self, name: &str, attr: Attr<'c>) -> MlirNamedAttribute {
        // SAFETY: the string is alive for the call, the attribute for `'c`.
        unsafe { mlirNamedAttributeGet(mlirIdentifierGet(self.raw, string_ref(name)), attr.raw) }
    }

    // Affine expressions and locations.

    /// The affine dimension `d<position>`.
    pub fn dim(self, position: usize) -> AffineExpr<'c> {
        // SAFETY: the context is alive.
        AffineExpr { raw: unsafe { mlirAffineDimExprGet(self.raw, position as isize) }, marker: PhantomData }
    }

    /// The affine symbol `s<position>`.
    pub fn symbol(self, position: usize) -> AffineExpr<'c> {
        // SAFETY: the context is alive.
        AffineExpr { raw: unsafe { mlirAffineSymbolExprGet(self.raw, position as isize) }, marker: PhantomData }
    }

    /// An affine constant.
    pub fn constant(self, value: i64) -> AffineExpr<'c> {
        // SAFETY: the context is alive.
        AffineExpr { raw: unsafe { mlirAffineConstantExprGet(self.raw, value) }, marker: PhantomData }
    }

    /// An affine map of `dims` dimensions and `symbols` symbols.
    pub fn map(self, dims: usize, symbols: usize, results: &[AffineExpr<'c>]) -> AffineMap<'c> {
        let mut results: Vec<_> = results.iter().map(|expr| expr.raw).collect();
        // SAFETY: `results` has the length given, and MLIR copies it.
        let raw = unsafe { mlirAffineMapGet(self.raw, dims as isize, symbols as isize, results.len() as isize, results.as_mut_ptr()) };
        AffineMap { raw, marker: PhantomData }
    }

    /// The unknown location.
    pub fn unknown(self) -> Location<'c> {
        // SAFETY: the context is alive.
        Location { raw: unsafe { mlirLocationUnknownGet(self.raw) }, marker: PhantomData }
    }

    /// The location of a text as MLIR prints it: `loc("file":3:5)`.
    pub fn parse_location(self, text: &str) -> Option<Location<'c>> {
        let attr = self.parse_attr(text)?;
        // SAFETY: the attribute lives as long as the context; it is taken for a location only if it is one.
        unsafe { mlirAttributeIsALocation(attr.raw).then(|| Location::from_raw(mlirLocationFromAttribute(attr.raw))) }
    }

    /// A location that names what an op came from.
    pub fn name_location(self, name: &str, child: Location<'c>) -> Location<'c> {
        // SAFETY: the string is alive for the call.
        Location { raw: unsafe { mlirLocationNameGet(self.raw, string_ref(name), child.raw) }, marker: PhantomData }
    }

    /// A position in a file.
    pub fn file_location(self, file: &str, line: u32, column: u32) -> Location<'c> {
        // SAFETY: the string is alive for the call.
        let raw = unsafe { mlirLocationFileLineColGet(self.raw, string_ref(file), line, column) };
        Location { raw, marker: PhantomData }
    }

    /// Several locations as one.
    pub fn fused_location(self, parts: &[Location<'c>]) -> Location<'c> {
        let parts: Vec<_> = parts.iter().map(|part| part.raw).collect();
        // SAFETY: `parts` has the length given.
        let raw = unsafe { mlirLocationFusedGet(self.raw, parts.len() as isize, parts.as_ptr(), mlirAttributeGetNull()) };
        Location { raw, marker: PhantomData }
    }

    /// Whether ops of this name can be made: registered ones, and any where the context allows that.
    pub(crate) fn may_create(self, name: &str) -> bool {
        // SAFETY: the context is alive.
        self.is_registered(name) || unsafe { mlirContextGetAllowUnregisteredDialects(self.raw) }
    }

    /// Whether an op of this name is registered.
    pub fn is_registered(self, name: &str) -> bool {
        // SAFETY: the string is alive for the call.
        unsafe { mlirContextIsRegisteredOperation(self.raw, string_ref(name)) }
    }
}
