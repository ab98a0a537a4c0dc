//! The block of sums that a contraction keeps in vector registers.

use crate::target::Target;

/// Sums that are added to in turn, so that none waits for itself: two in a cycle, each ready after five.
const SUMS_IN_FLIGHT: i64 = 10;

/// Rows of a register block beside `vectors` accumulators each: those that waste least, of what leaves room for the operands.
pub fn block_rows(rows: Option<i64>, vectors: i64, registers: i64) -> i64 {
    let most = ((registers - vectors - 2) / vectors).clamp(1, 13);
    let least = (most / 2).max(SUMS_IN_FLIGHT / vectors).min(most);
    match rows {
        None => most,
        Some(rows) if rows <= most => rows.max(1),
        // Each block costs its rows and, a third as much as one, the reading of a panel.
        Some(rows) => (least..=most).min_by_key(|block| (rows as u64).div_ceil(*block as u64) as i64 * (3 * block + 1)).unwrap_or(most),
    }
}

/// Steps of a sum that a tile of a matrix unit has at most: words of 32 bits in a row of 64 bytes.
pub const UNIT_STEPS: i64 = 16;
/// Rows of a tile of a matrix unit at most: as many as steps.
const UNIT_ROWS: i64 = UNIT_STEPS;

/// Steps of a tile for a sum of so many words: where these are divided into at most half as many parts more than there need be, none is left over.
pub fn unit_steps(words: i64) -> i64 {
    let least = (words.max(1) as u64).div_ceil(UNIT_STEPS as u64) as i64;
    (least..=least * 3 / 2).find(|parts| words % parts == 0).map_or(UNIT_STEPS, |parts| (words / parts).max(1))
}

/// Rows of a block of two tiles below each other, or of one where that wastes less.
pub fn unit_rows(rows: i64) -> i64 {
    let tiles = (rows.max(1) as u64).div_ceil(UNIT_ROWS as u64) as i64;
    if tiles == 1 || tiles % 2 == 0 || tiles > MANY_TILES { rows.min(2 * UNIT_ROWS) } else { UNIT_ROWS }
}

/// Tiles of rows of which one more costs less than reading each panel for one tile at a time.
const MANY_TILES: i64 = 8;

/// Sets of the first-level cache that rows so many bytes apart fall on: few where the distance is a multiple of a large power of two. Each set keeps
/// as many rows as the cache has ways.
pub fn sets_for_rows(bytes: i64, target: &Target) -> i64 {
    // Bytes of one way: after so many the sets begin anew.
    let turn = target.l1.bytes / target.l1.ways;
    let step = (1 << bytes.trailing_zeros().min(62)).clamp(target.l1.line, turn);
    (turn / step).max(1)
}
