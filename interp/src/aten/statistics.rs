//! Histograms, distances, segments and other operators that count or compare.

use super::Arm::{self, Op};
use super::reduce::{p_norm, total};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar, promote};
use crate::tensor::{Tensor, broadcast_shape, filled, numel, room};
use crate::value::{Args, InterpError, Results, Value, fail, many, one, wrap_dim};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_CDIST_BACKWARD, Op(cdist_backward)),
    (_CDIST_FORWARD, Op(cdist)),
    (_EUCLIDEAN_DIST, Op(|a| cdist(&a.clone().with("p", Value::float(2.0))))),
    (_HISTOGRAMDD_BIN_EDGES, Op(|a| { let (_, edges) = histogramdd(a)?; Ok(vec![Value::Tensors(edges)]) })),
    (_HISTOGRAMDD_FROM_BIN_CTS, Op(|a| { let (counts, _) = histogramdd(a)?; one(counts) })),
    (_HISTOGRAMDD_FROM_BIN_TENSORS, Op(|a| { let (counts, _) = histogramdd(a)?; one(counts) })),
    (_PDIST_BACKWARD, Op(pdist_backward)),
    (_PDIST_FORWARD, Op(pdist)),
    (_SEGMENT_REDUCE_BACKWARD, Op(segment_backward)),
    (BINCOUNT, Op(bincount)),
    (CDIST, Op(cdist)),
    (CORRCOEF, Op(corrcoef)),
    (COV, Op(cov)),
    (CROSS, Op(cross)),
    (DIAG, Op(diag)),
    (DIAG_EMBED, Op(diag_embed)),
    (DIAGFLAT, Op(|a| { let x = a.tensor("self")?; one(embedded(&x.reshape(&[x.len()])?, a.int("offset")?, 0, 1)?) })),
    (HISTC, Op(histc)),
    (HISTOGRAM_BIN_CT, Op(histogram)),
    (HISTOGRAM_BINS_TENSOR, Op(histogram)),
    (HISTOGRAMDD, Op(|a| { let (counts, edges) = histogramdd(a)?; Ok(vec![counts.into(), Value::Tensors(edges)]) })),
    (HISTOGRAMDD_TENSORLIST_BINS, Op(|a| { let (counts, edges) = histogramdd(a)?; Ok(vec![counts.into(), Value::Tensors(edges)]) })),
    (HISTOGRAMDD_INT_BINS, Op(|a| { let (counts, edges) = histogramdd(a)?; Ok(vec![counts.into(), Value::Tensors(edges)]) })),
    (LINALG_CROSS, Op(cross)),
    (PDIST, Op(pdist)),
    (REPEAT_INTERLEAVE_TENSOR, Op(repeat_interleave)),
    (REPEAT_INTERLEAVE_SELF_TENSOR, Op(repeat_interleave)),
    (REPEAT_INTERLEAVE_SELF_INT, Op(repeat_interleave)),
    (SEGMENT_REDUCE, Op(segment_reduce)),
];

fn cross(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    let shape = broadcast_shape(&[a.shape(), b.shape()])?;
    let dtype = promote(a.dtype(), b.dtype());
    let (a, b) = (a.expand(&shape)?.cast(dtype), b.expand(&shape)?.cast(dtype));
    let dim = match args.opt("dim") {
        Some(_) => args.dim("dim", shape.len())?,
        None => shape.iter().position(|&s| s == 3).ok_or_else(|| fail("no dimension of size 3"))?,
    };
    if shape.get(dim) != Some(&3) {
        return Err(fail("a cross product needs three components"));
    }
    one(Tensor::build(dtype, &shape, |i| {
        let at = |t: &Tensor, k: usize| {
            let mut j = i.to_vec();
            j[dim] = k % 3;
            t.get(&j)
        };
        let (p, q) = (i[dim] + 1, i[dim] + 2);
        super::common::sub(super::common::mul(at(&a, p), at(&b, q)), super::common::mul(at(&a, q), at(&b, p)))
    })?)
}

/// The last dimension put on a diagonal of two new ones.
fn embedded(x: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor, InterpError> {
    let rank = x.rank() + 1;
    let (a, b) = (wrap_dim(dim1, rank)?, wrap_dim(dim2, rank)?);
    if x.rank() == 0 || a == b {
        return Err(fail("a diagonal needs a vector and two dimensions"));
    }
    let n = x.shape()[x.rank() - 1] + offset.unsigned_abs() as usize;
    let mut rest = x.shape()[..x.rank() - 1].iter();
    let shape: Vec<usize> = (0..rank).map(|d| if d == a || d == b { n } else { rest.next().copied().unwrap_or(1) }).collect();
    Tensor::build(x.dtype(), &shape, |i| {
        if i[b] as i64 - i[a] as i64 != offset {
            return Scalar::Int(0);
        }
        let mut at: Vec<usize> = (0..rank).filter(|&d| d != a && d != b).map(|d| i[d]).collect();
        at.push(i[a].min(i[b]));
        x.get(&at)
    })
}

fn diag_embed(args: &Args) -> Results {
    one(embedded(args.tensor("self")?, args.int("offset")?, args.int("dim1")?, args.int("dim2")?)?)
}

/// A vector becomes a matrix, a matrix its diagonal.
fn diag(args: &Args) -> Results {
    let (x, offset) = (args.tensor("self")?, args.int("diagonal")?);
    if x.rank() == 1 {
        return one(embedded(x, offset, 0, 1)?);
    }
    let (row, col, n) = super::view::diagonal_range(x.shape(), 0, 1, offset)?;
    one(x.view(&[n], |i, s| (s[0], s[1]) = (row + i[0], col + i[0]))?)
}

fn bincount(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let weights = args.opt_tensor("weights")?;
    let at: Vec<usize> = x.ints().into_iter().map(|v| usize::try_from(v).map_err(|_| fail("a negative bin"))).collect::<Result<_, _>>()?;
    let n = at.iter().map(|&v| v + 1).max().unwrap_or(0).max(args.int("minlength")?.max(0) as usize);
    let dtype = weights.map_or(DType::I64, |w| if w.dtype() == DType::F32 { DType::F32 } else { DType::F64 });
    let mut sums = filled(0.0, numel(&[n])?)?;
    at.iter().enumerate().for_each(|(k, &b)| sums[b] += weights.map_or(1.0, |w| w.at(k).float()));
    one(Tensor::from_floats(dtype, &[n], &sums)?)
}

/// The covariances of the rows of a matrix: a vector is one row, and has a number. Each observation counts by a weight, their products are
/// divided by `divisor` of the weights' sum.
fn covariances(x: &Tensor, weights: Option<&[f64]>, divisor: impl Fn(f64) -> f64) -> Result<Tensor, InterpError> {
    if x.rank() > 2 {
        return Err(fail("it is taken of a matrix, a vector or a number"));
    }
    let columns = x.shape().last().copied().unwrap_or(1);
    let count = if x.rank() == 2 { x.shape()[0] } else { 1 };
    let weight = |k: usize| weights.map_or(1.0, |weights| weights[k]);
    let sum = (0..columns).map(weight).sum::<f64>();
    let centred = |row: usize| {
        let row: Vec<f64> = (0..columns).map(|k| x.at(row * columns + k).float()).collect();
        let mean = row.iter().enumerate().map(|(k, x)| weight(k) * x).sum::<f64>() / sum;
        row.into_iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    let rows: Vec<Vec<f64>> = (0..count).map(centred).collect();
    let product = |a: usize, b: usize| (0..columns).map(|k| weight(k) * rows[a][k] * rows[b][k]).sum::<f64>();
    let values: Vec<f64> = (0..count * count).map(|at| product(at / count, at % count) / divisor(sum).max(0.0)).collect();
    let dtype = if x.dtype().is_float() { x.dtype() } else { DType::F32 };
    let shape = if count == 1 { Vec::new() } else { vec![count; 2] };
    Tensor::from_floats(dtype, &shape, &values)
}

fn cov(args: &Args) -> Results {
    let correction = args.int("correction")? as f64;
    let (counts, relative) = (args.opt_tensor("fweights")?.map(Tensor::floats), args.opt_tensor("aweights")?.map(Tensor::floats));
    let both = |(counts, relative): (&Vec<f64>, &Vec<f64>)| counts.iter().zip(relative).map(|(a, b)| a * b).collect();
    let weights: Option<Vec<f64>> = counts.as_ref().zip(relative.as_ref()).map(both).or(counts.or(relative.clone()));
    let squares = weights.as_ref().zip(relative.as_ref()).map(|(w, a)| w.iter().zip(a).map(|(w, a)| w * a).sum::<f64>());
    one(covariances(args.tensor("self")?, weights.as_deref(), |sum| match squares {
        Some(squares) if correction != 0.0 => sum - correction * squares / sum,
        _ => sum - correction,
    })?)
}

fn corrcoef(args: &Args) -> Results {
    let c = covariances(args.tensor("self")?, None, |sum| sum - 1.0)?;
    if c.rank() == 0 {
        return one(c.map(c.dtype(), |v| Scalar::Float(v.float() / v.float())));
    }
    one(Tensor::build(c.dtype(), c.shape(), |i| {
        let deviation = |k: usize| c.f(&[k, k]).sqrt();
        Scalar::Float((c.f(i) / deviation(i[0]) / deviation(i[1])).clamp(-1.0, 1.0))
    })?)
}

/// The bin of a value among edges; the last bin holds its right edge.
fn bin(edges: &[f64], v: f64) -> Option<usize> {
    let n = edges.len().checked_sub(1)?;
    if v.is_nan() || v < edges[0] || v > edges[n] {
        return None;
    }
    Some(edges[1..].iter().position(|&e| v < e).unwrap_or(n - 1))
}

/// Equal bins between bounds; with equal bounds, those of the data.
fn edges(values: &[f64], bins: usize, range: Option<(f64, f64)>) -> Vec<f64> {
    let (mut low, mut high) = range.unwrap_or((0.0, 0.0));
    if low == high && range.is_none_or(|r| r == (0.0, 0.0)) && !values.is_empty() {
        low = values.iter().copied().fold(f64::INFINITY, f64::min);
        high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    if low == high {
        (low, high) = if range.is_none() && values.is_empty() { (0.0, 1.0) } else { (low - 0.5, high + 0.5) };
    }
    (0..=bins).map(|k| if k == bins { high } else { low + (high - low) * k as f64 / bins as f64 }).collect()
}

fn histc(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let bins = args.int("bins")?.max(1) as usize;
    let (mut low, mut high) = (args.float("min")?, args.float("max")?);
    let values = x.floats();
    if low == high && !values.is_empty() {
        low = values.iter().copied().fold(f64::INFINITY, f64::min);
        high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    let mut counts = vec![0.0; bins];
    for v in values.into_iter().filter(|v| *v >= low && *v <= high) {
        counts[(((v - low) / (high - low) * bins as f64) as usize).min(bins - 1)] += 1.0;
    }
    one(Tensor::from_floats(x.dtype(), &[bins], &counts)?)
}

fn counted(points: &[Vec<f64>], edges: &[Vec<f64>], weight: Option<&Tensor>, density: bool, dtype: DType) -> Result<Tensor, InterpError> {
    let shape: Vec<usize> = edges.iter().map(|e| e.len().saturating_sub(1)).collect();
    let mut hist = Tensor::zeros(DType::F64, &shape)?;
    for (k, p) in points.iter().enumerate() {
        let at: Option<Vec<usize>> = p.iter().zip(edges).map(|(&v, e)| bin(e, v)).collect();
        if let Some(at) = at {
            let k = (hist.position(&at), weight.map_or(1.0, |w| w.at(k).float()));
            hist.put(k.0, Scalar::Float(hist.at(k.0).float() + k.1));
        }
    }
    if density {
        let sum = total(&hist.scalars().collect::<Vec<_>>()).float();
        hist = Tensor::build(DType::F64, &shape, |i| {
            let volume: f64 = i.iter().zip(edges).map(|(&b, e)| e[b + 1] - e[b]).product();
            Scalar::Float(hist.f(i) / sum / volume)
        })?;
    }
    Ok(hist.cast(dtype))
}

fn histogram(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let values = x.floats();
    let edges = match args.value("bins")? {
        Value::Tensor(t) => t.floats(),
        _ => {
            let range = args.opt_floats("range")?.map(|r| (r[0], r.get(1).copied().unwrap_or(r[0])));
            edges(&values, args.int("bins")?.max(1) as usize, range).iter().map(|&v| x.dtype().round(v)).collect()
        }
    };
    let points: Vec<Vec<f64>> = values.iter().map(|&v| vec![v]).collect();
    let hist = counted(&points, std::slice::from_ref(&edges), args.opt_tensor("weight")?, args.flag("density")?, x.dtype())?;
    many([hist, Tensor::from_floats(x.dtype(), &[edges.len()], &edges)?])
}

fn histogramdd(args: &Args) -> Result<(Tensor, Vec<Option<Tensor>>), InterpError> {
    let x = args.tensor("self")?;
    let d = *x.shape().last().ok_or_else(|| fail("points need coordinates"))?;
    let flat = x.reshape(&[x.len() / d.max(1), d])?;
    let points: Vec<Vec<f64>> = (0..flat.shape()[0]).map(|r| (0..d).map(|c| flat.f(&[r, c])).collect()).collect();
    let given: Vec<Vec<f64>> = match args.value("bins")? {
        Value::Tensors(_) => args.tensors("bins")?.into_iter().map(Tensor::floats).collect(),
        _ => {
            let (bins, range) = (args.sizes("bins")?, args.opt_floats("range")?);
            (0..d)
                .map(|c| {
                    let values: Vec<f64> = points.iter().map(|p| p[c]).collect();
                    let range = range.as_ref().map(|r| (r[2 * c], r[2 * c + 1]));
                    edges(&values, bins[c.min(bins.len() - 1)], range).iter().map(|&v| x.dtype().round(v)).collect()
                })
                .collect()
        }
    };
    let hist = counted(&points, &given, args.opt_tensor("weight")?, args.flag("density")?, x.dtype())?;
    let edges: Vec<Option<Tensor>> = given.iter().map(|e| Tensor::from_floats(x.dtype(), &[e.len()], e).map(Some)).collect::<Result<_, _>>()?;
    Ok((hist, edges))
}

/// Each number below that of the counts, as often as its count says.
fn repeated(counts: &[i128]) -> Result<Vec<usize>, InterpError> {
    if let Some(count) = counts.iter().find(|&&count| count < 0) {
        return Err(fail(format!("repeats cannot be negative, one is {count}")));
    }
    let all = counts.iter().try_fold(0usize, |all, &count| all.checked_add(usize::try_from(count).ok()?));
    let mut at = room(numel(&[all.unwrap_or(usize::MAX)])?)?;
    counts.iter().enumerate().for_each(|(k, &count)| at.extend(std::iter::repeat_n(k, count as usize)));
    Ok(at)
}

fn repeat_interleave(args: &Args) -> Results {
    let Some(x) = args.opt_tensor("self")? else {
        let counts = args.tensor("repeats")?;
        let at: Vec<i64> = repeated(&counts.ints())?.into_iter().map(|k| k as i64).collect();
        return one(Tensor::from_ints(&[at.len()], &at)?.cast(counts.dtype()));
    };
    let (x, dim) = match args.opt("dim") {
        Some(_) => (x.clone(), args.dim("dim", x.rank())?),
        None => (x.reshape(&[x.len()])?, 0),
    };
    let n = x.shape().get(dim).copied().unwrap_or(1);
    let counts: Vec<i128> = match args.value("repeats")? {
        Value::Tensor(t) if t.len() != 1 => t.ints(),
        _ => vec![args.int("repeats")? as i128; n],
    };
    if counts.len() != n {
        return Err(fail("one count for each element"));
    }
    let at = repeated(&counts)?;
    let mut shape = x.shape().to_vec();
    shape[dim] = at.len();
    one(x.view(&shape, |i, s| {
        s.copy_from_slice(i);
        s[dim] = at[i[dim]];
    })?)
}

/// Distances between all rows of two batches.
fn cdist(args: &Args) -> Results {
    let (a, b, p) = (args.tensor("x1")?, args.tensor("x2")?, args.float("p")?);
    let (ra, rb) = (a.rank(), b.rank());
    if ra < 2 || rb < 2 {
        return Err(fail("distances need matrices"));
    }
    let batch = broadcast_shape(&[&a.shape()[..ra - 2], &b.shape()[..rb - 2]])?;
    let wide = |t: &Tensor| t.expand(&[&batch[..], &t.shape()[t.rank() - 2..]].concat());
    let (x, y) = (wide(a)?, wide(b)?);
    let (n, width) = (batch.len(), a.shape()[ra - 1]);
    let shape = [&batch[..], &[a.shape()[ra - 2], b.shape()[rb - 2]]].concat();
    one(Tensor::build(promote(a.dtype(), b.dtype()), &shape, |i| {
        let at = |t: &Tensor, row: usize, k: usize| t.f(&[&i[..n], &[row, k]].concat());
        Scalar::Float(p_norm((0..width).map(|k| (at(&x, i[n], k) - at(&y, i[n + 1], k)).abs()), p))
    })?)
}

/// The derivative of a p-norm by one component `d` of the difference.
fn norm_slope(d: f64, norm: f64, p: f64) -> f64 {
    match p {
        _ if norm == 0.0 || d == 0.0 => 0.0,
        1.0 => d.signum(),
        f64::INFINITY => if d.abs() == norm { d.signum() } else { 0.0 },
        p => d.signum() * d.abs().powf(p - 1.0) * norm.powf(1.0 - p),
    }
}

fn cdist_backward(args: &Args) -> Results {
    let (grad, a, b, p, dist) = (args.tensor("grad_output")?, args.tensor("x1")?, args.tensor("x2")?, args.float("p")?, args.tensor("cdist")?);
    let n = grad.rank().saturating_sub(2);
    let wide = |t: &Tensor| t.expand(&[&grad.shape()[..n], &t.shape()[t.rank() - 2..]].concat());
    let (x, y) = (wide(a)?, wide(b)?);
    one(Tensor::build(a.dtype(), x.shape(), |i| {
        let rows = grad.shape()[n + 1];
        Scalar::Float((0..rows).map(|j| {
            let at = [&i[..n], &[i[n], j]].concat();
            let d = x.f(i) - y.f(&[&i[..n], &[j, i[n + 1]]].concat());
            grad.f(&at) * norm_slope(d, dist.f(&at), p)
        }).sum())
    })?)
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

fn pdist(args: &Args) -> Results {
    let (x, p) = (args.tensor("self")?, args.float("p")?);
    let [n, width] = x.shape()[..] else { return Err(fail("distances need a matrix")) };
    let values: Vec<f64> = pairs(n).map(|(i, j)| p_norm((0..width).map(|k| (x.f(&[i, k]) - x.f(&[j, k])).abs()), p)).collect();
    one(Tensor::from_floats(x.dtype(), &[values.len()], &values)?)
}

fn pdist_backward(args: &Args) -> Results {
    let (grad, x, p, dist) = (args.tensor("grad_output")?, args.tensor("self")?, args.float("p")?, args.tensor("pdist")?);
    let [n, width] = x.shape()[..] else { return Err(fail("distances need a matrix")) };
    let mut out = vec![0.0; x.len()];
    for (q, (i, j)) in pairs(n).enumerate() {
        for k in 0..width {
            let d = grad.at(q).float() * norm_slope(x.f(&[i, k]) - x.f(&[j, k]), dist.at(q).float(), p);
            out[i * width + k] += d;
            out[j * width + k] -= d;
        }
    }
    one(Tensor::from_floats(x.dtype(), x.shape(), &out)?)
}

/// Bounds of the segments of one line: offsets, or sums of lengths.
fn bounds(args: &Args, line: usize) -> Result<Vec<usize>, InterpError> {
    let natural = |v: i128| usize::try_from(v).map_err(|_| fail("a negative segment"));
    let last = |t: &Tensor| t.shape().last().copied().unwrap_or(1);
    if let Some(t) = args.opt_tensor("lengths")? {
        let n = last(t);
        let mut out = vec![0];
        for k in 0..n {
            out.push(out[k] + natural(t.at(line * n + k).int())?);
        }
        return Ok(out);
    }
    let t = args.tensor("offsets")?;
    let n = last(t);
    (0..n).map(|k| natural(t.at(line * n + k).int())).collect()
}

fn segment_reduce(args: &Args) -> Results {
    let x = args.tensor("data")?;
    let axis = wrap_dim(args.int("axis")?, x.rank())?;
    let kind = args.str("reduce")?;
    let initial = args.opt_float("initial")?;
    let lines: usize = x.shape()[..axis].iter().product();
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let n = x.shape()[axis];
    let mut values = Vec::new();
    let mut segments = 0;
    for line in 0..lines {
        let b = bounds(args, line)?;
        segments = b.len().saturating_sub(1);
        for w in b.windows(2) {
            for c in 0..inner {
                let v: Vec<f64> = (w[0]..w[1].min(n)).map(|k| x.at((line * n + k) * inner + c).float()).collect();
                values.push(segment(kind, &v, initial)?);
            }
        }
    }
    let shape = [&x.shape()[..axis], &[segments], &x.shape()[axis + 1..]].concat();
    one(Tensor::from_floats(x.dtype(), &shape, &values)?)
}

fn segment(kind: &str, v: &[f64], initial: Option<f64>) -> Result<f64, InterpError> {
    let pick = |a: f64, b: f64, larger: bool| if a.is_nan() || (!b.is_nan() && (a > b) == larger) { a } else { b };
    Ok(match kind {
        "sum" => initial.unwrap_or(0.0) + v.iter().sum::<f64>(),
        "prod" => initial.unwrap_or(1.0) * v.iter().product::<f64>(),
        "max" => v.iter().fold(initial.unwrap_or(f64::NEG_INFINITY), |a, &b| pick(a, b, true)),
        "min" => v.iter().fold(initial.unwrap_or(f64::INFINITY), |a, &b| pick(a, b, false)),
        "mean" if v.is_empty() => initial.unwrap_or(f64::NAN),
        "mean" => (initial.unwrap_or(0.0) + v.iter().sum::<f64>()) / v.len() as f64,
        other => return Err(fail(format!("the reduction `{other}` is not known"))),
    })
}

fn segment_backward(args: &Args) -> Results {
    let (grad, y, x) = (args.tensor("grad")?, args.tensor("output")?, args.tensor("data")?);
    let axis = wrap_dim(args.int("axis")?, x.rank())?;
    let (kind, initial) = (args.str("reduce")?, args.opt_float("initial")?);
    let lines: usize = x.shape()[..axis].iter().product();
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let n = x.shape()[axis];
    let mut out = vec![0.0; x.len()];
    for line in 0..lines {
        let b = bounds(args, line)?;
        let segments = b.len().saturating_sub(1);
        for (s, w) in b.windows(2).enumerate() {
            for c in 0..inner {
                let q = (line * segments + s) * inner + c;
                let (g, y) = (grad.at(q).float(), y.at(q).float());
                let at = |k: usize| (line * n + k) * inner + c;
                let hits = (w[0]..w[1]).filter(|&k| x.at(at(k)).float() == y || y.is_nan()).count();
                for k in w[0]..w[1] {
                    let v = x.at(at(k)).float();
                    out[at(k)] = match kind {
                        "sum" => g,
                        "mean" => g / (w[1] - w[0]) as f64,
                        "prod" => g * initial.unwrap_or(1.0) * (w[0]..w[1]).filter(|&j| j != k).map(|j| x.at(at(j)).float()).product::<f64>(),
                        _ if v == y || y.is_nan() => g / hits.max(1) as f64,
                        _ => 0.0,
                    };
                }
            }
        }
    }
    one(Tensor::from_floats(x.dtype(), x.shape(), &out)?)
}
