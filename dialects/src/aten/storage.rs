//! Which operators give views.

use strata_core::ir::Op;

use super::Schema;
use super::op;
use crate::capture;

/// Whether the op's results share storage with its first operand.
pub fn shares(op: Op<'_>, schema: &Schema) -> bool {
    if op.attr(capture::COPIES).is_some() || op.num_operands() == 0 {
        return false;
    }
    let same_type = || op.result_types().iter().all(|ty| *ty == op.operand(0).ty());
    let flag = |name: &str| op.attr(name).and_then(|attr| attr.as_bool()).unwrap_or(false);
    match schema.operator() {
        // These hand back their operand when there is nothing to do, and a copy otherwise.
        op::TO_DTYPE | op::TO_DTYPE_LAYOUT | op::TO_DEVICE | op::TO_OTHER => same_type() && !flag("copy"),
        op::CONJ | op::CONJ_PHYSICAL | op::RESOLVE_CONJ | op::RESOLVE_NEG => {
            !op.operand(0).ty().element_type().is_some_and(|element| element.is_complex())
        }
        op::DROPOUT | op::ALPHA_DROPOUT | op::FEATURE_DROPOUT | op::FEATURE_ALPHA_DROPOUT => !flag("train"),
        op::ATLEAST_1D | op::ATLEAST_2D | op::ATLEAST_3D => true,
        _ => schema.has("view"),
    }
}
