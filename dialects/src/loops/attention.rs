//! Reading a kernel around a mean weighed by the softmax of scores.

use super::schedule::OnlineSchedule;
use super::view::{KernelView, StageView};

/// Which stages and dims play which part.
#[derive(Clone, Copy, Debug)]
pub struct AttentionView {
    /// The stage that computes what scores are made of, into a tile.
    pub scores: Option<usize>,
    /// The stage of the mean. What follows it are maps.
    pub mean: usize,
    /// The reduced dim.
    pub key: usize,
    /// The dim of the values that is not outer.
    pub column: Option<usize>,
}

/// The schedule of such a kernel. Without one it runs row by row, one element at a time.
#[derive(Clone, Copy, Debug)]
pub struct OnlineTiles {
    /// The outer dim whose rows are taken together.
    pub row: Option<usize>,
    /// So many of them, with lanes along the rows while scores are computed.
    pub rows: i64,
    /// Lanes.
    pub width: i64,
    /// Keys between two looks at the largest score.
    pub block: i64,
    /// Keys of a register block of scores.
    pub keys: i64,
    /// Rows of a register block of means.
    pub lines: i64,
    /// Vectors of a row of it.
    pub columns: i64,
    /// How far past its own number a row looks: keys beyond that have no weight in it.
    pub reach: Option<i64>,
}

impl AttentionView {
    /// The parts of a kernel that has a mean; what keeps it from being one nest of loops.
    pub fn of(kernel: &KernelView<'_>) -> Result<Option<Self>, &'static str> {
        let Some(mean) = kernel.stages.iter().position(StageView::is_attention) else { return Ok(None) };
        let stage = &kernel.stages[mean];
        let &[key] = stage.reduce.as_slice() else { return Err("a mean reduces one dim") };
        let scores = match mean {
            0 => None,
            1 => Some(0),
            _ => return Err("several stages stand before a mean"),
        };
        if scores.is_some_and(|scores| !is_tile_of_scores(kernel, &kernel.stages[scores], key)) {
            return Err("the stage before a mean is no tile of scores");
        }
        let inner: Vec<usize> = stage.parallel().into_iter().filter(|dim| !kernel.outer.contains(dim)).collect();
        let column = match inner.as_slice() {
            [] => None,
            &[column] if kernel.static_size(column).is_some() => Some(column),
            _ => return Err("a mean has one dim of values, of a known size"),
        };
        let follows = |stage: &StageView<'_>| {
            let plain = stage.reduce.is_empty() && stage.scan.is_none() && !stage.is_scatter();
            plain && stage.domain.iter().all(|dim| kernel.outer.contains(dim) || Some(*dim) == column)
        };
        if !kernel.stages[mean + 1..].iter().all(follows) {
            return Err("what follows a mean runs over other dims");
        }
        Ok(Some(Self { scores, mean, key, column }))
    }
}

fn is_tile_of_scores(kernel: &KernelView<'_>, stage: &StageView<'_>, key: usize) -> bool {
    let inner: Vec<usize> = stage.parallel().into_iter().filter(|dim| !kernel.outer.contains(dim)).collect();
    let sum = stage.op.str("reducer").as_deref() == Some("sum");
    stage.is_tile() && sum && inner == [key]
}

impl OnlineTiles {
    /// The schedule of a kernel whose reduced dim has this size, if that is known.
    pub fn of(kernel: &KernelView<'_>, keys: Option<i64>) -> Self {
        let online = kernel.schedule().online.unwrap_or_default();
        let row = online.row.filter(|dim| kernel.outer.contains(dim));
        let block = online.block.unwrap_or(BLOCK);
        Self {
            row,
            rows: row.and(online.rows).unwrap_or(1),
            width: row.and(online.width).unwrap_or(1),
            block: keys.map_or(block, |keys| block.min(keys.max(1))),
            keys: online.keys.unwrap_or(1),
            lines: online.lines.unwrap_or(1),
            columns: online.columns.unwrap_or(1),
            reach: row.and(online.reach),
        }
    }

    /// One row at a time.
    pub fn single(self) -> Self {
        Self { rows: 1, width: 1, keys: 1, lines: 1, columns: 1, ..self }
    }

    /// As entries of a schedule.
    pub fn entries(&self) -> OnlineSchedule {
        OnlineSchedule {
            block: Some(self.block),
            columns: Some(self.columns),
            keys: Some(self.keys),
            lines: Some(self.lines),
            reach: self.reach,
            row: self.row,
            rows: Some(self.rows),
            width: Some(self.width),
        }
    }
}

/// Keys of a block where no schedule says.
const BLOCK: i64 = 64;
