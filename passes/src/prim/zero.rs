//! The number zero, as passes write it.

use strata_core::ir::{Builder, Type, Value};
use strata_dialects::prim;

/// A tensor of rank 0 that holds the zero of this element type.
pub(super) fn zero<'c>(b: &mut Builder<'c>, element: Type<'c>) -> Value<'c> {
    let scalar = b.cx().tensor(&[], element);
    let bytes = vec![0; scalar.element_type().map_or(1, |element| element.bytes())];
    let value = b.cx().dense_attr(scalar, &bytes).unwrap_or_else(|| unreachable!("zero has the bytes of one element"));
    b.value(prim::Constant::NAME, &[], scalar, &[("value", value)])
}
