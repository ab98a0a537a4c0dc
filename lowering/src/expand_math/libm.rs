//! The libraries' names: libm or our runtime for scalars, libmvec for vectors of a register's width.

use super::bodies::Bodies;
use super::{integer, special};
use strata_core::ir::{Builder, ElementType, Value};

/// A function of libm and its number of arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    /// Name of the op of `math` (`remf`: of `arith`).
    pub name: &'static str,
    /// Name of the f64 function in libm; the f32 one has an `f` behind.
    c_name: &'static str,
    arguments: usize,
    /// Whether it is a function of our runtime instead.
    runtime: bool,
}

/// Every function, sorted by the op's name. libmvec has all of them (glibc 2.35) but `fmod` and those that round to integers.
const FUNCTIONS: &[Function] = &[
    unary("acos"),
    unary("acosh"),
    unary("asin"),
    unary("asinh"),
    unary("atan"),
    Function { name: "atan2", c_name: "atan2", arguments: 2, runtime: false },
    unary("atanh"),
    unary("cbrt"),
    unary("ceil"),
    unary("cos"),
    unary("cosh"),
    unary("erf"),
    unary("erfc"),
    unary("exp"),
    unary("exp2"),
    unary("expm1"),
    unary("floor"),
    Function { name: "fpowi", c_name: "pow", arguments: 2, runtime: false },
    of_runtime("lgamma"),
    unary("log"),
    unary("log10"),
    unary("log1p"),
    unary("log2"),
    Function { name: "powf", c_name: "pow", arguments: 2, runtime: false },
    Function { name: "remf", c_name: "fmod", arguments: 2, runtime: false },
    unary("roundeven"),
    unary("sin"),
    unary("sinh"),
    unary("tan"),
    unary("tanh"),
    unary("trunc"),
];

const fn unary(name: &'static str) -> Function {
    Function { name, c_name: name, arguments: 1, runtime: false }
}

const fn of_runtime(name: &'static str) -> Function {
    Function { name, c_name: name, arguments: 1, runtime: true }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        let known = FUNCTIONS.binary_search_by_key(&name, |function| function.name).ok().map(|at| FUNCTIONS[at]);
        known.or_else(|| special::find(name).map(|(name, arguments)| Function { name, c_name: name, arguments, runtime: true }))
    }

    pub(super) fn scalar_name(self, element: ElementType) -> String {
        if self.runtime {
            return format!("strata_math_{}_{element}", self.c_name);
        }
        format!("{}{}", self.c_name, if element == ElementType::F32 { "f" } else { "" })
    }

    /// The name for a register of `lanes` elements: `_ZGV` instruction set, `N` unmasked, lanes, one `v` per argument.
    fn vector_name(self, element: ElementType, lanes: i64) -> String {
        let set = match lanes * i64::from(element.bits()) {
            128 => 'b',
            256 => 'd',
            _ => 'e',
        };
        format!("_ZGV{set}N{lanes}{}_{}", "v".repeat(self.arguments), self.scalar_name(element))
    }
}

/// Whether a name is one of libm's functions used here (they are pure but for `errno`, which nobody reads).
pub fn is_libm(name: &str) -> bool {
    let base = |name: &str| FUNCTIONS.iter().any(|function| !function.runtime && function.c_name == name);
    base(name) || name.strip_suffix('f').is_some_and(base)
}

impl<'c> Bodies<'c> {
    /// The library's value over one register or scalar.
    pub(super) fn library(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        match ty.element_type() {
            Some(element) if ty.is_vector() && self.target.libmvec && !function.runtime => {
                self.call_external(builder, &function.vector_name(element, ty.shape()[0]), operands)
            }
            _ => self.lane_by_lane(builder, function, operands),
        }
    }

    /// libm's value of a scalar or of each lane of a register.
    pub(super) fn lane_by_lane(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        let name = function.scalar_name(ty.element_type().unwrap_or(ElementType::F32));
        if !ty.is_vector() {
            return self.call_external(builder, &name, operands);
        }
        integer::lane_by_lane(builder, operands, |builder, scalars| self.call_external(builder, &name, scalars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
        assert!(is_libm("expf") && is_libm("erf") && is_libm("pow") && !is_libm("f") && !is_libm("strata_lib_sort"));
    }
}
