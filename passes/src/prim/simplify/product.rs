//! A product of tensors of one shape as a tree of factors, each with the dimensions that it really depends on.

use super::rewriter::{BuildSized, SizedRewriter};
use strata_core::ir::{Type, Value};
use strata_dialects::prim;

/// A tensor that a product reads, and which dimension of the product each of its dimensions is.
#[derive(Clone, Debug)]
pub struct Factor<'c> {
    /// The tensor before it was repeated.
    pub value: Value<'c>,
    /// The product's dimension for each of the tensor's.
    pub dims: Vec<usize>,
}

/// A product as the program multiplies it.
#[derive(Clone, Debug)]
pub enum Tree<'c> {
    /// A factor.
    Leaf(Factor<'c>),
    /// A multiplication, with the value that it gives.
    Node(Value<'c>, Box<[Tree<'c>; 2]>),
}

/// Multiplications that a product may have; more are left alone.
const MAX_DEPTH: usize = 16;

impl<'c> Tree<'c> {
    /// The product that a value is; a value that is none is its only factor.
    pub fn of(rewriter: &mut SizedRewriter<'c>, value: Value<'c>) -> Self {
        Self::read(rewriter, value, MAX_DEPTH)
    }

    fn read(rewriter: &mut SizedRewriter<'c>, value: Value<'c>, depth: usize) -> Self {
        match value.defining_op().filter(|op| op.isa::<prim::Mul>() && depth > 0) {
            Some(op) => {
                let (lhs, rhs) = (Self::read(rewriter, op.operand(0), depth - 1), Self::read(rewriter, op.operand(1), depth - 1));
                Self::Node(value, Box::new([lhs, rhs]))
            }
            None => Self::Leaf(Factor::of(rewriter, value)),
        }
    }

    /// All factors, in the order of the program.
    pub fn factors(&self) -> Vec<&Factor<'c>> {
        match self {
            Self::Leaf(factor) => vec![factor],
            Self::Node(_, parts) => parts.iter().flat_map(|part| part.factors()).collect(),
        }
    }

    /// The largest parts whose factors all satisfy a condition.
    pub fn parts(&self, holds: &dyn Fn(&Factor<'c>) -> bool) -> Vec<&Self> {
        if self.factors().into_iter().all(holds) {
            return vec![self];
        }
        match self {
            Self::Leaf(_) => Vec::new(),
            Self::Node(_, parts) => parts.iter().flat_map(|part| part.parts(holds)).collect(),
        }
    }
}

impl<'c> Factor<'c> {
    /// Looks through views that repeat elements or exchange dimensions.
    fn of(rewriter: &mut SizedRewriter<'c>, value: Value<'c>) -> Self {
        let mut factor = Self { value, dims: (0..value.ty().rank()).collect() };
        while let Some(before) = factor.before(rewriter) {
            factor = before;
        }
        factor
    }

    fn before(&self, rewriter: &mut SizedRewriter<'c>) -> Option<Self> {
        let op = self.value.defining_op()?;
        let list = |name: &str| -> Option<Vec<usize>> { op.ints(name)?.into_iter().map(|dim| usize::try_from(dim).ok()).collect() };
        let x = op.operands().first().copied();
        match op.name() {
            prim::Transpose::NAME => {
                let (x, perm) = (x?, list("perm")?);
                let mut dims = vec![0; perm.len()];
                for (to, &from) in perm.iter().enumerate() {
                    *dims.get_mut(from)? = *self.dims.get(to)?;
                }
                Some(Self { value: x, dims })
            }
            prim::Broadcast::NAME => {
                let (x, map) = (x?, list("dims")?);
                let (sizes, result) = (rewriter.analysis().sizes(x), rewriter.analysis().sizes(self.value));
                // A dimension of size 1 that is stretched would have to go first: `--simplify-views` sees to that.
                let stretched = map.iter().enumerate().any(|(dim, &to)| !rewriter.analysis().equal(&sizes[dim], &result[to]));
                let dims = map.iter().map(|&to| self.dims.get(to).copied()).collect::<Option<_>>()?;
                (!stretched).then_some(Self { value: x, dims })
            }
            _ => None,
        }
    }

    /// Whether it depends on one of the dimensions.
    pub fn uses_any(&self, dims: &[usize]) -> bool {
        self.dims.iter().any(|dim| dims.contains(dim))
    }
}

/// Some of the dimensions of a large tensor, in order: where a part of a product lives.
#[derive(Clone, Debug)]
pub struct Space<'c> {
    /// A value that has all the dimensions.
    pub whole: Value<'c>,
    /// Those of this space, ascending.
    pub dims: Vec<usize>,
}

impl<'c> Space<'c> {
    /// The space's tensor type.
    pub fn ty(&self) -> Type<'c> {
        let shape = self.whole.ty().shape();
        let sizes: Vec<i64> = self.dims.iter().map(|&dim| shape[dim]).collect();
        self.whole.ty().with_shape(&sizes)
    }

    /// A tensor whose dimensions are some of the space's, repeated along the others.
    pub fn fill(&self, rewriter: &mut SizedRewriter<'c>, factor: &Factor<'c>) -> Option<Value<'c>> {
        if factor.dims == self.dims {
            return Some(factor.value);
        }
        let map: Option<Vec<i64>> =
            factor.dims.iter().map(|dim| self.dims.iter().position(|have| have == dim).map(|at| at as i64)).collect();
        let map = rewriter.cx().i64s_attr(&map?);
        let sizes = rewriter.sizes(self.ty(), |dim| (self.whole, self.dims[dim]));
        Some(rewriter.value(prim::Broadcast::NAME, &[&[factor.value], sizes.as_slice()].concat(), self.ty(), &[("dims", map)]))
    }

    /// The product of a tree's factors; a tree that fills the whole tensor is there already.
    pub fn product(&self, rewriter: &mut SizedRewriter<'c>, tree: &Tree<'c>) -> Option<Value<'c>> {
        match tree {
            Tree::Node(value, _) if self.dims.len() == value.ty().rank() => Some(*value),
            Tree::Node(_, parts) => {
                let (lhs, rhs) = (self.product(rewriter, &parts[0])?, self.product(rewriter, &parts[1])?);
                Some(rewriter.value(prim::Mul::NAME, &[lhs, rhs], self.ty(), &[]))
            }
            Tree::Leaf(factor) => self.fill(rewriter, factor),
        }
    }
}
