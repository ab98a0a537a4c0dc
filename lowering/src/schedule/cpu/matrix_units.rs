//! Whether matrix units (AMX) take a product: words of both operands, rows of one of them below each other, panels of the other.

use super::frame::Frame;
use strata_dialects::loops::access::{Stride, is_linear, stride};
use strata_dialects::loops::has_matrix_units;
use strata_dialects::loops::register_block::UNIT_STEPS;
use strata_dialects::loops::roles::{Product, Roles};

/// Rows of a product that are worth a tile, which takes as long for a few of them as for all.
const FEWEST_ROWS: i64 = 4;

/// Whether units take the product of a kernel with the dim `row` for rows, which is not known to be short: a row's words lie beside each other, and rows,
/// and steps of a panel, are the same distance apart everywhere.
pub fn take(frame: &Frame<'_, '_>, row: usize) -> bool {
    let Some(Product { stage, wide, .. }) = Product::of(frame.kernel) else { return false };
    let Some(&last) = stage.domain.iter().rev().find(|dim| stage.reduce.contains(dim)) else { return false };
    let words = stride(stage.maps[1 - wide], stage.op.operand(1 - wide), last) == Stride::One;
    let long = frame.kernel.static_size(row).is_none_or(|size| size >= FEWEST_ROWS);
    has_matrix_units(frame.target, stage.op)
        && frame.width == UNIT_STEPS
        && stage.is_register()
        && words
        && is_linear(stage.maps[1 - wide], row)
        && is_linear(stage.maps[wide], last)
        && long
}

/// The columns of a block: those of two tiles in panels, and of as many as fill the dim of lanes where the operand lies in rows.
pub fn columns(frame: &Frame<'_, '_>, roles: &Roles<'_, '_>) -> Option<i64> {
    roles.rows.filter(|&row| take(frame, row))?;
    let whole = |columns: &i64| match roles.panel() {
        Some(panel) => panel == *columns,
        None => frame.kernel.static_size(roles.lanes).is_some_and(|size| size % columns == 0),
    };
    let in_rows = roles.stride(roles.wide, roles.lanes) == Stride::One;
    [2 * UNIT_STEPS, UNIT_STEPS].into_iter().find(whole).filter(|_| roles.panel().is_some() || in_rows)
}
