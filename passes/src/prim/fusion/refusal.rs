//! Why two groups stay apart.

use strata_core::ir::Location;

/// The reason of a "no". The text is what a remark says, so tests can ask for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Legality: an op that is never part of a fusion.
    #[error("legality: '{0}' makes a kernel of its own")]
    Alone(String),
    /// Legality: something in between needs the one and feeds the other.
    #[error("legality: an op outside of both depends on the one and feeds the other")]
    Cycle,
    /// Legality: the reshape is no index transformation that a kernel may hold.
    #[error("legality: the reshape moves elements across dimensions and is free between kernels")]
    Reshape,
    /// Legality: the results would not be written by the same loops.
    #[error("legality: a value is used outside of the kernel and has another shape than its results")]
    OutputShape,
    /// Legality: a result would be computed at another index than the one it is written at.
    #[error("legality: a value is used outside of the kernel and inside of it at another index")]
    OutputIndex,
    /// Legality: a gather reads memory.
    #[error("legality: the gathered tensor must be in memory")]
    GatherData,
    /// Legality: the loop over a segment asks memory for its bounds.
    #[error("legality: where segments begin and end must be in memory")]
    SegmentBounds,
    /// Legality: reductions must share their outer dimensions.
    #[error("legality: two reductions have different outer or reduced dimensions")]
    OuterDims,
    /// Legality: the result of a reduction is there only at its own outer index.
    #[error("legality: the result of a reduction is read at another outer index")]
    ReductionRead,
    /// Legality: one contraction per kernel.
    #[error("legality: a contraction shares its kernel with no other contraction or reduction")]
    Contraction,
    /// Legality: what is written in order is there when the kernel ends.
    #[error("legality: a scan or scatter ends its kernel, which holds only what it reads element by element")]
    InOrder,
    /// Profit: threads share the loops of a scatter where it has its kernel.
    #[error("profit: threads share what is scattered along dims in which the target goes on, and not what makes the target")]
    ScatterAlone,
    /// Profit: work before a contraction would be done once per output element.
    #[error("profit: a contraction would compute its operand again for every output element")]
    ContractionPrologue,
    /// Profit: a contraction whose result is rounded writes that.
    #[error("profit: the kernel of a contraction writes what its result is rounded to")]
    NarrowResult,
    /// Profit: what has fewer lanes takes them from the contraction.
    #[error("profit: complex numbers have half the lanes of their parts, which the contraction would lose")]
    ComplexLanes,
    /// Profit: an expensive value would be computed more than twice.
    #[error("profit: '{0}' is expensive and would be computed again for every repeated element")]
    RepeatedWork(String),
    /// Profit: reads that overlap or miss would repeat or waste work.
    #[error("profit: '{0}' would compute what it reads several times or for nothing")]
    GuardedRead(String),
    /// Profit: a copy in the order in which it is read costs less than reading across memory several times.
    #[error("profit: '{0}' would read a tensor several times in another order than it lies in")]
    ReorderedRead(String),
    /// Profit: what a reduction across memory shares a kernel with would be read across memory, too.
    #[error("profit: what is computed of each element would be read across memory, as the reduction of columns is")]
    AcrossMemory,
    /// Profit: each stage over a row computes the row again.
    #[error("profit: the stages over a row would repeat too much work")]
    RowRecompute,
    /// Profit: nothing would be saved.
    #[error("profit: no value would be saved from memory")]
    NothingSaved,
    /// Profit: the only thing between is a free view.
    #[error("profit: a reshape at the edge of a kernel is free")]
    FreeView,
    /// Target: too many operands and results.
    #[error("target: the kernel would have {0} operands and results, more than {1}")]
    TooManyOperands(usize, usize),
    /// Target: too many ops.
    #[error("target: the kernel would have {0} ops, more than {1}")]
    TooManyOps(usize, usize),
}

/// A refusal at its place.
#[derive(Clone, Debug)]
pub struct Remark<'c> {
    /// The consumer's location.
    pub location: Location<'c>,
    /// Name of the op whose value is not taken in.
    pub producer: String,
    /// Name of the op that reads it.
    pub consumer: String,
    /// Why.
    pub reason: Refusal,
}

impl std::fmt::Display for Remark<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "'{}' is not fused into '{}': {}", self.producer, self.consumer, self.reason)
    }
}
