//! The C libraries' names: libm for scalars, libmvec for vectors of a register's width, other widths cut and padded.

use super::Bodies;
use strata_core::ir::{Builder, ElementType, Value};

/// A function of libm and its number of arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    /// Name of the `math` op.
    pub name: &'static str,
    /// Name of the f64 function in libm; the f32 one has an `f` behind.
    c_name: &'static str,
    arguments: usize,
}

/// Every function, sorted by the `math` op's name. libmvec has all of them (glibc 2.35).
const FUNCTIONS: &[Function] = &[
    unary("acos"),
    unary("acosh"),
    unary("asin"),
    unary("asinh"),
    unary("atan"),
    Function { name: "atan2", c_name: "atan2", arguments: 2 },
    unary("atanh"),
    unary("cbrt"),
    unary("cos"),
    unary("cosh"),
    unary("erf"),
    unary("erfc"),
    unary("exp"),
    unary("exp2"),
    unary("expm1"),
    Function { name: "fpowi", c_name: "pow", arguments: 2 },
    unary("log"),
    unary("log10"),
    unary("log1p"),
    unary("log2"),
    Function { name: "powf", c_name: "pow", arguments: 2 },
    unary("sin"),
    unary("sinh"),
    unary("tan"),
    unary("tanh"),
];

const fn unary(name: &'static str) -> Function {
    Function { name, c_name: name, arguments: 1 }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        FUNCTIONS.binary_search_by_key(&name, |function| function.name).ok().map(|at| FUNCTIONS[at])
    }

    pub(super) fn scalar_name(self, element: ElementType) -> String {
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
    let base = |name: &str| FUNCTIONS.iter().any(|function| function.c_name == name);
    base(name) || name.strip_suffix('f').is_some_and(base) || ["fmod", "fmodf"].contains(&name)
}

impl<'c> Bodies<'c> {
    /// The function over a one-dimensional vector: register after register through libmvec, or lane by lane.
    pub(super) fn library(&mut self, builder: &mut Builder<'c>, function: Function, element: ElementType, operands: &[Value<'c>]) -> Value<'c> {
        let total = operands[0].ty().shape()[0];
        let mut done = 0;
        let mut result: Option<Value<'c>> = None;
        while done < total {
            let lanes = self.step(element, total - done);
            // Lanes past the end repeat the last one: its value is as safe as any.
            let pick: Vec<i64> = (done..done + lanes).map(|lane| lane.min(total - 1)).collect();
            let parts: Vec<_> = operands.iter().map(|&operand| shuffle(builder, operand, operand, &pick)).collect();
            let part = self.register(builder, function, element, &parts);
            let take = lanes.min(total - done);
            result = Some(match result {
                None if take == lanes => part,
                None => shuffle(builder, part, part, &(0..take).collect::<Vec<_>>()),
                Some(before) => shuffle(builder, before, part, &(0..done + take).collect::<Vec<_>>()),
            });
            done += take;
        }
        result.unwrap_or(operands[0])
    }

    /// How many lanes to compute at once when `rest` are left.
    fn step(&self, element: ElementType, rest: i64) -> i64 {
        if !self.target.libmvec {
            return rest;
        }
        let lanes = |bits: u32| i64::from(bits / element.bits());
        let mut step = lanes(self.target.vector_bits);
        while step > rest && step > lanes(128) {
            step /= 2;
        }
        step
    }

    fn register(&mut self, builder: &mut Builder<'c>, function: Function, element: ElementType, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        let lanes = ty.shape()[0];
        if self.target.libmvec {
            return self.call_external(builder, &function.vector_name(element, lanes), operands);
        }
        let zero = builder.const_float(ty.element(), 0.0);
        let mut result = builder.value("vector.broadcast", &[zero], ty, &[]);
        for lane in 0..lanes {
            let cx = builder.cx();
            let at = [("static_position", cx.i64s_attr(&[lane]))];
            let scalars: Vec<_> =
                operands.iter().map(|&operand| builder.value("vector.extract", &[operand], ty.element(), &at)).collect();
            let value = self.call_external(builder, &function.scalar_name(element), &scalars);
            result = builder.value("vector.insert", &[value, result], ty, &at);
        }
        result
    }
}

/// `vector.shuffle`, or the first vector itself when it would change nothing.
fn shuffle<'c>(builder: &mut Builder<'c>, a: Value<'c>, b: Value<'c>, lanes: &[i64]) -> Value<'c> {
    let length = a.ty().shape()[0];
    if lanes.len() as i64 == length && lanes.iter().copied().eq(0..length) {
        return a;
    }
    let cx = builder.cx();
    let ty = cx.vector(&[lanes.len() as i64], a.ty().element());
    builder.value("vector.shuffle", &[a, b], ty, &[("mask", cx.i64s_attr(lanes))])
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
