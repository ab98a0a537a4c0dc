//! Special functions against integrals, the C library and identities.

use super::super::tests::{Compiled, unit};
use super::FUNCTIONS;
use crate::codegen::tests::machine::{erf, erfc, j0, j1, lgamma_r, y0, y1};
use crate::target;
use std::f64::consts::PI;
use strata_core::ir::ElementType;

/// `exp(-x) I(x)` of an order, by the integral over a circle.
fn i_scaled(order: f64, x: f64) -> f64 {
    let steps = 512;
    let angles = (0..steps).map(|step| PI * (f64::from(step) + 0.5) / f64::from(steps));
    angles.map(|t| (x * t.cos() - x.abs()).exp() * (order * t).cos()).sum::<f64>() / f64::from(steps)
}

/// `exp(x) K(x)` of an order, by the integral over the hyperbola.
fn k_scaled(order: f64, x: f64) -> f64 {
    let step = 0.03;
    let term = |t: f64| (x - x * t.cosh()).exp() * (order * t).cosh();
    step * (term(0.0) / 2.0 + (1..600).map(|i| term(f64::from(i) * step)).sum::<f64>())
}

/// The derivative of `lgamma` for positive numbers: far from the pole by differences of sixth order, from there by the recurrence.
fn digamma(x: f64) -> f64 {
    let far = x + 8.0;
    let h = 1e-2 * far;
    let f = |k: f64| lgamma_r(far + k * h, &mut 0) - lgamma_r(far - k * h, &mut 0);
    let derivative = (f(1.0) * 45.0 - f(2.0) * 9.0 + f(3.0)) / (60.0 * h);
    (0..8).fold(derivative, |sum, k| sum - 1.0 / (x + f64::from(k)))
}

/// The inverse of the C library's error function, by bisection on its complement.
fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    let (mut low, mut high) = (0.0, 7.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        let below = if a < 0.5 { erf(middle) < a } else { erfc(middle) > 1.0 - a };
        if below { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).copysign(x)
}

/// Magnitude of the waves.
fn waves(x: f64) -> f64 {
    (2.0 / (PI * x.abs().max(1.0))).sqrt()
}

fn nothing(_: f64) -> f64 {
    0.0
}

/// Name, truth, from, to, what the error counts beside (as the truth, where that is larger), largest error in ulp.
type Row = (&'static str, fn(f64) -> f64, f32, f32, fn(f64) -> f64, f64);

const ROWS: &[Row] = &[
    ("bessel_i0", |x| i_scaled(0.0, x) * x.abs().exp(), -40.0, 40.0, nothing, 8.0),
    ("bessel_i0e", |x| i_scaled(0.0, x), -40.0, 40.0, nothing, 8.0),
    ("bessel_i1", |x| i_scaled(1.0, x) * x.abs().exp(), -40.0, 40.0, nothing, 16.0),
    ("bessel_i1_full", |x| i_scaled(1.0, x) * x.abs().exp(), -40.0, 40.0, nothing, 16.0),
    ("bessel_i1e", |x| i_scaled(1.0, x), -40.0, 40.0, nothing, 16.0),
    ("bessel_j0", |x| j0(x), -60.0, 60.0, waves, 40.0),
    ("bessel_j1", |x| j1(x), -60.0, 60.0, waves, 40.0),
    ("bessel_k0", |x| k_scaled(0.0, x) * (-x).exp(), 0.05, 60.0, nothing, 8.0),
    ("bessel_k0e", |x| k_scaled(0.0, x), 0.05, 60.0, nothing, 16.0),
    ("bessel_k1", |x| k_scaled(1.0, x) * (-x).exp(), 0.05, 60.0, nothing, 8.0),
    ("bessel_k1e", |x| k_scaled(1.0, x), 0.05, 60.0, nothing, 8.0),
    ("bessel_y0", |x| y0(x), 0.05, 60.0, waves, 40.0),
    ("bessel_y1", |x| y1(x), 0.05, 60.0, waves, 40.0),
    ("erfinv", erfinv, -1.0, 1.0, nothing, 2.5),
];

#[test]
fn f32_is_near_the_truth() {
    let mut wrong = String::new();
    for &(name, truth, from, to, beside, most) in ROWS {
        let count = 4096;
        let x: Vec<f32> = (0..count).map(|i| from + (to - from) * ((i as f32 + 0.37) / count as f32)).collect();
        for (lanes, target) in [(16, target::host()), (8, target::named("x86-64-v3").unwrap()), (1, target::host())] {
            let y = Compiled::new(name, "f32", lanes, &target).run(&x);
            let error = |(&x, &y): (&f32, &f32)| {
                let (x, y) = (f64::from(x), f64::from(y));
                let want = truth(x);
                ((y - want).abs() / unit(want.abs().max(beside(x)) as f32), x)
            };
            let worst = x.iter().zip(&y).map(error).fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
            println!("{lanes:2} {name:14} {:6.2} ulp at {}", worst.0, worst.1);
            if worst.0.is_nan() || worst.0 > most {
                wrong += &format!("{name} of {} is off by {} ulp\n", worst.1, worst.0);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Values of functions of one argument, f64.
fn values(name: &str, x: &[f64]) -> Vec<f64> {
    let mut padded = x.to_vec();
    padded.resize(x.len().next_multiple_of(8), 0.5);
    let mut y = Compiled::new(name, "f64", 8, &target::host()).run(&padded);
    y.truncate(x.len());
    y
}

fn close(name: &str, got: f64, want: f64, within: f64) {
    assert!((got - want).abs() <= within * want.abs().max(1.0) || got == want, "{name}: {got:e} instead of {want:e}");
}

#[test]
fn f64_of_one_argument() {
    let x: Vec<f64> = (1..400).map(|i| f64::from(i) * 0.0625).collect();
    type Check = (&'static str, fn(f64) -> f64, f64);
    let checks: [Check; 8] = [
        ("bessel_i0e", |x| i_scaled(0.0, x), 1e-14),
        ("bessel_i1e", |x| i_scaled(1.0, x), 1e-14),
        ("bessel_k0e", |x| k_scaled(0.0, x), 1e-13),
        ("bessel_k1e", |x| k_scaled(1.0, x), 1e-13),
        ("bessel_j0", |x| j0(x), 2e-6),
        ("bessel_y1", |x| y1(x), 2e-6),
        ("digamma", digamma, 1e-9),
        ("airy_ai", |x| k_third(x), 1e-12),
    ];
    for (name, truth, within) in checks {
        for (&x, y) in x.iter().zip(values(name, &x)) {
            close(name, y, truth(x), within);
        }
    }
    let unit: Vec<f64> = (-999..1000).map(|i| f64::from(i) / 1000.0).collect();
    for (&x, y) in unit.iter().zip(values("erfinv", &unit)) {
        close("erfinv", y, erfinv(x), 1e-15);
    }
}

/// The Airy function to the right of zero, by the Bessel function of order 1/3.
fn k_third(x: f64) -> f64 {
    let zeta = 2.0 / 3.0 * x * x.sqrt();
    (x / 3.0).sqrt() / PI * k_scaled(1.0 / 3.0, zeta) * (-zeta).exp()
}

#[test]
fn ends() {
    let infinity = f64::INFINITY;
    let ends = [0.0, -0.0, infinity, -infinity, f64::NAN, 1e300, -3.0, 1.0];
    let same = |name: &str, want: [f64; 8]| {
        let got = values(name, &ends);
        let is = |(a, b): (&f64, &f64)| a == b && a.is_sign_positive() == b.is_sign_positive() || a.is_nan() && b.is_nan();
        assert!(got.iter().zip(&want).all(is), "{name}: {got:?} instead of {want:?}");
        let single: Vec<f32> = ends.iter().map(|&x| x as f32).collect();
        let got = Compiled::new(name, "f32", 8, &target::host()).run(&single);
        let near = |(&a, &b): (&f32, &f64)| is((&a.into(), &b)) || (f64::from(a) - b).abs() <= 1e-6 * b.abs();
        assert!(got.iter().zip(&want).take(5).all(near), "{name} in f32: {got:?} instead of {want:?}");
    };
    let none = f64::NAN;
    let at = |name: &str, x: f64| values(name, &[x])[0];
    same("bessel_k0", [infinity, infinity, 0.0, none, none, 0.0, none, at("bessel_k0", 1.0)]);
    same("bessel_y0", [-infinity, -infinity, none, none, none, at("bessel_y0", 1e300), none, at("bessel_y0", 1.0)]);
    same(
        "bessel_i0e",
        [
            at("bessel_i0e", 0.0),
            at("bessel_i0e", 0.0),
            0.0,
            0.0,
            none,
            at("bessel_i0e", 1e300),
            at("bessel_i0e", 3.0),
            at("bessel_i0e", 1.0),
        ],
    );
    same("digamma", [-infinity, infinity, infinity, none, none, 1e300f64.ln(), none, at("digamma", 1.0)]);
    same("erfinv", [0.0, -0.0, none, none, none, none, none, infinity]);
    assert!(at("bessel_j0", 1e300).abs() < 1e-149 && at("airy_ai", 200.0) == 0.0);
}

#[test]
fn digamma_and_trigamma_have_their_identities() {
    let euler = 0.577_215_664_901_532_9;
    let [one, half, below] = <[f64; 3]>::try_from(values("digamma", &[1.0, 0.5, -0.5])).unwrap();
    close("digamma", one, -euler, 1e-15);
    close("digamma", half, -euler - 2.0 * 2f64.ln(), 1e-14);
    close("digamma", below, half + 2.0, 1e-14);
    // PyTorch's series of trigamma has three terms.
    close("trigamma", values("trigamma", &[0.5])[0], PI * PI / 2.0, 1e-6);
    close("trigamma", values("trigamma", &[-0.5])[0], PI * PI / 2.0 + 4.0, 1e-6);
}

/// The polynomial of a name at all pairs.
fn polynomials(name: &str, lanes: usize, x: &[f64], n: &[f64]) -> Vec<f64> {
    Compiled::new(name, "f64", lanes, &target::host()).run_pairs(x, n)
}

#[test]
fn polynomials_of_small_degrees() {
    let (mut x, mut n) = (Vec::new(), Vec::new());
    for degree in [-1.0, 0.0, 0.9, 1.0, 2.0, 3.5] {
        for i in -8..8 {
            x.push(f64::from(i) * 0.375 + 0.1);
            n.push(degree);
        }
    }
    // By their coefficients, lowest first.
    let rows: [(&str, [&[f64]; 4]); 8] = [
        ("chebyshev_t", [&[1.0], &[0.0, 1.0], &[-1.0, 0.0, 2.0], &[0.0, -3.0, 0.0, 4.0]]),
        ("chebyshev_u", [&[1.0], &[0.0, 2.0], &[-1.0, 0.0, 4.0], &[0.0, -4.0, 0.0, 8.0]]),
        ("chebyshev_v", [&[1.0], &[-1.0, 2.0], &[-1.0, -2.0, 4.0], &[1.0, -4.0, -4.0, 8.0]]),
        ("chebyshev_w", [&[1.0], &[1.0, 2.0], &[-1.0, 2.0, 4.0], &[-1.0, -4.0, 4.0, 8.0]]),
        ("hermite_h", [&[1.0], &[0.0, 2.0], &[-2.0, 0.0, 4.0], &[0.0, -12.0, 0.0, 8.0]]),
        ("hermite_he", [&[1.0], &[0.0, 1.0], &[-1.0, 0.0, 1.0], &[0.0, -3.0, 0.0, 1.0]]),
        ("laguerre_l", [&[1.0], &[1.0, -1.0], &[1.0, -2.0, 0.5], &[1.0, -3.0, 1.5, -1.0 / 6.0]]),
        ("legendre_p", [&[1.0], &[0.0, 1.0], &[-0.5, 0.0, 1.5], &[0.0, -1.5, 0.0, 2.5]]),
    ];
    for (name, coefficients) in rows {
        for lanes in [1, 8] {
            for ((&x, &n), y) in x.iter().zip(&n).zip(polynomials(name, lanes, &x, &n)) {
                let sum = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
                let want = if n < 0.0 { 0.0 } else { sum(coefficients[n as usize]) };
                close(&format!("{name} of {x} and {n}"), y, want, 1e-13);
            }
        }
    }
}

/// Lanes of one vector that take different ways: trigonometry, recurrences of different lengths, ends, no degree.
#[test]
fn lanes_of_many_degrees() {
    let x = [0.3, -0.7, 1.0, -1.0, 1.1, 0.3, f64::NAN, -1.2];
    let n = [12.0, 3.0, 9.0, 9.0, 20.0, f64::NAN, 5.0, 1e9];
    let single = |name: &str, i: usize| polynomials(name, 1, &x[i..=i], &n[i..=i])[0];
    for &(name, _) in FUNCTIONS.iter().filter(|function| function.1 == 2 && super::has(function.0, Some(ElementType::F64))) {
        let together = polynomials(name, 8, &x, &n);
        let alone: Vec<f64> = (0..8).map(|i| single(name, i)).collect();
        let same = together.iter().zip(&alone).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
        assert!(same, "{name}: {together:?} and {alone:?}");
    }
    let t = polynomials("chebyshev_t", 8, &x, &n);
    close("chebyshev_t", t[0], (12.0 * 0.3f64.acos()).cos(), 1e-14);
    assert_eq!((t[2], t[3], t[5]), (1.0, -1.0, 0.0));
    assert_eq!(polynomials("chebyshev_u", 8, &x, &n)[3], -10.0);
    assert!(Compiled::new("hermite_h", "f32", 1, &target::host()).run_pairs(&[1.0f32], &[200.0])[0].is_nan());
}

/// `P(a, x)` by the integral of `t^(a - 1) e^-t`, which is smooth for large shapes, and by the recurrence below (NIST DLMF 8.8.5).
fn lower_gamma(a: f64, x: f64) -> f64 {
    if a < 8.0 {
        return lower_gamma(a + 1.0, x) + (a * x.ln() - x - lgamma_r(a + 1.0, &mut 0)).exp();
    }
    // Simpson's rule over where the integrand counts.
    let (low, high) = ((a - 12.0 * a.sqrt() - 12.0).max(0.0).min(x), x.min(a + 12.0 * a.sqrt() + 40.0));
    let steps = 4000;
    let density = |t: f64| if t == 0.0 { 0.0 } else { ((a - 1.0) * t.ln() - t - lgamma_r(a, &mut 0)).exp() };
    let h = (high - low) / f64::from(steps);
    let inner: f64 = (1..steps).map(|i| density(low + h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (h / 3.0 * (density(low) + inner + density(high))).min(1.0)
}

/// Lanes of one vector in the series, the fraction, the corner of small arguments, outside and beyond a million.
#[test]
fn incomplete_gamma_functions_of_f32() {
    let shapes = [0.02, 0.5, 0.8, 1.0, 2.5, 9.0, 29.0, 31.0, 200.0];
    let points = [0.01, 0.3, 1.0, 1.2, 2.0, 8.0, 30.0, 190.0, 220.0];
    let pairs: Vec<_> = shapes.iter().flat_map(|a| points.iter().map(move |x| (*a as f32, *x as f32))).collect();
    let (a, x): (Vec<f32>, Vec<f32>) = pairs.iter().copied().chain([(1.0, 1.0); 15]).take(96).unzip();
    let (a, x) = (&a[..80], &x[..80]);
    for (lanes, target) in [(16, target::host()), (8, target::named("x86-64-v3").unwrap()), (1, target::host())] {
        let [lower, upper] = ["igamma", "igammac"].map(|name| Compiled::new(name, "f32", lanes, &target).run_pairs(a, x));
        for (at, (&a, &x)) in a.iter().zip(x).enumerate() {
            let want = lower_gamma(a.into(), x.into());
            close(&format!("P({a}, {x})"), lower[at].into(), want, 4e-7);
            close(&format!("Q({a}, {x})"), upper[at].into(), 1.0 - want, 4e-7);
        }
    }
    let at = |name, a: f32, x: f32| Compiled::new(name, "f32", 8, &target::host()).run_pairs(&[a; 8], &[x; 8])[3];
    let infinity = f32::INFINITY;
    let ends = [(0.0, 2.0), (2.0, 0.0), (infinity, 2.0), (2.0, infinity)].map(|(a, x)| (at("igamma", a, x), at("igammac", a, x)));
    assert_eq!(ends, [(1.0, 0.0), (0.0, 1.0), (0.0, 1.0), (1.0, 0.0)]);
    let none = [(-1.0, 2.0), (2.0, -1.0), (0.0, 0.0), (infinity, infinity), (f32::NAN, 1.0), (1.0, f32::NAN)];
    assert!(none.iter().all(|&(a, x)| at("igamma", a, x).is_nan() && at("igammac", a, x).is_nan()));
    close("P of a large shape", at("igamma", 2e6, 2e6).into(), 0.5 + 1.0 / (3.0 * (2.0 * PI * 2e6).sqrt()), 1e-7);
    close("Q of a small shape", f64::from(at("igammac", 1e-6, 0.5)) * 1e6, 0.559_773_6, 1e-5);
}

/// `Q(n, x)` for whole n and for halves from 1/2 on, by sums of positive terms (NIST DLMF 8.4.6, 8.4.10, 8.8.6).
fn upper_gamma(a: f64, x: f64) -> f64 {
    let whole = a == a.floor();
    let terms = (0..).map(|k| f64::from(k) + if whole { 0.0 } else { 0.5 }).take_while(|b| *b < a);
    let sum: f64 = terms.map(|b| (b * x.ln() - x - lgamma_r(b + 1.0, &mut 0)).exp()).sum();
    if whole { sum } else { sum + erfc(x.sqrt()) }
}

/// The same of f64: sums of positive terms for Q, and what is left for P where that is most of it; ends, and points beyond everything.
#[test]
fn incomplete_gamma_functions_of_f64() {
    let shapes = [0.5, 1.0, 1.5, 2.0, 7.0, 12.5, 29.0, 31.0, 33.5, 60.0];
    let points = [1e-3, 0.3, 1.0, 1.2, 2.0, 8.0, 30.0, 55.0];
    let (a, x): (Vec<f64>, Vec<f64>) = shapes.iter().flat_map(|a| points.iter().map(move |x| (*a, *x))).unzip();
    for (lanes, target) in [(8, target::host()), (4, target::named("x86-64-v3").unwrap()), (1, target::host())] {
        let [lower, upper] = ["igamma", "igammac"].map(|name| Compiled::new(name, "f64", lanes, &target).run_pairs(&a, &x));
        for (at, (&a, &x)) in a.iter().zip(&x).enumerate() {
            let want = upper_gamma(a, x);
            assert!((upper[at] - want).abs() <= 5e-14 * want, "Q({a}, {x}) is {:e}, {want:e}", upper[at]);
            assert!((lower[at] + upper[at] - 1.0).abs() <= 5e-15, "P({a}, {x}) is {:e}", lower[at]);
        }
    }
    let at = |name, a: f64, x: f64| Compiled::new(name, "f64", 8, &target::host()).run_pairs(&[a; 8], &[x; 8])[3];
    assert_eq!((at("igammac", 2.0, 1e200), at("igamma", 2.0, 1e200)), (0.0, 1.0));
    assert!((at("igammac", 1e-300, 1.0) / 2.193_839_343_955_202_7e-301 - 1.0).abs() < 1e-14, "a times the exponential integral");
    assert!((at("igamma", 5.0, 1e-5) / 8.333_263_889_186_5e-28 - 1.0).abs() < 1e-13);
    assert!(at("igammac", -1.0, 2.0).is_nan() && at("igamma", 1.0, f64::NAN).is_nan());
}

#[test]
fn zeta_of_f32() {
    let x = [2.0, 4.0, 3.0, 1.5, 1.0, 0.5, 2.0, 3.5f32];
    let q = [1.0, 1.0, 0.5, 10.0, 2.0, 1.0, 0.0, -0.5f32];
    let want =
        [PI * PI / 6.0, PI.powi(4) / 90.0, 7.0 * 1.202_056_903_159_594_2, 0.648_661_6, f64::INFINITY, f64::NAN, f64::INFINITY, f64::NAN];
    for (lanes, target) in [(8, target::host()), (8, target::named("x86-64-v3").unwrap()), (1, target::host())] {
        for (y, want) in Compiled::new("zeta", "f32", lanes, &target).run_pairs(&x, &q).into_iter().zip(want) {
            assert!(want.is_nan() && y.is_nan() || (f64::from(y) - want).abs() <= 2e-7 * want || f64::from(y) == want, "{y} for {want}");
        }
    }
    let below = Compiled::new("zeta", "f32", 8, &target::host()).run_pairs(&[2.0f32; 8], &[-0.5; 8])[0];
    close("zeta(2, -1/2)", below.into(), 4.0 + PI * PI / 2.0, 1e-6);
}

/// In f64 by known values, and by the sum's first term: `zeta(x, q) = q^-x + zeta(x, q + 1)`; what f32 rounds is near it, negative shifts included.
#[test]
fn zeta_of_f64() {
    let known = [(2.0, 1.0, PI * PI / 6.0), (4.0, 1.0, PI.powi(4) / 90.0), (3.0, 0.5, 7.0 * 1.202_056_903_159_594_2)];
    let of = |x: &[f64], q: &[f64]| Compiled::new("zeta", "f64", 8, &target::host()).run_pairs(x, q);
    for (x, q, want) in known {
        close("zeta", of(&[x; 8], &[q; 8])[5], want, 1e-15);
    }
    let at = |i: i32, step: f64, count: i32| f64::from(i % count + 1) * step;
    let whole = |i: i32| f64::from(2 + i % 7);
    let (x, q): (Vec<f64>, Vec<f64>) = (0..4096)
        .map(|i| if i % 2 == 0 { (1.0 + at(i, 0.03, 911), at(i, 0.02, 1201)) } else { (whole(i), -0.3 - at(i, 0.69, 13)) })
        .unzip();
    let next: Vec<f64> = q.iter().map(|q| q + 1.0).collect();
    let found = of(&x, &q);
    for (i, (y, later)) in found.iter().zip(of(&x, &next)).enumerate() {
        // Of shifts below zero the terms beside it are the largest, and cancel.
        let beside = if q[i] < 0.0 { (q[i] - q[i].round()).abs().powf(-x[i]) } else { 0.0 };
        let (first, size) = (q[i].powf(-x[i]), y.abs().max(later.abs()).max(beside));
        assert!((y - first - later).abs() <= 1e-14 * size, "zeta({}, {}): {y:e} after {later:e}", x[i], q[i]);
    }
    let single = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<_>>();
    let (short, shift) = (single(&x), single(&q));
    let wide = |x: &[f32]| x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
    let want = of(&wide(&short), &wide(&shift));
    for (lanes, target) in [(16, target::host()), (8, target::named("x86-64-v3").unwrap())] {
        for ((y, want), x) in Compiled::new("zeta", "f32", lanes, &target).run_pairs(&short, &shift).into_iter().zip(&want).zip(&short) {
            assert!((f64::from(y) - want).abs() <= 1.3e-7 * want.abs(), "zeta({x}, ..): {y:e} for {want:e}");
        }
    }
}

#[test]
fn functions_are_sorted() {
    assert!(FUNCTIONS.is_sorted_by_key(|function| function.0));
}
