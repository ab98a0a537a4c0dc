//! Programs that address storages: how the tensors of such a program lay in memory, and where views begin.
//!
//! `as_strided` counts in the storage of its operand. The IR's types have no strides, so what the archive records of
//! them goes into the program: a `capture.storage_order` on a tensor that is not row-major, and the offset that the
//! call left to the operand.

use strata_core::ir::{Attr, Cx, Op};
use strata_core::rewrite::Rewriter;
use strata_dialects::{
    aten::{Input, Schema, Size, schema_of_target},
    capture::STORAGE_ORDER,
};

use super::{
    copies,
    dim_order::{self, Layout},
    error::Refusal,
    node::Importer,
    scope::Scope,
    types,
};
use crate::pt2::{
    argument::Argument,
    schema::{Graph, Node, TensorMeta},
};

/// Whether any call of a graph (or of one inside it) addresses a storage, or takes elements in its order.
pub(super) fn addressed(graph: &Graph) -> bool {
    let addresses = |schema: &'static Schema| schema.addresses_storage() || schema.reads_in_storage_order();
    copies::any_call(graph, &|target| schema_of_target(target).is_some_and(addresses))
}

/// Gives a call without a storage offset that of its operand, where it is not 0.
pub(super) fn fill_offset<'c>(
    importer: &mut Importer<'c>,
    scope: &Scope<'_, 'c>,
    schema: &'static Schema,
    node: &Node,
    inputs: &mut Vec<Option<Input<'c>>>,
) -> Result<(), Refusal> {
    let (true, Some(place)) = (schema.addresses_storage(), schema.position("storage_offset")) else { return Ok(()) };
    let left_out = matches!(inputs.get(place), None | Some(None | Some(Input::None)));
    let Some(Argument::AsTensor(operand)) = node.inputs.first().map(|input| &input.arg).filter(|_| left_out) else { return Ok(()) };
    let offset = &scope.meta(&operand.name)?.storage_offset;
    let size = match types::known(offset) {
        Some(0) => return Ok(()),
        Some(offset) => Size::Const(offset),
        None => Size::Value(importer.symbols.build(&mut importer.builder, &types::expr(offset))?),
    };
    inputs.resize(schema.args.len(), None);
    inputs[place] = Some(Input::Int(size));
    Ok(())
}

/// Notes on an op which of its results do not lie row-major.
pub(super) fn note<'c>(rewriter: &mut Rewriter<'c>, scope: &Scope<'_, 'c>, node: &Node, op: Op<'c>) {
    let cx = rewriter.cx();
    let mut metas = Vec::new();
    for output in &node.outputs {
        match output {
            Argument::AsTensor(tensor) => metas.push(scope.meta(&tensor.name).ok()),
            Argument::AsTensors(tensors) => metas.extend(tensors.iter().map(|tensor| scope.meta(&tensor.name).ok())),
            _ => metas.push(None),
        }
    }
    let orders: Vec<_> = metas.iter().map(|meta| meta.and_then(|meta| order(cx, meta))).collect();
    if orders.iter().any(Option::is_some) {
        let row_major = || cx.i64s_attr(&[]);
        let orders: Vec<_> = orders.into_iter().map(|order| order.unwrap_or_else(row_major)).collect();
        rewriter.set_attr(op, STORAGE_ORDER, cx.array_attr(&orders));
    }
}

/// The order of a tensor that is the whole of its storage; the unit attribute where that is not known to be so, `None`
/// for one that is row-major.
pub(super) fn order<'c>(cx: Cx<'c>, meta: &TensorMeta) -> Option<Attr<'c>> {
    match dim_order::layout(meta) {
        _ if types::known(&meta.storage_offset) != Some(0) => Some(cx.unit()),
        Layout::RowMajor => None,
        Layout::Order(order) => Some(dim_order::attribute(cx, &order)),
        Layout::Apart => Some(cx.unit()),
    }
}
