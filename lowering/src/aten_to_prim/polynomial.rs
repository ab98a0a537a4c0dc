//! Orthogonal polynomials of x, with a degree for each element.

use super::args::Args;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};
use super::tensor::Tensor;

pub(super) const RULES: &[Rule] = &[
    one("aten.special_chebyshev_polynomial_t", Compute, |a| polynomial(a, "chebyshev_t")),
    one("aten.special_chebyshev_polynomial_t.n_scalar", Compute, |a| polynomial(a, "chebyshev_t")),
    one("aten.special_chebyshev_polynomial_t.x_scalar", Compute, |a| polynomial(a, "chebyshev_t")),
    one("aten.special_chebyshev_polynomial_u", Compute, |a| polynomial(a, "chebyshev_u")),
    one("aten.special_chebyshev_polynomial_u.n_scalar", Compute, |a| polynomial(a, "chebyshev_u")),
    one("aten.special_chebyshev_polynomial_u.x_scalar", Compute, |a| polynomial(a, "chebyshev_u")),
    one("aten.special_chebyshev_polynomial_v", Compute, |a| polynomial(a, "chebyshev_v")),
    one("aten.special_chebyshev_polynomial_v.n_scalar", Compute, |a| polynomial(a, "chebyshev_v")),
    one("aten.special_chebyshev_polynomial_v.x_scalar", Compute, |a| polynomial(a, "chebyshev_v")),
    one("aten.special_chebyshev_polynomial_w", Compute, |a| polynomial(a, "chebyshev_w")),
    one("aten.special_chebyshev_polynomial_w.n_scalar", Compute, |a| polynomial(a, "chebyshev_w")),
    one("aten.special_chebyshev_polynomial_w.x_scalar", Compute, |a| polynomial(a, "chebyshev_w")),
    one("aten.special_hermite_polynomial_h", Compute, |a| polynomial(a, "hermite_h")),
    one("aten.special_hermite_polynomial_h.n_scalar", Compute, |a| polynomial(a, "hermite_h")),
    one("aten.special_hermite_polynomial_h.x_scalar", Compute, |a| polynomial(a, "hermite_h")),
    one("aten.special_hermite_polynomial_he", Compute, |a| polynomial(a, "hermite_he")),
    one("aten.special_hermite_polynomial_he.n_scalar", Compute, |a| polynomial(a, "hermite_he")),
    one("aten.special_hermite_polynomial_he.x_scalar", Compute, |a| polynomial(a, "hermite_he")),
    one("aten.special_laguerre_polynomial_l", Compute, |a| polynomial(a, "laguerre_l")),
    one("aten.special_laguerre_polynomial_l.n_scalar", Compute, |a| polynomial(a, "laguerre_l")),
    one("aten.special_laguerre_polynomial_l.x_scalar", Compute, |a| polynomial(a, "laguerre_l")),
    one("aten.special_legendre_polynomial_p", Compute, |a| polynomial(a, "legendre_p")),
    one("aten.special_legendre_polynomial_p.n_scalar", Compute, |a| polynomial(a, "legendre_p")),
    one("aten.special_legendre_polynomial_p.x_scalar", Compute, |a| polynomial(a, "legendre_p")),
    one("aten.special_shifted_chebyshev_polynomial_t", Compute, |a| shifted(a, "chebyshev_t")),
    one("aten.special_shifted_chebyshev_polynomial_t.n_scalar", Compute, |a| shifted(a, "chebyshev_t")),
    one("aten.special_shifted_chebyshev_polynomial_t.x_scalar", Compute, |a| shifted(a, "chebyshev_t")),
    one("aten.special_shifted_chebyshev_polynomial_u", Compute, |a| shifted(a, "chebyshev_u")),
    one("aten.special_shifted_chebyshev_polynomial_u.n_scalar", Compute, |a| shifted(a, "chebyshev_u")),
    one("aten.special_shifted_chebyshev_polynomial_u.x_scalar", Compute, |a| shifted(a, "chebyshev_u")),
    one("aten.special_shifted_chebyshev_polynomial_v", Compute, |a| shifted(a, "chebyshev_v")),
    one("aten.special_shifted_chebyshev_polynomial_v.n_scalar", Compute, |a| shifted(a, "chebyshev_v")),
    one("aten.special_shifted_chebyshev_polynomial_v.x_scalar", Compute, |a| shifted(a, "chebyshev_v")),
    one("aten.special_shifted_chebyshev_polynomial_w", Compute, |a| shifted(a, "chebyshev_w")),
    one("aten.special_shifted_chebyshev_polynomial_w.n_scalar", Compute, |a| shifted(a, "chebyshev_w")),
    one("aten.special_shifted_chebyshev_polynomial_w.x_scalar", Compute, |a| shifted(a, "chebyshev_w")),
];

fn polynomial<'c>(a: &Args<'c>, function: &str) -> Tensor<'c> {
    let [x, n] = a.promoted(["x", "n"]);
    x.special(function, &[n])
}

/// The polynomial moved from [-1, 1] to [0, 1].
fn shifted<'c>(a: &Args<'c>, function: &str) -> Tensor<'c> {
    let [x, n] = a.promoted(["x", "n"]);
    (x + x - 1.0).special(function, &[n])
}
