//! Applies rules: blocks in order, so that operands are simplified before their users, until nothing changes.
//!
//! Unlike MLIR's greedy driver it hands the sizes of tensors to its rules, which most rules on views ask for.

use crate::analysis::{Dims, Expr};
use std::collections::HashSet;
use strata_core::ir::{Attr, Block, Builder, Cx, DYNAMIC, Op, OpSpec, Type, Value};
use strata_core::rewrite::NoMatch;
use strata_core::upstream::arith;
use strata_dialects::prim;

/// What a rule gives: the value that takes the place of the op's one result, or why there is none.
pub type Simplified<'c> = Result<Value<'c>, NoMatch>;

/// A named rule on ops of one name.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name in remarks.
    pub name: &'static str,
    /// Full name of the ops it looks at; empty for all.
    pub root: &'static str,
    /// The rule. It must not build anything before it is sure to succeed.
    pub rewrite: for<'a, 'c> fn(&mut Site<'a, 'c>, Op<'c>) -> Simplified<'c>,
}

/// Where a rule works: builds ops before the matched one and knows all sizes.
pub struct Site<'a, 'c> {
    /// Sizes of all tensors.
    pub dims: &'a mut Dims<'c>,
    builder: Builder<'c>,
    at: Op<'c>,
    made: Vec<Op<'c>>,
}

impl<'c> Site<'_, 'c> {
    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.builder.cx()
    }

    /// Builds an op with one result.
    pub fn value(&mut self, name: &str, operands: &[Value<'c>], result: Type<'c>, attrs: &[(&str, Attr<'c>)]) -> Value<'c> {
        let op = self.builder.op(OpSpec { name, operands, results: &[result], attrs, ..OpSpec::default() });
        self.dims.visit(op);
        self.made.push(op);
        op.result(0)
    }

    /// The size of each unknown dimension of a type, where `of` says which dimension of which tensor has that size.
    pub fn sizes(&mut self, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Vec<Value<'c>> {
        let shape = ty.shape();
        let unknown = (0..shape.len()).filter(|&dim| shape[dim] == DYNAMIC);
        unknown.map(of).map(|(tensor, dim)| self.dim(tensor, dim)).collect()
    }

    /// The size of a dimension, said by what it was computed from where that is known: asking the tensor would keep it in memory.
    pub fn dim(&mut self, tensor: Value<'c>, dim: usize) -> Value<'c> {
        let sizes = self.dims.sizes(tensor);
        if let Some(size) = sizes.get(dim).filter(|size| self.dims.is_available(size, self.at)) {
            return self.emit(size);
        }
        let (index, attr) = (self.cx().index(), self.cx().i64_attr(dim as i64));
        self.value(prim::Dim::NAME, &[tensor], index, &[("dim", attr)])
    }

    /// Builds index arithmetic that computes a size.
    pub fn emit(&mut self, size: &Expr) -> Value<'c> {
        let value = self.dims.emit(&mut self.builder, size);
        self.dims.define(value, size);
        value
    }

    /// A reshape of a tensor to a type whose unknown sizes are as `of` says.
    pub fn reshape(&mut self, x: Value<'c>, ty: Type<'c>, of: impl Fn(usize) -> (Value<'c>, usize)) -> Value<'c> {
        let sizes = self.sizes(ty, of);
        self.value(prim::Reshape::NAME, &[&[x], sizes.as_slice()].concat(), ty, &[])
    }

    /// `value` in place of the result of `op`, when the types allow that.
    pub fn same_type(&self, op: Op<'c>, value: Value<'c>) -> Simplified<'c> {
        if value.ty() == op.result(0).ty() { Ok(value) } else { Err("the types differ".into()) }
    }
}

/// The pass of a file of rules: the struct with its options, and `run` for tests. The rules are the file's `RULES`.
macro_rules! simplification {
    ($(#[$doc:meta])* pub struct $name:ident: dependents($($dialect:literal),*);) => {
        $(#[$doc])*
        #[derive(Pass)]
        #[pass(anchor = "func.func", dependents($($dialect),*))]
        pub struct $name {
            /// Say for every rule why it does not match, as remarks.
            remarks: bool,
            /// Rewrites.
            rewrites: Counter,
        }

        impl Pass for $name {
            fn run<'c>(&self, op: strata_core::ir::Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
                self.rewrites.add($crate::prim::simplify::simplify(op, RULES, self.remarks));
                Ok(())
            }
        }

        /// Runs the pass on a function; gives the number of rewrites.
        pub fn run(function: strata_core::ir::Op<'_>) -> usize {
            $crate::prim::simplify::simplify(function, RULES, false)
        }
    };
}
pub(super) use simplification;

/// Applies rules in a function until none matches; `remarks` makes every "no" a remark. Gives the number of rewrites.
pub fn simplify(function: Op<'_>, rules: &[Rule], remarks: bool) -> usize {
    let mut driver = Driver { dims: Dims::of(function), rules, remarks, dead: HashSet::new(), rewrites: 0 };
    // One sweep is enough unless a rule looks past its operands; the bound only guards against rules that undo each other.
    for _ in 0..8 {
        let before = driver.rewrites;
        driver.region_ops(function);
        if driver.rewrites == before {
            break;
        }
        driver.remarks = false;
    }
    let Driver { dead, rewrites, .. } = driver;
    erase(function, &dead);
    rewrites
}

struct Driver<'a, 'c> {
    dims: Dims<'c>,
    rules: &'a [Rule],
    remarks: bool,
    /// Replaced ops. They are erased at the end, so that no new op takes the address of an old one that `dims` knows.
    dead: HashSet<Op<'c>>,
    rewrites: usize,
}

impl<'c> Driver<'_, 'c> {
    fn region_ops(&mut self, op: Op<'c>) {
        for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
            for op in block.ops() {
                self.region_ops(op);
                self.visit(op);
            }
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        if self.dead.contains(&op) {
            return;
        }
        for rule in self.rules.iter().filter(|rule| rule.root.is_empty() || op.is(rule.root)) {
            let mut site = Site { dims: &mut self.dims, builder: Builder::before(op), at: op, made: Vec::new() };
            match (rule.rewrite)(&mut site, op) {
                Ok(value) => {
                    let made = site.made;
                    op.result(0).replace_all_uses_with(value);
                    self.dead.insert(op);
                    self.rewrites += 1;
                    made.into_iter().for_each(|op| self.visit(op));
                    return;
                }
                Err(reason) if self.remarks => op.remark(&format!("'{}' does not match: {}", rule.name, reason.0)),
                Err(_) => {}
            }
        }
    }
}

/// Erases replaced ops, and pure ops that nothing uses any more.
fn erase<'c>(op: Op<'c>, dead: &HashSet<Op<'c>>) {
    for block in op.regions().into_iter().flat_map(|region| region.blocks()).collect::<Vec<Block<'c>>>() {
        for op in block.ops().into_iter().rev() {
            let unused = op.num_results() > 0 && op.is_unused();
            if dead.contains(&op) || (unused && (op.dialect() == "prim" || op.isa::<arith::Constant>())) {
                op.erase();
            } else {
                erase(op, dead);
            }
        }
    }
}
