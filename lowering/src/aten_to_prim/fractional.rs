//! Maxima over windows of one size whose places are random: given numbers in [0, 1) choose them, one for each image,
//! channel and dimension of space.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Size, Tensor, product};

use super::args::Args;
use super::pool::max_pool_backward;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(FRACTIONAL_MAX_POOL2D, Exact, |a| forward(a, 2)),
    one(FRACTIONAL_MAX_POOL2D_BACKWARD, Exact, |a| max_pool_backward(a, 2)),
    many(FRACTIONAL_MAX_POOL3D, Exact, |a| forward(a, 3)),
    one(FRACTIONAL_MAX_POOL3D_BACKWARD, Exact, |a| max_pool_backward(a, 3)),
];

/// Where the windows of one dimension begin, (n, c, windows): about evenly spaced, the last one at the end.
fn begins<'c>(sample: Tensor<'c>, size: i64, windows: i64, window: i64) -> Tensor<'c> {
    let step = if windows > 1 { (size - window) as f64 / (windows - 1) as f64 } else { 0.0 };
    let (sample, k) = (sample.unsqueeze(2), sample.prim().range(sample.dtype(), windows));
    let step = sample.number(super::Scalar::Float(step));
    let place = ((k + sample) * step).trunc() - (sample * step).trunc();
    place.convert(DType::I64).fill_where(k.equal((windows - 1) as f64), size - window)
}

fn forward<'c>(a: &Args<'c>, space: usize) -> Vec<Tensor<'c>> {
    let given = a.tensor("self");
    let (window, windows) = (a.ints("kernel_size"), a.ints("output_size"));
    let single = given.rank() == space + 1;
    let x = if single { given.unsqueeze(0) } else { given };
    let known = |k: usize| x.size(2 + k).known();
    let Some(sizes) = (0..space).map(known).collect::<Option<Vec<_>>>().filter(|_| x.rank() == space + 2) else {
        a.fail("fractional pooling of a space of unknown size");
        return vec![given, given];
    };
    let samples = a.tensor("random_samples");
    let (images, rank) = ([x.size(0), x.size(1)], 2 + 2 * space);
    // The flat place in the space of the input of every element of every window: n, c, windows.., window..
    let mut place: Option<Tensor<'c>> = None;
    for k in 0..space {
        // Images know their numbers by width and height, volumes by depth, height and width.
        let sample = samples.at(2, (if space == 2 { 1 - k } else { k }) as i64);
        let begin = begins(sample, sizes[k], windows[k], window[k]);
        let mut shape = vec![Size::Const(1); rank];
        shape[..2].copy_from_slice(&[begin.size(0), begin.size(1)]);
        shape[2 + k] = Size::Const(windows[k]);
        let mut inner = vec![Size::Const(1); rank];
        inner[2 + space + k] = Size::Const(window[k]);
        let along = begin.reshape(&shape) + a.prim.range(DType::I64, window[k]).reshape(&inner);
        place = Some(place.map_or(along, |place| place * sizes[k] + along));
    }
    let Some(place) = place else { return vec![given, given] };
    let output = [&images[..], &windows.iter().map(|n| Size::Const(*n)).collect::<Vec<_>>()].concat();
    let inside: i64 = window.iter().product();
    let flat = [&output[..], &[Size::Const(inside)]].concat();
    let whole = [&output[..], &window.iter().map(|n| Size::Const(*n)).collect::<Vec<_>>()].concat();
    let place = place.broadcast_to(&whole).reshape(&flat);
    let lines = x.reshape(&[images[0], images[1], product(&x.shape()[2..])]);
    let at = |dim| a.prim.iota(DType::I64, &flat, dim);
    let values = lines.gather(&[at(0), at(1), place], &[0, 1, 2]);
    let last = flat.len() - 1;
    let best = values.arg_reduce("max", last).unsqueeze(last);
    let chosen = at(last).equal(best);
    let position = chosen.select(place, 0).reduce("sum", &[last], false);
    let results = [values.reduce("max", &[last], false), position];
    results.map(|t| if single { t.squeeze(&[0]) } else { t }).to_vec()
}
