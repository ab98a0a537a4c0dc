//! The operands of attention.
//!
//! Queries are read once for each block of keys, keys and values once for each block of queries. Elements that are converted are copied as
//! what they become, and keys and values whose rows do not lie in the order of the loops are put into it.

use super::{Layout, conversion, is_argument};
use strata_core::ir::Op;
use strata_core::rewrite::NoMatch;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::attention::AttentionView;
use strata_dialects::loops::attention_dims::AttentionDims;
use strata_dialects::loops::attention_units::{AttentionUnits, TOGETHER};
use strata_dialects::loops::has_matrix_units;
use strata_dialects::loops::roles::uses;
use strata_dialects::loops::view::{KernelView, StageView, product_of_known};
use strata_dialects::target::Target;

/// Uses of an element that pay for a copy of another type: a block of queries has as many rows, and converts each element of a key anew. As
/// many pay for values in the order of the loops, which one block multiplies element by element where they lie otherwise.
const USES_IN_A_BLOCK: i64 = 16;
/// Uses that pay for keys in another order: four blocks of queries. Lanes run along the keys where these lie side by side.
const USES_FOR_KEYS: i64 = 64;

/// What the stage with the values computes.
const MEANS: &str = "means";

/// An operand that may be copied.
pub(super) struct Read<'c> {
    /// What its stage computes.
    of: &'static str,
    pub(super) stage: Op<'c>,
    pub(super) operand: usize,
    /// Where matrix units multiply: elements of nothing behind each row of values, in which keys lie side by side. Operands of scores stay as they lie.
    units: Option<i64>,
    /// The dim that is innermost where it is read.
    inner: usize,
    /// It moves along the queries: a block of them is taken in any order.
    of_queries: bool,
}

/// The operands that may be copied.
pub(super) fn operands<'c>(kernel: &KernelView<'c>, target: &Target) -> Vec<Read<'c>> {
    let Ok(Some(view)) = AttentionView::of(kernel) else { return Vec::new() };
    let mean = &kernel.stages[view.mean];
    let AttentionDims { row, column, .. } = AttentionDims::of(kernel, &view, mean);
    let scores = view.scores.map(|scores| &kernel.stages[scores]);
    let depth = scores.and_then(|scores| scores.reduce.first().copied());
    let named = scores.is_some_and(|scores| has_matrix_units(target, scores.op));
    let units = row.zip(column).and_then(|(row, column)| AttentionUnits::of(kernel, &view, row, column)).filter(|_| named);
    let keys = kernel.static_size(view.key).unwrap_or_default();
    let gap = units.map(|_| (keys as u64).next_multiple_of(TOGETHER as u64) as i64 - keys);
    let mut found = Vec::new();
    for (of, stage, inner) in [("scores", scores, depth), (MEANS, Some(mean), column)] {
        let (Some(stage), Some(inner)) = (stage, inner) else { continue };
        for (operand, map) in stage.maps.iter().enumerate().filter(|(_, map)| uses(**map, inner)) {
            let of_queries = row.is_some_and(|row| uses(*map, row));
            let of_units = of != MEANS || units.is_some_and(|units| units.values == operand);
            let inner = if of == MEANS && of_units && gap.is_some() { view.key } else { inner };
            found.push(Read { of, stage: stage.op, operand, units: gap.filter(|_| of_units), inner, of_queries });
        }
    }
    found
}

/// The copy of such an operand that is worth its cost.
pub(super) fn layout<'c>(kernel: &KernelView<'c>, read: &Read<'c>) -> Result<Layout<'c>, NoMatch> {
    let &Read { of, operand, units, inner, of_queries, .. } = read;
    if of != MEANS && units.is_some() {
        return Err("matrix units multiply its halves as they lie".into());
    }
    let stage = StageView::new(read.stage);
    let (tensor, map) = (stage.op.operand(operand), stage.maps[operand]);
    if !is_argument(kernel, tensor) || stage.guarded[operand] {
        return Err("it is no argument of the kernel, or may be read outside of it".into());
    }
    let convert = conversion(&stage, operand).filter(|_| units.is_none());
    let gap = units.unwrap_or_default();
    if convert.is_none() && gap == 0 && (of_queries || stride(map, tensor, inner) == Stride::One) {
        return Err("it lies in the order in which it is read".into());
    }
    let still = stage.domain.iter().filter(|dim| !uses(map, **dim));
    let reuse = product_of_known(still.map(|&dim| kernel.static_size(dim)));
    let least = if convert.is_some() || of == MEANS { USES_IN_A_BLOCK } else { USES_FOR_KEYS };
    if reuse.is_some_and(|reuse| reuse < least) {
        return Err("its elements are used too few times to pay for a copy".into());
    }
    let mut dims: Vec<usize> = stage.domain.iter().copied().filter(|&dim| dim != inner && uses(map, dim)).collect();
    dims.push(inner);
    // Of a window, a copy would hold each element many times.
    let elements = product_of_known(dims.iter().map(|&dim| kernel.static_size(dim)));
    if elements.zip(tensor.ty().num_elements()).is_some_and(|(copied, all)| copied > all) {
        return Err("a copy would hold its elements more than once".into());
    }
    Ok(Layout { suffix: format!("pack_{of}{operand}"), stage: stage.op, operand, dims, panel: None, convert, by_rows: false, gap })
}
