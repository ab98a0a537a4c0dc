//! Gradients of operators on single elements: partial derivatives.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::rule::Rule::{Custom, Linear, Partials, Zero};
use super::rule::{At, Cotangents, Point, Row, prim_rows};

prim_rows! {
    /// `t * sign(x)`; of complex numbers `real(t) * x / |x|`, 0 at 0. PyTorch: `abs`, `grad * self.sgn()`.
    Abs => Custom(abs);
    /// `-t / sqrt(1 - x^2)`. PyTorch: `acos`.
    Acos => Partials(&[|p, t| -(t * one_minus_square(p.x(0)).rsqrt())]);
    /// `t / sqrt(x^2 - 1)`. PyTorch: `acosh`.
    Acosh => Partials(&[|p, t| t * (p.x(0).square() - 1.0).rsqrt()]);
    /// `t` for both. PyTorch: `add.Tensor`.
    Add => Partials(&[same, same]);
    /// `t / sqrt(1 - x^2)`. PyTorch: `asin`.
    Asin => Partials(&[|p, t| t * one_minus_square(p.x(0)).rsqrt()]);
    /// `t / sqrt(x^2 + 1)`. PyTorch: `asinh`.
    Asinh => Partials(&[|p, t| t * (p.x(0).square() + 1.0).rsqrt()]);
    /// `t / (x^2 + 1)`. PyTorch: `atan`.
    Atan => Partials(&[|p, t| t / (p.x(0).square() + 1.0)]);
    /// `t * b / (a^2 + b^2)` and `-t * a / (a^2 + b^2)`, 0 at the origin. PyTorch: `atan2`.
    Atan2 => Partials(&[|p, t| over_square(t * p.x(1), p), |p, t| over_square(-(t * p.x(0)), p)]);
    /// `t / (1 - x^2)`. PyTorch: `atanh`.
    Atanh => Partials(&[|p, t| t / one_minus_square(p.x(0))]);
    /// None where the type is one of integers; bits of floats have no gradient. PyTorch: `view.dtype`.
    Bitcast => Custom(|at| at.refuse("its bits are read as another type of floats"));
    /// None: constant almost everywhere. PyTorch: `ceil`.
    Ceil => Zero;
    /// `real(g)` and `imag(g)`. PyTorch: `complex`.
    MakeComplex => Linear(|at| at.each(|operand| Some(if operand == 0 { at.g().real() } else { at.g().imag() })));
    /// `g` in the operand's type, the real part of it for real operands. PyTorch: `_to_copy`.
    Convert => Linear(|at| vec![Some(part(at.g(), at.x(0)))]);
    /// `-t * sin(x)`. PyTorch: `cos`.
    Cos => Partials(&[|p, t| -(t * p.x(0).sin())]);
    /// `t * sinh(x)`. PyTorch: `cosh`.
    Cosh => Partials(&[|p, t| t * p.x(0).sinh()]);
    /// `t * trigamma(x)`. PyTorch: `digamma`, `polygamma(1, self)`.
    Digamma => Partials(&[|p, t| t * p.x(0).special("trigamma", &[])]);
    /// `t / b` and `-t * (a / b) / b`. PyTorch: `div.Tensor`, `div_tensor_other_grad`.
    Div => Partials(&[|p, t| t / p.x(1), |p, t| -(t * (p.y() / p.x(1)))]);
    /// None: a condition. PyTorch: `eq`.
    Eq => Zero;
    /// `t * 2 / sqrt(pi) * exp(-x^2)`. PyTorch: `erf`.
    Erf => Partials(&[|p, t| t * (-p.x(0).square()).exp() * FRAC_2_SQRT_PI]);
    /// `-t * 2 / sqrt(pi) * exp(-x^2)`. PyTorch: `erfc`.
    Erfc => Partials(&[|p, t| -(t * (-p.x(0).square()).exp() * FRAC_2_SQRT_PI)]);
    /// `t * sqrt(pi) / 2 * exp(y^2)`. PyTorch: `erfinv`.
    Erfinv => Partials(&[|p, t| t * p.y().square().exp() * FRAC_2_SQRT_PI.recip()]);
    /// `t * y`. PyTorch: `exp`.
    Exp => Partials(&[|p, t| t * p.y()]);
    /// `t * y * log 2`. PyTorch: `exp2`.
    Exp2 => Partials(&[|p, t| t * p.y() * LN_2]);
    /// `t * (y + 1)`. PyTorch: `expm1`.
    Expm1 => Partials(&[|p, t| t * plus_one(p.y())]);
    /// None: constant almost everywhere. PyTorch: `floor`.
    Floor => Zero;
    /// None: a condition. PyTorch: `ge`.
    Ge => Zero;
    /// None: a condition. PyTorch: `gt`.
    Gt => Zero;
    /// `i * g`. PyTorch: `imag`.
    Imag => Linear(|at| vec![Some(at.g().filled(Scalar::Int(0)).complex(at.g()))]);
    /// None: a condition. PyTorch: `isnan`.
    IsNan => Zero;
    /// None: a condition. PyTorch: `le`.
    Le => Zero;
    /// `t * digamma(x)`. PyTorch: `lgamma`.
    Lgamma => Partials(&[|p, t| t * p.x(0).digamma()]);
    /// `t / x`. PyTorch: `log`.
    Log => Partials(&[|p, t| t / p.x(0)]);
    /// `t / (x * log 10)`. PyTorch: `log10`.
    Log10 => Partials(&[|p, t| t / (p.x(0) * LN_10)]);
    /// `t / (x + 1)`. PyTorch: `log1p`.
    Log1p => Partials(&[|p, t| t / plus_one(p.x(0))]);
    /// `t / (x * log 2)`. PyTorch: `log2`.
    Log2 => Partials(&[|p, t| t / (p.x(0) * LN_2)]);
    /// None: a condition. PyTorch: `lt`.
    Lt => Zero;
    /// `t` for the larger one, half of it for each of two equal ones; 0 at a bound that is constant. PyTorch: `maximum`, `clamp`.
    Maximum => Partials(&[|p, t| chosen(p, 0, t, |x, other| x.less(other)), |p, t| chosen(p, 1, t, |x, other| x.less(other))]);
    /// `t` for the smaller one, half of it for each of two equal ones; 0 at a bound that is constant. PyTorch: `minimum`, `clamp`.
    Minimum => Partials(&[|p, t| chosen(p, 0, t, |x, other| x.greater(other)), |p, t| chosen(p, 1, t, |x, other| x.greater(other))]);
    /// `t * b` and `t * a`. PyTorch: `mul.Tensor`.
    Mul => Partials(&[|p, t| t * p.x(1), |p, t| t * p.x(0)]);
    /// None: a condition. PyTorch: `ne`.
    Ne => Zero;
    /// `-t`. PyTorch: `neg`.
    Neg => Partials(&[|_, t| -t]);
    /// PyTorch has none either: `nextafter`, `not_implemented`.
    Nextafter => Custom(|at| at.refuse("PyTorch defines none for nextafter"));
    /// `t * b * a^(b - 1)`, 0 where b = 0; `t * y * log a`, 0 where a = 0 and b >= 0. PyTorch: `pow_backward_self`, `pow_backward_exponent`.
    Pow => Partials(&[power_of_base, power_of_exponent]);
    /// `g` as a complex number. PyTorch: `real`.
    Real => Linear(|at| vec![Some(at.g().complex(at.g().filled(Scalar::Int(0))))]);
    /// `t` and `-t * trunc(a / b)`. PyTorch: `fmod.Tensor`.
    Rem => Partials(&[same, |p, t| -(t * (p.x(0) / p.x(1)).trunc())]);
    /// None: constant almost everywhere. PyTorch: `round`.
    Round => Zero;
    /// `-t * y^3 / 2`. PyTorch: `rsqrt`.
    Rsqrt => Partials(&[|p, t| t * p.y().square() * p.y() * minus_half(t)]);
    /// `g` where it is chosen, else 0. PyTorch: `where.self`.
    Select => Linear(|at| at.each(|operand| match operand {
        1 => Some(at.x(0).select(at.g(), zero(at.g()))),
        _ => Some(at.x(0).select(zero(at.g()), at.g())),
    }));
    /// None: constant almost everywhere. PyTorch: `sign`.
    Sign => Zero;
    /// `t * cos(x)`. PyTorch: `sin`.
    Sin => Partials(&[|p, t| t * p.x(0).cos()]);
    /// `t * cosh(x)`. PyTorch: `sinh`.
    Sinh => Partials(&[|p, t| t * p.x(0).cosh()]);
    /// By function, as PyTorch has them: Bessel functions, `trigamma`, `zeta` by its second argument, `igamma` and
    /// `igammac` by theirs. The others have none in PyTorch either.
    Special => Custom(special);
    /// `t / (2 * y)`. PyTorch: `sqrt`.
    Sqrt => Partials(&[|p, t| t / (p.y() + p.y())]);
    /// `t` and `-t`. PyTorch: `sub.Tensor`.
    Sub => Partials(&[same, |_, t| -t]);
    /// `t * (1 + y^2)`. PyTorch: `tan`.
    Tan => Partials(&[|p, t| t * plus_one(p.y().square())]);
    /// `t * (1 - y^2)`. PyTorch: `tanh_backward`.
    Tanh => Partials(&[|p, t| t * one_minus_square(p.y())]);
    /// None: constant almost everywhere. PyTorch: `trunc`.
    Trunc => Zero;
}

fn same<'c>(_: &Point<'c>, t: Tensor<'c>) -> Tensor<'c> {
    t
}

fn zero(x: Tensor<'_>) -> Tensor<'_> {
    x.number(Scalar::Int(0))
}

fn plus_one(x: Tensor<'_>) -> Tensor<'_> {
    x + x.number(Scalar::Int(1))
}

fn minus_half(x: Tensor<'_>) -> Tensor<'_> {
    x.number(Scalar::Float(-0.5))
}

/// `1 - x^2`, of which the factors are exact near 1.
fn one_minus_square(x: Tensor<'_>) -> Tensor<'_> {
    x.number(Scalar::Int(1)) - x * x
}

/// `t / (a^2 + b^2)`, 0 at the origin.
fn over_square<'c>(t: Tensor<'c>, p: &Point<'c>) -> Tensor<'c> {
    let square = p.x(0).square() + p.x(1).square();
    square.equal(0).select(zero(t), t / square)
}

/// `t` where an operand of two is not passed over, half of it where both are equal. Beside a constant the result says both: a program keeps
/// that for what comes next, and its operand would be kept for this alone.
fn chosen<'c>(p: &Point<'c>, operand: usize, t: Tensor<'c>, passed: fn(Tensor<'c>, Tensor<'c>) -> Tensor<'c>) -> Tensor<'c> {
    let (x, other) = (p.x(operand), p.x(1 - operand));
    if p.is_constant(1 - operand) {
        return p.y().equal(other).select(zero(t), t);
    }
    let half = x.equal(other).select(if p.is_constant(operand) { zero(t) } else { t * 0.5 }, t);
    passed(x, other).select(zero(t), half)
}

fn power_of_base<'c>(p: &Point<'c>, t: Tensor<'c>) -> Tensor<'c> {
    let (a, b) = (p.x(0), p.x(1));
    b.equal(0).select(zero(t), t * (b * a.pow(b - b.number(Scalar::Int(1)))))
}

fn power_of_exponent<'c>(p: &Point<'c>, t: Tensor<'c>) -> Tensor<'c> {
    let (a, b) = (p.x(0), p.x(1));
    let flat = a.equal(0).and(b.real().greater_equal(0));
    flat.select(zero(t), t * (p.y() * a.log()))
}

/// A cotangent in the type of an operand.
fn part<'c>(g: Tensor<'c>, x: Tensor<'c>) -> Tensor<'c> {
    if x.dtype().is_complex() { g.convert(x.dtype()) } else { g.real().convert(x.dtype()) }
}

fn abs<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, x) = (at.g(), at.x(0));
    if !x.dtype().is_complex() {
        return vec![Some(g * x.sign().fill_where(x.is_nan(), 0))];
    }
    let modulus = at.y(0);
    let scale = modulus.equal(0).select(zero(g), g / modulus);
    vec![Some((scale * x.real()).complex(scale * x.imag()))]
}

fn special<'c>(at: &At<'c>) -> Cotangents<'c> {
    let name = at.word("function");
    let (g, y) = (at.g(), at.y(0));
    let call = |function: &str, arguments: &[Tensor<'c>]| arguments[0].special(function, &arguments[1..]);
    let x = at.x(0);
    let slope = match name.as_str() {
        "exp" => y,
        "log" => x.reciprocal(),
        "bessel_i0" => call("bessel_i1", &[x]),
        "bessel_i0e" => call("bessel_i1e", &[x]) - x.sign() * y,
        // i1(x) / x is 1/2 at 0.
        "bessel_i1" | "bessel_i1_full" => call("bessel_i0", &[x]) - x.equal(0).select(x.number(Scalar::Float(0.5)), y / x),
        "bessel_i1e" => {
            let inside = call("bessel_i0e", &[x]) - y * (x.sign() + x.reciprocal());
            x.equal(0).select(x.number(Scalar::Float(0.5)), inside)
        }
        "bessel_j0" => -call("bessel_j1", &[x]),
        "bessel_j1" => x.equal(0).select(x.number(Scalar::Float(0.5)), call("bessel_j0", &[x]) - y / x),
        "bessel_y0" => -call("bessel_y1", &[x]),
        "bessel_y1" => call("bessel_y0", &[x]) - y / x,
        "bessel_k0" => -call("bessel_k1", &[x]),
        "bessel_k0e" => y - call("bessel_k1e", &[x]),
        "bessel_k1" => -(call("bessel_k0", &[x]) + y / x),
        "bessel_k1e" => y - call("bessel_k0e", &[x]) - y / x,
        "trigamma" => call("zeta", &[x.filled(Scalar::Float(3.0)), x]) * -2.0,
        "zeta" if !at.wants(0) => {
            let (s, q) = (x, at.x(1));
            return vec![None, Some(g * -(s * call("zeta", &[s + 1.0, q])))];
        }
        "igamma" | "igammac" if !at.wants(0) => {
            let (a, x) = (x, at.x(1));
            let density = (x.log() * (a - 1.0) - x - a.lgamma()).exp();
            return vec![None, Some(g * if name == "igamma" { density } else { -density })];
        }
        _ => return at.refuse(format!("PyTorch defines none for `{name}` by this argument")),
    };
    vec![Some(g * slope)]
}
