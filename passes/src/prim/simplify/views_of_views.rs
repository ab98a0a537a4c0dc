//! The rules of `--simplify-views` that look at two views at once.

use super::rewriter::{BuildSized, Simplified, SizedRewriter, same_type};
use crate::analysis::Expr;
use crate::prim::fusion::class::is_pointwise;
use std::collections::HashMap;
use std::ops::Range;
use strata_core::ir::{Attr, DYNAMIC, Op, Value};
use strata_core::rewrite::NoMatch;
use strata_dialects::prim;
use strata_dialects::prim::library::{FFT, FFT_COLUMNS, FFT_TURNED, Function, TURNED};

/// The op named that defines operand 0.
fn inner<'c>(op: Op<'c>, name: &str) -> Result<Op<'c>, NoMatch> {
    op.operand(0).defining_op().filter(|inner| inner.is(name)).ok_or_else(|| NoMatch::new(format!("the operand is no {name}")))
}

fn dims(op: Op<'_>, name: &str) -> Vec<usize> {
    op.ints(name).unwrap_or_default().into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect()
}

fn to_attr<'c>(rewriter: &SizedRewriter<'c>, dims: &[usize]) -> Attr<'c> {
    let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    rewriter.cx().i64s_attr(&dims)
}

/// The same view of another operand 0.
fn on<'c>(rewriter: &mut SizedRewriter<'c>, op: Op<'c>, x: Value<'c>, attrs: &[(&str, Attr<'c>)]) -> Value<'c> {
    let operands: Vec<_> = std::iter::once(x).chain(op.operands().into_iter().skip(1)).collect();
    rewriter.value(op.name(), &operands, op.result(0).ty(), attrs)
}

/// reshape(reshape(x)) = reshape(x): both keep the row-major order.
pub fn reshape_of_reshape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = inner(op, prim::Reshape::NAME)?.operand(0);
    Ok(on(rewriter, op, x, &[]))
}

/// `transpose(transpose(x, p), q) = transpose(x, p[q[i]])`.
pub fn transpose_of_transpose<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Transpose::NAME)?;
    let (p, q) = (dims(first, "perm"), dims(op, "perm"));
    let perm: Vec<usize> = q.iter().map(|&dim| p[dim]).collect();
    let attr = to_attr(rewriter, &perm);
    Ok(on(rewriter, op, first.operand(0), &[("perm", attr)]))
}

/// f(transpose(x)) = f(x, turned) for a function of the library that takes a matrix in columns, too.
pub fn library_of_transpose<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let function = op.str("function").and_then(|name| Function::find(&name)).filter(|function| function.options.contains(&TURNED));
    let function = function.ok_or(NoMatch::new("it takes no transposes"))?;
    let first = inner(op, prim::Transpose::NAME)?;
    let rank = op.operand(0).ty().rank();
    let mut turned: Vec<usize> = (0..rank).collect();
    turned.swap(rank - 2, rank - 1);
    if dims(first, "perm") != turned {
        return Err("more than the matrices themselves are turned".into());
    }
    let given: Vec<_> = op.attr("options").and_then(Attr::as_array).unwrap_or_default().into_iter().filter_map(Attr::as_str).collect();
    let has = |name: &str| given.iter().any(|given| given == name);
    let cx = rewriter.cx();
    let options = function.options.iter().filter(|name| has(name) != (**name == TURNED)).map(|name| cx.str_attr(name)).collect::<Vec<_>>();
    let attrs = [("function", cx.str_attr(function.name)), ("options", cx.array_attr(&options))];
    Ok(on(rewriter, op, first.operand(0), &attrs))
}

/// Columns of a matrix below which its rows are transformed sooner, once it is turned.
const COLUMNS: i64 = 4;

/// fft(transpose(x)) = fft_turned(x) where the transpose only brings another dimension to the end: whole rows of x are read.
pub fn transform_of_transpose<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if op.str("function").as_deref() != Some(FFT) {
        return Err("it transforms no rows".into());
    }
    let first = inner(op, prim::Transpose::NAME)?;
    let (x, perm) = (first.operand(0), dims(first, "perm"));
    let (Some((&dim, others)), shape) = (perm.split_last(), x.ty().shape()) else { return Err("it has no dimensions".into()) };
    if !others.is_sorted() || dim == others.len() {
        return Err("other dimensions change places".into());
    }
    // (One dimension behind it may be of any size.)
    let columns = match &shape[dim + 1..] {
        [size] => *size,
        sizes if sizes.contains(&DYNAMIC) => return Err("how many columns it has is not known".into()),
        sizes => sizes.iter().product(),
    };
    if columns != DYNAMIC && columns < COLUMNS {
        return Err("it has few columns".into());
    }
    let of = |last: [i64; 2]| x.ty().with_shape(&[&shape[..dim], &last].concat());
    let attrs = function_of(rewriter, op, FFT_TURNED);
    let joined = if shape.len() > dim + 2 { rewriter.reshape(x, of([shape[dim], columns]), |at| (x, at)) } else { x };
    let turned = rewriter.value(op.name(), &[joined], of([columns, shape[dim]]), &attrs);
    let from = |at: usize| (first.result(0), at);
    Ok(if joined == x { turned } else { rewriter.reshape(turned, op.result(0).ty(), from) })
}

/// transpose(fft_turned(x)) = fft_columns(x) and the reverse, where the transpose turns the matrices: it is no work for the transforms.
pub fn transpose_of_transform<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let given = op.operand(0);
    let split = given.defining_op().filter(|given| given.isa::<prim::Reshape>() && given.num_operands() == 1).map(|given| given.operand(0));
    let first = split.unwrap_or(given).defining_op().filter(|first| first.isa::<prim::Library>());
    let first = first.ok_or(NoMatch::new("it turns no transform"))?;
    let (from, perm, shape) = (first.result(0), dims(op, "perm"), given.ty().shape());
    let (Some(last), dim) = (shape.len().checked_sub(1), from.ty().rank().saturating_sub(2)) else {
        return Err("it has no dimensions".into());
    };
    // The last dimension of the matrices comes before all dimensions that the other one was split into.
    let before: Vec<usize> = (0..dim).chain([last]).chain(dim..last).collect();
    let (attrs, ty) = match first.str("function").as_deref() {
        Some(FFT_TURNED) if perm == before && from.ty().shape()[..dim] == shape[..dim] && from.ty().shape().last() == shape.last() => {
            (function_of(rewriter, first, FFT_COLUMNS), first.operand(0).ty())
        }
        Some(FFT_COLUMNS) if perm == before && split.is_none() => (function_of(rewriter, first, FFT_TURNED), op.result(0).ty()),
        _ => return Err("it turns more than the matrices of a transform".into()),
    };
    let value = rewriter.value(first.name(), &[first.operand(0)], ty, &attrs);
    Ok(if split.is_some() { rewriter.reshape(value, op.result(0).ty(), |at| (given, perm[at])) } else { value })
}

/// Another function with the options of a call.
fn function_of<'c>(rewriter: &SizedRewriter<'c>, op: Op<'c>, name: &str) -> Vec<(&'static str, Attr<'c>)> {
    let function = ("function", rewriter.cx().str_attr(name));
    std::iter::once(function).chain(op.attr("options").map(|options| ("options", options))).collect()
}

/// `broadcast(broadcast(x, a), b) = broadcast(x, b[a[i]])`.
pub fn broadcast_of_broadcast<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Broadcast::NAME)?;
    let (a, b) = (dims(first, "dims"), dims(op, "dims"));
    let composed: Vec<usize> = a.iter().map(|&dim| b[dim]).collect();
    let attr = to_attr(rewriter, &composed);
    Ok(on(rewriter, op, first.operand(0), &[("dims", attr)]))
}

/// `broadcast(transpose(x, p), b)`: dimension `p[i]` of x goes where b sends dimension i.
pub fn broadcast_of_transpose<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Transpose::NAME)?;
    let (p, b) = (dims(first, "perm"), dims(op, "dims"));
    let mut composed = vec![0; p.len()];
    p.iter().zip(&b).for_each(|(&from, &to)| composed[from] = to);
    let attr = to_attr(rewriter, &composed);
    Ok(on(rewriter, op, first.operand(0), &[("dims", attr)]))
}

/// Where each dimension of the smaller shape is in the larger one, when the rest of the larger one has size 1.
fn insertion<'c>(rewriter: &mut SizedRewriter<'c>, small: &[Expr], large: &[Expr]) -> Option<Vec<usize>> {
    let mut map = Vec::new();
    let mut next = 0;
    for size in small {
        while !rewriter.analysis().equal(size, large.get(next)?) {
            if large[next].as_constant() != Some(1) {
                return None;
            }
            next += 1;
        }
        map.push(next);
        next += 1;
    }
    large[next..].iter().all(|size| size.as_constant() == Some(1)).then_some(map)
}

/// broadcast(reshape(x), b) = broadcast(x, ..) when the reshape only inserts dimensions of size 1.
pub fn broadcast_of_reshape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Reshape::NAME)?;
    let x = first.operand(0);
    let (small, large) = (rewriter.analysis().sizes(x), rewriter.analysis().sizes(first.result(0)));
    let map = insertion(rewriter, &small, &large).ok_or(NoMatch::new("the reshape does more than insert dimensions of size 1"))?;
    let b = dims(op, "dims");
    let composed: Vec<usize> = map.into_iter().map(|dim| b[dim]).collect();
    let attr = to_attr(rewriter, &composed);
    Ok(on(rewriter, op, x, &[("dims", attr)]))
}

/// transpose(reshape(x)) = reshape(transpose(x)) when the reshape only joins dimensions and inserts those of size 1.
pub fn transpose_of_reshape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Reshape::NAME)?;
    let x = first.operand(0);
    let (small, large) = (rewriter.analysis().sizes(x), rewriter.analysis().sizes(first.result(0)));
    let groups = joined(rewriter, &small, &large).filter(|groups| groups.iter().any(|group| group.len() != 1));
    let groups = groups.ok_or(NoMatch::new("the reshape does more than join dimensions and insert those of size 1"))?;
    let perm = dims(op, "perm");
    let moved: Vec<usize> = perm.iter().flat_map(|&dim| groups[dim].clone()).collect();
    let shape: Vec<i64> = moved.iter().map(|&dim| x.ty().shape()[dim]).collect();
    let attr = to_attr(rewriter, &moved);
    let value = rewriter.value(op.name(), &[x], x.ty().with_shape(&shape), &[("perm", attr)]);
    // Dimensions that are joined or inserted have known sizes, and are not asked for.
    let from = |dim: usize| (value, moved.iter().position(|small| groups[perm[dim]].contains(small)).unwrap_or(0));
    Ok(rewriter.reshape(value, op.result(0).ty(), from))
}

/// Which neighbouring dimensions of its operand a reshape joins to each of its result; none for one of size 1 that it inserts.
fn joined(rewriter: &mut SizedRewriter<'_>, from: &[Expr], to: &[Expr]) -> Option<Vec<Range<usize>>> {
    let mut groups = Vec::new();
    let mut next = 0;
    for size in to {
        let begin = next;
        if from.get(next).is_some_and(|operand| rewriter.analysis().equal(operand, size)) {
            next += 1;
        } else {
            let (wanted, mut product) = (size.as_constant()?, 1);
            while product != wanted {
                product = from.get(next)?.as_constant().and_then(|operand| operand.checked_mul(product)).filter(|all| *all <= wanted)?;
                next += 1;
            }
        }
        groups.push(begin..next);
    }
    (next == from.len()).then_some(groups)
}

/// transpose(reverse(x)) = reverse(transpose(x)): what only reads backwards joins its reader, a copy in another order does not.
pub fn transpose_of_reverse<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Reverse::NAME)?;
    let (perm, reversed) = (dims(op, "perm"), dims(first, "dims"));
    let attr = to_attr(rewriter, &perm);
    let value = on(rewriter, op, first.operand(0), &[("perm", attr)]);
    let moved: Vec<usize> = (0..perm.len()).filter(|&dim| reversed.contains(&perm[dim])).collect();
    let attr = to_attr(rewriter, &moved);
    Ok(rewriter.value(first.name(), &[value], op.result(0).ty(), &[("dims", attr)]))
}

/// reshape(reverse(x)) = reverse(reshape(x)) when the reshape carries the reversed dimensions over: others may split, join, come and go.
pub fn reshape_of_reverse<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Reverse::NAME)?;
    let (from, to) = (rewriter.analysis().sizes(op.operand(0)), rewriter.analysis().sizes(op.result(0)));
    let kept = carried(rewriter, &from, &to);
    let moved: Option<Vec<usize>> = dims(first, "dims").into_iter().map(|dim| kept[dim]).collect();
    let moved = moved.ok_or(NoMatch::new("the reshape does more with a reversed dimension than to carry it over"))?;
    let value = on(rewriter, op, first.operand(0), &[]);
    let attr = to_attr(rewriter, &moved);
    Ok(rewriter.value(first.name(), &[value], op.result(0).ty(), &[("dims", attr)]))
}

/// Where a reshape of known sizes has each dimension of its operand as it was, if it has it.
fn carried(rewriter: &mut SizedRewriter<'_>, from: &[Expr], to: &[Expr]) -> Vec<Option<usize>> {
    let mut kept = vec![None; from.len()];
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        if rewriter.analysis().equal(&from[i], &to[j]) {
            kept[i] = Some(j);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // The smaller side grows until both have as many elements.
        let (mut left, mut right) = (from[i].as_constant(), to[j].as_constant());
        (i, j) = (i + 1, j + 1);
        while left != right {
            let (Some(l), Some(r)) = (left, right) else { return kept };
            let (small, sizes, at) = if l < r { (&mut left, from, &mut i) } else { (&mut right, to, &mut j) };
            let Some(size) = sizes.get(*at) else { return kept };
            *small = small.zip(size.as_constant()).and_then(|(small, size)| small.checked_mul(size));
            *at += 1;
        }
    }
    kept
}

/// slice(slice(x, o, _, s), p, n, t) = slice(x, o + s * p, n, s * t).
pub fn slice_of_slice<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Slice::NAME)?;
    let lists = |op: Op<'c>| Some((op.ints("offsets")?, op.ints("strides")?));
    let (Some((o, s)), Some((p, t))) = (lists(first), lists(op)) else { return Err("no offsets".into()) };
    if o.contains(&DYNAMIC) || p.contains(&DYNAMIC) {
        return Err("an offset is not known".into());
    }
    let offsets: Option<Vec<i64>> = (0..o.len()).map(|dim| s[dim].checked_mul(p[dim])?.checked_add(o[dim])).collect();
    let strides: Option<Vec<i64>> = (0..s.len()).map(|dim| s[dim].checked_mul(t[dim])).collect();
    let (Some(offsets), Some(strides), Some(sizes)) = (offsets, strides, op.attr("sizes")) else {
        return Err("an offset or stride is too large".into());
    };
    let (offsets, strides) = (rewriter.cx().i64s_attr(&offsets), rewriter.cx().i64s_attr(&strides));
    Ok(on(rewriter, op, first.operand(0), &[("offsets", offsets), ("sizes", sizes), ("strides", strides)]))
}

/// A slice of a concatenation is one of the parts that it reads, or a concatenation of these.
pub fn slice_of_concat<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let parts = inner(op, prim::Concat::NAME)?;
    let dim = parts.int("dim").and_then(|dim| usize::try_from(dim).ok()).ok_or(NoMatch::new("no dimension"))?;
    let (Some(offsets), Some(sizes), Some(strides)) = (op.ints("offsets"), op.ints("sizes"), op.ints("strides")) else {
        return Err("no offsets".into());
    };
    if offsets.iter().chain(&sizes).any(|&number| number == DYNAMIC) || strides[dim] != 1 {
        return Err("what it reads of each part is not known".into());
    }
    let (mut slices, mut begin) = (Vec::new(), 0);
    for part in parts.operands() {
        let size = part.ty().shape()[dim];
        if size == DYNAMIC {
            return Err("where a part begins is not known".into());
        }
        let (from, to) = ((offsets[dim] - begin).clamp(0, size), (offsets[dim] + sizes[dim] - begin).clamp(0, size));
        begin += size;
        if from < to {
            slices.push((part, from, to - from));
        }
    }
    let with = |list: &[i64], number: i64| {
        let mut list = list.to_vec();
        list[dim] = number;
        list
    };
    let mut values = Vec::new();
    for (part, from, size) in slices {
        let shape = with(&sizes, size);
        let attrs = [("offsets", with(&offsets, from)), ("sizes", shape.clone()), ("strides", strides.clone())];
        let attrs = attrs.map(|(name, list)| (name, rewriter.cx().i64s_attr(&list)));
        values.push(rewriter.value(prim::Slice::NAME, &[part], part.ty().with_shape(&shape), &attrs));
    }
    match values.as_slice() {
        [] => Err("it has no elements".into()),
        [value] => Ok(*value),
        _ => {
            let attr = rewriter.cx().i64_attr(dim as i64);
            Ok(rewriter.value(parts.name(), &values, op.result(0).ty(), &[("dim", attr)]))
        }
    }
}

/// reverse(reverse(x)) of the same dimensions = x.
pub fn reverse_of_reverse<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = inner(op, prim::Reverse::NAME)?;
    let sorted = |op: Op<'c>| {
        let mut dims = dims(op, "dims");
        dims.sort_unstable();
        dims
    };
    if sorted(first) != sorted(op) {
        return Err("other dimensions are reversed".into());
    }
    same_type(op, first.operand(0))
}

/// f(reshape(x), reshape(y), broadcast(z)..) = reshape(f(x, y, broadcast(z)..)) for pointwise f, when the reshapes only insert
/// dimensions of size 1, the same ones. Not when another operand has those dimensions of its own: they would only move there.
pub fn pointwise_of_reshape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if !is_pointwise(op) {
        return Err("not pointwise".into());
    }
    let large = rewriter.analysis().sizes(op.result(0));
    let source = |value: Value<'c>| value.defining_op().filter(|inner| inner.isa::<prim::Reshape>()).map(|inner| inner.operand(0));
    let first = op.operands().into_iter().find_map(source).ok_or(NoMatch::new("no operand is a reshape"))?;
    let small = rewriter.analysis().sizes(first);
    let map = insertion(rewriter, &small, &large).filter(|map| map.len() < large.len());
    let map = map.ok_or(NoMatch::new("the reshape does more than insert dimensions of size 1"))?;
    let mut inner = Vec::new();
    for operand in op.operands() {
        let broadcast = operand.defining_op().filter(|view| view.isa::<prim::Broadcast>());
        let moved = broadcast.and_then(|view| dims(view, "dims").into_iter().map(|dim| map.iter().position(|&to| to == dim)).collect());
        let x = source(operand).filter(|&x| {
            let sizes = rewriter.analysis().sizes(x);
            rewriter.analysis().all_equal(&sizes, &small)
        });
        inner.push(match (x, broadcast.zip(moved)) {
            (Some(x), _) => Operand::Source(x),
            (None, Some((view, moved))) => Operand::Broadcast(view, moved),
            (None, None) => return Err("another operand has the dimensions of size 1 of its own".into()),
        });
    }
    let shape = first.ty().shape();
    let operands: Vec<_> = inner
        .into_iter()
        .map(|operand| match operand {
            Operand::Source(x) => x,
            Operand::Broadcast(view, moved) => {
                let ty = view.result(0).ty().with_shape(&shape);
                let sizes = rewriter.sizes(ty, |dim| (first, dim));
                let attr = to_attr(rewriter, &moved);
                rewriter.value(prim::Broadcast::NAME, &[&[view.operand(0)], sizes.as_slice()].concat(), ty, &[("dims", attr)])
            }
        })
        .collect();
    let value = again(rewriter, op, &operands, &shape);
    let inserted = |dim: usize| (value, map.iter().position(|&to| to == dim).unwrap_or(0));
    Ok(rewriter.reshape(value, op.result(0).ty(), inserted))
}

/// transpose(f(reduce(transpose(x, q)), broadcast(y)..), p) = f(reduce(transpose(x, q')), broadcast(y)..) for pointwise f that nothing else reads: the
/// reduction goes through its results in the order in which they are wanted, and one transpose is left.
pub fn transpose_of_reduction<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let ops = computed_by(op.operand(0)).filter(|ops| ops.iter().any(|op| op.isa::<prim::Reduce>()));
    let ops = ops.ok_or(NoMatch::new("it is of no reduction of a transpose"))?;
    let perm = dims(op, "perm");
    let mut turned: HashMap<Value<'c>, Value<'c>> = HashMap::new();
    for op in ops.into_iter().rev() {
        let shape: Vec<i64> = perm.iter().map(|&dim| op.result(0).ty().shape()[dim]).collect();
        let value = match op.name() {
            prim::Broadcast::NAME => {
                let places: Vec<usize> = dims(op, "dims").into_iter().filter_map(|dim| perm.iter().position(|&from| from == dim)).collect();
                let attr = to_attr(rewriter, &places);
                rewriter.value(op.name(), &op.operands(), op.result(0).ty().with_shape(&shape), &[("dims", attr)])
            }
            prim::Reduce::NAME => {
                let first = inner(op, prim::Transpose::NAME)?;
                let (x, order) = (first.operand(0), read_in_order(op, first, &perm));
                let from: Vec<i64> = order.iter().map(|&dim| x.ty().shape()[dim]).collect();
                let attr = to_attr(rewriter, &order);
                let operand = rewriter.value(first.name(), &[x], x.ty().with_shape(&from), &[("perm", attr)]);
                again(rewriter, op, &[operand], &shape)
            }
            _ => {
                let operands: Vec<_> = op.operands().iter().map(|operand| turned[operand]).collect();
                again(rewriter, op, &operands, &shape)
            }
        };
        turned.insert(op.result(0), value);
    }
    Ok(turned[&op.operand(0)])
}

/// The pointwise ops that compute a value of reductions of transposes and of broadcasts, and these, each before what it reads; none where anything else
/// is read, or what is computed has other readers.
fn computed_by(value: Value<'_>) -> Option<Vec<Op<'_>>> {
    let (mut open, mut ops) = (vec![value], Vec::new());
    while let Some(value) = open.pop() {
        let op = value.defining_op()?;
        let of_transpose = || op.operand(0).defining_op().is_some_and(|first| first.isa::<prim::Transpose>());
        let alone = value.uses().len() == 1;
        if alone && is_pointwise(op) {
            open.extend(op.operands());
        } else if !(op.isa::<prim::Broadcast>() && op.num_operands() == 1 || alone && op.isa::<prim::Reduce>() && of_transpose()) {
            return None;
        }
        ops.push(op);
    }
    Some(ops)
}

/// The transpose below a reduction whose results are wanted in another order: the reduced dimensions keep their places.
fn read_in_order(reduce: Op<'_>, transpose: Op<'_>, perm: &[usize]) -> Vec<usize> {
    let (reduced, q) = (dims(reduce, "dims"), dims(transpose, "perm"));
    let kept: Vec<usize> = (0..q.len()).filter(|dim| !reduced.contains(dim)).collect();
    let mut wanted = perm.iter().map(|&dim| kept[dim]);
    (0..q.len()).map(|dim| if reduced.contains(&dim) { dim } else { wanted.next().unwrap_or(dim) }).map(|dim| q[dim]).collect()
}

/// reshape(f(x)) = f(reshape(x)) for a pointwise f of one operand, where x is an argument: the reshape then stands outside of the kernel that
/// f is fused into. Not when others read f(x), too, nor when it only inserts dimensions of size 1, which [`pointwise_of_reshape`] moves down.
pub fn reshape_of_unary<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let first = op.operand(0).defining_op().filter(|first| is_unary(*first)).ok_or(NoMatch::new("it reshapes no op of one operand"))?;
    if first.result(0).uses().len() != 1 {
        return Err("others read what is reshaped".into());
    }
    if !is_of_argument(first.operand(0)) {
        return Err("what is reshaped is computed from more than an argument".into());
    }
    let (small, large) = (rewriter.analysis().sizes(op.operand(0)), rewriter.analysis().sizes(op.result(0)));
    if insertion(rewriter, &small, &large).is_some_and(|map| map.len() < large.len()) {
        return Err("dimensions of size 1 are inserted behind what is computed".into());
    }
    let x = first.operand(0);
    let operands: Vec<_> = std::iter::once(x).chain(op.operands().into_iter().skip(1)).collect();
    let reshaped = rewriter.value(op.name(), &operands, x.ty().with_shape(&op.result(0).ty().shape()), &[]);
    Ok(again(rewriter, first, &[reshaped], &reshaped.ty().shape()))
}

/// f(reshape(x)) = reshape(f(x)) for a pointwise f of one operand, where x is computed: f is fused into the kernel of x then.
pub fn unary_of_reshape<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if !is_unary(op) {
        return Err("no op of one operand".into());
    }
    let reshape = inner(op, prim::Reshape::NAME)?;
    let x = reshape.operand(0);
    if is_of_argument(x) {
        return Err("an argument is reshaped".into());
    }
    let value = again(rewriter, op, &[x], &x.ty().shape());
    let operands: Vec<_> = std::iter::once(value).chain(reshape.operands().into_iter().skip(1)).collect();
    Ok(rewriter.value(prim::Reshape::NAME, &operands, op.result(0).ty(), &[]))
}

fn is_unary(op: Op<'_>) -> bool {
    is_pointwise(op) && op.num_operands() == 1
}

/// Whether a value is an argument, or computed from one by reshapes and pointwise ops of one operand alone.
fn is_of_argument(mut value: Value<'_>) -> bool {
    while let Some(op) = value.defining_op() {
        if !op.isa::<prim::Reshape>() && !is_unary(op) {
            return false;
        }
        value = op.operand(0);
    }
    true
}

/// The same pointwise op of operands of another shape.
fn again<'c>(rewriter: &mut SizedRewriter<'c>, op: Op<'c>, operands: &[Value<'c>], shape: &[i64]) -> Value<'c> {
    let attrs = op.attrs();
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    rewriter.value(op.name(), operands, op.result(0).ty().with_shape(shape), &attrs)
}

/// An operand without the inserted dimensions.
enum Operand<'c> {
    /// What the reshape reads.
    Source(Value<'c>),
    /// A broadcast, to these dimensions of the smaller shape.
    Broadcast(Op<'c>, Vec<usize>),
}
