//! Constraints on types and kinds of attributes, as data and as marker types for `#[op]` fields.

use crate::ir::{AffineMap, Attr, Cx, Type};

/// Which types a value may have.
#[derive(Clone, Copy)]
pub struct TypeConstraint {
    /// As it reads in messages: "a tensor".
    pub name: &'static str,
    /// The check.
    pub check: fn(Type<'_>) -> bool,
}

/// What an attribute holds.
#[derive(Clone, Copy)]
pub struct AttrKind {
    /// As it reads in messages: "an i64 array".
    pub name: &'static str,
    /// The check.
    pub check: fn(Attr<'_>) -> bool,
}

/// A marker for a type constraint.
pub trait TypeSpec {
    /// The constraint.
    const CONSTRAINT: TypeConstraint;
}

/// A marker for an attribute kind: how it is checked, read and made.
pub trait AttrSpec {
    /// The kind.
    const KIND: AttrKind;
    /// What an accessor returns.
    type Value<'c>;
    /// What a builder takes.
    type Input<'a, 'c>
    where
        'c: 'a;
    /// The content, when the attribute is of this kind.
    fn read<'c>(attr: Attr<'c>) -> Option<Self::Value<'c>>;
    /// The attribute of a content.
    fn make<'a, 'c: 'a>(cx: Cx<'c>, input: Self::Input<'a, 'c>) -> Attr<'c>;
}

/// Markers for operands and results.
pub mod types {
    use super::{Type, TypeConstraint, TypeSpec};

    macro_rules! type_specs {
        ($($(#[$doc:meta])* $name:ident, $text:literal, $check:expr;)*) => {$(
            $(#[$doc])*
            pub struct $name;
            impl TypeSpec for $name {
                const CONSTRAINT: TypeConstraint = TypeConstraint { name: $text, check: $check };
            }
        )*};
    }

    fn is_int(ty: Type<'_>) -> bool {
        !ty.is_shaped() && ty.element_type().is_some_and(|element| element.is_integer())
    }

    fn is_scalar(ty: Type<'_>) -> bool {
        !ty.is_shaped() && ty.element_type().is_some()
    }

    type_specs! {
        /// Any type.
        AnyType, "any type", |_| true;
        /// A ranked tensor of an element type that PyTorch has.
        Tensor, "a ranked tensor", |ty| ty.is_tensor() && ty.element_type().is_some();
        /// A ranked tensor of bool.
        BoolTensor, "a tensor of i1", |ty| ty.is_tensor() && ty.element_type() == Some(crate::ir::ElementType::Bool);
        /// A ranked tensor of integers (signed, unsigned; not bool).
        IntTensor, "a tensor of integers", |ty| ty.is_tensor() && ty.element_type().is_some_and(|e| e.is_integer());
        /// A ranked tensor of floats.
        FloatTensor, "a tensor of floats", |ty| ty.is_tensor() && ty.element_type().is_some_and(|e| e.is_float());
        /// A tensor or a scalar.
        TensorOrScalar, "a tensor or a scalar", |ty| is_scalar(ty) || ty.is_tensor();
        /// `index`.
        Index, "index", |ty| ty.is_index();
        /// `i1`.
        Bool, "i1", |ty| !ty.is_shaped() && ty.element_type() == Some(crate::ir::ElementType::Bool);
        /// An integer (not bool, not index).
        Int, "an integer", is_int;
        /// A float.
        Float, "a float", |ty| !ty.is_shaped() && ty.element_type().is_some_and(|element| element.is_float());
        /// A number: bool, integer, index, float, complex.
        Scalar, "a scalar", is_scalar;
        /// A memref.
        MemRef, "a memref", |ty| ty.is_memref();
        /// A vector.
        Vector, "a vector", |ty| ty.is_vector();
    }
}

/// Markers for attributes.
pub mod attrs {
    use super::{AffineMap, Attr, AttrKind, AttrSpec, Cx, Type};

    macro_rules! attr_specs {
        ($($(#[$doc:meta])* $name:ident, $text:literal, $value:ty, $input:ty, $read:expr, $make:expr;)*) => {$(
            $(#[$doc])*
            pub struct $name;
            impl AttrSpec for $name {
                const KIND: AttrKind = AttrKind { name: $text, check: |attr| Self::read(attr).is_some() };
                type Value<'c> = $value;
                type Input<'a, 'c> = $input where 'c: 'a;
                fn read<'c>(attr: Attr<'c>) -> Option<$value> {
                    let read: fn(Attr<'c>) -> Option<$value> = $read;
                    read(attr)
                }
                fn make<'a, 'c: 'a>(cx: Cx<'c>, input: Self::Input<'a, 'c>) -> Attr<'c> {
                    let make: fn(Cx<'c>, Self::Input<'a, 'c>) -> Attr<'c> = $make;
                    make(cx, input)
                }
            }
        )*};
    }

    attr_specs! {
        /// Any attribute.
        AnyAttr, "any attribute", Attr<'c>, Attr<'c>, Some, |_, attr| attr;
        /// A string.
        Str, "a string", String, &'a str, Attr::as_str, |cx, text| cx.str_attr(text);
        /// An integer, made as `i64`.
        I64, "an integer", i64, i64, Attr::as_int, |cx, value| cx.i64_attr(value);
        /// A float, made as `f64`.
        F64, "a float", f64, f64, Attr::as_float, |cx, value| cx.f64_attr(value);
        /// A bool.
        Flag, "a bool", bool, bool, Attr::as_bool, |cx, value| cx.bool_attr(value);
        /// The unit attribute; reads as `()`.
        Unit, "unit", (), (), |attr| attr.is_unit().then_some(()), |cx, ()| cx.unit();
        /// `array<i64: ..>`.
        I64s, "array<i64>", Vec<i64>, &'a [i64], Attr::as_i64s, |cx, values| cx.i64s_attr(values);
        /// `array<f64: ..>`.
        F64s, "array<f64>", Vec<f64>, &'a [f64], Attr::as_f64s, |cx, values| cx.f64s_attr(values);
        /// `array<i1: ..>`.
        Bools, "array<i1>", Vec<bool>, &'a [bool], Attr::as_bools, |cx, values| cx.bools_attr(values);
        /// A type.
        TypeAttr, "a type", Type<'c>, Type<'c>, Attr::as_type, |cx, ty| cx.type_attr(ty);
        /// `@name`.
        SymbolRef, "a symbol reference", String, &'a str, Attr::as_symbol, |cx, name| cx.symbol_attr(name);
        /// An affine map.
        Map, "an affine map", AffineMap<'c>, AffineMap<'c>, Attr::as_map, |cx, map| cx.map_attr(map);
        /// A list of affine maps.
        Maps, "a list of affine maps", Vec<AffineMap<'c>>, &'a [AffineMap<'c>],
            |attr| attr.as_array()?.into_iter().map(Attr::as_map).collect(),
            |cx, maps| cx.maps_attr(maps);
        /// A list of strings.
        Strs, "a list of strings", Vec<String>, &'a [&'a str],
            |attr| attr.as_array()?.into_iter().map(Attr::as_str).collect(),
            |cx, texts| cx.array_attr(&texts.iter().map(|text| cx.str_attr(text)).collect::<Vec<_>>());
        /// A list.
        List, "a list", Vec<Attr<'c>>, &'a [Attr<'c>], Attr::as_array, |cx, values| cx.array_attr(values);
        /// A dictionary.
        Dict, "a dictionary", Attr<'c>, Attr<'c>, |attr| attr.as_dict().map(|_| attr), |_, attr| attr;
        /// `dense<..>`.
        Dense, "dense elements", Attr<'c>, Attr<'c>, |attr| attr.is_dense().then_some(attr), |_, attr| attr;
    }
}
