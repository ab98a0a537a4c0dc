//! Reductions, scans and sorting. Sums and products of floats are exact to f64 and rounded once.

use super::Node;
use crate::aten::common::{add, maximum, minimum, mul};
use crate::aten::order::ranking;
use crate::aten::reduce::{extreme_index, reduce as fold, wrapped};
use crate::aten::scan::lines;
use crate::run::single;
use crate::tensor::Tensor;
use crate::value::{InterpError, Results, Value, fail};
use crate::{DType, Scalar};

/// Two elements as one.
type Step = fn(Scalar, Scalar) -> Scalar;

/// The start of a reduction and its step.
pub(crate) fn reducer(kind: &str, dtype: DType) -> Result<(Scalar, Step), InterpError> {
    Ok(match kind {
        "sum" | "add" if dtype == DType::Bool => (Scalar::Bool(false), |a, b| Scalar::Bool(a.truthy() || b.truthy())),
        "sum" | "add" => (Scalar::Int(0), add),
        "prod" | "mul" => (Scalar::Int(1), mul),
        "max" => (dtype.lowest(), maximum),
        "maxnum" => (dtype.lowest(), |a, b| if b.float() > a.float() { b } else { a }),
        "min" => (dtype.highest(), minimum),
        "logaddexp" => (Scalar::Float(f64::NEG_INFINITY), log_add_exp),
        "and" if dtype == DType::Bool => (Scalar::Bool(true), |a, b| Scalar::Bool(a.truthy() && b.truthy())),
        "and" => (Scalar::Int(-1), |a, b| Scalar::Int(a.int() & b.int())),
        "or" if dtype == DType::Bool => (Scalar::Bool(false), |a, b| Scalar::Bool(a.truthy() || b.truthy())),
        "or" => (Scalar::Int(0), |a, b| Scalar::Int(a.int() | b.int())),
        "xor" if dtype == DType::Bool => (Scalar::Bool(false), |a, b| Scalar::Bool(a.truthy() != b.truthy())),
        "xor" => (Scalar::Int(0), |a, b| Scalar::Int(a.int() ^ b.int())),
        other => return Err(fail(format!("the kind `{other}` is not known"))),
    })
}

/// The logarithm of the sum of two exponentials.
fn log_add_exp(a: Scalar, b: Scalar) -> Scalar {
    let (a, b) = (a.float(), b.float());
    let (most, least) = if b > a || b.is_nan() { (b, a) } else { (a, b) };
    Scalar::Float(if most == least && most.is_infinite() { most } else { most + (least - most).exp().ln_1p() })
}

pub(super) fn reduce(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let dtype = n.dtype(0)?;
    let (start, step) = reducer(&n.text("kind")?, x.dtype())?;
    let dims = n.dims("dims", x.rank())?;
    single(Value::Tensor(fold(x, &dims, false, dtype, |v| Ok(v.iter().fold(start, |a, &b| wrapped(dtype, step(a, b)))))?))
}

pub(super) fn segment_reduce(n: &Node<'_>) -> Results {
    let (x, begins, ends) = (n.tensor(0)?, n.tensor(1)?, n.tensor(2)?);
    let dtype = n.dtype(0)?;
    let (start, step) = reducer(&n.text("kind")?, x.dtype())?;
    let axis = begins.rank().checked_sub(1).filter(|&axis| axis < x.rank()).ok_or_else(|| fail("segments of no dimension"))?;
    let size = x.shape()[axis] as i128;
    let shape = [begins.shape(), &x.shape()[axis + 1..]].concat();
    single(Value::Tensor(Tensor::build(dtype, &shape, |i| {
        let segment = &i[..=axis];
        let mut at = i.to_vec();
        (begins.get(segment).int().max(0)..ends.get(segment).int().min(size)).fold(start, |sum, position| {
            at[axis] = position as usize;
            wrapped(dtype, step(sum, x.get(&at)))
        })
    })?))
}

pub(super) fn scan(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let dtype = n.dtype(0)?;
    let (start, step) = reducer(&n.text("kind")?, x.dtype())?;
    single(Value::Tensor(lines(x, n.dim(x.rank())?, dtype, |v| {
        let mut sum = start;
        Ok(v.iter()
            .map(|&x| {
                sum = wrapped(dtype, step(sum, x));
                sum
            })
            .collect())
    })?))
}

pub(super) fn arg_reduce(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let largest = n.text("kind")? == "max";
    single(Value::Tensor(fold(x, &[n.dim(x.rank())?], false, DType::I64, |v| Ok(Scalar::Int(extreme_index(v, largest)? as i128)))?))
}

pub(super) fn sort(n: &Node<'_>) -> Results {
    let x = n.tensor(0)?;
    let dim = n.dim(x.rank())?;
    let descending = n.op.attr("descending").and_then(|a| a.as_bool()).unwrap_or(false);
    Ok(vec![
        Value::Tensor(lines(x, dim, x.dtype(), |v| Ok(ranking(v, descending).into_iter().map(|k| v[k]).collect()))?),
        Value::Tensor(lines(x, dim, DType::I64, |v| Ok(ranking(v, descending).into_iter().map(|k| Scalar::Int(k as i128)).collect()))?),
    ])
}
