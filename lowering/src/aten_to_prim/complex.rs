//! Functions of complex numbers that `prim` has no operator for, from real ones: Kahan's formulas, which keep the branch
//! cuts and lose no digits near them. All are computed in double precision and rounded once.

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim_builder::Tensor;

/// Real and imaginary part.
type Parts<'c> = (Tensor<'c>, Tensor<'c>);

/// The real function for real numbers, a formula of the parts for complex ones.
fn either<'c>(x: Tensor<'c>, real: fn(Tensor<'c>) -> Tensor<'c>, complex: fn(Parts<'c>) -> Parts<'c>) -> Tensor<'c> {
    if !x.dtype().is_complex() {
        return real(x);
    }
    let wide = x.convert(DType::C128);
    let (re, im) = complex((wide.real(), wide.imag()));
    re.complex(im).convert(x.dtype())
}

fn root<'c>((re, im): Parts<'c>) -> Parts<'c> {
    let root = re.complex(im).sqrt();
    (root.real(), root.imag())
}

/// The roots of `1 - z` and `1 + z`. No zero changes its sign on the way.
fn roots<'c>((re, im): Parts<'c>) -> (Parts<'c>, Parts<'c>) {
    (root((-re + 1.0, -im)), root((re + 1.0, im)))
}

fn asin_parts<'c>(z: Parts<'c>) -> Parts<'c> {
    let (minus, plus) = roots(z);
    let real_of_product = minus.0 * plus.0 - minus.1 * plus.1;
    (z.0.atan2(real_of_product), (minus.0 * plus.1 - minus.1 * plus.0).asinh())
}

fn acos_parts<'c>(z: Parts<'c>) -> Parts<'c> {
    let (minus, plus) = roots(z);
    (minus.0.atan2(plus.0) * 2.0, (plus.0 * minus.1 - plus.1 * minus.0).asinh())
}

fn acosh_parts<'c>((re, im): Parts<'c>) -> Parts<'c> {
    let (minus, plus) = (root((re - 1.0, im)), root((re + 1.0, im)));
    ((minus.0 * plus.0 + minus.1 * plus.1).asinh(), minus.1.atan2(plus.0) * 2.0)
}

fn atanh_parts<'c>((re, im): Parts<'c>) -> Parts<'c> {
    let gap = -re + 1.0;
    let square = im.square();
    let growth = (re * 4.0 / (gap.square() + square)).log1p() * 0.25;
    (growth, (im * 2.0).atan2(gap * (re + 1.0) - square) * 0.5)
}

/// `f(iz) / i`: the inverse hyperbolic function of an inverse circular one, and the other way round.
fn turned<'c>((re, im): Parts<'c>, f: fn(Parts<'c>) -> Parts<'c>) -> Parts<'c> {
    let (re, im) = f((-im, re));
    (im, -re)
}

fn times<'c>((re, im): Parts<'c>, factor: f64) -> Parts<'c> {
    (re * factor, im * factor)
}

fn log_parts<'c>((re, im): Parts<'c>) -> Parts<'c> {
    let log = re.complex(im).log();
    (log.real(), log.imag())
}

pub(super) fn acos(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::acos, acos_parts)
}

pub(super) fn acosh(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::acosh, acosh_parts)
}

pub(super) fn asin(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::asin, asin_parts)
}

pub(super) fn asinh(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::asinh, |z| turned(z, asin_parts))
}

pub(super) fn atan(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::atan, |z| turned(z, atanh_parts))
}

pub(super) fn atanh(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::atanh, atanh_parts)
}

pub(super) fn cosh(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::cosh, |(re, im)| (re.cosh() * im.cos(), re.sinh() * im.sin()))
}

pub(super) fn sinh(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::sinh, |(re, im)| (re.sinh() * im.cos(), re.cosh() * im.sin()))
}

pub(super) fn exp2(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::exp2, |(re, im)| {
        let angle = im * std::f64::consts::LN_2;
        (re.exp2() * angle.cos(), re.exp2() * angle.sin())
    })
}

pub(super) fn log2(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::log2, |z| times(log_parts(z), std::f64::consts::LOG2_E))
}

pub(super) fn log10(x: Tensor<'_>) -> Tensor<'_> {
    either(x, Tensor::log10, |z| times(log_parts(z), std::f64::consts::LOG10_E))
}

/// `log(exp(x) + exp(y))` without overflow: the number with the larger real part is taken out.
pub(super) fn log_add_exp<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let swap = x.real().less(y.real());
    let (large, small) = (swap.select(y, x), swap.select(x, y));
    let sum = large + (small - large).exp().log1p();
    x.equal(y).and(x.real().abs().equal(f64::INFINITY)).select(x, sum)
}
