//! Gradients of regions: the branches and the steps are computed again where the gradient is.

use strata_core::ir::{OpSpec, Type, Value};
use strata_core::upstream::scf;
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};
use strata_dialects::{capture, prim};

use super::reverse::{Reverse, reads};
use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row};
use super::signature::is_differentiable;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: scf::For::NAME,
        doc: "The steps from the last to the first. What each began with is kept in a stack, a row for each step, and the step is computed again \
              from it. PyTorch: `scan`'s backward.",
        rule: Custom(counted_loop),
    },
    Row {
        name: scf::If::NAME,
        doc: "The gradient of the branch that was taken, which is computed again. PyTorch: `cond`'s backward.",
        rule: Custom(branches),
    },
    Row {
        name: scf::While::NAME,
        doc: "None: how many steps there are is not known, so there is no place for what they began with.",
        rule: Custom(|at| at.refuse("a loop whose number of steps is not known; write it with `scan`, or take it out with `detach()`")),
    },
];

/// Values that cotangents are wanted of, with their places among what an op reads.
struct Wanted<'c> {
    places: Vec<usize>,
    values: Vec<Value<'c>>,
}

impl<'c> Wanted<'c> {
    /// Those from place `from` on.
    fn of(at: &At<'c>, from: usize) -> Wanted<'c> {
        let read = reads(at.op);
        let places: Vec<_> = (from..read.len()).filter(|place| at.wants(*place)).collect();
        let values = places.iter().map(|place| read[*place]).collect();
        Wanted { places, values }
    }

    fn types(&self) -> Vec<Type<'c>> {
        self.values.iter().map(|value| summed_type(*value)).collect()
    }
}

/// The type in which cotangents of a value are summed up: halves in `f32`.
fn summed_type(value: Value<'_>) -> Type<'_> {
    let element = value.ty().element_type().map(|dtype| value.cx().element(dtype.compute()));
    element.map_or(value.ty(), |element| value.ty().with_element(element))
}

/// A cotangent of a value, in that type; zeros where there is none.
fn summed<'c>(prim: &'c Prim<'c>, cotangent: Option<Tensor<'c>>, value: Value<'c>) -> Value<'c> {
    let (like, ty) = (prim.tensor(value), summed_type(value));
    let cotangent = cotangent.unwrap_or_else(|| prim.full(like.dtype().compute(), Scalar::Int(0), &like.shape()));
    if cotangent.ty() == ty { cotangent.value() } else { prim.retype(cotangent, ty) }
}

/// Refuses a region that draws random numbers: computed again it would draw others.
fn draws<'c>(at: &At<'c>) -> bool {
    let mut found = false;
    at.op.walk(&mut |op| found |= op.isa::<capture::Seed>());
    if found {
        at.prim.fail("it draws random numbers, and would draw others when it is computed again; draw them before it");
    }
    found
}

/// Goes on before the end of the block that is swept.
fn go_on<'c>(at: &At<'c>) {
    if let Some(end) = at.op.block().and_then(|block| block.terminator()) {
        at.prim.set_before(end);
        at.prim.build(|builder| builder.set_location(at.op.location()));
    }
}

fn branches<'c>(at: &At<'c>) -> Cotangents<'c> {
    let wanted = Wanted::of(at, 1);
    if draws(at) {
        return Vec::new();
    }
    let (copy, made) = at.prim.build(|builder| {
        let spec = OpSpec { name: scf::If::NAME, operands: &[at.op.operand(0)], results: &wanted.types(), regions: 2, ..OpSpec::default() };
        (builder.clone_op(at.op, &at.op.operands()), builder.op(spec))
    });
    for region in 0..2 {
        at.prim.build(|builder| builder.move_body(copy.region(region), made.region(region)));
        let Some((block, end)) = made.region(region).entry().and_then(|block| Some((block, block.terminator()?))) else { continue };
        at.prim.set_before(end);
        let mut inner = Reverse::new(at.prim, &wanted.values);
        for (result, value) in end.operands().into_iter().enumerate() {
            if let Some(cotangent) = at.cotangent(result) {
                inner.add(value, cotangent);
            }
        }
        if inner.block(block).is_err() {
            return at.refuse("an op in it has none");
        }
        let yielded: Vec<_> = wanted.values.iter().map(|value| summed(at.prim, inner.cotangent(*value), *value)).collect();
        at.prim.build(|builder| builder.set_operands(end, &yielded));
    }
    at.prim.build(|builder| builder.erase(copy));
    go_on(at);
    placed(&wanted, (0..).map(|k| made.result(k)).take(wanted.values.len()).collect(), at)
}

/// Cotangents at the places of what they are of.
fn placed<'c>(wanted: &Wanted<'c>, values: Vec<Value<'c>>, at: &At<'c>) -> Cotangents<'c> {
    let mut cotangents = vec![None; wanted.places.last().map_or(0, |last| last + 1)];
    for (place, value) in wanted.places.iter().zip(values) {
        cotangents[*place] = Some(at.prim.tensor(value));
    }
    cotangents
}

/// The operands of a counted loop before its state: bounds and step.
const BOUNDS: usize = 3;

fn counted_loop<'c>(at: &At<'c>) -> Cotangents<'c> {
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
    let count = (to - from).max(0).ceil_div(step);
    let stacks = stacked(at, &inits, (from, step), count);
    // The state and what the body reads from outside.
    let captured = Wanted::of(at, op.num_operands());
    let state: Vec<_> = (0..inits.len()).filter(|k| is_differentiable(inits[*k].ty())).collect();
    let zeros = |value: &Value<'c>| summed(prim, None, *value);
    let seeds = state.iter().map(|k| summed(prim, at.cotangent(*k), op.result(*k)));
    let start: Vec<_> = seeds.chain(captured.values.iter().map(zeros)).collect();
    let types: Vec<_> = start.iter().map(|value| value.ty()).collect();
    let bounds = [Size::Const(0), count, Size::Const(1)].map(|size| prim.index(size));
    let (copy, made, block, end) = prim.build(|builder| {
        let copy = builder.clone_op(op, &op.operands());
        let operands = [&bounds[..], &start].concat();
        let made = builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        let index = builder.cx().index();
        let block = builder.add_block(made.region(0), &[&[index], types.as_slice()].concat());
        let end = builder.within(block, |builder| scf::yield_(builder, &[]));
        (copy, made, block, end)
    });
    prim.set_before(end);
    let turn = count - 1 - prim.symbol(block.arg(0));
    let restored = stacks.iter().zip(&inits).map(|(stack, init)| {
        let row = stack.at(0, turn);
        if row.ty() == init.ty() { row.value() } else { prim.retype(row, init.ty()) }
    });
    let restored: Vec<_> = restored.collect();
    let place = prim.index(from + turn * step);
    let yielded = prim.build(|builder| builder.inline_body_before(copy.body(0), end, &[&[place], restored.as_slice()].concat()));
    prim.build(|builder| builder.erase(copy));
    let by: Vec<_> = state.iter().map(|k| restored[*k]).chain(captured.values.iter().copied()).collect();
    let mut inner = Reverse::new(prim, &by);
    for (argument, k) in state.iter().enumerate() {
        inner.add(yielded[*k], prim.tensor(block.arg(1 + argument)));
    }
    if inner.block(block).is_err() {
        return at.refuse("an op in it has none");
    }
    let mut next: Vec<_> = state.iter().map(|k| summed(prim, inner.cotangent(restored[*k]), restored[*k])).collect();
    for (k, value) in captured.values.iter().enumerate() {
        let so_far = prim.tensor(block.arg(1 + state.len() + k));
        let sum = inner.cotangent(*value).map_or(so_far, |cotangent| so_far + cotangent);
        next.push(summed(prim, Some(sum), *value));
    }
    prim.build(|builder| builder.set_operands(end, &next));
    go_on(at);
    let mut cotangents = placed(&captured, made.results()[state.len()..].to_vec(), at);
    cotangents.resize(cotangents.len().max(op.num_operands()), None);
    for (k, place) in state.iter().enumerate() {
        cotangents[BOUNDS + place] = Some(prim.tensor(made.result(k)));
    }
    cotangents
}

/// The loop again, which keeps what each step began with: a stack for each tensor of its state.
fn stacked<'c>(at: &At<'c>, inits: &[Value<'c>], (from, step): (Size<'c>, i64), count: Size<'c>) -> Vec<Tensor<'c>> {
    let (op, prim) = (at.op, at.prim);
    let empty = |init: &Value<'c>| {
        let like = prim.tensor(*init);
        prim.full(like.dtype(), Scalar::Int(0), &[&[count], &*like.shape()].concat())
    };
    let stacks: Vec<_> = inits.iter().map(empty).collect();
    let values: Vec<_> = stacks.iter().map(|stack| stack.value()).collect();
    let types: Vec<_> = inits.iter().chain(&values).map(|value| value.ty()).collect();
    let made = prim.build(|builder| {
        let copy = builder.clone_op(op, &op.operands());
        let operands = [op.operands().as_slice(), &values].concat();
        let made = builder.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
        builder.move_body(copy.region(0), made.region(0));
        builder.erase(copy);
        made
    });
    let block = made.body(0);
    let Some(end) = block.terminator() else { return stacks };
    prim.set_before(end);
    let place = (prim.symbol(block.arg(0)) - from) / step;
    let mut next = end.operands();
    for (k, stack) in stacks.iter().enumerate() {
        let argument = block.add_arg(stack.ty(), op.location());
        let row = prim.tensor(block.arg(1 + k)).unsqueeze(0);
        let mut offsets = vec![prim.index(place)];
        offsets.extend((1..row.rank()).map(|_| prim.index(Size::Const(0))));
        let operands = [&[argument, row.value()], offsets.as_slice()].concat();
        let written = prim.emit(prim::DynamicUpdate::NAME, &operands, &[], stack.dtype(), stack.shape());
        next.push(written.value());
    }
    prim.build(|builder| builder.set_operands(end, &next));
    go_on(at);
    made.results()[inits.len()..].iter().map(|result| prim.tensor(*result)).collect()
}
