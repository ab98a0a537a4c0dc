//! Sizes that only a call knows: a program that has some is imported for the sizes of one call, and the arithmetic on them is done meanwhile.

use strata_core::ir::{self, Cx, DYNAMIC, ElementType, Op, Type};
use strata_dialects::aten::{Scalar, op};

use super::attributes::{in_pairs, int};
use super::importer::{Importer, ty};
use super::operators::{Made, broadcast, iota, padded_between, slice};
use super::{index, product};
use crate::args::{is, t};
use crate::fold;
use crate::operators::Constant;
use crate::signature::{Leaf, Signature};
use crate::types;

/// The types of the entry's arguments, for a call of this signature.
pub(super) fn arguments<'c>(cx: Cx<'c>, declared: &[Type<'_>], signature: Option<&Signature>) -> Result<Vec<Type<'c>>, String> {
    let declared = declared.iter().map(|declared| ty(cx, *declared)).collect::<Result<Vec<_>, _>>()?;
    let open = declared.iter().position(|ty| !ty.is_static());
    let Some(leaves) = signature.map(|signature| &signature.0) else {
        return match open {
            None => Ok(declared),
            Some(k) => Err(format!(
                "the sizes of argument {k}, {}, must be known when the model is imported; give those of a call by --inputs or --signature, \
                 as in --signature 'f32[2x3]'",
                declared[k]
            )),
        };
    };
    if open.is_none() {
        return Err("the program says all its sizes; leave --signature out".to_owned());
    }
    if leaves.len() != declared.len() {
        return Err(format!("the program has {} arguments, and the call {}", declared.len(), leaves.len()));
    }
    let given = leaves.iter().zip(&declared).enumerate().map(|(k, (leaf, declared))| {
        let given = match leaf {
            Leaf::Tensor(dtype, sizes) => sizes.iter().copied().collect::<Option<Vec<_>>>().map(|sizes| types::spelled(cx, dtype, &sizes)),
            Leaf::Elements(dtype, sizes, _) => Some(types::spelled(cx, dtype, sizes)),
            _ => None,
        };
        let given = given.ok_or_else(|| format!("argument {k} is {declared}, and the call gives {leaf}"))??;
        if agree(*declared, given) { Ok(given) } else { Err(format!("argument {k} is {declared}, and the call gives {given}")) }
    });
    given.collect()
}

/// Whether a type is one that the text declares: sizes agree where it knows them.
pub(super) fn agree(declared: Type<'_>, found: Type<'_>) -> bool {
    let sizes = |(declared, found): (&i64, &i64)| *declared == DYNAMIC || declared == found;
    declared.element() == found.element() && declared.rank() == found.rank() && declared.shape().iter().zip(&found.shape()).all(sizes)
}

/// The integers of a tensor that follows from sizes.
pub(super) fn known<'c>(m: &Importer<'_, '_, 'c>, value: ir::Value<'c>) -> Result<Vec<i64>, String> {
    let weight = |value: ir::Value<'c>| m.constant_weight(value);
    let (found, _) = fold::constant(m.operators(), &weight, value);
    let Constant { dtype, bytes, .. } = found.ok_or("it reads sizes that depend on what a tensor of the call holds")?;
    let width = dtype.bytes();
    let integer = |chunk: &[u8]| {
        let mut wide = [if dtype.is_signed() && chunk.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 }; 8];
        wide[..width].copy_from_slice(chunk);
        i64::from_le_bytes(wide)
    };
    match dtype.is_integer() || dtype == ElementType::Bool {
        true => Ok(bytes.chunks_exact(width).map(integer).collect()),
        false => Err(format!("its sizes are of {dtype}")),
    }
}

/// Imports an op whose sizes are operands; nothing for other ops.
pub(super) fn import<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, name: &str, operands: &[ir::Value<'c>]) -> Option<Made<'c>> {
    Some(match (name, operands) {
        ("get_dimension_size", [x]) => size(m, op, *x),
        ("dynamic_broadcast_in_dim", [x, sizes]) => known(m, *sizes).and_then(|sizes| broadcast(m, op, *x, &sizes)),
        ("dynamic_iota", [sizes]) => known(m, *sizes).and_then(|sizes| iota(m, op, &sizes)),
        ("dynamic_reshape", [x, sizes]) => known(m, *sizes).and_then(|sizes| m.emit(op::RESHAPE, &[t(*x), is(&sizes)])),
        ("real_dynamic_slice", [x, starts, ends, steps]) => {
            known(m, *starts).and_then(|starts| slice(m, *x, &starts, &known(m, *ends)?, &known(m, *steps)?))
        }
        ("dynamic_pad", [x, value, low, high, between]) => {
            known(m, *low).and_then(|low| padded_between(m, *x, (&low, &known(m, *high)?, &known(m, *between)?), *value))
        }
        ("dynamic_gather", [x, starts, sizes]) => known(m, *sizes).and_then(|sizes| index::gather(m, op, *x, *starts, sizes)),
        ("dynamic_conv", [x, weight, pads]) => known(m, *pads).and_then(|pads| product::convolution(m, op, *x, *weight, in_pairs(&pads))),
        _ => return None,
    })
}

/// A size of a tensor.
fn size<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>) -> Made<'c> {
    let dim = usize::try_from(int(op, "dimension")?).unwrap_or(usize::MAX);
    let size = x.ty().shape().get(dim).copied().ok_or("its dimension is none of its operand")?;
    m.full(&[], Scalar::Int(size), ElementType::I32)
}

/// `shape_assertion` of JAX's exports: what the sizes of a call are to be.
pub(super) fn assertion<'s, 'c>(m: &Importer<'_, 's, 'c>, op: Op<'s>, operands: &[ir::Value<'c>]) -> Result<(), String> {
    let [holds, told @ ..] = operands else { return Err("it has no condition".to_owned()) };
    if known(m, *holds)? == [1] {
        return Ok(());
    }
    let message = op.str("error_message").unwrap_or_default();
    let message = told.iter().enumerate().try_fold(message, |message, (k, value)| {
        let number = known(m, *value)?.first().copied().unwrap_or_default();
        Ok::<_, String>(message.replace(&format!("{{{k}}}"), &number.to_string()))
    });
    Err(message?)
}
