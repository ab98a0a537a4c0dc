//! What an entry of a schedule may hold.

use super::super::MAX_SIZE;
use crate::entry::{Entry, MAX_COUNT, nested, number};
use std::fmt::Display;
use strata_core::ir::{Attr, Cx};

/// Lanes of a vector: the widest registers hold 64 bytes, and code for a vector of many registers takes long to make.
const MAX_LANES: i64 = 1 << 8;

/// Elements along one dim of a tile or a block: a whole dim, rounded up to so many steps.
const MAX_EXTENT: i64 = MAX_SIZE + (1 << 20);

/// A whole number of any sign.
pub struct Offset;
/// Numbers of copies.
pub struct Numbers;
/// Elements along dims.
pub struct Extents;
/// A power of two.
pub struct Lanes;
/// A dim of the kernel.
pub struct DimIndex;
/// Different dims of the kernel.
pub struct Dims;
/// The position of an operand.
pub struct Index;
/// The entries of an [`OnlineSchedule`](super::OnlineSchedule).
pub struct Online;

/// Implements [`Entry`] for a kind that is a list of numbers.
macro_rules! list {
    ($kind:ident, $value:ty, $least:expr, $most:expr, $fits:expr, $dims:ident => $wanted:expr) => {
        impl Entry for $kind {
            type Value = Vec<$value>;
            fn read(attr: Attr<'_>) -> Option<Vec<$value>> {
                attr.as_i64s()?.into_iter().map(|number| (($least..=$most).contains(&number)).then_some(number as $value)).collect()
            }
            fn attr<'c>(value: &Vec<$value>, cx: Cx<'c>) -> Attr<'c> {
                cx.i64s_attr(&value.iter().map(|&number| number as i64).collect::<Vec<_>>())
            }
            fn fits(value: &Vec<$value>, dims: usize) -> bool {
                let fits: fn(&[$value], usize) -> bool = $fits;
                fits(value, dims)
            }
            fn wanted($dims: impl Display) -> String {
                let _ = &$dims;
                $wanted
            }
        }
    };
}

number!(Offset, i64, -MAX_SIZE, MAX_SIZE, |_, _| true, dims => format!("a number from -{MAX_SIZE} to {MAX_SIZE}"));
number!(Lanes, i64, 1, MAX_LANES, |n, _| n & (n - 1) == 0, dims => format!("a power of two up to {MAX_LANES}"));
number!(DimIndex, usize, 0, i64::MAX, |dim, dims| dim < dims, dims => format!("one of the {dims} dims of the kernel"));
number!(Index, usize, 0, MAX_COUNT, |_, _| true, dims => "the position of an operand".to_owned());
list!(Numbers, i64, 1, MAX_COUNT, |_, _| true, dims => format!("a list of numbers from 1 to {MAX_COUNT}"));
list!(Extents, i64, 0, MAX_EXTENT, |_, _| true, dims => format!("a list of numbers from 0 to {MAX_EXTENT}"));
list!(
    Dims,
    usize,
    0,
    i64::MAX,
    |list, dims| list.iter().enumerate().all(|(at, dim)| *dim < dims && !list[..at].contains(dim)),
    dims => format!("a list of different ones of the {dims} dims of the kernel")
);

nested!(Online, super::OnlineSchedule);
