//! Systems of equations, inverses and determinants, from the factorisations.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::factor::{INDEFINITE, Lu, is_number, order};
use super::library::{checked, diagonal, paired};
use super::matmul::matmul;
use super::rule::Precision::{Exact, Wide};
use super::rule::{Rule, many, one, scalar};

pub(super) const RULES: &[Rule] = &[
    scalar(_LINALG_CHECK_ERRORS, |a| {
        a.prim.check(a.tensor("info"), &failure(&a.str("api_name")));
        None
    }),
    many(_LINALG_DET, Exact, |a| {
        let lu = Lu::of(kept(a.tensor("A")), true);
        vec![determinant(&lu), lu.factors, lu.pivots]
    }),
    many(_LINALG_SLOGDET, Exact, |a| {
        let lu = Lu::of(kept(a.tensor("A")), true);
        let [sign, log] = log_determinant(&lu);
        vec![sign, log, lu.factors, lu.pivots]
    }),
    many(_LINALG_SOLVE_EX, Exact, |a| {
        let [x, info] = solve(a);
        checked(a, info, SINGULAR_SOLVE);
        let lu = Lu::of(a.tensor("A"), true);
        vec![x, lu.factors, lu.pivots, info]
    }),
    one(CHOLESKY_INVERSE, Exact, |a| {
        let l = a.tensor("self");
        cholesky_solve(identity_like(l), l, a.bool("upper"))
    }),
    one(CHOLESKY_SOLVE, Exact, |a| {
        let [b, l] = paired([(a.tensor("self"), 2), (a.tensor("input2"), 2)]);
        cholesky_solve(b, l, a.bool("upper"))
    }),
    one(DET, Exact, |a| determinant(&Lu::of(a.tensor("self"), true))),
    one(INVERSE, Exact, |a| checked_inverse(a.tensor("self"))),
    one(LINALG_DET, Exact, |a| determinant(&Lu::of(a.tensor("A"), true))),
    one(LINALG_INV, Exact, |a| checked_inverse(a.tensor("A"))),
    many(LINALG_INV_EX, Exact, |a| {
        let [x, info] = inverse(a.tensor("A"));
        checked(a, info, SINGULAR_INVERSE);
        vec![x, info]
    }),
    one(LINALG_LDL_SOLVE, Exact, |a| {
        let [ld, pivots, b] = paired([(a.tensor("LD"), 2), (a.tensor("pivots"), 1), (a.tensor("B"), 2)]);
        let options: &[&str] = if a.bool("hermitian") { &["hermitian"] } else { &[] };
        a.prim.library("ldl_solve", options, &[ld, pivots, b], &[])[0]
    }),
    one(LINALG_LU_SOLVE, Exact, |a| lu_solve(a.tensor("LU"), a.tensor("pivots"), a.tensor("B"), a.bool("left"), a.bool("adjoint"))),
    one(LINALG_MATRIX_POWER, Wide, matrix_power),
    many(LINALG_SLOGDET, Exact, |a| log_determinant(&Lu::of(a.tensor("A"), true)).into()),
    one(LINALG_SOLVE, Exact, |a| {
        let [x, info] = solve(a);
        a.prim.check(info, SINGULAR_SOLVE);
        x
    }),
    many(LINALG_SOLVE_EX, Exact, |a| {
        let [x, info] = solve(a);
        checked(a, info, SINGULAR_SOLVE);
        vec![x, info]
    }),
    one(LINALG_SOLVE_TRIANGULAR, Exact, |a| {
        let [m, b] = paired([(a.tensor("self"), 2), (a.tensor("B"), 2)]);
        let (upper, unit) = (a.bool("upper"), a.bool("unitriangular"));
        let x = if a.bool("left") { triangular(m, b, upper, unit) } else { triangular(m.flipped(), b.flipped(), !upper, unit).flipped() };
        x.convert(a.result_dtype(0))
    }),
    one(LINALG_TENSORINV, Exact, tensor_inverse),
    one(LINALG_TENSORSOLVE, Exact, tensor_solve),
    one(LOGDET, Exact, |a| {
        let [sign, log] = log_determinant(&Lu::of(a.tensor("self"), true));
        if sign.dtype().is_complex() {
            return log.complex(sign.imag().atan2(sign.real()));
        }
        sign.less(0).select(log.number(Scalar::Float(f64::NAN)), log)
    }),
    one(LU_SOLVE, Exact, |a| lu_solve(a.tensor("LU_data"), a.tensor("LU_pivots"), a.tensor("self"), true, false)),
    one(MATRIX_POWER, Wide, matrix_power),
    many(SLOGDET, Exact, |a| log_determinant(&Lu::of(a.tensor("self"), true)).into()),
    many(TRIANGULAR_SOLVE, Exact, |a| {
        let [b, m] = paired([(a.tensor("self"), 2), (a.tensor("A"), 2)]);
        let (upper, unit) = (a.bool("upper"), a.bool("unitriangular"));
        let x = if a.bool("transpose") { triangular(m.flipped(), b, !upper, unit) } else { triangular(m, b, upper, unit) };
        vec![x, m]
    }),
];

const SINGULAR_SOLVE: &str =
    "torch.linalg.solve: The solver failed because the input matrix is singular (the diagonal element {0} of U is zero).";
const SINGULAR_INVERSE: &str = "linalg.inv: The diagonal element {0} is zero, the inversion could not be completed because the input \
                                matrix is singular.";

/// The message of a function of PyTorch for an info that is not zero.
fn failure(function: &str) -> String {
    match function {
        "linalg.solve" | "torch.linalg.solve" | "linalg.solve_ex" | "torch.linalg.solve_ex" => SINGULAR_SOLVE.to_owned(),
        "linalg.inv" | "linalg.inv_ex" | "inv" => SINGULAR_INVERSE.to_owned(),
        _ if function.contains("cholesky") => INDEFINITE.to_owned(),
        other => format!("{other}: The factorization could not be completed (the diagonal element {{0}} is zero)."),
    }
}

/// What PyTorch keeps the factors of for the gradient of a determinant: real matrices are factored transposed.
fn kept(x: Tensor<'_>) -> Tensor<'_> {
    if x.dtype().is_complex() { x } else { x.flipped() }
}

fn identity_like(x: Tensor<'_>) -> Tensor<'_> {
    x.prim().identity(x.dtype(), x.rows(), x.cols()).broadcast_to(&x.shape())
}

/// X of `A X = B`, both of one batch.
pub(super) fn triangular<'c>(a: Tensor<'c>, b: Tensor<'c>, upper: bool, unit: bool) -> Tensor<'c> {
    if is_number(a) {
        return if unit { b } else { b / a };
    }
    let options: &[&str] = match (unit, upper) {
        (false, false) => &[],
        (false, true) => &["upper"],
        (true, false) => &["unit"],
        (true, true) => &["unit", "upper"],
    };
    a.prim().library("triangular_solve", options, &[a, b], &[])[0]
}

/// X of `L L* X = B` (or `U* U X = B`).
fn cholesky_solve<'c>(b: Tensor<'c>, factor: Tensor<'c>, upper: bool) -> Tensor<'c> {
    let l = if upper { factor.adjoint() } else { factor };
    triangular(l.adjoint(), triangular(l, b, false, false), true, false)
}

/// X of `P L U X = B`, both of one batch.
fn through<'c>(factors: Tensor<'c>, order: Tensor<'c>, b: Tensor<'c>) -> Tensor<'c> {
    triangular(factors, triangular(factors, b.ordered(order), false, true), true, false)
}

/// X of `A X = B` or `X A = B` (`A* X = B` and so on) from the factors of A.
fn lu_solve<'c>(factors: Tensor<'c>, pivots: Tensor<'c>, b: Tensor<'c>, left: bool, adjoint: bool) -> Tensor<'c> {
    let [factors, pivots, b] = paired([(factors, 2), (pivots, 1), (b, 2)]);
    let order = order(pivots, factors.rows());
    // X A = B is A* X* = B*.
    let b = if left { b } else { b.adjoint() };
    let x = if left != adjoint {
        through(factors, order, b)
    } else {
        // A* is U* L* P*, and the inverse of an order sorts it.
        let factors = factors.adjoint();
        let y = triangular(factors, triangular(factors, b, false, false), true, true);
        y.ordered(order.sort(order.rank() - 1, false).1)
    };
    if left { x } else { x.adjoint() }
}

/// The solution of a general system, and the first zero pivot from 1. A right side may be a batch of vectors.
fn solve<'c>(a: &Args<'c>) -> [Tensor<'c>; 2] {
    let (m, b, left) = (a.tensor("A"), a.tensor("B"), a.bool("left"));
    let batch = m.shape()[..m.rank().saturating_sub(1)].to_vec();
    let same = |(x, y): (&Size<'c>, &Size<'c>)| x.same(*y);
    let vector = b.rank() == 1 || (b.rank() == batch.len() && b.shape().iter().zip(&batch).all(same));
    let b = if vector { b.unsqueeze(b.rank()) } else { b };
    let [wide, b] = paired([(m, 2), (b, 2)]);
    let info = Lu::of(m, true).info;
    let x = if left || vector { solved(wide, b) } else { solved(wide.flipped(), b.flipped()).flipped() };
    [if vector { x.squeeze(&[x.rank() - 1]) } else { x }, info]
}

fn solved<'c>(m: Tensor<'c>, b: Tensor<'c>) -> Tensor<'c> {
    let lu = Lu::of(m, true);
    through(lu.factors, lu.order, b)
}

/// The inverse, and the first zero pivot from 1.
pub(super) fn inverse(x: Tensor<'_>) -> [Tensor<'_>; 2] {
    let lu = Lu::of(x, true);
    [through(lu.factors, lu.order, identity_like(x)), lu.info]
}

fn checked_inverse(x: Tensor<'_>) -> Tensor<'_> {
    let [inverse, info] = inverse(x);
    x.prim().check(info, SINGULAR_INVERSE);
    inverse
}

/// One or minus one: whether the row exchanges are even or odd.
fn parity<'c>(lu: &Lu<'c>) -> Tensor<'c> {
    let (pivots, last) = (lu.pivots, lu.pivots.rank() - 1);
    let own = pivots.prim().range(pivots.dtype(), pivots.size(last)) + 1;
    let odd = pivots.not_equal(own).convert(DType::I64).reduce("sum", &[last], false) % 2;
    odd.equal(0).select(lu.factors.number(Scalar::Int(1)), -1)
}

fn determinant<'c>(lu: &Lu<'c>) -> Tensor<'c> {
    let diagonal = diagonal(lu.factors);
    parity(lu) * diagonal.reduce("prod", &[diagonal.rank() - 1], false)
}

/// The sign of the determinant, and the logarithm of its absolute value.
fn log_determinant<'c>(lu: &Lu<'c>) -> [Tensor<'c>; 2] {
    let diagonal = diagonal(lu.factors);
    let last = [diagonal.rank() - 1];
    let size = diagonal.abs();
    let sign = if diagonal.dtype().is_complex() {
        let zero = size.equal(0);
        let unit = |part: Tensor<'c>| part / size.fill_where(zero, 1);
        unit(diagonal.real()).complex(unit(diagonal.imag()))
    } else {
        diagonal.sign()
    };
    [parity(lu) * sign.reduce("prod", &last, false), size.log().reduce("sum", &last, false)]
}

fn matrix_power<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, n) = (a.tensor("self"), a.int("n"));
    let base = if n < 0 { checked_inverse(x) } else { x };
    // Squares of the base, multiplied where the exponent has a one.
    let (mut power, mut square, mut left) = (None, base, n.unsigned_abs());
    while left > 0 {
        if left % 2 == 1 {
            power = Some(power.map_or(square, |p| matmul(p, square)));
        }
        left /= 2;
        square = if left > 0 { matmul(square, square) } else { square };
    }
    power.unwrap_or_else(|| identity_like(x))
}

/// The inverse of the matrix that the first `ind` dimensions make with the others.
fn tensor_inverse<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, ind) = (a.tensor("self"), a.int("ind").max(0) as usize);
    let (head, tail) = (x.shape()[..ind.min(x.rank())].to_vec(), x.shape()[ind.min(x.rank())..].to_vec());
    checked_inverse(x.reshape(&[product(&head), product(&tail)])).reshape(&[tail, head].concat())
}

fn tensor_solve<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, b) = (a.tensor("self"), a.tensor("other"));
    let moved = a.dims("dims", x.rank());
    let mut perm: Vec<usize> = x.all_dims().into_iter().filter(|d| !moved.contains(d)).collect();
    perm.extend(moved);
    let x = x.transpose(&perm);
    let shape = x.shape()[b.rank().min(x.rank())..].to_vec();
    let (matrix, rhs) = (x.reshape(&[b.numel(), product(&shape)]), b.reshape(&[b.numel(), Size::Const(1)]));
    a.prim.check(Lu::of(matrix, true).info, SINGULAR_SOLVE);
    solved(matrix, rhs).reshape(&shape)
}
