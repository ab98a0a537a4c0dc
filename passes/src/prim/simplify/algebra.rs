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

use super::number::{Number, splat};
use super::rewriter::{BuildSized, Simplified, SizedPatterns, SizedRewriter, same_type, simplify};
use crate::prim::zero::zero;
use strata_core::ir::{Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

/// Applies identities of arithmetic, logic and selection.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct SimplifyAlgebra {
    /// strict, ulp or fast; only fast may change the sign of a zero.
    #[option(default = "ulp")]
    numerics: String,
    /// Rewrites.
    rewrites: Counter,
}

impl Pass for SimplifyAlgebra {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let fast = Numerics::of(&self.numerics)? == Numerics::Fast;
        self.rewrites.add(simplify(op, cx.remarks(), |patterns| {
            rules(patterns);
            if fast {
                fast_rules(patterns);
            }
        }));
        Ok(())
    }
}

/// Runs the pass on a function with the default numerics; gives the number of rewrites.
pub fn run(function: Op<'_>) -> usize {
    simplify(function, Default::default(), rules)
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Add>("add-zero", 1, add_zero);
    patterns.identity::<prim::Add>("add-of-negative", 1, add_of_negative);
    patterns.identity::<prim::Dot>("dot-of-nothing", 1, dot_of_nothing);
    patterns.identity::<prim::Sub>("subtract-zero", 1, subtract_zero);
    patterns.identity::<prim::Sub>("subtract-negative", 1, subtract_negative);
    patterns.identity::<prim::Sub>("subtract-itself", 1, subtract_itself);
    patterns.identity::<prim::Mul>("multiply-by-one", 1, multiply_by_one);
    patterns.identity::<prim::Mul>("multiply-by-zero", 1, multiply_by_zero);
    patterns.identity::<prim::Mul>("multiply-negatives", 1, multiply_negatives);
    patterns.identity::<prim::Div>("divide-by-one", 1, divide_by_one);
    patterns.identity::<prim::Div>("divide-by-power-of-two", 1, divide_by_power_of_two);
    patterns.identity::<prim::Pow>("small-power", 1, small_power);
    patterns.identity::<prim::Neg>("double-negative", 1, involution);
    patterns.identity::<prim::Not>("double-not", 1, involution);
    patterns.identity::<prim::Abs>("absolute-of-sign", 1, absolute_of_sign);
    patterns.identity::<prim::And>("and", 1, idempotent);
    patterns.identity::<prim::Or>("or", 1, idempotent);
    patterns.identity::<prim::Maximum>("maximum", 1, idempotent);
    patterns.identity::<prim::Minimum>("minimum", 1, idempotent);
    patterns.identity::<prim::And>("and-constant", 1, logic_constant);
    patterns.identity::<prim::Or>("or-constant", 1, logic_constant);
    patterns.identity::<prim::Xor>("xor-constant", 1, logic_constant);
    patterns.identity::<prim::Select>("select-constant", 1, select_constant);
    patterns.identity::<prim::Select>("select-same", 1, select_same);
    patterns.identity::<prim::Select>("select-not", 1, select_not);
}

fn fast_rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Add>("add-positive-zero", 1, add_positive_zero);
}

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
fn add_zero<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (x, number) = beside_constant(op)?;
    if number.is_negative_zero() || (matches!(number, Number::Int(0)) && is_integer(op)) {
        return same_type(op, x);
    }
    Err("the constant is not the neutral element (0.0 is not: -0.0 + 0.0 = 0.0)".into())
}

/// x + 0.0 = x, but for the sign of a zero.
fn add_positive_zero<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (x, number) if number.is(0) => same_type(op, x),
        _ => Err("the constant is not 0".into()),
    }
}

/// x + (-y) = x - y: subtraction is defined so.
fn add_of_negative<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (a, b) = (op.operand(0), op.operand(1));
    let (x, y) = match (operand_of(a, prim::Neg::NAME), operand_of(b, prim::Neg::NAME)) {
        (_, Some(y)) => (a, y),
        (Some(y), None) => (b, y),
        (None, None) => return Err("no operand is negated".into()),
    };
    Ok(rewriter.value(prim::Sub::NAME, &[x, y], op.result(0).ty(), &[]))
}

/// x - 0.0 = x, also for x = -0.0.
fn subtract_zero<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match splat(op.operand(1)) {
        Some(number) if number.is(0) => same_type(op, op.operand(0)),
        _ => Err("what is subtracted is not 0".into()),
    }
}

/// x - (-y) = x + y.
fn subtract_negative<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let y = operand_of(op.operand(1), prim::Neg::NAME).ok_or(NoMatch::new("what is subtracted is not negated"))?;
    Ok(rewriter.value(prim::Add::NAME, &[op.operand(0), y], op.result(0).ty(), &[]))
}

/// x - x = 0 for integers; for floats x may be infinite or NaN.
fn subtract_itself<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if op.operand(0) != op.operand(1) || !is_integer(op) {
        return Err("the operands differ or are no integers".into());
    }
    zeros(op, rewriter)
}

/// A 0 of the shape of the op's result.
fn zeros<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let ty = op.result(0).ty();
    let zero = zero(rewriter, ty.element());
    let x = op.operand(0);
    let sizes = rewriter.sizes(ty, |dim| (x, dim));
    let dims = rewriter.cx().i64s_attr(&[]);
    Ok(rewriter.value(prim::Broadcast::NAME, &[&[zero], sizes.as_slice()].concat(), ty, &[("dims", dims)]))
}

/// A sum of no products = 0.
fn dot_of_nothing<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (shape, contracted) = (op.operand(0).ty().shape(), op.ints("lhs_contract").unwrap_or_default());
    let empty = contracted.iter().filter_map(|&dim| shape.get(usize::try_from(dim).ok()?)).any(|size| *size == 0);
    if !empty || !op.result(0).ty().is_static() {
        return Err("products are summed, or the sizes of the result are not known".into());
    }
    zeros(op, rewriter)
}

/// x * 1 = x.
fn multiply_by_one<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (x, number) if number.is(1) => same_type(op, x),
        _ => Err("the constant is not 1".into()),
    }
}

/// x * 0 = 0 for integers; for floats x may be infinite or NaN.
fn multiply_by_zero<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match beside_constant(op)? {
        (_, Number::Int(0)) if is_integer(op) => zeros(op, rewriter),
        _ => Err("the constant is no integer 0".into()),
    }
}

/// (-x) * (-y) = x * y.
fn multiply_negatives<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match (operand_of(op.operand(0), prim::Neg::NAME), operand_of(op.operand(1), prim::Neg::NAME)) {
        (Some(x), Some(y)) => Ok(rewriter.value(prim::Mul::NAME, &[x, y], op.result(0).ty(), &[])),
        _ => Err("not both operands are negated".into()),
    }
}

/// x / 1 = x.
fn divide_by_one<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match splat(op.operand(1)) {
        Some(number) if number.is(1) => same_type(op, op.operand(0)),
        _ => Err("the divisor is not 1".into()),
    }
}

/// x / 2^k = x * 2^-k: both round the same real number. Only where 2^-k is a normal number of the type.
fn divide_by_power_of_two<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let ty = op.result(0).ty();
    let Some(element) = ty.element_type().filter(|element| element.is_float()) else { return Err("no floats".into()) };
    let Some(Number::Float(divisor)) = splat(op.operand(1)) else { return Err("the divisor is not one constant number".into()) };
    // 2^±14 is normal in every float type; larger powers are rare and not worth a table.
    let is_power = divisor.is_normal() && divisor.to_bits() & ((1 << 52) - 1) == 0;
    if !is_power || !(2f64.powi(-14)..=2f64.powi(14)).contains(&divisor.abs()) {
        return Err("the divisor is no power of two of moderate size".into());
    }
    let constant = super::number::encode(element, Number::Float(1.0 / divisor))
        .and_then(|bytes| rewriter.cx().dense_attr(ty.with_shape(&[]), &bytes))
        .ok_or(NoMatch::new("no such constant"))?;
    let factor = rewriter.value(prim::Constant::NAME, &[], ty.with_shape(&[]), &[("value", constant)]);
    let x = op.operand(0);
    let sizes = rewriter.sizes(ty, |dim| (x, dim));
    let dims = rewriter.cx().i64s_attr(&[]);
    let factor = rewriter.value(prim::Broadcast::NAME, &[&[factor], sizes.as_slice()].concat(), ty, &[("dims", dims)]);
    Ok(rewriter.value(prim::Mul::NAME, &[x, factor], ty, &[]))
}

/// x^1 = x; x^2 = x * x, correctly rounded where `pow` is at best.
fn small_power<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = op.operand(0);
    match splat(op.operand(1)) {
        Some(number) if number.is(1) => same_type(op, x),
        Some(number) if number.is(2) => Ok(rewriter.value(prim::Mul::NAME, &[x, x], op.result(0).ty(), &[])),
        _ => Err("the exponent is not 1 or 2".into()),
    }
}

/// f(f(x)) = x for the negative and the complement.
fn involution<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let x = operand_of(op.operand(0), op.name()).ok_or(NoMatch::new("applied once"))?;
    same_type(op, x)
}

/// ||x|| = |x|; |-x| = |x|, but for unsigned integers, whose negative is another number.
fn absolute_of_sign<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let inner = op.operand(0);
    if operand_of(inner, prim::Abs::NAME).is_some() {
        return same_type(op, inner);
    }
    let x = operand_of(inner, prim::Neg::NAME).ok_or(NoMatch::new("the operand has no sign to drop"))?;
    if x.ty().element_type().is_none_or(|element| element.is_unsigned()) {
        return Err("it is unsigned".into());
    }
    Ok(rewriter.value(prim::Abs::NAME, &[x], op.result(0).ty(), &[]))
}

/// f(x, x) = x for and, or, maximum, minimum.
fn idempotent<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if op.operand(0) == op.operand(1) { same_type(op, op.operand(0)) } else { Err("the operands differ".into()) }
}

/// x and true = x, x and false = false, x or false = x, x or true = true, x xor false = x, on bool.
fn logic_constant<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (x, number) = beside_constant(op)?;
    let Number::Bool(constant) = number else { return Err("the constant is no bool".into()) };
    let other = if x == op.operand(0) { op.operand(1) } else { op.operand(0) };
    match (op.name(), constant) {
        (prim::And::NAME, true) | (prim::Or::NAME | prim::Xor::NAME, false) => same_type(op, x),
        (prim::And::NAME, false) | (prim::Or::NAME, true) => same_type(op, other),
        _ => Err("the constant decides nothing".into()),
    }
}

/// select(true, a, b) = a; select(false, a, b) = b.
fn select_constant<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    match splat(op.operand(0)) {
        Some(Number::Bool(condition)) => same_type(op, op.operand(if condition { 1 } else { 2 })),
        _ => Err("the condition is not constant".into()),
    }
}

/// select(c, a, a) = a.
fn select_same<'c>(op: Op<'c>, _: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if op.operand(1) == op.operand(2) { same_type(op, op.operand(1)) } else { Err("the operands differ".into()) }
}

/// select(not c, a, b) = select(c, b, a).
fn select_not<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let condition = operand_of(op.operand(0), prim::Not::NAME).ok_or(NoMatch::new("the condition is not negated"))?;
    Ok(rewriter.value(prim::Select::NAME, &[condition, op.operand(2), op.operand(1)], op.result(0).ty(), &[]))
}
