//! `--simplify-constants`: computes small constants while compiling.
//!
//! Exactly when all operands of a pointwise op are constants, the result is under 4 KB, and the op is one that hardware rounds
//! correctly (so folding changes no bit): arithmetic, comparison, selection, rounding, `sqrt`, logic and conversion. Also a `splat` of
//! a constant scalar, reshapes of constants, and the position of the largest of one element. A constant that is repeated and then converted is converted first. Refused: `exp` and its like, integer division by zero, conversions out of range.
//!
//! ```mlir
//! func.func @f() -> tensor<f32> {
//!   %0 = prim.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
//!   %1 = prim.mul %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
//!   return %1 : tensor<f32>
//! }
//! // becomes
//! func.func @f() -> tensor<f32> {
//!   %0 = prim.constant {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
//!   return %0 : tensor<f32>
//! }
//! ```

use super::number::{Number, elements, encode, splat, wrap};
use super::rewriter::{Simplified, SizedPatterns, SizedRewriter, simplification};
use crate::prim::fusion::class::is_pointwise;
use crate::prim::zero::zero;
use strata_core::ir::{Attr, ElementType, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_core::upstream::arith;
use strata_dialects::prim;

/// Larger constants are weights: they are computed at run time.
const MAX_BYTES: usize = 4096;

simplification! {
    /// Computes small constants while compiling.
    pub struct SimplifyConstants: dependents("prim");
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity_of_any("pointwise-of-constants", 1, pointwise_of_constants);
    patterns.identity::<prim::Convert>("convert-of-repeated-constant", 1, convert_of_repeated_constant);
    patterns.identity::<prim::Reshape>("reshape-of-constant", 1, reshape_of_constant);
    patterns.identity::<prim::Splat>("splat-of-constant", 1, splat_of_constant);
    patterns.identity::<prim::ArgReduce>("position-in-one", 1, position_in_one);
}

fn constant<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>, value: Attr<'c>) -> Simplified<'c> {
    Ok(rewriter.value(prim::Constant::NAME, &[], op.result(0).ty(), &[("value", value)]))
}

/// arg_reduce(x) along a dimension of size 1 = 0.
fn position_in_one<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let size = op.int("dim").and_then(|dim| op.operand(0).ty().shape().get(usize::try_from(dim).ok()?).copied());
    let ty = op.result(0).ty();
    if size != Some(1) || !ty.is_static() {
        return Err("there are several places".into());
    }
    let zero = zero(rewriter, ty.element());
    let dims = rewriter.cx().i64s_attr(&[]);
    Ok(rewriter.value(prim::Broadcast::NAME, &[zero], ty, &[("dims", dims)]))
}

/// f(constants) = constant.
fn pointwise_of_constants<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if !is_pointwise(op) {
        return Err("not pointwise".into());
    }
    let ty = op.result(0).ty();
    let Some(element) = ty.element_type().filter(|_| ty.is_static()) else { return Err("the result has no fixed shape".into()) };
    let operands: Option<Vec<_>> = op.operands().into_iter().map(|value| value.defining_op().and_then(elements)).collect();
    let operands = operands.ok_or(NoMatch::new("an operand is not constant"))?;
    let same = operands.iter().all(|(_, splat)| *splat);
    let count = if same { 1 } else { ty.num_elements().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX) };
    if count.saturating_mul(element.bytes()) > MAX_BYTES {
        return Err("the result is large".into());
    }
    let from = op.operand(0).ty().element_type();
    let mut bytes = Vec::with_capacity(count * element.bytes());
    for index in 0..count {
        let numbers: Option<Vec<Number>> =
            operands.iter().map(|(numbers, splat)| numbers.get(if *splat { 0 } else { index }).copied()).collect();
        let number = numbers.and_then(|numbers| evaluate(op.name(), from, element, &numbers));
        bytes.extend(number.and_then(|number| encode(element, number)).ok_or(NoMatch::new("not an exact operation on these numbers"))?);
    }
    let value = rewriter.cx().dense_attr(ty, &bytes).ok_or(NoMatch::new("no such constant"))?;
    constant(op, rewriter, value)
}

/// One element. Floats are computed in f64 and rounded once to the result's type, which is exact for one operation on narrower types.
fn evaluate(name: &str, from: Option<ElementType>, to: ElementType, numbers: &[Number]) -> Option<Number> {
    use Number::{Bool, Float, Int};
    Some(match (name, numbers) {
        (prim::Neg::NAME, &[Float(x)]) => Float(-x),
        (prim::Abs::NAME, &[Float(x)]) => Float(x.abs()),
        (prim::Sqrt::NAME, &[Float(x)]) => Float(x.sqrt()),
        (prim::Floor::NAME, &[Float(x)]) => Float(x.floor()),
        (prim::Ceil::NAME, &[Float(x)]) => Float(x.ceil()),
        (prim::Trunc::NAME, &[Float(x)]) => Float(x.trunc()),
        (prim::Round::NAME, &[Float(x)]) => Float(x.round_ties_even()),
        (prim::Not::NAME, &[Bool(x)]) => Bool(!x),
        (prim::Add::NAME, &[Float(x), Float(y)]) => Float(x + y),
        (prim::Sub::NAME, &[Float(x), Float(y)]) => Float(x - y),
        (prim::Mul::NAME, &[Float(x), Float(y)]) => Float(x * y),
        (prim::Div::NAME, &[Float(x), Float(y)]) => Float(x / y),
        (prim::Neg::NAME, &[Int(x)]) => wrap(to, -x)?,
        (prim::Add::NAME, &[Int(x), Int(y)]) => wrap(to, x + y)?,
        (prim::Sub::NAME, &[Int(x), Int(y)]) => wrap(to, x - y)?,
        (prim::Mul::NAME, &[Int(x), Int(y)]) => wrap(to, x.checked_mul(y)?)?,
        (prim::Div::NAME, &[Int(x), Int(y)]) if y != 0 => wrap(to, x / y)?,
        (prim::Rem::NAME, &[Int(x), Int(y)]) if y != 0 => wrap(to, x % y)?,
        (prim::Maximum::NAME, &[Int(x), Int(y)]) => Int(x.max(y)),
        (prim::Minimum::NAME, &[Int(x), Int(y)]) => Int(x.min(y)),
        (prim::And::NAME, &[Bool(x), Bool(y)]) => Bool(x && y),
        (prim::Or::NAME, &[Bool(x), Bool(y)]) => Bool(x || y),
        (prim::Xor::NAME, &[Bool(x), Bool(y)]) => Bool(x != y),
        (prim::Select::NAME, &[Bool(condition), x, y]) => {
            if condition {
                x
            } else {
                y
            }
        }
        (prim::Eq::NAME | prim::Ne::NAME | prim::Lt::NAME | prim::Le::NAME | prim::Gt::NAME | prim::Ge::NAME, &[Float(x), Float(y)]) => {
            Bool(compare(name, x.partial_cmp(&y)))
        }
        (prim::Eq::NAME | prim::Ne::NAME | prim::Lt::NAME | prim::Le::NAME | prim::Gt::NAME | prim::Ge::NAME, &[Int(x), Int(y)]) => {
            Bool(compare(name, Some(x.cmp(&y))))
        }
        (prim::Convert::NAME, &[x]) => convert(from?, to, x)?,
        _ => return None,
    })
}

/// A comparison; NaN is unordered, so only `ne` is true of it.
fn compare(name: &str, order: Option<std::cmp::Ordering>) -> bool {
    match (name, order) {
        (prim::Ne::NAME, None) => true,
        (_, None) => false,
        (prim::Eq::NAME, Some(order)) => order.is_eq(),
        (prim::Ne::NAME, Some(order)) => order.is_ne(),
        (prim::Lt::NAME, Some(order)) => order.is_lt(),
        (prim::Le::NAME, Some(order)) => order.is_le(),
        (prim::Gt::NAME, Some(order)) => order.is_gt(),
        (_, Some(order)) => order.is_ge(),
    }
}

fn convert(from: ElementType, to: ElementType, number: Number) -> Option<Number> {
    Some(match number {
        Number::Float(x) if to.is_float() || to.is_float8() => Number::Float(x),
        Number::Float(x) if to == ElementType::Bool => Number::Bool(x != 0.0),
        // Out of range the result differs between machines, so it is left to run time.
        Number::Float(x) if to.is_integer() && x.abs() < 2f64.powi(31) => Number::Int(x.trunc() as i128),
        // Large integers are rounded to f64 first, which only f64 itself wants.
        Number::Int(x) if to == ElementType::F64 || ((to.is_float() || to.is_float8()) && x.abs() < 1 << 53) => Number::Float(x as f64),
        Number::Int(x) if to == ElementType::Bool => Number::Bool(x != 0),
        Number::Int(x) if to.is_integer() => wrap(to, x)?,
        Number::Bool(x) if to.is_float() || to.is_float8() => Number::Float(f64::from(u8::from(x))),
        Number::Bool(x) if to.is_integer() => Number::Int(i128::from(x)),
        Number::Bool(x) if to == ElementType::Bool && from == to => Number::Bool(x),
        _ => return None,
    })
}

/// convert(views of a repeated constant) = broadcast(convert(constant)).
fn convert_of_repeated_constant<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (x, ty) = (op.operand(0), op.result(0).ty());
    let number = splat(x).filter(|_| ty.is_static() && ty.rank() > 0).ok_or(NoMatch::new("the operand is no repeated constant"))?;
    let (from, element) = x.ty().element_type().zip(ty.element_type()).ok_or("no number")?;
    let bytes = convert(from, element, number).and_then(|number| encode(element, number)).ok_or("not an exact conversion of the number")?;
    let (cx, scalar) = (rewriter.cx(), ty.with_shape(&[]));
    let value = cx.dense_attr(scalar, &bytes).ok_or(NoMatch::new("no such constant"))?;
    let constant = rewriter.value(prim::Constant::NAME, &[], scalar, &[("value", value)]);
    Ok(rewriter.value(prim::Broadcast::NAME, &[constant], ty, &[("dims", cx.i64s_attr(&[]))]))
}

/// reshape(constant) = constant with the same elements.
fn reshape_of_constant<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let ty = op.result(0).ty();
    let source =
        op.operand(0).defining_op().filter(|source| source.isa::<prim::Constant>()).ok_or(NoMatch::new("the operand is not constant"))?;
    let value = source.attr("value").and_then(|value| value.as_dense());
    let Some((bytes, _)) = value.filter(|(bytes, _)| ty.is_static() && bytes.len() <= MAX_BYTES) else {
        return Err("the constant is large or its shape not fixed".into());
    };
    let value = rewriter.cx().dense_attr(ty, &bytes).ok_or(NoMatch::new("no such constant"))?;
    constant(op, rewriter, value)
}

/// splat(constant scalar) = constant.
fn splat_of_constant<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let source =
        op.operand(0).defining_op().filter(|source| source.isa::<arith::Constant>()).ok_or(NoMatch::new("the scalar is not constant"))?;
    let ty = op.result(0).ty();
    let Some((element, value)) = ty.element_type().zip(source.attr("value")) else { return Err("no number".into()) };
    let number = match (value.as_bool(), value.as_float()) {
        (Some(value), _) if element == ElementType::Bool => Some(Number::Bool(value)),
        (_, Some(value)) => Some(Number::Float(value)),
        _ => value.as_int().map(|value| Number::Int(i128::from(value))),
    };
    let bytes = number.and_then(|number| encode(element, number)).ok_or(NoMatch::new("no such constant"))?;
    let value = rewriter.cx().dense_attr(ty, &bytes).ok_or(NoMatch::new("no such constant"))?;
    constant(op, rewriter, value)
}
