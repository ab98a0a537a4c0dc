//! Values that meet in one place: scatters with reductions.

use super::Arm::{self, Op};
use super::common::{add, maximum, minimum, mul, quotient};
use super::index::lifted;
use super::view::wrap_index;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, try_each};
use crate::value::{Args, InterpError, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (INDEX_REDUCE, Op(index_reduce)),
    (SCATTER_REDUCE, Op(scatter_arm)),
    (SCATTER_SRC, Op(scatter_arm)),
    (SCATTER_VALUE, Op(scatter_arm)),
    (SCATTER_VALUE_REDUCE, Op(scatter_arm)),
    (SCATTER_ADD, Op(|a| scatter(a, Some("sum"), true))),
    (SCATTER_REDUCE_TWO, Op(|a| scatter(a, Some(a.str("reduce")?), a.flag("include_self")?))),
];

/// How scattered values meet: the first one, those after it, and what is done at the end.
struct Meeting {
    combine: fn(Scalar, Scalar) -> Scalar,
    start: Scalar,
    average: bool,
}

fn meeting(kind: &str, dtype: DType) -> Result<Meeting, InterpError> {
    let m = |combine, start| Meeting { combine, start, average: false };
    Ok(match kind {
        "sum" | "add" => m(add, Scalar::Int(0)),
        "prod" | "multiply" => m(mul, Scalar::Int(1)),
        "amax" => m(maximum, dtype.lowest()),
        "amin" => m(minimum, dtype.highest()),
        "mean" => Meeting { combine: add, start: Scalar::Int(0), average: true },
        other => return Err(fail(format!("the reduction `{other}` is not known"))),
    })
}

/// Combines `(target position, value)` pairs into a tensor, in order.
fn combined(x: &Tensor, pairs: &[(usize, Scalar)], m: &Meeting, include_self: bool) -> Tensor {
    let mut values: Vec<Scalar> = x.scalars().collect();
    let mut counts = vec![include_self as i128; values.len()];
    let mut touched = vec![false; values.len()];
    for &(p, v) in pairs {
        let old = if touched[p] || include_self { values[p] } else { m.start };
        values[p] = super::reduce::wrapped(x.dtype(), (m.combine)(old, v));
        touched[p] = true;
        counts[p] += 1;
    }
    if m.average {
        for p in (0..values.len()).filter(|&p| touched[p]) {
            values[p] = match values[p] {
                Scalar::Int(v) => Scalar::Int(v.div_euclid(counts[p])),
                v => quotient(v, Scalar::Int(counts[p])),
            };
        }
    }
    let mut out = x.clone();
    values.into_iter().enumerate().for_each(|(k, v)| out.put(k, v));
    out
}

fn scatter_arm(args: &Args) -> Results {
    scatter(args, args.opt_str("reduce")?, true)
}

fn scatter(args: &Args, kind: Option<&str>, include_self: bool) -> Results {
    let original = args.tensor("self")?;
    let dim = args.dim("dim", original.rank())?;
    let x = lifted(original);
    let at = lifted(args.tensor("index")?);
    let source = args.opt_tensor("src")?.map(lifted);
    let value = args.opt_scalar("value")?;
    if at.is_empty() {
        return one(original.clone());
    }
    if at.rank() != x.rank() {
        return Err(fail("the index has another rank than the tensor"));
    }
    let mut pairs = Vec::new();
    try_each(at.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(at.get(i).int() as i64, x.shape()[dim])?;
        if (0..j.len()).any(|d| j[d] >= x.shape()[d]) || source.as_ref().is_some_and(|s| (0..i.len()).any(|d| i[d] >= s.shape()[d])) {
            return Err(fail("the index is larger than the tensor"));
        }
        let v = match &source {
            Some(s) => s.get(i),
            None => value.ok_or_else(|| fail("neither a source nor a value"))?,
        };
        pairs.push((x.position(&j), x.dtype().cast(v)));
        Ok(())
    })?;
    let set = Meeting { combine: |_, new| new, start: Scalar::Int(0), average: false };
    let m = kind.map(|k| meeting(k, x.dtype())).transpose()?.unwrap_or(set);
    one(combined(&x, &pairs, &m, include_self).reshape(original.shape())?)
}

fn index_reduce(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let (target, at, source) = (lifted(x), lifted(args.tensor("index")?), lifted(args.tensor("source")?));
    let mut pairs = Vec::new();
    try_each(source.shape(), |i| {
        let mut j = i.to_vec();
        j[dim] = wrap_index(at.at(i[dim]).int() as i64, target.shape()[dim])?;
        pairs.push((target.position(&j), source.get(i)));
        Ok(())
    })?;
    one(combined(&target, &pairs, &meeting(args.str("reduce")?, x.dtype())?, args.flag("include_self")?).reshape(x.shape())?)
}
