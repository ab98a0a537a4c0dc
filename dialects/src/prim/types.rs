//! Which element types the operators take.

use strata_core::dialect::{TypeConstraint, TypeSpec};
use strata_core::ir::{ElementType, Type};

macro_rules! tensor_types {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $check:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl TypeSpec for $name {
            const CONSTRAINT: TypeConstraint = TypeConstraint {
                name: $text,
                check: |ty| {
                    let check: fn(ElementType) -> bool = $check;
                    is_tensor_of(ty, check)
                },
            };
        }
    )*};
}

fn is_tensor_of(ty: Type<'_>, check: fn(ElementType) -> bool) -> bool {
    ty.is_tensor() && ty.element_type().is_some_and(|element| element != ElementType::Index && check(element))
}

tensor_types! {
    /// Any element type but `index`.
    AnyTensor, "a tensor", |_| true;
    /// Numbers: everything but bool and floats of 8 bits.
    Numbers, "a tensor of numbers (not bool, not f8)", |e| e != ElementType::Bool && !e.is_float8();
    /// Numbers with an order: everything but complex numbers and floats of 8 bits.
    Ordered, "a tensor of real numbers or bool (not f8)", |e| !e.is_complex() && !e.is_float8();
    /// What is computed with: everything but floats of 8 bits.
    Computed, "a tensor (not of f8)", |e| !e.is_float8();
    /// Real numbers: integers and floats.
    Reals, "a tensor of integers or floats", |e| e.is_integer() || e.is_float();
    /// Floats.
    Floats, "a tensor of floats", |e| e.is_float();
    /// Floats and complex numbers.
    Analytic, "a tensor of floats or complex numbers", |e| e.is_float() || e.is_complex();
    /// Complex numbers.
    Complex, "a tensor of complex numbers", |e| e.is_complex();
    /// Bits: bool and integers.
    Bits, "a tensor of bool or integers", |e| e == ElementType::Bool || e.is_integer();
    /// Integers.
    Integers, "a tensor of integers", |e| e.is_integer();
}
