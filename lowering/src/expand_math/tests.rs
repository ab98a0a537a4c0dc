//! Every expansion against the C library's f64 functions, over a dense sample of all f32 numbers.

use super::{own, special};
use crate::codegen::tests::machine::{Loaded, acosh, asinh, atanh, context, erf, erfc, lgamma_r, lowered};
use crate::codegen::{Options, Target, emit, link};
use crate::target;
use strata_core::ir::Cx;

/// Name, reference, largest error allowed in units of the last place.
type Pair = (&'static str, fn(f64, f64) -> f64);
type Row = (&'static str, fn(f64) -> f64, f64);

const ROWS: &[Row] = &[
    ("acos", f64::acos, 2.0),
    ("acosh", |x| acosh(x), 1.0),
    ("asin", f64::asin, 2.0),
    ("asinh", |x| asinh(x), 1.0),
    ("atan", f64::atan, 2.0),
    ("atanh", |x| atanh(x), 2.0),
    ("cbrt", f64::cbrt, 1.0),
    ("ceil", f64::ceil, 0.0),
    ("cos", f64::cos, 2.0),
    ("cosh", f64::cosh, 2.0),
    ("erf", |x| erf(x), 2.0),
    ("erfc", |x| erfc(x), 0.6),
    ("exp", f64::exp, 1.1),
    ("exp2", f64::exp2, 1.1),
    ("expm1", f64::exp_m1, 1.5),
    ("floor", f64::floor, 0.0),
    ("lgamma", |x| lgamma_r(x, &mut 0), 1.0),
    ("log", f64::ln, 1.5),
    ("log10", f64::log10, 1.5),
    ("log1p", f64::ln_1p, 2.0),
    ("log2", f64::log2, 1.5),
    ("roundeven", f64::round_ties_even, 0.0),
    ("sin", f64::sin, 2.0),
    ("sinh", f64::sinh, 2.0),
    ("tan", f64::tan, 2.0),
    ("tanh", f64::tanh, 2.0),
    ("trunc", f64::trunc, 0.0),
];

/// The functions of [`ROWS`] that no op of `math` computes.
const NO_OP: &[&str] = &["lgamma"];

/// Functions of two arguments, with their references.
const PAIRS: &[Pair] = &[("atan2", f64::atan2), ("powf", f64::powf), ("remf", |x, y| x % y)];

#[repr(C)]
struct Call {
    x: *const u8,
    y: *mut u8,
    n: i64,
    /// Second arguments.
    z: *const u8,
}

/// A function over arrays whose length is a multiple of `lanes`.
pub(super) struct Compiled {
    loaded: Loaded,
    lanes: usize,
}

impl Compiled {
    pub(super) fn new(name: &str, element: &str, lanes: usize, target: &Target) -> Self {
        let ty = if lanes == 1 { element.to_owned() } else { format!("vector<{lanes}x{element}>") };
        let rest = if PAIRS.iter().any(|pair| pair.0 == name) { ", %w" } else { "" };
        let op = match special::find(name) {
            Some((_, 1)) => format!("\"loop.libm\"(%v) {{name = \"{name}\"}} : ({ty}) -> {ty}"),
            Some(_) => format!("\"loop.libm\"(%v, %w) {{name = \"{name}\"}} : ({ty}, {ty}) -> {ty}"),
            None if name == "remf" => format!("arith.{name} %v{rest} : {ty}"),
            None if NO_OP.contains(&name) => format!("\"loop.libm\"(%v) {{name = \"{name}\"}} : ({ty}) -> {ty}"),
            None => format!("math.{name} %v{rest} : {ty}"),
        };
        let text = format!(
            "func.func @strata_entry(%call: !llvm.ptr) -> i32 {{
               %x = llvm.load %call : !llvm.ptr -> !llvm.ptr
               %yp = llvm.getelementptr %call[8] : (!llvm.ptr) -> !llvm.ptr, i8
               %y = llvm.load %yp : !llvm.ptr -> !llvm.ptr
               %np = llvm.getelementptr %call[16] : (!llvm.ptr) -> !llvm.ptr, i8
               %n64 = llvm.load %np : !llvm.ptr -> i64
               %zp = llvm.getelementptr %call[24] : (!llvm.ptr) -> !llvm.ptr, i8
               %z = llvm.load %zp : !llvm.ptr -> !llvm.ptr
               %n = arith.index_cast %n64 : i64 to index
               %zero = arith.constant 0 : index
               %step = arith.constant {lanes} : index
               scf.for %i = %zero to %n step %step {{
                 %at = arith.index_cast %i : index to i64
                 %px = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, {element}
                 %v = llvm.load %px {{alignment = 4 : i64}} : !llvm.ptr -> {ty}
                 %pz = llvm.getelementptr %z[%at] : (!llvm.ptr, i64) -> !llvm.ptr, {element}
                 %w = llvm.load %pz {{alignment = 4 : i64}} : !llvm.ptr -> {ty}
                 %r = {op}
                 %py = llvm.getelementptr %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, {element}
                 llvm.store %r, %py {{alignment = 4 : i64}} : {ty}, !llvm.ptr
               }}
               %ok = arith.constant 0 : i32
               return %ok : i32
             }}"
        );
        let context = context();
        let module = lowered(&context, &text, target);
        // Contraction is allowed as in real programs: it must not reach into the expansions.
        let emitted = emit(module.op(), target, &Options { contract: true, ..Options::default() }).unwrap();
        Self { loaded: Loaded::new(&link(&[&emitted.object]).unwrap()), lanes }
    }

    pub(super) fn run<T: Copy + Default>(&self, x: &[T]) -> Vec<T> {
        let mut y = vec![T::default(); x.len()];
        self.run_into(x, &mut y);
        y
    }

    pub(super) fn run_pairs<T: Copy + Default>(&self, x: &[T], z: &[T]) -> Vec<T> {
        let mut y = vec![T::default(); x.len()];
        self.call(x, z, &mut y);
        y
    }

    fn run_into<T>(&self, x: &[T], y: &mut [T]) {
        self.call(x, x, y);
    }

    fn call<T>(&self, x: &[T], z: &[T], y: &mut [T]) {
        assert!(x.len().is_multiple_of(self.lanes) && x.len() == y.len() && x.len() == z.len());
        let mut call = Call { x: x.as_ptr().cast(), y: y.as_mut_ptr().cast(), n: x.len() as i64, z: z.as_ptr().cast() };
        assert_eq!(self.loaded.call(&mut call), 0);
    }
}

/// Distance of a result from the truth in units of the last place of the f32 next to the truth.
fn ulps(got: f32, truth: f64) -> f64 {
    let nearest = truth as f32;
    if got.to_bits() == nearest.to_bits() || got.is_nan() && nearest.is_nan() {
        return if got.is_finite() { (f64::from(got) - truth).abs() / unit(nearest) } else { 0.0 };
    }
    if got.is_nan() || nearest.is_nan() || nearest == 0.0 && got == 0.0 {
        // A NaN for a number, or a zero of the wrong sign.
        return f64::INFINITY;
    }
    let large = 2f64.powi(128);
    let got = if got.is_infinite() { large.copysign(got.into()) } else { got.into() };
    (got - truth.clamp(-large, large)).abs() / unit(nearest)
}

pub(super) fn unit(near: f32) -> f64 {
    let exponent = i32::try_from(near.abs().to_bits() >> 23).unwrap_or(0).clamp(1, 254);
    2f64.powi(exponent - 150)
}

/// A sample of all bit patterns, infinities, NaNs and subnormals among them.
fn sample() -> Vec<f32> {
    let stride = std::env::var("STRATA_MATH_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(4093);
    let mut x: Vec<f32> = (0..=u32::MAX).step_by(stride).map(f32::from_bits).collect();
    x.extend([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::MAX, f32::MIN]);
    x.extend([0.5, -0.5, 1e-45, -1e-45, 88.722_84, 88.72, -103.97, -104.0, 127.999, 128.0, -149.0, -150.0, 0.707_106_77]);
    x.resize(x.len().next_multiple_of(64), 0.25);
    x
}

fn worst(row: &Row, lanes: usize, target: &Target, x: &[f32]) -> (f64, f32, f32) {
    let (name, truth, _) = *row;
    let y = Compiled::new(name, "f32", lanes, target).run(x);
    let errors = x.iter().zip(&y).map(|(&x, &y)| (ulps(y, truth(f64::from(x))), x, y));
    errors.fold((0.0, 0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

fn check(rows: &[Row], lanes: usize, target: &Target) {
    let x = sample();
    let mut wrong = String::new();
    for row in rows {
        let (error, at, got) = worst(row, lanes, target, &x);
        println!("{lanes:2} {:6} {error:5.2} ulp at {at:e}", row.0);
        if error > row.2 {
            wrong += &format!("{} of {at:e} ({:08x}) is off by {error} ulp: {got:e}\n", row.0, at.to_bits());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_expansion_is_tested() {
    let context = context();
    let ty = Cx::from(&context).f32();
    assert!(ROWS.iter().all(|row| own::has(row.0, ty)) && PAIRS.iter().all(|pair| own::has(pair.0, ty)));
    assert_eq!(ROWS.len(), own::BOTH.len() + own::DOUBLE.len());
}

#[test]
fn f32_on_the_host() {
    check(ROWS, 16, &target::host());
}

#[test]
fn f32_on_avx2() {
    check(ROWS, 8, &target::named("x86-64-v3").unwrap());
}

#[test]
fn scalars_and_odd_widths_equal_registers() {
    let x: Vec<f32> = sample().into_iter().step_by(37).take(21_504).collect();
    let target = target::host();
    for row in ROWS {
        let [full, scalar, odd, wide] = [16, 1, 7, 64].map(|lanes| Compiled::new(row.0, "f32", lanes, &target).run(&x));
        for (i, x) in x.iter().enumerate() {
            let bits = [&full, &scalar, &odd, &wide].map(|y| y[i].to_bits());
            assert!(bits == [bits[0]; 4] || full[i].is_nan(), "{} of {x:e}: {bits:x?}", row.0);
        }
    }
}

#[test]
fn f64_agrees_with_libm() {
    let x: Vec<f64> = (0..1 << 18).map(|i| f64::from_bits((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let small: Vec<f64> = (0..1 << 16).map(|i| f64::from(i - (1 << 15)) / 97.0).collect();
    let unit: Vec<f64> = (0..1 << 16).map(|i| f64::from(i - (1 << 15)) / 32_768.5).collect();
    let mut wrong = Vec::new();
    for (name, truth, _) in ROWS.iter().filter(|row| !NO_OP.contains(&row.0)) {
        let compiled = Compiled::new(name, "f64", 8, &target::host());
        let mut most = 0;
        for x in [&x, &small, &unit] {
            for (&x, y) in x.iter().zip(compiled.run(x)) {
                let want = truth(x);
                if !is_close(y, want, 3) {
                    wrong.push(format!("{name} of {x:e}: {y:e} instead of {want:e}"));
                } else if !y.is_nan() {
                    most = most.max(y.to_bits().abs_diff(want.to_bits()));
                }
            }
        }
        println!("{name:6} {most} numbers away at most");
    }
    assert!(wrong.is_empty(), "{} wrong, {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
}

/// Between the negative poles zeros come close to each other, and libm has all digits of the argument's distance from them: absolute errors count there.
#[test]
fn f64_lgamma_agrees_with_libm() {
    let positive = (0..1 << 17).map(|i| f64::from(i + 1) / 8192.0);
    let all = (0..1 << 18).map(|i| f64::from_bits((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let edges = [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, -3.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -5e-324, 1e308, f64::MAX];
    let x: Vec<f64> = positive.clone().chain(positive.map(|x| -x)).chain(all).chain(edges).chain([1.0; 2]).collect();
    let y = Compiled::new("lgamma", "f64", 8, &target::host()).run(&x);
    let mut most = 0;
    for (&x, &y) in x.iter().zip(&y) {
        let want = lgamma_r(x, &mut 0);
        let is_near = x < -0.5 && (y - want).abs() <= 4.0 * f64::EPSILON * want.abs().max(1.0).max(x.abs());
        assert!(is_near || is_close(y, want, 6), "lgamma of {x:e}: {y:e} instead of {want:e}");
        if x > -0.5 && !y.is_nan() {
            most = most.max(y.to_bits().abs_diff(want.to_bits()));
        }
    }
    println!("{most} numbers away at most");
}

/// Results at most so many numbers away from libm's; no zero of the wrong sign.
fn is_close(y: f64, want: f64, steps: u64) -> bool {
    y.to_bits().abs_diff(want.to_bits()) <= steps || y.is_nan() && want.is_nan()
}

/// Pairs of numbers: each edge with each other one, and random ones, near to 1 and of all magnitudes.
fn pairs() -> (Vec<f64>, Vec<f64>) {
    let edges = [0.0, 0.5, 1.0, 2.0, 3.0, 1e-310, 1e308, 1e19, 4_503_599_627_370_497.0, 0.999_999_9, f64::INFINITY, f64::NAN];
    let edges: Vec<f64> = edges.into_iter().flat_map(|edge| [edge, -edge]).collect();
    let (mut x, mut z): (Vec<f64>, Vec<f64>) = edges.iter().flat_map(|&x| edges.iter().map(move |&z| (x, z))).unzip();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    };
    while x.len() < 1 << 18 {
        let mut uniform = || (next() >> 11) as f64 / (1u64 << 53) as f64;
        let (a, b, c) = (uniform() * 4.0, uniform() * 40.0 - 20.0, uniform() * 1000.0 - 500.0);
        x.extend([a, a, 1.0 + (a - 2.0) * 1e-3, -a]);
        z.extend([b, c, c * 1000.0, b.round()]);
        x.push(f64::from_bits(next()));
        z.push(f64::from_bits(next()));
    }
    x.truncate(1 << 18);
    z.truncate(1 << 18);
    (x, z)
}

#[test]
fn f64_pairs_agree_with_libm() {
    let (x, z) = pairs();
    let mut wrong = Vec::new();
    for (name, truth) in PAIRS {
        let y = Compiled::new(name, "f64", 8, &target::host()).run_pairs(&x, &z);
        for ((&x, &z), y) in x.iter().zip(&z).zip(y) {
            let want = truth(x, z);
            if !is_close(y, want, 2) {
                wrong.push(format!("{name} of {x:e} and {z:e}: {y:e} instead of {want:e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong, {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
}

#[test]
fn exact_pairs_are_exact() {
    let (x, z) = pairs();
    for (name, truth) in PAIRS.iter().filter(|pair| pair.0 == "remf") {
        let y = Compiled::new(name, "f64", 8, &target::host()).run_pairs(&x, &z);
        for ((&x, &z), y) in x.iter().zip(&z).zip(y) {
            assert!(is_close(y, truth(x, z), 0), "{name} of {x:e} and {z:e}: {y:e} instead of {:e}", truth(x, z));
        }
        let (x, z): (Vec<f32>, Vec<f32>) = x.iter().zip(&z).map(|(&x, &z)| (x as f32, z as f32)).unzip();
        for lanes in [1, 7, 8] {
            let count = x.len() / lanes * lanes;
            let y = Compiled::new(name, "f32", lanes, &target::host()).run_pairs(&x[..count], &z[..count]);
            for ((&x, &z), y) in x.iter().zip(&z).zip(y) {
                let want = truth(x.into(), z.into()) as f32;
                assert!(
                    y.to_bits() == want.to_bits() || y.is_nan() && want.is_nan(),
                    "{name} of {x:e} and {z:e}: {y:e} instead of {want:e}"
                );
            }
        }
    }
}

#[test]
fn f32_pairs_are_within_an_ulp() {
    let (x, z) = pairs();
    let (x, z): (Vec<f32>, Vec<f32>) = x.into_iter().zip(z).map(|(x, z)| (x as f32, z as f32)).unzip();
    for (name, truth) in PAIRS {
        for (lanes, target) in [(16, target::host()), (8, target::named("x86-64-v3").unwrap())] {
            let y = Compiled::new(name, "f32", lanes, &target).run_pairs(&x, &z);
            for ((&x, &z), y) in x.iter().zip(&z).zip(y) {
                let error = ulps(y, truth(x.into(), z.into()));
                // Powers are rounded once, from a value whose own error is thousandths of a unit.
                let most = if *name == "powf" { 0.51 } else { 1.0 };
                assert!(error <= most, "{name} of {x:e} and {z:e} is off by {error} ulp: {y:e}");
            }
        }
    }
}

/// Nanoseconds per element, one thread; run with `--nocapture`.
#[test]
fn speed() {
    let x: Vec<f32> = (0..1 << 16).map(|i| (i as f32 - 32768.0) / 4096.0).collect();
    for row in ROWS {
        let x: Vec<f32> = if row.0.starts_with("log") { x.iter().map(|x| x.abs() + 0.01).collect() } else { x.clone() };
        let own = Compiled::new(row.0, "f32", 16, &target::host());
        let mut y = x.clone();
        let times = (0..20).map(|_| {
            let start = std::time::Instant::now();
            own.run_into(&x, &mut y);
            start.elapsed()
        });
        println!("{:6} {:.3} ns", row.0, times.min().unwrap_or_default().as_secs_f64() * 1e9 / x.len() as f64);
    }
}
