//! Orthogonal polynomials of x, with a degree for each element.

use super::args::Args;
use super::rule::Precision::Compute;
use super::rule::{Rule, one};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::Tensor;

pub(super) const RULES: &[Rule] = &[
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_T, Compute, |a| polynomial(a, "chebyshev_t")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_T_N_SCALAR, Compute, |a| polynomial(a, "chebyshev_t")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_T_X_SCALAR, Compute, |a| polynomial(a, "chebyshev_t")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_U, Compute, |a| polynomial(a, "chebyshev_u")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_U_N_SCALAR, Compute, |a| polynomial(a, "chebyshev_u")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_U_X_SCALAR, Compute, |a| polynomial(a, "chebyshev_u")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_V, Compute, |a| polynomial(a, "chebyshev_v")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_V_N_SCALAR, Compute, |a| polynomial(a, "chebyshev_v")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_V_X_SCALAR, Compute, |a| polynomial(a, "chebyshev_v")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_W, Compute, |a| polynomial(a, "chebyshev_w")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_W_N_SCALAR, Compute, |a| polynomial(a, "chebyshev_w")),
    one(SPECIAL_CHEBYSHEV_POLYNOMIAL_W_X_SCALAR, Compute, |a| polynomial(a, "chebyshev_w")),
    one(SPECIAL_HERMITE_POLYNOMIAL_H, Compute, |a| polynomial(a, "hermite_h")),
    one(SPECIAL_HERMITE_POLYNOMIAL_H_N_SCALAR, Compute, |a| polynomial(a, "hermite_h")),
    one(SPECIAL_HERMITE_POLYNOMIAL_H_X_SCALAR, Compute, |a| polynomial(a, "hermite_h")),
    one(SPECIAL_HERMITE_POLYNOMIAL_HE, Compute, |a| polynomial(a, "hermite_he")),
    one(SPECIAL_HERMITE_POLYNOMIAL_HE_N_SCALAR, Compute, |a| polynomial(a, "hermite_he")),
    one(SPECIAL_HERMITE_POLYNOMIAL_HE_X_SCALAR, Compute, |a| polynomial(a, "hermite_he")),
    one(SPECIAL_LAGUERRE_POLYNOMIAL_L, Compute, |a| polynomial(a, "laguerre_l")),
    one(SPECIAL_LAGUERRE_POLYNOMIAL_L_N_SCALAR, Compute, |a| polynomial(a, "laguerre_l")),
    one(SPECIAL_LAGUERRE_POLYNOMIAL_L_X_SCALAR, Compute, |a| polynomial(a, "laguerre_l")),
    one(SPECIAL_LEGENDRE_POLYNOMIAL_P, Compute, |a| polynomial(a, "legendre_p")),
    one(SPECIAL_LEGENDRE_POLYNOMIAL_P_N_SCALAR, Compute, |a| polynomial(a, "legendre_p")),
    one(SPECIAL_LEGENDRE_POLYNOMIAL_P_X_SCALAR, Compute, |a| polynomial(a, "legendre_p")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T, Compute, |a| shifted(a, "chebyshev_t")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T_N_SCALAR, Compute, |a| shifted(a, "chebyshev_t")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T_X_SCALAR, Compute, |a| shifted(a, "chebyshev_t")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U, Compute, |a| shifted(a, "chebyshev_u")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U_N_SCALAR, Compute, |a| shifted(a, "chebyshev_u")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U_X_SCALAR, Compute, |a| shifted(a, "chebyshev_u")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V, Compute, |a| shifted(a, "chebyshev_v")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V_N_SCALAR, Compute, |a| shifted(a, "chebyshev_v")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V_X_SCALAR, Compute, |a| shifted(a, "chebyshev_v")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W, Compute, |a| shifted(a, "chebyshev_w")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W_N_SCALAR, Compute, |a| shifted(a, "chebyshev_w")),
    one(SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W_X_SCALAR, Compute, |a| shifted(a, "chebyshev_w")),
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
