//! `capture` ops: sizes with their ranges, bound shapes, guards.

use strata_core::ir::{AffineExpr, AffineKind, Op};

use super::run::{Machine, place, single, unsupported};
use super::value::{InterpError, Results, Value, fail};

/// Runs an op.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Results {
    match op.name() {
        "capture.dim" => dim(m, op),
        "capture.bind_dims" => bind_dims(m, op),
        "capture.guard" => match m.scalar(op.operand(0))?.truthy() {
            true => Ok(vec![]),
            false => Err(InterpError::Guard { text: op.str("text").unwrap_or_default(), location: place(op) }),
        },
        _ => Err(unsupported(op)),
    }
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

fn bind_dims<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let t = m.tensor(op.operand(0))?;
    let symbols: Vec<i64> = op.operands()[1..].iter().map(|&v| m.int(v)).collect::<Result<_, _>>()?;
    let map = op.attr("shape").and_then(|a| a.as_map()).ok_or_else(|| fail("no shape"))?;
    for (d, (&found, expr)) in t.shape().iter().zip(map.results()).enumerate() {
        let wanted = affine(expr, &[], &symbols)?;
        if wanted != found as i64 {
            return Err(InterpError::Guard { text: format!("size {found} of dimension {d} must be {wanted}"), location: place(op) });
        }
    }
    Ok(vec![])
}

/// The value of an affine expression.
pub(super) fn affine(e: AffineExpr<'_>, dims: &[i64], symbols: &[i64]) -> Result<i64, InterpError> {
    let both = |a, b| Ok::<_, InterpError>((affine(a, dims, symbols)?, affine(b, dims, symbols)?));
    let value = match e.kind() {
        AffineKind::Dim(d) => dims.get(d).copied(),
        AffineKind::Symbol(s) => symbols.get(s).copied(),
        AffineKind::Constant(c) => Some(c),
        AffineKind::Add(a, b) => both(a, b).map(|(a, b)| a.checked_add(b))?,
        AffineKind::Mul(a, b) => both(a, b).map(|(a, b)| a.checked_mul(b))?,
        AffineKind::FloorDiv(a, b) => both(a, b).map(|(a, b)| if b > 0 { Some(a.div_euclid(b)) } else { None })?,
        AffineKind::CeilDiv(a, b) => both(a, b).map(|(a, b)| if b > 0 { Some(-(-a).div_euclid(b)) } else { None })?,
        AffineKind::Mod(a, b) => both(a, b).map(|(a, b)| if b > 0 { Some(a.rem_euclid(b)) } else { None })?,
    };
    value.ok_or_else(|| fail(format!("the expression {e} has no value")))
}
