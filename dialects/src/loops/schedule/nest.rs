//! The loops that a schedule makes around the stages of a kernel.

use crate::loops::view::KernelView;

/// One loop of a nest: it cuts the range of a dim that the loops outside of it left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestLoop {
    /// The dim.
    pub dim: usize,
    /// Elements of the dim at a time; the last time there may be fewer.
    pub step: i64,
    /// What the loop is for.
    pub kind: LoopKind,
}

/// What a loop of a nest is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// Over blocks that fit a cache.
    Block,
    /// Over tiles, which threads share.
    Tile,
    /// Over register tiles: copies of the body, each for the lanes of a vector.
    Register,
    /// Over single elements: the loop as the kernel says it, or the copies and lanes of a register tile.
    Element,
}

/// The loops around all stages of a kernel, or of one of its phases, outermost first.
///
/// ```text
/// {order = [0, 1], tile = [64, 64], unroll = [6, 2], vector = 1, width = 16}
/// for d0 by 64, d1 by 64      // tiles, which threads share
///   for d0 by 6, d1 by 32     // register tiles of 6 rows and 2 vectors
///     for d0 by 1, d1 by 1    // what a register tile holds
/// ```
pub fn nest(kernel: &KernelView<'_>) -> Vec<NestLoop> {
    let schedule = kernel.schedule();
    let mut loops = Vec::new();
    // What is listed by loop is of the loops around all stages: a phase with loops of its own runs them one by one.
    let by_loop = |list: Option<Vec<i64>>| list.filter(|list| list.len() == kernel.outer.len()).unwrap_or_default();
    let mut cut = |kind: LoopKind, steps: Vec<i64>| {
        let steps = kernel.outer.iter().copied().zip(steps).filter(|(_, step)| *step > 0);
        loops.extend(steps.map(|(dim, step)| NestLoop { dim, step, kind }));
    };
    cut(LoopKind::Block, by_loop(schedule.block.clone()));
    cut(LoopKind::Tile, kernel.tiles().unwrap_or_default());
    let width = |dim: usize| if schedule.vector == Some(dim) { schedule.width.unwrap_or(1).max(1) } else { 1 };
    let unroll = by_loop(schedule.unroll.clone());
    let copies = |level: usize| unroll.get(level).copied().unwrap_or(1).max(1);
    let register: Vec<i64> = kernel.outer.iter().enumerate().map(|(level, &dim)| copies(level).saturating_mul(width(dim))).collect();
    if register.iter().any(|&step| step > 1) {
        cut(LoopKind::Register, register);
    }
    cut(LoopKind::Element, vec![1; kernel.outer.len()]);
    loops
}
