//! Operators that only move elements.

use super::Generator;
use crate::graph::{Const, Op, Size, Ty};
use crate::rng::Rng;

impl Generator {
    pub(super) fn broadcast(&mut self) -> Option<usize> {
        let mut x = self.value(|t, _| t.rank() < 4)?;
        // To the shape of another value, where a reduction or a slice has lost dimensions.
        if self.rng.chance(60) {
            let rank = self.graph.types[x].rank();
            let goal = self.find(|t, _| t.rank() > rank)?;
            let (from, to) = (self.graph.types[x].dims.clone(), self.graph.types[goal].dims.clone());
            let (mut dims, mut next) = (Vec::new(), 0);
            for dim in &from {
                let fits = |d: &usize| to[*d] == *dim || dim.n == 1 && !dim.dynamic;
                let place = (next..to.len()).find(fits)?;
                dims.push(place as i64);
                next = place + 1;
            }
            let sizes = self.like(goal);
            return self.op(Op::Broadcast { dims, sizes }, &[x]);
        }
        if self.rng.chance(30) {
            let mut sizes = self.like(x);
            sizes.insert(0, Size::Fixed(1));
            x = self.op(Op::Reshape(sizes), &[x])?;
        }
        let rank = self.graph.types[x].rank();
        let total = rank + self.rng.below(3);
        let mut dims: Vec<i64> = (0..total as i64).collect();
        if self.rng.chance(30) {
            self.rng.shuffle(&mut dims);
        } else {
            let extra = total - rank;
            for _ in 0..extra {
                let at = self.rng.below(dims.len());
                let dim = dims.remove(at);
                dims.push(dim);
            }
        }
        let mut sizes: Vec<_> = (0..total).map(|_| Size::Fixed(self.rng.pick(&self.sizes))).collect();
        for d in 0..rank {
            let dim = self.graph.types[x].dims[d];
            if dim.n != 1 || dim.dynamic {
                sizes[dims[d] as usize] = self.keep(x, d);
            }
        }
        dims.truncate(rank);
        self.op(Op::Broadcast { dims, sizes }, &[x])
    }

    pub(super) fn reshape(&mut self) -> Option<usize> {
        let x = self.value(|_, _| true)?;
        let ty = self.graph.types[x].clone();
        let mut sizes = self.like(x);
        match self.rng.below(4) {
            // A new dimension of one.
            0 => {
                let at = self.rng.below(sizes.len() + 1);
                sizes.insert(at, Size::Fixed(1));
            }
            // One fewer of one.
            1 => {
                let at = (0..ty.rank()).find(|&d| ty.dims[d].n == 1 && !ty.dims[d].dynamic)?;
                sizes.remove(at);
            }
            // Two become one.
            2 if ty.rank() >= 2 => {
                let at = self.rng.below(ty.rank() - 1);
                sizes.remove(at + 1);
                let (a, b) = (ty.dims[at], ty.dims[at + 1]);
                sizes[at] = if a.dynamic || b.dynamic { Size::Product(x, at, at + 1) } else { Size::Fixed(a.n * b.n) };
            }
            // One becomes two.
            _ => {
                let splits: Vec<(usize, i64)> = (0..ty.rank())
                    .flat_map(|d| (2..ty.dims[d].n).map(move |k| (d, k)))
                    .filter(|&(d, k)| !ty.dims[d].dynamic && ty.dims[d].n % k == 0)
                    .collect();
                if splits.is_empty() {
                    return None;
                }
                let (d, k) = self.rng.pick(&splits);
                sizes[d] = Size::Fixed(k);
                sizes.insert(d + 1, Size::Fixed(ty.dims[d].n / k));
            }
        }
        self.op(Op::Reshape(sizes), &[x])
    }

    pub(super) fn some_dims(&mut self, rank: usize) -> Vec<i64> {
        let mut dims: Vec<i64> = (0..rank as i64).filter(|_| self.rng.chance(50)).collect();
        if dims.is_empty() {
            dims.push(self.rng.below(rank) as i64);
        }
        dims
    }

    pub(super) fn view(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0)?;
        let (ty, rank) = (self.graph.types[x].clone(), self.graph.types[x].rank());
        match self.rng.below(6) {
            0 => {
                let mut perm: Vec<i64> = (0..rank as i64).collect();
                self.rng.shuffle(&mut perm);
                self.op(Op::Transpose(perm), &[x])
            }
            1 => {
                let (mut offsets, mut sizes, mut strides) = (vec![0; rank], self.like(x), vec![1; rank]);
                for d in self.some_dims(rank) {
                    let d = d as usize;
                    let n = ty.dims[d].n;
                    let (offset, stride) = (self.rng.range(0, n), self.rng.pick(&[1, 1, 2, 3]));
                    let most = (n - offset + stride - 1) / stride;
                    offsets[d] = offset;
                    strides[d] = stride;
                    sizes[d] = Size::Fixed(self.rng.range((most / 2).min(most), most));
                }
                self.op(Op::Slice { offsets, sizes, strides }, &[x])
            }
            2 => {
                let dims = self.some_dims(rank);
                self.op(Op::Reverse(dims), &[x])
            }
            3 => {
                let value = match self.find(|t, _| t.rank() == 0 && t.dtype == ty.dtype) {
                    Some(value) if self.rng.chance(60) => value,
                    _ => self.op(Op::Constant(ty.dtype, Vec::new(), Const::All(self.rng.clone().below(3) as f64)), &[])?,
                };
                let (mut low, mut high, mut interior) = (vec![0; rank], vec![0; rank], vec![0; rank]);
                for d in self.some_dims(rank) {
                    let d = d as usize;
                    (low[d], high[d], interior[d]) = (self.rng.range(-2, 3), self.rng.range(-2, 3), self.rng.pick(&[0, 0, 0, 1, 2]));
                }
                self.op(Op::Pad { low, high, interior }, &[x, value])
            }
            4 => {
                let dim = self.rng.below(rank);
                let rest = |t: &Ty| t.dims.iter().enumerate().filter(|(d, _)| *d != dim).map(|(_, dim)| *dim).collect::<Vec<_>>();
                let wanted = rest(&ty);
                let mut parts = vec![x];
                for _ in 0..self.rng.range(0, 3) {
                    parts.push(self.find(|t, _| t.dtype == ty.dtype && t.rank() == rank && rest(t) == wanted)?);
                }
                self.rng.shuffle(&mut parts);
                self.op(Op::Concat(dim as i64), &parts)
            }
            _ => {
                let k = self.rng.range(1, rank.min(2) as i64) as usize;
                let list = |rng: &mut Rng, most: i64| (0..k).map(|_| rng.range(1, most)).collect::<Vec<_>>();
                let (sizes, strides, dilations) = (list(&mut self.rng, 3), list(&mut self.rng, 2), list(&mut self.rng, 2));
                self.op(Op::Window { sizes, strides, dilations }, &[x])
            }
        }
    }
}
