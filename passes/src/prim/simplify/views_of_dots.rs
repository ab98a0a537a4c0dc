//! The rules of `--simplify-views` around a dot. Programs that multiply matrices of two dimensions (`addmm`, `bmm`) transpose their weights,
//! which a dot reads in any order, and reshape before and after: what follows the second reshape could not join the dot's kernel.

use super::rewriter::{BuildSized, Simplified, SizedRewriter};
use crate::prim::fusion::class::is_pointwise;
use strata_core::ir::{DYNAMIC, Op, Type, Value};
use strata_core::rewrite::NoMatch;
use strata_dialects::prim;

/// dot(transpose(x), y) = dot(x, y) along the dimensions that these were, where the free ones keep their order; and so on the right.
pub fn dot_of_transpose<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let list = |name: &str| op.ints(name).unwrap_or_default();
    let mut lists = ["lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract"].map(|name| (name, list(name)));
    let mut operands = op.operands();
    let mut folded = false;
    for (side, operand) in operands.iter_mut().enumerate().take(2) {
        let Some(view) = operand.defining_op().filter(|view| view.isa::<prim::Transpose>()) else { continue };
        let perm = view.ints("perm").unwrap_or_default();
        let paired = [side, side + 2].map(|at| lists[at].1.clone()).concat();
        let free: Vec<i64> = (0..perm.len()).filter(|&dim| !paired.contains(&(dim as i64))).map(|dim| perm[dim]).collect();
        if !free.is_sorted() {
            continue;
        }
        [side, side + 2].into_iter().for_each(|at| lists[at].1.iter_mut().for_each(|dim| *dim = perm[*dim as usize]));
        (*operand, folded) = (view.operand(0), true);
    }
    if !folded {
        return Err("no operand is a transpose that keeps the order of the free dimensions".into());
    }
    let cx = rewriter.cx();
    let attrs = lists.map(|(name, dims)| (name, cx.i64s_attr(&dims)));
    Ok(rewriter.value(op.name(), &operands, op.result(0).ty(), &attrs))
}

/// Rows, or queries of attention, that fill a register; with fewer, contractions that each run along their own lanes are faster than one kernel.
pub const ROWS_OF_A_REGISTER: i64 = 16;

/// dot(x, reshape(broadcast(y))) = reshape(dot(reshape(x), y)), where the broadcast repeats `y` along a new dimension that the reshape joins
/// with the last batch dimension, as heads of queries that share keys do. Their rows are rows of one product then, and `y` is read once.
/// Rows must be few: of many, `--fuse-attention` makes one kernel, which reads through the broadcast.
pub fn dot_of_repeated<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let list = |name: &str| op.ints(name).unwrap_or_default();
    let ([lhs, rhs], [batch, other]) = ([op.operand(0), op.operand(1)], ["lhs_batch", "rhs_batch"].map(list));
    let (Some(&heads), Some(&joined)) = (batch.last(), other.last()) else { return Err("there is no batch".into()) };
    let (heads, joined) = (heads as usize, joined as usize);
    let rows: Vec<usize> =
        (0..lhs.ty().rank()).filter(|&dim| !batch.iter().chain(&list("lhs_contract")).any(|&paired| paired == dim as i64)).collect();
    let [row] = rows[..] else { return Err("the left operand has not one free dimension".into()) };
    let from = lhs.ty().shape();
    if row != heads + 1 || from[row] == DYNAMIC || from[row] >= ROWS_OF_A_REGISTER {
        return Err("the rows are not known to be few, or do not follow the last batch dimension".into());
    }
    let (single, [groups, repeats]) = unrepeated(rewriter, rhs, joined)?;
    let (shape, at) = (op.result(0).ty().shape(), batch.len() - 1);
    let split = |shape: &[i64], dim: usize| [&shape[..dim], &[groups, repeats * from[row]], &shape[dim + 2..]].concat();
    let x = rewriter.reshape(lhs, lhs.ty().with_shape(&split(&from, heads)), |dim| (lhs, dim));
    let attrs = op.attrs();
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let dot = rewriter.value(op.name(), &[x, single], op.result(0).ty().with_shape(&split(&shape, at)), &attrs);
    Ok(rewriter.reshape(dot, op.result(0).ty(), |dim| (dot, dim)))
}

/// A tensor without the dimension that a broadcast repeats it along and a reshape joins with dimension `joined`; the sizes of what is joined.
fn unrepeated<'c>(rewriter: &mut SizedRewriter<'c>, value: Value<'c>, joined: usize) -> Result<(Value<'c>, [i64; 2]), NoMatch> {
    let defined = |value: Value<'c>, name: &str| value.defining_op().filter(|view| view.is(name));
    let reshape = defined(value, prim::Reshape::NAME).ok_or(NoMatch::new("the right operand is no reshape"))?;
    let whole = reshape.operand(0);
    let turned = defined(whole, prim::Transpose::NAME);
    let rank = whole.ty().rank();
    let perm = turned.map_or_else(|| (0..rank as i64).collect(), |view| view.ints("perm").unwrap_or_default());
    let repeated = turned.map_or(whole, |view| view.operand(0));
    let broadcast = defined(repeated, prim::Broadcast::NAME).ok_or(NoMatch::new("the right operand repeats nothing"))?;
    let dims = broadcast.ints("dims").unwrap_or_default();
    if rank != value.ty().rank() + 1 {
        return Err("the reshape joins no two dimensions".into());
    }
    let (from, to) = (rewriter.analysis().sizes(whole), rewriter.analysis().sizes(value));
    let (kept, rest) = ([&from[..joined], &from[joined + 2..]].concat(), [&to[..joined], &to[joined + 1..]].concat());
    let pair = [0, 1].map(|at| whole.ty().shape()[joined + at]);
    let joins = !pair.contains(&DYNAMIC) && value.ty().shape()[joined] == pair[0] * pair[1];
    if !joins || !rewriter.analysis().all_equal(&kept, &rest) {
        return Err("the reshape does more than join two dimensions of known sizes".into());
    }
    let gone = perm[joined + 1];
    if dims.contains(&gone) {
        return Err("what the reshape joins is not repeated".into());
    }
    let without = |dims: &[i64]| dims.iter().filter(|&&dim| dim != gone).map(|&dim| dim - i64::from(dim > gone)).collect::<Vec<_>>();
    let places: Vec<usize> = (0..rank).filter(|&dim| dim as i64 != gone).collect();
    let sizes = repeated.ty().shape();
    let ty = repeated.ty().with_shape(&places.iter().map(|&dim| sizes[dim]).collect::<Vec<_>>());
    let unknown = rewriter.sizes(ty, |dim| (repeated, places[dim]));
    let cx = rewriter.cx();
    let attr = cx.i64s_attr(&without(&dims));
    let single = rewriter.value(broadcast.name(), &[&[broadcast.operand(0)], unknown.as_slice()].concat(), ty, &[("dims", attr)]);
    let Some(turned) = turned else { return Ok((single, pair)) };
    let perm = without(&perm);
    let ty = ty.with_shape(&perm.iter().map(|&dim| ty.shape()[dim as usize]).collect::<Vec<_>>());
    Ok((rewriter.value(turned.name(), &[single], ty, &[("perm", cx.i64s_attr(&perm))]), pair))
}

/// reshape(f(dot(reshape(x), w), broadcast(b))) = f(dot(x', w), broadcast(b)), where the outer reshape splits the first dimension of the
/// dot's result, which is free in the left operand or a batch of both, and `x'` has it split. `f` is pointwise, any number of times.
pub fn reshape_of_dot<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (dot, path) = path(op)?;
    let list = |name: &str| dot.ints(name).unwrap_or_default();
    let operands = match (list("lhs_batch").as_slice(), list("rhs_batch").as_slice()) {
        ([], []) if !list("lhs_contract").contains(&0) => vec![dot.operand(0)],
        ([0], [0]) => vec![dot.operand(0), dot.operand(1)],
        _ => return Err("the first dimension of the dot's result is no first dimension of its operands".into()),
    };
    let is_reshape = |value: &Value<'c>| value.defining_op().is_some_and(|inner| inner.isa::<prim::Reshape>());
    if !operands.iter().all(is_reshape) {
        return Err("an operand of the dot is no reshape".into());
    }
    let count = split(rewriter, op, dot)?;
    let more = count as i64 - 1;
    let shape = op.result(0).ty().shape();
    let halves: Vec<Value<'c>> = operands.iter().map(|&operand| split_first(rewriter, op, operand, count)).collect();
    let shifted = |name: &str| list(name).into_iter().map(|dim| dim + more).collect::<Vec<_>>();
    let batch: Vec<i64> = if operands.len() == 2 { (0..count as i64).collect() } else { Vec::new() };
    let rhs_contract = if operands.len() == 2 { shifted("rhs_contract") } else { list("rhs_contract") };
    let cx = rewriter.cx();
    let attrs = [
        ("lhs_batch", cx.i64s_attr(&batch)),
        ("rhs_batch", cx.i64s_attr(&batch)),
        ("lhs_contract", cx.i64s_attr(&shifted("lhs_contract"))),
        ("rhs_contract", cx.i64s_attr(&rhs_contract)),
    ];
    let sizes = [&shape[..count], &dot.result(0).ty().shape()[1..]].concat();
    let of = |ty: Type<'c>| ty.with_shape(&sizes);
    let rhs = halves.get(1).copied().unwrap_or_else(|| dot.operand(1));
    let mut value = rewriter.value(dot.name(), &[halves[0], rhs], of(dot.result(0).ty()), &attrs);
    for (step, through) in path.into_iter().rev() {
        let operands: Vec<_> = step.operands().into_iter().enumerate().map(|(at, operand)| (at != through).then_some(operand)).collect();
        let operands: Vec<_> =
            operands.into_iter().map(|other| other.map_or(value, |other| moved(rewriter, other, value, more, &sizes))).collect();
        let attrs = step.attrs();
        let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
        value = rewriter.value(step.name(), &operands, of(step.result(0).ty()), &attrs);
    }
    let operands: Vec<_> = std::iter::once(value).chain(op.operands().into_iter().skip(1)).collect();
    Ok(rewriter.value(op.name(), &operands, op.result(0).ty(), &[]))
}

/// The dot under pointwise ops, and these from the last on, each with the operand that leads there. The others are broadcasts that do not
/// know the first dimension.
fn path<'c>(op: Op<'c>) -> Result<(Op<'c>, Vec<(Op<'c>, usize)>), NoMatch> {
    let (mut value, mut path) = (op.operand(0), Vec::new());
    loop {
        let inner = value.defining_op().filter(|_| value.uses().len() == 1);
        let inner = inner.ok_or(NoMatch::new("the operand is no dot, or is used elsewhere"))?;
        if inner.isa::<prim::Dot>() {
            return Ok((inner, path));
        }
        let is_broadcast = |value: Value<'c>| {
            let broadcast = value.defining_op().filter(|view| view.isa::<prim::Broadcast>());
            broadcast.is_some_and(|view| view.ints("dims").is_some_and(|dims| !dims.contains(&0)))
        };
        let operands = inner.operands();
        let mut rest = operands.iter().enumerate().filter(|(_, operand)| !is_broadcast(**operand));
        match (is_pointwise(inner), rest.next(), rest.next()) {
            (true, Some((through, &operand)), None) => {
                path.push((inner, through));
                value = operand;
            }
            _ => return Err("between dot and reshape is more than pointwise ops of one tensor".into()),
        }
    }
}

/// How many dimensions of the reshape's result are the first one of the dot's result: two or more.
fn split<'c>(rewriter: &mut SizedRewriter<'c>, op: Op<'c>, dot: Op<'c>) -> Result<usize, NoMatch> {
    let dims = rewriter.analysis();
    let (out, result) = (dims.sizes(op.result(0)), dims.sizes(dot.result(0)));
    let more = |large: usize, small: usize| (large + 1).checked_sub(small).filter(|&count| count > 1);
    // It splits nothing else..
    if let Some(count) = more(out.len(), result.len())
        && dims.all_equal(&out[count..], &result[1..])
    {
        return Ok(count);
    }
    // .. or the reshape before the dot had joined the same dimensions, and nothing else.
    let joined = dot.operand(0);
    let inner = joined.defining_op().map(|inner| (dims.sizes(inner.operand(0)), dims.sizes(joined)));
    if let Some((from, to)) = inner
        && let Some(count) = more(from.len(), to.len()).filter(|&count| count <= out.len())
        && dims.all_equal(&from[count..], &to[1..])
        && dims.all_equal(&from[..count], &out[..count])
    {
        return Ok(count);
    }
    Err("the reshape does not split the dot's first dimension".into())
}

/// An operand of the dot with its first dimension split as the result of `op` has it.
fn split_first<'c>(rewriter: &mut SizedRewriter<'c>, op: Op<'c>, operand: Value<'c>, count: usize) -> Value<'c> {
    let (shape, rest) = (op.result(0).ty().shape(), operand.ty().shape());
    let ty = operand.ty().with_shape(&[&shape[..count], &rest[1..]].concat());
    // The reshape names its unknown sizes in order.
    let known = shape[..count].iter().filter(|&&size| size == DYNAMIC).count();
    let mut operands: Vec<Value<'c>> = std::iter::once(operand).chain(op.operands().into_iter().skip(1).take(known)).collect();
    for dim in (1..rest.len()).filter(|&dim| rest[dim] == DYNAMIC) {
        operands.push(rewriter.dim(operand, dim));
    }
    rewriter.value(op.name(), &operands, ty, &[])
}

/// A broadcast to the shape of `value`, whose dimensions come `more` later.
fn moved<'c>(rewriter: &mut SizedRewriter<'c>, other: Value<'c>, value: Value<'c>, more: i64, sizes: &[i64]) -> Value<'c> {
    let Some(view) = other.defining_op() else { return other };
    let dims: Vec<i64> = view.ints("dims").unwrap_or_default().into_iter().map(|dim| dim + more).collect();
    let ty = other.ty().with_shape(sizes);
    let unknown = rewriter.sizes(ty, |dim| (value, dim));
    let attr = rewriter.cx().i64s_attr(&dims);
    rewriter.value(view.name(), &[&[view.operand(0)], unknown.as_slice()].concat(), ty, &[("dims", attr)])
}
