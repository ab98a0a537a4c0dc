//! Values that lie in the memory of another one.

use strata_core::ir::{Op, Value};
use strata_dialects::{capture, prim};

/// Whether an op gives its operand's memory another shape.
pub(crate) fn is_view(op: Op<'_>) -> bool {
    op.isa::<prim::Reshape>() || op.isa::<capture::Permute>()
}

/// What is behind the views of a value.
pub(crate) fn root(value: Value<'_>) -> Value<'_> {
    match value.defining_op().filter(|op| is_view(*op)) {
        Some(view) => root(view.operand(0)),
        None => value,
    }
}
