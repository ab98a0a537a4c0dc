//! What the rules of this folder are written in: patterns that ask [`Dims`] for the sizes of tensors.

use crate::analysis::{Dims, Expr};
use strata_core::ir::{DYNAMIC, Op, Type, Value};
use strata_core::remark::Remarks;
use strata_core::rewrite::{NoMatch, Patterns, Rewriter, apply_in_order};
use strata_dialects::prim;

/// What a rule gives: the value that takes the place of the op's one result, or why there is none.
pub type Simplified<'c> = Result<Value<'c>, NoMatch>;

/// A rewriter that knows all sizes.
pub type SizedRewriter<'c> = Rewriter<'c, Dims<'static>>;

/// Patterns that may ask for sizes.
pub type SizedPatterns<'c> = Patterns<'c, Dims<'static>>;

/// Building what depends on sizes.
pub trait BuildSized<'c> {
    /// The size of each unknown dimension of a type, where `of` says which dimension of which tensor has that size.
    fn sizes(&mut self, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Vec<Value<'c>>;

    /// The size of a dimension, by what it was computed from where that is known: asking the tensor would keep it in memory.
    fn dim(&mut self, tensor: Value<'c>, dim: usize) -> Value<'c>;

    /// Builds index arithmetic that computes a size.
    fn emit(&mut self, size: &Expr) -> Value<'c>;

    /// A reshape of a tensor to a type whose unknown sizes are as `of` says.
    fn reshape(&mut self, x: Value<'c>, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Value<'c>;
}

impl<'c> BuildSized<'c> for SizedRewriter<'c> {
    fn sizes(&mut self, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Vec<Value<'c>> {
        let shape = ty.shape();
        let unknown = (0..shape.len()).filter(|&dim| shape[dim] == DYNAMIC);
        unknown.map(of).map(|(tensor, dim)| self.dim(tensor, dim)).collect()
    }

    fn dim(&mut self, tensor: Value<'c>, dim: usize) -> Value<'c> {
        let (dims, builder) = self.analysis_and_builder();
        let place = builder.next_op();
        let known = dims.sizes(tensor).get(dim).cloned().filter(|size| place.is_some_and(|op| dims.is_available(size, op)));
        if let Some(size) = known {
            return self.emit(&size);
        }
        let (index, attr) = (self.cx().index(), self.cx().i64_attr(dim as i64));
        self.value(prim::Dim::NAME, &[tensor], index, &[("dim", attr)])
    }

    fn emit(&mut self, size: &Expr) -> Value<'c> {
        let (dims, builder) = self.analysis_and_builder();
        let value = dims.emit(builder, size);
        dims.define(value, size);
        value
    }

    fn reshape(&mut self, x: Value<'c>, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Value<'c> {
        let sizes = self.sizes(ty, of);
        self.value(prim::Reshape::NAME, &[&[x], sizes.as_slice()].concat(), ty, &[])
    }
}

/// `value` in place of the result of `op`, when the types allow that.
pub fn same_type<'c>(op: Op<'c>, value: Value<'c>) -> Simplified<'c> {
    if value.ty() == op.result(0).ty() { Ok(value) } else { Err("the types differ".into()) }
}

/// The pass of a file of rules: the struct with its options, and `run` for tests. The rules are what the file's `rules` adds.
macro_rules! simplification {
    ($(#[$doc:meta])* pub struct $name:ident: dependents($($dialect:literal),*);) => {
        $(#[$doc])*
        #[derive(Pass)]
        #[pass(anchor = "func.func", dependents($($dialect),*))]
        pub struct $name {
            /// Rewrites.
            rewrites: Counter,
        }

        impl Pass for $name {
            fn run<'c>(&self, op: strata_core::ir::Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
                self.rewrites.add($crate::prim::simplify::simplify(op, cx.remarks(), rules));
                Ok(())
            }
        }

        /// Runs the pass on a function; gives the number of rewrites.
        pub fn run(function: strata_core::ir::Op<'_>) -> usize {
            $crate::prim::simplify::simplify(function, Default::default(), rules)
        }
    };
}
pub(super) use simplification;

/// Applies the patterns that `rules` adds in a function until none matches. Gives the number of rewrites.
pub fn simplify<'c>(function: Op<'c>, remarks: Remarks, rules: impl FnOnce(&mut SizedPatterns<'c>)) -> usize {
    let mut patterns = SizedPatterns::new(function.cx());
    rules(patterns.remarks(remarks));
    apply_in_order(function, patterns)
}
