//! Control flow on buffers.
//!
//! A loop's tensors live in slots allocated before it: the body reads the slots, and what it yields is copied into them through
//! temporaries, so that a body may yield its own arguments in another order. A tensor of symbolic sizes may have others after each step:
//! the loop carries its slot and its sizes, and a step that yields another number of elements allocates another slot.

use super::Error;
use super::convert::{Converter, Tensor};
use crate::num::Num;
use strata_core::ir::{Block, Builder, DYNAMIC, ElementType, Op, OpSpec, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;
use strata_dialects::{host, loops};

/// Values a region hands on: for a tensor its buffer and the sizes that its type leaves open, else the scalar.
fn handed<'c>(converter: &mut Converter<'c>, op: Op<'c>, value: Value<'c>) -> Result<Vec<Value<'c>>, Error> {
    if !value.ty().is_tensor() {
        return Ok(vec![converter.scalar(value)]);
    }
    let tensor = converter.tensor(op, value)?;
    Ok(handed_of(converter, value, &tensor))
}

/// What is handed on of a tensor: its buffer and the sizes that its type leaves open.
fn handed_of<'c>(converter: &mut Converter<'c>, value: Value<'c>, tensor: &Tensor<'c>) -> Vec<Value<'c>> {
    let open = value.ty().shape().into_iter().zip(&tensor.sizes).filter(|(size, _)| *size == DYNAMIC).map(|(_, &size)| size);
    let open: Vec<_> = open.collect();
    std::iter::once(tensor.buffer).chain(open.into_iter().map(|size| size.value(&mut converter.b))).collect()
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

/// Where a loop keeps a value.
enum Slot<'c> {
    /// A scalar, which the loop carries as it is.
    Scalar,
    /// A tensor of known sizes in memory of its own.
    Fixed(Tensor<'c>),
    /// A tensor whose sizes may change from step to step: the loop carries its memory and its sizes.
    Open,
}

/// Slots for the values that a loop carries, and the loop's operands for them: scalars, and for tensors of symbolic sizes memory that holds
/// the first value, and sizes.
fn slots<'c>(converter: &mut Converter<'c>, op: Op<'c>, values: &[Value<'c>]) -> Result<(Vec<Slot<'c>>, Vec<Value<'c>>), Error> {
    let (mut slots, mut operands) = (Vec::new(), Vec::new());
    for &value in values {
        if !value.ty().is_tensor() {
            slots.push(Slot::Scalar);
            operands.push(converter.scalar(value));
            continue;
        }
        let first = converter.tensor(op, value)?;
        let element = converter.element(op, value)?;
        let slot = converter.alloc(element, first.sizes.clone());
        converter.copy(&first, &slot);
        if value.ty().is_static() {
            slots.push(Slot::Fixed(slot));
        } else {
            operands.extend(handed_of(converter, value, &slot));
            slots.push(Slot::Open);
        }
    }
    Ok((slots, operands))
}

/// The types of what a loop carries for these values.
fn carried_types<'c>(converter: &Converter<'c>, op: Op<'c>, values: &[Value<'c>]) -> Result<Vec<Type<'c>>, Error> {
    let mut types = Vec::new();
    for &value in values.iter().filter(|value| !value.ty().is_tensor() || !value.ty().is_static()) {
        types.extend(handed_types(converter, op, value)?);
    }
    Ok(types)
}

/// Copies yielded tensors into their slots; gives what the loop carries on. `held` are the values whose memory the slots of symbolic sizes
/// have in this step, where there are some.
fn refill<'c>(
    converter: &mut Converter<'c>,
    op: Op<'c>,
    values: &[Value<'c>],
    slots: &[Slot<'c>],
    held: &[Option<Value<'c>>],
) -> Result<Vec<Value<'c>>, Error> {
    // All are read before one is written.
    let mut moves = Vec::new();
    for ((&value, slot), held) in values.iter().zip(slots).zip(held) {
        let known = match slot {
            Slot::Scalar => {
                moves.push(None);
                continue;
            }
            Slot::Fixed(slot) => Some(slot.clone()),
            Slot::Open => held.map(|held| converter.tensor(op, held)).transpose()?,
        };
        let tensor = converter.tensor(op, value)?;
        if known.as_ref().is_some_and(|slot| tensor.buffer == slot.buffer) {
            moves.push(Some((tensor, None)));
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
        if let Slot::Fixed(slot) = slot {
            // The slot has the memory that the first value needed.
            for (found, wanted) in source.sizes.clone().into_iter().zip(slot.sizes.clone()) {
                converter.same_elements(&[wanted], &[found]);
            }
        }
        moves.push(Some((source, Some(known))));
    }
    let mut carried = Vec::new();
    for ((&value, slot), moved) in values.iter().zip(slots).zip(moves) {
        match (slot, moved) {
            (Slot::Fixed(_), Some((source, Some(Some(slot))))) => converter.copy(&source, &slot),
            (Slot::Open, Some((source, None))) => carried.extend(handed_of(converter, value, &source)),
            (Slot::Open, Some((source, Some(known)))) => {
                let element = converter.element(op, value)?;
                let slot = roomy(converter, op, known, &source, element);
                converter.copy(&source, &slot);
                carried.extend(handed_of(converter, value, &slot));
            }
            (Slot::Scalar, _) => carried.push(converter.scalar(value)),
            _ => {}
        }
    }
    Ok(carried)
}

/// Memory for as many elements as a tensor has: that of the slot, or other where the slot has another number of them.
fn roomy<'c>(converter: &mut Converter<'c>, op: Op<'c>, slot: Option<Tensor<'c>>, like: &Tensor<'c>, element: ElementType) -> Tensor<'c> {
    let Some(slot) = slot else { return converter.alloc(element, like.sizes.clone()) };
    let elements = converter.checked_elements(&like.sizes, element);
    let (wanted, there) = (elements.value(&mut converter.b), converter.elements(&slot.sizes).value(&mut converter.b));
    let same = arith::cmpi(&mut converter.b, CmpIPredicate::Eq, wanted, there);
    let ty = converter.buffer_type(element);
    let new = converter.b.op(OpSpec { name: scf::If::NAME, operands: &[same], results: &[ty], regions: 2, ..OpSpec::default() });
    for (region, held) in [Some(slot.buffer), None].into_iter().enumerate() {
        let block = new.region(region).append_block(&[], op.location());
        let mut builder = Builder::at_end(block, op.location());
        let buffer = held.unwrap_or_else(|| builder.value(host::Alloc::NAME, &[wanted], ty, &[]));
        scf::yield_(&mut builder, &[buffer]);
    }
    Tensor { buffer: new.result(0), sizes: like.sizes.clone() }
}

/// Makes the tensors among `values` those of the slots, and the others what the loop carries.
fn bind<'c>(converter: &mut Converter<'c>, values: &[Value<'c>], slots: &[Slot<'c>], carried: &[Value<'c>]) {
    let mut carried = carried.iter().copied();
    for (&value, slot) in values.iter().zip(slots) {
        match slot {
            Slot::Fixed(slot) => drop(converter.tensors.insert(value, slot.clone())),
            Slot::Scalar | Slot::Open => receive(converter, value, &mut carried),
        }
    }
}

/// `scf.for` with slots.
pub fn convert_for<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let bounds: Vec<_> = op.operands()[..3].iter().map(|&bound| converter.scalar(bound)).collect();
    let (slots, carried) = slots(converter, op, &op.operands()[3..])?;
    let types: Vec<_> = carried.iter().map(|value| value.ty()).collect();
    let operands = [bounds, carried].concat();
    let new = converter.b.op(OpSpec { name: scf::For::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
    let arguments = [&[converter.cx.index()], types.as_slice()].concat();
    let inner = new.region(0).append_block(&arguments, op.location());
    let block = op.body(0);
    inside(converter, new, inner, |converter| {
        let (old, fresh) = (block.args(), inner.args());
        converter.scalars.insert(old[0], fresh[0]);
        bind(converter, &old[1..], &slots, &fresh[1..]);
        let terminator = branch(converter, block)?;
        let held: Vec<_> = old[1..].iter().copied().map(Some).collect();
        let carried = refill(converter, terminator, &terminator.operands(), &slots, &held)?;
        scf::yield_(&mut converter.b, &carried);
        Ok(())
    })?;
    bind(converter, &op.results(), &slots, &new.results());
    Ok(())
}

/// `scf.while` with slots. What the first region hands to the second one has slots of its own.
pub fn convert_while<'c>(converter: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let (slots, carried) = slots(converter, op, &op.operands())?;
    let (before, after) = (op.body(0), op.body(1));
    let passed = before.terminator().map(|op| op.operands()[1..].to_vec()).unwrap_or_default();
    // A tensor that is passed on unchanged stays in its slot.
    let mut passed_slots = Vec::new();
    for &value in &passed {
        passed_slots.push(if !value.ty().is_tensor() {
            Slot::Scalar
        } else if value.owner_block() == Some(before) && value.defining_op().is_none() {
            match &slots[value.index()] {
                Slot::Fixed(slot) => Slot::Fixed(slot.clone()),
                _ => Slot::Open,
            }
        } else if value.ty().is_static() {
            let sizes = value.ty().shape().into_iter().map(Num::Const).collect();
            let element = converter.element(op, value)?;
            Slot::Fixed(converter.alloc(element, sizes))
        } else {
            return Err(Error::at(op, "a loop's condition passes a tensor of symbolic size on"));
        });
    }
    let types: Vec<_> = carried.iter().map(|value| value.ty()).collect();
    let passed_types = carried_types(converter, op, &passed)?;
    let new =
        converter.b.op(OpSpec { name: scf::While::NAME, operands: &carried, results: &passed_types, regions: 2, ..OpSpec::default() });
    let first = new.region(0).append_block(&types, op.location());
    inside(converter, new, first, |converter| {
        bind(converter, &before.args(), &slots, &first.args());
        let terminator = branch(converter, before)?;
        let held: Vec<_> = passed.iter().map(|value| Some(*value)).collect();
        let passed = refill(converter, terminator, &passed, &passed_slots, &held)?;
        let condition = converter.scalar(terminator.operand(0));
        scf::condition(&mut converter.b, condition, &passed);
        Ok(())
    })?;
    let second = new.region(1).append_block(&passed_types, op.location());
    inside(converter, new, second, |converter| {
        bind(converter, &after.args(), &passed_slots, &second.args());
        let terminator = branch(converter, after)?;
        // The slot of an argument of the first region is that of the second one's that it is passed on to.
        let held: Vec<_> = before.args().iter().map(|arg| passed.iter().position(|value| value == arg).map(|at| after.arg(at))).collect();
        let carried = refill(converter, terminator, &terminator.operands(), &slots, &held)?;
        scf::yield_(&mut converter.b, &carried);
        Ok(())
    })?;
    bind(converter, &op.results(), &passed_slots, &new.results());
    Ok(())
}
