//! Indexed reads and writes, and running combinations: `gather`, `scatter`, `scan`.

use super::Error;
use super::kernel::{Kernel, element_of};
use super::stage::{Kind, Stage};
use strata_core::ir::{AffineExpr, ElementType, Op, Value};
use strata_dialects::loops::elements::register_type;
use strata_dialects::prim::scalar::{self, accumulator};
use strata_dialects::{loops, prim};

/// The element of a `prim.gather`: a bounds-checked load at computed indices.
pub fn gather<'c>(kernel: &mut Kernel<'c>, stage: &mut Stage<'c>, op: Op<'c>, indices: &[AffineExpr<'c>]) -> Result<Value<'c>, Error> {
    let data = op.operand(0);
    if data.defining_op().is_some_and(|def| def.parent() == Some(kernel.fusion)) {
        return Err(Error::at(op, "it gathers from a value that the same fusion computes; materialise that value first"));
    }
    let tensor = kernel.input(data);
    let dims = op.ints("dims").unwrap_or_default();
    let index_rank = op.operand(1).ty().rank();
    let mut operands = vec![tensor; 1 + data.ty().rank()];
    for (count, &dim) in dims.iter().enumerate() {
        operands[1 + dim as usize] = position(kernel, stage, op, op.operand(1 + count), &indices[..index_rank])?;
    }
    for (dim, &index) in rest(data, &dims).zip(&indices[index_rank..]) {
        operands[1 + dim] = stage.index(kernel, index);
    }
    let element = register_type(kernel.cx(), element_of(op, data.ty())?);
    let in_bounds = op.attr("in_bounds").map(|unit| ("in_bounds", unit));
    Ok(stage.b.value(loops::Load::NAME, &operands, element, in_bounds.as_slice()))
}

/// The dimensions of a tensor that are not indexed.
fn rest(data: Value<'_>, indexed: &[i64]) -> impl Iterator<Item = usize> {
    (0..data.ty().rank()).filter(|dim| !indexed.contains(&(*dim as i64)))
}

/// An element of an index tensor as an `index` value.
fn position<'c>(
    kernel: &mut Kernel<'c>,
    stage: &mut Stage<'c>,
    op: Op<'c>,
    tensor: Value<'c>,
    at: &[AffineExpr<'c>],
) -> Result<Value<'c>, Error> {
    if let Some(dim) = counts_along(kernel, tensor) {
        return Ok(stage.index(kernel, at[dim]));
    }
    let from = element_of(op, tensor.ty())?;
    let element = kernel.element(stage, tensor, at)?;
    Ok(scalar::convert(&mut stage.b, element, from, ElementType::Index))
}

/// The dimension whose index an index tensor repeats, if it is such a one and part of the fusion.
fn counts_along<'c>(kernel: &Kernel<'c>, tensor: Value<'c>) -> Option<usize> {
    let op = tensor.defining_op().filter(|op| op.isa::<prim::Iota>() && op.parent() == Some(kernel.fusion))?;
    op.int("dim").and_then(|dim| usize::try_from(dim).ok())
}

/// The stage of an op that writes its whole result itself.
pub fn root_stage<'c>(kernel: &mut Kernel<'c>, op: Op<'c>) -> Result<Op<'c>, Error> {
    if op.isa::<prim::Scan>() { scan(kernel, op) } else { scatter(kernel, op) }
}

fn scan<'c>(kernel: &mut Kernel<'c>, op: Op<'c>) -> Result<Op<'c>, Error> {
    let domain = kernel.dims_of(op.result(0))?;
    let dim = domain[op.int("dim").unwrap_or_default() as usize];
    let reducer = op.str("kind").unwrap_or_default();
    let to = element_of(op, op.result(0).ty())?;
    let from = element_of(op, op.operand(0).ty())?;
    let kind = Kind::Scan { dim, reducer: &reducer };
    let mut stage = Stage::open(kernel, None, &domain, &kind, &[op.result(0).ty()], "buffer");
    let at: Vec<_> = domain.iter().map(|&dim| kernel.cx().dim(dim)).collect();
    let element = kernel.element(&mut stage, op.operand(0), &at)?;
    let element = scalar::convert(&mut stage.b, element, from, accumulator(to));
    Ok(stage.close(kernel, &[element]))
}

/// The dims that the updates of a scatter run over: those of the destination where they are the same, new ones elsewhere.
fn updated_dims<'c>(kernel: &mut Kernel<'c>, op: Op<'c>, whole: &[usize], dims: &[i64]) -> Result<Vec<usize>, Error> {
    let (data, updates, index_rank) = (op.operand(0), op.operand(1), op.operand(2).ty().rank());
    let mut domain: Vec<Option<usize>> = vec![None; index_rank];
    for (count, &dim) in dims.iter().enumerate() {
        let Some(along) = counts_along(kernel, op.operand(2 + count)) else { continue };
        if kernel.size(updates, along)? == kernel.size(data, dim as usize)? {
            domain[along].get_or_insert(whole[dim as usize]);
        }
    }
    domain.extend(rest(data, dims).map(|dim| Some(whole[dim])));
    let dim = |(at, known): (usize, Option<usize>)| match known {
        Some(dim) => Ok(dim),
        None => kernel.size(updates, at).map(|size| kernel.fresh_dim(size)),
    };
    domain.into_iter().enumerate().map(dim).collect()
}

/// A copy of the destination, then ordered writes into it. Both run over the same dims where an index of the destination is an index of
/// the updates as it is: iterations of such a dim are independent of each other.
fn scatter<'c>(kernel: &mut Kernel<'c>, op: Op<'c>) -> Result<Op<'c>, Error> {
    let (data, updates) = (op.operand(0), op.operand(1));
    let to = element_of(op, data.ty())?;
    let whole = kernel.dims_of(op.result(0))?;
    let at: Vec<_> = whole.iter().map(|&dim| kernel.cx().dim(dim)).collect();
    let mut copy = Stage::open(kernel, None, &whole, &Kind::Map, &[op.result(0).ty()], "buffer");
    let element = kernel.element(&mut copy, data, &at)?;
    let copied = copy.close(kernel, &[element]).result(0);

    let dims = op.ints("dims").unwrap_or_default();
    let kind = op.str("kind").unwrap_or_default();
    let index_rank = op.operand(2).ty().rank();
    let domain = updated_dims(kernel, op, &whole, &dims)?;
    let at: Vec<_> = domain.iter().map(|&dim| kernel.cx().dim(dim)).collect();
    let in_bounds = op.attr("in_bounds").is_some();
    let mut stage = Stage::open(kernel, None, &domain, &Kind::Scatter { kind: &kind, in_bounds }, &[op.result(0).ty()], "buffer");
    // The first operand is written, not read: its block argument is the element before the write at the written place.
    let element_type = register_type(kernel.cx(), to);
    let written: Vec<_> = whole.iter().map(|_| kernel.cx().constant(0)).collect();
    stage.read(copied, &written, element_type);
    let mut yields = vec![copied; data.ty().rank()];
    for (count, &dim) in dims.iter().enumerate() {
        yields[dim as usize] = position(kernel, &mut stage, op, op.operand(2 + count), &at[..index_rank])?;
    }
    for (dim, &index) in rest(data, &dims).zip(&at[index_rank..]) {
        yields[dim] = stage.index(kernel, index);
    }
    yields.push(kernel.element(&mut stage, updates, &at)?);
    Ok(stage.close(kernel, &yields))
}
