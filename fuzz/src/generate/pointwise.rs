//! Operators on single elements, and tensors made from nothing.

use strata_runtime::DType;

use super::{Generator, SMOOTH};
use crate::graph::{Const, Op, Size};

impl Generator {
    pub(super) fn unary(&mut self) -> Option<usize> {
        if self.rng.chance(70) {
            let x = self.value(|t, _| t.is_float())?;
            let name = self.rng.pick(SMOOTH);
            return self.op(Op::Unary(name), &[x]);
        }
        let x = self.value(|_, exact| exact)?;
        let ty = self.graph.types[x].clone();
        if ty.is_float() {
            let name = self.rng.pick(&["floor", "ceil", "round", "trunc", "sign", "neg", "is_nan"]);
            return if name == "is_nan" { self.op(Op::IsNan, &[x]) } else { self.op(Op::Unary(name), &[x]) };
        }
        let name = if ty.dtype == DType::Bool { "not" } else { self.rng.pick(&["neg", "abs", "sign", "not"]) };
        self.op(Op::Unary(name), &[x])
    }

    pub(super) fn binary(&mut self) -> Option<usize> {
        let x = self.value(|_, _| true)?;
        let ty = self.graph.types[x].clone();
        if ty.is_float() {
            if self.exact[x] && self.rng.chance(15) {
                let name = self.rng.pick(&["rem", "atan2", "nextafter"]);
                let y = self.partner(x, true)?;
                return self.op(Op::Binary(name), &[x, y]);
            }
            let name = self.rng.pick(&["add", "add", "sub", "mul", "mul", "div", "pow", "maximum", "minimum"]);
            let y = self.partner(x, false)?;
            return self.op(Op::Binary(name), &[x, y]);
        }
        if ty.dtype == DType::Bool {
            let y = self.partner(x, false)?;
            let name = self.rng.pick(&["and", "or", "xor", "maximum", "minimum"]);
            return self.op(Op::Binary(name), &[x, y]);
        }
        let name = self.rng.pick(&["add", "sub", "mul", "div", "rem", "pow", "maximum", "minimum", "and", "or", "xor", "shl", "shr"]);
        let mut y = self.partner(x, false)?;
        if matches!(name, "div" | "rem") {
            let one = self.splat_like(y, ty.dtype, 1.0)?;
            y = self.op(Op::Binary("maximum"), &[y, one])?;
        }
        self.op(Op::Binary(name), &[x, y])
    }

    pub(super) fn compare(&mut self) -> Option<usize> {
        let x = self.value(|_, exact| exact)?;
        let y = self.partner(x, true)?;
        let name = self.rng.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
        self.op(Op::Compare(name), &[x, y])
    }

    pub(super) fn select(&mut self) -> Option<usize> {
        let a = self.value(|_, _| true)?;
        let b = self.partner(a, false)?;
        let dims = self.graph.types[a].dims.clone();
        let condition = match self.find(|t, _| t.dtype == DType::Bool && t.dims == dims) {
            Some(condition) => condition,
            None => {
                let x = self.find(|t, exact| exact && t.dims == dims)?;
                let y = self.partner(x, true)?;
                self.op(Op::Compare("lt"), &[x, y])?
            }
        };
        self.op(Op::Select, &[condition, a, b])
    }

    pub(super) fn convert(&mut self) -> Option<usize> {
        let to = self.dtype();
        let discontinuous = !crate::graph::is_float(to);
        let mut x = self.value(|t, exact| t.dtype != to && (exact || !discontinuous))?;
        let from = self.graph.types[x].dtype;
        if crate::graph::is_float(from) && discontinuous && to != DType::Bool {
            // Only numbers that the integers have.
            let magnitude = self.op(Op::Unary("abs"), &[x])?;
            let bound = self.splat_like(x, from, 100.0)?;
            let small = self.op(Op::Compare("lt"), &[magnitude, bound])?;
            let kept = if to == DType::U8 { magnitude } else { x };
            x = self.op(Op::Select, &[small, kept, bound])?;
        }
        self.op(Op::Convert(to), &[x])
    }

    pub(super) fn create(&mut self) -> Option<usize> {
        let dtype = self.dtype();
        if self.rng.chance(50) && dtype != DType::Bool {
            let sizes = match self.find(|t, _| t.rank() > 0) {
                Some(x) => self.like(x),
                None => vec![Size::Fixed(self.rng.range(1, 9))],
            };
            let dim = self.rng.below(sizes.len()) as i64;
            return self.op(Op::Iota(dtype, sizes, dim), &[]);
        }
        let rank = self.rng.below(4);
        let shape: Vec<i64> = (0..rank).map(|_| self.rng.pick(&self.sizes)).collect();
        let seed = self.rng.bits();
        self.op(Op::Constant(dtype, shape, Const::Random(seed)), &[])
    }
}
