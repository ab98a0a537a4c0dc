//! Python's arithmetic on numbers, texts and conditions: of known ones here, of those that only a call knows by `arith`.

use strata_core::ir;
use strata_core::upstream::arith;
use strata_dialects::aten::op;

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::texts;
use super::value::Value;
use crate::import::symbols::apply;
use crate::pt2::expr::Func;

impl<'c> Evaluator<'_, 'c> {
    /// A function of values that are no tensors; nothing where it is none of Python's.
    pub fn number(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        if let Some(Value::Str(text)) = args.first()
            && let Some(value) = texts::method(name, text, &args[1..])?
        {
            return Ok(Some(value));
        }
        if !args.iter().any(|arg| matches!(arg, Value::Number(_))) {
            let known = match args {
                [value] => one(name, value)?,
                [a, b] => two(name, a, b)?,
                _ => None,
            };
            if known.is_some() || !matches!(name, "erf" | "erfc" | "lgamma") {
                return Ok(known);
            }
        }
        self.unknown_number(name, args)
    }

    fn unknown_number(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        if matches!(name, "Int" | "Float" | "Bool" | "IntImplicit" | "FloatImplicit" | "int" | "float" | "bool") {
            let kind = name.trim_end_matches("Implicit").to_lowercase();
            return self.number_of(&args[0], &kind).map(Some);
        }
        if name == "divmod" {
            let (quotient, rest) = (self.unknown_number("floordiv", args)?, self.unknown_number("remainder", args)?);
            return Ok(quotient.zip(rest).map(|(quotient, rest)| self.tuple(vec![quotient, rest])));
        }
        let (mut operands, float, truth) = (Vec::new(), self.cx.f64(), self.cx.int(1));
        let logical = matches!(name, "__and__" | "__or__" | "__xor__" | "__not__" | "eq" | "ne");
        for arg in args {
            let Some(mut value) = self.as_number(arg) else { return Ok(None) };
            if value.ty() == truth && !(logical && args.iter().all(|arg| is_truth(arg, truth))) {
                let Value::Number(number) = self.number_of(&Value::Number(value), "int")? else { return Ok(None) };
                value = number;
            }
            operands.push(value);
        }
        let floats = operands.iter().any(|operand| operand.ty() == float);
        if floats || always_float(name) {
            for operand in &mut operands {
                *operand = crate::import::floats::to_float(&mut self.builder, *operand).ok_or("it is no number")?;
            }
            if let Some(value) = self.unknown_float(name, &operands)? {
                return Ok(Some(Value::Number(value)));
            }
        }
        let builder = &mut self.builder;
        let value = match (name, operands.as_slice()) {
            ("neg", [a]) => {
                let zero = builder.const_index(0);
                arith::subi(builder, zero, *a)
            }
            ("abs", [a]) => {
                let zero = builder.const_index(0);
                let negative = arith::subi(builder, zero, *a);
                builder.value(arith::MaxSI::NAME, &[*a, negative], a.ty(), &[])
            }
            ("bitwise_not", [a]) => {
                let ones = builder.const_index(-1);
                arith::xori(builder, *a, ones)
            }
            // By known numbers, which are powers of two.
            ("__lshift__" | "__rshift__", [a, _]) if matches!(args[1], Value::Int(0..=62)) => {
                let Value::Int(count) = args[1] else { return Ok(None) };
                let factor = builder.const_index(1 << count);
                let func = if name == "__lshift__" { Func::Mul } else { Func::FloorDiv };
                apply(builder, func, &[*a, factor]).ok_or("it is no number")?
            }
            ("floor" | "ceil" | "trunc" | "ScalarImplicit", [a]) => *a,
            ("sub", [a, b]) => arith::subi(builder, *a, *b),
            ("__and__", [a, b]) => builder.value(arith::AndI::NAME, &[*a, *b], a.ty(), &[]),
            ("__or__", [a, b]) => arith::ori(builder, *a, *b),
            ("__xor__", [a, b]) => arith::xori(builder, *a, *b),
            ("eq", [a, b]) if a.ty() == truth => {
                let (one, differ) = (builder.const_int(truth, 1), arith::xori(builder, *a, *b));
                arith::xori(builder, differ, one)
            }
            ("ne", [a, b]) if a.ty() == truth => arith::xori(builder, *a, *b),
            (_, operands) => {
                let Some(func) = function(name) else { return Ok(None) };
                apply(builder, func, operands).ok_or_else(|| format!("`{name}` of numbers that only a call knows is not evaluated"))?
            }
        };
        Ok(Some(Value::Number(value)))
    }

    /// A function of floats of which only a call knows one.
    fn unknown_float(&mut self, name: &str, operands: &[ir::Value<'c>]) -> Eval<Option<ir::Value<'c>>> {
        let (builder, float) = (&mut self.builder, self.cx.f64());
        let call = |builder: &mut _, operator, operands: &[ir::Value<'c>]| apply(builder, Func::Function(operator), operands);
        let value = match (name, operands) {
            ("neg", [a]) => Some(arith::negf(builder, *a)),
            ("sub", [a, b]) => Some(builder.value(arith::SubF::NAME, &[*a, *b], float, &[])),
            ("isnan", [a]) => Some(arith::cmpf(builder, arith::CmpFPredicate::Une, *a, *a)),
            ("isinf" | "isfinite", [a]) => {
                let infinite = builder.const_float(float, f64::INFINITY);
                let size = call(builder, op::ABS, &[*a]).ok_or("it is no number")?;
                let test = if name == "isinf" { arith::CmpFPredicate::Oeq } else { arith::CmpFPredicate::Olt };
                Some(arith::cmpf(builder, test, size, infinite))
            }
            // As C computes it, so that no rounding differs.
            ("remainder", [a, b]) => {
                let rest = call(builder, op::FMOD_TENSOR, &[*a, *b]).ok_or("it is no number")?;
                let sum = builder.value(arith::AddF::NAME, &[rest, *b], float, &[]);
                call(builder, op::FMOD_TENSOR, &[sum, *b])
            }
            ("radians" | "degrees", [a]) => {
                let factor = if name == "radians" { std::f64::consts::PI / 180.0 } else { 180.0 / std::f64::consts::PI };
                let factor = builder.const_float(float, factor);
                Some(arith::mulf(builder, *a, factor))
            }
            ("ScalarImplicit", [a]) => Some(*a),
            _ => float_function(name).or_else(|| function(name)).and_then(|func| apply(builder, func, operands)),
        };
        Ok(value)
    }
}

/// Python's name of a function of whole numbers, and of one that is the same of floats.
fn function(name: &str) -> Option<Func> {
    Some(match name {
        "add" => Func::Add,
        "mul" => Func::Mul,
        "floordiv" => Func::FloorDiv,
        "div" => Func::FloatTrueDiv,
        "remainder" => Func::PythonMod,
        "eq" => Func::Eq,
        "ne" => Func::Ne,
        "lt" => Func::Lt,
        "le" => Func::Le,
        "gt" => Func::Gt,
        "ge" => Func::Ge,
        "__not__" => Func::Not,
        "max" => Func::Max,
        "min" => Func::Min,
        "ceil" => Func::CeilToInt,
        "floor" => Func::FloorToInt,
        "trunc" => Func::TruncToInt,
        _ => return None,
    })
}

/// Whether a function gives a float of whole numbers too.
fn always_float(name: &str) -> bool {
    matches!(name, "isnan" | "isinf" | "isfinite" | "radians" | "degrees") || name != "abs" && float_function(name).is_some()
}

/// A function of floats.
fn float_function(name: &str) -> Option<Func> {
    Some(Func::Function(match name {
        "pow" => op::POW_TENSOR_TENSOR,
        "abs" | "fabs" => op::ABS,
        "round" => op::ROUND,
        "sqrt" => op::SQRT,
        "exp" => op::EXP,
        "expm1" => op::EXPM1,
        "log" => op::LOG,
        "log2" => op::LOG2,
        "log10" => op::LOG10,
        "log1p" => op::LOG1P,
        "sin" => op::SIN,
        "cos" => op::COS,
        "tan" => op::TAN,
        "asin" => op::ASIN,
        "acos" => op::ACOS,
        "atan" => op::ATAN,
        "sinh" => op::SINH,
        "cosh" => op::COSH,
        "tanh" => op::TANH,
        "asinh" => op::ASINH,
        "acosh" => op::ACOSH,
        "atanh" => op::ATANH,
        "erf" => op::ERF,
        "erfc" => op::ERFC,
        "lgamma" => op::LGAMMA,
        "fmod" => op::FMOD_TENSOR,
        "atan2" => op::ATAN2,
        "copysign" => op::COPYSIGN_TENSOR,
        _ => return None,
    }))
}

fn is_truth(value: &Value<'_>, truth: ir::Type<'_>) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(value) => value.ty() == truth,
        _ => false,
    }
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
        "asinh" => float(f64::asinh),
        "acosh" => float(f64::acosh),
        "atanh" => float(f64::atanh),
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
            ("neg", Value::Complex(real, imag)) => Some(Value::Complex(-real, -imag)),
            ("abs", Value::Complex(real, imag)) => Some(Value::Float(real.hypot(*imag))),
            ("angle", Value::Complex(real, imag)) => Some(Value::Float(imag.atan2(*real))),
            ("factorial", Value::Int(value)) if *value < 0 => {
                return Err(Stop::Raised("factorial() not defined for negative values".to_owned()));
            }
            ("factorial", Value::Int(value)) => Some(Value::Int((1..=*value).try_fold(1i64, i64::checked_mul).ok_or_else(overflow)?)),
            ("frexp", Value::Float(value)) => {
                let (fraction, exponent) = frexp(*value);
                Some(Value::Tuple([Value::Float(fraction), Value::Int(exponent)].into()))
            }
            ("modf", Value::Float(value)) => Some(Value::Tuple([Value::Float(value.fract()), Value::Float(value.trunc())].into())),
            ("str", value) => Some(Value::text(&texts::show(value))),
            ("chr", Value::Int(value)) => {
                Some(Value::text(&u8::try_from(*value).map(|value| char::from(value).to_string()).map_err(|_| overflow())?))
            }
            ("hex", Value::Int(value)) => Some(Value::text(&texts::signed(*value, |value| format!("0x{value:x}")))),
            ("oct", Value::Int(value)) => Some(Value::text(&texts::signed(*value, |value| format!("0o{value:o}")))),
            ("bin", Value::Int(value)) => Some(Value::text(&texts::signed(*value, |value| format!("0b{value:b}")))),
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
        ("ldexp", Value::Float(a), Value::Int(exponent)) => {
            return Ok(Some(Value::Float(a * 2f64.powi(i32::try_from(*exponent).map_err(|_| overflow())?))));
        }
        _ => {}
    }
    if let Some((a, b)) = complex(a).zip(complex(b)).filter(|_| [a, b].iter().any(|value| matches!(value, Value::Complex(..)))) {
        return Ok(of_complex(name, a, b));
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
            "div" => Value::Float(a as f64 / b as f64),
            "divmod" => {
                let parts = ["floordiv", "remainder"].map(|name| two(name, &Value::Int(a), &Value::Int(b)));
                let [Some(quotient), Some(rest)] = [parts[0].as_ref(), parts[1].as_ref()].map(|part| part.ok().cloned().flatten()) else {
                    return Err(zero());
                };
                Value::Tuple([quotient, rest].into())
            }
            "__round_to_zero_floordiv" => Value::Int(a.checked_div(b).ok_or_else(zero)?),
            "fmod" => Value::Float((a as f64) % (b as f64)),
            "mathremainder" => Value::Float(ieee_remainder(a as f64, b as f64)),
            "copysign" => Value::Float((a as f64).copysign(b as f64)),
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
    Ok(Some(match name {
        "add" => Value::Float(a + b),
        "sub" => Value::Float(a - b),
        "mul" => Value::Float(a * b),
        "div" => Value::Float(a / b),
        "floordiv" | "floor_divide" => Value::Float((a / b).floor()),
        "remainder" => Value::Float((a % b + b) % b),
        "fmod" => Value::Float(a % b),
        "mathremainder" => Value::Float(ieee_remainder(a, b)),
        "divmod" => {
            if b == 0.0 {
                return Err(Stop::Raised("ZeroDivisionError: float divmod()".to_owned()));
            }
            let rest = a % b;
            let rest = if rest != 0.0 && (a < 0.0) != (b < 0.0) { rest + b } else { rest };
            Value::Tuple([Value::Float((a - rest) / b), Value::Float(rest)].into())
        }
        "pow" => Value::Float(a.powf(b)),
        "atan2" => Value::Float(a.atan2(b)),
        "copysign" => Value::Float(a.copysign(b)),
        "max" => Value::Float(a.max(b)),
        "min" => Value::Float(a.min(b)),
        _ => return Ok(compared(name, a, b).map(Value::Bool)),
    }))
}

/// A number as a complex one.
fn complex(value: &Value<'_>) -> Option<(f64, f64)> {
    Some(match value {
        Value::Complex(real, imag) => (*real, *imag),
        Value::Float(value) => (*value, 0.0),
        Value::Int(value) => (*value as f64, 0.0),
        _ => return None,
    })
}

fn of_complex<'c>(name: &str, (a, b): (f64, f64), (c, d): (f64, f64)) -> Option<Value<'c>> {
    Some(match name {
        "add" => Value::Complex(a + c, b + d),
        "sub" => Value::Complex(a - c, b - d),
        "mul" => Value::Complex(a * c - b * d, a * d + b * c),
        "eq" => Value::Bool(a == c && b == d),
        "ne" => Value::Bool(a != c || b != d),
        _ => return None,
    })
}

/// A fraction of at least a half and below one, and the power of two that it is to be multiplied by.
fn frexp(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let (mut fraction, mut exponent) = (value, 0);
    while fraction.abs() >= 1.0 {
        (fraction, exponent) = (fraction / 2.0, exponent + 1);
    }
    while fraction.abs() < 0.5 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    (fraction, exponent)
}

/// The remainder of the quotient rounded to the nearest whole number, of two the even one.
fn ieee_remainder(a: f64, b: f64) -> f64 {
    if !a.is_finite() || b == 0.0 || b.is_nan() {
        return f64::NAN;
    }
    if b.is_infinite() {
        return a;
    }
    let size = b.abs();
    let rest = a.abs() % (2.0 * size);
    let rest = if rest > 1.5 * size {
        rest - 2.0 * size
    } else if rest > size / 2.0 && rest != 1.5 * size || rest == 1.5 * size {
        rest - size
    } else {
        rest
    };
    // One and a half times is as far from two as from one, and two is even.
    let rest = if (a.abs() % (2.0 * size)) == 1.5 * size { -size / 2.0 } else { rest };
    if a.is_sign_negative() { -rest } else { rest }
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
