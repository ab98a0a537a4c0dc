//! Kernels that reduce products of operands of which each is used for many results: what is loaded is reused from registers, and
//! blocks of it from the caches.
//!
//! With one operand in panels (`--pack-operands`) the schedule is the classical one. A register block of `rows x vectors`
//! accumulators runs down the whole reduction, reading one row of a panel and broadcasting an element of each row of the other
//! operand. Tiles are so small that the rows of a tile stay in the second-level cache while panels stream past them, and so many
//! that threads can share them evenly. Where the sums are so long that few rows fit, a panel stays instead and rows stream past it.
//! Accumulators never leave registers before the sum is complete, so nothing is read back.

use super::frame::Frame;
use super::matrix_units;
use super::panels::{STEPS_OF_A_MISS, block};
use super::reduction::tile_dim;
use crate::schedule::cost::THREADS;
use crate::schedule::cost::lanes::stage_lanes;
use strata_dialects::loops::access::Stride;
use strata_dialects::loops::register_block::{block_rows, unit_rows};
use strata_dialects::loops::roles::Roles;
use strata_dialects::loops::schedule::{KernelSchedule, StageSchedule};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::loops::view::{product, product_of_known};

/// Rows of accumulators of a contraction without panels, of two vectors each: half of 32 registers at most,
const ACCUMULATOR_ROWS: i64 = 8;
/// and so many registers are left for what is multiplied.
const OTHER_REGISTERS: i64 = 4;
/// Elements of a tile along the lanes at most: 16 vectors of 16, whose panels fit the second-level cache.
const TILE_COLUMNS: i64 = 256;
/// Tiles that threads share evenly: four each.
const TILES_TO_SHARE: i64 = 4 * THREADS;
/// Fewer tiles than this, two for each thread, are cut even if each of more tiles has to read its panel again.
const TILES_TOO_FEW: i64 = 2 * THREADS;
/// Multiplications of a tile at least: with two vectors of 16 in a cycle they take as long as waking a thread does, 2 us at 4 GHz.
const TILE_PRODUCTS: i64 = 1 << 18;
/// Operations that may follow the reduction for each vector of the register block; more of them run in a loop, as code for all is long.
const OPS_UNROLLED: usize = 3;

/// Whether some operand of the kernel's first reduction is used again along an outer dim along which another one moves. Segments, each of which has
/// rows of its own, are no contraction.
pub fn is_contraction(kernel: &KernelView<'_>) -> bool {
    let stage = kernel.stages.iter().find(|stage| !stage.reduce.is_empty());
    // (Nothing is used again along a dim of one step: the product of two lines is a sum.)
    let loops = || kernel.outer.iter().filter(|&&dim| kernel.static_size(dim) != Some(1));
    stage.is_some_and(|stage| !stage.segments && loops().any(|&dim| reused(stage, dim)))
}

/// Writes the schedule of a contraction.
pub fn schedule(frame: &Frame<'_, '_>) {
    if !frame.constrained
        && let Some(roles) = Roles::new(frame.kernel)
        && let Some(panel) = roles
            .panel()
            .or_else(|| matrix_units::columns(frame, &roles))
            .or_else(|| in_place(frame, &roles))
            .filter(|panel| frame.width > 1 && panel % frame.width == 0)
    {
        return tiled(frame, &roles, panel);
    }
    match (frame.vector, Roles::new(frame.kernel).filter(|roles| roles.are_dot_products(frame.kernel))) {
        (Some(vector), _) => frame.write_outer(vector, |dim| unroll(frame, vector, dim)),
        (None, Some(roles)) if frame.width > 1 => dot_products(frame, &roles),
        _ => frame.write_own(tile_dim(frame)),
    }
}

/// Vectors of the operand that most sums are of, which a step of dot products takes together.
const VECTORS_OF_DOTS: i64 = 4;

/// Lanes along the sum: all rows of the one operand with a few of the other, so that each is read once. Half of the registers are for sums.
fn dot_products(frame: &Frame<'_, '_>, roles: &Roles<'_, '_>) {
    let rows = roles.rows.map_or(1, |dim| frame.size(dim).max(1));
    let vectors = ((frame.target.vector_registers - OTHER_REGISTERS) / 2 / rows).clamp(1, VECTORS_OF_DOTS);
    let mut order: Vec<usize> = frame.kernel.outer.iter().copied().filter(|&dim| dim != roles.lanes && Some(dim) != roles.rows).collect();
    order.sort_by_key(|&dim| frame.kernel.static_size(dim) == Some(1));
    let singles = order.iter().filter(|&&dim| frame.kernel.static_size(dim) == Some(1)).count();
    let at = order.len() - singles;
    order.splice(at..at, [roles.lanes].into_iter().chain(roles.rows));
    let copies = |dim: usize| {
        if dim == roles.lanes {
            vectors
        } else if Some(dim) == roles.rows {
            rows
        } else {
            1
        }
    };
    let unroll = Some(order.iter().map(|&dim| copies(dim)).collect());
    frame.write(&order, KernelSchedule { unroll, ..KernelSchedule::default() });
    let vector = roles.stage.reduce.last().copied();
    let width = vector.map(|dim| frame.width_along(dim).min(stage_lanes(roles.stage, dim, frame.target.vector_bits)));
    StageSchedule { vector, width, unroll: Some(1), ..StageSchedule::default() }.set(roles.stage.op);
}

/// Steps of the sum in which a row of an operand that is read in place arrives from memory.
const PREFETCH_STEPS: i64 = 8;

/// Uses of an element, by rows of the other operand, for which a register block is worth its code.
const USES_FOR_A_REGISTER_BLOCK: i64 = 4;

/// Columns of the wide operand that are read together where it lies, when it lies in rows along the lanes.
fn in_place(frame: &Frame<'_, '_>, roles: &Roles<'_, '_>) -> Option<i64> {
    let columns = 2 * frame.width;
    let known = |dim: usize| frame.kernel.static_size(dim);
    let rows =
        roles.stride(roles.wide, roles.lanes) == Stride::One && roles.stride(1 - roles.wide, *roles.stage.reduce.last()?) == Stride::One;
    let points = product_of_known(roles.stage.domain.iter().map(|&dim| known(dim)));
    let worth = points? >= TILE_PRODUCTS
        && known(roles.lanes)? >= 2 * columns
        && roles.reuse(frame.kernel, roles.wide)? >= USES_FOR_A_REGISTER_BLOCK;
    (rows && worth).then_some(columns)
}

/// A register block inside tiles.
fn tiled(frame: &Frame<'_, '_>, roles: &Roles<'_, '_>, panel: i64) {
    let kernel = frame.kernel;
    let vectors = panel / frame.width;
    let registers = frame.target.vector_registers;
    let units = roles.rows.filter(|_| matrix_units::columns(frame, roles) == Some(panel));
    let rows = match units {
        Some(dim) => unit_rows(frame.size(dim)),
        None => roles.rows.map_or(1, |dim| block_rows(kernel.static_size(dim), vectors, registers)),
    };
    let (lane_size, row_size) = (frame.size(roles.lanes), roles.rows.map_or(1, |dim| frame.size(dim)));
    let depth = product(roles.stage.reduce.iter().map(|&dim| frame.size(dim)));
    let up = |size: i64, step: i64| (size.max(1) as u64).div_ceil(step as u64) as i64 * step;
    // Even parts of the rows, of which one fits the cache.
    let bytes = (depth.saturating_mul(frame.target.vector_bits) / (8 * frame.width)).max(1);
    let resident = frame.target.resident_bytes() / bytes;
    let (most_rows, columns) = if resident > panel {
        (resident.max(2 * rows), TILE_COLUMNS.min(frame.target.l2.bytes / bytes.saturating_mul(panel).max(1) * panel).max(panel))
    } else {
        (row_size, panel)
    };
    let parts = (up(row_size, rows) as u64).div_ceil(most_rows.max(1) as u64) as i64;
    let mut row_tile = up((row_size as u64).div_ceil(parts.max(1) as u64) as i64, rows);
    let mut lane_tile = up(lane_size.min(columns), panel);
    let others = kernel.outer.iter().filter(|dim| **dim != roles.lanes && Some(**dim) != roles.rows);
    let others = product(others.map(|&dim| frame.size(dim)));
    let count = |size: i64, tile: i64| (size.max(1) as u64).div_ceil(tile as u64) as i64;
    loop {
        let tiles = product([others, count(lane_size, lane_tile), count(row_size, row_tile)]);
        if tiles >= TILES_TO_SHARE || product([row_tile, lane_tile, depth]) < 2 * TILE_PRODUCTS {
            break;
        }
        if lane_tile > panel {
            lane_tile = up(lane_tile / 2, panel);
        } else if row_tile > rows && tiles < TILES_TOO_FEW {
            row_tile = up(row_tile / 2, rows);
        } else {
            break;
        }
    }
    let mut order: Vec<usize> = kernel.outer.iter().copied().filter(|&dim| dim != roles.lanes && Some(dim) != roles.rows).collect();
    order.push(roles.lanes);
    order.extend(roles.rows);
    let along = |dim: usize, lanes: i64, rows: i64| match dim {
        _ if dim == roles.lanes => lanes,
        _ if Some(dim) == roles.rows => rows,
        _ => 1,
    };
    let list = |lanes: i64, rows: i64| Some(order.iter().map(|&dim| along(dim, lanes, rows)).collect());
    let follow = kernel.stages.iter().filter(|stage| stage.reduce.is_empty());
    let work: usize = follow.map(|stage| stage.op.body(0).ops().len() - 1 + stage.maps.len() - 1).sum();
    let roll = roles.rows.filter(|_| units.is_some() || work > OPS_UNROLLED && rows > 1);
    let (tile, unroll) = (list(lane_tile, row_tile), list(vectors, rows));
    let lanes = KernelSchedule { vector: Some(roles.lanes), width: Some(frame.width), ..KernelSchedule::default() };
    let peel = frame.ragged(roles.lanes, panel);
    frame.write(&order, KernelSchedule { matrix_units: units.map(|_| true), roll, tile, unroll, peel, ..lanes });
    if units.is_some() {
        return;
    }
    // What follows a long sum comes from memory while the sum runs: a register block's lines of it lie in as many rows as the block has.
    let prefetch = (depth >= STEPS_OF_A_MISS).then_some(true);
    let mut schedule = StageSchedule { prefetch, ..StageSchedule::default() };
    // Rows that lie far apart are on pages of their own, across which no CPU fetches ahead by itself.
    if let Some(along) = roles.stage.reduce.last().filter(|_| roles.panel().is_none()) {
        (schedule.prefetch_operand, schedule.prefetch_along, schedule.prefetch_distance) =
            (Some(roles.wide), Some(*along), Some(PREFETCH_STEPS));
    }
    schedule.set(roles.stage.op);
}

/// Which operands move along a dim.
fn moves(stage: &StageView<'_>, dim: usize) -> Vec<bool> {
    stage.maps.iter().map(|map| strata_dialects::loops::roles::uses(*map, dim)).collect()
}

/// Reuse along a dim needs an operand that does not move with it, and one that does.
fn reused(stage: &StageView<'_>, dim: usize) -> bool {
    let moves = moves(stage, dim);
    moves.contains(&true) && moves.contains(&false)
}

/// Copies of the body along an outer dim: a contraction reuses what it loads for several rows and vectors.
fn unroll(frame: &Frame<'_, '_>, vector: usize, dim: usize) -> i64 {
    let kernel = frame.kernel;
    let Some(stage) = kernel.stages.iter().find(|stage| !stage.reduce.is_empty()) else { return 1 };
    if !reused(stage, vector) {
        return 1;
    }
    if dim == vector {
        return if frame.size(dim) >= 2 * frame.width_along(vector) { 2 } else { 1 };
    }
    // One dim of rows: the last one before the lanes whose operands differ from those of the lanes.
    let fits =
        |row: usize| row != vector && reused(stage, row) && moves(stage, row) != moves(stage, vector) && kernel.static_size(row) != Some(1);
    let rows = kernel.outer.iter().copied().rfind(|&row| fits(row));
    let most = ACCUMULATOR_ROWS.min((frame.target.vector_registers - OTHER_REGISTERS) / 2);
    if rows == Some(dim) { block(frame.size(dim).max(1), most, true) } else { 1 }
}
