//! The joint program's arguments and results.

use strata_core::ir::{DYNAMIC, Op, Type, Value};
use strata_core::pass::PassError;
use strata_dialects::aten::dtype::{Category, Numeric};
use strata_dialects::capture;
use strata_dialects::prim_builder::{Prim, Scalar, Tensor};

use super::Reason;
use super::reverse::Reverse;
use crate::signature::{Signature, text};

/// Whether there are gradients of and by such values.
pub(super) fn is_differentiable(ty: Type<'_>) -> bool {
    ty.is_tensor() && ty.element_type().is_some_and(|dtype| matches!(dtype.category(), Category::Float | Category::Complex))
}

/// An argument to differentiate by.
struct Wanted<'c> {
    value: Value<'c>,
    name: String,
}

/// Which outputs have a cotangent.
#[derive(Clone, Copy)]
pub(super) enum Seeds<'s> {
    /// Those at these places; all of floats where none is named.
    Outputs(&'s [i64]),
    /// The gradients of a joint program.
    Gradients,
}

/// Makes a function compute its gradients too; gives the number of ops differentiated.
pub(super) fn joint(function: Op<'_>, wrt: &[String], seeds: Seeds<'_>) -> Result<usize, PassError> {
    let prim = Prim::new(function.body(0), function.location());
    build(&prim, function, wrt, seeds)
}

fn build<'c>(prim: &'c Prim<'c>, function: Op<'c>, wrt: &[String], seeds: Seeds<'_>) -> Result<usize, PassError> {
    let refused = |reason: String| Reason::Options(reason).at(function);
    let mut signature = Signature::of(function).map_err(refused)?;
    let wanted = wanted(&signature, wrt).map_err(refused)?;
    let outputs: Vec<_> = signature.results[..signature.outputs()].iter().map(|(value, _)| *value).collect();
    let seeded = match seeds {
        Seeds::Outputs(places) => seeded(&outputs, places).map_err(refused)?,
        Seeds::Gradients => gradients(&signature).map_err(refused)?,
    };
    let cotangent_name = |place: usize| match (seeds, text(signature.results[place].1, capture::NAME)) {
        (Seeds::Gradients, Some(name)) => format!("cot_{name}"),
        _ => format!("cot_{place}"),
    };
    let names: Vec<_> = seeded.iter().map(|place| cotangent_name(*place)).collect();
    signature.forget(&[capture::COTANGENT, capture::GRADIENT, capture::NO_GRADIENT]);

    prim.set_before(signature.end);
    let mut reverse = Reverse::new(prim, &wanted.iter().map(|wanted| wanted.value).collect::<Vec<_>>());
    for (&place, name) in seeded.iter().zip(&names) {
        let (output, attr) = (outputs[place], function.cx().i64_attr(place as i64));
        let (cotangent, name) = signature.add_argument(output.ty(), "input", name, &[(capture::COTANGENT, attr)]);
        reverse.add(output, alike(prim, cotangent, output, &name));
    }
    let done = reverse.block(signature.block)?;
    // A loop that is differentiated makes room for one that keeps more.
    for ((result, _), value) in signature.results.iter_mut().zip(signature.end.operands()) {
        *result = value;
    }
    for wanted in &wanted {
        let cotangent = reverse.cotangent(wanted.value);
        let gradient = declared(prim, cotangent, wanted.value);
        let of = (capture::GRADIENT, function.cx().str_attr(&wanted.name));
        let none = (capture::NO_GRADIENT, function.cx().unit());
        let said = if cotangent.is_some() { vec![of] } else { vec![of, none] };
        signature.add_output(gradient, &format!("grad_{}", wanted.name), &said);
    }
    if let Some(message) = prim.take_error() {
        return Err(Reason::Row(message).at(function));
    }
    signature.write(prim);
    Ok(done)
}

/// The arguments named, in the order in which they are named.
fn wanted<'c>(signature: &Signature<'c>, wrt: &[String]) -> Result<Vec<Wanted<'c>>, String> {
    let arguments = signature.block.args();
    let name = |at: usize| signature.name(at);
    let inputs: Vec<_> = (0..arguments.len()).filter(|at| signature.is_input(*at)).collect();
    let place = |wanted: &String| {
        let named = (0..arguments.len()).find(|at| name(*at) == *wanted);
        let numbered = || wanted.strip_prefix("in_").and_then(|k| k.parse().ok()).and_then(|k: usize| inputs.get(k).copied());
        named.or_else(numbered).ok_or_else(|| {
            let known: Vec<_> = (0..arguments.len()).map(name).collect();
            format!("there is no argument `{wanted}` to differentiate by; there are {}", known.join(", "))
        })
    };
    let required = |at: &usize| signature.arguments[*at].entry(capture::REQUIRES_GRAD).is_some();
    let places = match wrt {
        [] => (0..arguments.len()).filter(required).collect(),
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

/// The places of the gradients of a joint program.
fn gradients(signature: &Signature<'_>) -> Result<Vec<usize>, String> {
    let is_gradient = |place: &usize| text(signature.results[*place].1, capture::GRADIENT).is_some();
    let places: Vec<_> = (0..signature.results.len()).filter(is_gradient).collect();
    if places.is_empty() {
        return Err("computes no gradients to differentiate once more; run --differentiate first".to_owned());
    }
    Ok(places)
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
pub(super) fn alike<'p>(prim: &'p Prim<'p>, cotangent: Value<'p>, output: Value<'p>, name: &str) -> Tensor<'p> {
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
pub(super) fn declared<'p>(prim: &'p Prim<'p>, gradient: Option<Tensor<'p>>, argument: Value<'p>) -> Value<'p> {
    let like = prim.tensor(argument);
    let gradient = gradient.unwrap_or_else(|| like.filled(Scalar::Int(0))).convert(like.dtype());
    if gradient.ty() == argument.ty() { gradient.value() } else { prim.retype(gradient, argument.ty()) }
}
