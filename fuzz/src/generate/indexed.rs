//! Reading and writing at computed places, and sorting.

use strata_runtime::DType;

use super::Generator;
use crate::graph::{Dim, Fill, Op, Size, Ty};

impl Generator {
    /// Indices below n: a new argument, or numbers of the program made to fit.
    pub(super) fn index(&mut self, n: i64, like: Option<usize>) -> Option<usize> {
        let dtype = self.rng.pick(&[DType::I64, DType::I64, DType::I32]);
        if let Some(like) = like {
            let Ty { dims, .. } = self.graph.types[like].clone();
            let dtype = self.graph.types[like].dtype;
            return Some(self.fixed(dtype, &dims.iter().map(|dim| dim.n).collect::<Vec<_>>(), Fill::Below(n)));
        }
        if self.rng.chance(30) {
            let x = self.find(|t, _| t.dtype == DType::I64 && t.rank() <= 2)?;
            let (zero, last) = (self.splat_like(x, DType::I64, 0.0)?, self.splat_like(x, DType::I64, (n - 1) as f64)?);
            let low = self.op(Op::Binary("maximum"), &[x, zero])?;
            return self.op(Op::Binary("minimum"), &[low, last]);
        }
        let rank = self.rng.below(3);
        let shape: Vec<i64> = (0..rank).map(|_| self.rng.pick(&self.sizes)).collect();
        Some(self.fixed(dtype, &shape, Fill::Below(n)))
    }

    /// Dimensions of x, and indices into them.
    pub(super) fn indices(&mut self, x: usize) -> Option<(Vec<i64>, Vec<usize>)> {
        let ty = self.graph.types[x].clone();
        let mut dims: Vec<i64> = (0..ty.rank() as i64).collect();
        self.rng.shuffle(&mut dims);
        dims.truncate(if self.rng.chance(70) { 1 } else { 2 });
        let mut indices: Vec<usize> = Vec::new();
        for d in &dims {
            let n = ty.dims[*d as usize].n;
            let like = indices.first().copied();
            if like.is_some_and(|v| self.graph.types[v].is_dynamic()) {
                return None;
            }
            indices.push(self.index(n, like)?);
        }
        Some((dims, indices))
    }

    pub(super) fn gather(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0 && t.elements() > 0)?;
        let (dims, mut inputs) = self.indices(x)?;
        inputs.insert(0, x);
        self.op(Op::Gather(dims), &inputs)
    }

    pub(super) fn scatter(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0 && t.elements() > 0)?;
        let (dims, indices) = self.indices(x)?;
        let ty = self.graph.types[x].clone();
        let rest: Vec<Size> = (0..ty.rank()).filter(|d| !dims.contains(&(*d as i64))).map(|d| self.keep(x, d)).collect();
        let sizes: Vec<Size> = self.like(indices[0]).into_iter().chain(rest).collect();
        let wanted: Option<Vec<Dim>> = sizes.iter().map(|size| self.graph.resolve(size)).collect();
        let wanted = wanted?;
        let updates = match self.find(|t, _| t.dtype == ty.dtype && t.dims == wanted) {
            Some(updates) => updates,
            None if wanted.iter().all(|dim| !dim.dynamic) && self.rng.chance(60) => {
                let shape: Vec<i64> = wanted.iter().map(|dim| dim.n).collect();
                self.fixed(ty.dtype, &shape, Fill::Numbers)
            }
            // The parts of x itself, in other places.
            None => {
                let number = self.find(|t, _| t.dtype == ty.dtype && t.rank() == 0)?;
                self.op(Op::Broadcast { dims: Vec::new(), sizes }, &[number])?
            }
        };
        let kind = match ty.dtype {
            DType::Bool => "set",
            _ => self.rng.pick(&["set", "add", "add", "mul", "max", "min"]),
        };
        let inputs = [&[x, updates], &indices[..]].concat();
        self.op(Op::Scatter(dims, kind), &inputs)
    }

    /// Sorting, and boxes at computed places.
    pub(super) fn other(&mut self) -> Option<usize> {
        let x = self.value(|t, exact| t.rank() > 0 && exact)?;
        let ty = self.graph.types[x].clone();
        if self.rng.chance(50) {
            let (dim, descending, positions) = (self.rng.below(ty.rank()) as i64, self.rng.chance(50), self.rng.chance(50));
            return self.op(Op::Sort { dim, descending, positions }, &[x]);
        }
        let sizes: Vec<i64> = ty.dims.iter().map(|dim| self.rng.range((dim.n - 3).max(0), dim.n)).collect();
        let offsets: Vec<usize> =
            ty.dims.iter().zip(&sizes).map(|(dim, n)| self.fixed(DType::I64, &[], Fill::Below(dim.n - n + 1))).collect();
        if self.rng.chance(50) {
            return self.op(Op::DynamicSlice(sizes), &[&[x], &offsets[..]].concat());
        }
        let update = self.fixed(ty.dtype, &sizes, Fill::Numbers);
        self.op(Op::DynamicUpdate, &[&[x, update], &offsets[..]].concat())
    }
}
