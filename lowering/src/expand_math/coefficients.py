"""Derives the polynomial coefficients of `expand_math` (needs mpmath). `python3 coefficients.py | rustfmt > tables.rs`.

Each polynomial is the minimax fit of a smooth function g on an interval under a weight w: it minimises max |w (p - g)|
by Remez's exchange on a dense grid. The weight makes the maximum the relative error of the result in which p stands.
The leading terms of every expansion are exact and outside of its polynomial, so that rounding the coefficients to the
working precision costs little; the printed error is that of the rounded ones.
"""

import struct
import sys

from mpmath import asin, atan, atanh, cbrt, cos, erf, erfc, erfinv, euler, exp, expm1, log, log1p, loggamma, matrix, lu_solve, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.prec = 200


def to_f32(value):
    return mpf(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def to_f64(value):
    return mpf(float(value))


def grid(a, b, count):
    """Chebyshev points: dense at the ends, where the error of a minimax fit is largest."""
    return [(a + b) / 2 + (b - a) / 2 * cos(pi * (count - 1 - i) / (count - 1)) for i in range(count)]


def fit(g, w, degree, points):
    """Coefficients of the minimax polynomial of a degree."""
    values = [(x, abs(w(x)), g(x)) for x in points]
    count = degree + 2
    chosen = [round((i + mpf(0.5)) * (len(points) - 1) / count) for i in range(count)]
    for _ in range(200):
        rows, right = [], []
        for at, index in enumerate(chosen):
            x, weight, value = values[index]
            rows.append([weight * x**i for i in range(degree + 1)] + [mpf((-1) ** at)])
            right.append(weight * value)
        solution = lu_solve(matrix(rows), matrix(right))
        coefficients, level = [solution[i] for i in range(degree + 1)], abs(solution[degree + 1])
        errors = [weight * (polynomial(coefficients, x) - value) for x, weight, value in values]
        worst = max(range(len(points)), key=lambda index: abs(errors[index]))
        if abs(errors[worst]) <= level * (1 + mpf(2) ** -20):
            break
        exchange(chosen, worst, errors)
    return coefficients


def exchange(chosen, worst, errors):
    """Takes the point of the largest error into the reference, keeping the signs in turn."""
    positive = errors[worst] > 0
    after = next((at for at, index in enumerate(chosen) if index > worst), len(chosen))
    for at in (after - 1, after):
        if 0 <= at < len(chosen) and (errors[chosen[at]] > 0) == positive:
            chosen[at] = worst
            return
    if after == 0:
        chosen.pop()
        chosen.insert(0, worst)
    else:
        chosen.pop(0)
        chosen.append(worst)


def polynomial(coefficients, x):
    return sum(c * x**i for i, c in enumerate(coefficients))


def derive(name, g, w, degree, a, b, precision="f32"):
    to, points = (to_f32, grid(a, b, 400)) if precision == "f32" else (to_f64, grid(a, b, 600))
    exact = fit(g, w, degree, points)
    rounded = [to(c) for c in exact]
    error = lambda coefficients: max(abs(w(x) * (polynomial(coefficients, x) - g(x))) for x in points)
    before, after = (float(log(error(coefficients), 2)) for coefficients in (exact, rounded))
    print(f"/// Error 2^{after:.1f} (2^{before:.1f} before rounding).")
    listed = ", ".join(repr(float(c)) for c in rounded)
    print(f"pub(super) const {name}: &[f64] = &[{listed}];")


def limit(value, at_zero):
    """A function with a removable singularity at zero."""
    return lambda x: mpf(at_zero) if abs(x) < mpf(2) ** -60 else value(x)


LN2 = log(mpf(2))
QUARTER = pi / 4
MARGIN = 1 + mpf(2) ** -10


def exponential(name, degree, precision):
    # expm1(r) = r + r^2 q(r)
    g = limit(lambda r: (expm1(r) - r) / r**2, 0.5)
    derive(name, g, limit(lambda r: r**2 / expm1(r), 0), degree, -LN2 / 2 * MARGIN, LN2 / 2 * MARGIN, precision)


def logarithm(name, degree, precision):
    # log(1 + f) = f + f^2 q(f), 1 + f from sqrt(1/2) to sqrt(2)
    g = limit(lambda f: (log1p(f) - f) / f**2, -0.5)
    derive(name, g, limit(lambda f: f**2 / log1p(f), 0), degree, sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1, precision)


def sine(name, degree, precision):
    # sin r = r + r^3 q(r^2)
    g = limit(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf(-1) / 6)
    derive(name, g, limit(lambda z: z * sqrt(z) / sin(sqrt(z)), 0), degree, mpf(0), (QUARTER * MARGIN) ** 2, precision)


def cosine(name, degree, precision):
    # cos r = 1 + r^2 (-1/2 + r^2 q(r^2))
    g = limit(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24)
    derive(name, g, limit(lambda z: z**2 / cos(sqrt(z)), 0), degree, mpf(0), (QUARTER * MARGIN) ** 2, precision)


def tangent(name, degree, precision):
    # tan r = r + r^3 q(r^2)
    g = limit(lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 3)
    derive(name, g, limit(lambda z: z * sqrt(z) / tan(sqrt(z)), 0), degree, mpf(0), (QUARTER * MARGIN) ** 2, precision)


def hyperbolic_tangent(name, degree, end, precision):
    # tanh r = r + r^3 q(r^2)
    g = limit(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, mpf(-1) / 3)
    derive(name, g, limit(lambda z: z * sqrt(z) / tanh(sqrt(z)), 0), degree, mpf(0), end**2, precision)


def hyperbolic_sine(name, degree, end, precision):
    # sinh r = r + r^3 q(r^2)
    g = limit(lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6)
    derive(name, g, limit(lambda z: z * sqrt(z) / sinh(sqrt(z)), 0), degree, mpf(0), end**2, precision)


def logarithm_by_quotient(name, degree):
    # log(1 + f) = 2 s + s^3 q(s^2), s = f / (2 + f), 1 + f from sqrt(1/2) to sqrt(2)
    g = limit(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, mpf(2) / 3)
    end = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    derive(name, g, lambda z: z / 2, degree, mpf(0), end**2 * MARGIN, "f64")


def logarithm_beyond_cubic(name, degree):
    # log(1 + f) = 2 s + 2/3 s^3 + s^5 q(s^2), s = f / (2 + f), 1 + f from sqrt(1/2) to sqrt(2)
    g = limit(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - 2 * z / 3) / z**2, mpf(2) / 5)
    end = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    derive(name, g, lambda z: z**2 / 2, degree, mpf(0), end**2 * MARGIN, "f64")


def arctangent(name, degree, end, precision):
    # atan t = t + t^3 q(t^2)
    g = limit(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf(-1) / 3)
    derive(name, g, limit(lambda z: z * sqrt(z) / atan(sqrt(z)), 0), degree, mpf(0), end**2, precision)


def arcsine(name, degree, precision):
    # asin t = t + t^3 q(t^2), t up to 1/2
    g = limit(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6)
    derive(name, g, limit(lambda z: z * sqrt(z) / asin(sqrt(z)), 0), degree, mpf(0), mpf(0.25), precision)


def error_function(name, degree, end):
    # erf a = -expm1(-y), y = a (2 / sqrt(pi) + a q(a)), a from 0 to where erf rounds to 1
    lead = 2 / sqrt(pi)
    exponent = lambda a: -log1p(-erf(a))
    g = limit(lambda a: (exponent(a) / a - lead) / a, lead**2 / 2)
    weight = lambda a: a**2 * exp(-exponent(a)) / erf(a) if a > 0 else mpf(0)
    derive(name, g, weight, degree, mpf(0), end, "f32")


def inverse_cube_root(name, degree):
    # (1 + f)^(-1/3), 1 + f from sqrt(1/2) to sqrt(2)
    low, high = sqrt(mpf(0.5)) - 1, sqrt(mpf(2)) - 1
    derive(name, lambda f: cbrt(1 / (1 + f)), lambda f: cbrt(1 + f), degree, low, high, "f64")


def error_function_near_zero(name, degree):
    # erf x = x + x q(x^2), x up to 1
    g = limit(lambda z: erf(sqrt(z)) / sqrt(z) - 1, 2 / sqrt(pi) - 1)
    derive(name, g, limit(lambda z: sqrt(z) / erf(sqrt(z)), sqrt(pi) / 2), degree, mpf(0), MARGIN, "f64")


def scaled_complement(name, degree, middle, end):
    # erfc a = e^(-a^2) (1 + q(t)) / (1 + 2 a), t = (a - middle) / (a + middle), a from 0 to where erfc rounds to 0
    argument = lambda t: middle * (1 + t) / (1 - t)
    g = lambda t: (1 + 2 * argument(t)) * exp(argument(t) ** 2) * erfc(argument(t))
    derive(name, lambda t: g(t) - 1, lambda t: 1 / g(t), degree, mpf(-1), (end - middle) / (end + middle), "f64")


def logarithm_of_gamma(name, degree):
    # log gamma(2 + t) = t q(t), t from -1/2 to 1/2
    g = limit(lambda t: loggamma(2 + t) / t, 1 - euler)
    derive(name, g, lambda t: 1 / g(t), degree, mpf(-0.5) * MARGIN, mpf(0.5) * MARGIN, "f64")


def inverse_error_function(name, degree, argument, low, high, precision):
    # erfinv x / x - 1 by the distance of w = -log(1 - x^2), or of its square root, from the middle of a range
    low, high = mpf(low), mpf(high)
    middle = (low + high) / 2
    known = {}

    def ratio(t):
        if t not in known:
            x = sqrt(-expm1(-argument(t + middle)))
            known[t] = erfinv(x) / x if x > mpf(2) ** -90 else sqrt(pi) / 2
        return known[t]

    derive(name, lambda t: ratio(t) - 1, lambda t: 1 / ratio(t), degree, low - middle, high - middle, precision)


def parts(name, value, count, precision):
    """The value as a sum of machine numbers, each but the last rounded towards zero so that all have one sign."""
    bits = 24 if precision == "f32" else 53
    rest, out = value, []
    for position in range(count):
        exponent = int(mp.floor(log(rest, 2)))
        unit = mpf(2) ** (exponent + 1 - bits)
        piece = mp.floor(rest / unit) * unit if position + 1 < count else (to_f32 if bits == 24 else to_f64)(rest)
        out.append(piece)
        rest -= piece
    print(f"pub(super) const {name}: [f64; {count}] = [{', '.join(repr(float(piece)) for piece in out)}];")


def main():
    print("//! Coefficients and constants, printed by `coefficients.py`; do not edit.\n")
    print("#![allow(clippy::excessive_precision, clippy::approx_constant, reason = \"printed so that they read back exactly\")]\n")
    for precision in ("f32", "f64"):
        suffix = precision.upper()
        parts(f"LN2_{suffix}", LN2, 2, precision)
        parts(f"LOG2_E_{suffix}", 1 / LN2, 2, precision)
        parts(f"HALF_PI_{suffix}", pi / 2, 3, precision)
    parts("LOG10_E_F32", 1 / log(mpf(10)), 2, "f32")
    parts("LOG10_2_F32", log(mpf(2)) / log(mpf(10)), 2, "f32")
    parts("TWO_BY_SQRT_PI_F32", 2 / sqrt(pi), 2, "f32")
    exponential("EXP_F32", 4, "f32")
    exponential("EXPM1_F32", 5, "f32")
    logarithm("LOG_F32", 8, "f32")
    sine("SIN_F32", 2, "f32")
    cosine("COS_F32", 2, "f32")
    tangent("TAN_F32", 6, "f32")
    arctangent("ATAN_F32", 8, mpf(1), "f32")
    arcsine("ASIN_F32", 5, "f32")
    hyperbolic_tangent("TANH_F32", 4, mpf(0.55), "f32")
    hyperbolic_sine("SINH_F32", 3, mpf(1), "f32")
    error_function("ERF_F32", 7, mpf(3.92))
    exponential("EXP_F64", 10, "f64")
    sine("SIN_F64", 6, "f64")
    cosine("COS_F64", 6, "f64")
    parts("LOG10_E_F64", 1 / log(mpf(10)), 2, "f64")
    parts("LOG10_2_F64", log(mpf(2)) / log(mpf(10)), 2, "f64")
    logarithm_by_quotient("LOG_F64", 6)
    tangent("TAN_F64", 14, "f64")
    arctangent("ATAN_F64", 10, tan(pi / 8) * MARGIN, "f64")
    arcsine("ASIN_F64", 12, "f64")
    inverse_cube_root("CBRT_F64", 6)
    error_function_near_zero("ERF_F64", 12)
    scaled_complement("ERFC_F64", 23, mpf(4), mpf(28))
    scaled_complement("ERFC_F32", 10, mpf(3), mpf(10.1))
    logarithm_beyond_cubic("POW_F64", 7)
    logarithm_of_gamma("LGAMMA_F64", 17)
    itself, squared = (lambda w: w), (lambda root: root**2)
    inverse_error_function("ERFINV_NEAR_F32", 10, itself, 0, 5, "f32")
    inverse_error_function("ERFINV_FAR_F32", 10, squared, 2.2, 4.2, "f32")
    inverse_error_function("ERFINV_NEAR_F64", 22, itself, 0, 6.25, "f64")
    inverse_error_function("ERFINV_FAR_F64", 18, squared, 2.5, 4, "f64")
    inverse_error_function("ERFINV_END_F64", 17, squared, 4, 6.125, "f64")


main()
