//! Ops that work in the new order as well: their attributes and operands are reordered instead of their operands transposed back.

use super::order::{Ordered, Orders, inverse, reordered, reordered_type, spell, transpose};
use super::reduce;
use crate::prim::fusion::class::is_pointwise;
use strata_core::ir::{Attr, Builder, DYNAMIC, Op, Value};
use strata_dialects::prim;
use strata_dialects::prim::view::windowed;

/// The op in the order of one of its operands, when it has one and the op is the same there. `wanted`: its result leads to what wants that
/// order. Otherwise no operand is transposed for it: the one that has the order is transposed back instead.
pub fn rewrite<'c>(b: &mut Builder<'c>, orders: &mut Orders<'c>, op: Op<'c>, wanted: bool) -> Option<Ordered<'c>> {
    if op.num_results() != 1 || !op.result(0).ty().is_tensor() {
        return None;
    }
    let perm = op.operands().into_iter().find_map(|operand| orders.of(operand)).map(|known| known.perm.clone())?;
    let joins = is_pointwise(op) || op.isa::<prim::Concat>();
    if joins && !wanted && !op.operands().into_iter().all(|operand| orders.has_order(operand, &perm)) {
        return None;
    }
    if is_pointwise(op) {
        let operands: Vec<_> = op.operands().into_iter().map(|operand| orders.in_order(b, operand, &perm)).collect();
        return Some(again(b, op, &operands, perm, &[]));
    }
    let first = orders.of(op.operand(0))?.clone();
    let at = inverse(&first.perm);
    let cx = b.cx();
    let moved = |dims: Vec<i64>| dims.into_iter().map(|dim| at[dim as usize] as i64).collect::<Vec<_>>();
    let entries = |name: &str| -> Option<Attr<'c>> { Some(cx.i64s_attr(&reordered(&op.ints(name)?, &first.perm))) };
    match op.name() {
        prim::Transpose::NAME => {
            let wanted = op.ints("perm")?;
            // Dim k of the result is dim wanted[k] of before, which stands at place at[wanted[k]].
            let result_at: Vec<usize> = wanted.iter().map(|&dim| at[dim as usize]).collect();
            Some(Ordered { value: first.value, perm: inverse(&result_at) })
        }
        prim::Pad::NAME if op.num_operands() == 2 => {
            let attrs = [("low", entries("low")?), ("high", entries("high")?), ("interior", entries("interior")?)];
            Some(again(b, op, &[first.value, op.operand(1)], first.perm, &attrs))
        }
        prim::Slice::NAME if op.num_operands() == 1 => {
            let attrs = [("offsets", entries("offsets")?), ("sizes", entries("sizes")?), ("strides", entries("strides")?)];
            Some(again(b, op, &[first.value], first.perm, &attrs))
        }
        prim::Reverse::NAME => {
            let dims = cx.i64s_attr(&moved(op.ints("dims")?));
            Some(again(b, op, &[first.value], first.perm, &[("dims", dims)]))
        }
        prim::Concat::NAME => {
            let dim = cx.i64_attr(at[op.int("dim")? as usize] as i64);
            let operands: Vec<_> = op.operands().into_iter().map(|operand| orders.in_order(b, operand, &first.perm)).collect();
            Some(again(b, op, &operands, first.perm, &[("dim", dim)]))
        }
        prim::SlidingWindow::NAME => {
            let (rank, count) = (first.perm.len(), op.ints("sizes")?.len());
            let slid = windowed(rank, count, op.ints("dims"));
            let dims = cx.i64s_attr(&moved(spell(&slid)));
            // The dims inside of the window stay last.
            let perm = first.perm.iter().copied().chain(rank..rank + count).collect();
            Some(again(b, op, &[first.value], perm, &[("dims", dims)]))
        }
        prim::Gather::NAME => {
            let dims = op.ints("dims")?;
            if !wanted && reads_across(op, &moved(dims.clone()), &first.perm) {
                return None;
            }
            let perm = of_parts(op.operand(1), &dims, &first.perm);
            let operands: Vec<_> = [first.value].into_iter().chain(op.operands().into_iter().skip(1)).collect();
            Some(again(b, op, &operands, perm, &[("dims", cx.i64s_attr(&moved(dims)))]))
        }
        prim::Scatter::NAME => {
            let dims = op.ints("dims")?;
            let perm = of_parts(op.operand(2), &dims, &first.perm);
            if !wanted && !perm.is_sorted() && !orders.has_order(op.operand(1), &perm) {
                return None;
            }
            let updates = orders.in_order(b, op.operand(1), &perm);
            let operands: Vec<_> = [first.value, updates].into_iter().chain(op.operands().into_iter().skip(2)).collect();
            Some(again(b, op, &operands, first.perm, &[("dims", cx.i64s_attr(&moved(dims)))]))
        }
        prim::Reduce::NAME | prim::ArgReduce::NAME => {
            let list = op.ints("dims");
            let dropped: Vec<usize> = list.clone().or_else(|| Some(vec![op.int("dim")?]))?.into_iter().map(|dim| dim as usize).collect();
            let attr = match list {
                Some(dims) => {
                    let mut dims = moved(dims);
                    dims.sort_unstable();
                    if let Some(value) = reduce::in_parts(b, op, first.value, &dims) {
                        return Some(Ordered { value, perm: without(&first.perm, &dropped) });
                    }
                    ("dims", cx.i64s_attr(&dims))
                }
                None => ("dim", cx.i64_attr(at[dropped[0]] as i64)),
            };
            Some(again(b, op, &[first.value], without(&first.perm, &dropped), &[attr]))
        }
        prim::Reshape::NAME => reshape(b, op, &first),
        _ => None,
    }
}

/// The order of the parts that indices along `dims` name: the dims of the indices stand first, the parts keep the order of their own.
fn of_parts(index: Value<'_>, dims: &[i64], perm: &[usize]) -> Vec<usize> {
    let (rank, named): (usize, Vec<usize>) = (index.ty().rank(), dims.iter().map(|&dim| dim as usize).collect());
    (0..rank).chain(without(perm, &named).into_iter().map(|dim| rank + dim)).collect()
}

/// An order without some dims, whose numbers are those among the dims that stay.
fn without(perm: &[usize], dropped: &[usize]) -> Vec<usize> {
    let kept = perm.iter().filter(|dim| !dropped.contains(dim));
    kept.map(|dim| dim - dropped.iter().filter(|&gone| gone < dim).count()).collect()
}

/// Whether a gather, which would read along the dims `moved` in the new order, then finds neighbours of the last dim across memory, and reads as many
/// elements as there are: the transpose is less work than a line of memory for each of them.
fn reads_across(op: Op<'_>, moved: &[i64], perm: &[usize]) -> bool {
    let last = perm.len() - 1;
    let again = op.operand(0).ty().num_elements().zip(op.result(0).ty().num_elements()).is_some_and(|(there, read)| read >= there);
    again && perm[last] != last && moved.contains(&(last as i64))
}

/// The same op with other operands, attributes and order.
fn again<'c>(b: &mut Builder<'c>, op: Op<'c>, operands: &[Value<'c>], perm: Vec<usize>, changed: &[(&str, Attr<'c>)]) -> Ordered<'c> {
    let ty = reordered_type(op.result(0).ty(), &perm);
    Ordered { value: crate::prim::again::again(b, op, operands, ty, changed), perm }
}

/// A reshape of known sizes splits and merges groups of dims; it does so in any order in which the groups stay whole. Where only the innermost
/// does (pixel shuffle), the others are brought together first: that moves rows of the innermost one, and to go back to the order of
/// before would move elements.
fn reshape<'c>(b: &mut Builder<'c>, op: Op<'c>, first: &Ordered<'c>) -> Option<Ordered<'c>> {
    let (from, to) = (op.operand(0).ty().shape(), op.result(0).ty().shape());
    let mut groups = groups(&from, &to)?;
    let place = |dim: usize| first.perm.iter().position(|&other| other == dim);
    groups.sort_by_key(|(dims, _)| dims.first().and_then(|&dim| place(dim)));
    let whole: Vec<usize> = groups.iter().flat_map(|(dims, _)| dims.clone()).collect();
    let mut value = first.value;
    if whole != first.perm {
        if !first.perm.ends_with(&groups.last()?.0) {
            return None;
        }
        value = transpose(b, value, &whole.iter().map(|&dim| place(dim)).collect::<Option<Vec<_>>>()?);
    }
    Some(again(b, op, &[value], groups.into_iter().flat_map(|(_, made)| made).collect(), &[]))
}

/// Dims of two shapes in groups of equal products, from the left. Every group has dims of both.
fn groups(from: &[i64], to: &[i64]) -> Option<Vec<(Vec<usize>, Vec<usize>)>> {
    if from.iter().chain(to).any(|&size| size == DYNAMIC || size == 0) {
        return None;
    }
    let (mut i, mut j) = (0, 0);
    let mut groups = Vec::new();
    while i < from.len() && j < to.len() {
        let (first_i, first_j) = (i, j);
        let (mut left, mut right) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while left != right {
            if left < right {
                left *= from.get(i)?;
                i += 1;
            } else {
                right *= to.get(j)?;
                j += 1;
            }
        }
        groups.push(((first_i..i).collect::<Vec<_>>(), (first_j..j).collect::<Vec<_>>()));
    }
    // Dims of size 1 that are left over belong to the last group.
    let (last_from, last_to) = groups.last_mut()?;
    last_from.extend(i..from.len());
    last_to.extend(j..to.len());
    Some(groups)
}
