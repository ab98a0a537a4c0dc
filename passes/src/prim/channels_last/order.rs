//! Which values are known in another order of their dims.

use std::collections::HashMap;
use strata_core::ir::{Builder, Op, Type, Value};
use strata_core::rewrite::Rewriter;
pub use strata_dialects::capture::inverse;
use strata_dialects::prim;

/// A value whose dim `k` is dim `perm[k]` of the value that it stands for.
#[derive(Clone, Debug)]
pub struct Ordered<'c> {
    /// The value in the new order.
    pub value: Value<'c>,
    /// The dim of before at each place.
    pub perm: Vec<usize>,
}

/// Values in the order of before with what they are in the new one.
#[derive(Default)]
pub struct Orders<'c> {
    known: HashMap<Value<'c>, Ordered<'c>>,
    /// Transposes made on the way, in order: those without users go again.
    made: Vec<Op<'c>>,
}

impl<'c> Orders<'c> {
    /// What a value is in another order, when it is known in one.
    pub fn of(&self, value: Value<'c>) -> Option<&Ordered<'c>> {
        self.known.get(&value)
    }

    /// Whether a value is there in an order, or is made in that as well as in its own.
    pub fn has_order(&self, value: Value<'c>, perm: &[usize]) -> bool {
        let made = value.defining_op();
        let free = made.is_some_and(|op| op.isa::<prim::Broadcast>() || op.isa::<prim::Constant>() || op.isa::<prim::Transpose>());
        free || self.known.get(&value).is_some_and(|known| known.perm == perm)
    }

    /// A value in the order `perm`: as it is known, or transposed.
    pub fn in_order(&mut self, b: &mut Builder<'c>, value: Value<'c>, perm: &[usize]) -> Value<'c> {
        if perm.is_sorted() {
            return value;
        }
        if let Some(known) = self.known.get(&value).filter(|known| known.perm == perm) {
            return known.value;
        }
        // A broadcast repeats along other dims just as well.
        if let Some(op) = value.defining_op().filter(|op| op.isa::<prim::Broadcast>()) {
            return broadcast(b, op, perm);
        }
        let transposed = transpose(b, value, perm);
        self.made.extend(transposed.defining_op());
        transposed
    }

    /// What `make` makes while a value is known in the order `perm`, to which it is transposed. Afterwards it is known as before.
    pub fn for_one<R>(
        &mut self,
        b: &mut Builder<'c>,
        value: Value<'c>,
        perm: &[usize],
        make: impl FnOnce(&mut Builder<'c>, &mut Self) -> Option<R>,
    ) -> Option<R> {
        let transposed = self.in_order(b, value, perm);
        let before = self.known.insert(value, Ordered { value: transposed, perm: perm.to_vec() });
        let made = make(b, self);
        match before {
            Some(before) => self.known.insert(value, before),
            None => self.known.remove(&value),
        };
        made
    }

    /// Puts a value in the new order in the place of an op's result: what wants the order of before reads a transpose.
    pub fn replace(&mut self, rewriter: &mut Rewriter<'c>, op: Op<'c>, found: Ordered<'c>) {
        if found.perm.is_sorted() {
            rewriter.replace(op, &[found.value]);
            return;
        }
        let back = transpose(rewriter, found.value, &inverse(&found.perm));
        self.made.extend(back.defining_op());
        rewriter.replace(op, &[back]);
        self.known.insert(back, found);
    }

    /// Asks the value in the new order for its size instead; says whether the op was such a question.
    pub fn resize(&self, rewriter: &mut Rewriter<'c>, op: Op<'c>) -> bool {
        let known = op.operands().first().and_then(|first| self.known.get(first)).filter(|_| op.isa::<prim::Dim>());
        let (Some(known), Some(dim)) = (known, op.int("dim")) else { return false };
        rewriter.set_operand(op, 0, known.value);
        rewriter.set_attr(op, "dim", op.cx().i64_attr(inverse(&known.perm)[dim as usize] as i64));
        true
    }

    /// Erases the transposes that nothing reads.
    pub fn erase_unused(self, rewriter: &mut Rewriter<'c>) {
        for op in self.made.into_iter().rev().filter(|op| op.is_unused()) {
            rewriter.erase(op);
        }
    }
}

/// A shape in another order.
pub fn reordered<T: Clone>(list: &[T], perm: &[usize]) -> Vec<T> {
    perm.iter().map(|&dim| list[dim].clone()).collect()
}

/// A type in another order.
pub fn reordered_type<'c>(ty: Type<'c>, perm: &[usize]) -> Type<'c> {
    ty.with_shape(&reordered(&ty.shape(), perm))
}

/// Dims as the attributes spell them.
pub fn spell(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&dim| dim as i64).collect()
}

/// A `prim.transpose`.
pub fn transpose<'c>(b: &mut Builder<'c>, value: Value<'c>, perm: &[usize]) -> Value<'c> {
    let perm_attr = b.cx().i64s_attr(&spell(perm));
    b.value(prim::Transpose::NAME, &[value], reordered_type(value.ty(), perm), &[("perm", perm_attr)])
}

/// A broadcast whose result has another order.
fn broadcast<'c>(b: &mut Builder<'c>, op: Op<'c>, perm: &[usize]) -> Value<'c> {
    let at = inverse(perm);
    let dims: Vec<i64> = op.ints("dims").unwrap_or_default().into_iter().map(|dim| at[dim as usize] as i64).collect();
    let result = op.result(0).ty();
    // One size for each unknown dim, in the order of the result.
    let unknown: Vec<usize> = (0..result.rank()).filter(|&dim| result.shape()[dim] == strata_core::ir::DYNAMIC).collect();
    let size = |dim: &usize| unknown.iter().position(|known| known == dim).map(|at| op.operand(1 + at));
    let operands: Vec<_> = std::iter::once(op.operand(0)).chain(perm.iter().filter_map(size)).collect();
    let attr = b.cx().i64s_attr(&dims);
    b.value(prim::Broadcast::NAME, &operands, reordered_type(result, perm), &[("dims", attr)])
}
