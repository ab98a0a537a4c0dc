//! Kernels that reduce what they read once.

use super::frame::{Frame, TURNS, TYPICAL};

/// Largest number of elements that a tile keeps on the stack.
const TILE: i64 = 4096;

/// Writes the schedule of a kernel with reductions.
pub fn schedule(frame: &Frame<'_, '_>) {
    match frame.vector {
        Some(vector) => frame.write_outer(vector, |dim| if dim == vector { vectors(frame, vector) } else { 1 }),
        None => frame.write_own(tile_dim(frame)),
    }
}

/// Largest number of ops in the bodies of which several copies stand side by side.
const SHORT: usize = 32;

/// Vectors that stand side by side where lanes run along a dim of the results: they share what says where to read, and hide each
/// other's latency.
fn vectors(frame: &Frame<'_, '_>, vector: usize) -> i64 {
    let ops: usize = frame.kernel.stages.iter().map(|stage| stage.op.body(0).ops().len()).sum();
    let fits = frame.kernel.static_size(vector).is_some_and(|size| size % (TURNS * frame.width) == 0);
    if fits && ops <= SHORT { TURNS } else { 1 }
}

/// The outer dim that moves inside, when a reduction of several operands runs its lanes along what it reduces.
pub fn tile_dim(frame: &Frame<'_, '_>) -> Option<usize> {
    let kernel = frame.kernel;
    if frame.width <= 1 {
        return None;
    }
    let (reductions, maps): (Vec<_>, Vec<_>) = kernel.stages.iter().zip(&frame.own).partition(|(stage, _)| !stage.reduce.is_empty());
    let [(reduction, Some(_))] = reductions.as_slice() else { return None };
    let last = *reduction.parallel().last()?;
    let size = kernel.static_size(last)?;
    let rows: i64 = kernel.outer.iter().filter(|dim| **dim != last).map(|&dim| kernel.static_size(dim).unwrap_or(TYPICAL)).product();
    // A single reduction over rows is better off with several accumulators, and with its rows split over threads.
    let whole = reduction.chunk.is_none() && reduction.is_register();
    let worth = whole && reduction.maps.len() > 1 && (rows >= 4 || size <= 256);
    let fits = (2..=TILE).contains(&size) && worth;
    let arg = reduction.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    let follow = maps.iter().all(|(stage, _)| stage.scan.is_none() && !stage.is_scatter() && stage.parallel() == reduction.parallel());
    (fits && follow && !arg && kernel.outer.last() == Some(&last)).then_some(last)
}
