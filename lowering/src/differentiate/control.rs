//! Gradients of regions: the branches and the steps are computed again where the gradient is; see [`super::counted_loop`] for loops.

use strata_core::ir::{OpSpec, Type, Value};
use strata_core::upstream::scf;
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::capture;
use strata_dialects::prim_builder::{Prim, Scalar, Tensor};

use super::counted_loop::counted_loop;
use super::reverse::{Reverse, reads};
use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: scf::For::NAME,
        doc: "The steps from the last to the first. What each began with and the products in it are kept in stacks, a row for each step, and the \
              rest of the step is computed again. PyTorch: `scan`'s backward.",
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
pub(super) struct Wanted<'c> {
    places: Vec<usize>,
    pub values: Vec<Value<'c>>,
}

impl<'c> Wanted<'c> {
    /// Those from place `from` on.
    pub fn of(at: &At<'c>, from: usize) -> Wanted<'c> {
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
pub(super) fn summed<'c>(prim: &'c Prim<'c>, cotangent: Option<Tensor<'c>>, value: Value<'c>) -> Value<'c> {
    let (like, ty) = (prim.tensor(value), summed_type(value));
    let cotangent = cotangent.unwrap_or_else(|| prim.full(like.dtype().compute(), Scalar::Int(0), &like.shape()));
    if cotangent.ty() == ty { cotangent.value() } else { prim.retype(cotangent, ty) }
}

/// Refuses a region that draws random numbers: computed again it would draw others.
pub(super) fn draws<'c>(at: &At<'c>) -> bool {
    let mut found = false;
    at.op.walk(&mut |op| found |= op.isa::<capture::Seed>());
    if found {
        at.prim.fail("it draws random numbers, and would draw others when it is computed again; draw them before it");
    }
    found
}

/// Goes on before the end of the block that is swept.
pub(super) fn go_on<'c>(at: &At<'c>) {
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
    at.prim.erase(copy);
    go_on(at);
    placed(&wanted, (0..).map(|k| made.result(k)).take(wanted.values.len()).collect(), at)
}

/// Cotangents at the places of what they are of.
pub(super) fn placed<'c>(wanted: &Wanted<'c>, values: Vec<Value<'c>>, at: &At<'c>) -> Cotangents<'c> {
    let mut cotangents = vec![None; wanted.places.last().map_or(0, |last| last + 1)];
    for (place, value) in wanted.places.iter().zip(values) {
        cotangents[*place] = Some(at.prim.tensor(value));
    }
    cotangents
}
