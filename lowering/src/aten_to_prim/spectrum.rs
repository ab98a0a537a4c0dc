//! Eigenvalues and singular values, and what is computed from them: pseudo-inverses, ranks, condition numbers, norms.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::args::Args;
use super::library::times_adjoint;
use super::matmul::matmul;
use super::norm::matrix_norm_of;
use super::reduce::extreme;
use super::rule::Precision::Exact;
use super::rule::{Rule, many, one};

pub(super) const RULES: &[Rule] = &[
    many(_LINALG_EIGH, Exact, |a| {
        let [values, vectors] = eigh(a, "A");
        vec![values, if a.bool("compute_v") { vectors } else { a.prim.nothing(vectors.dtype()) }]
    }),
    one(_LINALG_EIGVALS, Exact, |a| eig(a)[0]),
    many(_LINALG_SVD, Exact, |a| {
        let x = a.tensor("A");
        let Svd { u, s, vh } = Svd::of(x, a.bool("full_matrices"));
        let nothing = a.prim.nothing(x.dtype());
        if a.bool("compute_uv") { vec![u, s, vh] } else { vec![nothing, s, nothing] }
    }),
    one(LINALG_COND, Exact, |a| condition(a, Order::number(a.opt_float("p").unwrap_or(2.0)))),
    one(LINALG_COND_P_STR, Exact, |a| condition(a, Order::named(a, "p"))),
    many(LINALG_EIG, Exact, |a| eig(a).into()),
    many(LINALG_EIGH, Exact, |a| eigh(a, "self").into()),
    one(LINALG_EIGVALS, Exact, |a| eig(a)[0]),
    one(LINALG_EIGVALSH, Exact, |a| eigh(a, "self")[0]),
    one(LINALG_MATRIX_RANK, Exact, |a| rank(a, "self", "tol", None)),
    one(LINALG_MATRIX_RANK_ATOL_RTOL_FLOAT, Exact, |a| rank(a, "self", "atol", Some("rtol"))),
    one(LINALG_MATRIX_RANK_ATOL_RTOL_TENSOR, Exact, |a| rank(a, "input", "atol", Some("rtol"))),
    one(LINALG_MATRIX_RANK_TOL_TENSOR, Exact, |a| rank(a, "input", "tol", None)),
    one(LINALG_MATRIX_SQRTH, Exact, |a| {
        let [values, vectors] = eigh(a, "self");
        times_adjoint(vectors.columns_times(values.maximum(0).sqrt()), vectors)
    }),
    one(LINALG_PINV, Exact, |a| pseudo_inverse(a, None, Some("rcond"))),
    one(LINALG_PINV_ATOL_RTOL_FLOAT, Exact, |a| pseudo_inverse(a, Some("atol"), Some("rtol"))),
    one(LINALG_PINV_ATOL_RTOL_TENSOR, Exact, |a| pseudo_inverse(a, Some("atol"), Some("rtol"))),
    one(LINALG_PINV_RCOND_TENSOR, Exact, |a| pseudo_inverse(a, None, Some("rcond"))),
    many(LINALG_POLAR, Exact, |a| {
        let Svd { u, s, vh } = Svd::of(a.tensor("A"), false);
        vec![matmul(u, vh), matmul(vh.adjoint().columns_times(s), vh)]
    }),
    many(LINALG_SVD, Exact, |a| Svd::of(a.tensor("A"), a.bool("full_matrices")).all()),
    one(LINALG_SVDVALS, Exact, |a| Svd::of(a.tensor("A"), false).s),
    one(PINVERSE, Exact, |a| pseudo_inverse(a, None, Some("rcond"))),
    many(SVD, Exact, svd_v),
    many(prims::SVD, Exact, |a| Svd::of(a.tensor("A"), a.bool("full_matrices")).all()),
];

/// Eigenvalues and vectors of the Hermitian matrix in one triangle.
fn eigh<'c>(a: &Args<'c>, name: &str) -> [Tensor<'c>; 2] {
    let x = a.tensor(name);
    let upper = a.has("UPLO") && a.str("UPLO").eq_ignore_ascii_case("u");
    spectrum(if upper { x.adjoint() } else { x })
}

/// The call fails where the matrix is not finite, as in PyTorch: iterations do not end there.
fn finite(x: Tensor<'_>, name: &str) {
    let all = x.abs().less(f64::INFINITY).reduce("and", &x.all_dims(), false);
    x.prim().guard(all, &format!("linalg.{name}: the algorithm does not converge because the input is not finite"), &[]);
}

fn spectrum(x: Tensor<'_>) -> [Tensor<'_>; 2] {
    finite(x, "eigh");
    let results = x.prim().library("eigh", &[], &[x], &[]);
    [results[0], results[1]]
}

/// Eigenvalues and vectors of any square matrix.
fn eig<'c>(a: &Args<'c>) -> [Tensor<'c>; 2] {
    finite(a.tensor("self"), "eig");
    let results = a.prim.library("eig", &[], &[a.tensor("self")], &[]);
    [results[0], results[1]]
}

/// `A = U S V*`.
pub(super) struct Svd<'c> {
    u: Tensor<'c>,
    /// The singular values, descending.
    pub s: Tensor<'c>,
    vh: Tensor<'c>,
}

impl<'c> Svd<'c> {
    /// Of a matrix, with square factors when `full`.
    pub fn of(x: Tensor<'c>, full: bool) -> Svd<'c> {
        let least = x.rows().min(x.cols());
        let (left, right) = if full { (x.rows(), x.cols()) } else { (least, least) };
        finite(x, "svd");
        let results = x.prim().library("svd", &[], &[x], &[left, least, right]);
        Svd { u: results[0], s: results[1], vh: results[2] }
    }

    fn all(self) -> Vec<Tensor<'c>> {
        vec![self.u, self.s, self.vh]
    }
}

/// The old spelling gives V, not its adjoint, and zeros where vectors were not asked for.
fn svd_v<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    let Svd { u, s, vh } = Svd::of(x, !a.bool("some") && a.bool("compute_uv"));
    if a.bool("compute_uv") {
        return vec![u, s, vh.adjoint()];
    }
    let batch = &x.shape()[..x.rank().saturating_sub(2)];
    let zeros = |n: Size<'c>| a.prim.full(x.dtype(), Scalar::Int(0), &[batch, &[n, n]].concat());
    vec![zeros(x.rows()), s, zeros(x.cols())]
}

/// Sizes of eigenvalues or singular values at or below which they count as zero: the larger of an absolute bound and one
/// relative to the largest. The default of the latter is the rounding error, or nothing where the former is given.
fn threshold<'c>(a: &Args<'c>, x: Tensor<'c>, sizes: Tensor<'c>, atol: Option<&str>, rtol: Option<&str>) -> Tensor<'c> {
    let bound = |name: Option<&str>| name.filter(|name| a.given(name)).map(|name| a.as_type(name, sizes.dtype()));
    let (absolute, relative) = (bound(atol), bound(rtol));
    let zero = sizes.number(Scalar::Int(0));
    let epsilon = if sizes.dtype() == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let usual = a.prim.size_tensor(sizes.dtype(), x.rows().max(x.cols())) * epsilon;
    let relative = match (absolute, relative) {
        (_, Some(relative)) => relative,
        (Some(absolute), None) if rtol.is_some() => absolute.greater(0).select(zero, usual),
        (Some(_), None) => zero,
        (None, None) => usual,
    };
    let last = sizes.rank() - 1;
    let largest = extreme(sizes, "max", &[last], false);
    let bound = absolute.unwrap_or(zero).maximum(relative * largest);
    bound.unsqueeze(bound.rank())
}

/// Singular values, or the sizes of the eigenvalues of a Hermitian matrix.
fn sizes<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    if a.bool("hermitian") { spectrum(x)[0].abs() } else { Svd::of(x, false).s }
}

fn rank<'c>(a: &Args<'c>, name: &str, atol: &str, rtol: Option<&str>) -> Tensor<'c> {
    let x = a.tensor(name);
    let batch = x.shape()[..x.rank().saturating_sub(2)].to_vec();
    if x.numel().known() == Some(0) {
        return a.prim.full(DType::I64, Scalar::Int(0), &batch);
    }
    let sizes = sizes(a, x);
    let counted = sizes.greater(threshold(a, x, sizes, Some(atol), rtol)).convert(DType::I64);
    counted.reduce("sum", &[counted.rank() - 1], false)
}

fn pseudo_inverse<'c>(a: &Args<'c>, atol: Option<&str>, rtol: Option<&str>) -> Tensor<'c> {
    let x = a.tensor("self");
    if x.numel().known() == Some(0) {
        return x.flipped();
    }
    let inverted = |values: Tensor<'c>| {
        let sizes = values.abs();
        let kept = sizes.greater(threshold(a, x, sizes, atol, rtol));
        kept.select(values.reciprocal(), 0)
    };
    if a.has("hermitian") && a.bool("hermitian") {
        let [values, vectors] = spectrum(x);
        return times_adjoint(vectors.columns_times(inverted(values)), vectors);
    }
    let Svd { u, s, vh } = Svd::of(x, false);
    times_adjoint(vh.adjoint().columns_times(inverted(s)), u)
}

/// Which matrix norm.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// The root of the sum of squares.
    Frobenius,
    /// The sum of singular values.
    Nuclear,
    /// The largest (or smallest) singular value.
    Spectral(f64),
    /// The largest (or smallest) sum of a column or row.
    Sums(f64),
}

impl Order {
    /// Of a number.
    pub fn number(order: f64) -> Order {
        if order.abs() == 2.0 { Order::Spectral(order) } else { Order::Sums(order) }
    }

    /// Of a name.
    pub fn named(a: &Args<'_>, argument: &str) -> Order {
        match a.str(argument).as_str() {
            "fro" => Order::Frobenius,
            "nuc" => Order::Nuclear,
            other => {
                a.fail(format!("there is no matrix norm `{other}`"));
                Order::Frobenius
            }
        }
    }
}

/// How much errors grow when the matrix is inverted.
fn condition<'c>(a: &Args<'c>, order: Order) -> Tensor<'c> {
    let x = a.tensor("self");
    if let Order::Spectral(order) = order {
        let s = Svd::of(x, false).s;
        let last = s.rank() - 1;
        let (first, least) = (s.at(last, 0), s.at(last, s.size(last) - 1));
        return if order > 0.0 { first / least } else { least / first };
    }
    let [inverse, info] = super::solve::inverse(x);
    let dims = [x.rank() - 2, x.rank() - 1];
    let norm = matrix_norm_of(x, order, &dims, false) * matrix_norm_of(inverse, order, &dims, false);
    let infinite = norm.is_nan().or(info.greater(0));
    norm.fill_where(infinite, f64::INFINITY)
}
