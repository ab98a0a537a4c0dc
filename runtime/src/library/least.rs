//! The few least entries of a list: they are in the groups whose own least ones are least, which one pass without branches finds.

use super::sort::Entry;

/// Groups are a multiple of so many, two vectors of AVX2: one entry of each is compared at once.
const TOGETHER: usize = 8;

/// Puts the `count` least of `n` different entries into `kept`, in no order; at least one. `kept` has room for as many as [`room`] says.
#[inline(always)]
pub(super) fn least<E: Entry>(n: usize, entry: impl Fn(usize) -> E, count: usize, kept: &mut Vec<E>) {
    let groups = groups(n, count);
    kept.clear();
    kept.extend((0..groups).map(&entry));
    for begin in (groups..n).step_by(groups) {
        kept.iter_mut().zip(begin..n).for_each(|(least, at)| *least = entry(at).min(*least));
    }
    let bound = *kept.select_nth_unstable(count - 1).1;
    kept.truncate(count);
    for at in 0..count {
        let least = kept[at];
        let others = (least.position() % groups..n).step_by(groups).map(&entry);
        kept.extend(others.filter(|other| *other < bound && *other != least));
    }
    kept.select_nth_unstable(count - 1);
    kept.truncate(count);
}

/// Groups of which the least entries are as many as there are entries in `count` of them.
fn groups(n: usize, count: usize) -> usize {
    ((n as f64 * count as f64).sqrt() as usize).max(count).next_multiple_of(TOGETHER).min(n)
}

/// Entries that [`least`] holds at most.
pub(super) fn room(n: usize, count: usize) -> usize {
    let groups = groups(n, count);
    groups.max(count * n.div_ceil(groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_are_found_in_any_order() {
        for n in [1, 7, 8, 300, 5_003] {
            for factor in [1, 7_919, n - 1] {
                let entry = |at: usize| u64::new((at as u64 + 1) * factor as u64 % n as u64 / 3, at, false);
                let mut sorted: Vec<_> = (0..n).map(entry).collect();
                sorted.sort_unstable();
                for count in [1, 2, 37, 600, n].into_iter().filter(|count| *count <= n) {
                    let mut kept = Vec::with_capacity(room(n, count));
                    let memory = kept.as_ptr();
                    least(n, entry, count, &mut kept);
                    assert_eq!(kept.as_ptr(), memory, "the room is enough");
                    kept.sort_unstable();
                    assert!(kept == sorted[..count], "{count} of {n} by {factor}");
                }
            }
        }
    }
}
