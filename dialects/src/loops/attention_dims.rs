//! Which dims of an attention kernel are rows, keys and columns.

use super::attention::AttentionView;
use super::roles::uses;
use super::view::{KernelView, StageView};

/// Which dims play which part.
pub struct AttentionDims {
    /// Those of the loops around everything.
    pub outer: Vec<usize>,
    /// The one of them whose rows are taken together.
    pub row: Option<usize>,
    /// The dim of the values that is not among them.
    pub column: Option<usize>,
}

impl AttentionDims {
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
    let among = |dim: usize| mean.maps.iter().filter(|map| uses(**map, dim) && uses(**map, key)).count() == 1;
    mean.parallel().into_iter().rfind(|&dim| among(dim))
}

/// Whether scores pair rows along this dim with keys: one operand moves along it and another one along the keys.
fn is_row(scores: &StageView<'_>, dim: usize, key: usize) -> bool {
    let any = |wanted: [bool; 2]| scores.maps.iter().any(|map| [uses(*map, dim), uses(*map, key)] == wanted);
    any([true, false]) && any([false, true])
}
