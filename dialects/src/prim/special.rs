//! Special functions: too long for a formula, too rare for code of their own. The runtime computes them element by element.

use strata_core::prelude::*;

use super::check::Checked;
use super::scalar::{self, Cost, Elements, Pointwise};
use super::types::*;

/// One of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The number of its arguments.
    pub arity: usize,
    /// Whether it is one of `i64` and not of floats.
    pub integer: bool,
}

const fn float(name: &'static str, arity: usize) -> Function {
    Function { name, arity, integer: false }
}

/// All functions, sorted. Those ending in `e` are scaled by `exp(x)` or `exp(-|x|)`, polynomials take x and their degree, quantiles
/// a probability and the distribution's parameters; `exp` and `log` are those of the C library, for programs that compare the last bit.
pub const FUNCTIONS: &[Function] = &[
    float("airy_ai", 1),
    float("bessel_i0", 1),
    float("bessel_i0e", 1),
    float("bessel_i1", 1),
    float("bessel_i1_full", 1),
    float("bessel_i1e", 1),
    float("bessel_j0", 1),
    float("bessel_j1", 1),
    float("bessel_k0", 1),
    float("bessel_k0e", 1),
    float("bessel_k1", 1),
    float("bessel_k1e", 1),
    float("bessel_y0", 1),
    float("bessel_y1", 1),
    float("binomial_quantile", 3),
    float("chebyshev_t", 2),
    float("chebyshev_u", 2),
    float("chebyshev_v", 2),
    float("chebyshev_w", 2),
    float("exp", 1),
    float("gamma_quantile", 2),
    Function { name: "gcd", arity: 2, integer: true },
    float("hermite_h", 2),
    float("hermite_he", 2),
    float("igamma", 2),
    float("igammac", 2),
    float("laguerre_l", 2),
    float("legendre_p", 2),
    float("log", 1),
    float("poisson_quantile", 2),
    float("trigamma", 1),
    float("zeta", 2),
];

/// The function of a name.
pub fn function(name: &str) -> Option<Function> {
    FUNCTIONS.binary_search_by_key(&name, |function| function.name).ok().map(|at| FUNCTIONS[at])
}

/// A special function of each element, computed by the runtime.
///
/// C1: the function is known. C2: it has as many operands as arguments. C3: `gcd` is of `i64`, the others of floats.
#[op("prim.special", traits(Elementwise, SameOperandsAndResultType), effects(Pure), interfaces(Pointwise), verify)]
pub struct Special {
    arguments: Variadic<Reals>,
    result: Result<Reals>,
    function: Attr<Str>,
}

impl Pointwise for Special<'_> {
    fn cost(&self) -> Cost {
        Cost::Expensive
    }

    fn scalar<'c>(&self, b: &mut Builder<'c>, args: &[Value<'c>], _: Elements) -> Option<Value<'c>> {
        Some(scalar::special(b, &self.function(), args))
    }
}

impl Verify for Special<'_> {
    fn verify(self) -> Checked {
        let name = self.function();
        let function = function(&name);
        ensure!(function.is_some(), 1, "there is no special function `{name}`");
        let Some(function) = function else { return Ok(()) };
        ensure!(self.arguments().len() == function.arity, 2, "`{name}` has {} arguments", function.arity);
        let element = self.result().ty().element_type();
        let fits = element.is_some_and(|e| if function.integer { e == ElementType::I64 } else { e.is_float() });
        ensure!(fits, 3, "`{name}` is no function of {}", self.result().ty());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn functions_are_sorted() {
        assert!(super::FUNCTIONS.is_sorted_by_key(|function| function.name));
    }
}
