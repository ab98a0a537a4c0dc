//! Norms of matrices, and condition numbers.

use super::*;

/// An order of a norm: a number, or a name.
pub(super) enum Order {
    Number(f64),
    Frobenius,
    Nuclear,
}

pub(super) fn order(args: &Args, name: &str) -> Result<Option<Order>, InterpError> {
    Ok(match args.opt(name) {
        None => None,
        Some(Value::Str(s)) if s == "fro" => Some(Order::Frobenius),
        Some(Value::Str(s)) if s == "nuc" => Some(Order::Nuclear),
        Some(Value::Str(s)) => Some(Order::Number(s.parse().map_err(|_| fail(format!("the norm `{s}` is not known")))?)),
        Some(_) => Some(Order::Number(args.float(name)?)),
    })
}

pub(super) fn norm_of(m: &Matrix, o: &Order) -> Result<f64, InterpError> {
    let extreme = |v: Vec<f64>, largest: bool| {
        v.into_iter().fold(if largest { 0.0 } else { f64::INFINITY }, |a, b| if a.is_nan() || (a > b) == largest { a } else { b })
    };
    let columns = |m: &Matrix| (0..m.cols).map(|c| (0..m.rows).map(|r| m[(r, c)].norm()).sum()).collect::<Vec<f64>>();
    Ok(match o {
        Order::Frobenius => m.elements().iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt(),
        Order::Nuclear => m.svd(false).1.iter().sum(),
        Order::Number(p) if p.abs() == 1.0 => extreme(columns(m), *p > 0.0),
        Order::Number(p) if p.is_infinite() => extreme(columns(&m.transpose()), *p > 0.0),
        Order::Number(p) if p.abs() == 2.0 => extreme(m.svd(false).1, *p > 0.0),
        Order::Number(p) => return Err(fail(format!("there is no matrix norm of order {p}"))),
    })
}

/// Norms of the matrices in two dimensions.
pub(super) fn matrix_norm(x: &Tensor, o: &Order, dims: &[usize], keep: bool, dtype: DType) -> Results {
    let [a, b] = *dims else { return Err(fail("a matrix norm takes two dimensions")) };
    let mut perm: Vec<usize> = (0..x.rank()).filter(|&d| d != a && d != b).collect();
    perm.extend([a, b]);
    let (batch, ms) = matrices(&x.permute(&perm)?)?;
    let values: Vec<f64> = ms.iter().map(|m| norm_of(m, o)).collect::<Result<_, _>>()?;
    let shape = if keep { x.shape().iter().enumerate().map(|(d, &s)| if d == a || d == b { 1 } else { s }).collect() } else { batch };
    one(numbers(dtype, &shape, values)?)
}

pub(super) fn matrix_norm_arm(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let o = order(args, "ord")?.unwrap_or(Order::Frobenius);
    matrix_norm(&x.cast(dtype), &o, &wrap_dims(&args.ints("dim")?, x.rank())?, args.flag("keepdim")?, dtype.real())
}

/// The sum of singular values.
pub(super) fn nuclear_norm(args: &Args, dims: &[i64]) -> Results {
    let x = args.tensor("self")?;
    matrix_norm(x, &Order::Nuclear, &wrap_dims(dims, x.rank())?, args.flag("keepdim")?, x.dtype().real())
}

/// A vector norm, or a matrix norm where two dimensions are meant.
pub(super) fn norm(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (o, keep) = (order(args, "ord")?, args.flag("keepdim")?);
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let dims = args.opt_ints("dim")?.map(|d| wrap_dims(&d, x.rank())).transpose()?;
    let x = x.cast(dtype);
    match (&o, &dims) {
        (Some(o), Some(d)) if d.len() == 2 => matrix_norm(&x, o, d, keep, dtype.real()),
        (Some(o), None) if x.rank() == 2 => matrix_norm(&x, o, &[0, 1], keep, dtype.real()),
        _ => {
            let p = match o {
                Some(Order::Number(p)) => p,
                Some(_) if x.rank() != 1 => return Err(fail("a named norm needs a matrix")),
                _ => 2.0,
            };
            let dims = dims.unwrap_or_else(|| (0..x.rank()).collect());
            one(reduce(&x, &dims, keep, dtype.real(), |v| Ok(Scalar::Float(p_norm(v.iter().map(|&v| magnitude(v)), p))))?)
        }
    }
}

pub(super) fn cond(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (batch, ms) = matrices(x)?;
    let o = order(args, "p")?.unwrap_or(Order::Number(2.0));
    let values: Vec<f64> = ms
        .iter()
        .map(|m| match o {
            Order::Number(p) if p.abs() == 2.0 => {
                let s = m.svd(false).1;
                let (top, low) = (s.first().copied().unwrap_or(0.0), s.last().copied().unwrap_or(0.0));
                Ok(if p > 0.0 { top / low } else { low / top })
            }
            _ => {
                let (inverse, info) = m.solve(&Matrix::identity(m.rows));
                if info > 0 { Ok(f64::INFINITY) } else { Ok(norm_of(m, &o)? * norm_of(&inverse, &o)?) }
            }
        })
        .collect::<Result<_, InterpError>>()?;
    one(numbers(x.dtype().real(), &batch, values)?)
}
