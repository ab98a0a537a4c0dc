//! Functions whose every step rounds to the type that is computed in, as PyTorch's do: results of integers are compared
//! bit for bit, and there are no other digits to compare.

use num_complex::Complex64;

use super::Arm::{self, Op};
use super::common::{Operand, evaluate, opmath, operand, result_type};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::math::gamma;
use crate::math::polynomial::{self, Family};
use crate::value::{Args, InterpError, Results, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (DEG2RAD, Op(|a| real(a, |x, d| d.round(x * d.round(std::f64::consts::PI / 180.0))))),
    (DIGAMMA, Op(|a| real(a, gamma::digamma_in))),
    (LOGIT, Op(logit)),
    (MVLGAMMA, Op(mvlgamma)),
    (POLYGAMMA, Op(polygamma)),
    (RAD2DEG, Op(|a| real(a, |x, d| d.round(x * d.round(180.0 / std::f64::consts::PI))))),
    (RSQRT, Op(|a| continued(a, |x, d| d.round(1.0 / d.round(x.sqrt())), |z| 1.0 / z.sqrt()))),
    (SIGMOID, Op(|a| continued(a, sigmoid, |z| 1.0 / (1.0 + (-z).exp())))),
    (SINC, Op(|a| continued(a, sinc, complex_sinc))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_T, Op(|a| polynomial(a, Family::ChebyshevT, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_T_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevT, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_T_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevT, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_U, Op(|a| polynomial(a, Family::ChebyshevU, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_U_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevU, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_U_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevU, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_V, Op(|a| polynomial(a, Family::ChebyshevV, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_V_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevV, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_V_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevV, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_W, Op(|a| polynomial(a, Family::ChebyshevW, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_W_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevW, false))),
    (SPECIAL_CHEBYSHEV_POLYNOMIAL_W_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevW, false))),
    (SPECIAL_DIGAMMA, Op(|a| real(a, gamma::digamma_in))),
    (SPECIAL_ENTR, Op(|a| real(a, entr))),
    (SPECIAL_EXPIT, Op(|a| real(a, sigmoid))),
    (SPECIAL_HERMITE_POLYNOMIAL_H, Op(|a| polynomial(a, Family::HermiteH, false))),
    (SPECIAL_HERMITE_POLYNOMIAL_H_N_SCALAR, Op(|a| polynomial(a, Family::HermiteH, false))),
    (SPECIAL_HERMITE_POLYNOMIAL_H_X_SCALAR, Op(|a| polynomial(a, Family::HermiteH, false))),
    (SPECIAL_HERMITE_POLYNOMIAL_HE, Op(|a| polynomial(a, Family::HermiteHe, false))),
    (SPECIAL_HERMITE_POLYNOMIAL_HE_N_SCALAR, Op(|a| polynomial(a, Family::HermiteHe, false))),
    (SPECIAL_HERMITE_POLYNOMIAL_HE_X_SCALAR, Op(|a| polynomial(a, Family::HermiteHe, false))),
    (SPECIAL_LAGUERRE_POLYNOMIAL_L, Op(|a| polynomial(a, Family::LaguerreL, false))),
    (SPECIAL_LAGUERRE_POLYNOMIAL_L_N_SCALAR, Op(|a| polynomial(a, Family::LaguerreL, false))),
    (SPECIAL_LAGUERRE_POLYNOMIAL_L_X_SCALAR, Op(|a| polynomial(a, Family::LaguerreL, false))),
    (SPECIAL_LEGENDRE_POLYNOMIAL_P, Op(|a| polynomial(a, Family::LegendreP, false))),
    (SPECIAL_LEGENDRE_POLYNOMIAL_P_N_SCALAR, Op(|a| polynomial(a, Family::LegendreP, false))),
    (SPECIAL_LEGENDRE_POLYNOMIAL_P_X_SCALAR, Op(|a| polynomial(a, Family::LegendreP, false))),
    (SPECIAL_MULTIGAMMALN, Op(mvlgamma)),
    (SPECIAL_NDTR, Op(|a| real(a, ndtr))),
    (SPECIAL_POLYGAMMA, Op(polygamma)),
    (SPECIAL_PSI, Op(|a| real(a, gamma::digamma_in))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T, Op(|a| polynomial(a, Family::ChebyshevT, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevT, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_T_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevT, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U, Op(|a| polynomial(a, Family::ChebyshevU, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevU, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_U_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevU, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V, Op(|a| polynomial(a, Family::ChebyshevV, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevV, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_V_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevV, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W, Op(|a| polynomial(a, Family::ChebyshevW, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W_N_SCALAR, Op(|a| polynomial(a, Family::ChebyshevW, true))),
    (SPECIAL_SHIFTED_CHEBYSHEV_POLYNOMIAL_W_X_SCALAR, Op(|a| polynomial(a, Family::ChebyshevW, true))),
    (SPECIAL_SINC, Op(|a| continued(a, sinc, complex_sinc))),
    (SPECIAL_SPHERICAL_BESSEL_J0, Op(|a| real(a, spherical))),
    (SPECIAL_ZETA, Op(zeta)),
    (SPECIAL_ZETA_OTHER_SCALAR, Op(zeta)),
    (SPECIAL_ZETA_SELF_SCALAR, Op(zeta)),
];

/// A function of a number and of the type to round its steps to.
type Stepped = fn(f64, DType) -> f64;

/// Applies `f` to every element of the first operand, in the float type that it promotes to.
fn real(args: &Args, f: Stepped) -> Results {
    let x = operand(args, if args.opt("x").is_some() { "x" } else { "self" })?;
    let dtype = result_type(&[x]).floating();
    one(evaluate(dtype, dtype, &[x], |v| Ok(Scalar::Float(f(v[0].float(), opmath(dtype)))))?)
}

/// As [`real`], with a continuation to complex numbers.
fn continued(args: &Args, f: Stepped, g: fn(Complex64) -> Complex64) -> Results {
    let x = operand(args, "self")?;
    let dtype = result_type(&[x]).floating();
    one(evaluate(dtype, dtype, &[x], |v| {
        Ok(match v[0] {
            Scalar::Complex(z) => Scalar::Complex(g(z)),
            v => Scalar::Float(f(v.float(), opmath(dtype))),
        })
    })?)
}

fn sigmoid(x: f64, d: DType) -> f64 {
    d.round(1.0 / d.round(1.0 + d.round((-x).exp())))
}

fn sinc(x: f64, d: DType) -> f64 {
    let angle = d.round(x * d.round(std::f64::consts::PI));
    if angle == 0.0 { 1.0 } else { d.round(d.round(angle.sin()) / angle) }
}

fn complex_sinc(z: Complex64) -> Complex64 {
    let angle = z * std::f64::consts::PI;
    if z.norm() == 0.0 { Complex64::new(1.0, 0.0) } else { angle.sin() / angle }
}

fn entr(x: f64, d: DType) -> f64 {
    match x {
        x if x.is_nan() => x,
        x if x > 0.0 => d.round(-x * d.round(x.ln())),
        0.0 => 0.0,
        _ => f64::NEG_INFINITY,
    }
}

fn ndtr(x: f64, d: DType) -> f64 {
    let half_turn = d.round(x * d.round(std::f64::consts::FRAC_1_SQRT_2));
    d.round(d.round(1.0 + d.round(libm::erf(half_turn))) * 0.5)
}

fn spherical(x: f64, d: DType) -> f64 {
    match x {
        x if x.is_infinite() => 0.0,
        x if x.abs() < 0.5 => {
            let s = x * x;
            d.round(1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0))))
        }
        x => d.round(d.round(x.sin()) / x),
    }
}

fn logit(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dtype = x.dtype().floating();
    let d = opmath(dtype);
    let eps = args.opt_float("eps")?.map(|e| d.round(e));
    one(x.map(dtype, |v| {
        let p = match (eps, v.float()) {
            (Some(e), p) if p < e => e,
            (Some(e), p) if p > d.round(1.0 - e) => d.round(1.0 - e),
            (_, p) => p,
        };
        Scalar::Float(d.round(d.round(p / d.round(1.0 - p)).ln()))
    }))
}

fn order(args: &Args) -> Result<i64, InterpError> {
    let n = args.int("n")?;
    if n < 0 { Err(fail("a derivative of negative order")) } else { Ok(n) }
}

fn polygamma(args: &Args) -> Results {
    let (x, n) = (args.tensor("self")?, order(args)?);
    let dtype = x.dtype().floating();
    let d = opmath(dtype);
    one(x.map(dtype, |v| Scalar::Float(gamma::polygamma_in(n, v.float(), d))))
}

fn zeta(args: &Args) -> Results {
    let (x, q) = (operand(args, "self")?, operand(args, "other")?);
    let dtype = result_type(&[x, q]).floating();
    one(evaluate(dtype, dtype, &[x, q], |v| Ok(Scalar::Float(gamma::zeta_in(v[0].float(), v[1].float(), opmath(dtype)))))?)
}

/// `p (p - 1) / 4 ln(pi) + sum of lgamma(x - j / 2)`; PyTorch sums every fourth term first.
fn mvlgamma(args: &Args) -> Results {
    let (x, p) = (args.tensor("self")?, args.int("p")?);
    let dtype = x.dtype().floating();
    let d = opmath(dtype);
    let constant = d.round((p * (p - 1)) as f64 / 4.0 * std::f64::consts::PI.ln());
    one(x.map(dtype, |v| {
        let mut parts = [0.0; 4];
        for (k, j) in (0..p).rev().enumerate() {
            parts[k % 4] = d.round(parts[k % 4] + d.round(gamma::lgamma(v.float() - j as f64 / 2.0)));
        }
        let sum = parts[1..].iter().fold(parts[0], |sum, part| d.round(sum + part));
        Scalar::Float(d.round(sum + constant))
    }))
}

/// A polynomial of x with a degree for each element, maybe moved to [0, 1]. A degree that is no number counts as negative.
fn polynomial(args: &Args, family: Family, shifted: bool) -> Results {
    let operands: [Operand<'_>; 2] = [operand(args, "x")?, operand(args, "n")?];
    let dtype = result_type(&operands).floating();
    let d = opmath(dtype);
    one(evaluate(dtype, dtype, &operands, |v| {
        let (x, n) = (v[0].float(), v[1].float());
        let degree = if n.is_finite() { n.trunc() as i64 } else { -1 };
        let x = if shifted { d.round(d.round(x + x) - 1.0) } else { x };
        Ok(Scalar::Float(polynomial::value(family, x, degree, d)))
    })?)
}
