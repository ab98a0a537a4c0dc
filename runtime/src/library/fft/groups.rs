//! Transforms of many lines: as many at a time as a vector has lanes, and twice as many real ones.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex;
use num_traits::Float;
use rustfft::FftNum;

use super::plan::Plan;
use super::vector::{Lanes, Pair, Vector, is_fused};
use super::{Lines, Matrices};
use crate::library::array::{Array, Cost, pieces};

/// So few lines that most lanes would be idle are transformed one after the other.
const FEWEST: i64 = 3;

/// The longest line: what a group of lines works on should stay in a core's second cache.
const LONGEST: i64 = 1 << 13;

/// Plans of the lengths that were met.
pub(super) type Plans<T> = Mutex<Option<HashMap<usize, Arc<Plan<T>>>>>;

/// A precision that groups of lines are transformed in.
pub(super) trait Grouped: FftNum + Float {
    /// Lanes that fuse products with sums, or do not.
    type Vector<const FUSED: bool>: Vector<Number = Self>;

    fn plans() -> &'static Plans<Self>;
}

macro_rules! grouped {
    ($($float:ty: $lanes:literal)*) => {$(
        impl Grouped for $float {
            type Vector<const FUSED: bool> = Lanes<$float, $lanes, FUSED>;

            fn plans() -> &'static Plans<Self> {
                static PLANS: Plans<$float> = Mutex::new(None);
                &PLANS
            }
        }
    )*};
}

grouped!(f32: 8 f64: 4);

fn plan<T: Grouped>(n: usize) -> Arc<Plan<T>> {
    let mut plans = T::plans().lock().unwrap_or_else(PoisonError::into_inner);
    plans.get_or_insert_default().entry(n).or_insert_with(|| Arc::new(Plan::new(n))).clone()
}

/// Whether lines are transformed in groups, `each` of them in a lane.
fn fits(lines: Lines, each: i64) -> bool {
    lines.batch >= FEWEST * each && (1..=LONGEST).contains(&lines.n)
}

/// What is done with a group of lines.
trait Work<T>: Sync {
    /// Lines of a lane.
    const EACH: usize;

    /// Reads the lines, transforms them in `line` and writes what comes of it.
    ///
    /// # Safety
    /// The lines are there, and nobody else uses their places.
    unsafe fn group<V: Vector<Number = T>>(&self, plan: &Plan<T>, lines: Range<usize>, line: &mut [Pair<V>], room: &mut [Pair<V>]);
}

/// Does the work on all lines in groups.
///
/// # Safety
/// The call is running on this thread, or null, and the work's arrays hold the lines.
unsafe fn each_group<T: Grouped, W: Work<T>>(lines: Lines, work: &W) {
    /// # Safety
    /// As above.
    unsafe fn all<T: Grouped, V: Vector<Number = T>, W: Work<T>>(lines: Lines, work: &W) {
        let (n, batch) = (lines.n as usize, lines.batch as usize);
        let (plan, together) = (plan::<T>(n), V::LANES * W::EACH);
        let size = n + plan.room();
        let cost = Cost { work: 8 * n * V::LANES, room: size * size_of::<Pair<V>>() };
        let some = |groups: Range<usize>| {
            let mut memory = vec![Pair::<V>::zero(); size];
            let (line, room) = memory.split_at_mut(n);
            for group in groups {
                let lines = group * together..((group + 1) * together).min(batch);
                // SAFETY: the caller's.
                unsafe { work.group::<V>(&plan, lines, line, room) };
            }
        };
        // SAFETY: the caller's.
        unsafe { pieces(lines.call, batch.div_ceil(together) as i64, cost, some) }
    }
    // SAFETY: the caller's.
    unsafe { if is_fused() { all::<T, T::Vector<true>, W>(lines, work) } else { all::<T, T::Vector<false>, W>(lines, work) } }
}

/// Gives the first `count` numbers of the lines in the lanes, by place. Lines are `stride` numbers apart; where there are fewer than lanes the last
/// one is in several.
#[inline(always)]
fn columns<V: Vector>(count: usize, x: &[V::Number], stride: usize, lines: usize, to: impl FnMut(usize, V)) {
    V::compiled(
        #[inline(always)]
        || columns_here(count, x, stride, lines, to),
    );
}

#[inline(always)]
fn columns_here<V: Vector>(count: usize, x: &[V::Number], stride: usize, lines: usize, mut to: impl FnMut(usize, V)) {
    let line = |lane: usize| &x[lane.min(lines - 1) * stride..][..count];
    let whole = count - count % V::LANES;
    for at in (0..whole).step_by(V::LANES) {
        V::transpose(
            #[inline(always)]
            |lane| V::read(&line(lane)[at..]),
            #[inline(always)]
            |k, column| to(at + k, column),
        );
    }
    for at in whole..count {
        to(
            at,
            V::of(
                #[inline(always)]
                |lane| line(lane)[at],
            ),
        );
    }
}

/// The reverse: writes numbers to the lines that are there.
#[inline(always)]
fn rows<V: Vector>(count: usize, y: &mut [V::Number], stride: usize, lines: usize, from: impl Fn(usize) -> V) {
    V::compiled(
        #[inline(always)]
        || rows_here(count, y, stride, lines, from),
    );
}

#[inline(always)]
fn rows_here<V: Vector>(count: usize, y: &mut [V::Number], stride: usize, lines: usize, from: impl Fn(usize) -> V) {
    let whole = count - count % V::LANES;
    for at in (0..whole).step_by(V::LANES) {
        V::transpose(
            #[inline(always)]
            |k| from(at + k),
            #[inline(always)]
            |lane, row| {
                if lane < lines {
                    row.write(&mut y[lane * stride + at..]);
                }
            },
        );
    }
    for at in whole..count {
        let column = from(at);
        for lane in 0..lines.min(V::LANES) {
            y[lane * stride + at] = column.lane(lane);
        }
    }
}

struct OfComplex {
    x: Array,
    y: Array,
    n: usize,
    inverse: bool,
}

/// Transforms complex lines, if they are enough and short enough for groups.
///
/// # Safety
/// The arrays hold the lines.
pub(super) unsafe fn complex<T: Grouped>(x: Array, y: Array, lines: Lines, inverse: bool) -> bool {
    if fits(lines, 1) {
        // SAFETY: the caller's.
        unsafe { each_group::<T, _>(lines, &OfComplex { x, y, n: lines.n as usize, inverse }) };
        return true;
    }
    false
}

/// The inverse is the forward transform with the parts exchanged.
impl<T: Grouped> Work<T> for OfComplex {
    const EACH: usize = 1;

    unsafe fn group<V: Vector<Number = T>>(&self, plan: &Plan<T>, lines: Range<usize>, line: &mut [Pair<V>], room: &mut [Pair<V>]) {
        let (n, count) = (self.n, lines.len());
        // SAFETY: the caller's; a complex number is two numbers.
        let (x, y) = unsafe { (self.x.lines::<T>(lines.clone(), 2 * n), self.y.lines_mut::<T>(lines, 2 * n)) };
        let real = usize::from(self.inverse);
        columns(
            2 * n,
            x,
            2 * n,
            count,
            #[inline(always)]
            |at, column: V| if at % 2 == real { line[at / 2].re = column } else { line[at / 2].im = column },
        );
        plan.run(line, room);
        rows(
            2 * n,
            y,
            2 * n,
            count,
            #[inline(always)]
            |at| if at % 2 == real { line[at / 2].re } else { line[at / 2].im },
        );
    }
}

struct OfColumns {
    x: Array,
    y: Array,
    matrices: Matrices,
    inverse: bool,
}

/// Transforms the columns of matrices, if they are short enough for groups: neighbours lie in the lanes as they come.
///
/// # Safety
/// The arrays hold these matrices.
pub(super) unsafe fn complex_columns<T: Grouped>(x: Array, y: Array, lines: Lines, matrices: Matrices, inverse: bool) -> bool {
    // Of each matrix the last group may have columns that are not there.
    let padded = matrices.columns.next_multiple_of(T::Vector::<false>::LANES) as i64;
    let lines = Lines { batch: lines.batch * padded, ..lines };
    if matrices.columns as i64 >= FEWEST && fits(lines, 1) {
        // SAFETY: the caller's.
        unsafe { each_group::<T, _>(lines, &OfColumns { x, y, matrices, inverse }) };
        return true;
    }
    false
}

impl<T: Grouped> Work<T> for OfColumns {
    const EACH: usize = 1;

    unsafe fn group<V: Vector<Number = T>>(&self, plan: &Plan<T>, lines: Range<usize>, line: &mut [Pair<V>], room: &mut [Pair<V>]) {
        let Matrices { rows: n, columns, .. } = self.matrices;
        let padded = columns.next_multiple_of(V::LANES);
        let (matrix, first) = (lines.start / padded, lines.start % padded);
        let there = V::LANES.min(columns - first);
        // SAFETY: the caller's; a complex number is two numbers.
        let x = unsafe { self.x.item::<T>(matrix, 2 * n * columns) };
        for (row, pair) in line.iter_mut().enumerate() {
            let numbers = &x[2 * (row * columns + first)..][..2 * there];
            *pair = match there == V::LANES {
                true => V::compiled(
                    #[inline(always)]
                    || Pair { re: V::of(|lane| numbers[2 * lane]), im: V::of(|lane| numbers[2 * lane + 1]) },
                ),
                false => {
                    Pair { re: V::of(|lane| numbers[2 * lane.min(there - 1)]), im: V::of(|lane| numbers[2 * lane.min(there - 1) + 1]) }
                }
            };
            if self.inverse {
                *pair = Pair { re: pair.im, im: pair.re };
            }
        }
        plan.run(line, room);
        for (row, pair) in line.iter().enumerate() {
            let (re, im) = if self.inverse { (pair.im, pair.re) } else { (pair.re, pair.im) };
            for lane in 0..there {
                let number = Complex::new(re.lane(lane), im.lane(lane));
                // SAFETY: the caller's; nobody else writes what becomes of these columns.
                unsafe { self.y.write(self.matrices.place(matrix, row, first + lane), number) };
            }
        }
    }
}

/// The frequency that has the conjugate number in the spectrum of a real line.
#[inline(always)]
fn opposite(k: usize, n: usize) -> usize {
    if k == 0 { 0 } else { n - k }
}

struct OfReal {
    x: Array,
    y: Array,
    n: usize,
    k: usize,
}

/// Transforms real lines, of whose spectrum the first `k` frequencies are kept, if they are enough and short enough for groups.
///
/// # Safety
/// The arrays hold the lines.
pub(super) unsafe fn from_real<T: Grouped>(x: Array, y: Array, lines: Lines, k: i64) -> bool {
    if fits(lines, 2) {
        // SAFETY: the caller's.
        unsafe { each_group::<T, _>(lines, &OfReal { x, y, n: lines.n as usize, k: k as usize }) };
        return true;
    }
    false
}

/// Two real lines are the parts of a complex one, whose spectrum is theirs: what is even under conjugation, and what is odd.
impl<T: Grouped> Work<T> for OfReal {
    const EACH: usize = 2;

    unsafe fn group<V: Vector<Number = T>>(&self, plan: &Plan<T>, lines: Range<usize>, line: &mut [Pair<V>], room: &mut [Pair<V>]) {
        let (n, kept) = (self.n, self.k);
        let (first, second) = (lines.len().div_ceil(2), lines.len() / 2);
        // SAFETY: the caller's; a complex number is two numbers.
        let (x, y) = unsafe { (self.x.lines::<T>(lines.clone(), n), self.y.lines_mut::<T>(lines, 2 * kept)) };
        columns(
            n,
            x,
            2 * n,
            first,
            #[inline(always)]
            |j, column| line[j] = Pair { re: column, im: V::splat(T::zero()) },
        );
        if second > 0 {
            columns(
                n,
                &x[n..],
                2 * n,
                second,
                #[inline(always)]
                |j, column| line[j].im = column,
            );
        }
        plan.run(line, room);
        let half = T::from_f64(0.5).unwrap_or_else(T::zero);
        let pair = |at: usize| (line[at / 2], line[opposite(at / 2, n)]);
        rows(
            2 * kept,
            y,
            4 * kept,
            first,
            #[inline(always)]
            |at| {
                let (z, other) = pair(at);
                if at % 2 == 0 { (z.re + other.re).times(half) } else { (z.im - other.im).times(half) }
            },
        );
        if second > 0 {
            rows(
                2 * kept,
                &mut y[2 * kept..],
                4 * kept,
                second,
                #[inline(always)]
                |at| {
                    let (z, other) = pair(at);
                    if at % 2 == 0 { (z.im + other.im).times(half) } else { (other.re - z.re).times(half) }
                },
            );
        }
    }
}

struct ToReal {
    x: Array,
    y: Array,
    n: usize,
    k: usize,
}

/// Real lines from the first `k` frequencies of their spectrum, if they are enough and short enough for groups.
///
/// # Safety
/// The arrays hold the lines.
pub(super) unsafe fn to_real<T: Grouped>(x: Array, y: Array, k: i64, lines: Lines) -> bool {
    if fits(lines, 2) {
        // SAFETY: the caller's.
        unsafe { each_group::<T, _>(lines, &ToReal { x, y, n: lines.n as usize, k: k as usize }) };
        return true;
    }
    false
}

/// The reverse of [`OfReal`]: the spectra `a` and `b` of two lines are that of `a + i b`, which is transformed with its parts exchanged.
impl<T: Grouped> Work<T> for ToReal {
    const EACH: usize = 2;

    unsafe fn group<V: Vector<Number = T>>(&self, plan: &Plan<T>, lines: Range<usize>, line: &mut [Pair<V>], room: &mut [Pair<V>]) {
        let (n, given) = (self.n, self.k);
        let (first, second) = (lines.len().div_ceil(2), lines.len() / 2);
        // SAFETY: the caller's; a complex number is two numbers.
        let (x, y) = unsafe { (self.x.lines::<T>(lines.clone(), 2 * given), self.y.lines_mut::<T>(lines, n)) };
        let (used, zero) = (2 * given.min(n / 2 + 1), V::splat(T::zero()));
        line.fill(Pair { re: zero, im: zero });
        // What must be real is taken to be.
        let alone = |k: usize| k == 0 || 2 * k == n;
        columns(
            used,
            x,
            4 * given,
            first,
            #[inline(always)]
            |at, a: V| {
                let k = at / 2;
                if at % 2 == 0 {
                    line[k].im = a;
                    line[opposite(k, n)].im = a;
                } else if !alone(k) {
                    line[k].re = a;
                    line[n - k].re = zero - a;
                }
            },
        );
        if second > 0 {
            columns(
                used,
                &x[2 * given..],
                4 * given,
                second,
                #[inline(always)]
                |at, b: V| {
                    let k = at / 2;
                    if at % 2 == 0 {
                        line[k].re = line[k].re + b;
                        if !alone(k) {
                            line[n - k].re = line[n - k].re + b;
                        }
                    } else if !alone(k) {
                        line[k].im = line[k].im - b;
                        line[n - k].im = line[n - k].im + b;
                    }
                },
            );
        }
        plan.run(line, room);
        rows(
            n,
            y,
            2 * n,
            first,
            #[inline(always)]
            |j| line[j].im,
        );
        if second > 0 {
            rows(
                n,
                &mut y[n..],
                2 * n,
                second,
                #[inline(always)]
                |j| line[j].re,
            );
        }
    }
}
