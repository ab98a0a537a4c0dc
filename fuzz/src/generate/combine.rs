//! Reductions, products and convolutions.

use strata_runtime::DType;

use super::Generator;
use crate::graph::{Fill, Op, Size};
use crate::rng::Rng;

impl Generator {
    pub(super) fn kind(&mut self, dtype: DType) -> &'static str {
        match dtype {
            DType::Bool => self.rng.pick(&["and", "or", "max", "min"]),
            _ if crate::graph::is_float(dtype) => self.rng.pick(&["sum", "sum", "sum", "prod", "max", "min"]),
            _ => self.rng.pick(&["sum", "prod", "max", "min", "and", "or"]),
        }
    }

    pub(super) fn reduction(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.rank() > 0)?;
        let ty = self.graph.types[x].clone();
        let kind = self.kind(ty.dtype);
        let dim = self.rng.below(ty.rank()) as i64;
        match self.rng.below(6) {
            0 => self.op(Op::Scan { dim, kind }, &[x]),
            2 => self.segments(x, kind),
            1 if self.exact[x] && ty.dtype != DType::Bool => {
                let kind = self.rng.pick(&["max", "min"]);
                self.op(Op::ArgReduce { dim, kind }, &[x])
            }
            _ => {
                let dims = self.some_dims(ty.rank());
                self.op(Op::Reduce { dims, kind }, &[x])
            }
        }
    }

    /// Segments of the first dimension, one behind the other: those between running maxima, of which some are empty and some reach outside.
    fn segments(&mut self, x: usize, kind: &'static str) -> Option<usize> {
        let n = self.graph.types[x].dims[0].n;
        let (dtype, segments) = (self.rng.pick(&[DType::I64, DType::I32]), self.rng.range(0, 6));
        let bounds = self.fixed(dtype, &[segments + 1], Fill::Below(n + 2));
        let bounds = self.op(Op::Scan { dim: 0, kind: "max" }, &[bounds])?;
        let mut part = |offset| {
            let slice = Op::Slice { offsets: vec![offset], sizes: vec![Size::Fixed(segments)], strides: vec![1] };
            self.op(slice, &[bounds])
        };
        let (begins, ends) = (part(0)?, part(1)?);
        self.op(Op::SegmentReduce { kind }, &[x, begins, ends])
    }

    pub(super) fn dot(&mut self) -> Option<usize> {
        let x = self.value(|t, _| t.dtype != DType::Bool && t.rank() > 0)?;
        let ty = self.graph.types[x].clone();
        let y = match self.find(|t, _| t.dtype == ty.dtype && t.rank() > 0) {
            Some(y) if self.rng.chance(50) => y,
            _ => {
                let rank = self.rng.range(1, 3) as usize;
                self.argument_of(ty.dtype, rank)
            }
        };
        let other = self.graph.types[y].clone();
        let (mut left, mut right): (Vec<usize>, Vec<usize>) = ((0..ty.rank()).collect(), (0..other.rank()).collect());
        self.rng.shuffle(&mut left);
        self.rng.shuffle(&mut right);
        let (mut lhs_batch, mut rhs_batch, mut lhs_contract, mut rhs_contract) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for l in left {
            let Some(place) = right.iter().position(|&r| other.dims[r] == ty.dims[l]) else { continue };
            match self.rng.below(5) {
                0 | 1 => {
                    lhs_contract.push(l as i64);
                    rhs_contract.push(right.remove(place) as i64);
                }
                2 => {
                    lhs_batch.push(l as i64);
                    rhs_batch.push(right.remove(place) as i64);
                }
                _ => {}
            }
        }
        self.op(Op::Dot { lhs_batch, rhs_batch, lhs_contract, rhs_contract }, &[x, y])
    }

    pub(super) fn conv(&mut self) -> Option<usize> {
        let x = match self.find(|t, _| t.dtype != DType::Bool && (3..=4).contains(&t.rank()) && t.elements() > 0) {
            Some(x) => x,
            None => {
                let dtype = self.rng.pick(&[DType::F32, DType::F64, DType::F16, DType::I32]);
                let rank = self.rng.range(3, 4) as usize;
                self.argument_of(dtype, rank)
            }
        };
        let ty = self.graph.types[x].clone();
        let space = ty.rank().checked_sub(2)?;
        let channels = ty.dims[1].n.max(1);
        let divisors: Vec<i64> = (1..=channels).filter(|g| channels % g == 0).collect();
        let groups = if self.rng.chance(60) { 1 } else { self.rng.pick(&divisors) };
        let mut shape = vec![groups * self.rng.range(1, 3), channels / groups];
        shape.extend((0..space).map(|_| self.rng.range(1, 3)));
        let w = self.fixed(ty.dtype, &shape, Fill::Plain);
        let list = |rng: &mut Rng, low: i64, high: i64| (0..space).map(|_| rng.range(low, high)).collect::<Vec<_>>();
        let rng = &mut self.rng;
        let spread = if rng.chance(25) { 2 } else { 1 };
        let crop = if rng.chance(15) { -1 } else { 0 };
        let conv = Op::Conv {
            strides: list(rng, 1, 2),
            low: list(rng, crop, 2),
            high: list(rng, crop, 2),
            lhs_dilation: list(rng, 1, spread),
            rhs_dilation: list(rng, 1, 2),
            groups,
        };
        self.op(conv, &[x, w])
    }
}
