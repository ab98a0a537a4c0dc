//! Control flow on buffers.
//!
//! A loop's tensors live in slots allocated before it: the body reads the slots, and what it yields is copied into them through
//! temporaries, so that a body may yield its own arguments in another order.

use super::Error;
use super::convert::{Converter, Tensor};
use crate::num::Num;
use strata_core::ir::{Block, DYNAMIC, Op, OpSpec, Type, Value};
use strata_core::upstream::scf;
use strata_dialects::loops;

/// Values a region hands on: for a tensor its buffer and the sizes that its type leaves open, else the scalar.
fn handed<'c>(converter: &mut Converter<'c>, op: Op<'c>, value: Value<'c>) -> Result<Vec<Value<'c>>, Error> {
    if !value.ty().is_tensor() {
        return Ok(vec![converter.scalar(value)]);
    }
    let tensor = converter.tensor(op, value)?;
    let open = value.ty().shape().into_iter().zip(&tensor.sizes).filter(|(size, _)| *size == DYNAMIC).map(|(_, &size)| size);
    let open: Vec<_> = open.collect();
    Ok(std::iter::once(tensor.buffer).chain(open.into_iter().map(|size| size.value(&mut converter.b))).collect())
}

/// Types of what [`handed`] gives.
fn handed_types<'c>(converter: &Converter<'c>, op: Op<'c>, value: Value<'c>) -> Result<Vec<Type<'c>>, Error> {
    if !value.ty().is_tensor() {
        return Ok(vec![value.ty()]);
    }
    let buffer = converter.buffer_type(converter.element(op, value)?);
    let open = value.ty().shape().into_iter().filter(|size| *size == DYNAMIC).count();
    Ok(std::iter::once(buffer).chain(std::iter::repeat_n(converter.cx.index(), open)).collect())
}

/// Takes what [`handed`] gave as the value `value` of the old function.
fn receive<'c>(converter: &mut Converter<'c>, value: Value<'c>, handed: &mut impl Iterator<Item = Value<'c>>) {
    let Some(first) = handed.next() else { return };
    if !value.ty().is_tensor() {
        converter.scalars.insert(value, first);
        return;
    }
    let sizes = value
        .ty()
        .shape()
        .into_iter()
        .map(|size| if size == DYNAMIC { handed.next().map_or(Num::Const(0), Num::Value) } else { Num::Const(size) });
    let sizes = sizes.collect();
    converter.tensors.insert(value, Tensor { buffer: first, sizes });
}

/// `scf.if`: each branch hands its buffers on.
pub fn convert_if<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let condition = converter.scalar(op.operand(0));
    let mut types = Vec::new();
    for result in op.results() {
        types.extend(handed_types(converter, op, result)?);
    }
    let new = converter.b.op(OpSpec { name: scf::If::NAME, operands: &[condition], results: &types, regions: 2, ..OpSpec::default() });
    for region in 0..2 {
        let Some(block) = op.region(region).entry() else { continue };
        let inner = new.region(region).append_block(&[], op.location());
        inside(converter, new, inner, |converter| {
            let terminator = branch(converter, block)?;
            let mut values = Vec::new();
            for value in terminator.operands() {
                values.extend(handed(converter, terminator, value)?);
            }
            scf::yield_(&mut converter.b, &values);
            Ok(())
        })?;
    }
    let mut results = new.results().into_iter();
    for result in op.results() {
        receive(converter, result, &mut results);
    }
    Ok(())
}

/// `arith.select` of tensors, which MLIR makes of a branch that computes nothing: a branch again, which hands one of two buffers on.
pub fn convert_select<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let condition = converter.scalar(op.operand(0));
    let types = handed_types(converter, op, op.result(0))?;
    let new = converter.b.op(OpSpec { name: scf::If::NAME, operands: &[condition], results: &types, regions: 2, ..OpSpec::default() });
    for region in 0..2 {
        let inner = new.region(region).append_block(&[], op.location());
        inside(converter, new, inner, |converter| {
            let values = handed(converter, op, op.operand(1 + region))?;
            scf::yield_(&mut converter.b, &values);
            Ok(())
        })?;
    }
    receive(converter, op.result(0), &mut new.results().into_iter());
    Ok(())
}

/// Converts all ops of a block but its terminator, which is given back.
fn branch<'c>(converter: &mut Converter<'c>, block: Block<'c>) -> Result<Op<'c>, Error> {
    let mut terminator = None;
    for op in block.ops() {
        if op.next().is_none() {
            terminator = Some(op);
        } else {
            converter.single(op)?;
        }
    }
    terminator.ok_or_else(|| {
        let parent = block.parent_op();
        parent.map_or_else(
            || Error { location: String::new(), op: String::new(), reason: "a region is empty".into() },
            |op| Error::at(op, "a region is empty"),
        )
    })
}

/// Writes code into `block`, then continues after `op`.
fn inside<'c>(
    converter: &mut Converter<'c>,
    op: Op<'c>,
    block: Block<'c>,
    build: impl FnOnce(&mut Converter<'c>) -> Result<(), Error>,
) -> Result<(), Error> {
    converter.b.set_at_end(block);
    let result = build(converter);
    if let Some(around) = op.block() {
        converter.b.set_at_end(around);
    }
    result
}

/// Slots for the tensors that a loop carries, holding their first values. Scalars are given back to be carried as they are.
fn slots<'c>(converter: &mut Converter<'c>, op: Op<'c>, values: &[Value<'c>]) -> Result<Vec<Option<Tensor<'c>>>, Error> {
    let mut slots = Vec::new();
    for &value in values {
        slots.push(if value.ty().is_tensor() {
            let first = converter.tensor(op, value)?;
            let element = converter.element(op, value)?;
            let slot = converter.alloc(element, first.sizes.clone());
            converter.copy(&first, &slot);
            Some(slot)
        } else {
            None
        });
    }
    Ok(slots)
}

/// Copies yielded tensors into their slots; gives the scalars.
fn refill<'c>(
    converter: &mut Converter<'c>,
    op: Op<'c>,
    values: &[Value<'c>],
    slots: &[Option<Tensor<'c>>],
) -> Result<Vec<Value<'c>>, Error> {
    let mut scalars = Vec::new();
    let mut moves = Vec::new();
    for (&value, slot) in values.iter().zip(slots) {
        let Some(slot) = slot else {
            scalars.push(converter.scalar(value));
            continue;
        };
        let tensor = converter.tensor(op, value)?;
        if tensor.buffer == slot.buffer {
            continue;
        }
        let fresh = value.defining_op().is_some_and(|def| def.isa::<loops::Call>());
        let source = if fresh {
            tensor
        } else {
            let element = converter.element(op, value)?;
            let temporary = converter.alloc(element, tensor.sizes.clone());
            converter.copy(&tensor, &temporary);
            temporary
        };
        // The slot has the memory that the first value needed.
        for (found, wanted) in source.sizes.clone().into_iter().zip(slot.sizes.clone()) {
            converter.same_elements(&[wanted], &[found]);
        }
        moves.push((source, slot.clone()));
    }
    for (source, slot) in moves {
        converter.copy(&source, &slot);
    }
    Ok(scalars)
}

/// Makes the tensors among `values` those of the slots, and the scalars those of `scalars`.
fn bind<'c>(converter: &mut Converter<'c>, values: &[Value<'c>], slots: &[Option<Tensor<'c>>], scalars: &[Value<'c>]) {
    let mut scalars = scalars.iter();
    for (&value, slot) in values.iter().zip(slots) {
        match slot {
            Some(slot) => {
                converter.tensors.insert(value, slot.clone());
            }
            None => {
                if let Some(&scalar) = scalars.next() {
                    converter.scalars.insert(value, scalar);
                }
            }
        }
    }
}

/// `scf.for` with slots.
pub fn convert_for<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let bounds: Vec<_> = op.operands()[..3].iter().map(|&bound| converter.scalar(bound)).collect();
    let carried = op.operands()[3..].to_vec();
    let slots = slots(converter, op, &carried)?;
    let scalars: Vec<_> = carried.iter().filter(|value| !value.ty().is_tensor()).map(|&value| converter.scalar(value)).collect();
    let types: Vec<_> = scalars.iter().map(|value| value.ty()).collect();
    let operands = [bounds, scalars].concat();
    let new = converter.b.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
    let arguments = [&[converter.cx.index()], types.as_slice()].concat();
    let inner = new.region(0).append_block(&arguments, op.location());
    let block = op.body(0);
    inside(converter, new, inner, |converter| {
        let (old, fresh) = (block.args(), inner.args());
        converter.scalars.insert(old[0], fresh[0]);
        bind(converter, &old[1..], &slots, &fresh[1..]);
        let terminator = branch(converter, block)?;
        let scalars = refill(converter, terminator, &terminator.operands(), &slots)?;
        scf::yield_(&mut converter.b, &scalars);
        Ok(())
    })?;
    bind(converter, &op.results(), &slots, &new.results());
    Ok(())
}

/// `scf.while` with slots. What the first region hands to the second one has slots of its own.
pub fn convert_while<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let carried = op.operands();
    let slots = slots(converter, op, &carried)?;
    let (before, after) = (op.body(0), op.body(1));
    let passed = before.terminator().map(|op| op.operands()[1..].to_vec()).unwrap_or_default();
    // A tensor that is passed on unchanged stays in its slot.
    let mut passed_slots = Vec::new();
    for &value in &passed {
        passed_slots.push(if !value.ty().is_tensor() {
            None
        } else if value.owner_block() == Some(before) {
            slots[value.index()].clone()
        } else {
            if !value.ty().is_static() {
                return Err(Error::at(op, "a loop's condition passes a tensor of symbolic size on"));
            }
            let sizes = value.ty().shape().into_iter().map(Num::Const).collect();
            let element = converter.element(op, value)?;
            Some(converter.alloc(element, sizes))
        });
    }
    let scalars: Vec<_> = carried.iter().filter(|value| !value.ty().is_tensor()).map(|&value| converter.scalar(value)).collect();
    let types: Vec<_> = scalars.iter().map(|value| value.ty()).collect();
    let passed_types: Vec<_> = passed.iter().map(|value| value.ty()).filter(|ty| !ty.is_tensor()).collect();
    let new =
        converter.b.op(OpSpec { name: scf::While::NAME, operands: &scalars, results: &passed_types, regions: 2, ..OpSpec::default() });
    let first = new.region(0).append_block(&types, op.location());
    inside(converter, new, first, |converter| {
        bind(converter, &before.args(), &slots, &first.args());
        let terminator = branch(converter, before)?;
        let scalars = refill(converter, terminator, &passed, &passed_slots)?;
        let condition = converter.scalar(terminator.operand(0));
        scf::condition(&mut converter.b, condition, &scalars);
        Ok(())
    })?;
    let second = new.region(1).append_block(&passed_types, op.location());
    inside(converter, new, second, |converter| {
        bind(converter, &after.args(), &passed_slots, &second.args());
        let terminator = branch(converter, after)?;
        let scalars = refill(converter, terminator, &terminator.operands(), &slots)?;
        scf::yield_(&mut converter.b, &scalars);
        Ok(())
    })?;
    bind(converter, &op.results(), &passed_slots, &new.results());
    Ok(())
}
