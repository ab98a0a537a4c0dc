//! `--simplify-algebra`: identities of arithmetic, logic and selection.
//!
//! Exactly when the comment of a rule says; all are exact in floating point. `x + 0.0` stays, because `-0.0 + 0.0` is `0.0`;
//! `x * 0.0` stays, because infinity and NaN times 0 are NaN; `x - x` stays for the same reason.
//! With `numerics = "fast"` the sign of a zero may change, so `x + 0.0` goes too.
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = prim.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   return %x : tensor<4xf32>
//! }
//! ```

use super::driver::{Rule, Simplified, Site, simplify};
use super::number::{Number, splat};
use strata_core::ir::{Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

/// Applies identities of arithmetic, logic and selection.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct SimplifyAlgebra {
    /// bitwise, ulp or fast; only fast may change the sign of a zero.
    #[option(default = "ulp")]
    numerics: String,
    /// Say for every rule why it does not match, as remarks.
    remarks: bool,
    /// Rewrites.
    rewrites: Counter,
}

impl Pass for SimplifyAlgebra {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let fast = Numerics::of(&self.numerics)? == Numerics::Fast;
        let rules = if fast { [RULES, FAST_RULES].concat() } else { RULES.to_vec() };
        self.rewrites.add(simplify(op, &rules, self.remarks));
        Ok(())
    }
}

/// Runs the pass on a function with the default numerics; gives the number of rewrites.
pub fn run(function: Op<'_>) -> usize {
    simplify(function, RULES, false)
}

const fn rule(name: &'static str, root: &'static str, rewrite: for<'a, 'c> fn(&mut Site<'a, 'c>, Op<'c>) -> Simplified<'c>) -> Rule {
    Rule { name, root, rewrite }
}

const RULES: &[Rule] = &[
    rule("add-zero", prim::Add::NAME, add_zero),
    rule("add-of-negative", prim::Add::NAME, add_of_negative),
    rule("subtract-zero", prim::Sub::NAME, subtract_zero),
    rule("subtract-negative", prim::Sub::NAME, subtract_negative),
    rule("subtract-itself", prim::Sub::NAME, subtract_itself),
    rule("multiply-by-one", prim::Mul::NAME, multiply_by_one),
    rule("multiply-by-zero", prim::Mul::NAME, multiply_by_zero),
    rule("multiply-negatives", prim::Mul::NAME, multiply_negatives),
    rule("divide-by-one", prim::Div::NAME, divide_by_one),
    rule("divide-by-power-of-two", prim::Div::NAME, divide_by_power_of_two),
    rule("small-power", prim::Pow::NAME, small_power),
    rule("double-negative", prim::Neg::NAME, involution),
    rule("double-not", prim::Not::NAME, involution),
    rule("absolute-of-sign", prim::Abs::NAME, absolute_of_sign),
    rule("and", prim::And::NAME, idempotent),
    rule("or", prim::Or::NAME, idempotent),
    rule("maximum", prim::Maximum::NAME, idempotent),
    rule("minimum", prim::Minimum::NAME, idempotent),
    rule("and-constant", prim::And::NAME, logic_constant),
    rule("or-constant", prim::Or::NAME, logic_constant),
    rule("xor-constant", prim::Xor::NAME, logic_constant),
    rule("select-constant", prim::Select::NAME, select_constant),
    rule("select-same", prim::Select::NAME, select_same),
    rule("select-not", prim::Select::NAME, select_not),
];

const FAST_RULES: &[Rule] = &[rule("add-positive-zero", prim::Add::NAME, add_positive_zero)];

/// The operand that stands beside a constant, with the constant; the constant may stand on either side.
fn beside_constant<'c>(op: Op<'c>) -> Result<(Value<'c>, Number), NoMatch> {
    match (splat(op.operand(0)), splat(op.operand(1))) {
        (_, Some(number)) => Ok((op.operand(0), number)),
        (Some(number), None) => Ok((op.operand(1), number)),
        (None, None) => Err("no operand is one constant number".into()),
    }
}

/// The operand of the op named that defines a value.
fn operand_of<'c>(value: Value<'c>, name: &str) -> Option<Value<'c>> {
    value.defining_op().filter(|op| op.is(name)).map(|op| op.operand(0))
}

fn is_integer(op: Op<'_>) -> bool {
    op.result(0).ty().element_type().is_some_and(|element| element.is_integer())
}

/// x + -0.0 = x; x + 0 = x for integers.
fn add_zero<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let (x, number) = beside_constant(op)?;
    if number.is_negative_zero() || (matches!(number, Number::Int(0)) && is_integer(op)) {
        return site.same_type(op, x);
    }
    Err("the constant is not the neutral element (0.0 is not: -0.0 + 0.0 = 0.0)".into())
}

/// x + 0.0 = x, but for the sign of a zero.
fn add_positive_zero<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (x, number) if number.is(0) => site.same_type(op, x),
        _ => Err("the constant is not 0".into()),
    }
}

/// x + (-y) = x - y: subtraction is defined so.
fn add_of_negative<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let (a, b) = (op.operand(0), op.operand(1));
    let (x, y) = match (operand_of(a, prim::Neg::NAME), operand_of(b, prim::Neg::NAME)) {
        (_, Some(y)) => (a, y),
        (Some(y), None) => (b, y),
        (None, None) => return Err("no operand is negated".into()),
    };
    Ok(site.value(prim::Sub::NAME, &[x, y], op.result(0).ty(), &[]))
}

/// x - 0.0 = x, also for x = -0.0.
fn subtract_zero<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match splat(op.operand(1)) {
        Some(number) if number.is(0) => site.same_type(op, op.operand(0)),
        _ => Err("what is subtracted is not 0".into()),
    }
}

/// x - (-y) = x + y.
fn subtract_negative<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let y = operand_of(op.operand(1), prim::Neg::NAME).ok_or(NoMatch::new("what is subtracted is not negated"))?;
    Ok(site.value(prim::Add::NAME, &[op.operand(0), y], op.result(0).ty(), &[]))
}

/// x - x = 0 for integers; for floats x may be infinite or NaN.
fn subtract_itself<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    if op.operand(0) != op.operand(1) || !is_integer(op) {
        return Err("the operands differ or are no integers".into());
    }
    zeros(site, op)
}

/// An integer 0 of the shape of the op's result.
fn zeros<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let ty = op.result(0).ty();
    let scalar = ty.with_shape(&[]);
    let bytes = vec![0; ty.element_type().map_or(0, |element| element.bytes())];
    let attr = site.cx().dense_attr(scalar, &bytes).ok_or(NoMatch::new("no such constant"))?;
    let zero = site.value(prim::Constant::NAME, &[], scalar, &[("value", attr)]);
    let x = op.operand(0);
    let sizes = site.sizes(ty, |dim| (x, dim));
    let dims = site.cx().i64s_attr(&[]);
    Ok(site.value(prim::Broadcast::NAME, &[&[zero], sizes.as_slice()].concat(), ty, &[("dims", dims)]))
}

/// x * 1 = x.
fn multiply_by_one<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (x, number) if number.is(1) => site.same_type(op, x),
        _ => Err("the constant is not 1".into()),
    }
}

/// x * 0 = 0 for integers; for floats x may be infinite or NaN.
fn multiply_by_zero<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (_, Number::Int(0)) if is_integer(op) => zeros(site, op),
        _ => Err("the constant is no integer 0".into()),
    }
}

/// (-x) * (-y) = x * y.
fn multiply_negatives<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match (operand_of(op.operand(0), prim::Neg::NAME), operand_of(op.operand(1), prim::Neg::NAME)) {
        (Some(x), Some(y)) => Ok(site.value(prim::Mul::NAME, &[x, y], op.result(0).ty(), &[])),
        _ => Err("not both operands are negated".into()),
    }
}

/// x / 1 = x.
fn divide_by_one<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match splat(op.operand(1)) {
        Some(number) if number.is(1) => site.same_type(op, op.operand(0)),
        _ => Err("the divisor is not 1".into()),
    }
}

/// x / 2^k = x * 2^-k: both round the same real number. Only where 2^-k is a normal number of the type.
fn divide_by_power_of_two<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let ty = op.result(0).ty();
    let Some(element) = ty.element_type().filter(|element| element.is_float()) else { return Err("no floats".into()) };
    let Some(Number::Float(divisor)) = splat(op.operand(1)) else { return Err("the divisor is not one constant number".into()) };
    // 2^±14 is normal in every float type; larger powers are rare and not worth a table.
    let is_power = divisor.is_normal() && divisor.to_bits() & ((1 << 52) - 1) == 0;
    if !is_power || !(2f64.powi(-14)..=2f64.powi(14)).contains(&divisor.abs()) {
        return Err("the divisor is no power of two of moderate size".into());
    }
    let constant = super::number::encode(element, Number::Float(1.0 / divisor))
        .and_then(|bytes| site.cx().dense_attr(ty.with_shape(&[]), &bytes))
        .ok_or(NoMatch::new("no such constant"))?;
    let factor = site.value(prim::Constant::NAME, &[], ty.with_shape(&[]), &[("value", constant)]);
    let x = op.operand(0);
    let sizes = site.sizes(ty, |dim| (x, dim));
    let dims = site.cx().i64s_attr(&[]);
    let factor = site.value(prim::Broadcast::NAME, &[&[factor], sizes.as_slice()].concat(), ty, &[("dims", dims)]);
    Ok(site.value(prim::Mul::NAME, &[x, factor], ty, &[]))
}

/// x^1 = x; x^2 = x * x, correctly rounded where `pow` is at best.
fn small_power<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    match splat(op.operand(1)) {
        Some(number) if number.is(1) => site.same_type(op, x),
        Some(number) if number.is(2) => Ok(site.value(prim::Mul::NAME, &[x, x], op.result(0).ty(), &[])),
        _ => Err("the exponent is not 1 or 2".into()),
    }
}

/// f(f(x)) = x for the negative and the complement.
fn involution<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let x = operand_of(op.operand(0), op.name()).ok_or(NoMatch::new("applied once"))?;
    site.same_type(op, x)
}

/// ||x|| = |x|; |-x| = |x|, but for unsigned integers, whose negative is another number.
fn absolute_of_sign<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let inner = op.operand(0);
    if operand_of(inner, prim::Abs::NAME).is_some() {
        return site.same_type(op, inner);
    }
    let x = operand_of(inner, prim::Neg::NAME).ok_or(NoMatch::new("the operand has no sign to drop"))?;
    if x.ty().element_type().is_none_or(|element| element.is_unsigned()) {
        return Err("it is unsigned".into());
    }
    Ok(site.value(prim::Abs::NAME, &[x], op.result(0).ty(), &[]))
}

/// f(x, x) = x for and, or, maximum, minimum.
fn idempotent<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    if op.operand(0) == op.operand(1) { site.same_type(op, op.operand(0)) } else { Err("the operands differ".into()) }
}

/// x and true = x, x and false = false, x or false = x, x or true = true, x xor false = x, on bool.
fn logic_constant<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let (x, number) = beside_constant(op)?;
    let Number::Bool(constant) = number else { return Err("the constant is no bool".into()) };
    let other = if x == op.operand(0) { op.operand(1) } else { op.operand(0) };
    match (op.name(), constant) {
        (prim::And::NAME, true) | (prim::Or::NAME | prim::Xor::NAME, false) => site.same_type(op, x),
        (prim::And::NAME, false) | (prim::Or::NAME, true) => site.same_type(op, other),
        _ => Err("the constant decides nothing".into()),
    }
}

/// select(true, a, b) = a; select(false, a, b) = b.
fn select_constant<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    match splat(op.operand(0)) {
        Some(Number::Bool(condition)) => site.same_type(op, op.operand(if condition { 1 } else { 2 })),
        _ => Err("the condition is not constant".into()),
    }
}

/// select(c, a, a) = a.
fn select_same<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    if op.operand(1) == op.operand(2) { site.same_type(op, op.operand(1)) } else { Err("the operands differ".into()) }
}

/// select(not c, a, b) = select(c, b, a).
fn select_not<'c>(site: &mut Site<'_, 'c>, op: Op<'c>) -> Simplified<'c> {
    let condition = operand_of(op.operand(0), prim::Not::NAME).ok_or(NoMatch::new("the condition is not negated"))?;
    Ok(site.value(prim::Select::NAME, &[condition, op.operand(2), op.operand(1)], op.result(0).ty(), &[]))
}
