//! Which calls of "view, or copy if need be" operators made a copy.
//!
//! The IR's types have no strides, so only the archive's description can tell; programs that write to tensors need
//! to know it.

use strata_dialects::aten::{op, schema_of_target};

use super::{scope::Scope, types};
use crate::library::Library;
use crate::pt2::{
    argument::Argument,
    schema::{Graph, Node, TensorMeta},
};

/// Whether any call of a graph (or of one inside it) writes to a tensor, those of registered operators too.
pub(super) fn writes(graph: &Graph, library: Option<&Library<'_>>) -> bool {
    any_call(graph, &|target| match schema_of_target(target) {
        Some(schema) => {
            let writes_statistics = schema.operator() == op::BATCH_NORM;
            schema.is_mutable() && !schema.has("inplace_view") || writes_statistics
        }
        None => library.is_some_and(|library| library.writes(target)),
    })
}

/// Whether the target of any call of a graph (or of one inside it) is such.
pub(super) fn any_call(graph: &Graph, such: &dyn Fn(&str) -> bool) -> bool {
    graph.nodes.iter().any(|node| {
        let target = node.target.strip_prefix("torch.ops.").unwrap_or(&node.target);
        let nested = |argument: &Argument| matches!(argument, Argument::AsGraph(nested) if any_call(&nested.graph, such));
        such(target) || node.inputs.iter().any(|input| nested(&input.arg))
    })
}

/// Whether this call gave a copy although its operator gives a view where it can.
pub(super) fn copies(scope: &Scope<'_, '_>, node: &Node) -> bool {
    let (Some(Argument::AsTensor(input)), [Argument::AsTensor(output)]) =
        (node.inputs.first().map(|input| &input.arg), node.outputs.as_slice())
    else {
        return false;
    };
    let (Ok(from), Ok(to)) = (scope.meta(&input.name), scope.meta(&output.name)) else { return false };
    let name = node.target.strip_prefix("torch.ops.aten.").and_then(|rest| rest.split('.').next()).unwrap_or_default();
    match name {
        "contiguous" | "to" => !same_strides(from, to),
        "reshape" | "flatten" | "ravel" | "reshape_as" => !viewable(from, to),
        _ => false,
    }
}

/// Strides only matter where a dimension has more than one index.
fn same_strides(from: &TensorMeta, to: &TensorMeta) -> bool {
    let steps = |meta: &TensorMeta| {
        let steps = meta.sizes.iter().zip(&meta.strides).filter(|(size, _)| types::known(size) != Some(1));
        steps.map(|(size, stride)| (types::expr(size), types::expr(stride))).collect::<Vec<_>>()
    };
    steps(from) == steps(to)
}

/// Whether the elements of `from` can be addressed with the sizes of `to`: both are cut into the same runs of
/// dimensions that lie evenly in memory. Symbolic sizes are taken to be dense.
fn viewable(from: &TensorMeta, to: &TensorMeta) -> bool {
    let known = |values: &[_]| values.iter().map(types::known).collect::<Option<Vec<_>>>();
    let (Some(sizes), Some(strides), Some(wanted)) = (known(&from.sizes), known(&from.strides), known(&to.sizes)) else { return true };
    if sizes.contains(&0) {
        return true;
    }
    let mut wanted = wanted.into_iter().rev().peekable();
    let mut dims = sizes.into_iter().zip(strides).filter(|(size, _)| *size != 1).rev().peekable();
    while let Some((size, stride)) = dims.next() {
        // A run: this dimension and all before it that continue its stride.
        let (mut run, mut end) = (size, stride.saturating_mul(size));
        while let Some((size, stride)) = dims.peek().copied().filter(|(_, stride)| *stride == end) {
            (run, end) = (run.saturating_mul(size), stride.saturating_mul(size));
            dims.next();
        }
        let mut filled = 1;
        while filled < run {
            match wanted.next() {
                Some(size) => filled = filled.saturating_mul(size),
                None => return false,
            }
        }
        if filled != run {
            return false;
        }
    }
    wanted.all(|size| size == 1)
}
