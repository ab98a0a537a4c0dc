//! Sampling at a grid: an input (n, c, space..), a grid (n, output.., k) of coordinates in [-1, 1], the last dimension of
//! space first. Two and three dimensions of space, nearest, linear and cubic, and the gradients.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::norm::masked;
use super::resize::{cubic_slopes, cubic_weights};
use super::rule::Precision::Compute;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    one(AFFINE_GRID_GENERATOR, Compute, affine),
    one(AFFINE_GRID_GENERATOR_BACKWARD, Compute, affine_backward),
    one(GRID_SAMPLER, Compute, forward),
    one(GRID_SAMPLER_2D, Compute, forward),
    many(GRID_SAMPLER_2D_BACKWARD, Compute, backward),
    one(GRID_SAMPLER_3D, Compute, forward),
    many(GRID_SAMPLER_3D_BACKWARD, Compute, backward),
];

/// A read along one dimension of space.
#[derive(Clone, Copy)]
struct Tap<'c> {
    /// The whole coordinate, maybe outside.
    place: Tensor<'c>,
    weight: Tensor<'c>,
    /// The derivative of the weight by the grid's coordinate.
    slope: Tensor<'c>,
}

struct Sampler<'c> {
    image: Tensor<'c>,
    /// 0 reads zeros outside, 1 the border, 2 reflects.
    padding: i64,
    corners: bool,
    /// The taps of each dimension of space.
    taps: Vec<Vec<Tap<'c>>>,
}

impl<'c> Sampler<'c> {
    fn new(a: &Args<'c>) -> Option<Sampler<'c>> {
        let (image, grid, mode) = (a.tensor("input"), a.tensor("grid"), a.int("interpolation_mode"));
        let space = image.rank().saturating_sub(2);
        if image.rank() != grid.rank() || !(2..=3).contains(&space) {
            a.fail("a grid samples images and volumes");
            return None;
        }
        let mut sampler = Sampler { image, padding: a.int("padding_mode"), corners: a.bool("align_corners"), taps: Vec::new() };
        let last = grid.rank() - 1;
        let taps = |dim: usize| sampler.taps_of(mode, grid.at(last, (space - 1 - dim) as i64), image.size(2 + dim));
        let taps = (0..space).map(taps).collect();
        sampler.taps = taps;
        Some(sampler)
    }

    /// The taps of one dimension of space: the grid's coordinate becomes one of elements, with its derivative.
    fn taps_of(&self, mode: i64, coordinate: Tensor<'c>, n: Size<'c>) -> Vec<Tap<'c>> {
        let size = self.image.prim().size_tensor(self.image.dtype(), n);
        let (place, rate) = match self.corners {
            true => ((coordinate + 1.0) * ((size - 1.0) / 2.0), (size - 1.0) / 2.0),
            false => (((coordinate + 1.0) * size - 1.0) / 2.0, size / 2.0),
        };
        let (zero, one) = (place.filled(Scalar::Int(0)), place.filled(Scalar::Int(1)));
        match mode {
            1 => vec![Tap { place: self.folded(place, n).0.round(), weight: one, slope: zero }],
            2 => {
                let base = place.floor();
                let (weights, slopes) = (cubic_weights(place - base), cubic_slopes(place - base));
                let tap = |(offset, (weight, slope)): (f64, (Tensor<'c>, Tensor<'c>))| Tap {
                    place: self.folded(base + offset, n).0,
                    weight,
                    slope: slope * rate,
                };
                [-1.0, 0.0, 1.0, 2.0].into_iter().zip(weights.into_iter().zip(slopes)).map(tap).collect()
            }
            _ => {
                let (place, direction) = self.folded(place, n);
                let (low, rate) = (place.floor(), direction * rate);
                let rest = place - low;
                vec![Tap { place: low, weight: -rest + 1.0, slope: -rate }, Tap { place: low + 1.0, weight: rest, slope: rate }]
            }
        }
    }

    /// A coordinate moved inside as the padding mode says, and the derivative of that: 1, -1 or 0.
    fn folded(&self, place: Tensor<'c>, n: Size<'c>) -> (Tensor<'c>, Tensor<'c>) {
        let size = self.image.prim().size_tensor(place.dtype(), n);
        let one = place.filled(Scalar::Int(1));
        let clamp = |p: Tensor<'c>, rate: Tensor<'c>| {
            let outside = p.less_equal(0.0).or(p.greater_equal(size - 1.0));
            (p.maximum(0.0).minimum(size - 1.0), rate.fill_where(outside, 0.0))
        };
        match self.padding {
            1 => clamp(place, one),
            2 => {
                let (low, span) = if self.corners { (0.0, size - 1.0) } else { (-0.5, size) };
                let offset = place - low;
                let distance = offset.abs();
                let flips = (distance / span).floor();
                let rest = distance - flips * span;
                let odd = (flips % 2.0).equal(1.0);
                let single = span.equal(0.0);
                let reflected = (odd.select(span - rest, rest) + low).fill_where(single, 0.0);
                let rate = offset.less(0.0).xor(odd).select(-one, one).fill_where(single, 0.0);
                clamp(reflected, rate)
            }
            _ => (place, one),
        }
    }

    /// All combinations of one tap for each dimension of space.
    fn combinations(&self) -> Vec<Vec<Tap<'c>>> {
        self.taps.iter().fold(vec![Vec::new()], |chosen, taps| {
            chosen.iter().flat_map(|some| taps.iter().map(move |tap| [some.as_slice(), &[*tap]].concat())).collect()
        })
    }

    /// Which reads are inside, and their indices, clamped: batch, then space.
    fn indices(&self, taps: &[Tap<'c>]) -> (Tensor<'c>, Vec<Tensor<'c>>) {
        let prim = self.image.prim();
        let size = |k: usize| self.image.size(2 + k);
        let within = |(k, tap): (usize, &Tap<'c>)| {
            let bound = prim.size_tensor(tap.place.dtype(), size(k) - 1);
            tap.place.greater_equal(0.0).and(tap.place.less_equal(bound))
        };
        let inside = taps.iter().enumerate().map(within).reduce(|a, b| a.and(b));
        let inside = inside.unwrap_or_else(|| prim.constant(DType::Bool, Scalar::Bool(true)));
        let dtype = self.index_type();
        let whole = |(k, tap): (usize, &Tap<'c>)| inside.select(tap.place, 0.0).convert(dtype).minimum(size(k) - 1);
        let mut indices = vec![prim.iota(dtype, &inside.shape(), 0)];
        indices.extend(taps.iter().enumerate().map(whole));
        (inside, indices)
    }

    /// The narrowest type that holds the indices of all elements, which are read once for each channel.
    fn index_type(&self) -> DType {
        let elements = product_of_known(self.image.shape().iter().map(|size| size.known()));
        if elements.is_some_and(|elements| elements <= i64::from(i32::MAX)) { DType::I32 } else { DType::I64 }
    }

    /// The indices with one for all of space: what corners share is a sum, and each has one index in memory.
    fn flattened(&self, indices: &[Tensor<'c>]) -> [Tensor<'c>; 2] {
        let space = indices[2..].iter().enumerate().fold(indices[1], |place, (k, index)| place * self.image.size(3 + k) + *index);
        [indices[0], space]
    }

    /// Dimension 0, then those of space.
    fn dims(&self) -> Vec<usize> {
        (0..self.image.rank()).filter(|d| *d != 1).collect()
    }

    /// The elements that taps read, 0 outside: (n, c, output..).
    fn read(&self, taps: &[Tap<'c>]) -> Tensor<'c> {
        let (inside, indices) = self.indices(taps);
        let [batch, place] = self.flattened(&indices);
        let shape = self.image.shape();
        let points = shape[2..].iter().copied().reduce(|a, b| a * b).unwrap_or(Size::Const(1));
        let read = self.image.reshape(&[shape[0], shape[1], points]).gather_clamped(&[batch, place], &[0, 2]);
        read.move_dim(read.rank() - 1, 1).fill_where(!inside.unsqueeze(1), 0.0)
    }
}

/// The product of the weights, with the slope instead of the weight of one dimension if asked for.
fn product<'c>(taps: &[Tap<'c>], sloped: Option<usize>) -> Option<Tensor<'c>> {
    taps.iter().enumerate().map(|(k, tap)| if sloped == Some(k) { tap.slope } else { tap.weight }).reduce(|a, b| a * b)
}

fn forward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let Some(sampler) = Sampler::new(a) else { return a.tensor("input") };
    let part = |taps: Vec<Tap<'c>>| product(&taps, None).map(|w| sampler.read(&taps) * w.unsqueeze(1));
    sampler.combinations().into_iter().filter_map(part).reduce(|a, b| a + b).unwrap_or(sampler.image)
}

fn backward<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (grad, grid) = (a.tensor("grad_output"), a.tensor("grid"));
    let Some(sampler) = Sampler::new(a) else { return vec![grad, grid] };
    let image = sampler.image;
    let mut input = image.filled(Scalar::Int(0));
    let mut places: Vec<Option<Tensor<'c>>> = vec![None; sampler.taps.len()];
    for taps in sampler.combinations() {
        let (inside, indices) = sampler.indices(&taps);
        if let Some(weight) = product(&taps, None) {
            let part = (grad * weight.unsqueeze(1)).fill_where(!inside.unsqueeze(1), 0.0);
            input = input.scatter(part.move_dim(1, part.rank() - 1), &indices, &sampler.dims(), "add");
        }
        let felt = (sampler.read(&taps) * grad).reduce("sum", &[1], false);
        for (k, place) in places.iter_mut().enumerate() {
            let part = product(&taps, Some(k)).map(|slope| felt * slope);
            *place = match (*place, part) {
                (Some(sum), Some(part)) => Some(sum + part),
                (sum, part) => sum.or(part),
            };
        }
    }
    let last = grid.rank() - 1;
    let columns: Vec<_> = places.into_iter().rev().flatten().map(|t| t.unsqueeze(last)).collect();
    masked(a, vec![input, a.prim.concat(&columns, last)])
}

/// The points of a grid of the given sizes (n, c, space..) in homogeneous coordinates: (space.., k + 1), last dimension first.
fn points<'c>(a: &Args<'c>, dtype: DType) -> Tensor<'c> {
    let sizes = a.sizes("size");
    let space = &sizes[2.min(sizes.len())..];
    let coordinate = |dim: usize| {
        let size = a.prim.size_tensor(dtype, space[dim]);
        let k = a.prim.iota(dtype, space, dim) * 2.0;
        match a.bool("align_corners") {
            true => (k / (size - 1.0).maximum(1.0) - 1.0).fill_where(size.equal(1.0), 0.0),
            false => (k + 1.0) / size - 1.0,
        }
    };
    let one = a.prim.full(dtype, Scalar::Int(1), space);
    let rows: Vec<_> = (0..space.len()).rev().map(coordinate).chain([one]).map(|t| t.unsqueeze(space.len())).collect();
    a.prim.concat(&rows, space.len())
}

/// The grid that affine maps (n, k, k + 1) make of the points.
fn affine<'c>(a: &Args<'c>) -> Tensor<'c> {
    let theta = a.tensor("theta");
    let points = points(a, theta.dtype());
    let last = points.rank() - 1;
    points.dot(theta, (&[], &[]), (&[last], &[2])).move_dim(last, 0)
}

fn affine_backward<'c>(a: &Args<'c>) -> Tensor<'c> {
    let grad = a.tensor("grad");
    let points = points(a, grad.dtype());
    let space: Vec<usize> = (0..points.rank() - 1).collect();
    let moved: Vec<usize> = space.iter().map(|d| d + 1).collect();
    grad.dot(points, (&[], &[]), (&moved, &space))
}
