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
//! The same products are summed in the same order, but for those with zeros. Sizes must be known.

use strata_core::ir::{Attr, Builder, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Patterns, apply_in_order};
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
const MAX_PHASES: i64 = 16;
/// Products with zeros that are worth the launch of a kernel for each phase, and of one that interleaves them.
const MIN_PRODUCTS: i64 = 1 << 20;

impl Pass for SplitPhases {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let mut patterns = Patterns::<()>::new(op.cx());
        patterns.remarks(cx.remarks()).identity::<prim::Conv>("phases", 1, |conv, rewriter| Ok(Polyphase::of(conv)?.build(rewriter)));
        self.convolutions.add(apply_in_order(op, patterns));
        Ok(())
    }
}

/// A convolution that has phases.
struct Polyphase<'c> {
    conv: Op<'c>,
    /// One of each spatial dimension.
    dims: Vec<Dim>,
}

/// What a spatial dimension of the convolution is like.
struct Dim {
    /// The dilation of the input, which is the number of phases.
    phases: i64,
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
    /// Taps that it meets.
    taps: i64,
    /// Elements of the input added in front and behind.
    low: i64,
    high: i64,
}

impl Dim {
    /// Results of each phase.
    fn quotient(&self) -> i64 {
        (self.result as u64).div_ceil(self.phases as u64) as i64
    }

    /// The phase of the results `phases * q + at`. With `low - at = phases * l + t` it sums `x[q - l + j] * w[t + phases * j]` over `j`.
    fn phase(&self, at: i64) -> Phase {
        let (low, tap) = ((self.low - at).div_euclid(self.phases), (self.low - at).rem_euclid(self.phases));
        let taps = if tap < self.taps { (self.taps - tap + self.phases - 1) / self.phases } else { 0 };
        Phase { tap, taps, low, high: self.quotient() - 1 + taps - self.input - low }
    }
}

impl<'c> Polyphase<'c> {
    /// The convolution, if it has phases that are worth it.
    fn of(conv: Op<'c>) -> Result<Self, NoMatch> {
        let ints = |name: &str| conv.ints(name).unwrap_or_default();
        let (dilations, low) = (ints("lhs_dilation"), ints("low"));
        let (x, w, y) = (conv.operand(0).ty(), conv.operand(1).ty(), conv.result(0).ty());
        if dilations.iter().all(|&dilation| dilation == 1) {
            return Err("the input is not dilated".into());
        }
        let plain = ConvLayout::of(conv).is_ok_and(|layout| layout == ConvLayout::plain(dilations.len()));
        let ones = |name: &str| ints(name).iter().all(|&one| one == 1);
        if !(plain && ones("strides") && ones("rhs_dilation")) {
            return Err("its window moves by more than one, is dilated, or it has a layout of its own".into());
        }
        if ![x, w, y].iter().all(|ty| ty.is_static()) {
            return Err("its sizes are not known".into());
        }
        let (x, w, y) = (x.shape(), w.shape(), y.shape());
        let dims = (0..dilations.len()).map(|dim| Dim {
            phases: dilations[dim],
            low: low[dim],
            taps: w[dim + 2],
            input: x[dim + 2],
            result: y[dim + 2],
        });
        let dims: Vec<Dim> = dims.collect();
        let phases: i64 = dims.iter().map(|dim| dim.phases).product();
        let products = y.iter().chain(&w[1..]).fold(1i64, |all, &size| all.saturating_mul(size));
        // (A window that is shorter than the stride leaves results that meet no tap.)
        let full = dims.iter().all(|dim| dim.result >= dim.phases && (0..dim.phases).all(|at| dim.phase(at).taps > 0));
        if phases > MAX_PHASES || !full {
            return Err("it has too many phases, or results that meet no tap".into());
        }
        match products - products / phases >= MIN_PRODUCTS {
            true => Ok(Self { conv, dims }),
            false => Err("its products with zeros are not worth the launches".into()),
        }
    }

    /// All phases, interleaved.
    fn build(&self, b: &mut Builder<'c>) -> Value<'c> {
        let all = self.interleaved(b, &mut Vec::new());
        let (ty, made) = (self.conv.result(0).ty(), all.ty().shape());
        if made == ty.shape() {
            return all;
        }
        // The last of the results that were made for all phases alike are nobody's.
        let (cx, rank) = (b.cx(), made.len());
        let attrs =
            [("offsets", cx.i64s_attr(&vec![0; rank])), ("sizes", cx.i64s_attr(&ty.shape())), ("strides", cx.i64s_attr(&vec![1; rank]))];
        b.value(prim::Slice::NAME, &[all], ty, &attrs)
    }

    /// The phases of the dimensions from `chosen.len()` on, interleaved, for these phases of the dimensions before.
    fn interleaved(&self, b: &mut Builder<'c>, chosen: &mut Vec<i64>) -> Value<'c> {
        let at = chosen.len();
        let Some(dim) = self.dims.get(at) else { return self.phase(b, chosen) };
        let mut parts = Vec::new();
        for phase in 0..dim.phases {
            chosen.push(phase);
            parts.push(self.interleaved(b, chosen));
            chosen.pop();
        }
        let [first, _, ..] = parts[..] else { return parts[0] };
        // The phases along a dimension of their own behind this one, which then becomes a part of it.
        let (axis, shape) = (at + 3, first.ty().shape());
        let with = |count: i64| [&shape[..axis], &[count], &shape[axis..]].concat();
        let parts: Vec<_> = parts.into_iter().map(|part| b.value(prim::Reshape::NAME, &[part], typed(first, &with(1)), &[])).collect();
        let dim_attr: [(&str, Attr<'c>); 1] = [("dim", b.cx().i64_attr(axis as i64))];
        let stacked = b.value(prim::Concat::NAME, &parts, typed(first, &with(dim.phases)), &dim_attr);
        let mut merged = shape.clone();
        merged[axis - 1] *= dim.phases;
        b.value(prim::Reshape::NAME, &[stacked], typed(first, &merged), &[])
    }

    /// The convolution of one phase.
    fn phase(&self, b: &mut Builder<'c>, chosen: &[i64]) -> Value<'c> {
        let cx = b.cx();
        let phases: Vec<Phase> = self.dims.iter().zip(chosen).map(|(dim, &at)| dim.phase(at)).collect();
        let (x, w) = (self.conv.operand(0), self.conv.operand(1));
        let shape = w.ty().shape();
        let list =
            |first: [i64; 2], of: &dyn Fn(usize) -> i64| -> Vec<i64> { first.into_iter().chain((0..phases.len()).map(of)).collect() };
        let taps = list([shape[0], shape[1]], &|dim| phases[dim].taps);
        let attrs = [
            ("offsets", cx.i64s_attr(&list([0, 0], &|dim| phases[dim].tap))),
            ("sizes", cx.i64s_attr(&taps)),
            ("strides", cx.i64s_attr(&list([1, 1], &|dim| self.dims[dim].phases))),
        ];
        let own = b.value(prim::Slice::NAME, &[w], typed(w, &taps), &attrs);
        let ones = cx.i64s_attr(&vec![1; phases.len()]);
        let spatial = |of: &dyn Fn(&Phase) -> i64| cx.i64s_attr(&phases.iter().map(of).collect::<Vec<_>>());
        let attrs = [
            ("strides", ones),
            ("low", spatial(&|phase| phase.low)),
            ("high", spatial(&|phase| phase.high)),
            ("lhs_dilation", ones),
            ("rhs_dilation", ones),
            ("groups", cx.i64_attr(self.conv.int("groups").unwrap_or(1))),
        ];
        let result = self.conv.result(0);
        let all = result.ty().shape();
        let sizes = list([all[0], all[1]], &|dim| self.dims[dim].quotient());
        b.value(prim::Conv::NAME, &[x, own], typed(result, &sizes), &attrs)
    }
}

/// A tensor of this shape of the same elements.
fn typed<'c>(like: Value<'c>, shape: &[i64]) -> Type<'c> {
    like.cx().tensor(shape, like.ty().element())
}
