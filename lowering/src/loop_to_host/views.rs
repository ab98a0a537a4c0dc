//! Views: the memory of a tensor with other sizes.

use super::Error;
use super::convert::{Converter, Tensor};
use crate::num::Num;
use strata_core::ir::{ElementType, Op};
use strata_dialects::host;

/// What an op of the edge does to dims.
pub(super) fn permutation(op: Op<'_>) -> Option<Vec<usize>> {
    op.ints("perm")?.into_iter().map(|dim| usize::try_from(dim).ok()).collect()
}

/// `capture.permute`: the sizes in another order.
pub(super) fn permute<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let source = converter.tensor(op, op.operand(0))?;
    let perm = permutation(op).ok_or_else(|| Error::at(op, "it has no permutation"))?;
    let sizes = perm.into_iter().map(|dim| source.sizes[dim]).collect();
    converter.tensors.insert(op.result(0), Tensor { buffer: source.buffer, sizes });
    Ok(())
}

/// `prim.reshape`: as many elements in another shape.
pub(super) fn reshape<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let source = converter.tensor(op, op.operand(0))?;
    let sizes = converter.sizes_from(op, 1);
    converter.same_elements(&source.sizes, &sizes);
    converter.tensors.insert(op.result(0), Tensor { buffer: source.buffer, sizes });
    Ok(())
}

/// `loop.words`: several elements are one.
pub(super) fn words<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let Tensor { buffer, mut sizes } = converter.tensor(op, op.operand(0))?;
    let (start, ty) = (converter.b.const_index(0), converter.buffer_type(ElementType::I32));
    if let (Some(last), Some(&words)) = (sizes.last_mut(), op.result(0).ty().shape().last()) {
        *last = Num::Const(words);
    }
    let buffer = converter.b.value(host::Slice::NAME, &[buffer, start], ty, &[]);
    converter.tensors.insert(op.result(0), Tensor { buffer, sizes });
    Ok(())
}
