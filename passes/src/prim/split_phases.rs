//! `--split-phases`: convolutions of a dilated input as one convolution for each phase (polyphase decomposition).
//!
//! A transposed convolution of stride `s`, and the gradient of a strided one, is a `conv` whose input has `s - 1` zeros between elements:
//! of its products all but one in `s` along each dimension are of zeros. The results at `s * q + r` meet every `s`-th tap of the window, so
//! for each phase `r` they are a convolution of the input as it is with these taps. The phases are put side by side and interleaved.
//!
//! ```mlir
//! %y = prim.conv %x, %w {lhs_dilation = array<i64: 2>, low = array<i64: 2>, high = array<i64: 2>, ...} : (tensor<1x8x16xf32>, tensor<4x8x4xf32>) -> tensor<1x4x32xf32>
//! // becomes
//! %w0 = prim.slice %w {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>, ...}                  // taps 0 and 2
//! %y0 = prim.conv %x, %w0 {lhs_dilation = array<i64: 1>, low = array<i64: 1>, high = array<i64: 0>, ...}   // results 0, 2, 4 ...
//! %w1 = prim.slice %w {offsets = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>, ...}                  // taps 1 and 3
//! %y1 = prim.conv %x, %w1 {lhs_dilation = array<i64: 1>, low = array<i64: 0>, high = array<i64: 1>, ...}   // results 1, 3, 5 ...
//! ```
//!
//! A window that is dilated by `d` as well meets one in `s / gcd(s, d)` of its taps, dilated by `d / gcd(s, d)`.
//! Phases that meet no tap are zeros. Where each phase meets one tap (a window as wide as the stride) and no padding, phases are the features
//! of one convolution. Pointwise ops that follow, and do the same everywhere (a bias, an activation, a conversion), work on each phase before.
//!
//! The same products are summed in the same order, but for those with zeros. Sizes must be known.

use crate::prim::again::again;
use crate::prim::channels_last::order::transpose;
use crate::prim::fusion::class::{is_pointwise, sole_reader};
use crate::prim::zero::zero;
use num_integer::gcd;
use strata_core::ir::{Builder, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::prim;
use strata_dialects::prim::layout::ConvLayout;

/// Splits convolutions of dilated inputs into their phases.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct SplitPhases {
    /// Convolutions that were split.
    convolutions: Counter,
}

/// Phases of one convolution at most: each is a kernel.
const MAX_PHASES: i64 = 64;
/// Products with zeros that are worth the launches of a few kernels, and of one that interleaves them.
const MIN_PRODUCTS: i64 = 1 << 20;
/// Products with zeros that are worth the launch of one kernel.
const MIN_PRODUCTS_OF_PHASE: i64 = 1 << 16;

impl Pass for SplitPhases {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let (remarks, mut rewriter) = (cx.remarks(), cx.rewriter());
        let found: Vec<_> = op.find_all(prim::Conv::NAME).into_iter().filter_map(|conv| remarks.found(conv, Polyphase::of(conv))).collect();
        self.convolutions.add(found.len());
        found.iter().for_each(|polyphase| polyphase.rewrite(&mut rewriter));
        Ok(())
    }
}

/// A convolution that has phases.
struct Polyphase<'c> {
    conv: Op<'c>,
    /// One of each spatial dimension.
    dims: Vec<Dim>,
    /// Pointwise ops, each the only reader of the one before, that do the same at all places in space.
    followers: Vec<Op<'c>>,
}

/// What a spatial dimension of the convolution is like.
struct Dim {
    /// The dilation of the input, which is the number of phases.
    phases: i64,
    /// The dilation of the window.
    dilation: i64,
    /// Elements added in front.
    low: i64,
    /// Taps of the window.
    taps: i64,
    /// Elements of the input.
    input: i64,
    /// Elements of the result.
    result: i64,
}

/// One phase along a dimension.
struct Phase {
    /// The first tap that it meets.
    tap: i64,
    /// From one tap that it meets to the next.
    step: i64,
    /// Taps that it meets.
    taps: i64,
    /// From the element of the input under one of these taps to that under the next.
    dilation: i64,
    /// Elements of the input added in front and behind.
    low: i64,
    high: i64,
}

impl Dim {
    /// Results of each phase.
    fn quotient(&self) -> i64 {
        (self.result as u64).div_ceil(self.phases as u64) as i64
    }

    /// The phase of the results `s * q + at`, `s` being the number of phases. Tap `k` lies over the place `s * q + at - low + d * k` of
    /// the input with its zeros, so an element is under every tap for which `s` divides `at - low + d * k`.
    fn phase(&self, at: i64) -> Phase {
        let place = |tap: i64| at - self.low + self.dilation * tap;
        let common = gcd(self.phases, self.dilation);
        let (step, dilation) = (self.phases / common, self.dilation / common);
        let met = (0..step.min(self.taps)).find(|&tap| place(tap) % self.phases == 0);
        let Some(tap) = met else { return Phase { tap: 0, step, taps: 0, dilation, low: 0, high: 0 } };
        let taps = (self.taps - tap + step - 1) / step;
        let low = -place(tap) / self.phases;
        Phase { tap, step, taps, dilation, low, high: self.quotient() + (taps - 1) * dilation - self.input - low }
    }
}

impl<'c> Polyphase<'c> {
    /// The convolution, if it has phases that are worth it.
    fn of(conv: Op<'c>) -> Result<Self, NoMatch> {
        let ints = |name: &str| conv.ints(name).unwrap_or_default();
        let (dilations, low, window) = (ints("lhs_dilation"), ints("low"), ints("rhs_dilation"));
        let (x, w, y) = (conv.operand(0).ty(), conv.operand(1).ty(), conv.result(0).ty());
        if dilations.iter().all(|&dilation| dilation == 1) {
            return Err("the input is not dilated".into());
        }
        let plain = ConvLayout::of(conv).is_ok_and(|layout| layout == ConvLayout::plain(dilations.len()));
        if !plain || ints("strides").iter().any(|&stride| stride != 1) {
            return Err("its window moves by more than one, or it has a layout of its own".into());
        }
        if ![x, w, y].iter().all(|ty| ty.is_static()) {
            return Err("its sizes are not known".into());
        }
        let (x, w, y) = (x.shape(), w.shape(), y.shape());
        let dims = (0..dilations.len()).map(|dim| Dim {
            phases: dilations[dim],
            dilation: window[dim],
            low: low[dim],
            taps: w[dim + 2],
            input: x[dim + 2],
            result: y[dim + 2],
        });
        let dims: Vec<Dim> = dims.collect();
        let phases: i64 = dims.iter().map(|dim| dim.phases).product();
        let products = y.iter().chain(&w[1..]).fold(1i64, |all, &size| all.saturating_mul(size));
        let saved = products - products / phases;
        if phases > MAX_PHASES || dims.iter().any(|dim| dim.result < dim.phases) {
            return Err("it has too many phases, or phases without results".into());
        }
        match saved >= MIN_PRODUCTS && saved / phases >= MIN_PRODUCTS_OF_PHASE {
            true => Ok(Self { conv, dims, followers: followers(conv) }),
            false => Err("its products with zeros are not worth the launches".into()),
        }
    }

    /// Puts the phases in the place of the convolution, and of the pointwise ops that follow it: these work on each phase, before all are
    /// interleaved.
    fn rewrite(&self, b: &mut Rewriter<'c>) {
        let mut replaced: Vec<_> = std::iter::once(self.conv).chain(self.followers.iter().copied()).collect();
        let Some(last) = replaced.pop() else { return };
        b.go_before(last);
        b.set_location(self.conv.location());
        let all = self.build(b);
        b.replace(last, &[all]);
        replaced.into_iter().rev().for_each(|op| b.erase(op));
    }

    /// All phases, interleaved.
    fn build(&self, b: &mut Builder<'c>) -> Value<'c> {
        let all = if self.has_single_taps() { self.together(b) } else { self.interleaved(b) };
        let (ty, made) = (typed(all, &self.conv.result(0).ty().shape()), all.ty().shape());
        if made == ty.shape() {
            return all;
        }
        // The last of the results that were made for all phases alike are nobody's.
        let (cx, rank) = (b.cx(), made.len());
        let attrs =
            [("offsets", cx.i64s_attr(&vec![0; rank])), ("sizes", cx.i64s_attr(&ty.shape())), ("strides", cx.i64s_attr(&vec![1; rank]))];
        b.value(prim::Slice::NAME, &[all], ty, &attrs)
    }

    /// Whether each phase is a product of the input as it lies with one tap.
    fn has_single_taps(&self) -> bool {
        let single = |phase: Phase| phase.taps == 1 && phase.low == 0 && phase.high == 0;
        self.conv.int("groups") == Some(1) && self.dims.iter().all(|dim| (0..dim.phases).all(|at| single(dim.phase(at))))
    }

    /// All phases as the features of one convolution, which then go where they belong.
    fn together(&self, b: &mut Builder<'c>) -> Value<'c> {
        let (cx, x, result, w) = (b.cx(), self.conv.operand(0), self.conv.result(0), self.conv.operand(1));
        let (count, window) = (self.dims.len(), w.ty().shape());
        let mut chosen = vec![Vec::new()];
        for dim in &self.dims {
            chosen = chosen.into_iter().flat_map(|before| (0..dim.phases).map(move |at| [before.clone(), vec![at]].concat())).collect();
        }
        let taps: Vec<_> = chosen.iter().map(|chosen| self.taps(b, &self.phases(chosen))).collect();
        let ones = vec![1; count];
        let features = window[0] * taps.len() as i64;
        let all = [&[features, window[1]], ones.as_slice()].concat();
        let all = b.value(prim::Concat::NAME, &taps, typed(w, &all), &[("dim", cx.i64_attr(0))]);
        let shape = result.ty().shape();
        let quotients: Vec<i64> = self.dims.iter().map(Dim::quotient).collect();
        let y = conv(
            b,
            [x, all],
            typed(result, &[&[shape[0], features], quotients.as_slice()].concat()),
            1,
            &vec![0; count],
            &vec![0; count],
            &ones,
        );
        let y = self.follow(b, y, taps.len() as i64);
        // [n, phases.., features, space..] becomes [n, features, (space, phase)..].
        let phases: Vec<i64> = self.dims.iter().map(|dim| dim.phases).collect();
        let apart = [&[shape[0]], phases.as_slice(), &[shape[1]], quotients.as_slice()].concat();
        let apart = b.value(prim::Reshape::NAME, &[y], typed(y, &apart), &[]);
        let perm: Vec<usize> = [0, count + 1].into_iter().chain((0..count).flat_map(|dim| [count + 2 + dim, 1 + dim])).collect();
        let turned = transpose(b, apart, &perm);
        let merged: Vec<i64> = shape[..2].iter().copied().chain(self.dims.iter().map(|dim| dim.quotient() * dim.phases)).collect();
        b.value(prim::Reshape::NAME, &[turned], typed(y, &merged), &[])
    }

    /// What follows the convolution, of a part of its results that has so many copies of its features.
    fn follow(&self, b: &mut Builder<'c>, part: Value<'c>, copies: i64) -> Value<'c> {
        let (mut value, mut before) = (part, self.conv.result(0));
        for follower in &self.followers {
            let ty = |like: Value<'c>| typed(like, &part.ty().shape());
            let operands: Vec<_> = follower
                .operands()
                .into_iter()
                .map(|operand| if operand == before { value } else { repeated(b, operand, ty(operand), copies) })
                .collect();
            before = follower.result(0);
            value = again(b, *follower, &operands, ty(before), &[]);
        }
        value
    }

    /// The phases of these numbers, one of each dimension.
    fn phases(&self, chosen: &[i64]) -> Vec<Phase> {
        self.dims.iter().zip(chosen).map(|(dim, &at)| dim.phase(at)).collect()
    }

    /// All phases, each with results of its own, interleaved: phases stand along a dimension of their own behind each one in space, which then
    /// becomes a part of that.
    fn interleaved(&self, b: &mut Builder<'c>) -> Value<'c> {
        let stacked = self.stacked(b, &mut Vec::new());
        let shape = stacked.ty().shape();
        let merged: Vec<i64> = shape[..2].iter().copied().chain(shape[2..].chunks(2).map(|pair| pair.iter().product())).collect();
        b.value(prim::Reshape::NAME, &[stacked], typed(stacked, &merged), &[])
    }

    /// The phases of the dimensions from `chosen.len()` on, side by side, for these phases of the dimensions before.
    fn stacked(&self, b: &mut Builder<'c>, chosen: &mut Vec<i64>) -> Value<'c> {
        let at = chosen.len();
        let Some(dim) = self.dims.get(at) else {
            let part = self.phase(b, chosen);
            let shape = part.ty().shape();
            let apart: Vec<i64> = shape[..2].iter().copied().chain(shape[2..].iter().flat_map(|&size| [size, 1])).collect();
            return b.value(prim::Reshape::NAME, &[part], typed(part, &apart), &[]);
        };
        let mut parts = Vec::new();
        for phase in 0..dim.phases {
            chosen.push(phase);
            parts.push(self.stacked(b, chosen));
            chosen.pop();
        }
        let [first, _, ..] = parts[..] else { return parts[0] };
        let (axis, mut shape) = (3 + 2 * at, first.ty().shape());
        shape[axis] = dim.phases;
        b.value(prim::Concat::NAME, &parts, typed(first, &shape), &[("dim", b.cx().i64_attr(axis as i64))])
    }

    /// The convolution of one phase.
    fn phase(&self, b: &mut Builder<'c>, chosen: &[i64]) -> Value<'c> {
        let phases = self.phases(chosen);
        let result = self.conv.result(0);
        let sizes: Vec<i64> = result.ty().shape()[..2].iter().copied().chain(self.dims.iter().map(Dim::quotient)).collect();
        if phases.iter().any(|phase| phase.taps == 0) {
            let zero = zero(b, result.ty().element());
            let zeros = b.value(prim::Broadcast::NAME, &[zero], typed(result, &sizes), &[("dims", b.cx().i64s_attr(&[]))]);
            return self.follow(b, zeros, 1);
        }
        let own = self.taps(b, &phases);
        let of = |of: &dyn Fn(&Phase) -> i64| phases.iter().map(of).collect::<Vec<_>>();
        let (low, high, dilation) = (of(&|phase| phase.low), of(&|phase| phase.high), of(&|phase| phase.dilation));
        let groups = self.conv.int("groups").unwrap_or(1);
        let part = conv(b, [self.conv.operand(0), own], typed(result, &sizes), groups, &low, &high, &dilation);
        self.follow(b, part, 1)
    }

    /// The taps that a phase meets.
    fn taps(&self, b: &mut Builder<'c>, phases: &[Phase]) -> Value<'c> {
        let (cx, w) = (b.cx(), self.conv.operand(1));
        let list = |first: &[i64], of: &dyn Fn(&Phase) -> i64| first.iter().copied().chain(phases.iter().map(of)).collect::<Vec<_>>();
        let taps = list(&w.ty().shape()[..2], &|phase| phase.taps);
        let attrs = [
            ("offsets", cx.i64s_attr(&list(&[0, 0], &|phase| phase.tap))),
            ("sizes", cx.i64s_attr(&taps)),
            ("strides", cx.i64s_attr(&list(&[1, 1], &|phase| phase.step))),
        ];
        b.value(prim::Slice::NAME, &[w], typed(w, &taps), &attrs)
    }
}

/// The pointwise ops that follow a convolution, as far as their other operands are the same at all places in space.
fn followers<'c>(conv: Op<'c>) -> Vec<Op<'c>> {
    let (mut found, mut last) = (Vec::new(), conv);
    while let Some(next) = sole_reader(last.result(0)).filter(|next| next.block() == conv.block() && is_pointwise(*next)) {
        if next.num_results() != 1 || !next.operands().into_iter().all(|operand| operand == last.result(0) || repeats(operand)) {
            break;
        }
        found.push(next);
        last = next;
    }
    found
}

/// Whether a value is a number, or one for each feature, everywhere.
fn repeats(value: Value<'_>) -> bool {
    let repeat = value.defining_op().filter(|op| op.isa::<prim::Broadcast>() && op.num_operands() == 1);
    repeat.is_some_and(|op| match op.ints("dims").as_deref() {
        Some([]) => true,
        Some([1]) => op.operand(0).ty().shape()[0] == value.ty().shape()[1],
        _ => false,
    })
}

/// A value that [`repeats`] in another shape, which has so many copies of the features.
fn repeated<'c>(b: &mut Builder<'c>, value: Value<'c>, ty: Type<'c>, copies: i64) -> Value<'c> {
    let Some(repeat) = value.defining_op() else { return value };
    let (cx, mut source, dims) = (b.cx(), repeat.operand(0), repeat.ints("dims").unwrap_or_default());
    if copies > 1 && !dims.is_empty() {
        let features = source.ty().shape()[0];
        let rows = b.value(prim::Broadcast::NAME, &[source], typed(source, &[copies, features]), &[("dims", cx.i64s_attr(&[1]))]);
        source = b.value(prim::Reshape::NAME, &[rows], typed(source, &[copies * features]), &[]);
    }
    b.value(prim::Broadcast::NAME, &[source], ty, &[("dims", cx.i64s_attr(&dims))])
}

/// A convolution that moves by one, of an input without gaps.
fn conv<'c>(
    b: &mut Builder<'c>,
    operands: [Value<'c>; 2],
    result: Type<'c>,
    groups: i64,
    low: &[i64],
    high: &[i64],
    dilation: &[i64],
) -> Value<'c> {
    let cx = b.cx();
    let ones = cx.i64s_attr(&vec![1; low.len()]);
    let attrs = [
        ("strides", ones),
        ("low", cx.i64s_attr(low)),
        ("high", cx.i64s_attr(high)),
        ("lhs_dilation", ones),
        ("rhs_dilation", cx.i64s_attr(dilation)),
        ("groups", cx.i64_attr(groups)),
    ];
    b.value(prim::Conv::NAME, &operands, result, &attrs)
}

/// A tensor of this shape of the same elements.
fn typed<'c>(like: Value<'c>, shape: &[i64]) -> Type<'c> {
    like.cx().tensor(shape, like.ty().element())
}
