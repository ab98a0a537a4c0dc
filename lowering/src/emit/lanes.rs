//! Points of the loop nest, and scalar code executed on many of them at once.
//!
//! A body is written for one point. Here it runs for the lanes of a vector: what does not depend on the vector dim stays scalar.

use super::complex_lanes;
use super::memory::{self, broadcast};
use crate::num::Num;
use strata_core::ir::{AffineExpr, AffineKind, Builder, ElementType, Op, OpSpec, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{complex, vector};

/// Where one dim stands: the index of lane 0, and whether the lanes run along this dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coord<'c> {
    /// Index of lane 0.
    pub base: Num<'c>,
    /// Lane `l` is at `base + l`.
    pub lanes: bool,
    /// The aligned block that all lanes are in, when it is known.
    pub block: Option<InBlock<'c>>,
}

/// A place in an aligned block of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InBlock<'c> {
    /// Where the block begins: a multiple of its size.
    pub start: Num<'c>,
    /// Size of the block.
    pub size: i64,
    /// The index of lane 0 from the beginning of the block on.
    pub offset: i64,
}

/// A point of the loop nest: a coordinate for each kernel dim that has a loop around it.
pub type Point<'c> = Vec<Option<Coord<'c>>>;

/// How an index differs between lanes.
#[derive(Clone, Copy)]
pub enum Across<'c> {
    /// Not at all.
    Uniform,
    /// By this much from one lane to the next.
    Step(Num<'c>),
    /// Freely: a vector of all lanes' indices.
    Free(Value<'c>),
}

/// An index for all lanes.
#[derive(Clone, Copy)]
pub struct Index<'c> {
    /// Index of lane 0 (not used when the lanes are free).
    pub base: Num<'c>,
    /// The other lanes.
    pub across: Across<'c>,
}

/// What evaluating an index needs.
pub struct Grid<'a, 'c> {
    /// The point.
    pub point: &'a Point<'c>,
    /// The kernel's `index` arguments.
    pub symbols: &'a [Value<'c>],
    /// Number of lanes.
    pub width: i64,
}

impl<'c> Index<'c> {
    /// The same in all lanes.
    pub fn uniform(base: Num<'c>) -> Self {
        Self { base, across: Across::Uniform }
    }

    /// As one vector of `index`.
    pub fn vector(self, b: &mut Builder<'c>, width: i64) -> Value<'c> {
        let step = match self.across {
            Across::Free(vector) => return vector,
            Across::Uniform => {
                let base = self.base.value(b);
                return broadcast(b, base, width);
            }
            Across::Step(step) => step,
        };
        let ty = b.cx().vector(&[width], b.cx().index());
        let mut lanes = vector::step(b, ty);
        if step != Num::Const(1) {
            let step = step.value(b);
            let step = broadcast(b, step, width);
            lanes = arith::muli(b, lanes, step);
        }
        let base = self.base.value(b);
        let base = broadcast(b, base, width);
        arith::addi(b, base, lanes)
    }

    fn free(b: &mut Builder<'c>, name: &str, lhs: Self, rhs: Self, width: i64) -> Self {
        let (lhs, rhs) = (lhs.vector(b, width), rhs.vector(b, width));
        let ty = lhs.ty();
        Self { base: Num::Const(0), across: Across::Free(b.value(name, &[lhs, rhs], ty, &[])) }
    }

    /// `self + other`.
    pub fn add(self, b: &mut Builder<'c>, other: Self, width: i64) -> Self {
        let across = match (self.across, other.across) {
            (Across::Free(_), _) | (_, Across::Free(_)) => return Self::free(b, arith::AddI::NAME, self, other, width),
            (Across::Uniform, across) | (across, Across::Uniform) => across,
            (Across::Step(x), Across::Step(y)) => Across::Step(x.add(b, y)),
        };
        Self { base: self.base.add(b, other.base), across }
    }

    /// `self * factor`.
    pub fn scale(self, b: &mut Builder<'c>, factor: Num<'c>, width: i64) -> Self {
        let across = match self.across {
            Across::Uniform => Across::Uniform,
            Across::Step(step) => Across::Step(step.mul(b, factor)),
            Across::Free(_) => return Self::free(b, arith::MulI::NAME, self, Self::uniform(factor), width),
        };
        Self { base: self.base.mul(b, factor), across }
    }
}

/// Evaluates an affine expression at a point, for all lanes.
pub fn evaluate<'c>(b: &mut Builder<'c>, grid: &Grid<'_, 'c>, expr: AffineExpr<'c>) -> Index<'c> {
    match expr.kind() {
        AffineKind::Constant(number) => Index::uniform(Num::Const(number)),
        AffineKind::Symbol(symbol) => Index::uniform(Num::Value(grid.symbols[symbol])),
        AffineKind::Dim(dim) => match grid.point[dim] {
            Some(Coord { base, lanes: false, .. }) => Index::uniform(base),
            Some(Coord { base, lanes: true, .. }) => Index { base, across: Across::Step(Num::Const(1)) },
            None => Index::uniform(Num::Const(0)),
        },
        AffineKind::Add(lhs, rhs) => {
            let (lhs, rhs) = (evaluate(b, grid, lhs), evaluate(b, grid, rhs));
            lhs.add(b, rhs, grid.width)
        }
        AffineKind::Mul(lhs, rhs) => {
            let (lhs, rhs) = (evaluate(b, grid, lhs), evaluate(b, grid, rhs));
            match (lhs.across, rhs.across) {
                (_, Across::Uniform) => lhs.scale(b, rhs.base, grid.width),
                (Across::Uniform, _) => rhs.scale(b, lhs.base, grid.width),
                _ => Index::free(b, arith::MulI::NAME, lhs, rhs, grid.width),
            }
        }
        AffineKind::FloorDiv(lhs, rhs) => match in_block(b, grid, lhs, rhs) {
            Some((quotient, _)) => quotient,
            None => divide(b, grid, lhs, rhs, Num::floor_div, arith::FloorDivSI::NAME),
        },
        AffineKind::CeilDiv(lhs, rhs) => divide(b, grid, lhs, rhs, Num::ceil_div, arith::CeilDivSI::NAME),
        AffineKind::Mod(lhs, rhs) => {
            if let Some((_, remainder)) = in_block(b, grid, lhs, rhs) {
                return remainder;
            }
            let (left, right) = (evaluate(b, grid, lhs), evaluate(b, grid, rhs));
            match (left.across, right.across) {
                (Across::Uniform, Across::Uniform) => Index::uniform(left.base.modulo(b, right.base)),
                _ => {
                    let quotient = Index::free(b, arith::FloorDivSI::NAME, left, right, grid.width);
                    let whole = Index::free(b, arith::MulI::NAME, quotient, right, grid.width);
                    Index::free(b, arith::SubI::NAME, left, whole, grid.width)
                }
            }
        }
    }
}

/// Quotient and remainder of a dim by a number, when its lanes are in an aligned block that the division does not cut.
fn in_block<'c>(b: &mut Builder<'c>, grid: &Grid<'_, 'c>, lhs: AffineExpr<'c>, rhs: AffineExpr<'c>) -> Option<(Index<'c>, Index<'c>)> {
    let AffineKind::Dim(dim) = lhs.kind() else { return None };
    let (divisor, coord) = (rhs.as_constant()?, grid.point[dim]?);
    let InBlock { start, size, offset } = coord.block?;
    let (width, across) = if coord.lanes { (grid.width, Across::Step(Num::Const(1))) } else { (1, Across::Uniform) };
    let number = Num::Const(divisor);
    if size % divisor == 0 {
        let within = offset % divisor;
        if within + width > divisor {
            return None;
        }
        let quotient = start.floor_div(b, number).add(b, Num::Const(offset / divisor));
        return Some((Index::uniform(quotient), Index { base: Num::Const(within), across }));
    }
    if divisor % size != 0 {
        return None;
    }
    let quotient = start.floor_div(b, number);
    let base = start.modulo(b, number).add(b, Num::Const(offset));
    Some((Index::uniform(quotient), Index { base, across }))
}

fn divide<'c>(
    b: &mut Builder<'c>,
    grid: &Grid<'_, 'c>,
    lhs: AffineExpr<'c>,
    rhs: AffineExpr<'c>,
    scalar: impl Fn(Num<'c>, &mut Builder<'c>, Num<'c>) -> Num<'c>,
    vector: &str,
) -> Index<'c> {
    let (lhs, rhs) = (evaluate(b, grid, lhs), evaluate(b, grid, rhs));
    match (lhs.across, rhs.across) {
        (Across::Uniform, Across::Uniform) => Index::uniform(scalar(lhs.base, b, rhs.base)),
        _ => Index::free(b, vector, lhs, rhs, grid.width),
    }
}

/// Copies a scalar op for all lanes: as it is when its operands are uniform, else on vectors.
pub fn spread<'c>(b: &mut Builder<'c>, op: Op<'c>, operands: &[Value<'c>], width: i64) -> Vec<Value<'c>> {
    if !operands.iter().any(|operand| operand.ty().is_vector()) {
        return b.clone_op(op, operands).results();
    }
    let operands: Vec<_> = operands.iter().map(|&operand| in_lanes(b, operand, width)).collect();
    let cx = b.cx();
    let results: Vec<_> = op.result_types().into_iter().map(|ty| cx.vector(&[width], ty)).collect();
    let attrs = op.attrs();
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    b.op(OpSpec { name: op.name(), operands: &operands, results: &results, attrs: &attrs, ..OpSpec::default() }).results()
}

/// A value in all lanes.
pub fn in_lanes<'c>(b: &mut Builder<'c>, value: Value<'c>, width: i64) -> Value<'c> {
    if value.ty().is_vector() { value } else { broadcast(b, value, width) }
}

/// `value` where a condition holds, else `other`.
pub fn select<'c>(b: &mut Builder<'c>, condition: Value<'c>, value: Value<'c>, other: Value<'c>, width: i64) -> Value<'c> {
    if [value, other].into_iter().any(|value| value.ty().is_vector() && complex_lanes::is_complex(value)) {
        return complex_lanes::select(b, condition, value, other, width);
    }
    arith::select(b, condition, value, other)
}

/// Combines two i1 conditions, either of which may be absent (true), on lanes when one is.
pub fn both<'c>(b: &mut Builder<'c>, lhs: Option<Value<'c>>, rhs: Option<Value<'c>>, width: i64) -> Option<Value<'c>> {
    match (lhs, rhs) {
        (None, other) | (other, None) => other,
        (Some(lhs), Some(rhs)) => {
            let vector = lhs.ty().is_vector() || rhs.ty().is_vector();
            let (lhs, rhs) = if vector { (in_lanes(b, lhs, width), in_lanes(b, rhs, width)) } else { (lhs, rhs) };
            Some(arith::andi(b, lhs, rhs))
        }
    }
}

/// `0 <= index < extent`, for all lanes.
pub fn inside<'c>(b: &mut Builder<'c>, index: Index<'c>, extent: Num<'c>, width: i64) -> Value<'c> {
    let extent = extent.value(b);
    if let Across::Uniform = index.across {
        let base = index.base.value(b);
        return arith::cmpi(b, CmpIPredicate::Ult, base, extent);
    }
    let (index, extent) = (index.vector(b, width), broadcast(b, extent, width));
    arith::cmpi(b, CmpIPredicate::Ult, index, extent)
}

/// Zero for masked-off reads.
pub fn zero_of<'c>(b: &mut Builder<'c>, element: ElementType) -> Value<'c> {
    let ty = strata_dialects::loops::elements::register_type(b.cx(), element);
    if element.is_complex() {
        let part = if element == ElementType::C64 { b.cx().f32() } else { b.cx().f64() };
        let zero = b.const_float(part, 0.0);
        return complex::create(b, zero, zero, ty);
    }
    memory::zero(b, ty)
}
