//! The joint program's arguments and results.

use strata_core::ir::{Attr, DYNAMIC, Op, Type, Value};
use strata_core::pass::PassError;
use strata_core::upstream::func;
use strata_dialects::aten::dtype::{Category, Numeric};
use strata_dialects::capture;
use strata_dialects::prim_builder::{Prim, Scalar, Tensor};

use super::Reason;
use super::reverse::Reverse;

/// Whether there are gradients of and by such values.
pub(super) fn is_differentiable(ty: Type<'_>) -> bool {
    ty.is_tensor() && ty.element_type().is_some_and(|dtype| matches!(dtype.category(), Category::Float | Category::Complex))
}

/// The attributes of a function's arguments or results.
fn attributes<'c>(function: Op<'c>, list: &str, count: usize) -> Vec<Attr<'c>> {
    let found = function.attr(list).and_then(Attr::as_array).unwrap_or_default();
    if found.len() == count { found } else { vec![function.cx().dict_attr(&[]); count] }
}

fn text(attr: Attr<'_>, entry: &str) -> Option<String> {
    attr.entry(entry).and_then(Attr::as_str)
}

/// A name that none has yet: a joint program that is differentiated again has cotangents and gradients already.
fn fresh(name: &str, taken: &[Attr<'_>]) -> String {
    let is_taken = |name: &str| taken.iter().any(|attr| text(*attr, capture::NAME).as_deref() == Some(name));
    let mut found = name.to_owned();
    while is_taken(&found) {
        found.push_str("_2");
    }
    found
}

/// An argument to differentiate by.
struct Wanted<'c> {
    value: Value<'c>,
    name: String,
}

/// Makes a function compute its gradients too; gives the number of ops differentiated.
pub(super) fn joint(function: Op<'_>, wrt: &[String], cotangents: &[i64]) -> Result<usize, PassError> {
    let prim = Prim::new(function.body(0), function.location());
    build(&prim, function, wrt, cotangents)
}

fn build<'c>(prim: &'c Prim<'c>, function: Op<'c>, wrt: &[String], cotangents: &[i64]) -> Result<usize, PassError> {
    let refused = |reason: String| Reason::Options(reason).at(function);
    if capture::continuation(function).is_some() {
        return Err(refused("is one part of a program that graph breaks divide; differentiate a program of one graph".to_owned()));
    }
    let block = function.body(0);
    let end =
        block.terminator().filter(|op| op.isa::<func::Return>()).ok_or_else(|| refused("its body does not end in a return".into()))?;
    let cx = function.cx();
    let arguments = block.args();
    let mut arg_attrs = attributes(function, "arg_attrs", arguments.len());
    let res_attrs = attributes(function, "res_attrs", end.num_operands());
    let wanted = wanted(&arguments, &arg_attrs, wrt).map_err(refused)?;
    let returned = end.operands();
    let is_output = |attr: &Attr<'c>| text(*attr, capture::KIND).is_none_or(|kind| kind == "output");
    let count = res_attrs.iter().filter(|attr| is_output(attr)).count();
    let (outputs, mutations) = returned.split_at(count);
    let seeded = seeded(outputs, cotangents).map_err(refused)?;

    prim.set_before(end);
    let mut reverse = Reverse::new(prim, &wanted.iter().map(|wanted| wanted.value).collect::<Vec<_>>());
    for &place in &seeded {
        let output = outputs[place];
        let cotangent = block.add_arg(output.ty(), function.location());
        let name = fresh(&format!("cot_{place}"), &arg_attrs);
        arg_attrs.push(cx.dict_attr(&[(capture::KIND, cx.str_attr("input")), (capture::NAME, cx.str_attr(&name))]));
        reverse.add(output, alike(prim, cotangent, output, &name));
    }
    let done = reverse.block(block)?;
    let gradient = |wanted: &Wanted<'c>| declared(prim, reverse.cotangent(wanted.value), wanted.value);
    let gradients: Vec<_> = wanted.iter().map(gradient).collect();
    if let Some(message) = prim.take_error() {
        return Err(Reason::Row(message).at(function));
    }
    let named = wanted.iter().map(|wanted| {
        let name = fresh(&format!("grad_{}", wanted.name), &res_attrs);
        cx.dict_attr(&[(capture::KIND, cx.str_attr("output")), (capture::NAME, cx.str_attr(&name))])
    });
    let results: Vec<_> = res_attrs[..count].iter().copied().chain(named).chain(res_attrs[count..].iter().copied()).collect();
    let values = [outputs, &gradients, mutations].concat();
    prim.build(|rewriter| {
        rewriter.set_operands(end, &values);
        let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
        func::set_type(rewriter, function, &types(&block.args()), &types(&values));
        rewriter.set_attr(function, "arg_attrs", cx.array_attr(&arg_attrs));
        rewriter.set_attr(function, "res_attrs", cx.array_attr(&results));
    });
    Ok(done)
}

/// The arguments named, in the order in which they are named.
fn wanted<'c>(arguments: &[Value<'c>], attrs: &[Attr<'c>], wrt: &[String]) -> Result<Vec<Wanted<'c>>, String> {
    let name = |at: usize| text(attrs[at], capture::NAME).unwrap_or_else(|| format!("arg{at}"));
    let is_input = |at: &usize| text(attrs[*at], capture::KIND).is_none_or(|kind| kind == "input");
    let inputs: Vec<_> = (0..arguments.len()).filter(is_input).collect();
    let place = |wanted: &String| {
        let named = (0..arguments.len()).find(|at| name(*at) == *wanted);
        let numbered = || wanted.strip_prefix("in_").and_then(|k| k.parse().ok()).and_then(|k: usize| inputs.get(k).copied());
        named.or_else(numbered).ok_or_else(|| {
            let known: Vec<_> = (0..arguments.len()).map(name).collect();
            format!("there is no argument `{wanted}` to differentiate by; there are {}", known.join(", "))
        })
    };
    let places = match wrt {
        [] => (0..arguments.len()).filter(|at| attrs[*at].entry(capture::REQUIRES_GRAD).is_some()).collect(),
        names => names.iter().map(place).collect::<Result<Vec<_>, _>>()?,
    };
    if places.is_empty() {
        return Err("no argument requires a gradient; name those to differentiate by with wrt=..".to_owned());
    }
    if let Some(at) = places.iter().find(|at| !is_differentiable(arguments[**at].ty())) {
        return Err(format!("`{}` is of type {}, and gradients are those of floats and complex numbers", name(*at), arguments[*at].ty()));
    }
    Ok(places.into_iter().map(|at| Wanted { value: arguments[at], name: name(at) }).collect())
}

/// The places of the outputs that have a cotangent.
fn seeded(outputs: &[Value<'_>], cotangents: &[i64]) -> Result<Vec<usize>, String> {
    if cotangents.is_empty() {
        return Ok((0..outputs.len()).filter(|at| is_differentiable(outputs[*at].ty())).collect());
    }
    let place = |at: &i64| {
        let found = usize::try_from(*at).ok().filter(|at| outputs.get(*at).is_some_and(|output| is_differentiable(output.ty())));
        found.ok_or_else(|| format!("output {at} has no cotangent: there is no such output of floats or complex numbers"))
    };
    cotangents.iter().map(place).collect()
}

/// A cotangent with the sizes of its output; the call fails where it has others.
fn alike<'p>(prim: &'p Prim<'p>, cotangent: Value<'p>, output: Value<'p>, name: &str) -> Tensor<'p> {
    let (given, like) = (prim.tensor(cotangent), prim.tensor(output));
    for (dim, (size, wanted)) in given.shape().iter().zip(like.shape().iter()).enumerate() {
        if output.ty().shape()[dim] == DYNAMIC && !size.same(*wanted) {
            let text = format!("`{name}` has the size {{0}} in dimension {dim}, its output {{1}}");
            prim.guard_at_most(*size, *wanted, &text, &[*size, *wanted]);
            prim.guard_at_most(*wanted, *size, &text, &[*size, *wanted]);
        }
    }
    given.reshape(&like.shape())
}

/// A gradient in the type of its argument; zeros where there is none.
fn declared<'p>(prim: &'p Prim<'p>, gradient: Option<Tensor<'p>>, argument: Value<'p>) -> Value<'p> {
    let like = prim.tensor(argument);
    let gradient = gradient.unwrap_or_else(|| like.filled(Scalar::Int(0))).convert(like.dtype());
    if gradient.ty() == argument.ty() { gradient.value() } else { prim.retype(gradient, argument.ty()) }
}
