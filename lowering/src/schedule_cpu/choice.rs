//! Schedules as values: one that a kernel has, read and put back, and those that are one step away from it.
//!
//! A choice is an attribute, `{kernel = {...}, stages = [{schedule = {...}, space = "buffer"}, ...]}`, so that it can be stored as
//! text and compared. A step changes one number of it (and what must follow it), or the order of two loops. The program is right
//! under every choice; only its speed differs.

use crate::kernel_view::{KernelView, StageView};
use strata_core::ir::{Attr, Cx, Op};

/// Entries of a dictionary.
type Entries<'c> = Vec<(String, Attr<'c>)>;

/// The schedule that a kernel has.
pub fn choice(kernel: Op<'_>) -> Attr<'_> {
    let cx = kernel.cx();
    let empty = cx.dict_attr(&[]);
    let stages: Vec<_> = stages(kernel)
        .into_iter()
        .map(|stage| {
            let schedule = stage.attr("schedule").unwrap_or(empty);
            let mut entries = vec![("schedule", schedule)];
            entries.extend(stage.attr("space").map(|space| ("space", space)));
            cx.dict_attr(&entries)
        })
        .collect();
    cx.dict_attr(&[("kernel", kernel.attr("schedule").unwrap_or(empty)), ("stages", cx.array_attr(&stages))])
}

/// Gives a kernel a schedule that it, or an equal kernel, had before; false where it is not one for such a kernel.
pub fn apply<'c>(kernel: Op<'c>, choice: Attr<'c>) -> bool {
    let of = |attr: Attr<'c>| attr.entry("schedule").filter(|schedule| schedule.as_dict().is_some());
    let listed = choice.entry("stages").and_then(Attr::as_array).unwrap_or_default();
    let own = choice.entry("kernel").filter(|schedule| schedule.as_dict().is_some());
    let (Some(own), stages) = (own, stages(kernel)) else { return false };
    if listed.len() != stages.len() || !listed.iter().all(|&stage| of(stage).is_some()) {
        return false;
    }
    put(kernel, own);
    for (stage, listed) in stages.into_iter().zip(listed) {
        of(listed).into_iter().for_each(|schedule| put(stage, schedule));
        if let Some(space) = listed.entry("space") {
            stage.set_attr("space", space);
        }
    }
    true
}

/// Takes the schedule off a kernel, so that another can be chosen.
pub fn clear(kernel: Op<'_>) {
    kernel.remove_attr("schedule");
    for stage in stages(kernel) {
        // A tile with rows is one that the schedule made.
        if StageView::new(stage).schedule("rows").is_some() {
            stage.set_attr("space", kernel.cx().str_attr("register"));
        }
        stage.remove_attr("schedule");
    }
}

fn put<'c>(op: Op<'c>, schedule: Attr<'c>) {
    if schedule.as_dict().is_some_and(|entries| entries.is_empty()) {
        op.remove_attr("schedule");
    } else {
        op.set_attr("schedule", schedule);
    }
}

fn stages(kernel: Op<'_>) -> Vec<Op<'_>> {
    kernel.body(0).ops().into_iter().filter(|op| op.attr("domain").is_some()).collect()
}

/// The choices that are one step away from the schedule that a kernel has, the ones that matter most first.
pub fn steps<'c>(kernel: Op<'c>) -> Vec<Attr<'c>> {
    let Some(view) = KernelView::new(kernel) else { return Vec::new() };
    let cx = kernel.cx();
    let now = choice(kernel);
    let own = kernel.attr("schedule").and_then(Attr::as_dict).unwrap_or_default();
    let listed = now.entry("stages").and_then(Attr::as_array).unwrap_or_default();
    let mut found = Vec::new();
    let mut with_own = |own: Entries<'c>| found.push(cx.dict_attr(&[("kernel", dict(cx, &own)), ("stages", cx.array_attr(&listed))]));
    of_loops(&view, &own, &mut with_own);
    for (at, stage) in view.stages.iter().enumerate() {
        let entries = stage.op.attr("schedule").and_then(Attr::as_dict).unwrap_or_default();
        for entries in of_numbers(cx, &entries) {
            let mut listed = listed.clone();
            let mut stage = listed[at].as_dict().unwrap_or_default();
            replace(&mut stage, "schedule", dict(cx, &entries));
            listed[at] = dict(cx, &stage);
            found.push(cx.dict_attr(&[("kernel", dict(cx, &own)), ("stages", cx.array_attr(&listed))]));
        }
    }
    found
}

/// Most copies of a body, all unrolled loops together.
const COPIES: i64 = 48;

/// Steps of the schedule of the outer loops.
fn of_loops<'c>(view: &KernelView<'c>, own: &Entries<'c>, found: &mut dyn FnMut(Entries<'c>)) {
    let cx = view.op.cx();
    let list = |name: &str| view.schedule_list(name);
    let (width, vector) = (view.schedule("width").unwrap_or(1), view.schedule("vector"));
    let along = |level: usize| if vector == Some(view.outer[level] as i64) { width } else { 1 };
    // Rows side by side would share one tile of scratch memory.
    let alone = view.stages.iter().any(StageView::is_tile);
    let unroll = list("unroll").unwrap_or_else(|| vec![1; if alone { 0 } else { view.outer.len() }]);
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
        let mut entries = own.clone();
        replace(&mut entries, "unroll", cx.i64s_attr(unroll));
        if let Some(tile) = tile {
            replace(&mut entries, "tile", cx.i64s_attr(&fitted(unroll, tile)));
        }
        found(entries);
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
            if copies * others <= COPIES && (copies - 1) * along(level) < size && !(copies > 1 && size == 1) {
                let mut unroll = unroll.clone();
                unroll[level] = copies;
                with(&unroll, tile.clone());
            }
        }
    }
    let blocks = list("block").unwrap_or_default();
    for level in (0..blocks.len()).filter(|&level| blocks[level] > 0) {
        for block in [blocks[level] * 2, blocks[level] / 2] {
            let (mut entries, mut blocks) = (own.clone(), blocks.clone());
            blocks[level] = block;
            replace(&mut entries, "block", cx.i64s_attr(&blocks));
            found(entries);
        }
    }
    for level in 1..view.outer.len() {
        found(swapped(cx, own, level));
    }
    if let Some(at) = own.iter().position(|(name, _)| name == "roll") {
        let mut entries = own.clone();
        entries.remove(at);
        found(entries);
    }
    if tile.is_none() {
        for entries in of_numbers(cx, own).into_iter().filter(|_| view.outer.len() == unroll.len()) {
            found(entries);
        }
    }
    if let Some(stream) = own.iter().find(|(name, _)| name == "stream").and_then(|(_, stream)| stream.as_dict()) {
        for stream in of_numbers(cx, &stream) {
            let mut entries = own.clone();
            replace(&mut entries, "stream", dict(cx, &stream));
            found(entries);
        }
    }
}

/// The loops at a level and the one around it in each other's place, with all that is listed by level.
fn swapped<'c>(cx: Cx<'c>, own: &Entries<'c>, level: usize) -> Entries<'c> {
    let swap = |(name, attr): &(String, Attr<'c>)| {
        let listed = matches!(name.as_str(), "order" | "unroll" | "block" | "tile").then(|| attr.as_i64s()).flatten();
        let swapped = listed.filter(|list| list.len() > level).map(|mut list| {
            list.swap(level - 1, level);
            cx.i64s_attr(&list)
        });
        (name.clone(), swapped.unwrap_or(*attr))
    };
    own.iter().map(swap).collect()
}

/// Steps of single numbers: how far something is unrolled or taken together, how wide, and whether at all.
fn of_numbers<'c>(cx: Cx<'c>, own: &Entries<'c>) -> Vec<Entries<'c>> {
    let rows = own.iter().find(|(name, _)| name == "rows").and_then(|(_, rows)| rows.as_int());
    let mut found = Vec::new();
    for (at, (name, attr)) in own.iter().enumerate() {
        if name == "distribute" {
            found.push(own.iter().filter(|(name, _)| !matches!(name.as_str(), "distribute" | "strip")).cloned().collect());
        }
        let Some(number) = attr.as_int() else { continue };
        let numbers = match name.as_str() {
            "unroll" | "rows" if !own.iter().any(|(name, _)| name == "block") => around(number).into_iter().filter(|&n| n <= 16).collect(),
            "sweep" | "block" | "steps" | "strip" => vec![number * 2, number / 2],
            "keys" => around(number).into_iter().filter(|&n| n <= 12).collect(),
            // Lines are parts of the rows that are taken together.
            "lines" => around(number).into_iter().filter(|&n| n <= 12 && rows.is_some_and(|rows| rows % n == 0)).collect(),
            "width" if number > 1 && !own.iter().any(|(name, _)| name == "block") => vec![number / 2, number * 2],
            "stream" | "ahead" | "prefetch" => {
                let mut without = own.clone();
                without.remove(at);
                found.push(without);
                Vec::new()
            }
            _ => Vec::new(),
        };
        for number in numbers.into_iter().filter(|number| (1..=1 << 12).contains(number)) {
            let mut entries = own.clone();
            entries[at].1 = cx.i64_attr(number);
            found.push(entries);
        }
    }
    found
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

fn replace<'c>(entries: &mut Entries<'c>, name: &str, attr: Attr<'c>) {
    match entries.iter_mut().find(|entry| entry.0 == name) {
        Some(entry) => entry.1 = attr,
        None => entries.push((name.to_owned(), attr)),
    }
}

fn dict<'c>(cx: Cx<'c>, entries: &Entries<'c>) -> Attr<'c> {
    let entries: Vec<_> = entries.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    cx.dict_attr(&entries)
}
