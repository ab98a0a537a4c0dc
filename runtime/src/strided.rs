//! Copies between tensors whose elements lie in different orders: views that a caller gives, and what a program reads and writes.

use crate::pool;

/// One dimension of a copy.
#[derive(Clone, Copy, Debug)]
struct Dim {
    extent: i64,
    /// In bytes.
    from: i64,
    to: i64,
}

/// Elements along each side of the squares in which transposed dimensions are copied: lines of both sides stay in the cache.
const SQUARE: i64 = 64;
/// Bytes that are worth another thread.
const PART: i64 = 1 << 18;

/// Whether every element has a place of its own, so that a tensor can be written.
pub(crate) fn is_injective(shape: &[i64], strides: &[i64]) -> bool {
    let mut dims: Vec<_> =
        shape.iter().zip(strides).filter(|(extent, _)| **extent > 1).map(|(n, stride)| (stride.unsigned_abs(), *n)).collect();
    dims.sort_unstable();
    let mut reached = 0u64;
    dims.into_iter().all(|(stride, extent)| {
        let apart = stride > reached;
        reached = reached.saturating_add(stride.saturating_mul(extent.unsigned_abs() - 1));
        apart
    })
}

/// Copies a tensor of elements of `size` bytes (1, 2, 4, 8 or 16) from one order into another; strides are in elements.
///
/// # Safety
/// Every element reached by `shape` and the strides is readable from `from` and writable from `to`, and the two do not overlap.
pub(crate) unsafe fn copy(shape: &[i64], from: (*const u8, &[i64]), to: (*mut u8, &[i64]), size: usize) {
    if shape.contains(&0) {
        return;
    }
    let bytes = |stride: &i64| stride * size as i64;
    let dims = shape.iter().zip(from.1).zip(to.1).filter(|((extent, _), _)| **extent > 1);
    let dims = merged(dims.map(|((&extent, from), to)| Dim { extent, from: bytes(from), to: bytes(to) }).collect());
    let Some(&first) = dims.first() else {
        // SAFETY: the caller's promise, of the only element.
        return unsafe { from.0.copy_to_nonoverlapping(to.0, size) };
    };
    let step = dims[1..].iter().fold(size as i64, |bytes, dim| bytes.saturating_mul(dim.extent));
    let grain = (PART / step.max(1) / SQUARE + 1) * SQUARE;
    // Addresses as numbers cross to other threads.
    let (from, to) = (from.0 as usize, to.0 as usize);
    pool::global().each(first.extent, grain, |begin, end| {
        let mut dims = dims.clone();
        dims[0].extent = end - begin;
        let at = |start: usize, stride: i64| start.wrapping_add_signed((begin * stride) as isize);
        let (from, to) = (at(from, first.from) as *const u8, at(to, first.to) as *mut u8);
        // SAFETY: the caller's promise, of this part of the elements; elements have this size.
        unsafe {
            match size {
                1 => walk::<1, 1>(&dims, from, to),
                2 => walk::<2, 1>(&dims, from, to),
                4 => walk::<4, 8>(&dims, from, to),
                8 => walk::<8, 4>(&dims, from, to),
                _ => walk::<16, 2>(&dims, from, to),
            }
        }
    });
}

/// Dimensions in the order of writing, the fastest last, where two that go on into each other are one.
fn merged(mut dims: Vec<Dim>) -> Vec<Dim> {
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.to.abs()));
    let mut merged: Vec<Dim> = Vec::new();
    for dim in dims {
        match merged.last_mut() {
            Some(outer) if outer.from == dim.from * dim.extent && outer.to == dim.to * dim.extent => {
                *outer = Dim { extent: outer.extent * dim.extent, ..dim };
            }
            _ => merged.push(dim),
        }
    }
    merged
}

/// The dimensions but the innermost ones, one after the other: elements of `N` bytes, in tiles of `R` by `R` where they are transposed.
unsafe fn walk<const N: usize, const R: usize>(dims: &[Dim], from: *const u8, to: *mut u8) {
    let Some((&inner, outer)) = dims.split_last() else { return };
    // What is read fastest, if that is another dimension than what is written fastest.
    let read = outer.iter().enumerate().min_by_key(|(_, dim)| dim.from.abs()).filter(|(_, dim)| dim.from.abs() < inner.from.abs());
    let mut rest = outer.to_vec();
    let across = read.map(|(at, _)| rest.remove(at));
    let mut index = vec![0i64; rest.len()];
    loop {
        let offset = |stride: fn(&Dim) -> i64| index.iter().zip(&rest).map(|(i, dim)| i * stride(dim)).sum::<i64>() as isize;
        let (from, to) = (from.wrapping_offset(offset(|dim| dim.from)), to.wrapping_offset(offset(|dim| dim.to)));
        // SAFETY: the caller's promise, of the elements at this index.
        unsafe {
            match across {
                Some(across) => squares::<N, R>(across, inner, from, to),
                None => line::<N>(inner, from, to),
            }
        }
        let mut dims = index.iter_mut().zip(&rest).rev();
        let next = dims.find_map(|(i, dim)| {
            *i = (*i + 1) % dim.extent;
            (*i != 0).then_some(())
        });
        if next.is_none() {
            return;
        }
    }
}

unsafe fn line<const N: usize>(dim: Dim, from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise, of the elements of the line.
    unsafe {
        if dim.from == N as i64 && dim.to == N as i64 {
            return from.copy_to_nonoverlapping(to, dim.extent as usize * N);
        }
        for i in 0..dim.extent as isize {
            let element = from.offset(i * dim.from as isize).cast::<[u8; N]>().read();
            to.offset(i * dim.to as isize).cast::<[u8; N]>().write(element);
        }
    }
}

/// Two dimensions of which the one is read and the other written fastest, in squares: all that are read side by side first.
unsafe fn squares<const N: usize, const R: usize>(read: Dim, write: Dim, from: *const u8, to: *mut u8) {
    let is_dense = read.from == N as i64 && write.to == N as i64;
    let side = if is_dense { R as i64 } else { 1 };
    for j in (0..write.extent).step_by(SQUARE as usize) {
        for i in (0..read.extent).step_by(SQUARE as usize) {
            let part = |dim: Dim, at: i64| Dim { extent: SQUARE.min(dim.extent - at), ..dim };
            let (read, write, offset) = (part(read, i), part(write, j), |read: i64, write: i64| (i * read + j * write) as isize);
            let (from, to) = (from.wrapping_offset(offset(read.from, write.from)), to.wrapping_offset(offset(read.to, write.to)));
            // SAFETY: the caller's promise, of the elements of the square; neighbours are `N` bytes apart where tiles are larger than one.
            unsafe {
                match side {
                    1 => square::<N, 1>(read, write, from, to),
                    _ => square::<N, R>(read, write, from, to),
                }
            }
        }
    }
}

/// One square, in tiles, and what these leave at its ends.
unsafe fn square<const N: usize, const R: usize>(read: Dim, write: Dim, from: *const u8, to: *mut u8) {
    let whole = |dim: Dim| dim.extent / R as i64 * R as i64;
    let (tiled_read, tiled_write) = (whole(read), whole(write));
    let at = |i: i64, j: i64| ((i * read.from + j * write.from) as isize, (i * read.to + j * write.to) as isize);
    // SAFETY: the caller's promise, of the elements of the square.
    unsafe {
        for i in (0..tiled_read).step_by(R) {
            for j in (0..tiled_write).step_by(R) {
                let (there, here) = at(i, j);
                tile::<N, R>(from.offset(there), write.from as isize, to.offset(here), read.to as isize);
            }
        }
        for i in 0..read.extent {
            let done = if i < tiled_read { tiled_write } else { 0 };
            let (there, here) = at(i, done);
            line::<N>(Dim { extent: write.extent - done, ..write }, from.offset(there), to.offset(here));
        }
    }
}

/// Rows of `R` elements, this far apart, as columns.
unsafe fn tile<const N: usize, const R: usize>(from: *const u8, apart: isize, to: *mut u8, apart_there: isize) {
    // SAFETY: the caller's promise, of the elements of the tile.
    unsafe {
        let rows: [[[u8; N]; R]; R] = std::array::from_fn(|j| from.offset(j as isize * apart).cast::<[[u8; N]; R]>().read());
        let columns: [[[u8; N]; R]; R] = std::array::from_fn(|i| rows.map(|row| row[i]));
        for (i, column) in columns.into_iter().enumerate() {
            to.offset(i as isize * apart_there).cast::<[[u8; N]; R]>().write(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::dense_strides;
    use proptest::prelude::*;

    /// Strides that lie in the order of `order`, with gaps, some backwards; and where the first element is.
    fn strides(shape: &[i64], order: &[usize], gap: i64, backwards: u32) -> (Vec<i64>, usize, usize) {
        let (mut strides, mut next, mut first) = (vec![0; shape.len()], 1, 0);
        for &dim in order {
            let turned = backwards >> dim & 1 == 1;
            strides[dim] = if turned { -next } else { next };
            first += if turned { next * (shape[dim].max(1) - 1) } else { 0 };
            next *= shape[dim].max(1) + gap;
        }
        (strides, first as usize, next as usize)
    }

    proptest! {
        #[test]
        fn a_copy_and_back_gives_every_element(
            shape in prop::collection::vec(0i64..40, 0..4), shuffle in any::<prop::sample::Index>(), gap in 0i64..3, backwards in 0u32..16,
        ) {
            let mut order: Vec<usize> = (0..shape.len()).collect();
            order.rotate_left(shuffle.index(shape.len().max(1)));
            let (strides, first, room) = strides(&shape, &order, gap, backwards);
            prop_assert!(is_injective(&shape, &strides));
            let dense = dense_strides(&shape);
            let count = shape.iter().product::<i64>() as usize;
            let values: Vec<u32> = (1..=count as u32).collect();
            let (mut there, mut back) = (vec![0u32; room], vec![0u32; count]);
            // SAFETY: the view lies inside of `there`, which has room for it.
            unsafe {
                let at = there.as_mut_ptr().wrapping_add(first).cast::<u8>();
                copy(&shape, (values.as_ptr().cast(), &dense), (at, &strides), 4);
                copy(&shape, (at.cast_const(), &strides), (back.as_mut_ptr().cast(), &dense), 4);
            }
            prop_assert_eq!(there.iter().filter(|value| **value != 0).count(), count);
            prop_assert_eq!(values, back);
        }
    }

    #[test]
    fn elements_on_one_another_are_found() {
        for (shape, strides, own) in [
            (vec![2, 3], vec![3, 1], true),
            (vec![3, 2], vec![1, 3], true),
            (vec![2, 3], vec![0, 1], false),
            (vec![2, 3], vec![2, 1], false),
            (vec![1, 3], vec![0, 1], true),
            (vec![], vec![], true),
        ] {
            assert_eq!(is_injective(&shape, &strides), own, "{shape:?} {strides:?}");
        }
    }
}
