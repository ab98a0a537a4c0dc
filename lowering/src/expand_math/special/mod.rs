//! Special functions by the steps that PyTorch takes, in the precision of the argument: programs of whole numbers compare the last bit.
//!
//! Both branches of a formula are code for vectors, and run where a lane needs them. Functions of `math` in them are computed in f64 and
//! rounded once.

mod divisor;
mod gamma;
mod incomplete;
mod modified;
mod orthogonal;
mod oscillating;
mod quantile;
mod ratios;
mod tables;
#[cfg(test)]
mod tests;

use super::lanes::Lanes;
use strata_core::ir::{ElementType, Value};

/// Every function, sorted, with the number of its arguments.
pub(super) const FUNCTIONS: &[(&str, usize)] = &[
    ("airy_ai", 1),
    ("bessel_i0", 1),
    ("bessel_i0e", 1),
    ("bessel_i1", 1),
    ("bessel_i1_full", 1),
    ("bessel_i1e", 1),
    ("bessel_j0", 1),
    ("bessel_j1", 1),
    ("bessel_k0", 1),
    ("bessel_k0e", 1),
    ("bessel_k1", 1),
    ("bessel_k1e", 1),
    ("bessel_y0", 1),
    ("bessel_y1", 1),
    ("chebyshev_t", 2),
    ("chebyshev_u", 2),
    ("chebyshev_v", 2),
    ("chebyshev_w", 2),
    ("digamma", 1),
    ("erfinv", 1),
    ("gcd", 2),
    ("hermite_h", 2),
    ("hermite_he", 2),
    ("igamma", 2),
    ("igammac", 2),
    ("laguerre_l", 2),
    ("legendre_p", 2),
    ("trigamma", 1),
    ("zeta", 2),
];

/// Those of integers of 64 bits, which f64 computes where it holds them.
pub(super) const INTEGER: &[&str] = &["gcd"];

/// A function and the number of its arguments.
pub(super) fn find(name: &str) -> Option<(&'static str, usize)> {
    FUNCTIONS.binary_search_by_key(&name, |function| function.0).ok().map(|at| FUNCTIONS[at])
}

/// Whether a function has code for elements of a type.
pub(super) fn has(name: &str, element: Option<ElementType>) -> bool {
    let both = matches!(element, Some(ElementType::F32 | ElementType::F64));
    both && find(name).is_some() && !INTEGER.contains(&name)
}

/// The value of a function that has code.
pub(super) fn expand<'c>(lanes: &Lanes<'_, 'c>, name: &str, arguments: &[Value<'c>]) -> Option<Value<'c>> {
    let x = lanes.float(arguments[0]);
    let degree = lanes.float(arguments[arguments.len() - 1]);
    let value = match name {
        "airy_ai" => oscillating::airy_ai(x),
        "bessel_i0" => modified::bessel_i0(x),
        "bessel_i0e" => modified::bessel_i0e(x),
        "bessel_i1" => modified::bessel_i1(x),
        "bessel_i1_full" => modified::bessel_i1_full(x),
        "bessel_i1e" => modified::bessel_i1e(x),
        "bessel_j0" => oscillating::bessel_j0(x),
        "bessel_j1" => oscillating::bessel_j1(x),
        "bessel_k0" => modified::bessel_k0(x),
        "bessel_k0e" => modified::bessel_k0e(x),
        "bessel_k1" => modified::bessel_k1(x),
        "bessel_k1e" => modified::bessel_k1e(x),
        "bessel_y0" => oscillating::bessel_y0(x),
        "bessel_y1" => oscillating::bessel_y1(x),
        "chebyshev_t" => orthogonal::chebyshev_t(x, degree),
        "chebyshev_u" => orthogonal::chebyshev_u(x, degree),
        "chebyshev_v" => orthogonal::chebyshev_v(x, degree),
        "chebyshev_w" => orthogonal::chebyshev_w(x, degree),
        "digamma" => gamma::digamma(x),
        "erfinv" => quantile::erfinv(x),
        "gcd" => divisor::gcd(x, degree),
        "hermite_h" => orthogonal::hermite_h(x, degree),
        "hermite_he" => orthogonal::hermite_he(x, degree),
        "igamma" => incomplete::igamma(x, degree),
        "igammac" => incomplete::igammac(x, degree),
        "laguerre_l" => orthogonal::laguerre_l(x, degree),
        "legendre_p" => orthogonal::legendre_p(x, degree),
        "trigamma" => gamma::trigamma(x),
        "zeta" => incomplete::zeta(x, degree),
        _ => return None,
    };
    Some(value.value)
}
