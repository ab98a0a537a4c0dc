//! The function of a region.

use super::region::Region;
use crate::prim::hoist_weights::signature::Signature;
use std::collections::HashMap;
use strata_core::ir::{Attr, Builder, Op, OpSpec, Type, Value};
use strata_core::likeness::Likeness;
use strata_core::upstream::func;
use strata_dialects::capture;

/// The weights of a program that no call changes, with their kinds.
pub(super) struct Weights<'c>(HashMap<Value<'c>, Attr<'c>>);

impl<'c> Weights<'c> {
    pub fn of(function: Op<'c>) -> Self {
        let (signature, cx) = (Signature::of(function), function.cx());
        let arguments = function.body(0).args().into_iter().enumerate().filter(|(at, _)| signature.is_fixed_weight(*at));
        Self(arguments.map(|(at, argument)| (argument, cx.str_attr(&signature.kind(at)))).collect())
    }

    /// The kind of a value, where it is one of them.
    fn kind(&self, value: Value<'c>) -> Option<Attr<'c>> {
        self.0.get(&value).copied()
    }
}

/// What the function consists of but for its name: equal regions have equal functions.
pub(super) fn likeness<'c>(region: &Region<'c>, weights: &Weights<'c>) -> Likeness<'c> {
    let mut like = Likeness::default();
    for &input in &region.inputs {
        like.note(weights.kind(input));
        like.input(input);
    }
    region.ops.iter().for_each(|op| like.op(*op));
    region.outputs.iter().for_each(|output| like.output(*output));
    like
}

/// Makes the function.
pub(super) fn make<'c>(b: &mut Builder<'c>, region: &Region<'c>, weights: &Weights<'c>, name: &str) -> Op<'c> {
    let cx = region.function.cx();
    let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<Type<'c>>>();
    let (inputs, outputs) = (types(&region.inputs), types(&region.outputs));
    let mut attrs = vec![
        ("sym_name", cx.str_attr(name)),
        ("sym_visibility", cx.str_attr("private")),
        ("function_type", cx.type_attr(cx.function(&inputs, &outputs))),
    ];
    let marks = marks(region, weights);
    if marks.iter().any(Option::is_some) {
        let marks: Vec<_> = marks.into_iter().map(|mark| mark.unwrap_or_else(|| cx.dict_attr(&[]))).collect();
        attrs.push(("arg_attrs", cx.array_attr(&marks)));
    }
    let function = b.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
    let body = b.add_block(function.region(0), &inputs);
    let mut map: Vec<(Value<'c>, Value<'c>)> = region.inputs.iter().copied().zip(body.args()).collect();
    b.within(body, |b| {
        for op in &region.ops {
            let copy = b.insert(op.clone_with(&map));
            map.extend(op.results().into_iter().zip(copy.results()));
        }
        let results: Vec<_> =
            region.outputs.iter().filter_map(|output| map.iter().find(|(from, _)| from == output)).map(|(_, to)| *to).collect();
        func::ret(b, &results);
    });
    function
}

/// What is known of arguments that are weights, with names that do not tell one layer's weights from another's.
fn marks<'c>(region: &Region<'c>, weights: &Weights<'c>) -> Vec<Option<Attr<'c>>> {
    let cx = region.function.cx();
    let mark = |(at, value): (usize, &Value<'c>)| {
        let (kind, name) = (weights.kind(*value)?, cx.str_attr(&format!("weight.{at}")));
        Some(cx.dict_attr(&[(capture::KIND, kind), (capture::NAME, name)]))
    };
    region.inputs.iter().enumerate().map(mark).collect()
}
