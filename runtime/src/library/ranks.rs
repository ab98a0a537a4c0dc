//! Short lines in order: an element's place is the number of those that come before it, which are counted by comparing all pairs, in vectors and
//! without branches.

/// Elements of a line at most: a sort of more of them takes fewer comparisons than pays for those it mispredicts.
pub(super) const MOST: usize = 128;

/// Elements that one is compared with at once, two vectors of AVX2.
const TOGETHER: usize = 8;

/// The positions of `n` elements, at most [`MOST`], in the order of their keys; equal ones stay in the order of their positions.
#[inline(always)]
pub(super) fn order(n: usize, key: impl Fn(usize) -> u64) -> [u8; MOST] {
    // Vectors compare signed integers. What fills up the last of them stands behind all elements.
    let mut keys = [i64::MAX; MOST];
    (0..n).for_each(|at| keys[at] = (key(at) ^ 1 << 63) as i64);
    let filled = &keys[..n.next_multiple_of(TOGETHER).min(MOST)];
    let mut order = [0; MOST];
    for (begin, some) in (0..).step_by(TOGETHER).zip(filled.as_chunks::<TOGETHER>().0) {
        let mut ranks = [0_i64; TOGETHER];
        let mut count = |others: &[i64], comes_before: &dyn Fn(usize, i64, usize) -> bool| {
            for (at, &other) in others.iter().enumerate() {
                (0..TOGETHER).for_each(|k| ranks[k] += i64::from(comes_before(at, other, k)));
            }
        };
        count(&filled[..begin], &|_, other, k| other <= some[k]);
        count(some, &|at, other, k| (other < some[k]) | (other == some[k]) & (at < k));
        count(&filled[begin + TOGETHER..], &|_, other, k| other < some[k]);
        (0..TOGETHER).for_each(|k| order[ranks[k] as usize % MOST] = (begin + k) as u8);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_sorted_stably() {
        for n in 0..=MOST {
            for keys in [1, 3, 7, 1_000_003] {
                let key = |at: usize| ((at as u64 + 5) * 7_919 % keys) << 62 | (at as u64 * 31 % keys);
                let mut sorted: Vec<usize> = (0..n).collect();
                sorted.sort_by_key(|&at| key(at));
                assert!(sorted.iter().zip(order(n, key)).all(|(want, got)| *want == usize::from(got)), "{n} of {keys}");
            }
        }
    }
}
