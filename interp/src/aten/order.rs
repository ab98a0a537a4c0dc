//! Sorting, ranking, searching, uniqueness.

use std::cmp::Ordering;

use super::Arm::{self, Op};
use super::common::{equal, less};
use super::reduce::reduce;
use super::scan::lines;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_UNIQUE, Op(|a| Ok(unique(a)?.into_iter().take(2).collect()))),
    (_UNIQUE2, Op(unique)),
    (ARGSORT, Op(|a| one(sort(a, a.int("dim")?, a.flag("descending")?)?.1))),
    (ARGSORT_STABLE, Op(|a| one(sort(a, a.int("dim")?, a.flag("descending")?)?.1))),
    (BUCKETIZE_SCALAR, Op(|a| search(a, "boundaries"))),
    (BUCKETIZE_TENSOR, Op(|a| search(a, "boundaries"))),
    (ISIN_SCALAR_TENSOR, Op(isin)),
    (ISIN_TENSOR_SCALAR, Op(isin)),
    (ISIN_TENSOR_TENSOR, Op(isin)),
    (KTHVALUE, Op(kthvalue)),
    (MEDIAN, Op(|a| median_all(a, false))),
    (MEDIAN_DIM, Op(|a| median(a, false))),
    (MODE, Op(mode)),
    (MSORT, Op(|a| one(sort(a, 0, false)?.0))),
    (NANMEDIAN, Op(|a| median_all(a, true))),
    (NANMEDIAN_DIM, Op(|a| median(a, true))),
    (NANQUANTILE, Op(|a| quantile(a, true))),
    (NANQUANTILE_SCALAR, Op(|a| quantile(a, true))),
    (QUANTILE, Op(|a| quantile(a, false))),
    (QUANTILE_SCALAR, Op(|a| quantile(a, false))),
    (SEARCHSORTED_SCALAR, Op(|a| search(a, "sorted_sequence"))),
    (SEARCHSORTED_TENSOR, Op(|a| search(a, "sorted_sequence"))),
    (SORT, Op(|a| { let (v, i) = sort(a, a.int("dim")?, a.flag("descending")?)?; many([v, i]) })),
    (SORT_STABLE, Op(|a| { let (v, i) = sort(a, a.int("dim")?, a.flag("descending")?)?; many([v, i]) })),
    (TOPK, Op(topk)),
    (UNIQUE_CONSECUTIVE, Op(unique_consecutive)),
    (UNIQUE_DIM, Op(unique_dim)),
];

/// The order of sorting: NaN is the largest.
pub fn order(a: Scalar, b: Scalar) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ if less(a, b) => Ordering::Less,
        _ if less(b, a) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Positions in sorted order, stable.
pub fn ranking(v: &[Scalar], descending: bool) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..v.len()).collect();
    positions.sort_by(|&a, &b| if descending { order(v[b], v[a]) } else { order(v[a], v[b]) });
    positions
}

/// Values and positions of a function that picks positions of every line.
fn picked(x: &Tensor, dim: usize, f: impl Fn(&[Scalar]) -> Result<Vec<usize>, InterpError>) -> Result<(Tensor, Tensor), InterpError> {
    Ok((
        lines(x, dim, x.dtype(), |v| Ok(f(v)?.into_iter().map(|k| v[k]).collect()))?,
        lines(x, dim, DType::I64, |v| Ok(f(v)?.into_iter().map(|k| Scalar::Int(k as i128)).collect()))?,
    ))
}

fn sort(args: &Args, dim: i64, descending: bool) -> Result<(Tensor, Tensor), InterpError> {
    let x = args.tensor("self")?;
    picked(x, crate::value::wrap_dim(dim, x.rank())?, |v| Ok(ranking(v, descending)))
}

fn topk(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let (k, largest) = (args.int("k")?, args.flag("largest")?);
    let n = x.shape().get(dim).copied().unwrap_or(1);
    let k = usize::try_from(k).ok().filter(|&k| k <= n).ok_or_else(|| fail(format!("{k} of {n} elements")))?;
    if x.rank() == 0 {
        return many([x.clone(), Tensor::zeros(DType::I64, &[])?]);
    }
    if x.is_empty() {
        let mut shape = x.shape().to_vec();
        shape[dim] = k;
        return many([Tensor::zeros(x.dtype(), &shape)?, Tensor::zeros(DType::I64, &shape)?]);
    }
    let (v, i) = picked(x, dim, |v| Ok(ranking(v, largest)[..k].to_vec()))?;
    many([v, i])
}

/// One position of every line, dropping the dimension unless it is kept.
fn chosen(args: &Args, f: impl Fn(&[Scalar]) -> Result<usize, InterpError>) -> Results {
    let x = args.tensor("self")?;
    let (dim, keep) = (args.dim("dim", x.rank())?, args.flag("keepdim")?);
    if x.rank() == 0 {
        return many([x.clone(), Tensor::zeros(DType::I64, &[])?]);
    }
    many([reduce(x, &[dim], keep, x.dtype(), |v| Ok(v[f(v)?]))?, reduce(x, &[dim], keep, DType::I64, |v| Ok(Scalar::Int(f(v)? as i128)))?])
}

fn kthvalue(args: &Args) -> Results {
    let k = args.int("k")?;
    chosen(args, |v| ranking(v, false).get((k - 1).max(0) as usize).copied().filter(|_| k > 0).ok_or_else(|| fail(format!("there is no element number {k}"))))
}

/// The position of the lower median; the first NaN wins unless NaNs are skipped.
fn median_position(v: &[Scalar], skip_nan: bool) -> Result<usize, InterpError> {
    if let (Some(k), false) = (v.iter().position(|v| v.is_nan()), skip_nan) {
        return Ok(k);
    }
    let used = v.iter().filter(|v| !v.is_nan()).count();
    ranking(v, false).get(used.saturating_sub(1) / 2).copied().ok_or_else(|| fail("the median of nothing"))
}

fn median(args: &Args, skip_nan: bool) -> Results {
    chosen(args, |v| median_position(v, skip_nan))
}

fn median_all(args: &Args, skip_nan: bool) -> Results {
    let x = args.tensor("self")?;
    let v: Vec<Scalar> = x.scalars().collect();
    if v.is_empty() {
        return one(Tensor::scalar(x.dtype(), Scalar::Float(f64::NAN)));
    }
    one(Tensor::scalar(x.dtype(), v[median_position(&v, skip_nan)?]))
}

/// The smallest of the most frequent values, at its last position.
fn mode(args: &Args) -> Results {
    chosen(args, |v| {
        let count = |x: Scalar| v.iter().filter(|&&y| equal(x, y)).count();
        let most = v.iter().map(|&x| count(x)).max().ok_or_else(|| fail("the mode of nothing"))?;
        let ranked = ranking(v, false);
        let smallest = ranked.iter().copied().find(|&k| count(v[k]) == most).unwrap_or(0);
        Ok((0..v.len()).rev().find(|&k| equal(v[k], v[smallest])).unwrap_or(smallest))
    })
}

/// Quantiles lead the result's dimensions when `q` is a vector.
fn quantile(args: &Args, skip_nan: bool) -> Results {
    let x = args.tensor("self")?;
    let (keep, mode) = (args.flag("keepdim")?, args.str("interpolation")?);
    let (q, q_is_vector) = match args.value("q")? {
        crate::Value::Tensor(t) => (t.floats(), t.rank() == 1),
        _ => (vec![args.float("q")?], false),
    };
    let dims: Vec<usize> = match args.opt("dim") {
        Some(_) => vec![args.dim("dim", x.rank())?],
        None => (0..x.rank()).collect(),
    };
    let d = x.dtype();
    let at = |v: &[Scalar], q: f64| -> Result<Scalar, InterpError> {
        if !skip_nan && v.iter().any(|v| v.is_nan()) {
            return Ok(Scalar::Float(f64::NAN));
        }
        let mut v: Vec<f64> = v.iter().filter(|v| !v.is_nan()).map(|v| v.float()).collect();
        v.sort_by(f64::total_cmp);
        if v.is_empty() {
            return Ok(Scalar::Float(f64::NAN));
        }
        let rank = d.round(q * (v.len() - 1) as f64);
        let (low, high) = (v[rank.floor() as usize], v[(rank.ceil() as usize).min(v.len() - 1)]);
        Ok(Scalar::Float(match mode {
            "linear" => low + (high - low) * rank.fract(),
            "lower" => low,
            "higher" => high,
            "midpoint" => (low + high) / 2.0,
            "nearest" => v[rank.round_ties_even() as usize],
            other => return Err(fail(format!("interpolation `{other}` is not known"))),
        }))
    };
    let parts: Vec<Tensor> = q.iter().map(|&q| reduce(x, &dims, keep, d, |v| at(v, q))).collect::<Result<_, _>>()?;
    match q_is_vector {
        true => one(super::join::stack(&parts.iter().collect::<Vec<_>>(), 0)?),
        false => one(parts.into_iter().next().ok_or_else(|| fail("no quantile"))?),
    }
}

/// How many boundaries lie below each value (or not above it, for `right`).
fn search(args: &Args, name: &str) -> Results {
    let sorted = args.tensor(name)?;
    let values = match super::common::operand(args, "self")? {
        super::common::Operand::Tensor(t) => t.clone(),
        super::common::Operand::Number(v) => Tensor::scalar(v.default_dtype(), v),
    };
    let right = args.flag("right")? || args.opt_str("side")? == Some("right");
    let sorter = args.opt_tensor("sorter")?;
    let width = sorted.shape().last().copied().ok_or_else(|| fail("boundaries are a vector"))?;
    let dtype = if args.flag("out_int32")? { DType::I32 } else { DType::I64 };
    one(Tensor::try_build(dtype, values.shape(), |i| {
        let row = if sorted.rank() == 1 { 0 } else { i[..i.len() - 1].iter().zip(sorted.shape()).fold(0, |k, (i, s)| k * s + i) };
        let x = values.get(i);
        let mut count = 0;
        for k in 0..width {
            let at = match sorter {
                Some(s) => super::view::wrap_index(s.at(row * width + k).int() as i64, width)?,
                None => k,
            };
            let b = sorted.at(row * width + at);
            let before = order(b, x);
            if before == Ordering::Less || (right && before == Ordering::Equal) {
                count = k + 1;
            }
        }
        Ok(Scalar::Int(count as i128))
    })?)
}

fn isin(args: &Args) -> Results {
    let invert = args.flag("invert")?;
    let values = |names: [&str; 2]| -> Result<Tensor, InterpError> {
        let name = if args.opt(names[0]).is_some() { names[0] } else { names[1] };
        Ok(match super::common::operand(args, name)? {
            super::common::Operand::Tensor(t) => t.clone(),
            super::common::Operand::Number(v) => Tensor::scalar(v.default_dtype(), v),
        })
    };
    let (x, set) = (values(["elements", "element"])?, values(["test_elements", "test_element"])?);
    one(x.map(DType::Bool, |v| Scalar::Bool(set.scalars().any(|s| equal(s, v)) != invert)))
}

/// Distinct keys in the given order, the group of each element, and group sizes.
struct Groups {
    first: Vec<usize>,
    inverse: Vec<usize>,
    counts: Vec<usize>,
}

fn group(n: usize, visit: &[usize], same: impl Fn(usize, usize) -> bool) -> Groups {
    let mut g = Groups { first: Vec::new(), inverse: vec![0; n], counts: Vec::new() };
    let mut last: Option<usize> = None;
    for &k in visit {
        if last.is_none_or(|l| !same(l, k)) {
            g.first.push(k);
            g.counts.push(0);
        }
        g.inverse[k] = g.first.len() - 1;
        g.counts[g.first.len() - 1] += 1;
        last = Some(k);
    }
    g
}

fn indices(values: &[usize], shape: &[usize]) -> Result<Tensor, InterpError> {
    Tensor::from_ints(shape, &values.iter().map(|&v| v as i64).collect::<Vec<_>>())
}

fn grouped(args: &Args, x: &Tensor, g: &Groups, inverse_shape: &[usize], all: bool) -> Results {
    let inverse = if all || args.flag("return_inverse")? { indices(&g.inverse, inverse_shape)? } else { Tensor::zeros(DType::I64, &[0])? };
    // `_unique` has no such flag.
    let counts = if all || args.flag("return_counts").unwrap_or(false) { indices(&g.counts, &[g.counts.len()])? } else { Tensor::zeros(DType::I64, &[0])? };
    many([x.clone(), inverse, counts])
}

fn unique(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let v: Vec<Scalar> = x.scalars().collect();
    let g = group(v.len(), &ranking(&v, false), |a, b| equal(v[a], v[b]));
    grouped(args, &x.pick(&[g.first.len()], &g.first), &g, x.shape(), false)
}

fn unique_consecutive(args: &Args) -> Results {
    let x = args.tensor("self")?;
    if args.opt("dim").is_some() && x.rank() > 0 {
        let dim = args.dim("dim", x.rank())?;
        let visit: Vec<usize> = (0..x.shape()[dim]).collect();
        return unique_slices(args, x, dim, &visit);
    }
    let v: Vec<Scalar> = x.scalars().collect();
    let g = group(v.len(), &(0..v.len()).collect::<Vec<_>>(), |a, b| equal(v[a], v[b]));
    grouped(args, &x.pick(&[g.first.len()], &g.first), &g, x.shape(), false)
}

/// Along a dimension PyTorch gives inverse and counts, asked or not.
fn unique_slices(args: &Args, x: &Tensor, dim: usize, visit: &[usize]) -> Results {
    let slices: Vec<Vec<Scalar>> = (0..x.shape()[dim]).map(|k| Ok(x.select(dim, k)?.scalars().collect())).collect::<Result<_, InterpError>>()?;
    let g = group(slices.len(), visit, |a, b| slices[a].iter().zip(&slices[b]).all(|(&p, &q)| equal(p, q)));
    let mut shape = x.shape().to_vec();
    shape[dim] = g.first.len();
    let values = x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        s[dim] = g.first[i[dim]];
    })?;
    grouped(args, &values, &g, &[slices.len()], true)
}

fn unique_dim(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor has no slices"));
    }
    let slices: Vec<Vec<Scalar>> = (0..x.shape()[dim]).map(|k| Ok(x.select(dim, k)?.scalars().collect())).collect::<Result<_, InterpError>>()?;
    let mut visit: Vec<usize> = (0..slices.len()).collect();
    visit.sort_by(|&a, &b| slices[a].iter().zip(&slices[b]).map(|(&p, &q)| order(p, q)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal));
    unique_slices(args, x, dim, &visit)
}
