//! Schedules as values: one that a kernel has, read and put back, and those that are one step away from it.
//!
//! A choice is an attribute, `{kernel = {...}, stages = [{schedule = {...}, space = "buffer"}, ...]}`, so that it can be stored as
//! text and compared. A step changes one number of it (and what must follow it), or the order of two loops. The program is right
//! under every choice; only its speed differs.

use strata_core::ir::{Attr, Cx, Op};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops::edit::set_space;
use strata_dialects::loops::schedule::{KernelSchedule, OnlineSchedule, SCHEDULE, StageSchedule};
use strata_dialects::loops::view::{KernelView, StageView};

/// A choice: the schedules of a kernel and of its stages, and where the stages' results live.
#[derive(Clone, Default)]
struct Choice {
    kernel: KernelSchedule,
    stages: Vec<(StageSchedule, Option<String>)>,
}

impl Choice {
    /// The one that a kernel has.
    fn of(kernel: Op<'_>) -> Self {
        let stages = stages(kernel).into_iter().map(|stage| (StageSchedule::of(stage), stage.str("space"))).collect();
        Self { kernel: KernelSchedule::of(kernel), stages }
    }

    /// Reads an attribute.
    fn read(attr: Attr<'_>) -> Option<Self> {
        let dictionary = |attr: Attr<'_>, name: &str| attr.entry(name).is_some_and(|entry| entry.as_dict().is_some());
        let listed = attr.entry("stages")?.as_array()?;
        if !dictionary(attr, "kernel") || !listed.iter().all(|stage| dictionary(*stage, SCHEDULE)) {
            return None;
        }
        let stage = |stage: Attr<'_>| Some((StageSchedule::read(stage.entry(SCHEDULE)?), stage.entry("space").and_then(Attr::as_str)));
        let stages = listed.into_iter().map(stage).collect::<Option<_>>()?;
        Some(Self { kernel: KernelSchedule::read(attr.entry("kernel")?), stages })
    }

    /// As an attribute.
    fn attr<'c>(&self, cx: Cx<'c>) -> Attr<'c> {
        let stage = |(schedule, space): &(StageSchedule, Option<String>)| {
            let mut entries = vec![(SCHEDULE, schedule.attr(cx))];
            entries.extend(space.as_ref().map(|space| ("space", cx.str_attr(space))));
            cx.dict_attr(&entries)
        };
        let stages: Vec<_> = self.stages.iter().map(stage).collect();
        cx.dict_attr(&[("kernel", self.kernel.attr(cx)), ("stages", cx.array_attr(&stages))])
    }
}

/// The schedule that a kernel has.
pub fn choice(kernel: Op<'_>) -> Attr<'_> {
    Choice::of(kernel).attr(kernel.cx())
}

/// Gives a kernel a schedule that it, or an equal kernel, had before; false where it is not one for such a kernel.
pub fn apply<'c>(kernel: Op<'c>, choice: Attr<'c>) -> bool {
    let stages = stages(kernel);
    let Some(choice) = Choice::read(choice).filter(|choice| choice.stages.len() == stages.len()) else { return false };
    let mut rewriter = Rewriter::before(kernel);
    choice.kernel.set(kernel);
    for (stage, (schedule, space)) in stages.into_iter().zip(choice.stages) {
        schedule.set(stage);
        if let Some(space) = space {
            set_space(&mut rewriter, stage, &space);
        }
    }
    true
}

/// Takes the schedule off a kernel, so that another can be chosen.
pub fn clear(kernel: Op<'_>) {
    let mut rewriter = Rewriter::before(kernel);
    rewriter.remove_attr(kernel, SCHEDULE);
    for stage in stages(kernel) {
        // A tile with rows is one that the schedule made.
        if StageSchedule::of(stage).rows.is_some() {
            set_space(&mut rewriter, stage, "register");
        }
        rewriter.remove_attr(stage, SCHEDULE);
    }
}

fn stages(kernel: Op<'_>) -> Vec<Op<'_>> {
    kernel.body(0).ops().into_iter().filter(|op| op.attr("domain").is_some()).collect()
}

/// The choices that are one step away from the schedule that a kernel has, the ones that matter most first.
pub fn steps<'c>(kernel: Op<'c>) -> Vec<Attr<'c>> {
    let Some(view) = KernelView::new(kernel) else { return Vec::new() };
    let now = Choice::of(kernel);
    let mut found = Vec::new();
    of_loops(&view, &now.kernel, &mut |kernel| found.push(Choice { kernel, ..now.clone() }));
    for (at, (stage, _)) in now.stages.iter().enumerate() {
        for schedule in of_stage(stage) {
            let mut choice = now.clone();
            choice.stages[at].0 = schedule;
            found.push(choice);
        }
    }
    found.into_iter().map(|choice| choice.attr(kernel.cx())).collect()
}

/// Most copies of a body, all unrolled loops together.
const MOST_COPIES: i64 = 48;

/// Steps of the schedule of the outer loops.
fn of_loops(view: &KernelView<'_>, own: &KernelSchedule, found: &mut dyn FnMut(KernelSchedule)) {
    let along = |level: usize| if own.vector == Some(view.outer[level]) { own.width.unwrap_or(1) } else { 1 };
    // Rows side by side would share one tile of scratch memory.
    let alone = view.stages.iter().any(StageView::is_tile);
    let unroll = own.unroll.clone().unwrap_or_else(|| vec![1; if alone { 0 } else { view.outer.len() }]);
    let tile = view.tiles();
    // A tile is so many whole register blocks.
    let fitted = |unroll: &[i64], mut tile: Vec<i64>| {
        for (level, tile) in tile.iter_mut().enumerate() {
            let step = along(level) * unroll.get(level).copied().unwrap_or(1);
            *tile = if *tile == 1 && step == 1 { 1 } else { (*tile + step - 1) / step * step };
        }
        tile
    };
    let mut with = |unroll: &[i64], tile: Option<Vec<i64>>| {
        let tile = tile.map(|tile| fitted(unroll, tile)).or_else(|| own.tile.clone());
        // Rows side by side are none where they would share a tile.
        let unroll = (!unroll.is_empty()).then(|| unroll.to_vec());
        found(KernelSchedule { unroll, tile, ..own.clone() });
    };
    if let Some(tile) = &tile {
        for level in (0..tile.len()).rev() {
            let (size, step) = (view.static_size(view.outer[level]), along(level) * unroll.get(level).copied().unwrap_or(1));
            let parts = |count: i64| size.map(|size| (size + count - 1) / count);
            let whole = size.map_or(1, |size| (size + tile[level] - 1) / tile[level]);
            let even = [parts(whole + 1), parts((whole - 1).max(1)), parts(2 * whole), parts((whole / 2).max(1))];
            let mut sizes: Vec<i64> = even.into_iter().flatten().filter(|&next| next >= step && next != tile[level]).collect();
            sizes.dedup();
            for next in sizes {
                let mut tile = tile.clone();
                tile[level] = next;
                with(&unroll, Some(tile));
            }
        }
    }
    for level in (0..unroll.len()).rev() {
        let size = view.static_size(view.outer[level]).unwrap_or(i64::MAX);
        let others: i64 = unroll.iter().enumerate().filter(|(at, _)| *at != level).map(|(_, copies)| copies).product();
        for copies in around(unroll[level]) {
            if copies * others <= MOST_COPIES && (copies - 1) * along(level) < size && !(copies > 1 && size == 1) {
                let mut unroll = unroll.clone();
                unroll[level] = copies;
                with(&unroll, tile.clone());
            }
        }
    }
    let blocks = own.block.clone().unwrap_or_default();
    for level in (0..blocks.len()).filter(|&level| blocks[level] > 0) {
        for block in [blocks[level] * 2, blocks[level] / 2] {
            let mut blocks = blocks.clone();
            blocks[level] = block;
            found(KernelSchedule { block: Some(blocks), ..own.clone() });
        }
    }
    for level in 1..view.outer.len() {
        found(swapped(own, level));
    }
    if own.roll.is_some() {
        found(KernelSchedule { roll: None, ..own.clone() });
    }
    if tile.is_none() && own.block.is_none() && view.outer.len() == unroll.len() {
        for width in widths(own.width) {
            found(KernelSchedule { width: Some(width), ..own.clone() });
        }
    }
    for online in own.online.iter().flat_map(of_online) {
        found(KernelSchedule { online: Some(online), ..own.clone() });
    }
}

/// The loops at a level and the one around it in each other's place, with all that is listed by level.
fn swapped(own: &KernelSchedule, level: usize) -> KernelSchedule {
    fn swap<T: Clone>(list: &Option<Vec<T>>, level: usize) -> Option<Vec<T>> {
        let mut list = list.clone()?;
        if list.len() > level {
            list.swap(level - 1, level);
        }
        Some(list)
    }
    let (order, unroll) = (swap(&own.order, level), swap(&own.unroll, level));
    KernelSchedule { order, unroll, block: swap(&own.block, level), tile: swap(&own.tile, level), ..own.clone() }
}

/// A schedule with one of its numbers changed.
fn with<T: Clone>(own: &T, found: &mut Vec<T>, numbers: Vec<i64>, set: fn(&mut T, i64)) {
    for number in numbers.into_iter().filter(|number| (1..=1 << 12).contains(number)) {
        let mut schedule = own.clone();
        set(&mut schedule, number);
        found.push(schedule);
    }
}

/// Steps of a stage's schedule: how far something is unrolled or taken together, how wide, and whether at all.
fn of_stage(own: &StageSchedule) -> Vec<StageSchedule> {
    let mut found = Vec::new();
    if own.distribute.is_some() {
        found.push(StageSchedule { distribute: None, strip: None, ..own.clone() });
    }
    if own.non_temporal.is_some() {
        found.push(StageSchedule { non_temporal: None, ..own.clone() });
    }
    with(own, &mut found, halved(own.outer_reduction), |own, steps| own.outer_reduction = Some(steps));
    if own.prefetch.is_some() {
        found.push(StageSchedule { prefetch: None, ..own.clone() });
    }
    if own.prefetch_operand.is_some() {
        found.push(StageSchedule { prefetch_operand: None, ..own.clone() });
    }
    with(own, &mut found, halved(own.prefetch_distance), |own, steps| own.prefetch_distance = Some(steps));
    if own.prefetch_loads.is_some() {
        found.push(StageSchedule { prefetch_loads: None, ..own.clone() });
    }
    with(own, &mut found, halved(own.prefetch_loads), |own, steps| own.prefetch_loads = Some(steps));
    with(own, &mut found, copies(own.rows, 16), |own, rows| own.rows = Some(rows));
    with(own, &mut found, halved(own.strip), |own, strip| own.strip = Some(strip));
    with(own, &mut found, copies(own.unroll, 16), |own, unroll| own.unroll = Some(unroll));
    with(own, &mut found, widths(own.width), |own, width| own.width = Some(width));
    found
}

/// Steps of how keys pass rows.
fn of_online(own: &OnlineSchedule) -> Vec<OnlineSchedule> {
    let mut found = Vec::new();
    with(own, &mut found, halved(own.block), |own, block| own.block = Some(block));
    with(own, &mut found, copies(own.keys, 12), |own, keys| own.keys = Some(keys));
    // Lines are parts of the rows that are taken together.
    let lines = copies(own.lines, 12).into_iter().filter(|lines| own.rows.is_some_and(|rows| rows % lines == 0));
    with(own, &mut found, lines.collect(), |own, lines| own.lines = Some(lines));
    found
}

/// Twice as many and half of them.
fn halved(number: Option<i64>) -> Vec<i64> {
    number.map_or_else(Vec::new, |number| vec![number * 2, number / 2])
}

/// Narrower and wider vectors, where there are lanes at all.
fn widths(width: Option<i64>) -> Vec<i64> {
    halved(width.filter(|&width| width > 1)).into_iter().rev().collect()
}

/// The next numbers of copies, at most so many.
fn copies(number: Option<i64>, most: i64) -> Vec<i64> {
    number.map_or_else(Vec::new, |number| around(number).into_iter().filter(|&next| next <= most).collect())
}

/// Numbers of copies worth trying.
const LADDER: [i64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];

/// The next numbers of copies on either side, twice as many and half of them.
fn around(number: i64) -> Vec<i64> {
    let more = LADDER.into_iter().find(|&next| next > number);
    let fewer = LADDER.into_iter().rev().find(|&next| next < number);
    let mut found: Vec<i64> = [Some(number * 2), more, fewer, Some(number / 2)].into_iter().flatten().filter(|&next| next >= 1).collect();
    found.dedup();
    found
}
