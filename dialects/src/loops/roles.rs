//! The parts that the dims and operands of a contraction play.

use super::access::{Stride, stride};
use super::view::product_of_known;
use super::view::{KernelView, StageView};
use strata_core::ir::{AffineKind, AffineMap, ElementType, Op};
use strata_core::upstream::arith;

/// Rows of dot products side by side: with 32 registers their sums leave room for what is multiplied. 4 and 6 rows of 1,024 steps take as
/// long as the memory of the other operand does, a third of what they take with a copy of it.
const ROWS_OF_DOTS: i64 = 8;
/// Steps of the sum that pay for adding up the lanes behind it.
const STEPS_OF_DOTS: i64 = 32;
/// Operations that may follow each sum, which has no lanes.
const OPS_OF_A_SUM: usize = 4;

/// A product of two operands, summed, of which one moves along the lanes.
pub struct Product<'k, 'c> {
    /// The stage that reduces.
    pub stage: &'k StageView<'c>,
    /// The outer dim that lanes run along: the last one of the result.
    pub lanes: usize,
    /// The operand that moves along the lanes; the other one is `1 - wide`.
    pub wide: usize,
}

impl<'k, 'c> Product<'k, 'c> {
    /// A kernel's only reduction, when it is such a product and its results fit registers.
    pub fn of(kernel: &'k KernelView<'c>) -> Option<Self> {
        let mut reductions = kernel.stages.iter().filter(|stage| !stage.reduce.is_empty());
        let stage = reductions.next().filter(|_| reductions.next().is_none())?;
        let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
        // What stays the same throughout the sum is no factor of a product, but a number that all elements are taken with.
        let summed = stage.maps.iter().all(|map| stage.reduce.iter().any(|&dim| uses(*map, dim)));
        let plain = stage.maps.len() == 2 && summed && !arg && !stage.is_tile() && !stage.guarded.contains(&true);
        if !plain || kernel.stages.iter().any(|stage| stage.is_scatter() || stage.scan.is_some() || !covers(kernel, stage)) {
            return None;
        }
        let lanes = *kernel.stages.last()?.result_dims().last()?;
        let wide = match [0, 1].map(|operand| uses(stage.maps[operand], lanes)) {
            [true, false] => 0,
            [false, true] => 1,
            _ => return None,
        };
        kernel.outer.contains(&lanes).then_some(Self { stage, lanes, wide })
    }

    /// How often each element of an operand is used.
    pub fn reuse(&self, kernel: &KernelView<'_>, operand: usize) -> Option<i64> {
        reuse(kernel, self.stage.maps[operand])
    }
}

/// How often each element is used that is read at an access.
fn reuse(kernel: &KernelView<'_>, map: AffineMap<'_>) -> Option<i64> {
    let dims = kernel.outer.iter().filter(|dim| !uses(map, **dim));
    product_of_known(dims.map(|&dim| kernel.static_size(dim)))
}

/// A product of two operands, summed: one operand moves along the lanes, the other along the rows of a register block.
pub struct Roles<'k, 'c> {
    /// The stage that reduces.
    pub stage: &'k StageView<'c>,
    /// The outer dim that lanes run along: the last one of the result.
    pub lanes: usize,
    /// The outer dim of rows; only the other operand moves along it.
    pub rows: Option<usize>,
    /// The operand that moves along the lanes; the other one is `1 - wide`.
    pub wide: usize,
}

impl<'k, 'c> Roles<'k, 'c> {
    /// The roles in a kernel's [`Product`], when it is not taken under a window: elements are read again at other steps of the sum there, and a
    /// copy would hold them many times.
    pub fn new(kernel: &'k KernelView<'c>) -> Option<Self> {
        let Product { stage, lanes, wide } = Product::of(kernel)?;
        let slides =
            stage.maps.iter().flat_map(|map| map.results()).any(|expr| stage.domain.iter().filter(|dim| expr.uses_dim(**dim)).count() > 1);
        if slides {
            return None;
        }
        let moves = |dim: usize| [uses(stage.maps[0], dim), uses(stage.maps[1], dim)];
        let other = |dim: &usize| moves(*dim)[1 - wide] && !moves(*dim)[wide] && kernel.static_size(*dim) != Some(1);
        let rows = stage.parallel().into_iter().filter(other).max_by_key(|&dim| kernel.static_size(dim).unwrap_or(i64::MAX));
        Some(Self { stage, lanes, rows, wide })
    }

    /// How an operand moves along a dim.
    pub fn stride(&self, operand: usize, dim: usize) -> Stride {
        stride(self.stage.maps[operand], self.stage.op.operand(operand), dim)
    }

    /// The size of the panels in which the wide operand lies along the lanes, when it does.
    pub fn panel(&self) -> Option<i64> {
        panel_of(self.stage.maps[self.wide], self.lanes)
    }

    /// Whether a few rows meet an operand that lies along the sum, as they do: lanes run along the sum then, each vector of the operand is used
    /// for all rows where it lies, and what follows is done for one sum at a time.
    pub fn are_dot_products(&self, kernel: &KernelView<'_>) -> bool {
        let &[last] = self.stage.reduce.as_slice() else { return false };
        let along = (0..2).all(|operand| self.stride(operand, last) == Stride::One);
        let few = self.rows.is_none_or(|dim| kernel.static_size(dim).is_some_and(|rows| rows <= ROWS_OF_DOTS));
        let long = kernel.static_size(last).is_none_or(|size| size >= STEPS_OF_DOTS);
        let plain = self.stage.op.str("reducer").as_deref() == Some("sum") && self.stage.is_register() && !self.stage.is_in_parts();
        let follow = kernel.stages.iter().filter(|stage| stage.reduce.is_empty());
        let light = follow.map(|stage| stage.op.body(0).ops().len() - 1).sum::<usize>() <= OPS_OF_A_SUM;
        along && few && long && plain && light
    }

    /// How often each element of an operand is used.
    pub fn reuse(&self, kernel: &KernelView<'_>, operand: usize) -> Option<i64> {
        reuse(kernel, self.stage.maps[operand])
    }
}

/// Whether every outer loop of the kernel is one of the stage's dims, and the other way around but for what it reduces.
fn covers(kernel: &KernelView<'_>, stage: &StageView<'_>) -> bool {
    stage.parallel().len() == kernel.outer.len()
}

/// Whether an access moves along a dim.
pub fn uses(map: AffineMap<'_>, dim: usize) -> bool {
    map.results().iter().any(|expr| expr.uses_dim(dim))
}

/// `p` when an access has `dim floordiv p` as some index and `dim mod p` as the last one.
fn panel_of(map: AffineMap<'_>, dim: usize) -> Option<i64> {
    let by = |expr: &strata_core::ir::AffineExpr<'_>, modulo: bool| match expr.kind() {
        AffineKind::Mod(lhs, rhs) if modulo && lhs.kind() == AffineKind::Dim(dim) => rhs.as_constant(),
        AffineKind::FloorDiv(lhs, rhs) if !modulo && lhs.kind() == AffineKind::Dim(dim) => rhs.as_constant(),
        _ => None,
    };
    let results = map.results();
    let size = by(results.last()?, true)?;
    results.iter().any(|expr| by(expr, false) == Some(size)).then_some(size)
}

/// What widens each of a stage's two operands, where its body does that, multiplies them, and nothing else.
pub fn widened_factors<'c>(stage: Op<'c>) -> Option<[Op<'c>; 2]> {
    let body = stage.body(0);
    let ops = body.ops();
    let &[first, second, product, result] = ops.as_slice() else { return None };
    let of = |at: usize| [first, second].into_iter().find(|op| op.num_operands() == 1 && op.operand(0) == body.arg(at));
    let factors = [of(0)?, of(1)?];
    let multiplies = product.isa::<arith::MulF>() || product.isa::<arith::MulI>();
    let both = factors[0] != factors[1] && factors.iter().all(|factor| product.operands().contains(&factor.result(0)));
    (multiplies && both && result.operand(0) == product.result(0)).then_some(factors)
}

/// Whether an op converts a `bf16` to `f32`.
pub fn widens_half(op: &Op<'_>) -> bool {
    op.isa::<arith::ExtF>()
        && op.operand(0).ty().element_type() == Some(ElementType::BF16)
        && op.result(0).ty().element_type() == Some(ElementType::F32)
}
