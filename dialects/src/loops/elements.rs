//! Element types in memory and in registers.

use strata_core::ir::{Cx, ElementType, Type};

/// The type of an element in memory: bool is a byte, complex numbers are two floats, integers have no sign.
pub fn memory_type<'c>(cx: Cx<'c>, element: ElementType) -> Type<'c> {
    match element {
        ElementType::Bool => cx.int(8),
        ElementType::C64 => cx.f32(),
        ElementType::C128 => cx.f64(),
        ElementType::Index => cx.int(64),
        _ => register_type(cx, element),
    }
}

/// The type of an element in registers: integers have no sign, and floats of 8 bits are their bits.
pub fn register_type<'c>(cx: Cx<'c>, element: ElementType) -> Type<'c> {
    if element.is_unsigned() || element.is_float8() { cx.int(element.bits()) } else { cx.element(element) }
}
