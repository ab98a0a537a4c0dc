//! Symbolic integers: each symbol is an `index` value, and an expression becomes `arith` on them.

use std::collections::HashMap;

use strata_core::ir::{AffineExpr, Builder, Cx, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::capture;

use super::{error::Refusal, floats};
use crate::pt2::expr::{Expr, Func};

/// The symbols that have a value, with the expressions already computed in the entry's prologue.
#[derive(Default)]
pub(super) struct Symbols<'c> {
    values: HashMap<String, Value<'c>>,
    computed: HashMap<String, Value<'c>>,
}

impl<'c> Symbols<'c> {
    pub fn define(&mut self, symbol: &str, value: Value<'c>) {
        self.values.insert(symbol.to_owned(), value);
    }

    pub fn get(&self, symbol: &str) -> Option<Value<'c>> {
        self.values.get(symbol).copied()
    }

    /// Whether every symbol of the expression has a value.
    pub fn covers(&self, expr: &Expr) -> bool {
        let mut covered = true;
        expr.symbols(&mut |symbol| covered &= self.values.contains_key(symbol));
        covered
    }

    /// Computes an expression where it dominates the whole program, so that later uses share it and its parts.
    pub fn prepare(&mut self, builder: &mut Builder<'c>, expr: &Expr) -> Result<Value<'c>, Refusal> {
        let key = expr.to_string();
        if let Some(value) = self.computed.get(&key) {
            return Ok(*value);
        }
        if let Expr::Call(_, operands) = expr {
            for operand in operands {
                self.prepare(builder, operand)?;
            }
        }
        let value = self.build(builder, expr)?;
        self.computed.insert(key, value);
        Ok(value)
    }

    /// The value of an expression: `index` for integers, `f64` for floats, `i1` for conditions.
    pub fn build(&self, builder: &mut Builder<'c>, expr: &Expr) -> Result<Value<'c>, Refusal> {
        if let Some(value) = self.computed.get(&expr.to_string()) {
            return Ok(*value);
        }
        match expr {
            Expr::Int(value) => Ok(builder.const_index(*value)),
            Expr::Bool(value) => {
                let ty = builder.cx().int(1);
                Ok(builder.const_int(ty, i64::from(*value)))
            }
            Expr::Symbol(name) => self.get(name).ok_or_else(|| Refusal::broken(format!("symbol `{name}` has no value here"))),
            Expr::Rational(above, below) => {
                let f64 = builder.cx().f64();
                Ok(builder.const_float(f64, *above as f64 / *below as f64))
            }
            Expr::Float(value) => {
                let f64 = builder.cx().f64();
                Ok(builder.const_float(f64, *value))
            }
            Expr::Call(func, operands) => {
                let values = operands.iter().map(|operand| self.build(builder, operand)).collect::<Result<Vec<_>, _>>()?;
                apply(builder, *func, &values).ok_or_else(|| unsupported(expr))
            }
        }
    }
}

fn unsupported(expr: &Expr) -> Refusal {
    Refusal::unsupported(format!("the expression `{expr}` is no arithmetic on numbers"))
}

/// A function on `index` values, a logical one on `i1`, or one of floats; `None` where it is none of these.
pub(crate) fn apply<'c>(builder: &mut Builder<'c>, func: Func, operands: &[Value<'c>]) -> Option<Value<'c>> {
    let float = builder.cx().f64();
    if func != Func::Where && operands.iter().any(|operand| operand.ty() == float) {
        return floats::apply(builder, func, operands);
    }
    let logical = operands.iter().all(|value| !value.ty().is_index());
    if logical != matches!(func, Func::And | Func::Or | Func::Not) && func != Func::Where {
        return None;
    }
    let fold = |builder: &mut Builder<'c>, name: &str| {
        let (first, rest) = operands.split_first()?;
        Some(rest.iter().fold(*first, |left, right| builder.value(name, &[left, *right], left.ty(), &[])))
    };
    let (a, b) = (operands.first().copied(), operands.get(1).copied());
    match func {
        Func::Add => fold(builder, arith::AddI::NAME),
        Func::Mul => fold(builder, arith::MulI::NAME),
        Func::Max => fold(builder, arith::MaxSI::NAME),
        Func::Min => fold(builder, arith::MinSI::NAME),
        Func::And => fold(builder, arith::AndI::NAME),
        Func::Or => fold(builder, arith::OrI::NAME),
        Func::FloorDiv | Func::CleanDiv | Func::CeilDiv | Func::Mod | Func::PythonMod => Some(divide(builder, func, a?, b?)),
        Func::Pow => power(builder, a?, b?),
        Func::Not => {
            let one = builder.const_int(a?.ty(), 1);
            Some(arith::xori(builder, a?, one))
        }
        Func::Where => {
            let (when, yes, no) = (a?, b?, *operands.get(2)?);
            (yes.ty() == no.ty() && !when.ty().is_index()).then(|| arith::select(builder, when, yes, no))
        }
        Func::Eq => Some(arith::cmpi(builder, CmpIPredicate::Eq, a?, b?)),
        Func::Ne => Some(arith::cmpi(builder, CmpIPredicate::Ne, a?, b?)),
        Func::Lt => Some(arith::cmpi(builder, CmpIPredicate::Slt, a?, b?)),
        Func::Le => Some(arith::cmpi(builder, CmpIPredicate::Sle, a?, b?)),
        Func::Gt => Some(arith::cmpi(builder, CmpIPredicate::Sgt, a?, b?)),
        Func::Ge => Some(arith::cmpi(builder, CmpIPredicate::Sge, a?, b?)),
        Func::TruncToInt | Func::RoundToInt | Func::FloorToInt | Func::CeilToInt => a,
        Func::ToFloat | Func::IntTrueDiv | Func::FloatTrueDiv | Func::Function(_) => floats::apply(builder, func, operands),
    }
}

/// Python's division and remainder. Dividing by zero fails the call, and no instruction ever does it.
fn divide<'c>(builder: &mut Builder<'c>, func: Func, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    let divisor = match b.defining_op().filter(|op| op.isa::<arith::Constant>()).and_then(|op| op.int("value")) {
        Some(value) if value != 0 => b,
        _ => {
            let (zero, one) = (builder.const_index(0), builder.const_index(1));
            let holds = arith::cmpi(builder, CmpIPredicate::Ne, b, zero);
            let text = builder.cx().str_attr("division by zero in the program's sizes");
            builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
            arith::select(builder, holds, b, one)
        }
    };
    if func == Func::CeilDiv {
        return arith::ceildivsi(builder, a, divisor);
    }
    let quotient = arith::floordivsi(builder, a, divisor);
    if matches!(func, Func::FloorDiv | Func::CleanDiv) {
        return quotient;
    }
    // Python's remainder has the divisor's sign.
    let product = arith::muli(builder, quotient, divisor);
    arith::subi(builder, a, product)
}

/// A power with a small constant exponent, as products.
fn power<'c>(builder: &mut Builder<'c>, base: Value<'c>, exponent: Value<'c>) -> Option<Value<'c>> {
    let exponent = exponent.defining_op().filter(|op| op.isa::<arith::Constant>())?.int("value")?;
    match exponent {
        0 => Some(builder.const_index(1)),
        1..=64 => Some((1..exponent).fold(base, |power, _| arith::muli(builder, power, base))),
        _ => None,
    }
}

/// The expression as an affine one over the given symbols, where it is (semi-)affine.
pub(super) fn affine<'c>(cx: Cx<'c>, expr: &Expr, symbols: &[&str]) -> Option<AffineExpr<'c>> {
    match expr {
        Expr::Int(value) => Some(cx.constant(*value)),
        Expr::Symbol(name) => symbols.iter().position(|symbol| symbol == name).map(|place| cx.symbol(place)),
        Expr::Call(func, operands) => {
            let mut operands = operands.iter().map(|operand| affine(cx, operand, symbols)).collect::<Option<Vec<_>>>()?.into_iter();
            let first = operands.next()?;
            match func {
                Func::Add => Some(operands.fold(first, |sum, operand| sum + operand)),
                Func::Mul => Some(operands.fold(first, |product, operand| product * operand)),
                Func::FloorDiv | Func::CleanDiv => positive(operands.next()?).map(|divisor| first.floor_div(divisor)),
                Func::CeilDiv => positive(operands.next()?).map(|divisor| first.ceil_div(divisor)),
                Func::Mod | Func::PythonMod => positive(operands.next()?).map(|divisor| first.modulo(divisor)),
                Func::Pow => match operands.next()?.as_constant()? {
                    exponent @ 1..=8 => Some((1..exponent).fold(first, |power, _| power * first)),
                    _ => None,
                },
                _ => None,
            }
        }
        Expr::Rational(..) | Expr::Float(_) | Expr::Bool(_) => None,
    }
}

/// The expression with other expressions in the place of some symbols, and without conditions that always hold.
pub(super) fn substitute(expr: &Expr, with: &HashMap<String, Expr>) -> Expr {
    let Expr::Call(func, operands) = expr else {
        return match expr {
            Expr::Symbol(name) => with.get(name).unwrap_or(expr).clone(),
            other => other.clone(),
        };
    };
    let mut operands: Vec<_> = operands.iter().map(|operand| substitute(operand, with)).collect();
    match func {
        Func::Eq | Func::Le | Func::Ge if operands[0] == operands[1] => Expr::Bool(true),
        Func::And => {
            operands.retain(|operand| *operand != Expr::Bool(true));
            if operands.is_empty() { Expr::Bool(true) } else { Expr::Call(Func::And, operands) }
        }
        Func::Or if operands.contains(&Expr::Bool(true)) => Expr::Bool(true),
        _ => Expr::Call(*func, operands),
    }
}

/// Affine division is defined for positive divisors only.
fn positive(divisor: AffineExpr<'_>) -> Option<AffineExpr<'_>> {
    divisor.as_constant().is_some_and(|value| value > 0).then_some(divisor)
}
