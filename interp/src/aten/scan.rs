//! Running reductions and differences along a dimension.

use super::Arm::{self, Op};
use super::common::{Kind, add, elementwise, less, mul, sub};
use super::reduce::{log_sum_exp, wrapped};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (CUMMAX, Op(|a| extremes(a, true))),
    (CUMMIN, Op(|a| extremes(a, false))),
    (CUMPROD, Op(|a| cumulative(a, Scalar::Int(1), mul))),
    (CUMSUM, Op(|a| cumulative(a, Scalar::Int(0), add))),
    (CUMULATIVE_TRAPEZOID_DX, Op(|a| trapezoid(a, true))),
    (CUMULATIVE_TRAPEZOID_X, Op(|a| trapezoid(a, true))),
    (DIFF, Op(diff)),
    (GRADIENT_ARRAY, Op(gradient)),
    (GRADIENT_SCALARARRAY, Op(gradient)),
    (GRADIENT_SCALARINT, Op(gradient)),
    (GRADIENT_SCALARRAYARRAY, Op(gradient)),
    (GRADIENT_SCALARRAYINT, Op(gradient)),
    (GRADIENT_TENSORARRAY, Op(gradient)),
    (GRADIENT_TENSORARRAYINT, Op(gradient)),
    (LOGCUMSUMEXP, Op(logcumsumexp)),
    (TRAPEZOID_DX, Op(|a| trapezoid(a, false))),
    (TRAPEZOID_X, Op(|a| trapezoid(a, false))),
    (TRAPZ_DX, Op(|a| trapezoid(a, false))),
    (TRAPZ_X, Op(|a| trapezoid(a, false))),
];

/// Rewrites every line along a dimension with a function of the line.
pub fn lines(x: &Tensor, dim: usize, dtype: DType, mut f: impl FnMut(&[Scalar]) -> Result<Vec<Scalar>, InterpError>) -> Result<Tensor, InterpError> {
    if x.rank() == 0 {
        return Tensor::from_scalars(dtype, &[], f(&[x.at(0)])?);
    }
    let (_, groups) = super::reduce::groups(x.shape(), &[dim], true)?;
    let results: Vec<Vec<Scalar>> = groups.iter().map(|g| f(&g.iter().map(|&k| x.at(k)).collect::<Vec<_>>())).collect::<Result<_, _>>()?;
    let length = match results.first() {
        Some(line) => line.len(),
        // Of no lines, each would be so long.
        None => f(&vec![Scalar::Int(0); x.shape()[dim]])?.len(),
    };
    let mut shape = x.shape().to_vec();
    shape[dim] = 1;
    let at = Tensor::zeros(DType::Bool, &shape)?;
    shape[dim] = length;
    Tensor::build(dtype, &shape, |i| {
        let mut j = i.to_vec();
        j[dim] = 0;
        results[at.position(&j)][i[dim]]
    })
}

fn cumulative(args: &Args, start: Scalar, f: fn(Scalar, Scalar) -> Scalar) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(if x.dtype().is_integral() { DType::I64 } else { x.dtype() });
    let dim = args.dim("dim", x.rank())?;
    one(lines(&x.cast(dtype), dim, dtype, |v| {
        let mut sum = start;
        Ok(v.iter()
            .map(|&x| {
                sum = wrapped(dtype, f(sum, x));
                sum
            })
            .collect())
    })?)
}

/// The running extremum and its last position; NaN wins.
fn extremes(args: &Args, largest: bool) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    let positions = |v: &[Scalar]| {
        let mut best = 0;
        (0..v.len())
            .map(|k| {
                let worse = if largest { less(v[k], v[best]) } else { less(v[best], v[k]) };
                if v[k].is_nan() || (!v[best].is_nan() && !worse) {
                    best = k;
                }
                best
            })
            .collect::<Vec<_>>()
    };
    many([
        lines(x, dim, x.dtype(), |v| Ok(positions(v).into_iter().map(|k| v[k]).collect()))?,
        lines(x, dim, DType::I64, |v| Ok(positions(v).into_iter().map(|k| Scalar::Int(k as i128)).collect()))?,
    ])
}

fn logcumsumexp(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dim = args.dim("dim", x.rank())?;
    one(lines(x, dim, x.dtype(), |v| {
        if x.dtype().is_complex() {
            let sums = v.iter().scan(num_complex::Complex64::new(0.0, 0.0), |s, v| {
                *s += v.complex().exp();
                Some(Scalar::Complex(s.ln()))
            });
            return Ok(sums.collect());
        }
        let v: Vec<f64> = v.iter().map(|v| v.float()).collect();
        Ok((1..=v.len()).map(|k| Scalar::Float(log_sum_exp(&v[..k]))).collect())
    })?)
}

/// The n-th forward difference.
fn diff(args: &Args) -> Results {
    let mut x = args.tensor("self")?.clone();
    let dim = args.dim("dim", x.rank())?;
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor has no differences"));
    }
    if args.int("n")? == 0 {
        return one(x);
    }
    if let Some(p) = args.opt_tensor("prepend")? {
        x = super::join::cat(&[p, &x], dim as i64)?;
    }
    if let Some(p) = args.opt_tensor("append")? {
        x = super::join::cat(&[&x, p], dim as i64)?;
    }
    for _ in 0..args.int("n")?.min(x.shape()[dim] as i64) {
        let bools = x.dtype() == DType::Bool;
        let count = x.shape()[dim].saturating_sub(1);
        let (a, b) = (x.slice(dim, 0, count, 1)?, x.slice(dim, x.shape()[dim] - count, count, 1)?);
        x = elementwise(Kind::Same, &[(&b).into(), (&a).into()], |v| Ok(if bools { Scalar::Bool(v[0] != v[1]) } else { sub(v[0], v[1]) }))?;
    }
    one(x)
}

/// Areas under the line through the points, summed or running.
fn trapezoid(args: &Args, running: bool) -> Results {
    let y = args.tensor("y")?;
    let dim = args.dim("dim", y.rank())?;
    if y.rank() == 0 {
        return Err(fail("a 0-d tensor has no area"));
    }
    let upper = |t: &Tensor, d: usize| t.slice(d, t.shape()[d].min(1), t.shape()[d].saturating_sub(1), 1);
    let lower = |t: &Tensor, d: usize| t.slice(d, 0, t.shape()[d].saturating_sub(1), 1);
    // With equal steps the whole area is a sum of floats; otherwise whole numbers stay whole, and narrow ones wrap.
    let y = &if args.opt("x").is_none() && !running { y.cast(y.dtype().floating()) } else { y.clone() };
    let heights = elementwise(Kind::Same, &[(&upper(y, dim)?).into(), (&lower(y, dim)?).into()], |v| Ok(add(v[0], v[1])))?;
    let area = |v: &[Scalar]| Ok(mul(v[0], v[1]));
    let half = |v| super::common::quotient(v, Scalar::Int(2));
    let areas = match args.opt_tensor("x")? {
        Some(x) => {
            // A vector of points belongs to the dimension; otherwise it broadcasts like y.
            let x = if x.rank() == 1 && y.rank() > 1 {
                let mut shape = vec![1; y.rank()];
                shape[dim] = x.len();
                x.reshape(&shape)?
            } else {
                x.clone()
            };
            let d = dim + x.rank() - y.rank().min(x.rank());
            let widths = elementwise(Kind::Same, &[(&upper(&x, d)?).into(), (&lower(&x, d)?).into()], |v| Ok(sub(v[0], v[1])))?;
            elementwise(Kind::Same, &[(&heights).into(), (&widths).into()], area)?
        }
        None => elementwise(Kind::Float, &[(&heights).into(), super::common::Operand::Number(args.scalar("dx")?)], area)?,
    };
    let d = areas.rank() - (y.rank() - dim);
    if running {
        return one(lines(&areas, d, areas.dtype().floating(), |v| {
            Ok(v.iter()
                .scan(Scalar::Int(0), |s, &v| {
                    *s = add(*s, v);
                    Some(half(*s))
                })
                .collect())
        })?);
    }
    one(super::reduce::reduce(&areas, &[d], false, areas.dtype().floating(), |v| Ok(half(super::reduce::total(v))))?)
}

/// Central differences inside, one-sided ones of the given order at the edges.
fn gradient(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let order = args.int("edge_order")?;
    let dims = args.dims_or_all("dim", x.rank())?;
    let spacings: Vec<Option<Tensor>> = match args.opt("spacing") {
        Some(crate::Value::Tensors(t)) => t.clone(),
        _ => Vec::new(),
    };
    let steps: Vec<f64> = match args.opt("spacing") {
        None | Some(crate::Value::Tensors(_)) => vec![1.0],
        Some(_) => args.scalars("spacing")?.into_iter().map(Scalar::float).collect(),
    };
    let dtype = x.dtype().floating();
    let mut out = Vec::new();
    for (k, &dim) in dims.iter().enumerate() {
        let at = |i: usize| match spacings.get(k) {
            Some(Some(t)) => t.at(i).complex(),
            _ => (steps[k.min(steps.len() - 1)] * i as f64).into(),
        };
        out.push(lines(&x.cast(dtype), dim, dtype, |v| {
            let (v, n) = (v.iter().map(|v| v.complex()).collect::<Vec<_>>(), v.len());
            if (n as i64) < order + 1 {
                return Err(fail("too few points for a gradient"));
            }
            let edge = |a: usize, b: usize, c: usize| {
                let (h1, h2) = (at(b) - at(a), at(c) - at(b));
                if order == 1 {
                    return (v[b] - v[a]) / h1;
                }
                v[a] * (-(h1 * 2.0 + h2) / (h1 * (h1 + h2))) + v[b] * ((h1 + h2) / (h1 * h2)) - v[c] * (h1 / (h2 * (h1 + h2)))
            };
            Ok((0..n)
                .map(|i| {
                    let g = match i {
                        0 => edge(0, 1, 2.min(n - 1)),
                        i if i == n - 1 => edge(n - 1, n - 2, n.max(3) - 3),
                        i => {
                            let (h1, h2) = (at(i) - at(i - 1), at(i + 1) - at(i));
                            v[i + 1] * (h1 / (h2 * (h1 + h2))) + v[i] * ((h2 - h1) / (h1 * h2)) - v[i - 1] * (h2 / (h1 * (h1 + h2)))
                        }
                    };
                    Scalar::Complex(g)
                })
                .collect())
        })?);
    }
    crate::value::list(out)
}
