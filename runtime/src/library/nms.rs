//! `strata_lib_nms`: non-maximum suppression of boxes, as torchvision's `nms` says.

use std::ffi::c_void;

use crate::abi::StrataCall;
use crate::dtype::DType;
use crate::imports::state;

/// Of each batch's boxes `x1, y1, x2, y2`, the numbers of those that no better one overlaps by more than the threshold
/// (as a share of the union), best score first, and how many these are; the rest of `order` is 0.
///
/// `dtype` is the position in [`DType::ALL`]. Returns 0, or 1 for a type other than `f32` and `f64`, boxes that have not four numbers, or
/// where there is no memory.
///
/// # Safety
/// `boxes` points at `batch * n * d` elements, `scores` and `order` at `batch * n`, `threshold` and `count` at `batch`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
pub unsafe extern "C" fn strata_lib_nms(
    call: *mut StrataCall,
    dtype: i32,
    boxes: *const c_void,
    scores: *const c_void,
    threshold: *const c_void,
    order: *mut i64,
    count: *mut i64,
    batch: i64,
    n: i64,
    d: i64,
    _options: i32,
) -> i32 {
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let (batch, n) = (size(batch), size(n));
    // SAFETY: the caller's.
    let share = (!call.is_null()).then(|| unsafe { state(call) }.aside(n * 3 * size_of::<usize>()));
    if share.as_ref().is_some_and(Option::is_none) {
        return 1;
    }
    let dtype = usize::try_from(dtype).ok().and_then(|at| DType::ALL.get(at));
    if d != 4 && n > 0 {
        return 1;
    }
    // SAFETY: the caller promises the sizes and that nothing else uses the results.
    let (order, count) = unsafe { (slice_mut(order, batch * n), slice_mut(count, batch)) };
    match dtype {
        // SAFETY: as above; the elements are of this type.
        Some(DType::F32) => unsafe {
            let (boxes, scores, limits) = (slice::<f32>(boxes, batch * n * 4), slice(scores, batch * n), slice(threshold, batch));
            all(boxes, scores, limits, order, count);
        },
        // SAFETY: as above; the elements are of this type.
        Some(DType::F64) => unsafe {
            let (boxes, scores, limits) = (slice::<f64>(boxes, batch * n * 4), slice(scores, batch * n), slice(threshold, batch));
            all(boxes, scores, limits, order, count);
        },
        _ => return 1,
    }
    0
}

/// # Safety
/// `data` points at `len` elements.
unsafe fn slice<'a, T>(data: *const c_void, len: usize) -> &'a [T] {
    // SAFETY: promised by the caller; no pointer is read for no elements.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), len) } }
}

/// # Safety
/// `data` points at `len` elements that nothing else uses.
unsafe fn slice_mut<'a>(data: *mut i64, len: usize) -> &'a mut [i64] {
    // SAFETY: promised by the caller; no pointer is used for no elements.
    if len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(data, len) } }
}

trait Real:
    Copy
    + PartialOrd
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Add<Output = Self>
    + std::ops::Div<Output = Self>
{
    const ZERO: Self;
    fn nan(self) -> bool;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    fn nan(self) -> bool {
        self.is_nan()
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    fn nan(self) -> bool {
        self.is_nan()
    }
}

fn all<T: Real>(boxes: &[T], scores: &[T], limits: &[T], order: &mut [i64], count: &mut [i64]) {
    let n = scores.len() / limits.len().max(1);
    for (place, limit) in limits.iter().enumerate() {
        let of = |width: usize| place * n * width..(place + 1) * n * width;
        let (kept, number) = suppressed(&boxes[of(4)], &scores[of(1)], *limit);
        order[of(1)].copy_from_slice(&kept);
        count[place] = number;
    }
}

/// The boxes that are kept, then zeros, and how many these are.
fn suppressed<T: Real>(boxes: &[T], scores: &[T], limit: T) -> (Vec<i64>, i64) {
    let mut by_score: Vec<usize> = (0..scores.len()).collect();
    // Stable, the largest first, and NaN is larger than every number.
    by_score.sort_by(|&a, &b| {
        let (a, b) = (scores[a], scores[b]);
        b.partial_cmp(&a).unwrap_or_else(|| b.nan().cmp(&a.nan()))
    });
    let corners = |at: usize| [boxes[4 * at], boxes[4 * at + 1], boxes[4 * at + 2], boxes[4 * at + 3]];
    let area = |[x1, y1, x2, y2]: [T; 4]| (x2 - x1) * (y2 - y1);
    let larger = |a: T, b: T| if a > b { a } else { b };
    let smaller = |a: T, b: T| if a < b { a } else { b };
    let (mut kept, mut gone, mut number) = (vec![0; scores.len()], vec![false; scores.len()], 0);
    for (rank, &at) in by_score.iter().enumerate() {
        if gone[at] {
            continue;
        }
        kept[number] = at as i64;
        number += 1;
        let own = corners(at);
        for &other in &by_score[rank + 1..] {
            let [x1, y1, x2, y2] = corners(other);
            let (left, top) = (larger(own[0], x1), larger(own[1], y1));
            let (right, bottom) = (smaller(own[2], x2), smaller(own[3], y2));
            let shared = larger(T::ZERO, right - left) * larger(T::ZERO, bottom - top);
            gone[other] |= shared / (area(own) + area(corners(other)) - shared) > limit;
        }
    }
    (kept, number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_box_hides_those_that_it_covers() {
        let boxes = [0.0f32, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 1.8, 5.0, 5.0, 6.0, 6.0, 0.0, 0.0, 2.0, 2.0];
        assert_eq!(suppressed(&boxes, &[0.5, 0.9, 0.1, 0.5], 0.5), (vec![1, 2, 0, 0], 2));
        assert_eq!(suppressed(&boxes, &[0.5, 0.9, 0.1, 0.5], 0.95), (vec![1, 0, 2, 0], 3));
        assert_eq!(suppressed::<f64>(&[], &[], 0.5), (vec![], 0));
    }
}
