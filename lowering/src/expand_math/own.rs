//! Which functions we expand ourselves.

use super::lanes::{Float, Lanes};
use super::trig::Partial;
use super::{erf, exp, gamma, integer, inverse, log, pow, rem, round, special, trig};
use strata_core::ir::{ElementType, Type, Value};

/// Our own code for a function: its value, and the lanes (if any) that need other code.
pub(super) struct Expansion<'c> {
    pub value: Value<'c>,
    pub far: Option<Far<'c>>,
}

/// Lanes whose value is not right yet.
pub(super) struct Far<'c> {
    pub lanes: Value<'c>,
    pub by: Rest,
}

/// Who has the value of such lanes.
#[derive(Clone, Copy)]
pub(super) enum Rest {
    /// The library.
    Library,
    /// [`everywhere`], where the result is no normal number.
    Own(Normal),
    /// [`everywhere`].
    Everywhere,
}

/// Where a result is a normal number.
#[derive(Clone, Copy)]
pub(super) struct Normal {
    /// For arguments up to this magnitude.
    pub within: f64,
    /// Below this it is zero, which is common: masks are of minus infinity.
    pub zero_below: f64,
}

/// Whether `expand` has code for a function on a type.
pub(super) fn has(name: &str, ty: Type<'_>) -> bool {
    let element = ty.element_type();
    let float = matches!(element, Some(ElementType::F32 | ElementType::F64));
    special::has(name, element)
        || integer::has(name, element)
        || float && [BOTH, DOUBLE, PAIRS, BOTH_PAIRS].iter().any(|list| list.contains(&name))
}

/// In f32 and f64.
pub(super) const BOTH: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "roundeven",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "trunc",
];
/// In f64; in f32 they are computed in f64 and rounded once.
pub(super) const DOUBLE: &[&str] = &["acosh", "asinh", "cbrt", "lgamma"];
/// In f64, and in f32 by that, of two arguments.
pub(super) const PAIRS: &[&str] = &["atan2"];
/// Of two arguments, in f32 and f64.
pub(super) const BOTH_PAIRS: &[&str] = &["fpowi", "powf", "remf"];

/// Expands a function that has code for the type of its arguments.
pub(super) fn expand<'c>(lanes: &Lanes<'_, 'c>, name: &str, arguments: &[Value<'c>]) -> Option<Expansion<'c>> {
    let argument = arguments[0];
    let x = lanes.float(argument);
    let whole = |y: Float<'_, '_, 'c>| Expansion { value: y.value, far: None };
    let partial = |y: Partial<'_, '_, 'c>| {
        let far = Far { lanes: y.far.value, by: Rest::Library };
        Expansion { value: y.value.value, far: Some(far) }
    };
    let normal = |y: Float<'_, '_, 'c>, normal: Normal| {
        let far = Far { lanes: x.abs().not_within(normal.within).value, by: Rest::Own(normal) };
        Expansion { value: y.value, far: Some(far) }
    };
    let of_normal =
        |y: Float<'_, '_, 'c>| Expansion { value: y.value, far: Some(Far { lanes: log::is_no_normal(x).value, by: Rest::Everywhere }) };
    // Scaling by any power of two takes many instructions where it is not one.
    let is_short = lanes.has_scalef() || !lanes.is_vector();
    Some(match name {
        "exp" | "exp2" if is_short => Expansion { value: everywhere(lanes, name, argument)?, far: None },
        "exp" => normal(exp::exp_to_normal(x), exp::exp_is_normal(lanes.is_f32())),
        "exp2" => normal(exp::exp2_to_normal(x), exp::exp2_is_normal(lanes.is_f32())),
        "expm1" => whole(exp::expm1(x)),
        "tanh" => whole(exp::tanh(x)),
        "sinh" => whole(exp::sinh(x)),
        "cosh" => whole(exp::cosh(x)),
        "sin" => partial(trig::sin(x)),
        "cos" => partial(trig::cos(x)),
        "tan" => partial(trig::tan(x)),
        "atan" => whole(trig::atan(x)),
        "asin" => whole(trig::asin(x)),
        "acos" => whole(trig::acos(x)),
        "log" => of_normal(log::log_of_normal(x)),
        "log2" => of_normal(log::log2_of_normal(x)),
        "log10" => of_normal(log::log10_of_normal(x)),
        "log1p" => whole(log::log1p(x)),
        "erf" => whole(erf::erf(x)),
        "erfc" => whole(erf::erfc(x)),
        "asinh" => whole(inverse::asinh(x)),
        "acosh" => whole(inverse::acosh(x)),
        "atanh" => whole(inverse::atanh(x)),
        "cbrt" => whole(inverse::cbrt(x)),
        "lgamma" => whole(gamma::lgamma(x)),
        "ceil" => whole(round::ceil(x)),
        "floor" => whole(round::floor(x)),
        "roundeven" => whole(round::roundeven(x)),
        "trunc" => whole(round::trunc(x)),
        "powf" | "fpowi" => whole(pow::pow(x, lanes.float(*arguments.get(1)?))),
        "remf" => partial(rem::rem(x, lanes.float(*arguments.get(1)?))),
        _ => return None,
    })
}

/// Code for all arguments of a function whose expansion leaves some out.
pub(super) fn everywhere<'c>(lanes: &Lanes<'_, 'c>, name: &str, argument: Value<'c>) -> Option<Value<'c>> {
    let x = lanes.float(argument);
    match name {
        "exp" => Some(exp::exp(x).value),
        "exp2" => Some(exp::exp2(x).value),
        "log" => Some(log::log(x).value),
        "log2" => Some(log::log2(x).value),
        "log10" => Some(log::log10(x).value),
        _ => None,
    }
}

/// Expands a function of two arguments on f64 lanes, when we have code for it.
pub(super) fn expand_pair<'c>(lanes: &Lanes<'_, 'c>, name: &str, arguments: [Value<'c>; 2]) -> Option<Value<'c>> {
    let [first, second] = arguments.map(|argument| lanes.float(argument));
    match name {
        "atan2" => Some(trig::atan2(first, second).value),
        _ => None,
    }
}
