//! Undoing a view: from the new content of a view to the new content of what it is a view of.

use strata_core::ir::{Attr, Builder, DYNAMIC, OpSpec, Value};
use strata_dialects::aten::view::SYMBOLIC;

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
    Scatter(&'static str),
    /// A part along a dimension, from the first index up to the second.
    Slice(i64, i64, i64),
    /// One index of a dimension.
    Select(i64, i64),
    /// The same bits under another element type: this operator goes back.
    Recast(&'static str),
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
    repeats(step.op.name()) || matches!(inverse(step), Ok(Inverse::Same | Inverse::Reshape | Inverse::Permute(_) | Inverse::Recast(_)))
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
    let missing = || format!("the source of `{}` is not at hand", step.op.name());
    Ok(match inverse(step)? {
        Inverse::Same => content,
        Inverse::Reshape => {
            let (mut operands, mut sizes) = (vec![content], step.source.shape());
            for (dim, size) in sizes.iter_mut().enumerate().filter(|(_, size)| **size == DYNAMIC) {
                let attrs = [("dim", cx.i64_attr(dim as i64))];
                operands.push(builder.value("aten.sym_size.int", &[source.ok_or_else(missing)?], cx.index(), &attrs));
                *size = SYMBOLIC;
            }
            builder.value("aten.view", &operands, step.source, &[("size", cx.i64s_attr(&sizes))])
        }
        Inverse::Permute(dims) => builder.value("aten.permute", &[content], step.source, &[("dims", cx.i64s_attr(&dims))]),
        Inverse::Scatter(name) => {
            let mut operands = vec![source.ok_or_else(missing)?, content];
            operands.extend(&step.op.operands()[1..]);
            let attrs = step.op.attrs();
            let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
            builder.op(OpSpec { name, operands: &operands, results: &[step.source], attrs: &attrs, ..OpSpec::default() }).result(0)
        }
        Inverse::Slice(dim, start, end) => {
            let attrs = [("dim", cx.i64_attr(dim)), ("start", cx.i64_attr(start)), ("end", cx.i64_attr(end))];
            builder.value("aten.slice_scatter", &[source.ok_or_else(missing)?, content], step.source, &attrs)
        }
        Inverse::Select(dim, index) => {
            let attrs = [("dim", cx.i64_attr(dim)), ("index", cx.i64_attr(index))];
            builder.value("aten.select_scatter", &[source.ok_or_else(missing)?, content], step.source, &attrs)
        }
        Inverse::Recast("aten.view.dtype") => {
            let attrs = [("dtype", cx.type_attr(step.source.element()))];
            builder.value("aten.view.dtype", &[content], step.source, &attrs)
        }
        Inverse::Recast(name) => builder.value(name, &[content], step.source, &[]),
    })
}

fn inverse(step: Step<'_>) -> Result<Inverse, Refusal> {
    let name = step.op.name();
    let refuse = || format!("writes through a view made by `{name}`, which cannot be undone; clone the tensor before the write");
    if let Some(perm) = permutation(step) {
        return Ok(Inverse::Permute(inverted(&perm).ok_or_else(refuse)?));
    }
    let int = |attr: &str| step.op.int(attr).filter(|value| *value != SYMBOLIC);
    match name {
        "aten.select.int" => return Ok(Inverse::Scatter("aten.select_scatter")),
        "aten.slice.Tensor" => return Ok(Inverse::Scatter("aten.slice_scatter")),
        "aten.diagonal" => return Ok(Inverse::Scatter("aten.diagonal_scatter")),
        "aten.as_strided" => return Ok(Inverse::Scatter("aten.as_strided_scatter")),
        "aten.narrow" => {
            let (dim, start) = (int("dim").ok_or_else(refuse)?, int("start").ok_or_else(refuse)?);
            return Ok(Inverse::Slice(dim, start, start + int("length").ok_or_else(refuse)?));
        }
        "aten.view_as_real" => return Ok(Inverse::Recast("aten.view_as_complex")),
        "aten.view_as_complex" => return Ok(Inverse::Recast("aten.view_as_real")),
        "aten._conj" => return Ok(Inverse::Recast("aten._conj")),
        "aten._neg_view" => return Ok(Inverse::Recast("aten._neg_view")),
        "aten.view.dtype" => return Ok(Inverse::Recast("aten.view.dtype")),
        _ => {}
    }
    if name == "aten.unbind.int" {
        return Ok(Inverse::Select(step.op.int("dim").unwrap_or(0), step.result as i64));
    }
    if name.contains("split") && name != "prims.split_dim" || name == "aten.chunk" {
        return piece(step).ok_or_else(refuse);
    }
    let same_count = step.ty().is_static() && step.ty().num_elements() == step.source.num_elements();
    match () {
        () if keeps_type(name) && step.ty() == step.source => Ok(Inverse::Same),
        () if (keeps_order(name) || repeats(name)) && step.ty() == step.source && step.source.is_static() => Ok(Inverse::Same),
        () if keeps_order(name) || repeats(name) && same_count => Ok(Inverse::Reshape),
        () => Err(refuse()),
    }
}

/// Views that are their source itself whenever they have its type.
fn keeps_type(name: &str) -> bool {
    name.starts_with("aten.to.")
        || name.ends_with("dropout")
        || matches!(
            name,
            "aten.alias"
                | "aten.clone"
                | "aten.detach"
                | "aten.contiguous"
                | "aten.positive"
                | "aten.lift_fresh"
                | "aten.pin_memory"
                | "aten.conj"
                | "aten.conj_physical"
                | "aten.resolve_conj"
                | "aten.resolve_neg"
                | "aten.real"
                | "prims.view_of"
                | "prims.real"
        )
}

/// Views that keep all elements in their order, whatever the sizes are.
fn keeps_order(name: &str) -> bool {
    let (dialect, name) = name.split_once('.').unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    match dialect {
        "prims" => matches!(name, "split_dim" | "collapse_view" | "squeeze"),
        _ => matches!(
            name,
            "view"
                | "reshape"
                | "flatten"
                | "unflatten"
                | "squeeze"
                | "unsqueeze"
                | "view_as"
                | "reshape_as"
                | "ravel"
                | "_reshape_alias"
                | "atleast_1d"
                | "atleast_2d"
                | "atleast_3d"
        ),
    }
}

/// Views that repeat elements, unless nothing changes but leading dimensions of size 1.
fn repeats(name: &str) -> bool {
    matches!(name, "aten.expand" | "aten.expand_as" | "aten.broadcast_to")
}

/// One of the pieces into which a tensor is split along a dimension.
fn piece(step: Step<'_>) -> Option<Inverse> {
    let dim = match step.op.int("dim") {
        Some(dim) if dim < 0 => dim + step.source.rank() as i64,
        Some(dim) => dim,
        None if matches!(step.op.name(), "aten.hsplit.int" | "aten.hsplit.array") => i64::from(step.source.rank() > 1),
        None if matches!(step.op.name(), "aten.dsplit.int" | "aten.dsplit.array") => 2,
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
    match step.op.name() {
        _ if rank == 0 => None,
        "aten.transpose.int" | "aten.swapdims" => swap(int("dim0")?, int("dim1")?),
        "aten.swapaxes" => swap(int("axis0")?, int("axis1")?),
        "aten.t" if rank == 1 => Some(vec![0]),
        "aten.t" | "aten.mT" => swap(-2, -1),
        "aten.mH" | "aten.adjoint" | "aten.matrix_H" if real => swap(-2, -1),
        "aten.numpy_T" => Some((0..rank).rev().collect()),
        "aten.permute" => Some(ints("dims")?.into_iter().map(wrap).collect()),
        "prims.transpose" => ints("permutation"),
        "aten.movedim.int" | "aten.moveaxis.int" => moved(rank, &[wrap(int("source")?)], &[wrap(int("destination")?)]),
        "aten.movedim.intlist" | "aten.moveaxis.intlist" => {
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
