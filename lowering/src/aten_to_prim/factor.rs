//! Factorisations of matrices: Cholesky's, LU, QR and LDL, as LAPACK packs them and unpacked.

use super::args::Args;
use super::library::checked;
use super::matmul::matmul;
use super::rule::Precision::{Exact, Wide};
use super::rule::{Rule, many, one};
use super::solve::triangular;
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

pub(super) const RULES: &[Rule] = &[
    many(_LU_WITH_INFO, Exact, |a| {
        let lu = Lu::of(a.tensor("self"), a.bool("pivot"));
        checked(a, lu.info, SINGULAR_LU);
        vec![lu.factors, lu.pivots, lu.info]
    }),
    many(GEQRF, Exact, |a| packed_qr(a.tensor("self")).into()),
    one(LINALG_CHOLESKY, Exact, |a| {
        let [l, info] = cholesky(a.tensor("self"), a.bool("upper"));
        a.prim.check(info, INDEFINITE);
        l
    }),
    many(LINALG_CHOLESKY_EX, Exact, |a| {
        let [l, info] = cholesky(a.tensor("self"), a.bool("upper"));
        checked(a, info, INDEFINITE);
        vec![l, info]
    }),
    one(LINALG_HOUSEHOLDER_PRODUCT, Exact, |a| reflections(a.tensor("input"), a.tensor("tau"))),
    many(LINALG_LDL_FACTOR, Exact, |a| {
        let [ld, pivots, info] = ldl(a);
        a.prim.check(info, SINGULAR_LDL);
        vec![ld, pivots]
    }),
    many(LINALG_LDL_FACTOR_EX, Exact, |a| {
        let [ld, pivots, info] = ldl(a);
        checked(a, info, SINGULAR_LDL);
        vec![ld, pivots, info]
    }),
    many(LINALG_LU, Exact, linalg_lu),
    many(LINALG_LU_FACTOR, Exact, |a| {
        let lu = Lu::of(a.tensor("A"), a.bool("pivot"));
        a.prim.check(lu.info, SINGULAR_LU);
        vec![lu.factors, lu.pivots]
    }),
    many(LINALG_LU_FACTOR_EX, Exact, |a| {
        let lu = Lu::of(a.tensor("A"), a.bool("pivot"));
        checked(a, lu.info, SINGULAR_LU);
        vec![lu.factors, lu.pivots, lu.info]
    }),
    one(LINALG_MATRIX_EXP, Wide, |a| exponential(a.tensor("self"))),
    many(LINALG_QR, Exact, |a| qr(a.tensor("A"), &a.str("mode"))),
    many(LU_UNPACK, Exact, lu_unpack),
    one(MATRIX_EXP, Wide, |a| exponential(a.tensor("self"))),
    one(ORGQR, Exact, |a| reflections(a.tensor("self"), a.tensor("input2"))),
    one(ORMQR, Exact, ormqr),
];

pub(super) const INDEFINITE: &str = "linalg.cholesky: The factorization could not be completed because the input is not positive-definite \
                          (the leading minor of order {0} is not positive-definite).";
const SINGULAR_LU: &str = "linalg.lu_factor: U[{0},{0}] is zero and using it on lu_solve would result in a division by zero.";
const SINGULAR_LDL: &str = "linalg.ldl_factor: D[{0},{0}] is zero, and the factorization cannot solve a system.";

/// The factor in the lower (or upper) triangle, and the order of the first minor that is not positive.
pub(super) fn cholesky(x: Tensor<'_>, upper: bool) -> [Tensor<'_>; 2] {
    if is_number(x) {
        let real = if x.dtype().is_complex() { x.real() } else { x };
        let positive = real.greater(0);
        let info = positive.equal(0).convert(DType::I32).squeeze(&[x.rank() - 2, x.rank() - 1]);
        return [positive.select(real.sqrt().convert(x.dtype()), x), info];
    }
    let x = if upper { x.adjoint() } else { x };
    let results = x.prim().library("cholesky", &[], &[x.flipped()], &[]);
    let lower = results[0].flipped();
    [if upper { lower.adjoint() } else { lower }, results[1]]
}

/// An LU factorisation.
pub(super) struct Lu<'c> {
    /// Both factors in one matrix.
    pub factors: Tensor<'c>,
    /// Row exchanges from 1.
    pub pivots: Tensor<'c>,
    /// The order that they bring the rows into.
    pub order: Tensor<'c>,
    /// The first zero pivot from 1.
    pub info: Tensor<'c>,
}

impl<'c> Lu<'c> {
    /// Of a matrix.
    pub fn of(x: Tensor<'c>, pivot: bool) -> Lu<'c> {
        if is_number(x) {
            let filled = |dtype, number, rank| x.prim().full(dtype, Scalar::Int(number), &x.shape()[..rank]);
            let (vector, zero) = (x.rank() - 1, x.equal(0).convert(DType::I32));
            let [pivots, order] = [filled(DType::I32, 1, vector), filled(DType::I64, 0, vector)];
            return Lu { factors: x, pivots, order, info: zero.squeeze(&[vector - 1, vector]) };
        }
        let options: &[&str] = if pivot { &[] } else { &["nopivot"] };
        let least = x.rows().min(x.cols());
        let results = x.prim().library("lu", options, &[x.flipped()], &[least]);
        Lu { factors: results[0].flipped(), pivots: results[1], order: results[2], info: results[3] }
    }
}

/// Whether matrices are of one row and one column, for which a call of a library takes longer than the arithmetic.
pub(super) fn is_number(x: Tensor<'_>) -> bool {
    let floats = x.dtype().is_complex() || matches!(x.dtype(), DType::F32 | DType::F64);
    floats && x.rank() >= 2 && x.rows().same(Size::Const(1)) && x.cols().same(Size::Const(1))
}

/// The order that row exchanges bring `rows` rows into.
pub(super) fn order<'c>(pivots: Tensor<'c>, rows: Size<'c>) -> Tensor<'c> {
    pivots.prim().library("permutation", &[], &[pivots], &[rows])[0]
}

/// L with its ones, and U.
fn triangles(factors: Tensor<'_>) -> [Tensor<'_>; 2] {
    let (rows, cols) = (factors.rows(), factors.cols());
    let least = rows.min(cols);
    let ones = factors.prim().identity(factors.dtype(), rows, least);
    [factors.left(least).lower(false) + ones, factors.top(least).upper()]
}

/// The matrix P of `A = P L U`.
fn permutation<'c>(order: Tensor<'c>, dtype: DType) -> Tensor<'c> {
    let rows = order.size(order.rank() - 1);
    order.prim().iota(DType::I64, &[rows, rows], 0).equal(order.unsqueeze(order.rank() - 1)).convert(dtype)
}

fn linalg_lu<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (x, pivot) = (a.tensor("A"), a.bool("pivot"));
    let lu = Lu::of(x, pivot);
    let [l, u] = triangles(lu.factors);
    vec![if pivot { permutation(lu.order, x.dtype()) } else { a.prim.nothing(x.dtype()) }, l, u]
}

fn lu_unpack<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let (factors, pivots) = (a.tensor("LU_data"), a.tensor("LU_pivots"));
    let nothing = a.prim.nothing(factors.dtype());
    let p = if a.bool("unpack_pivots") { permutation(order(pivots, factors.rows()), factors.dtype()) } else { nothing };
    let [l, u] = if a.bool("unpack_data") { triangles(factors) } else { [nothing, nothing] };
    vec![p, l, u]
}

/// Reflection vectors below R, and their factors.
fn packed_qr(x: Tensor<'_>) -> [Tensor<'_>; 2] {
    let least = x.rows().min(x.cols());
    let results = x.prim().library("qr", &[], &[x.flipped()], &[least]);
    [results[0].flipped(), results[1]]
}

/// The first columns of the product of reflections; of none these are unit vectors.
fn reflections<'c>(vectors: Tensor<'c>, taus: Tensor<'c>) -> Tensor<'c> {
    let prim = vectors.prim();
    if taus.size(taus.rank() - 1).known() == Some(0) {
        return prim.identity(vectors.dtype(), vectors.rows(), vectors.cols()).broadcast_to(&vectors.shape());
    }
    prim.library("householder", &[], &[vectors.flipped(), taus], &[])[0].flipped()
}

fn qr<'c>(x: Tensor<'c>, mode: &str) -> Vec<Tensor<'c>> {
    let [packed, taus] = packed_qr(x);
    let size = if mode == "complete" { x.rows() } else { x.rows().min(x.cols()) };
    let q = if mode == "r" { x.prim().nothing(x.dtype()) } else { reflections(packed.left(size), taus) };
    vec![q, packed.top(size).upper()]
}

/// A matrix times the whole of Q, from either side: `C Q` is the adjoint of `Q^H C^H`.
fn ormqr<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (packed, taus, other) = (a.tensor("self"), a.tensor("input2"), a.tensor("input3"));
    match (a.bool("left"), a.bool("transpose")) {
        (true, adjoint) => reflected(packed, taus, other, adjoint),
        (false, adjoint) => reflected(packed, taus, other.adjoint(), !adjoint).adjoint(),
    }
}

/// Reflections that are applied at once, where there are many: products with those of a later panel leave out the rows above it.
const PANEL: i64 = 128;
/// Panels at most: six, of which each has some eight kernels, take 0.49 s to compile, one 0.08.
const MOST_PANELS: i64 = 6;

/// `Q C` or `Q^H C` for the product Q of the reflections `I - tau_i v_i v_i^H`, without Q, which may be much larger: panel by panel.
fn reflected<'c>(packed: Tensor<'c>, taus: Tensor<'c>, c: Tensor<'c>, adjoint: bool) -> Tensor<'c> {
    let (rows, last) = (packed.rank() - 2, taus.rank() - 1);
    let Some(count) = taus.size(last).known() else { return reflected_at_once(packed, taus, c, adjoint) };
    let size = PANEL.max((count + MOST_PANELS - 1) / MOST_PANELS);
    let mut panels: Vec<i64> = (0..count).step_by(size as usize).collect();
    // Q^H takes the first reflection first.
    if !adjoint {
        panels.reverse();
    }
    panels.into_iter().fold(c, |c, begin| {
        let size = size.min(count - begin);
        let below = |x: Tensor<'c>| x.slice(rows, begin, x.rows() - begin, 1);
        let vectors = below(packed).slice(rows + 1, begin, size, 1);
        let moved = reflected_at_once(vectors, taus.slice(last, begin, size, 1), below(c), adjoint);
        if begin == 0 { moved } else { c.prim().concat(&[c.top(Size::Const(begin)), moved], rows) }
    })
}

/// The same for one panel. With `S` for what of `V^H V` is above the diagonal and `D` for the matrix of the taus, `Q = I - V (I + D S)^-1 D V^H`
/// (Joffrain, Low, Quintana-Orti, van de Geijn, Van Zee: Accumulating Householder transformations, revisited, 2006).
fn reflected_at_once<'c>(packed: Tensor<'c>, taus: Tensor<'c>, c: Tensor<'c>, adjoint: bool) -> Tensor<'c> {
    let count = taus.size(taus.rank() - 1);
    let v = packed.left(count).lower(false) + packed.prim().identity(packed.dtype(), packed.rows(), count);
    let taus = taus.unsqueeze(taus.rank());
    let unit = taus * matmul(v.adjoint(), v).flipped().lower(false).flipped();
    let seen = matmul(v.adjoint(), c);
    let moved =
        if adjoint { taus.conj() * triangular(unit.adjoint(), seen, false, true) } else { triangular(unit, taus * seen, true, true) };
    c - matmul(v, moved)
}

fn ldl<'c>(a: &Args<'c>) -> [Tensor<'c>; 3] {
    let options: &[&str] = if a.bool("hermitian") { &["hermitian"] } else { &[] };
    let results = a.prim.library("ldl", options, &[a.tensor("self")], &[]);
    [results[0], results[1], results[2]]
}

fn exponential(x: Tensor<'_>) -> Tensor<'_> {
    x.prim().library("matrix_exp", &[], &[x], &[])[0]
}
