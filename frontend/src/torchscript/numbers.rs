//! Python's arithmetic on numbers, texts and conditions: of known ones here, of those that only a call knows by `arith`.

use strata_core::upstream::arith;

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::value::Value;
use crate::import::symbols::apply;
use crate::pt2::expr::Func;

impl<'c> Evaluator<'_, 'c> {
    /// A function of values that are no tensors; nothing where it is none of Python's.
    pub fn number(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        if args.iter().any(|arg| matches!(arg, Value::Number(_))) {
            return self.unknown_number(name, args);
        }
        Ok(match args {
            [Value::Str(a), Value::Str(b)] => texts(name, a, b),
            [value] => one(name, value)?,
            [a, b] => two(name, a, b)?,
            _ => many(name, args),
        })
    }

    fn unknown_number(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        if matches!(name, "Int" | "Float" | "Bool" | "IntImplicit" | "FloatImplicit" | "int" | "float" | "bool") {
            let kind = name.trim_end_matches("Implicit").to_lowercase();
            return self.number_of(&args[0], &kind).map(Some);
        }
        let func = match name {
            "add" => Func::Add,
            "mul" => Func::Mul,
            "floordiv" => Func::FloorDiv,
            "div" => Func::FloatTrueDiv,
            "remainder" => Func::PythonMod,
            "pow" => Func::Pow,
            "eq" => Func::Eq,
            "ne" => Func::Ne,
            "lt" => Func::Lt,
            "le" => Func::Le,
            "gt" => Func::Gt,
            "ge" => Func::Ge,
            "__and__" => Func::And,
            "__or__" => Func::Or,
            "__not__" => Func::Not,
            "max" => Func::Max,
            "min" => Func::Min,
            "ceil" => Func::CeilToInt,
            "floor" => Func::FloorToInt,
            "round" => Func::RoundToInt,
            "sqrt" => Func::Function(strata_dialects::aten::op::SQRT),
            "sub" | "neg" => Func::Add,
            _ => return Ok(None),
        };
        let mut operands = Vec::new();
        for arg in args {
            match self.as_number(arg) {
                Some(value) => operands.push(value),
                None => return Ok(None),
            }
        }
        let float = self.cx.f64();
        if operands.iter().any(|operand| operand.ty() == float) {
            for operand in &mut operands {
                *operand = crate::import::floats::to_float(&mut self.builder, *operand).ok_or("it is no number")?;
            }
        }
        let value = match (name, operands.as_slice()) {
            ("neg", [a]) if a.ty() == float => arith::negf(&mut self.builder, *a),
            ("neg", [a]) => {
                let zero = self.builder.const_index(0);
                arith::subi(&mut self.builder, zero, *a)
            }
            ("sub", [a, b]) if a.ty() == float => self.builder.value(arith::SubF::NAME, &[*a, *b], float, &[]),
            ("sub", [a, b]) => arith::subi(&mut self.builder, *a, *b),
            (_, operands) => apply(&mut self.builder, func, operands)
                .ok_or_else(|| format!("`{name}` of numbers that only a call knows is not evaluated"))?,
        };
        Ok(Some(Value::Number(value)))
    }
}

fn texts<'c>(name: &str, a: &str, b: &str) -> Option<Value<'c>> {
    Some(match name {
        "eq" => Value::Bool(a == b),
        "ne" => Value::Bool(a != b),
        "lt" => Value::Bool(a < b),
        "gt" => Value::Bool(a > b),
        "add" => Value::text(&format!("{a}{b}")),
        "startswith" => Value::Bool(a.starts_with(b)),
        "endswith" => Value::Bool(a.ends_with(b)),
        "__contains__" => Value::Bool(a.contains(b)),
        "find" => Value::Int(a.find(b).map_or(-1, |at| a[..at].chars().count() as i64)),
        "strip" => Value::text(a.trim_matches(|c| b.contains(c))),
        _ => return None,
    })
}

fn overflow() -> Stop {
    Stop::Here("a number is too large".to_owned())
}

fn one<'c>(name: &str, value: &Value<'c>) -> Eval<Option<Value<'c>>> {
    let float = |f: fn(f64) -> f64| {
        Ok(match value {
            Value::Int(value) => Some(Value::Float(f(*value as f64))),
            Value::Float(value) => Some(Value::Float(f(*value))),
            _ => None,
        })
    };
    let whole = |f: fn(f64) -> f64| {
        Ok(match value {
            Value::Int(value) => Some(Value::Int(*value)),
            Value::Float(value) if value.is_finite() => Some(Value::Int(f(*value) as i64)),
            _ => None,
        })
    };
    match name {
        "sqrt" => float(f64::sqrt),
        "exp" => float(f64::exp),
        "log" => float(f64::ln),
        "log2" => float(f64::log2),
        "log10" => float(f64::log10),
        "log1p" => float(f64::ln_1p),
        "expm1" => float(f64::exp_m1),
        "sin" => float(f64::sin),
        "cos" => float(f64::cos),
        "tan" => float(f64::tan),
        "asin" => float(f64::asin),
        "acos" => float(f64::acos),
        "atan" => float(f64::atan),
        "sinh" => float(f64::sinh),
        "cosh" => float(f64::cosh),
        "tanh" => float(f64::tanh),
        "radians" => float(f64::to_radians),
        "degrees" => float(f64::to_degrees),
        "fabs" => float(f64::abs),
        "floor" => whole(f64::floor),
        "ceil" => whole(f64::ceil),
        "trunc" => whole(f64::trunc),
        "round" => float(f64::round_ties_even),
        _ => Ok(match (name, value) {
            ("neg", Value::Int(value)) => Some(Value::Int(value.checked_neg().ok_or_else(overflow)?)),
            ("neg", Value::Bool(value)) => Some(Value::Int(-i64::from(*value))),
            ("neg", Value::Float(value)) => Some(Value::Float(-value)),
            ("abs", Value::Int(value)) => Some(Value::Int(value.checked_abs().ok_or_else(overflow)?)),
            ("abs", Value::Float(value)) => Some(Value::Float(value.abs())),
            ("__not__", value) => known_truth(value).map(|value| Value::Bool(!value)),
            ("Int" | "IntImplicit" | "ScalarImplicit", Value::Int(_)) => Some(value.clone()),
            ("Int", Value::Bool(value)) => Some(Value::Int((*value).into())),
            ("Int", Value::Float(value)) if value.is_finite() => Some(Value::Int(*value as i64)),
            ("Float" | "FloatImplicit", Value::Int(value)) => Some(Value::Float(*value as f64)),
            ("Float" | "FloatImplicit" | "ScalarImplicit", Value::Float(_)) => Some(value.clone()),
            ("Bool", value) => known_truth(value).map(Value::Bool),
            ("bitwise_not", Value::Int(value)) => Some(Value::Int(!value)),
            ("isfinite", Value::Float(value)) => Some(Value::Bool(value.is_finite())),
            ("isinf", Value::Float(value)) => Some(Value::Bool(value.is_infinite())),
            ("isnan", Value::Float(value)) => Some(Value::Bool(value.is_nan())),
            ("str", value) => Some(Value::text(&super::words::show(value))),
            ("len", Value::Str(text)) => Some(Value::Int(text.chars().count() as i64)),
            ("upper", Value::Str(text)) => Some(Value::text(&text.to_uppercase())),
            ("lower", Value::Str(text)) => Some(Value::text(&text.to_lowercase())),
            ("ord", Value::Str(text)) => text.chars().next().map(|c| Value::Int(u32::from(c).into())),
            ("hash" | "id", _) => None,
            _ => None,
        }),
    }
}

fn known_truth(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Int(value) => Some(*value != 0),
        Value::Float(value) => Some(*value != 0.0),
        _ => None,
    }
}

fn two<'c>(name: &str, a: &Value<'c>, b: &Value<'c>) -> Eval<Option<Value<'c>>> {
    let int = |value: &Value<'c>| match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some(i64::from(*value)),
        _ => None,
    };
    let float = |value: &Value<'c>| if let Value::Float(value) = value { Some(*value) } else { int(value).map(|value| value as f64) };
    match (name, a, b) {
        ("eq" | "ne", Value::Member(..) | Value::Device(_) | Value::None | Value::Str(_), _) | ("eq" | "ne", _, Value::None) => {
            return Ok(Some(Value::Bool(a.same(b) == (name == "eq"))));
        }
        ("__and__", Value::Bool(a), Value::Bool(b)) => return Ok(Some(Value::Bool(*a && *b))),
        ("__or__", Value::Bool(a), Value::Bool(b)) => return Ok(Some(Value::Bool(*a || *b))),
        ("__xor__", Value::Bool(a), Value::Bool(b)) => return Ok(Some(Value::Bool(a != b))),
        ("mul", Value::Str(text), Value::Int(count)) => {
            let count = usize::try_from(*count).unwrap_or(0);
            return if text.len().saturating_mul(count) > 1 << 16 { Err(overflow()) } else { Ok(Some(Value::text(&text.repeat(count)))) };
        }
        _ => {}
    }
    if let (Some(a), Some(b)) = (int(a), int(b)) {
        let zero = || Stop::Raised("ZeroDivisionError".to_owned());
        return Ok(Some(match name {
            "add" => Value::Int(a.checked_add(b).ok_or_else(overflow)?),
            "sub" => Value::Int(a.checked_sub(b).ok_or_else(overflow)?),
            "mul" => Value::Int(a.checked_mul(b).ok_or_else(overflow)?),
            "floordiv" | "floor_divide" => {
                let quotient = a.checked_div_euclid(b).ok_or_else(zero)?;
                let exact = quotient.checked_mul(b) == Some(a);
                Value::Int(if b < 0 && !exact { quotient.checked_sub(1).ok_or_else(overflow)? } else { quotient })
            }
            "div" => {
                if b == 0 {
                    return Err(zero());
                }
                Value::Float(a as f64 / b as f64)
            }
            "remainder" => {
                if b == 0 {
                    return Err(zero());
                }
                Value::Int(a.checked_rem(b).and_then(|rest| rest.checked_add(b)).and_then(|sum| sum.checked_rem(b)).ok_or_else(overflow)?)
            }
            // TorchScript's power of whole numbers is a float.
            "pow" => Value::Float((a as f64).powf(b as f64)),
            "max" => Value::Int(a.max(b)),
            "min" => Value::Int(a.min(b)),
            "__and__" => Value::Int(a & b),
            "__or__" => Value::Int(a | b),
            "__xor__" => Value::Int(a ^ b),
            "__lshift__" => Value::Int(u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).ok_or_else(overflow)?),
            "__rshift__" => Value::Int(u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).ok_or_else(overflow)?),
            "gcd" => Value::Int(gcd(a, b)),
            "atan2" => Value::Float((a as f64).atan2(b as f64)),
            _ => return Ok(compared(name, a, b).map(Value::Bool)),
        }));
    }
    let (Some(a), Some(b)) = (float(a), float(b)) else { return Ok(None) };
    let zero = |value: f64| if b == 0.0 { Err(Stop::Raised("ZeroDivisionError".to_owned())) } else { Ok(Value::Float(value)) };
    Ok(Some(match name {
        "add" => Value::Float(a + b),
        "sub" => Value::Float(a - b),
        "mul" => Value::Float(a * b),
        "div" => zero(a / b)?,
        "floordiv" | "floor_divide" => zero((a / b).floor())?,
        "remainder" => zero(a - b * (a / b).floor())?,
        "fmod" => zero(a % b)?,
        "pow" => Value::Float(a.powf(b)),
        "atan2" => Value::Float(a.atan2(b)),
        "copysign" => Value::Float(a.copysign(b)),
        "max" => Value::Float(a.max(b)),
        "min" => Value::Float(a.min(b)),
        _ => return Ok(compared(name, a, b).map(Value::Bool)),
    }))
}

/// A comparison by its operator.
fn compared<T: PartialOrd>(name: &str, a: T, b: T) -> Option<bool> {
    Some(match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        _ => return None,
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(i64::MAX)
}

fn many<'c>(name: &str, args: &[Value<'c>]) -> Option<Value<'c>> {
    match (name, args) {
        ("replace", [Value::Str(text), Value::Str(from), Value::Str(to), ..]) => Some(Value::text(&text.replace(&**from, to))),
        _ => None,
    }
}
