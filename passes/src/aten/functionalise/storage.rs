//! `as_strided` and its kin: they count in the storage of their operand, so they are given the base.
//!
//! The base is brought into the order of its storage by views, and a copy makes that order its own. Below this level
//! neither moves an element, and a program means the same with them as without.

use strata_core::ir::{Attr, Builder, DYNAMIC, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::{
    aten::{AtenOp, Operator, Schema, op},
    capture::{STORAGE_ORDER, Storage, storage},
};

use super::{
    Refusal,
    alias::{Aliases, Step},
    undo,
};

/// Gives an op that counts in the storage of its first operand that storage; `operator` stands for it.
pub(super) fn give_storage<'c>(
    op: Op<'c>,
    schema: &'static Schema,
    operator: Operator,
    aliases: &mut Aliases<'c>,
    rewriter: &mut Rewriter<'c>,
) -> Result<(), Refusal> {
    aliases.asked = true;
    let read = AtenOp::new(op).map_err(|error| error.to_string())?;
    let offset = read.opt_size("storage_offset").map_err(|error| error.to_string())?;
    let source = op.operand(0);
    let view = aliases.steps(source);
    if offset.is_none() && !view.iter().all(|step| undo::keeps_offset(*step)) {
        return Err("counts from where a view begins in its storage, which is not known here; give `storage_offset`".to_owned());
    }
    aliases.refresh_operands(op, rewriter);
    let (owner, base) = aliases.base(source);
    let (whole, mut steps) = in_order(rewriter, owner, base, source.ty())?;
    let mut operands = op.operands();
    operands[0] = whole;
    let attrs = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let writes = schema.arg("src").is_some();
    let results = if writes { vec![whole.ty()] } else { op.result_types() };
    let new = rewriter.op(OpSpec { name: operator.name(), operands: &operands, results: &results, attrs: &attrs, ..OpSpec::default() });
    if writes {
        // A copy of the storage was written to; the result is the part of it that the operand is.
        let content = undo::undo_all(rewriter, &steps, base, new.result(0))?;
        let part = view.iter().fold(content, |value, step| step.replay(rewriter, value));
        rewriter.replace(op, &[part]);
        return Ok(());
    }
    rewriter.replace_with_op(op, new);
    if !schema.has("view_copy") {
        steps.push(Step { op: new, operator, result: 0, source: whole.ty() });
        aliases.add_chain(source, steps, new.result(0));
    }
    Ok(())
}

/// A tensor with its dims in the order in which they lie in its storage. (A view that is not the whole of one is taken to lie row after row.)
pub(super) fn as_it_lies<'c>(aliases: &mut Aliases<'c>, tensor: Value<'c>, rewriter: &mut Rewriter<'c>) -> Result<Value<'c>, Refusal> {
    aliases.asked = true;
    let current = aliases.current(tensor, rewriter);
    match storage(tensor) {
        Storage::Unknown if !aliases.steps(tensor).is_empty() => Ok(current),
        _ => Ok(in_order(rewriter, tensor, current, tensor.ty())?.0),
    }
}

/// The base as the storage holds it, row-major and with the element type of `counted`, and the views that lead there.
fn in_order<'c>(
    builder: &mut Builder<'c>,
    owner: Value<'c>,
    base: Value<'c>,
    counted: Type<'c>,
) -> Result<(Value<'c>, Vec<Step<'c>>), Refusal> {
    let cx = builder.cx();
    let mut chain = Chain { builder, value: base, steps: Vec::new() };
    match storage(owner) {
        Storage::RowMajor => {}
        Storage::Order(order) => {
            let shape = base.ty().shape();
            let permuted: Vec<_> = order.iter().map(|&dim| shape[dim]).collect();
            let dims: Vec<_> = order.iter().map(|&dim| dim as i64).collect();
            chain.push(op::PERMUTE, base.ty().with_shape(&permuted), &[("dims", cx.i64s_attr(&dims))]);
            chain.push(op::CLONE, chain.value.ty(), &[("memory_format", cx.str_attr("contiguous_format"))]);
        }
        Storage::Unknown => {
            return Err("reads the storage of a tensor that is not dense there, so what lies between its elements is not known; \
                        clone the tensor before"
                .to_owned());
        }
    }
    let (held, wanted) = (base.ty().element(), counted.element());
    if held != wanted {
        let bytes = |ty: Type<'c>| ty.element_type().map(|element| element.bytes() as i64);
        let count = chain.value.ty().num_elements().zip(bytes(base.ty())).map(|(count, size)| count * size);
        let flat = |ty: Type<'c>| ty.with_shape(&[count.zip(bytes(ty)).map_or(DYNAMIC, |(all, size)| all / size)]);
        chain.push(op::VIEW, flat(base.ty()), &[("size", cx.i64s_attr(&[-1]))]);
        chain.push(op::VIEW_DTYPE, flat(counted), &[("dtype", cx.type_attr(wanted))]);
    }
    Ok((chain.value, chain.steps))
}

/// Views that are made one after the other.
struct Chain<'b, 'c> {
    builder: &'b mut Builder<'c>,
    value: Value<'c>,
    steps: Vec<Step<'c>>,
}

impl<'c> Chain<'_, 'c> {
    fn push(&mut self, operator: Operator, ty: Type<'c>, attrs: &[(&str, Attr<'c>)]) {
        let op = self.builder.op(OpSpec { name: operator.name(), operands: &[self.value], results: &[ty], attrs, ..OpSpec::default() });
        self.steps.push(Step { op, operator, result: 0, source: self.value.ty() });
        self.value = op.result(0);
    }
}

/// Takes what the program says of storages out of it: behind this pass nothing asks for it.
pub(super) fn forget<'c>(function: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let cx = function.cx();
    function.walk(&mut |op| {
        rewriter.remove_attr(op, STORAGE_ORDER);
    });
    let Some(dicts) = function.attr("arg_attrs").and_then(Attr::as_array) else { return };
    let mut dicts: Vec<_> = dicts.into_iter().map(|dict| dict.as_dict().unwrap_or_default()).collect();
    if dicts.iter().flatten().any(|(name, _)| name == STORAGE_ORDER) {
        dicts.iter_mut().for_each(|dict| dict.retain(|(name, _)| name != STORAGE_ORDER));
        let dicts = dicts.iter().map(|dict| cx.dict_attr(&dict.iter().map(|(name, attr)| (name.as_str(), *attr)).collect::<Vec<_>>()));
        rewriter.set_attr(function, "arg_attrs", cx.array_attr(&dicts.collect::<Vec<_>>()));
    }
}
