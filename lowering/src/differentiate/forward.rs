//! Forward mode: a joint program becomes one that takes tangents of arguments and gives tangents of outputs.
//!
//! The gradients of a joint program are linear in its cotangents. What is linear has a transpose, and the transpose of that is what
//! tangents go through: the rows of the tables are read backwards a second time, with the tangents as cotangents of the gradients. What
//! only made gradients has no users then.

use std::collections::HashMap;

use strata_core::ir::Op;
use strata_core::pass::PassError;
use strata_dialects::capture;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Prim, Scalar};

use super::Reason;
use super::reverse::Reverse;
use super::signature::{alike, declared};
use crate::signature::{Signature, text};

/// Whether a function is a joint program.
pub(super) fn is_joint(function: Op<'_>) -> bool {
    Signature::of(function).is_ok_and(|signature| signature.results.iter().any(|(_, attr)| attr.entry(capture::GRADIENT).is_some()))
}

/// Turns a joint program around; gives the number of ops differentiated.
pub(super) fn forward(function: Op<'_>) -> Result<usize, PassError> {
    let prim = Prim::new(function.body(0), function.location());
    build(&prim, function)
}

fn build<'c>(prim: &'c Prim<'c>, function: Op<'c>) -> Result<usize, PassError> {
    let mut signature = Signature::of(function).map_err(|reason| Reason::Options(reason).at(function))?;
    let place = |at: usize, signature: &Signature<'c>| signature.arguments[at].entry(capture::COTANGENT).and_then(|place| place.as_int());
    let cotangents: Vec<_> = (0..signature.arguments.len()).filter_map(|at| Some((at, place(at, &signature)? as usize))).collect();
    let values: Vec<_> = cotangents.iter().map(|(at, _)| signature.block.arg(*at)).collect();
    let (gradients, results): (Vec<_>, Vec<_>) =
        std::mem::take(&mut signature.results).into_iter().partition(|(_, attr)| text(*attr, capture::GRADIENT).is_some());
    signature.results = results;

    prim.set_before(signature.end);
    let mut reverse = Reverse::new(prim, &values);
    for (gradient, attr) in gradients {
        let name = format!("tan_{}", text(attr, capture::GRADIENT).unwrap_or_default());
        let (tangent, name) = signature.add_argument(gradient.ty(), "input", &name, &[]);
        if attr.entry(capture::NO_GRADIENT).is_none() {
            reverse.add(gradient, alike(prim, tangent, gradient, &name));
        }
    }
    let done = reverse.block(signature.block)?;
    for ((_, place), value) in cotangents.iter().zip(&values) {
        let tangent = declared(prim, reverse.cotangent(*value), *value);
        signature.add_output(tangent, &format!("tan_{place}"), &[]);
    }
    // The last argument first, so that the places of the others stay.
    for (at, place) in cotangents.into_iter().rev() {
        take_away(prim, &mut signature, at, place);
    }
    if let Some(message) = prim.take_error() {
        return Err(Reason::Row(message).at(function));
    }
    signature.write(prim);
    Ok(done)
}

/// Takes a cotangent away: zeros stand for it in what is not used any more.
fn take_away<'c>(prim: &'c Prim<'c>, signature: &mut Signature<'c>, at: usize, place: usize) {
    let cotangent = signature.block.arg(at);
    let output = signature.results[place].0;
    let order: HashMap<_, _> = signature.block.ops().into_iter().enumerate().map(|(at, op)| (op, at)).collect();
    let (sizes, users): (Vec<_>, Vec<_>) = cotangent.uses().into_iter().map(|user| user.op).partition(|op| op.isa::<prim::Dim>());
    let of_sizes = sizes.iter().flat_map(|op| op.result(0).uses()).map(|user| user.op);
    // All of it stands behind the output.
    let first = users
        .iter()
        .copied()
        .chain(of_sizes)
        .filter_map(|op| order.get(&statement(signature, op)).map(|at| (*at, statement(signature, op))));
    let Some((_, first)) = first.min_by_key(|(at, _)| *at) else {
        sizes.into_iter().for_each(|op| prim.erase(op));
        return signature.erase_argument(prim, at);
    };
    prim.set_before(first);
    let zeros = prim.tensor(output).filled(Scalar::Int(0));
    let zeros = if zeros.ty() == cotangent.ty() { zeros.value() } else { prim.retype(zeros, cotangent.ty()) };
    sizes.into_iter().for_each(|op| prim.build(|rewriter| rewriter.move_before(op, first)));
    signature.replace_argument(prim, at, zeros);
}

/// The op of the body that an op is, or stands in.
fn statement<'c>(signature: &Signature<'c>, op: Op<'c>) -> Op<'c> {
    let mut op = op;
    while op.block() != Some(signature.block) {
        let Some(parent) = op.parent() else { break };
        op = parent;
    }
    op
}
