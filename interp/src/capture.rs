//! `capture` ops: sizes with their ranges, bound shapes, guards, orders in memory.

use strata_core::ir::Op;
use strata_dialects::capture;

use super::affine::Expr;
use super::kernel;
use super::run::{Machine, place, single, unsupported};
use super::value::{InterpError, Results, Value, fail};
use super::{DType, Scalar, Tensor};

/// Runs an op.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    match op.name() {
        capture::Dim::NAME => dim(m, op),
        capture::BindDims::NAME => bind_dims(m, op),
        capture::Seed::NAME => single(Value::Tensor(Tensor::scalar(DType::I64, Scalar::Int(m.seeds.fresh().into())))),
        capture::Guard::NAME => guard(m, op).map(|()| vec![]),
        capture::Permute::NAME => permute(m, op),
        capture::CustomGradient::NAME => op.operands().into_iter().take(op.num_results()).map(|value| m.get(value)).collect(),
        capture::CustomCall::NAME => kernel::captured(m, op),
        _ => Err(unsupported(op)),
    }
}

/// Fails with the op's text, details put in, unless the condition holds.
pub(super) fn guard<'c>(m: &Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    if m.scalar(op.operand(0))?.truthy() {
        return Ok(());
    }
    let details: Vec<i64> = op.operands()[1..].iter().map(|&v| m.int(v)).collect::<Result<_, _>>()?;
    Err(failed(op, &details))
}

/// The failure that an op's text tells, details put in.
pub(super) fn failed(op: Op<'_>, details: &[i64]) -> InterpError {
    let text = op.str("text").unwrap_or_default();
    let text = details.iter().enumerate().fold(text, |text, (k, detail)| text.replace(&format!("{{{k}}}"), &detail.to_string()));
    InterpError::Guard { text, location: place(op) }
}

fn dim<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let t = m.tensor(op.operand(0))?;
    let d = op.int("dim").and_then(|d| usize::try_from(d).ok()).ok_or_else(|| fail("no dimension"))?;
    let size = *t.shape().get(d).ok_or_else(|| fail("no such dimension"))? as i64;
    let (min, max) = (op.int("min").unwrap_or(0), op.int("max").unwrap_or(i64::MAX));
    if size < min || size > max {
        let symbol = op.str("symbol").unwrap_or_default();
        return Err(InterpError::Guard {
            text: format!("{symbol} = {size} is outside of {min}..={max} (dimension {d})"),
            location: place(op),
        });
    }
    single(Value::int(size))
}

fn permute<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let perm = op.ints("perm").ok_or_else(|| fail("no permutation"))?;
    let perm: Vec<usize> = perm.into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    single(Value::Tensor(m.tensor(op.operand(0))?.permute(&perm)?))
}

fn bind_dims<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let t = m.tensor(op.operand(0))?;
    let symbols: Vec<i64> = op.operands()[1..].iter().map(|&v| m.int(v)).collect::<Result<_, _>>()?;
    let map = op.attr("shape").and_then(|a| a.as_map()).ok_or_else(|| fail("no shape"))?;
    for (d, (&found, expr)) in t.shape().iter().zip(Expr::map(map)).enumerate() {
        let wanted = expr.value(&[], &symbols)?;
        if wanted != found as i64 {
            return Err(InterpError::Guard { text: format!("size {found} of dimension {d} must be {wanted}"), location: place(op) });
        }
    }
    Ok(vec![])
}
