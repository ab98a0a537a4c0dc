//! The function of a region.

use super::region::Region;
use crate::hoist_weights::signature::Signature;
use strata_core::ir::{Attr, Builder, Module, Op, OpSpec, Type, Value};

/// The function's text under a name that all have: equal regions have equal texts.
pub(super) fn text(region: &Region<'_>) -> String {
    let alone = Module::new(region.function.cx());
    make(&mut Builder::at_end(alone.body(), region.function.location()), region, "layer");
    alone.to_string()
}

/// Makes the function.
pub(super) fn make<'c>(b: &mut Builder<'c>, region: &Region<'c>, name: &str) -> Op<'c> {
    let cx = region.function.cx();
    let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<Type<'c>>>();
    let (inputs, outputs) = (types(&region.inputs), types(&region.outputs));
    let mut attrs = vec![
        ("sym_name", cx.str_attr(name)),
        ("sym_visibility", cx.str_attr("private")),
        ("function_type", cx.type_attr(cx.function(&inputs, &outputs))),
    ];
    let marks = weights(region);
    if marks.iter().any(Option::is_some) {
        let marks: Vec<_> = marks.into_iter().map(|mark| mark.unwrap_or_else(|| cx.dict_attr(&[]))).collect();
        attrs.push(("arg_attrs", cx.array_attr(&marks)));
    }
    let function = b.op(OpSpec { name: "func.func", attrs: &attrs, regions: 1, ..OpSpec::default() });
    let body = b.add_block(function.region(0), &inputs);
    let mut map: Vec<(Value<'c>, Value<'c>)> = region.inputs.iter().copied().zip(body.args()).collect();
    b.within(body, |b| {
        for op in &region.ops {
            let copy = b.insert(op.clone_with(&map));
            map.extend(op.results().into_iter().zip(copy.results()));
        }
        let results: Vec<_> =
            region.outputs.iter().filter_map(|output| map.iter().find(|(from, _)| from == output)).map(|(_, to)| *to).collect();
        b.effect("func.return", &results, &[]);
    });
    function
}

/// What is known of arguments that are weights, with names that do not tell one layer's weights from another's.
fn weights<'c>(region: &Region<'c>) -> Vec<Option<Attr<'c>>> {
    let cx = region.function.cx();
    let signature = Signature::of(region.function);
    let arguments = region.function.body(0).args();
    let place = |value: &Value<'c>| arguments.iter().position(|argument| argument == value);
    let mark = |(at, value): (usize, &Value<'c>)| {
        let from = place(value).filter(|from| signature.is_fixed_weight(*from))?;
        let (kind, name) = (cx.str_attr(&signature.kind(from)), cx.str_attr(&format!("weight.{at}")));
        Some(cx.dict_attr(&[("capture.kind", kind), ("capture.name", name)]))
    };
    region.inputs.iter().enumerate().map(mark).collect()
}
