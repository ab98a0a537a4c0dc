//! Scalar forms: what a pointwise op computes for one element, in `arith`, `math` and `complex`.
//!
//! [`Pointwise`] is all that the compiler knows of a pointwise op. What implements it is fused, compiled for each target, and
//! interpreted where it has no arm of its own.
//! Integers are signless in scalar code: the element types of the tensors say which operator is meant.

mod convert;
mod float;
mod float8;
pub mod integer;
mod next_after;

pub use convert::convert;
pub use float::{digamma, erfinv, is_nan, lgamma, rsqrt, sign, special};
pub use next_after::next_after;

use strata_core::ir::{Builder, ElementType, Op, Value};

/// What computing one element costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// One or a few instructions: computed again for each reader rather than stored.
    Cheap,
    /// A polynomial, a division, a call: stored rather than computed twice.
    Expensive,
}

impl Cost {
    /// Instructions for one element, by order of magnitude: a short polynomial has eight.
    pub fn instructions(self) -> u32 {
        match self {
            Self::Cheap => 1,
            Self::Expensive => 8,
        }
    }
}

/// Element types of the tensors that an op reads and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Of the last operand, which all operands share that are not a condition.
    pub from: ElementType,
    /// Of the result.
    pub to: ElementType,
}

/// The kind of arithmetic that an element type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Floats.
    Float,
    /// Signed integers and `index`.
    Signed,
    /// Unsigned integers and bool.
    Unsigned,
    /// Complex numbers.
    Complex,
}

impl Arithmetic {
    /// The kind of an element type.
    pub fn of(element: ElementType) -> Self {
        match element {
            _ if element.is_complex() => Self::Complex,
            _ if element.is_float() => Self::Float,
            _ if element.is_unsigned() || element == ElementType::Bool => Self::Unsigned,
            _ => Self::Signed,
        }
    }
}

/// An op that computes each element of its result from the elements of its operands at the same index.
///
/// Its operands and its result are tensors of one shape.
pub trait Pointwise {
    /// What one element costs.
    fn cost(&self) -> Cost;

    /// Computes one element of the result from one of each operand; nothing where there is no form for these element types.
    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], elements: Elements) -> Option<Value<'c>>;

    /// Whether halves are computed with in `f32` and rounded once, as PyTorch does; else the form takes them as they are.
    fn widens_halves(&self) -> bool {
        true
    }
}

/// The type in which sums of an element type are accumulated.
pub fn accumulator(element: ElementType) -> ElementType {
    if is_half(element) { ElementType::F32 } else { element }
}

fn is_half(element: ElementType) -> bool {
    matches!(element, ElementType::F16 | ElementType::BF16)
}

/// Builds the scalar form of a pointwise op. Fails, with the reason, where it has none.
pub fn emit<'c>(b: &mut Builder<'c>, op: Op<'c>, args: &[Value<'c>], elements: Elements) -> Result<Value<'c>, String> {
    let form = op.interface::<dyn Pointwise>().ok_or("it is not pointwise: its definition does not list the interface `Pointwise`")?;
    let Elements { from, to } = elements;
    let missing = || format!("there is no scalar form for element type {from}");
    if !form.widens_halves() || !is_half(from) {
        return form.scalar(b, args, elements).ok_or_else(missing);
    }
    let wide: Vec<_> = args.iter().map(|&arg| convert(b, arg, from, ElementType::F32)).collect();
    let wide_to = if to == from { ElementType::F32 } else { to };
    let result = form.scalar(b, &wide, Elements { from: ElementType::F32, to: wide_to }).ok_or_else(missing)?;
    Ok(if to == from { convert(b, result, ElementType::F32, to) } else { result })
}
