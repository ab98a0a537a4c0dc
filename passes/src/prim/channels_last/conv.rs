//! One convolution: channels innermost, padding written out, weights in panels.

use super::order::{Ordered, Orders, reordered_type, transpose};
use super::{FEATURES, plain};
use crate::prim::again::again;
use crate::prim::zero::zero;
use strata_core::ir::{Builder, DYNAMIC, ElementType, Op, Value};
use strata_core::rewrite::Matched;
use strata_dialects::loops::view::product;
use strata_dialects::prim;
use strata_dialects::target::Target;

/// Whether an op is a convolution in the plain order.
pub fn is_plain(op: Op<'_>) -> bool {
    op.isa::<prim::Conv>() && op.attr("layout").is_none() && !op.parent().is_some_and(|parent| parent.isa::<prim::Fusion>())
}

/// Products of a sum of halves that save in pairs what moving the result costs: two registers of 16 lanes multiply in a cycle, and of an element
/// that is moved four bytes are read and written.
const PAIRED_PRODUCTS: i64 = 64;

/// Whether a convolution in the plain order is worth another one. `comes_over`: its input would be transposed to that; `goes_back`: its result
/// would be transposed to the order of before.
pub fn check(op: Op<'_>, comes_over: bool, goes_back: bool, target: &Target) -> Matched {
    let weights = op.operand(1).ty();
    if !weights.is_static() {
        return Err("the sizes of its weights are not known".into());
    }
    let paired = halves(op, target).is_some() && product(weights.shape()[1..].iter().copied()) >= PAIRED_PRODUCTS;
    match weights.shape()[0] {
        features if features < FEATURES => Err(format!("its {features} features leave most lanes empty").into()),
        _ if goes_back && !paired && reads_few_channels(op) && has_dense_rows(op, target) => {
            Err("its result costs more to move than it does itself".into())
        }
        _ if comes_over && goes_back && (is_as_fast_plain(op, target) || plain::has_long_rows(op, target)) => {
            Err("its input and its result cost more to move than it does itself".into())
        }
        _ => Ok(()),
    }
}

fn has_few_channels(op: Op<'_>) -> bool {
    op.int("groups") == Some(1) && op.operand(1).ty().shape()[1] < FEATURES
}

/// Few channels, or of many the one of its group.
fn reads_few_channels(op: Op<'_>) -> bool {
    has_few_channels(op) || op.operand(1).ty().shape()[1] == 1
}

/// Whether it is the same work in either order: a product of the weights with the image, no halves that only the other order takes in pairs.
fn is_as_fast_plain(op: Op<'_>, target: &Target) -> bool {
    is_product(op) && has_dense_rows(op, target) && halves(op, target).is_none()
}

/// Whether its window is one element that moves by one: the image is one long row, which the weights are multiplied with.
fn is_product(op: Op<'_>) -> bool {
    let ones = |sizes: &[i64]| sizes.iter().all(|&size| size == 1);
    ones(&op.operand(1).ty().shape()[2..]) && op.ints("strides").is_some_and(|strides| ones(&strides))
}

/// Whether neighbours in a row of the result read neighbours in a row of the input, and lanes along rows are as full as along features: rows
/// of the result are as long as a vector. Those of the gradient of a weight are not, and lanes along its window, which is summed, take two
/// to four times as long.
fn has_dense_rows(op: Op<'_>, target: &Target) -> bool {
    let apart = if is_product(op) { &["lhs_dilation"][..] } else { &["strides", "lhs_dilation"] };
    let dense = apart.iter().all(|name| op.ints(name).is_some_and(|all| all.last() == Some(&1)));
    let result = op.result(0).ty().shape();
    let lanes = op.result(0).ty().element_type().map_or(1, |element| target.lanes(element.bits()));
    let row = |shape: &[i64]| if is_product(op) { product(shape[2..].iter().copied()) } else { shape.last().copied().unwrap_or_default() };
    dense && (result.contains(&DYNAMIC) || row(&result) >= lanes)
}

/// The convolution in the order channels last.
pub fn rewrite<'c>(b: &mut Builder<'c>, orders: &mut Orders<'c>, op: Op<'c>, target: &Target) -> Option<Ordered<'c>> {
    let weights = op.operand(1).ty();
    let groups = op.int("groups")?;
    let perm = channels_last(weights.rank());
    // Two vectors are a panel of weights.
    let lanes = target.lanes(op.result(0).ty().element_type()?.bits());
    // Elements of the input meet all features of a vector: few channels are read as well where they are, and cost most to move.
    let halves = halves(op, target);
    let few = halves.is_none() && has_few_channels(op) && orders.of(op.operand(0)).is_none();
    let known = orders.of(op.operand(0)).filter(|known| known.perm == perm).map(|known| known.value);
    let (x, w) = match halves {
        // A conversion may have come over by itself.
        Some([x, w]) => {
            let came = known.and_then(half);
            let x = came.unwrap_or_else(|| {
                let x = narrow(b, x);
                orders.in_order(b, x, &perm)
            });
            (x, narrow(b, w))
        }
        None if few => (op.operand(0), op.operand(1)),
        None => (orders.in_order(b, op.operand(0), &perm), op.operand(1)),
    };
    let (none, padding) = (vec![0; perm.len() - 2], Padding::of(op));
    let (x, low, high) = if keeps_padding(op, x) {
        (x, padding.low, padding.high)
    } else {
        (padding.write_out(b, x, if few { 2 } else { 1 }), none.clone(), none)
    };
    let (w, layout) = panels(b, w, groups, lanes, few);
    let cx = b.cx();
    let one = vec![1; perm.len() - 2];
    let attrs = [
        ("strides", op.attr("strides")?),
        ("low", cx.i64s_attr(&low)),
        ("high", cx.i64s_attr(&high)),
        ("lhs_dilation", cx.i64s_attr(&one)),
        ("rhs_dilation", op.attr("rhs_dilation")?),
        ("groups", cx.i64_attr(groups)),
        ("layout", cx.str_attr(&layout)),
    ];
    let result = reordered_type(op.result(0).ty(), &perm);
    Some(Ordered { value: b.value(prim::Conv::NAME, &[x, w], result, &attrs), perm })
}

/// Whether a convolution reads beyond the ends of its input instead of a copy with zeros around it: a depthwise one, whose loops treat borders
/// apart (`lowering/src/schedule/cpu/panels.rs`). Such a copy takes a tenth of its time, or more than itself where the window moves by two. Halves
/// are converted once in the copy, and without it each time that they are read: [`READS`] cost less than the copy.
fn keeps_padding(op: Op<'_>, x: Value<'_>) -> bool {
    let depthwise = op.operand(1).ty().shape()[1] == 1 && op.int("groups").is_some_and(|groups| groups > 1);
    let no_gaps = op.ints("lhs_dilation").is_some_and(|all| all.iter().all(|&dilation| dilation == 1));
    let taps = op.operand(1).ty().shape()[2..].iter().product::<i64>();
    let moves = op.ints("strides").unwrap_or_default().into_iter().product::<i64>();
    depthwise && no_gaps && op.result(0).ty().is_static() && (half(x).is_none() || taps <= READS * moves)
}

/// How often a half may be read by a window that slides over it. On two threads of a Zen 4: 3 by 3 in steps of one and two 0.4 to 1.06 of the time
/// with a copy, 5 by 5 in steps of two 0.88, of one 1.12, 7 by 7 in steps of two 2.4.
const READS: i64 = 9;

/// Features times elements of the window, for each pixel that a window begins at, from which on odd channels are worth a copy in words. Half a
/// word is lost, so pairs save one product of each; two registers of 16 lanes multiply in a cycle. Of three channels the copy takes 17 cycles
/// a pixel, and 24 are saved by so many.
const ODD_PRODUCTS: i64 = 768;

/// The `bf16` operands of a convolution that are converted to `f32`, where two channels are products of one instruction, and the features of a
/// group fill the lanes of one.
fn halves<'c>(op: Op<'c>, target: &Target) -> Option<[Value<'c>; 2]> {
    let (shape, groups) = (op.operand(1).ty().shape(), op.int("groups")?);
    let moves = op.ints("strides")?.into_iter().product::<i64>();
    let pays = product(shape[2..].iter().copied()) * shape[0] >= ODD_PRODUCTS * moves;
    // The word of an odd channel is half empty; that of the first channel of a group is where the group before it ends.
    let whole = shape[1] % 2 == 0 || groups == 1 && shape[1] > 1 && pays;
    let pairs = target.has_bf16_dots() && whole && shape[0] / groups >= FEATURES;
    (pairs && is_half(op.operand(0)) && is_half(op.operand(1))).then(|| [op.operand(0), op.operand(1)])
}

/// Whether a value is converted from `bf16` to `f32`, or made of such values by views and concatenations.
fn is_half(value: Value<'_>) -> bool {
    let parts = value.defining_op().filter(|op| is_view(*op)).map(|op| op.operands());
    half(value).is_some() || parts.is_some_and(|parts| parts.into_iter().all(is_half))
}

/// The same of what is converted.
fn narrow<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let Some(view) = value.defining_op().filter(|_| half(value).is_none()) else { return half(value).unwrap_or(value) };
    let parts: Vec<_> = view.operands().into_iter().map(|part| narrow(b, part)).collect();
    again(b, view, &parts, parts[0].ty().with_shape(&value.ty().shape()), &[])
}

/// Whether an op moves the elements of tensors of known size, and no more.
fn is_view(op: Op<'_>) -> bool {
    let moves = op.isa::<prim::Transpose>() || op.isa::<prim::Reverse>() || op.isa::<prim::Reshape>() || op.isa::<prim::Slice>();
    (moves && op.num_operands() == 1 || op.isa::<prim::Concat>()) && op.result(0).ty().is_static()
}

/// What is converted from `bf16` to `f32` here.
fn half(value: Value<'_>) -> Option<Value<'_>> {
    let convert = value.defining_op().filter(|op| op.isa::<prim::Convert>() && value.ty().element_type() == Some(ElementType::F32))?;
    Some(convert.operand(0)).filter(|half| half.ty().element_type() == Some(ElementType::BF16))
}

/// `[0, 2, 3, .., 1]`.
fn channels_last(rank: usize) -> Vec<usize> {
    std::iter::once(0).chain(2..rank).chain([1]).collect()
}

/// Zeros around and between the elements of a spatial dim, for each of these.
pub struct Padding {
    pub low: Vec<i64>,
    pub high: Vec<i64>,
    pub gaps: Vec<i64>,
}

impl Padding {
    /// What a convolution takes for its input.
    pub fn of(op: Op<'_>) -> Padding {
        let ints = |name: &str| op.ints(name).unwrap_or_default();
        Padding { low: ints("low"), high: ints("high"), gaps: ints("lhs_dilation").iter().map(|dilation| dilation - 1).collect() }
    }

    /// A value with these zeros, whose spatial dims begin at `space`.
    pub fn write_out<'c>(&self, b: &mut Builder<'c>, x: Value<'c>, space: usize) -> Value<'c> {
        let Padding { low, high, gaps } = self;
        if low.iter().chain(high).chain(gaps).all(|&n| n == 0) {
            return x;
        }
        let mut shape = x.ty().shape();
        for k in 0..low.len() {
            if shape[space + k] != DYNAMIC {
                shape[space + k] += (shape[space + k] - 1).max(0) * gaps[k] + low[k] + high[k];
            }
        }
        let cx = b.cx();
        let rest = shape.len() - space - low.len();
        let around = |entries: &[i64]| cx.i64s_attr(&[&vec![0; space], entries, &vec![0; rest]].concat());
        let zero = zero(b, x.ty().element());
        let attrs = [("low", around(low)), ("high", around(high)), ("interior", around(gaps))];
        b.value(prim::Pad::NAME, &[x, zero], x.ty().with_shape(&shape), &attrs)
    }
}

/// Weights as a kernel with lanes along features reads them, and the layout of the convolution. With `few` channels these stand
/// outside of the space, in the input and so in the weights.
fn panels<'c>(b: &mut Builder<'c>, w: Value<'c>, groups: i64, lanes: i64, few: bool) -> (Value<'c>, String) {
    let shape = w.ty().shape();
    let space = shape.len() - 2;
    let digits: String = (0..space).map(|k| char::from(b'0' + k as u8)).collect();
    let inner = if few { format!("c{digits}") } else { format!("{digits}c") };
    let layout = |panels: &str| format!("n{inner},{panels}{inner}o->n{digits}o");
    // Window and channels before features.
    let (window, channel): (Vec<usize>, _) = ((2..shape.len()).collect(), vec![1]);
    let summed = if few { [channel, window].concat() } else { [window, channel].concat() };
    let perm = [summed.as_slice(), &[0]].concat();
    let Some(panel) = panel(shape[0], shape[0] / groups, lanes).filter(|&panel| panel < shape[0]) else {
        return (transpose(b, w, &perm), layout(""));
    };
    let split = [&[shape[0] / panel, panel], &shape[1..]].concat();
    let split = b.value(prim::Reshape::NAME, &[w], w.ty().with_shape(&split), &[]);
    let perm: Vec<usize> = std::iter::once(0).chain(summed.iter().map(|dim| dim + 1)).chain([1]).collect();
    (transpose(b, split, &perm), layout("O"))
}

/// Features of a panel: two vectors of lanes where they fit into the features of a group, else all of these, so that no vector has lanes
/// in two groups, which read different channels. Fewer than a quarter of a vector are not worth that.
fn panel(features: i64, in_group: i64, lanes: i64) -> Option<i64> {
    let fits = |panel: &i64| *panel > 1 && in_group % panel == 0 && features % panel == 0;
    [2 * lanes, 3 * lanes, lanes].into_iter().find(fits).or_else(|| Some(in_group).filter(|&own| own >= lanes / 4 && fits(&own)))
}
