//! `torch.gradient`: central differences inside, one-sided ones at the edges.

use strata_dialects::aten::dtype::Numeric;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::rule::Precision::Float;
use super::rule::{Rule, many};

pub(super) const RULES: &[Rule] = &[
    many(GRADIENT_ARRAY, Float, gradient),
    many(GRADIENT_SCALARARRAY, Float, gradient),
    many(GRADIENT_SCALARINT, Float, gradient),
    many(GRADIENT_SCALARRAYARRAY, Float, gradient),
    many(GRADIENT_SCALARRAYINT, Float, gradient),
    many(GRADIENT_TENSORARRAY, Float, gradient),
    many(GRADIENT_TENSORARRAYINT, Float, gradient),
];

fn gradient<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let dims = match a.is_list("dim") {
        true => a.dims("dim", x.rank()),
        false => a.opt_int("dim").map_or(x.all_dims(), |d| vec![a.wrap(d, x.rank())]),
    };
    let order = a.int("edge_order").clamp(1, 2);
    let (mut coordinates, mut steps) = (Vec::new(), Vec::new());
    match (a.has("spacing"), a.is_tensor("spacing"), a.is_list("spacing")) {
        (true, true, _) => coordinates = a.tensors("spacing"),
        (true, false, true) => steps.extend(a.opt_floats("spacing").into_iter().flatten().map(Scalar::Float)),
        (true, false, false) => steps.extend(a.opt_scalar("spacing")),
        _ => {}
    }
    let line = |(k, dim): (usize, &usize)| {
        let line = Line { x, dim: *dim, order };
        match coordinates.get(k) {
            Some(place) => line.uneven(place.convert(x.dtype().real_part())),
            None => line.even(steps.get(k).or(steps.last()).copied()),
        }
    };
    dims.iter().enumerate().map(line).collect()
}

/// A differentiation along one dimension, with edges of an order.
struct Line<'c> {
    x: Tensor<'c>,
    dim: usize,
    order: i64,
}

impl<'c> Line<'c> {
    /// `count` elements from `offset` on, from the end when negative.
    fn part(&self, offset: i64, count: i64) -> Tensor<'c> {
        let start = if offset < 0 { self.x.size(self.dim) + offset } else { offset.into() };
        self.x.slice(self.dim, start, count, 1)
    }

    /// The elements that have both neighbours, moved by -1, 0 or 1.
    fn inner(&self, shift: i64) -> Tensor<'c> {
        self.x.slice(self.dim, 1 + shift, self.x.size(self.dim) - 2, 1)
    }

    fn joined(&self, first: Tensor<'c>, inner: Tensor<'c>, last: Tensor<'c>) -> Tensor<'c> {
        self.x.prim().concat(&[first, inner, last], self.dim)
    }

    fn even(&self, step: Option<Scalar<'c>>) -> Tensor<'c> {
        let inner = (self.inner(1) - self.inner(-1)) / 2.0;
        let (first, last) = if self.order == 1 {
            (self.part(1, 1) - self.part(0, 1), self.part(-1, 1) - self.part(-2, 1))
        } else {
            let first = self.part(0, 1) * -1.5 + self.part(1, 1) * 2.0 - self.part(2, 1) * 0.5;
            let last = self.part(-3, 1) * 0.5 - self.part(-2, 1) * 2.0 + self.part(-1, 1) * 1.5;
            (first, last)
        };
        let value = self.joined(first, inner, last);
        step.map_or(value, |step| value / step)
    }

    /// With the distances between the coordinates of neighbours.
    fn uneven(&self, place: Tensor<'c>) -> Tensor<'c> {
        let n = place.size(0);
        let gaps = place.slice(0, 1, n - 1, 1) - place.slice(0, 0, n - 1, 1);
        let count = n - 1;
        let gap = |offset: i64| gaps.slice(0, if offset < 0 { count + offset } else { offset.into() }, 1, 1);
        let spread = |t: Tensor<'c>| {
            let t = t.unsqueeze_to(self.x.rank() - self.dim);
            if self.x.dtype().is_complex() { t.convert(self.x.dtype()) } else { t }
        };
        let weighted = |x: Tensor<'c>, w: Tensor<'c>| x * spread(w);
        let (a, b) = (gaps.slice(0, 0, count - 1, 1), gaps.slice(0, 1, count - 1, 1));
        let inner = weighted(self.inner(-1), -b / (a * (a + b)))
            + weighted(self.inner(0), (b - a) / (a * b))
            + weighted(self.inner(1), a / (b * (a + b)));
        let (first, last) = if self.order == 1 {
            let rise = |from: i64, to: i64, gap: Tensor<'c>| (self.part(to, 1) - self.part(from, 1)) / spread(gap);
            (rise(0, 1, gap(0)), rise(-2, -1, gap(-1)))
        } else {
            let (a, b) = (gap(0), gap(1));
            let first = weighted(self.part(0, 1), -(a * 2.0 + b) / (a * (a + b))) + weighted(self.part(1, 1), (a + b) / (a * b))
                - weighted(self.part(2, 1), a / (b * (a + b)));
            let (a, b) = (gap(-2), gap(-1));
            let last = weighted(self.part(-3, 1), b / (a * (a + b))) - weighted(self.part(-2, 1), (a + b) / (a * b))
                + weighted(self.part(-1, 1), (b * 2.0 + a) / (b * (a + b)));
            (first, last)
        };
        self.joined(first, inner, last)
    }
}
