//! Sizes of the results of `prim` ops, and values of index arithmetic, one rule per op.

use super::dims::{Dims, Symbol};
use super::{Expr, Interval};
use strata_core::ir::{DYNAMIC, Op, Value};
use strata_dialects::prim::layout::ConvLayout;
use strata_dialects::prim::view::windowed;

/// Whether all tensor operands and results of an op have one shape.
pub(super) fn is_shape_preserving(op: Op<'_>) -> bool {
    crate::fusion::class::is_pointwise(op)
}

/// Sizes of a result. What the type knows wins; what no rule knows is a symbol of its own.
pub(super) fn infer<'c>(dims: &mut Dims<'c>, op: Op<'c>, result: Value<'c>) -> Vec<Expr> {
    let shape = result.ty().shape();
    if result.ty().is_static() {
        return shape.into_iter().map(Expr::from).collect();
    }
    let inferred = rule(dims, op, result).filter(|sizes| sizes.len() == shape.len());
    (0..shape.len())
        .map(|dim| match (shape[dim], &inferred) {
            (DYNAMIC, Some(sizes)) if sizes[dim].is_small() => sizes[dim].clone(),
            (DYNAMIC, _) => dims.symbol(Symbol::Size(result, dim)),
            (size, _) => size.into(),
        })
        .collect()
}

fn rule<'c>(dims: &mut Dims<'c>, op: Op<'c>, result: Value<'c>) -> Option<Vec<Expr>> {
    if is_shape_preserving(op) {
        return pointwise(dims, op);
    }
    let first = op.operands().first().copied();
    match op.name().strip_prefix("prim.")? {
        "reverse" | "sort" | "scan" | "scatter" | "dynamic_update" => Some(dims.sizes(first?)),
        "broadcast" => explicit(dims, op, result).or_else(|| {
            let (operand, map) = (dims.sizes(first?), op.ints("dims")?);
            let mut sizes: Vec<Expr> = result.ty().shape().into_iter().map(Expr::from).collect();
            for (dim, size) in operand.into_iter().enumerate() {
                *sizes.get_mut(usize::try_from(*map.get(dim)?).ok()?)? = size;
            }
            sizes.iter().all(|size| size.as_constant() != Some(DYNAMIC)).then_some(sizes)
        }),
        "reshape" => explicit(dims, op, result).or_else(|| reshape(dims, op, result)),
        "iota" | "rng" => explicit(dims, op, result),
        "transpose" => {
            let operand = dims.sizes(first?);
            op.ints("perm")?.into_iter().map(|dim| operand.get(usize::try_from(dim).ok()?).cloned()).collect()
        }
        "slice" | "dynamic_slice" => {
            let sizes = op.ints("sizes")?;
            let mut extra: Vec<Value<'c>> = op.operands().into_iter().skip(1).collect();
            let wanted = sizes.iter().filter(|&&size| size == DYNAMIC).count();
            let mut extra = extra.split_off(extra.len().checked_sub(wanted)?).into_iter();
            sizes.into_iter().map(|size| if size == DYNAMIC { Some(dims.index(extra.next()?)) } else { Some(size.into()) }).collect()
        }
        "pad" => pad(dims, op),
        "concat" => {
            let dim = usize::try_from(op.int("dim")?).ok()?;
            let mut sizes = dims.sizes(first?);
            for operand in op.operands().into_iter().skip(1) {
                let more = dims.sizes(operand);
                let total = sizes.get(dim)?.add(more.get(dim)?);
                sizes[dim] = total;
            }
            Some(sizes)
        }
        "window" => {
            let (sizes, strides, dilations) = (op.ints("sizes")?, op.ints("strides")?, op.ints("dilations")?);
            let mut result = dims.sizes(first?);
            for (k, dim) in windowed(result.len(), sizes.len(), op.ints("dims")).into_iter().enumerate() {
                let extent = (sizes.get(k)? - 1).checked_mul(*dilations.get(k)?)?.checked_add(1)?;
                *result.get_mut(dim)? = steps(result.get(dim)?, extent, *strides.get(k)?);
            }
            result.extend(sizes.into_iter().map(Expr::from));
            Some(result)
        }
        "reduce" => Some(without(dims.sizes(first?), &op.ints("dims")?)),
        "arg_reduce" => Some(without(dims.sizes(first?), &[op.int("dim")?])),
        "dot" => dot(dims, op),
        "conv" => conv(dims, op),
        "gather" => {
            let along = op.ints("dims")?;
            let operand = dims.sizes(first?);
            let mut sizes = dims.sizes(op.operands().get(1).copied()?);
            sizes.extend(without(operand, &along));
            Some(sizes)
        }
        _ => None,
    }
}

/// The shape that all operands share, said as exactly as any of them says it.
fn pointwise<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Vec<Expr>> {
    let mut tensors = op.operands().into_iter().filter(|value| value.ty().is_tensor());
    let mut best = dims.sizes(tensors.next()?);
    for operand in tensors {
        for (best, other) in best.iter_mut().zip(dims.sizes(operand)) {
            if best.as_constant().is_none() && (other.as_constant().is_some() || dims.resolve(&other) < dims.resolve(best)) {
                *best = other;
            }
        }
    }
    Some(best)
}

/// Sizes given by trailing `index` operands, one per `?` of the result type.
fn explicit<'c>(dims: &mut Dims<'c>, op: Op<'c>, result: Value<'c>) -> Option<Vec<Expr>> {
    let shape = result.ty().shape();
    let wanted = shape.iter().filter(|&&size| size == DYNAMIC).count();
    let operands: Vec<_> = op.operands().into_iter().filter(|value| value.ty().is_index()).collect();
    let mut operands = operands.get(operands.len().checked_sub(wanted)?..)?.iter();
    shape.into_iter().map(|size| if size == DYNAMIC { Some(dims.index(*operands.next()?)) } else { Some(size.into()) }).collect()
}

/// A reshape without sizes: one `?` follows from the number of elements, several when only dimensions of size 1 come and go.
fn reshape<'c>(dims: &mut Dims<'c>, op: Op<'c>, result: Value<'c>) -> Option<Vec<Expr>> {
    let operand = op.operands().first().copied()?;
    let shape = result.ty().shape();
    if shape.iter().filter(|&&size| size == DYNAMIC).count() == 1 {
        let known = shape.iter().filter(|&&size| size != DYNAMIC).try_fold(1i64, |product, &size| product.checked_mul(size))?;
        let missing = dims.elements(operand)?.floor_div(&known.into());
        return Some(shape.into_iter().map(|size| if size == DYNAMIC { missing.clone() } else { size.into() }).collect());
    }
    let mut rest = dims.sizes(operand).into_iter().filter(|size| size.as_constant() != Some(1));
    let sizes: Option<Vec<_>> = shape.into_iter().map(|size| if size == 1 { Some(1.into()) } else { rest.next() }).collect();
    sizes.filter(|_| rest.next().is_none())
}

fn pad<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Vec<Expr>> {
    let (low, high, interior) = (op.ints("low")?, op.ints("high")?, op.ints("interior")?);
    let mut extra = op.operands().into_iter().skip(2);
    let mut entry = |dims: &mut Dims<'c>, value: i64| if value == DYNAMIC { Some(dims.index(extra.next()?)) } else { Some(value.into()) };
    let low: Vec<Expr> = low.into_iter().map(|value| entry(dims, value)).collect::<Option<_>>()?;
    let high: Vec<Expr> = high.into_iter().map(|value| entry(dims, value)).collect::<Option<_>>()?;
    dims.sizes(op.operand(0))
        .into_iter()
        .enumerate()
        .map(|(dim, size)| {
            let gaps = match *interior.get(dim)? {
                0 => 0.into(),
                gap => dims.max(&size.sub(&1.into()), &0.into()).scale(gap),
            };
            Some(size.add(&gaps).add(low.get(dim)?).add(high.get(dim)?))
        })
        .collect()
}

fn dot<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Vec<Expr>> {
    let (lhs, rhs) = (dims.sizes(op.operand(0)), dims.sizes(*op.operands().get(1)?));
    let (lhs_batch, rhs_batch) = (op.ints("lhs_batch")?, op.ints("rhs_batch")?);
    let mut sizes: Vec<Expr> = lhs_batch.iter().map(|&dim| lhs.get(usize::try_from(dim).ok()?).cloned()).collect::<Option<_>>()?;
    sizes.extend(without(lhs, &[lhs_batch, op.ints("lhs_contract")?].concat()));
    sizes.extend(without(rhs, &[rhs_batch, op.ints("rhs_contract")?].concat()));
    Some(sizes)
}

/// Along a spatial dimension: the input with gaps and padding, stepped over by the kernel with gaps.
fn conv<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Vec<Expr>> {
    let (input, kernel) = (dims.sizes(op.operand(0)), dims.sizes(*op.operands().get(1)?));
    let (strides, low, high) = (op.ints("strides")?, op.ints("low")?, op.ints("high")?);
    let (input_gaps, kernel_gaps) = (op.ints("lhs_dilation")?, op.ints("rhs_dilation")?);
    let layout = ConvLayout::of(op).ok()?;
    let mut sizes = vec![Expr::from(0); input.len()];
    *sizes.get_mut(layout.result.batch)? = input.get(layout.lhs.batch)?.clone();
    *sizes.get_mut(layout.result.channel)? = layout.features(|dim| kernel.get(dim).cloned(), |a, b| Some(a?.mul(&b?)))?;
    for (dim, stride) in strides.iter().enumerate() {
        let spread = |size: &Expr, gap: i64| size.sub(&1.into()).scale(gap).add(&1.into());
        let padding = low.get(dim)?.saturating_add(*high.get(dim)?);
        let padded = spread(input.get(*layout.lhs.space.get(dim)?)?, *input_gaps.get(dim)?).add(&padding.into());
        let extent = spread(kernel.get(*layout.rhs.space.get(dim)?)?, *kernel_gaps.get(dim)?);
        *sizes.get_mut(layout.result.space[dim])? = padded.sub(&extent).floor_div(&(*stride).into()).add(&1.into());
    }
    Some(sizes)
}

/// How many places something of a given extent has when it moves by `stride`.
fn steps(size: &Expr, extent: i64, stride: i64) -> Expr {
    size.sub(&extent.into()).floor_div(&stride.into()).add(&1.into())
}

fn without(sizes: Vec<Expr>, dropped: &[i64]) -> Vec<Expr> {
    sizes.into_iter().enumerate().filter(|(dim, _)| !dropped.contains(&(*dim as i64))).map(|(_, size)| size).collect()
}

/// The value of an op that gives an `index`.
pub(super) fn infer_index<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Option<Expr> {
    if op.is("arith.constant") {
        return op.int("value").map(Expr::from);
    }
    let operands = op.operands();
    let first = *operands.first()?;
    if op.is("prim.dim") || op.is("capture.dim") {
        return dims.sizes(first).get(usize::try_from(op.int("dim")?).ok()?).cloned();
    }
    if !operands.iter().all(|value| value.ty().is_index()) {
        return None;
    }
    let (a, b) = (dims.index(first), dims.index(*operands.get(1)?));
    let positive = |dims: &Dims<'c>, expr: &Expr, from: i64| matches!(dims.bounds(expr), Interval { low: Some(low), .. } if low >= from);
    match op.name() {
        "arith.addi" => Some(a.add(&b)),
        "arith.subi" => Some(a.sub(&b)),
        "arith.muli" => Some(a.mul(&b)),
        "arith.floordivsi" if positive(dims, &b, 1) => Some(a.floor_div(&b)),
        "arith.ceildivsi" if positive(dims, &b, 1) => Some(a.add(&b).sub(&1.into()).floor_div(&b)),
        // Truncation is rounding down where nothing is negative.
        "arith.divsi" | "arith.divui" if positive(dims, &a, 0) && positive(dims, &b, 1) => Some(a.floor_div(&b)),
        "arith.remsi" | "arith.remui" if positive(dims, &a, 0) && positive(dims, &b, 1) => Some(a.modulo(&b)),
        "arith.minsi" => Some(dims.min(&a, &b)),
        "arith.maxsi" => Some(dims.max(&a, &b)),
        _ => None,
    }
}
