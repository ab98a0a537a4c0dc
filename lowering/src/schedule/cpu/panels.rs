//! Sums of products whose second operand lies in the order in which lanes read it: convolutions over channels-last tensors with
//! weights in panels, products with packed weights.
//!
//! Lanes run along the panel, which is contiguous for every step of the sum; a block of rows of the first operand is broadcast
//! against it (or read beside it, where each lane has its own: depthwise). Nothing is copied, so the loops only have to keep the
//! panel, or a row's part of the input, in the cache.

use super::frame::Frame;
use super::matrix_units;
use crate::schedule::cost::THREADS;
use strata_core::ir::AffineKind;
use strata_dialects::loops::access::{Stride, coefficient, distance, stride};
use strata_dialects::loops::register_block::{UNIT_STEPS, sets_for_rows, unit_rows};
use strata_dialects::loops::roles::Product;
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::StageView;
use strata_dialects::loops::view::product;

/// Vectors of a panel at most: more leave no registers for rows.
const PANEL_VECTORS: i64 = 4;

/// Vectors beside each other of a sum in which each lane has operands of its own, the best first where they divide the lanes: with
/// three of them 16 registers hold four rows of sums, and each vector of the second operand is used four times.
const EVEN_VECTORS: [i64; 3] = [3, 4, 2];

/// Steps of a sum in the time in which memory answers: 100 ns, and a step of a register block takes some 12 cycles of 0.25 ns.
pub(super) const STEPS_OF_A_MISS: i64 = 32;
/// Rows of a register block at most: the multiply-adds of half of them hide their latency.
const MOST_ROWS: i64 = 14;

/// What the kernel is, when it is of this kind.
struct Panels<'k, 'c> {
    stage: &'k StageView<'c>,
    /// The dim that lanes run along.
    lanes: usize,
    /// Whether each lane reads an element of the first operand of its own: depthwise.
    beside: bool,
    /// Outer dims along which only the first operand moves.
    rows: Vec<usize>,
    /// The other outer dims.
    others: Vec<usize>,
}

/// Writes the schedule, when the kernel is of this kind.
pub fn schedule(frame: &Frame<'_, '_>) -> bool {
    let Some(panels) = find(frame) else { return false };
    if let Some((row, rows)) = rows_for_units(frame, &panels) {
        units(frame, &panels, row, rows);
        return true;
    }
    let width = frame.width_along(panels.lanes);
    let whole = (frame.size(panels.lanes) / width).max(1);
    let registers = frame.target.vector_registers;
    let (vectors, rows) = if panels.beside {
        // The first operand is read by the multiply-add itself; what stays in registers is the second one.
        let vectors = EVEN_VECTORS.into_iter().find(|vectors| whole % vectors == 0).unwrap_or(whole.min(EVEN_VECTORS[0]));
        (vectors, (registers - vectors) / vectors)
    } else {
        let rows = |vectors: i64| (registers - beside_sums(registers, vectors)) / vectors;
        // Multiply-adds for each load, of those that are not of lanes beyond the last.
        let uses = |vectors: &i64| {
            let full = (whole as u64).div_ceil(*vectors as u64) as i64 * vectors;
            let rows = rows(*vectors).min(MOST_ROWS);
            vectors * rows * 1000 / (vectors + rows) * whole / full
        };
        let vectors = (1..=whole.min(PANEL_VECTORS)).max_by_key(uses).unwrap_or(1);
        (vectors, rows(vectors))
    };
    let blocks = blocks(frame, &panels, rows.min(MOST_ROWS).min(rows_kept(frame, &panels)));
    let order = order(frame, &panels, &blocks, whole / vectors);
    let unroll: Vec<i64> = order
        .iter()
        .map(|&dim| if dim == panels.lanes { vectors } else { blocks.iter().find(|block| block.0 == dim).map_or(1, |block| block.1) })
        .collect();
    // The insides of rows test nothing.
    let peel = panels.stage.guarded.contains(&true).then(|| {
        let mut rows: Vec<usize> = panels.rows.iter().copied().filter(|&row| frame.size(row) > 1).collect();
        rows.sort_unstable();
        rows
    });
    let lanes = KernelSchedule { peel, vector: Some(panels.lanes), width: Some(width), unroll: Some(unroll), ..KernelSchedule::default() };
    frame.write(&order, KernelSchedule { tile: tile(frame, &panels, &blocks, &order), ..lanes });
    // What follows a long sum comes from memory while the sum runs.
    if product(panels.stage.reduce.iter().map(|&dim| frame.size(dim))) >= STEPS_OF_A_MISS {
        StageSchedule { prefetch: Some(true), ..StageSchedule::default() }.set(panels.stage.op);
    }
    true
}

/// The dim of rows, and how many of them a block has, where matrix units multiply: the dim that leaves least of their tiles empty.
fn rows_for_units(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>) -> Option<(usize, i64)> {
    let product = Product::of(frame.kernel).is_some_and(|product| product.lanes == panels.lanes && product.wide == 1);
    let whole = frame.kernel.static_size(panels.lanes).is_some_and(|size| size % UNIT_STEPS == 0);
    let mut rows: Vec<usize> = panels.rows.iter().copied().filter(|&row| product && whole && matrix_units::take(frame, row)).collect();
    rows.sort_by_key(|&row| position(panels.stage, row));
    let used = |size: i64| {
        let rows = unit_rows(size).max(1);
        let tiles = (size as u64).div_ceil(rows as u64) * (rows as u64).div_ceil(UNIT_STEPS as u64);
        size as u64 * 1000 / tiles.max(1)
    };
    let row = rows.into_iter().max_by_key(|&row| used(frame.size(row)))?;
    Some((row, unit_rows(frame.size(row))))
}

/// A register block of tiles of matrix units, inside tiles of which each has all of its rows and lanes.
fn units(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>, row: usize, rows: i64) {
    let whole = frame.size(panels.lanes) / UNIT_STEPS;
    let vectors = if whole % 2 == 0 { 2 } else { 1 };
    let order = order(frame, panels, &[(row, rows)], whole / vectors);
    let along = |dim: usize, rows: i64, lanes: i64| match dim {
        _ if dim == row => rows,
        _ if dim == panels.lanes => lanes,
        _ => 1,
    };
    let list = |rows: i64, lanes: i64| Some(order.iter().map(|&dim| along(dim, rows, lanes)).collect());
    let (tile, unroll) = (list(frame.size(row), frame.size(panels.lanes)), list(rows, vectors));
    let lanes = KernelSchedule { vector: Some(panels.lanes), width: Some(UNIT_STEPS), ..KernelSchedule::default() };
    frame.write(&order, KernelSchedule { matrix_units: Some(true), roll: Some(row), tile, unroll, ..lanes });
}

/// Registers of a block that are not for sums: a row of the panel and what is broadcast, and where there are many a second row, which is loaded meanwhile.
fn beside_sums(registers: i64, vectors: i64) -> i64 {
    const FEW: i64 = 16;
    if registers <= FEW { vectors + 2 } else { 2 * vectors + 4 }
}

fn find<'k, 'c>(frame: &Frame<'k, 'c>) -> Option<Panels<'k, 'c>> {
    let kernel = frame.kernel;
    let mut reductions = kernel.stages.iter().filter(|stage| !stage.reduce.is_empty());
    let stage = reductions.next().filter(|stage| stage.maps.len() == 2)?;
    let plain = |stage: &StageView<'_>| stage.scan.is_none() && !stage.is_scatter();
    if reductions.next().is_some()
        || frame.width < 2
        || stage.op.str("reducer").as_deref() != Some("sum")
        || !kernel.stages.iter().all(plain)
    {
        return None;
    }
    let (first, second) = (stage.maps[0], stage.maps[1]);
    let AffineKind::Dim(lanes) = second.results().last()?.kind() else { return None };
    let uses = |map: strata_core::ir::AffineMap<'_>, dim: usize| map.results().iter().any(|expr| expr.uses_dim(dim));
    let beside = stride(first, stage.op.operand(0), lanes);
    if !kernel.outer.contains(&lanes) || stride(second, stage.op.operand(1), lanes) != Stride::One || beside == Stride::Other {
        return None;
    }
    let rows: Vec<usize> = kernel.outer.iter().copied().filter(|&dim| dim != lanes && uses(first, dim) && !uses(second, dim)).collect();
    let others = kernel.outer.iter().copied().filter(|dim| *dim != lanes && !rows.contains(dim)).collect();
    // A plain product with a wide second operand is better packed on the way: see `contraction`.
    let in_panels = kernel.static_size(lanes).is_some_and(|size| size > 1 && size <= PANEL_VECTORS * frame.width);
    let slides = |row: usize| stage.reduce.iter().any(|&inner| slides(stage, row, inner));
    let tested = stage.guarded.contains(&true) && beside != Stride::One;
    (!tested && (in_panels || rows.iter().any(|&row| slides(row)))).then_some(Panels {
        stage,
        lanes,
        beside: beside == Stride::One,
        rows,
        others,
    })
}

/// Whether the first operand is read at an index in which a row and a step of the sum meet, as under a window.
pub fn slides(stage: &StageView<'_>, row: usize, inner: usize) -> bool {
    let both = |expr: &strata_core::ir::AffineExpr<'_>| expr.uses_dim(row) && expr.uses_dim(inner);
    stage.maps[0].results().iter().any(both)
}

/// Rows whose lines the first-level cache keeps while a sum runs along them: with 14 rows 4096 bytes apart, of 64 groups of 16 channels, each step
/// reads from the second-level one, which takes two threads of a Zen 4 660 us where 7 rows take 350.
fn rows_kept(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>) -> i64 {
    let (map, image) = (panels.stage.maps[0], panels.stage.op.operand(0));
    let element = image.ty().element_type().map_or(4, |element| element.bytes() as i64);
    let near = panels.rows.iter().copied().filter(|&row| frame.size(row) > 1).filter_map(|row| distance(map, image, row)).min();
    near.filter(|_| !panels.beside)
        .map_or(MOST_ROWS, |elements| sets_for_rows(elements.saturating_mul(element), frame.target).saturating_mul(frame.target.l1.ways))
}

/// How many rows of which dims stand side by side: the innermost dim in even blocks, and more of another one where it is short.
fn blocks(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>, most: i64) -> Vec<(usize, i64)> {
    let mut left = most.max(1);
    let mut blocks = Vec::new();
    // Rows that lie next to each other in memory come first.
    let mut rows: Vec<usize> = panels.rows.iter().copied().filter(|&row| frame.size(row) > 1).collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(position(panels.stage, row)));
    while !rows.is_empty() && left > 1 {
        // After the first, one that divides.
        let divides = |row: usize| frame.kernel.static_size(row).is_some_and(|size| size % left == 0);
        let next = if blocks.is_empty() { 0 } else { rows.iter().position(|&row| divides(row)).unwrap_or(0) };
        let row = rows.remove(next);
        let Some(size) = frame.kernel.static_size(row) else {
            if blocks.is_empty() {
                blocks.push((row, left.min(8)));
            }
            break;
        };
        let block = block(size, left, blocks.is_empty());
        if block > 1 {
            blocks.push((row, block));
            left /= block;
        }
    }
    blocks
}

/// Iterations of a dim that stand side by side, `most` at most; `may_be_uneven`: the last ones may be fewer.
pub fn block(size: i64, most: i64, may_be_uneven: bool) -> i64 {
    let even = (1..=most.min(size)).rev().find(|block| size % block == 0).unwrap_or(1);
    // An uneven block costs a second copy of the body, and a shorter last block.
    if even * 3 >= most.min(size) * 2 || (!may_be_uneven && even > 1) { even } else { uneven(size, most) }
}

/// The block that divides a size into as few and as equal parts as there can be.
fn uneven(size: i64, most: i64) -> i64 {
    let most = most.min(size).max(1);
    let parts = (size + most - 1) / most;
    (size + parts - 1) / parts
}

/// Where a row moves the first operand.
fn position(stage: &StageView<'_>, row: usize) -> Option<usize> {
    stage.maps[0].results().iter().position(|expr| coefficient(*expr, row) != Some(0))
}

/// Tiles of rows for the threads to share, where there is one dim of rows and all panels stay in the cache: panels meet the rows of a tile, which
/// a thread may have made itself. Loops over panels outside would have each thread read all rows, for half of the panels: that is
/// for more bytes of panels than of rows.
fn tile(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>, blocks: &[(usize, i64)], order: &[usize]) -> Option<Vec<i64>> {
    let bytes = |at: usize| {
        let ty = panels.stage.op.operand(at).ty();
        ty.num_elements().zip(ty.element_type()).map(|(count, element)| count * element.bytes() as i64)
    };
    let (rows, weights) = (bytes(0)?, bytes(1)?);
    let mut several = panels.rows.iter().filter(|&&row| frame.kernel.static_size(row) != Some(1));
    let &row = several.next().filter(|_| several.next().is_none() && !panels.beside)?;
    let (size, block) = (frame.kernel.static_size(row)?, blocks.iter().find(|block| block.0 == row)?.1);
    let tile = (size.max(1) as u64).div_ceil(THREADS as u64).next_multiple_of(block.max(1) as u64) as i64;
    let pays = weights <= frame.target.resident_bytes() && weights < rows && size > block * THREADS / 2;
    pays.then(|| order.iter().map(|&dim| if dim == row { tile } else { frame.size(dim) }).collect())
}

/// Panels outermost where all of them do not fit the cache: one panel then meets all rows. Otherwise rows are outermost. Where each
/// lane has operands of its own, rows are innermost: some lanes' part of the input stays in the cache while a window slides over it.
fn order(frame: &Frame<'_, '_>, panels: &Panels<'_, '_>, blocks: &[(usize, i64)], turns: i64) -> Vec<usize> {
    let element = panels.stage.op.operand(1).ty().element_type().map_or(4, |element| element.bytes() as i64);
    let bytes = panels.stage.op.operand(1).ty().num_elements().map_or(i64::MAX, |count| count * element);
    let (blocked, mut free): (Vec<usize>, Vec<usize>) = panels.rows.iter().partition(|row| blocks.iter().any(|block| block.0 == **row));
    let work = product(free.iter().map(|&row| frame.size(row)));
    if panels.beside && !blocked.is_empty() {
        let lanes = vec![panels.lanes];
        // Threads share the first loop.
        let mut order = if turns >= THREADS { [lanes, panels.others.clone(), free] } else { [free, panels.others.clone(), lanes] }.concat();
        order.sort_by_key(|&dim| frame.kernel.static_size(dim) == Some(1));
        return [order, blocked].concat();
    }
    let mut order = if bytes <= frame.target.resident_bytes() && work > 1 {
        // Threads share the first loop: the more iterations, the more even.
        free.sort_by_key(|&row| std::cmp::Reverse(frame.size(row)));
        [free, panels.others.clone(), blocked].concat()
    } else {
        [panels.others.clone(), free, blocked].concat()
    };
    order.sort_by_key(|&dim| frame.kernel.static_size(dim) == Some(1));
    order.push(panels.lanes);
    order
}
