//! `prim` ops, from the meanings that the dialect documents.

mod constraints;
mod contract;
mod index;
mod pointwise;
mod random;
mod reduce;
mod view;

use strata_core::ir::{DYNAMIC, Op};
use strata_dialects::prim;

pub(super) use index::conflict;
pub(super) use reduce::reducer;

use super::run::{Machine, dtype_of, single};
use super::value::{InterpError, Results, Value, fail};
use super::{DType, Scalar, Tensor};

/// An op with its operands' values.
pub(super) struct Node<'c> {
    pub op: Op<'c>,
    pub operands: Vec<Value>,
}

/// How an op is computed.
type Arm = fn(&Node<'_>) -> Results;

/// Arms by name; pointwise operators are in [`pointwise`].
#[rustfmt::skip]
const ARMS: &[(&str, Arm)] = &[
    (prim::ArgReduce::NAME, reduce::arg_reduce),
    (prim::Broadcast::NAME, view::broadcast),
    (prim::Concat::NAME, view::concat),
    (prim::Constant::NAME, |n| single(super::scalar::constant(n.op)?)),
    (prim::Conv::NAME, contract::conv),
    (prim::Dim::NAME, view::dim),
    (prim::Dot::NAME, contract::dot),
    (prim::DynamicSlice::NAME, index::dynamic_slice),
    (prim::DynamicUpdate::NAME, index::dynamic_update),
    (prim::Gather::NAME, index::gather),
    (prim::Iota::NAME, view::iota),
    (prim::Item::NAME, |n| single(Value::Scalar(n.tensor(0)?.item()?))),
    (prim::Library::NAME, super::library::prim),
    (prim::LinearTransform::NAME, contract::linear_transform),
    (prim::Pad::NAME, view::pad),
    (prim::Reduce::NAME, reduce::reduce),
    (prim::Reshape::NAME, view::reshape),
    (prim::Reverse::NAME, view::reverse),
    (prim::Rng::NAME, random::rng),
    (prim::Scan::NAME, reduce::scan),
    (prim::Scatter::NAME, index::scatter),
    (prim::SegmentReduce::NAME, reduce::segment_reduce),
    (prim::Slice::NAME, view::slice),
    (prim::SlidingWindow::NAME, view::window),
    (prim::SoftmaxDot::NAME, contract::softmax_dot),
    (prim::Sort::NAME, reduce::sort),
    (prim::Splat::NAME, |n| single(Value::Tensor(Tensor::scalar(n.dtype(0)?, n.scalar(0)?)))),
    (prim::Transpose::NAME, view::transpose),
];

/// Runs an op.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    let operands = op.operands().into_iter().map(|v| m.get(v)).collect::<Result<_, _>>()?;
    let node = Node { op, operands };
    if op.isa::<prim::Fusion>() {
        let block = op.regions().first().and_then(|r| r.entry()).ok_or_else(|| fail("an empty fusion"))?;
        for (at, value) in block.args().into_iter().zip(node.operands) {
            m.bind(at, value)?;
        }
        let yielded = m.block(block)?;
        return yielded.iter().map(|s| m.load(s)).collect();
    }
    constraints::check(&node)?;
    if let Some(result) = pointwise::run(&node)? {
        return single(Value::Tensor(result));
    }
    match ARMS.binary_search_by(|(name, _)| name.cmp(&op.name())) {
        Ok(k) => ARMS[k].1(&node),
        Err(_) => super::own::run(m, op),
    }
}

impl Node<'_> {
    /// An operand as a tensor.
    pub fn tensor(&self, k: usize) -> Result<&Tensor, InterpError> {
        self.operands.get(k).ok_or_else(|| fail(format!("there is no operand {k}")))?.tensor()
    }

    /// All operands from one on, as tensors.
    pub fn tensors(&self, from: usize) -> Result<Vec<&Tensor>, InterpError> {
        self.operands.iter().skip(from).map(Value::tensor).collect()
    }

    /// An operand as a number.
    pub fn scalar(&self, k: usize) -> Result<Scalar, InterpError> {
        match self.operands.get(k) {
            Some(Value::Scalar(s)) => Ok(*s),
            Some(Value::Tensor(t)) => t.item(),
            _ => Err(fail(format!("operand {k} is not a number"))),
        }
    }

    /// Operands from one on, as sizes.
    pub fn ints(&self, from: usize) -> Result<Vec<i64>, InterpError> {
        (from..self.operands.len()).map(|k| i64::try_from(self.scalar(k)?.int()).map_err(|_| fail("a size is out of range"))).collect()
    }

    /// The element type of a result.
    pub fn dtype(&self, k: usize) -> Result<DType, InterpError> {
        dtype_of(self.op.result(k).ty())
    }

    /// A list of integers.
    pub fn list(&self, name: &str) -> Result<Vec<i64>, InterpError> {
        self.op.ints(name).ok_or_else(|| fail(format!("attribute `{name}` is missing")))
    }

    /// A list of dimensions of a tensor of this rank.
    pub fn dims(&self, name: &str, rank: usize) -> Result<Vec<usize>, InterpError> {
        self.list(name)?
            .into_iter()
            .map(|d| usize::try_from(d).ok().filter(|&d| d < rank).ok_or_else(|| fail(format!("`{name}` names dimension {d} of {rank}"))))
            .collect()
    }

    /// One dimension of a tensor of this rank.
    pub fn dim(&self, rank: usize) -> Result<usize, InterpError> {
        self.op.int("dim").and_then(|d| usize::try_from(d).ok()).filter(|&d| d < rank).ok_or_else(|| fail("there is no such dimension"))
    }

    /// A string.
    pub fn text(&self, name: &str) -> Result<String, InterpError> {
        self.op.str(name).ok_or_else(|| fail(format!("attribute `{name}` is missing")))
    }

    /// The result's sizes: known ones from its type, the others from the operands from one on.
    pub fn shape(&self, from: usize) -> Result<Vec<usize>, InterpError> {
        let mut given = self.ints(from)?.into_iter();
        let sizes = fill(&self.op.result(0).ty().shape(), &mut given)?;
        natural(&sizes)
    }
}

/// Replaces unknown entries by given ones, in order.
fn fill(entries: &[i64], given: &mut impl Iterator<Item = i64>) -> Result<Vec<i64>, InterpError> {
    entries.iter().map(|&e| if e == DYNAMIC { given.next().ok_or_else(|| fail("an unknown size is not given")) } else { Ok(e) }).collect()
}

/// Sizes that are not negative.
fn natural(sizes: &[i64]) -> Result<Vec<usize>, InterpError> {
    sizes.iter().map(|&s| usize::try_from(s).map_err(|_| fail(format!("the size {s} is negative")))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn arms_are_sorted() {
        assert!(super::ARMS.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
