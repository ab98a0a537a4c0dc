//! The few least entries of a list in one pass: whatever is not below the last of those found so far is left where it is.

/// Entries that are compared at once before one is looked at.
const TOGETHER: usize = 16;

/// So many entries are kept between two rounds of sorting out, beside those wanted.
const SPARE: usize = 64;

/// Puts the `count` least of `n` different entries into `kept`, in no order. `kept` has room for `2 * count + SPARE + TOGETHER` entries; see
/// [`room`].
pub(super) fn least<E: Copy + Ord>(n: usize, entry: impl Fn(usize) -> E, count: usize, kept: &mut Vec<E>) {
    let full = room(count) - TOGETHER;
    kept.clear();
    let mut bound: Option<E> = None;
    for begin in (0..n).step_by(TOGETHER) {
        let end = n.min(begin + TOGETHER);
        match bound {
            None => kept.extend((begin..end).map(&entry)),
            Some(bound) => {
                // Nearly never: no branch for each of them.
                if (begin..end).fold(false, |some, at| some | (entry(at) < bound)) {
                    kept.extend((begin..end).map(&entry).filter(|entry| *entry < bound));
                }
            }
        }
        if kept.len() >= full {
            let (_, last, _) = kept.select_nth_unstable(count - 1);
            bound = Some(*last);
            kept.truncate(count);
        }
    }
    if kept.len() > count {
        kept.select_nth_unstable(count - 1);
        kept.truncate(count);
    }
}

/// Entries that [`least`] holds at most.
pub(super) fn room(count: usize) -> usize {
    2 * count + SPARE + TOGETHER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_are_found_in_any_order() {
        let n = 5_003;
        for factor in [1, 7_919, n - 1] {
            for count in [1, 2, 37, 600, n] {
                let mut kept = Vec::with_capacity(room(count));
                least(n, |at| (at + 1) * factor % n, count, &mut kept);
                kept.sort_unstable();
                assert!(kept.into_iter().eq(0..count), "{count} by {factor}");
            }
        }
    }
}
