//! Contractions: tiles of two outer dims, each of which moves one operand and not the other.

use super::SHORTEST_DIM;
use crate::loop_to_gpu::matrix::multiplies;
use strata_core::ir::ElementType;
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::product;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::numerics::Numerics;
use strata_dialects::target::Gpu;

/// Length of a step of the reduced dim.
const STEP_OF_WORDS: i64 = 16;
/// The same for matrix units and elements of 16 bits.
const STEP_OF_HALVES: i64 = 32;
/// Points of a large tile along each dim.
const LARGE_TILE: i64 = 128;

/// The schedule, when a kernel is a contraction that is worth it; by matrix units where they may be used and fit.
pub fn schedule(kernel: &KernelView<'_>, size: &impl Fn(usize) -> i64, numerics: Numerics, gpu: &Gpu) -> Option<KernelSchedule> {
    let (stage, rest) = kernel.stages.split_first()?;
    let plain = stage.maps.len() >= 2 && !stage.is_in_parts() && !stage.is_tile() && !stage.is_scatter() && stage.scan.is_none();
    let reducer = stage.op.str("reducer").is_some_and(|name| !name.starts_with("arg") && !name.starts_with("softmax"));
    let follow = rest.iter().all(|stage| stage.scan.is_none() && !stage.is_scatter() && !stage.is_tile());
    let covers = stage.parallel().len() == kernel.outer.len();
    if !(plain && reducer && follow && covers) {
        return None;
    }
    let uses = |operand: usize, dim: usize| uses(stage, operand, dim);
    let apart = |m: usize, n: usize| {
        let alone = |dim: usize, other: usize| (0..stage.maps.len()).any(|operand| uses(operand, dim) && !uses(operand, other));
        alone(m, n) && alone(n, m)
    };
    let columns = *stage.result_dims().last()?;
    let rows = kernel.outer.iter().copied().filter(|&dim| dim != columns && apart(dim, columns)).max_by_key(|&dim| size(dim))?;
    let along = stage.reduce.iter().copied().max_by_key(|&dim| size(dim))?;
    if size(columns) < SHORTEST_DIM || size(rows) < SHORTEST_DIM || size(along) < SHORTEST_DIM / 2 {
        return None;
    }
    // Products of short floats are exact; those of f32 a unit takes of the first bits of both.
    let asked = |element| if element == ElementType::F32 { Numerics::Fast } else { Numerics::Ulp };
    if let Some(element) = multiplies(stage).filter(|&element| numerics >= asked(element)) {
        // Large tiles read less, where each multiprocessor gets one.
        let points = product(kernel.outer.iter().map(|&dim| size(dim)));
        let many = points >= LARGE_TILE * LARGE_TILE * gpu.multiprocessors && size(rows) >= LARGE_TILE && size(columns) >= LARGE_TILE;
        let cut = |dim: usize| match size(dim) {
            _ if many && dim == rows => (LARGE_TILE, 4),
            _ if many => (LARGE_TILE, 2),
            size if size >= 64 => (64, 2),
            size if size >= 32 => (32, 1),
            _ => (16, 1),
        };
        let of = |dim: usize| if dim == rows || dim == columns { cut(dim) } else { (1, 1) };
        let (tile, warps): (Vec<i64>, Vec<i64>) = kernel.outer.iter().map(|&dim| of(dim)).unzip();
        let step = if element == ElementType::F32 { STEP_OF_WORDS } else { STEP_OF_HALVES };
        let shared = KernelSchedule { along: Some(along), step: Some(step), ..KernelSchedule::default() };
        return Some(KernelSchedule { tile: Some(tile), warps: Some(warps), ..shared });
    }
    let cut = |dim: usize| match size(dim) {
        size if size >= 64 => (64, 4),
        size if size >= 32 => (32, 2),
        _ => (16, 1),
    };
    let of = |dim: usize| if dim == rows || dim == columns { cut(dim) } else { (1, 1) };
    let (tile, unroll): (Vec<i64>, Vec<i64>) = kernel.outer.iter().map(|&dim| of(dim)).unzip();
    let shared = KernelSchedule { along: Some(along), step: Some(STEP_OF_WORDS), ..KernelSchedule::default() };
    Some(KernelSchedule { tile: Some(tile), unroll: Some(unroll), ..shared })
}

fn uses(stage: &StageView<'_>, operand: usize, dim: usize) -> bool {
    stage.maps[operand].results().iter().any(|expr| expr.uses_dim(dim))
}
