//! What the typed views made by `#[op]` have in common, and the helpers that their accessors call.

use super::{Arity, AttrSpec, OpDef};
use crate::ir::{Attr, Builder, Op};
use std::ops::Range;

/// A Rust type that stands for one kind of op, ours or upstream's.
pub trait OpName {
    /// The op's full name.
    const NAME: &'static str;
}

/// A typed view of one kind of op: `Add<'c>`. Implemented by `#[op]`, for the view at `'static`.
pub trait OpType {
    /// The op's definition.
    const DEF: OpDef;
    /// The view for another lifetime.
    type At<'c>: Copy;
    /// The view, when `op` is of this kind.
    fn cast(op: Op<'_>) -> Option<Self::At<'_>>;
}

impl<'c> Op<'c> {
    /// Whether this is an op of that kind: `op.isa::<arith::AddI>()`.
    pub fn isa<T: OpName>(self) -> bool {
        self.is(T::NAME)
    }

    /// The op as the typed view `T`, when it is of that kind: `op.as_::<Add>()`.
    pub fn as_<T: OpType>(self) -> Option<T::At<'c>> {
        T::cast(self)
    }
}

/// The operands that belong to group `index` of an op with these groups.
///
/// With one group of unknown size its size follows from the others; with more, `segments` tells them.
pub fn group(op: Op<'_>, groups: &[Arity], index: usize) -> Range<usize> {
    let total = op.num_operands();
    if groups.iter().filter(|arity| **arity != Arity::One).count() > 1 {
        let sizes = op.ints("segments").unwrap_or_default();
        let size = |index: usize| sizes.get(index).map_or(0, |size| usize::try_from(*size).unwrap_or(0));
        let start: usize = (0..index).map(size).sum();
        return start.min(total)..(start + size(index)).min(total);
    }
    let rest = total.saturating_sub(groups.iter().filter(|arity| **arity == Arity::One).count());
    let size = |arity: Arity| if arity == Arity::One { 1 } else { rest };
    let start: usize = groups[..index].iter().map(|arity| size(*arity)).sum();
    start..start + size(groups[index])
}

/// The attribute `segments` for groups of these sizes.
pub fn segments_attr<'c>(builder: &Builder<'c>, sizes: &[usize]) -> Attr<'c> {
    builder.cx().i64s_attr(&sizes.iter().map(|size| *size as i64).collect::<Vec<_>>())
}

/// The content of a required attribute. Panics when it is missing, which the verifier excludes.
pub fn attr_of<'c, S: AttrSpec>(op: Op<'c>, name: &str) -> S::Value<'c> {
    opt_attr_of::<S>(op, name).unwrap_or_else(|| panic!("'{}' has no attribute '{name}' that is {}", op.name(), S::KIND.name))
}

/// The content of an optional attribute.
pub fn opt_attr_of<'c, S: AttrSpec>(op: Op<'c>, name: &str) -> Option<S::Value<'c>> {
    S::read(op.attr(name)?)
}
