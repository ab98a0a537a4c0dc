//! The gradient of a counted loop: a loop from the last step to the first.
//!
//! A backward step computes its step again, from what that began with. The forward loop keeps this in stacks, which have a row for each step,
//! and it keeps the results of products too, or what is made of them alone: they cost more than a row (the literature calls it a policy that
//! saves products).
//! What the steps add to the gradient of a value from outside is summed up step by step; but a product of few rows that gives a
//! larger matrix, as the gradient of the weights of a recurrent layer, is one product of all rows behind the loop.

use std::collections::HashSet;

use strata_core::ir::{Block, DYNAMIC, ElementType, Op, OpSpec, Value};
use strata_core::upstream::scf;
use strata_dialects::prim;
use strata_dialects::prim::scalar::Pointwise;
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};

use super::control::{Wanted, draws, go_on, placed, summed};
use super::reverse::Reverse;
use super::rule::{At, Cotangents};
use super::signature::is_differentiable;

/// The operands of a counted loop before its state: bounds and step.
const BOUNDS: usize = 3;

pub(super) fn counted_loop<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (op, prim) = (at.op, at.prim);
    let inits = op.operands()[BOUNDS..].to_vec();
    let [from, to, step] = [0, 1, 2].map(|operand| prim.symbol(op.operand(operand)));
    let Some(step) = step.known() else { return at.refuse("the step of the loop is not known") };
    if inits.iter().any(|init| !init.ty().is_tensor()) {
        return at.refuse("the loop's state holds numbers that are no tensors");
    }
    if draws(at) {
        return Vec::new();
    }
    prim.set_before(op);
    let count = (to - from).max(0).ceil_div(step);
    go_on(at);
    // The state and what the body reads from outside.
    let captured = Wanted::of(at, op.num_operands());
    let state: Vec<_> = (0..inits.len()).filter(|k| is_differentiable(inits[*k].ty())).collect();
    let zeros = |value: &Value<'c>| summed(prim, None, *value);
    let seeds = state.iter().map(|k| summed(prim, at.cotangent(*k), op.result(*k)));
    let start: Vec<_> = seeds.chain(captured.values.iter().map(zeros)).collect();
    let types: Vec<_> = start.iter().map(|value| value.ty()).collect();
    let bounds = [Size::Const(0), count, Size::Const(1)].map(|size| prim.index(size));
    let (copy, made, end) = prim.build(|builder| {
        let copy = builder.clone_op(op, &op.operands());
        let operands = [&bounds[..], &start].concat();
        let made = builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        let arguments = [&[builder.cx().index()], types.as_slice()].concat();
        let block = builder.add_block(made.region(0), &arguments);
        let end = builder.within(block, |builder| scf::yield_(builder, &[]));
        (copy, made, end)
    });
    let block = made.body(0);
    prim.set_before(end);
    let turn = count - 1 - prim.symbol(block.arg(0));
    let mut kept = Kept { forward: Forward { at, from, step, count }, turn, rows: Vec::new() };
    let restored: Vec<_> = inits.iter().enumerate().map(|(k, init)| kept.later(Row::Argument(k), *init)).collect();
    let place = prim.index(from + turn * step);
    let steps = copy.body(0).ops();
    let yielded = prim.build(|builder| builder.inline_body_before(copy.body(0), end, &[&[place], restored.as_slice()].concat()));
    prim.erase(copy);
    let by: Vec<_> = state.iter().map(|k| restored[*k]).chain(captured.values.iter().copied()).collect();
    let mut inner = Reverse::new(prim, &by);
    for (argument, k) in state.iter().enumerate() {
        inner.add(yielded[*k], prim.tensor(block.arg(1 + argument)));
    }
    if inner.block(block).is_err() {
        return at.refuse("an op in it has none");
    }
    let mut next: Vec<_> = state.iter().map(|k| summed(prim, inner.cotangent(restored[*k]), restored[*k])).collect();
    let mut products = Vec::new();
    for (k, value) in captured.values.iter().enumerate() {
        let so_far = prim.tensor(block.arg(1 + state.len() + k));
        let cotangent = inner.cotangent(*value);
        let product = cotangent.and_then(|cotangent| Product::of(cotangent.value(), made));
        let sum = match cotangent {
            Some(cotangent) if product.is_none() => added(so_far, cotangent),
            _ => so_far,
        };
        products.extend(product.map(|product| (state.len() + k, product)));
        next.push(summed(prim, Some(sum), *value));
    }
    prim.build(|builder| builder.set_operands(end, &next));
    // The product of the last step shows how all are computed; nothing reads it.
    let shown: Vec<_> = products.iter().flat_map(|(_, product)| product.shown()).collect();
    let factors: Vec<_> = products.iter().flat_map(|(_, product)| product.factors).collect();
    kept.erase_dead(made, &shown);
    kept.products(made, &steps);
    kept.erase_dead(made, &shown);
    let (made, factors) = kept.restore(made, &factors);
    go_on(at);
    let mut sums: Vec<_> = made.results()[..start.len()].iter().map(|result| prim.tensor(*result)).collect();
    for ((sum, product), factors) in products.iter().zip(factors.chunks_exact(2)) {
        sums[*sum] = product.of_all(factors[0], factors[1]);
    }
    let mut cotangents = placed(&captured, sums[state.len()..].iter().map(|sum| sum.value()).collect(), at);
    cotangents.resize(cotangents.len().max(op.num_operands()), None);
    for (k, place) in state.iter().enumerate() {
        cotangents[BOUNDS + place] = Some(sums[k]);
    }
    cotangents
}

/// A sum with one more cotangent. Rows among zeros, as the cotangent of a slice, are added to their rows of the sum.
fn added<'c>(sum: Tensor<'c>, cotangent: Tensor<'c>) -> Tensor<'c> {
    let Some((rows, first)) = rows_among_zeros(cotangent) else { return sum + cotangent };
    let places = sum.prim().iota(ElementType::I64, &[rows.size(0)], 0) + sum.prim().size_tensor(ElementType::I64, first);
    sum.scatter(rows, &[places], &[0], "add")
}

/// The rows, and the place of the first one, of a tensor that is zero elsewhere. A place that is computed is one that is read from: others may be
/// negative, and take rows away.
fn rows_among_zeros<'c>(tensor: Tensor<'c>) -> Option<(Tensor<'c>, Size<'c>)> {
    let (prim, made) = (tensor.prim(), tensor.value().defining_op()?);
    let same = made.isa::<prim::Reshape>() && made.operand(0).ty().rank() == tensor.rank();
    let op = if same { made.operand(0).defining_op()? } else { made };
    if !op.isa::<prim::Pad>() || tensor.rank() == 0 {
        return None;
    }
    let (low, high, interior) = (op.ints("low")?, op.ints("high")?, op.ints("interior")?);
    let whole = interior.iter().chain(&low[1..]).chain(&high[1..]).all(|bound| *bound == 0);
    let padding = op.operand(1).defining_op().and_then(|value| value.attr("value")?.as_dense());
    let zero = padding.is_some_and(|(bytes, _)| bytes.iter().all(|byte| *byte == 0));
    let read = |place: &Value<'c>| place.uses().iter().any(|user| user.op.isa::<prim::Slice>() || user.op.isa::<prim::DynamicSlice>());
    let first = match low[0] {
        DYNAMIC => prim.symbol(op.operands().get(2).copied().filter(read)?),
        known => Size::Const(known),
    };
    let inside = first.known().is_none_or(|first| first >= 0) && (high[0] == DYNAMIC || high[0] >= 0);
    (whole && zero && inside).then(|| (prim.tensor(op.operand(0)), first))
}

/// A product of what a backward step computes, whose sum over the steps is wanted.
struct Product<'c> {
    dot: Op<'c>,
    factors: [Value<'c>; 2],
    /// Views of the product, from the product on.
    views: Vec<Op<'c>>,
}

impl<'c> Product<'c> {
    /// The product that a value in a loop is, where keeping the factors of all steps moves fewer elements than a sum at each step.
    fn of(mut value: Value<'c>, looped: Op<'c>) -> Option<Product<'c>> {
        let mut views = Vec::new();
        while let Some(op) = value.defining_op().filter(|op| op.isa::<prim::Transpose>() || op.isa::<prim::Reshape>()) {
            views.insert(0, op);
            value = op.operand(0);
        }
        let dot = value.defining_op().filter(|op| op.isa::<prim::Dot>() && op.is_inside(looped))?;
        let factors = [dot.operand(0), dot.operand(1)];
        let inside = |value: &Value<'c>| value.defining_op().is_some_and(|op| op.is_inside(looped));
        let [lhs, rhs, product] = [factors[0], factors[1], value].map(|value| value.ty().num_elements());
        let pays = lhs? + rhs? < product?;
        let plain = factors.iter().all(|factor| factor.ty().element() == value.ty().element() && inside(factor));
        (pays && plain && views.iter().all(|op| op.num_operands() == 1)).then_some(Product { dot, factors, views })
    }

    /// The product and its views, as they stand in the loop.
    fn shown(&self) -> Vec<Value<'c>> {
        std::iter::once(&self.dot).chain(&self.views).map(|op| op.result(0)).collect()
    }

    /// The sum of the products of all rows of two stacks.
    fn of_all(&self, lhs: Tensor<'c>, rhs: Tensor<'c>) -> Tensor<'c> {
        let inner = |name: &str| self.dot.ints(name).unwrap_or_default().into_iter().map(|dim| dim as usize + 1).collect::<Vec<_>>();
        let summed = |name: &str| [vec![0], inner(name)].concat();
        let (batch, contract) = ([inner("lhs_batch"), inner("rhs_batch")], [summed("lhs_contract"), summed("rhs_contract")]);
        let product = lhs.dot(rhs, (&batch[0], &batch[1]), (&contract[0], &contract[1]));
        let view = |value: Value<'c>, op: &Op<'c>| lhs.prim().build(|builder| builder.clone_op(*op, &[value]).result(0));
        lhs.prim().tensor(self.views.iter().fold(product.value(), view))
    }
}

/// What a row of a stack is.
#[derive(Clone, Copy)]
enum Row {
    /// What a step began with, of the tensor of the state with this number.
    Argument(usize),
    /// What the op at this place of the body gives: a product, or a sum with it.
    Product(usize),
}

/// The loop that is differentiated.
struct Forward<'a, 'c> {
    at: &'a At<'c>,
    from: Size<'c>,
    step: i64,
    count: Size<'c>,
}

/// What backward steps read of their steps.
struct Kept<'a, 'c> {
    forward: Forward<'a, 'c>,
    /// The number of the step that a backward step is of.
    turn: Size<'c>,
    /// What may be kept, and what stands for it in the backward step until it is known whether it is read.
    rows: Vec<(Row, Value<'c>)>,
}

impl<'c> Kept<'_, 'c> {
    fn prim(&self) -> &'c Prim<'c> {
        self.forward.at.prim
    }

    /// Stands, at the present place, for a value like this one.
    fn later(&mut self, row: Row, like: Value<'c>) -> Value<'c> {
        let zeros = self.prim().tensor(like).filled(Scalar::Int(0));
        let stands = if zeros.ty() == like.ty() { zeros.value() } else { self.prim().retype(zeros, like.ty()) };
        self.rows.push((row, stands));
        stands
    }

    /// Erases what nothing in the backward step reads, but for these values and what stands for others.
    fn erase_dead(&self, made: Op<'c>, shown: &[Value<'c>]) {
        let turn = self.prim().index(self.turn);
        let rows = self.rows.iter().map(|(_, stands)| *stands);
        let kept: HashSet<_> = rows.chain(shown.iter().copied()).chain([turn]).filter_map(Value::defining_op).collect();
        let dead = |op: &Op<'c>| op.is_dead() && !kept.contains(op);
        made.body(0).ops().into_iter().rev().filter(dead).for_each(|op| self.prim().erase(op));
    }

    /// Keeps the products that the backward step would compute again, or what it makes of them alone: `steps` are the ops of the step there, as far
    /// as they are left.
    fn products(&mut self, made: Op<'c>, steps: &[Op<'c>]) {
        let left: HashSet<_> = made.body(0).ops().into_iter().collect();
        for (place, again) in steps.iter().enumerate().filter(|(_, op)| left.contains(op)) {
            if again.isa::<prim::Dot>() && again.result(0).ty().is_static() {
                let place = behind(place, steps);
                let kept = steps[place].result(0);
                self.prim().set_before(steps[place]);
                let stands = self.later(Row::Product(place), kept);
                self.prim().build(|builder| builder.replace_uses(kept, stands));
            }
        }
    }

    /// Reads the rows that the forward loop keeps, and lets the backward loop keep those of the other factors. Gives the backward loop, and all rows
    /// of each factor.
    fn restore(&mut self, made: Op<'c>, factors: &[Value<'c>]) -> (Op<'c>, Vec<Tensor<'c>>) {
        let (prim, turn) = (self.prim(), self.turn);
        self.rows.retain(|(_, stands)| !stands.uses().is_empty());
        let stacks = self.forward.stacked(&self.rows);
        let known = |factor: &Value<'c>| self.rows.iter().position(|(_, stands)| stands == factor);
        let mut own: Vec<_> = factors.iter().copied().filter(|factor| known(factor).is_none()).collect();
        own.dedup();
        prim.set_before(made);
        let empty: Vec<_> = own.iter().map(|factor| self.forward.empty(prim.tensor(*factor))).collect();
        let first = made.num_results();
        let made = carrying(prim, made, &empty, |_, so_far| {
            so_far.iter().zip(&own).map(|(so_far, factor)| so_far.with_row(turn, prim.tensor(*factor))).collect()
        });
        let whole = |factor: &Value<'c>| match known(factor) {
            Some(at) => stacks[at],
            None => prim.tensor(made.result(first + own.iter().position(|other| other == factor).unwrap_or_default())),
        };
        let factors = factors.iter().map(whole).collect();
        for ((_, stands), stack) in self.rows.iter().zip(&stacks) {
            let Some(op) = stands.defining_op() else { continue };
            prim.set_before(op);
            let row = stack.at(0, turn);
            let row = if row.ty() == stands.ty() { row.value() } else { prim.retype(row, stands.ty()) };
            prim.replace(op, &[row]);
        }
        (made, factors)
    }
}

/// The place of the last op of those that each read nothing but the one before it and other operands, element by element, from a product on. It has
/// as many bytes as the product, and the other operands need not be read again.
fn behind(product: usize, steps: &[Op<'_>]) -> usize {
    let mut place = product;
    loop {
        let value = steps[place].result(0);
        let next = match value.uses().as_slice() {
            [only] if only.op.interface::<dyn Pointwise>().is_some() && only.op.result(0).ty() == value.ty() => {
                steps.iter().position(|op| *op == only.op)
            }
            _ => None,
        };
        let Some(next) = next else { return place };
        place = next;
    }
}

impl<'c> Forward<'_, 'c> {
    /// Rows like a tensor for all steps.
    fn empty(&self, like: Tensor<'c>) -> Tensor<'c> {
        self.at.prim.full(like.dtype(), Scalar::Int(0), &[&[self.count], &*like.shape()].concat())
    }

    /// Lets the loop keep these rows, and gives the stacks of them.
    fn stacked(&self, rows: &[(Row, Value<'c>)]) -> Vec<Tensor<'c>> {
        let (op, prim) = (self.at.op, self.at.prim);
        if rows.is_empty() {
            return Vec::new();
        }
        prim.set_before(op);
        let like = |(row, stands): &(Row, Value<'c>)| match row {
            Row::Argument(k) => op.operand(BOUNDS + k),
            Row::Product(_) => *stands,
        };
        let empty: Vec<_> = rows.iter().map(|row| self.empty(prim.tensor(like(row)))).collect();
        let copy = prim.build(|builder| builder.clone_op(op, &op.operands()));
        let made = carrying(prim, copy, &empty, |body, so_far| {
            let place = (prim.symbol(body.arg(0)) - self.from) / self.step;
            let ops = body.ops();
            let value = |row: Row| match row {
                Row::Argument(k) => body.arg(1 + k),
                Row::Product(place) => ops[place].result(0),
            };
            so_far.iter().zip(rows).map(|(so_far, (row, _))| so_far.with_row(place, prim.tensor(value(*row)))).collect()
        });
        let (results, stacks) = (made.results(), op.num_results());
        prim.build(|builder| op.results().into_iter().zip(&results).for_each(|(old, new)| builder.replace_uses(old, *new)));
        results[stacks..].iter().map(|result| prim.tensor(*result)).collect()
    }
}

/// A loop in the place of `looped` that carries more; `next` says what the end of its body makes of that.
fn carrying<'c>(
    prim: &'c Prim<'c>,
    looped: Op<'c>,
    more: &[Tensor<'c>],
    next: impl FnOnce(Block<'c>, &[Tensor<'c>]) -> Vec<Tensor<'c>>,
) -> Op<'c> {
    let operands = [looped.operands(), more.iter().map(|tensor| tensor.value()).collect()].concat();
    let types = [looped.result_types(), more.iter().map(|tensor| tensor.ty()).collect()].concat();
    prim.set_before(looped);
    let made = prim.build(|builder| {
        let made = builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        builder.move_body(looped.region(0), made.region(0));
        made
    });
    prim.erase(looped);
    let body = made.body(0);
    let so_far: Vec<_> = more.iter().map(|tensor| prim.as_tensor(body.add_arg(tensor.ty(), made.location()), *tensor)).collect();
    if let Some(end) = body.terminator() {
        prim.set_before(end);
        let yielded = next(body, &so_far).into_iter().map(|tensor| tensor.value());
        let yielded: Vec<_> = end.operands().into_iter().chain(yielded).collect();
        prim.build(|builder| builder.set_operands(end, &yielded));
    }
    made
}
