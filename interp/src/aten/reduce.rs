//! Reductions: every result element is a function of a list of elements.

use num_complex::Complex64;

use super::Arm::{self, Op};
use super::common::{add, less, maximum, minimum, mul};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, each};
use crate::value::{Args, InterpError, Results, Value, fail, many, one, wrap_dim, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_IS_ALL_TRUE, Op(|a| logical(a, |v| v.iter().all(|v| v.truthy())))),
    (_IS_ANY_TRUE, Op(|a| logical(a, |v| v.iter().any(|v| v.truthy())))),
    (ALL, Op(|a| logical(a, |v| v.iter().all(|v| v.truthy())))),
    (ALL_DIM, Op(|a| logical(a, |v| v.iter().all(|v| v.truthy())))),
    (ALL_DIMS, Op(|a| logical(a, |v| v.iter().all(|v| v.truthy())))),
    (AMAX, Op(|a| extremum(a, true))),
    (AMIN, Op(|a| extremum(a, false))),
    (AMINMAX, Op(aminmax)),
    (ANY, Op(|a| logical(a, |v| v.iter().any(|v| v.truthy())))),
    (ANY_DIM, Op(|a| logical(a, |v| v.iter().any(|v| v.truthy())))),
    (ANY_DIMS, Op(|a| logical(a, |v| v.iter().any(|v| v.truthy())))),
    (ARGMAX, Op(|a| arg_extremum(a, true))),
    (ARGMIN, Op(|a| arg_extremum(a, false))),
    (COUNT_NONZERO, Op(count_nonzero)),
    (COUNT_NONZERO_DIM_INTLIST, Op(count_nonzero)),
    (DIST, Op(dist)),
    (FROBENIUS_NORM_DIM, Op(|a| vector_norm(&a.clone().with("p", Value::float(2.0)), "p"))),
    (HASH_TENSOR, Op(hash_tensor)),
    (LINALG__POWSUM, Op(powsum)),
    (LINALG_VECTOR_NORM, Op(|a| vector_norm(a, "ord"))),
    (LOGSUMEXP, Op(logsumexp)),
    (MAX, Op(|a| extremum(a, true))),
    (MAX_DIM, Op(|a| with_index(a, true))),
    (MEAN, Op(|a| mean(a, false))),
    (MEAN_DIM, Op(|a| mean(a, false))),
    (MIN, Op(|a| extremum(a, false))),
    (MIN_DIM, Op(|a| with_index(a, false))),
    (NANMEAN, Op(|a| mean(a, true))),
    (NANSUM, Op(|a| sum(a, true))),
    (NORM_SCALAR, Op(|a| vector_norm(a, "p"))),
    (NORM_SCALAROPT_DIM, Op(|a| vector_norm(a, "p"))),
    (NORM_SCALAROPT_DIM_DTYPE, Op(|a| vector_norm(a, "p"))),
    (NORM_SCALAROPT_DTYPE, Op(|a| vector_norm(a, "p"))),
    (NORM_EXCEPT_DIM, Op(norm_except_dim)),
    (PROD, Op(prod)),
    (PROD_DIM_INT, Op(prod)),
    (SPECIAL_LOGSUMEXP, Op(logsumexp)),
    (STD, Op(|a| one(moments(a)?.1))),
    (STD_CORRECTION, Op(|a| one(moments(a)?.1))),
    (STD_DIM, Op(|a| one(moments(a)?.1))),
    (STD_MEAN, Op(|a| { let (_, s, m) = moments(a)?; many([s, m]) })),
    (STD_MEAN_CORRECTION, Op(|a| { let (_, s, m) = moments(a)?; many([s, m]) })),
    (STD_MEAN_DIM, Op(|a| { let (_, s, m) = moments(a)?; many([s, m]) })),
    (SUM, Op(|a| sum(a, false))),
    (SUM_DIM_INTLIST, Op(|a| sum(a, false))),
    (SUM_TO_SIZE, Op(sum_to_size)),
    (TRACE, Op(trace)),
    (VAR, Op(|a| one(moments(a)?.0))),
    (VAR_CORRECTION, Op(|a| one(moments(a)?.0))),
    (VAR_DIM, Op(|a| one(moments(a)?.0))),
    (VAR_MEAN, Op(|a| { let (v, _, m) = moments(a)?; many([v, m]) })),
    (VAR_MEAN_CORRECTION, Op(|a| { let (v, _, m) = moments(a)?; many([v, m]) })),
    (VAR_MEAN_DIM, Op(|a| { let (v, _, m) = moments(a)?; many([v, m]) })),
];

/// The shape left after a reduction, and for each of its points the positions that are reduced.
pub fn groups(shape: &[usize], dims: &[usize], keepdim: bool) -> Result<(Vec<usize>, Vec<Vec<usize>>), InterpError> {
    let kept: Vec<usize> = shape.iter().enumerate().map(|(d, &s)| if dims.contains(&d) { 1 } else { s }).collect();
    let at = Tensor::zeros(DType::Bool, &kept)?;
    let mut out = vec![Vec::new(); at.len()];
    let (mut position, mut target) = (0, vec![0; shape.len()]);
    each(shape, |i| {
        for (d, t) in target.iter_mut().enumerate() {
            *t = if dims.contains(&d) { 0 } else { i[d] };
        }
        out[at.position(&target)].push(position);
        position += 1;
    });
    let result = if keepdim { kept } else { shape.iter().enumerate().filter(|(d, _)| !dims.contains(d)).map(|(_, &s)| s).collect() };
    Ok((result, out))
}

/// Reduces dimensions with a function of the elements' list.
pub fn reduce(x: &Tensor, dims: &[usize], keepdim: bool, dtype: DType, mut f: impl FnMut(&[Scalar]) -> Result<Scalar, InterpError>) -> Result<Tensor, InterpError> {
    let (shape, groups) = groups(x.shape(), dims, keepdim)?;
    let mut values = Vec::with_capacity(groups.len());
    for g in groups {
        let elements: Vec<Scalar> = g.into_iter().map(|k| x.at(k)).collect();
        values.push(f(&elements)?);
    }
    Tensor::from_scalars(dtype, &shape, values)
}

fn dims_of(args: &Args, rank: usize) -> Result<(Vec<usize>, bool), InterpError> {
    Ok((args.dims_or_all("dim", rank)?, args.flag("keepdim")?))
}

/// The sum of elements in their category.
pub fn total(v: &[Scalar]) -> Scalar {
    v.iter().copied().fold(Scalar::Int(0), add)
}

fn sum(args: &Args, skip_nan: bool) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(if x.dtype().is_integral() { DType::I64 } else { x.dtype() });
    let (dims, keep) = dims_of(args, x.rank())?;
    one(reduce(&x.cast(dtype), &dims, keep, dtype, |v| Ok(if skip_nan { total(&v.iter().copied().filter(|v| !v.is_nan()).collect::<Vec<_>>()) } else { total(v) }))?)
}

fn mean(args: &Args, skip_nan: bool) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let (dims, keep) = dims_of(args, x.rank())?;
    one(reduce(&x.cast(dtype), &dims, keep, dtype, |v| {
        let used: Vec<Scalar> = v.iter().copied().filter(|v| !skip_nan || !v.is_nan()).collect();
        Ok(super::common::quotient(total(&used), Scalar::Int(used.len() as i128)))
    })?)
}

fn prod(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(if x.dtype().is_integral() { DType::I64 } else { x.dtype() });
    let (dims, keep) = dims_of(args, x.rank())?;
    one(reduce(&x.cast(dtype), &dims, keep, dtype, |v| Ok(v.iter().copied().fold(Scalar::Int(1), |a, b| wrapped(dtype, mul(a, b)))))?)
}

/// Keeps a running integer within its type, so that it wraps instead of growing.
pub fn wrapped(dtype: DType, v: Scalar) -> Scalar {
    if dtype.is_integral() { dtype.cast(v) } else { v }
}

/// `any` and `all`: bool, but u8 for u8.
fn logical(args: &Args, f: fn(&[Scalar]) -> bool) -> Results {
    let x = args.tensor("self")?;
    let dtype = if x.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    let dims = match args.opt_ints("dim")? {
        Some(d) => wrap_dims(&d, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    one(reduce(x, &dims, args.flag("keepdim")?, dtype, |v| Ok(Scalar::Bool(f(v))))?)
}

/// The extremum of a list; NaN wins.
pub fn extreme(v: &[Scalar], largest: bool) -> Result<Scalar, InterpError> {
    v.iter().copied().reduce(if largest { maximum } else { minimum }).ok_or_else(|| fail("no element to choose from"))
}

/// The position of the first extremum; NaN wins.
pub fn extreme_index(v: &[Scalar], largest: bool) -> Result<usize, InterpError> {
    let mut best = 0;
    for (k, &x) in v.iter().enumerate() {
        let now = v[best];
        if !now.is_nan() && (x.is_nan() || if largest { less(now, x) } else { less(x, now) }) {
            best = k;
        }
    }
    if v.is_empty() { Err(fail("no element to choose from")) } else { Ok(best) }
}

fn extremum(args: &Args, largest: bool) -> Results {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    one(reduce(x, &dims, keep, x.dtype(), |v| extreme(v, largest))?)
}

fn aminmax(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    many([reduce(x, &dims, keep, x.dtype(), |v| extreme(v, false))?, reduce(x, &dims, keep, x.dtype(), |v| extreme(v, true))?])
}

fn arg_extremum(args: &Args, largest: bool) -> Results {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    one(reduce(x, &dims, keep, DType::I64, |v| Ok(Scalar::Int(extreme_index(v, largest)? as i128)))?)
}

fn with_index(args: &Args, largest: bool) -> Results {
    let x = args.tensor("self")?;
    let dims = [wrap_dim(args.int("dim")?, x.rank())?];
    let keep = args.flag("keepdim")?;
    many([
        reduce(x, &dims, keep, x.dtype(), |v| Ok(v[extreme_index(v, largest)?]))?,
        reduce(x, &dims, keep, DType::I64, |v| Ok(Scalar::Int(extreme_index(v, largest)? as i128)))?,
    ])
}

fn count_nonzero(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (dims, _) = dims_of(args, x.rank())?;
    one(reduce(x, &dims, false, DType::I64, |v| Ok(Scalar::Int(v.iter().filter(|v| v.truthy()).count() as i128)))?)
}

/// `|x|` as a real number.
pub fn magnitude(v: Scalar) -> f64 {
    match v {
        Scalar::Complex(z) => z.re.hypot(z.im),
        v => v.float().abs(),
    }
}

/// The p-norm of a list of magnitudes.
pub fn p_norm(values: impl Iterator<Item = f64>, p: f64) -> f64 {
    let nan_max = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    let nan_min = |a: f64, b: f64| if a.is_nan() || a < b { a } else { b };
    match p {
        0.0 => values.filter(|&v| v != 0.0).count() as f64,
        1.0 => values.sum(),
        2.0 => values.map(|v| v * v).sum::<f64>().sqrt(),
        f64::INFINITY => values.fold(0.0, nan_max),
        f64::NEG_INFINITY => values.fold(f64::INFINITY, nan_min),
        p => values.map(|v| v.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

fn vector_norm(args: &Args, order: &str) -> Results {
    let x = args.tensor("self")?;
    let p = args.opt_float(order)?.unwrap_or(2.0);
    let (dims, keep) = dims_of(args, x.rank())?;
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    if x.is_empty() && (p < 0.0 || p == f64::INFINITY) && dims.iter().any(|&d| x.shape().get(d) == Some(&0)) {
        return Err(fail("the norm of nothing is not defined for this order"));
    }
    one(reduce(&x.cast(dtype), &dims, keep, dtype.real(), |v| Ok(Scalar::Float(p_norm(v.iter().map(|&v| magnitude(v)), p))))?)
}

/// The sum of a norm before its root.
fn powsum(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let p = args.opt_float("ord")?.unwrap_or(2.0);
    let (dims, keep) = dims_of(args, x.rank())?;
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let sum = |v: &[Scalar]| Ok(Scalar::Float(v.iter().map(|&v| magnitude(v).powf(p)).sum()));
    one(reduce(&x.cast(dtype), &dims, keep, dtype.real(), sum)?)
}

/// The norm of each slice along a dimension; -1 means of everything.
fn norm_except_dim(args: &Args) -> Results {
    let (x, dim, p) = (args.tensor("v")?, args.int("dim")?, args.float("pow")?);
    let dims: Vec<usize> = (0..x.rank()).filter(|&d| d as i64 != dim).collect();
    one(reduce(x, &dims, dim >= 0, x.dtype().real(), |v| Ok(Scalar::Float(p_norm(v.iter().map(|&v| magnitude(v)), p))))?)
}

fn dist(args: &Args) -> Results {
    let (x, y) = (args.tensor("self")?, args.tensor("other")?);
    let p = args.float("p")?;
    let difference = super::common::elementwise(super::common::Kind::Same, &[x.into(), y.into()], |v| Ok(super::common::sub(v[0], v[1])))?;
    one(Tensor::scalar(difference.dtype().real(), Scalar::Float(p_norm(difference.scalars().map(magnitude), p))))
}

/// `ln(sum(exp(v)))`, shifted by the largest finite element.
pub fn log_sum_exp(v: &[f64]) -> f64 {
    let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shift = if top.is_finite() { top } else { 0.0 };
    v.iter().map(|v| (v - shift).exp()).sum::<f64>().ln() + shift
}

fn logsumexp(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    let dtype = x.dtype().floating();
    one(reduce(x, &dims, keep, dtype, |v| {
        if dtype.is_complex() {
            let top = v.iter().map(|v| v.complex().re).fold(f64::NEG_INFINITY, f64::max);
            let shift = if top.is_finite() { top } else { 0.0 };
            return Ok(Scalar::Complex(v.iter().map(|v| (v.complex() - shift).exp()).sum::<Complex64>().ln() + shift));
        }
        Ok(Scalar::Float(log_sum_exp(&v.iter().map(|v| v.float()).collect::<Vec<_>>())))
    })?)
}

/// Variance, standard deviation and mean.
fn moments(args: &Args) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    let correction = match args.opt("unbiased") {
        Some(_) => args.flag("unbiased")? as u8 as f64,
        None => args.opt_float("correction")?.unwrap_or(1.0),
    };
    let mean_of = |v: &[Scalar]| total(v).complex() / v.len() as f64;
    let variance = |v: &[Scalar]| {
        let m = mean_of(v);
        v.iter().map(|v| (v.complex() - m).norm_sqr()).sum::<f64>() / (v.len() as f64 - correction).max(0.0)
    };
    let real = x.dtype().real();
    Ok((
        reduce(x, &dims, keep, real, |v| Ok(Scalar::Float(variance(v))))?,
        reduce(x, &dims, keep, real, |v| Ok(Scalar::Float(variance(v).sqrt())))?,
        reduce(x, &dims, keep, x.dtype(), |v| Ok(Scalar::Complex(mean_of(v))))?,
    ))
}

/// Sums the dimensions that broadcasting would have made.
pub fn sum_to(x: &Tensor, shape: &[usize]) -> Result<Tensor, InterpError> {
    let lead = x.rank().checked_sub(shape.len()).ok_or_else(|| fail(format!("shape {:?} does not sum to {shape:?}", x.shape())))?;
    let dims: Vec<usize> = (0..x.rank()).filter(|&d| d < lead || (shape[d - lead] == 1 && x.shape()[d] != 1)).collect();
    let dtype = if x.dtype().is_integral() && !dims.is_empty() { DType::I64 } else { x.dtype() };
    reduce(x, &dims, false, dtype, |v| Ok(total(v)))?.reshape(shape)
}

fn sum_to_size(args: &Args) -> Results {
    one(sum_to(args.tensor("self")?, &args.shape("size")?)?)
}

fn trace(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let [rows, cols] = x.shape()[..] else { return Err(fail("a trace needs a matrix")) };
    let dtype = if x.dtype().is_integral() { DType::I64 } else { x.dtype() };
    let diagonal: Vec<Scalar> = (0..rows.min(cols)).map(|k| x.get(&[k, k])).collect();
    one(Tensor::scalar(dtype, total(&diagonal)))
}

/// The exclusive or of the elements' 64-bit patterns.
fn hash_tensor(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (dims, keep) = dims_of(args, x.rank())?;
    let bits = |v: &Scalar| if let Scalar::Float(f) = v { f.to_bits() } else { v.int() as u64 };
    Ok(vec![Value::Tensor(reduce(x, &dims, keep, DType::U64, |v| Ok(Scalar::Int(v.iter().map(bits).fold(0, |a, b| a ^ b) as i128)))?)])
}
