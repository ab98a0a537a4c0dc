//! Which dims of an attention kernel are rows, keys and columns.

use strata_dialects::loops::attention::AttentionView;
use strata_dialects::loops::view::{KernelView, StageView};

/// Which dims play which part.
pub struct Dims {
    /// Those of the loops around everything.
    pub outer: Vec<usize>,
    /// The one of them whose rows are taken together.
    pub row: Option<usize>,
    /// The dim of the values that is not among them.
    pub column: Option<usize>,
}

impl Dims {
    /// Of a kernel with this mean.
    pub fn of(kernel: &KernelView<'_>, view: &AttentionView, mean: &StageView<'_>) -> Self {
        let column = view.column.or_else(|| values(mean, view.key));
        let outer: Vec<usize> = kernel.outer.iter().copied().filter(|dim| Some(*dim) != column).collect();
        let row = match view.scores {
            Some(scores) => outer.iter().copied().rfind(|&dim| is_row(&kernel.stages[scores], dim, view.key)),
            None => outer.last().copied(),
        };
        Self { outer, row, column }
    }
}

/// The dim of the values, where no other stage keeps it inside: the last that the score does not depend on.
fn values(mean: &StageView<'_>, key: usize) -> Option<usize> {
    let depends = |dim: usize, at: usize| mean.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
    let among = |dim: usize| (0..mean.maps.len()).filter(|&at| depends(dim, at) && depends(key, at)).count() == 1;
    mean.parallel().into_iter().rfind(|&dim| among(dim))
}

/// Whether scores pair rows along this dim with keys: one operand moves along it and another one along the keys.
fn is_row(scores: &StageView<'_>, dim: usize, key: usize) -> bool {
    let uses = |at: usize, dim: usize| scores.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
    let any = |wanted: [bool; 2]| (0..scores.maps.len()).any(|at| [uses(at, dim), uses(at, key)] == wanted);
    any([true, false]) && any([false, true])
}
