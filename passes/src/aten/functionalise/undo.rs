//! Undoing a view: from the new content of a view to the new content of what it is a view of.

use strata_core::ir::{Attr, Builder, DYNAMIC, OpSpec, Value};
use strata_dialects::aten::view::SYMBOLIC;
use strata_dialects::aten::{Operator, op};

use super::{Refusal, alias::Step};

/// How a view is undone.
enum Inverse {
    /// The view is the tensor itself.
    Same,
    /// The same elements in the same order with other sizes.
    Reshape,
    /// The same elements in another order of dimensions: the inverse permutation.
    Permute(Vec<i64>),
    /// A part: this operator stores it, with the view's own attributes.
    Scatter(Operator),
    /// A part along a dimension, from the first index up to the second.
    Slice(i64, i64, i64),
    /// One index of a dimension.
    Select(i64, i64),
    /// The same bits under another element type: this operator goes back.
    Recast(Operator),
}

/// Whether undoing a step asks for the content around the view (or its sizes).
fn needs_source(step: Step<'_>) -> bool {
    match inverse(step) {
        Ok(Inverse::Scatter(_) | Inverse::Slice(..) | Inverse::Select(..)) => true,
        Ok(Inverse::Reshape) => !step.source.is_static(),
        _ => false,
    }
}

/// Whether the view begins where its source begins in the storage.
pub(super) fn keeps_offset(step: Step<'_>) -> bool {
    repeats(step.operator) || matches!(inverse(step), Ok(Inverse::Same | Inverse::Reshape | Inverse::Permute(_) | Inverse::Recast(_)))
}

/// The content of a base with `content` in the place of the view that these steps lead to.
pub(super) fn undo_all<'c>(
    builder: &mut Builder<'c>,
    steps: &[Step<'c>],
    base: Value<'c>,
    mut content: Value<'c>,
) -> Result<Value<'c>, Refusal> {
    let needed = steps.iter().rposition(|step| needs_source(*step)).map_or(0, |last| last + 1);
    let mut sources = vec![base];
    for step in steps.iter().take(needed.saturating_sub(1)) {
        sources.push(step.replay(builder, sources[sources.len() - 1]));
    }
    for (place, step) in steps.iter().enumerate().rev() {
        content = undo(builder, *step, sources.get(place).copied(), content)?;
    }
    Ok(content)
}

/// The content of the source with `content` in the place of the view.
fn undo<'c>(builder: &mut Builder<'c>, step: Step<'c>, source: Option<Value<'c>>, content: Value<'c>) -> Result<Value<'c>, Refusal> {
    let cx = builder.cx();
    let missing = || format!("the source of `{}` is not at hand", step.operator);
    Ok(match inverse(step)? {
        Inverse::Same => content,
        Inverse::Reshape => {
            let (mut operands, mut sizes) = (vec![content], step.source.shape());
            for (dim, size) in sizes.iter_mut().enumerate().filter(|(_, size)| **size == DYNAMIC) {
                let attrs = [("dim", cx.i64_attr(dim as i64))];
                operands.push(builder.value(op::SYM_SIZE_INT.name(), &[source.ok_or_else(missing)?], cx.index(), &attrs));
                *size = SYMBOLIC;
            }
            builder.value(op::VIEW.name(), &operands, step.source, &[("size", cx.i64s_attr(&sizes))])
        }
        Inverse::Permute(dims) => builder.value(op::PERMUTE.name(), &[content], step.source, &[("dims", cx.i64s_attr(&dims))]),
        Inverse::Scatter(operator) => {
            let mut operands = vec![source.ok_or_else(missing)?, content];
            operands.extend(&step.op.operands()[1..]);
            let attrs = step.op.attrs();
            let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
            builder
                .op(OpSpec { name: operator.name(), operands: &operands, results: &[step.source], attrs: &attrs, ..OpSpec::default() })
                .result(0)
        }
        Inverse::Slice(dim, start, end) => {
            let attrs = [("dim", cx.i64_attr(dim)), ("start", cx.i64_attr(start)), ("end", cx.i64_attr(end))];
            builder.value(op::SLICE_SCATTER.name(), &[source.ok_or_else(missing)?, content], step.source, &attrs)
        }
        Inverse::Select(dim, index) => {
            let attrs = [("dim", cx.i64_attr(dim)), ("index", cx.i64_attr(index))];
            builder.value(op::SELECT_SCATTER.name(), &[source.ok_or_else(missing)?, content], step.source, &attrs)
        }
        Inverse::Recast(op::VIEW_DTYPE) => {
            let attrs = [("dtype", cx.type_attr(step.source.element()))];
            builder.value(op::VIEW_DTYPE.name(), &[content], step.source, &attrs)
        }
        Inverse::Recast(operator) => builder.value(operator.name(), &[content], step.source, &[]),
    })
}

fn inverse(step: Step<'_>) -> Result<Inverse, Refusal> {
    let operator = step.operator;
    let refuse = || format!("writes through a view made by `{operator}`, which cannot be undone; clone the tensor before the write");
    if let Some(perm) = permutation(step) {
        return Ok(Inverse::Permute(inverted(&perm).ok_or_else(refuse)?));
    }
    let int = |attr: &str| step.op.int(attr).filter(|value| *value != SYMBOLIC);
    match operator {
        op::SELECT_INT => return Ok(Inverse::Scatter(op::SELECT_SCATTER)),
        op::SLICE_TENSOR => return Ok(Inverse::Scatter(op::SLICE_SCATTER)),
        op::DIAGONAL => return Ok(Inverse::Scatter(op::DIAGONAL_SCATTER)),
        op::AS_STRIDED => return Ok(Inverse::Scatter(op::AS_STRIDED_SCATTER)),
        op::NARROW => {
            let (dim, start) = (int("dim").ok_or_else(refuse)?, int("start").ok_or_else(refuse)?);
            return Ok(Inverse::Slice(dim, start, start + int("length").ok_or_else(refuse)?));
        }
        op::VIEW_AS_REAL => return Ok(Inverse::Recast(op::VIEW_AS_COMPLEX)),
        op::VIEW_AS_COMPLEX => return Ok(Inverse::Recast(op::VIEW_AS_REAL)),
        op::_CONJ => return Ok(Inverse::Recast(op::_CONJ)),
        op::_NEG_VIEW => return Ok(Inverse::Recast(op::_NEG_VIEW)),
        op::VIEW_DTYPE => return Ok(Inverse::Recast(op::VIEW_DTYPE)),
        op::UNBIND_INT => return Ok(Inverse::Select(step.op.int("dim").unwrap_or(0), step.result as i64)),
        op::CHUNK
        | op::DSPLIT_ARRAY
        | op::DSPLIT_INT
        | op::HSPLIT_ARRAY
        | op::HSPLIT_INT
        | op::SPLIT_SIZES
        | op::SPLIT_TENSOR
        | op::SPLIT_WITH_SIZES
        | op::TENSOR_SPLIT_INDICES
        | op::TENSOR_SPLIT_SECTIONS
        | op::TENSOR_SPLIT_TENSOR_INDICES_OR_SECTIONS
        | op::VSPLIT_ARRAY
        | op::VSPLIT_INT => return piece(step).ok_or_else(refuse),
        _ => {}
    }
    let same_count = step.ty().is_static() && step.ty().num_elements() == step.source.num_elements();
    match () {
        () if keeps_type(operator) && step.ty() == step.source => Ok(Inverse::Same),
        () if (keeps_order(operator) || repeats(operator)) && step.ty() == step.source && step.source.is_static() => Ok(Inverse::Same),
        () if keeps_order(operator) || repeats(operator) && same_count => Ok(Inverse::Reshape),
        () => Err(refuse()),
    }
}

/// Views that are their source itself whenever they have its type.
fn keeps_type(operator: Operator) -> bool {
    matches!(
        operator,
        op::ALIAS
            | op::ALPHA_DROPOUT
            | op::CLONE
            | op::CONJ
            | op::CONJ_PHYSICAL
            | op::CONTIGUOUS
            | op::DETACH
            | op::DROPOUT
            | op::FEATURE_ALPHA_DROPOUT
            | op::FEATURE_DROPOUT
            | op::LIFT_FRESH
            | op::PIN_MEMORY
            | op::POSITIVE
            | op::REAL
            | op::RESOLVE_CONJ
            | op::RESOLVE_NEG
            | op::TO_DEVICE
            | op::TO_DTYPE
            | op::TO_DTYPE_LAYOUT
            | op::TO_OTHER
            | op::prims::REAL
            | op::prims::VIEW_OF
    )
}

/// Views that keep all elements in their order, whatever the sizes are.
fn keeps_order(operator: Operator) -> bool {
    matches!(
        operator,
        op::_RESHAPE_ALIAS
            | op::ATLEAST_1D
            | op::ATLEAST_2D
            | op::ATLEAST_3D
            | op::FLATTEN_USING_INTS
            | op::RAVEL
            | op::RESHAPE
            | op::RESHAPE_AS
            | op::SQUEEZE
            | op::SQUEEZE_DIM
            | op::SQUEEZE_DIMS
            | op::UNFLATTEN_INT
            | op::UNSQUEEZE
            | op::VIEW
            | op::VIEW_AS
            | op::prims::COLLAPSE_VIEW
            | op::prims::SPLIT_DIM
            | op::prims::SQUEEZE
    )
}

/// Views that repeat elements, unless nothing changes but leading dimensions of size 1.
fn repeats(operator: Operator) -> bool {
    matches!(operator, op::EXPAND | op::EXPAND_AS | op::BROADCAST_TO)
}

/// One of the pieces into which a tensor is split along a dimension.
fn piece(step: Step<'_>) -> Option<Inverse> {
    let dim = match step.op.int("dim") {
        Some(dim) if dim < 0 => dim + step.source.rank() as i64,
        Some(dim) => dim,
        None if matches!(step.operator, op::HSPLIT_INT | op::HSPLIT_ARRAY) => i64::from(step.source.rank() > 1),
        None if matches!(step.operator, op::DSPLIT_INT | op::DSPLIT_ARRAY) => 2,
        None => 0,
    };
    let at = usize::try_from(dim).ok()?;
    let size = |result: usize| step.op.result(result).ty().shape().get(at).copied().filter(|size| *size != DYNAMIC);
    let start = (0..step.result).map(size).sum::<Option<i64>>()?;
    Some(Inverse::Slice(dim, start, start + size(step.result)?))
}

/// `perm[i]` is the source's dimension that is dimension `i` of the view, for views that reorder dimensions.
fn permutation(step: Step<'_>) -> Option<Vec<i64>> {
    let rank = step.source.rank() as i64;
    let wrap = |dim: i64| if dim < 0 { dim + rank } else { dim };
    let swap = |a: i64, b: i64| {
        let mut perm: Vec<i64> = (0..rank).collect();
        perm.swap(usize::try_from(wrap(a)).ok()?, usize::try_from(wrap(b)).ok()?);
        Some(perm)
    };
    let (int, ints) = (|name: &str| step.op.int(name), |name: &str| step.op.ints(name));
    let real = !step.source.element_type().is_some_and(|element| element.is_complex());
    match step.operator {
        _ if rank == 0 => None,
        op::TRANSPOSE_INT | op::SWAPDIMS => swap(int("dim0")?, int("dim1")?),
        op::SWAPAXES => swap(int("axis0")?, int("axis1")?),
        op::T if rank == 1 => Some(vec![0]),
        op::T | op::MT => swap(-2, -1),
        op::MH | op::ADJOINT | op::MATRIX_H if real => swap(-2, -1),
        op::NUMPY_T => Some((0..rank).rev().collect()),
        op::PERMUTE => Some(ints("dims")?.into_iter().map(wrap).collect()),
        op::prims::TRANSPOSE => ints("permutation"),
        op::MOVEDIM_INT | op::MOVEAXIS_INT => moved(rank, &[wrap(int("source")?)], &[wrap(int("destination")?)]),
        op::MOVEDIM_INTLIST | op::MOVEAXIS_INTLIST => {
            let all = |name: &str| Some(ints(name)?.into_iter().map(wrap).collect::<Vec<_>>());
            moved(rank, &all("source")?, &all("destination")?)
        }
        _ => None,
    }
}

/// The dimensions `from` go to the places `to`, the others keep their order.
fn moved(rank: i64, from: &[i64], to: &[i64]) -> Option<Vec<i64>> {
    let mut rest = (0..rank).filter(|dim| !from.contains(dim));
    let place = |dim: i64| match to.iter().position(|to| *to == dim) {
        Some(index) => from.get(index).copied(),
        None => rest.next(),
    };
    (0..rank).map(place).collect()
}

fn inverted(perm: &[i64]) -> Option<Vec<i64>> {
    let mut inverse = vec![-1; perm.len()];
    for (place, dim) in perm.iter().enumerate() {
        *inverse.get_mut(usize::try_from(*dim).ok()?)? = place as i64;
    }
    (!inverse.contains(&-1)).then_some(inverse)
}
