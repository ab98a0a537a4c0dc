//! What a schedule may say: its entries, and the numbers that they may have.
//!
//! A schedule is data that anybody may write. It is checked here, once, so that whoever reads an entry can count with it.

use super::MAX_SIZE;
use strata_core::ir::Attr;

/// Copies of a body that a schedule may have written out; those that are chosen have a few dozen.
const MAX_COPIES: i64 = 1 << 12;

/// Lanes of a vector: the widest registers hold 64 bytes, and code for a vector of many registers takes long to make.
const MAX_LANES: i64 = 1 << 8;

/// Elements along one dim of a tile or a block: a whole dim, rounded up to so many steps.
const MAX_EXTENT: i64 = MAX_SIZE + (1 << 20);

/// What an entry is.
#[derive(Clone, Copy)]
enum Kind {
    /// A number between these two.
    Number(i64, i64),
    /// A list of such numbers.
    Numbers(i64, i64),
    /// A power of two.
    Lanes,
    /// A dim of the kernel.
    Dim,
    /// Dims of the kernel.
    Dims,
    /// A dictionary of these entries.
    Entries(&'static [(&'static str, Kind)]),
}

/// A number of copies, of threads, or of what is taken together.
const COUNT: Kind = Kind::Number(1, MAX_COPIES);
const FLAG: Kind = Kind::Number(0, 1);

/// The entries of a kernel's schedule, by name.
const OF_KERNEL: &[(&str, Kind)] = &[
    ("along", Kind::Dim),
    ("block", Kind::Numbers(0, MAX_EXTENT)),
    ("inside", Kind::Dims),
    ("order", Kind::Dims),
    ("roll", Kind::Dim),
    ("step", COUNT),
    ("stream", Kind::Entries(OF_STREAM)),
    ("team", COUNT),
    ("threads", COUNT),
    ("tile", Kind::Numbers(1, MAX_EXTENT)),
    ("turn", Kind::Dim),
    ("units", FLAG),
    ("unroll", Kind::Numbers(1, MAX_COPIES)),
    ("vector", Kind::Dim),
    ("warps", Kind::Numbers(1, MAX_COPIES)),
    ("width", Kind::Lanes),
];

/// The entries of `stream`, where keys pass rows.
const OF_STREAM: &[(&str, Kind)] = &[
    ("block", COUNT),
    ("columns", COUNT),
    ("keys", COUNT),
    ("lines", COUNT),
    ("reach", Kind::Number(-MAX_SIZE, MAX_SIZE)),
    ("row", Kind::Dim),
    ("rows", COUNT),
    ("width", Kind::Lanes),
];

/// The entries of a stage's schedule, by name.
const OF_STAGE: &[(&str, Kind)] = &[
    ("ahead", Kind::Number(0, MAX_COPIES)),
    ("along", Kind::Dim),
    ("atomic", FLAG),
    ("distribute", Kind::Numbers(1, MAX_EXTENT)),
    ("pieces", FLAG),
    ("prefetch", FLAG),
    ("rows", COUNT),
    ("share", Kind::Dims),
    ("steps", COUNT),
    ("stream", FLAG),
    ("strip", COUNT),
    ("sweep", COUNT),
    ("turn", Kind::Dim),
    ("unroll", COUNT),
    ("vector", Kind::Dim),
    ("width", Kind::Lanes),
];

/// Numbers that multiply: how often the body is written out in turns, and how many sums a turn of a stream has.
const PRODUCTS: &[&[&str]] = &[&["rows", "sweep", "unroll", "width"], &["columns", "keys", "lines"]];

/// What is wrong with the schedule of a kernel with so many dims.
pub(super) fn refuse_kernel(schedule: Attr<'_>, dims: i64) -> Option<String> {
    refuse(schedule, OF_KERNEL, dims)
}

/// What is wrong with the schedule of a stage of such a kernel.
pub(super) fn refuse_stage(schedule: Attr<'_>, dims: i64) -> Option<String> {
    refuse(schedule, OF_STAGE, dims)
}

fn refuse(schedule: Attr<'_>, known: &[(&str, Kind)], dims: i64) -> Option<String> {
    let entries = schedule.as_dict()?;
    for (name, value) in &entries {
        let Ok(at) = known.binary_search_by_key(&name.as_str(), |(name, _)| name) else {
            return Some(format!("the schedule has no entry '{name}'"));
        };
        if let Some(wanted) = known[at].1.refuse(*value, dims) {
            return Some(format!("the schedule's '{name}' is not {wanted}"));
        }
        // A dictionary tells of its own entries.
        if let Some(reason) = match known[at].1 {
            Kind::Entries(known) => refuse(*value, known, dims),
            _ => None,
        } {
            return Some(reason);
        }
    }
    let numbers = |name: &&str| {
        let value = entries.iter().find(|(entry, _)| entry == name).map(|(_, value)| *value);
        value.map_or_else(Vec::new, |value| value.as_i64s().unwrap_or_else(|| value.as_int().into_iter().collect()))
    };
    let product = |names: &&[&str]| names.iter().flat_map(numbers).fold(1, i64::saturating_mul);
    let copies = PRODUCTS.iter().map(product).max().unwrap_or(1);
    (copies > MAX_COPIES).then(|| format!("the schedule asks for {copies} copies of the body, and at most {MAX_COPIES} are written out"))
}

impl Kind {
    /// What a value should be, if it is not.
    fn refuse(self, value: Attr<'_>, dims: i64) -> Option<String> {
        let number = value.as_int();
        let numbers = value.as_i64s();
        let (fits, wanted) = match self {
            Self::Number(least, most) => (number.is_some_and(|n| (least..=most).contains(&n)), format!("a number from {least} to {most}")),
            Self::Numbers(least, most) => (
                numbers.is_some_and(|list| list.iter().all(|n| (least..=most).contains(n))),
                format!("a list of numbers from {least} to {most}"),
            ),
            Self::Lanes => {
                (number.is_some_and(|n| (1..=MAX_LANES).contains(&n) && n & (n - 1) == 0), format!("a power of two up to {MAX_LANES}"))
            }
            Self::Dim => (number.is_some_and(|dim| (0..dims).contains(&dim)), format!("one of the {dims} dims of the kernel")),
            Self::Dims => (
                numbers.is_some_and(|list| list.iter().all(|dim| (0..dims).contains(dim))),
                format!("a list of the {dims} dims of the kernel"),
            ),
            Self::Entries(_) => (value.as_dict().is_some(), "a dictionary".to_owned()),
        };
        (!fits).then_some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted() {
        for known in [OF_KERNEL, OF_STAGE, OF_STREAM] {
            assert!(known.is_sorted_by_key(|(name, _)| name));
        }
    }
}
