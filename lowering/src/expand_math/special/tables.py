"""Derives the Chebyshev coefficients of `modified.rs` (needs mpmath). `python3 tables.py | rustfmt > tables.rs`.

Each table is the expansion of a smooth function g(t) on [-1, 1], highest order first. The variable t is affine in x, x^2
or 1/x; g is the Bessel function with its growth (and, for K near 0, its logarithm) taken out.
"""

from mpmath import besseli, besselk, cos, exp, fsum, log, mp, mpf, pi, sqrt

mp.dps = 50


def table(name, what, g, terms, nodes=128):
    angles = [pi * (k + mpf(1) / 2) / nodes for k in range(nodes)]
    values = [g(cos(a)) for a in angles]
    coefficients = [2 / mpf(nodes) * fsum(v * cos(j * a) for v, a in zip(values, angles)) for j in range(terms)]
    print(f"/// {what}")
    print(f"pub(super) const {name}: &[f64] = &[{', '.join(repr(float(c)) for c in reversed(coefficients))}];")


def near(f):
    """x from 0 to 8."""
    return lambda t: f(4 * (t + 1))


def far(f, edge):
    """x from `edge` on."""
    return lambda t: f(2 * edge / (t + 1))


def small(f):
    """x from 0 to 2, by its square."""
    return lambda t: f(sqrt(2 * t + 2))


print("//! Chebyshev coefficients, printed by `tables.py`; do not edit.\n")
print('#![allow(clippy::excessive_precision, clippy::approx_constant, reason = "printed so that they read back exactly")]\n')
table("I0_NEAR", "`exp(-x) I0(x)` up to 8, by x / 2 - 2.", near(lambda x: exp(-x) * besseli(0, x)), 30)
table("I0_FAR", "`sqrt(x) exp(-x) I0(x)` from 8 on, by 32 / x - 2.", far(lambda x: exp(-x) * besseli(0, x) * sqrt(x), 8), 25)
table("I1_NEAR", "`exp(-x) I1(x) / x` up to 8, by x / 2 - 2.", near(lambda x: exp(-x) * besseli(1, x) / x), 29)
table("I1_FAR", "`sqrt(x) exp(-x) I1(x)` from 8 on, by 32 / x - 2.", far(lambda x: exp(-x) * besseli(1, x) * sqrt(x), 8), 25)
table("K0_NEAR", "`K0(x) + log(x / 2) I0(x)` up to 2, by x^2 - 2.", small(lambda x: besselk(0, x) + log(x / 2) * besseli(0, x)), 10)
table("K0_FAR", "`sqrt(x) exp(x) K0(x)` from 2 on, by 8 / x - 2.", far(lambda x: exp(x) * besselk(0, x) * sqrt(x), 2), 25)
table("K1_NEAR", "`x (K1(x) - log(x / 2) I1(x))` up to 2, by x^2 - 2.", small(lambda x: x * (besselk(1, x) - log(x / 2) * besseli(1, x))), 11)
table("K1_FAR", "`sqrt(x) exp(x) K1(x)` from 2 on, by 8 / x - 2.", far(lambda x: exp(x) * besselk(1, x) * sqrt(x), 2), 25)
