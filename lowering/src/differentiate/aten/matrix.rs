//! Factorisations and inverses: PyTorch's formulas take the whole matrix where a decomposition reads a triangle of it.

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

use super::super::factor::{hermitian, product, solved};
use super::super::rule::Rule::{Arguments, Custom};
use super::super::rule::{At, Cotangents, Row, flag, value};
use super::rows;
use crate::aten_to_prim::Args;

rows! {
    /// PyTorch counts in the storage of both tensors: refused.
    AS_STRIDED_SCATTER => Custom(|at| at.refuse("it writes by strides; use a slice or an index"));
    /// `cholesky_inverse_backward`.
    CHOLESKY_INVERSE => Arguments(|at, a| {
        let (g, y) = (at.g(), at.y(0));
        let both = product(y, product(g + g.adjoint(), y));
        at.named(&[("self", Some(by_factor(at.x(0), both, a.bool("upper"))))])
    });
    /// `cholesky_solve_backward`.
    CHOLESKY_SOLVE => Arguments(|at, a| {
        let upper = a.bool("upper");
        let (factor, y) = (at.x(1), at.y(0));
        let (first, second) = if upper { (factor.adjoint(), factor) } else { (factor, factor.adjoint()) };
        let by_self = solved(at, second, solved(at, first, at.g(), &[]), &["upper"]);
        let common = product(by_self, y.adjoint());
        let by_input = by_factor(factor, common + common.adjoint(), upper);
        at.named(&[("self", Some(by_self)), ("input2", Some(by_input))])
    });
    /// As `linalg_inv`.
    INVERSE => Custom(inverse);
    /// `cholesky_backward`: of an upper factor that of its adjoint, which is not turned back.
    LINALG_CHOLESKY => Arguments(cholesky);
    /// As `linalg_cholesky`.
    LINALG_CHOLESKY_EX => Arguments(cholesky);
    /// `-Y^H g Y^H`. PyTorch: `linalg_inv_ex`.
    LINALG_INV => Custom(inverse);
    /// As `linalg_inv`.
    LINALG_INV_EX => Custom(inverse);
    /// `V (V^H g V / (r_i + r_j)) V^H` with the roots of the eigenvalues, of the Hermitian part of `g`. PyTorch: `linalg_matrix_sqrth_differential`.
    LINALG_MATRIX_SQRTH => Custom(root);
    /// `pinv_backward`.
    LINALG_PINV => Custom(pseudo_inverse);
    /// `pinv_backward`.
    LINALG_PINV_ATOL_RTOL_FLOAT => Custom(pseudo_inverse);
    /// `pinv_backward`.
    LINALG_PINV_ATOL_RTOL_TENSOR => Custom(pseudo_inverse);
    /// `pinv_backward`.
    LINALG_PINV_RCOND_TENSOR => Custom(pseudo_inverse);
    /// `linalg_qr_backward`.
    LINALG_QR => Arguments(qr);
    /// `linalg_solve_backward`, by the factors of the solution itself.
    LINALG_SOLVE => Arguments(solve);
    /// As `linalg_solve`.
    LINALG_SOLVE_EX => Arguments(solve);
    /// `pinv_backward`.
    PINVERSE => Custom(pseudo_inverse);
}

fn cholesky<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (g, y) = if a.bool("upper") { (at.g().adjoint(), at.y(0).adjoint()) } else { (at.g(), at.y(0)) };
    vec![Some(super::super::factor::cholesky(at, g, y))]
}

fn inverse<'c>(at: &At<'c>) -> Cotangents<'c> {
    let turned = at.y(0).adjoint();
    vec![Some(-product(product(turned, at.g()), turned))]
}

fn solve<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (matrix, b, left) = (at.x(0), at.x(1), a.bool("left"));
    let batch = matrix.shape()[..matrix.rank() - 1].to_vec();
    // A right side may be a batch of vectors.
    let vector = b.rank() == 1 || (b.rank() == batch.len() && b.shape().iter().zip(&batch).all(|(x, y)| x.same(*y)));
    let column = |x: Tensor<'c>| if vector { x.unsqueeze(x.rank()) } else { x };
    let (g, y) = (column(at.g()), column(at.y(0)));
    let integers = |shape: &[Size<'c>]| at.prim.tensor_type(DType::I32, shape);
    let types = [matrix.ty(), integers(&batch), integers(&batch[..batch.len() - 1])];
    let given = [("A", value(matrix)), ("pivot", flag(true)), ("check_errors", flag(false))];
    let [factors, pivots, _] = at.call(LINALG_LU_FACTOR_EX, &given, &types)[..] else { return vec![None, None] };
    let given = [("LU", value(factors)), ("pivots", value(pivots)), ("B", value(g)), ("left", flag(left)), ("adjoint", flag(true))];
    let Some(by_b) = at.call(LINALG_LU_SOLVE, &given, &[g.ty()]).first().copied() else { return vec![None, None] };
    let by_matrix = if left { product(by_b, y.adjoint()) } else { product(y.adjoint(), by_b) };
    let by_b = if vector { by_b.squeeze(&[by_b.rank() - 1]) } else { by_b };
    at.named(&[("A", Some(-by_matrix)), ("B", Some(by_b))])
}

/// `-common L`, or `-U common`.
fn by_factor<'c>(factor: Tensor<'c>, common: Tensor<'c>, upper: bool) -> Tensor<'c> {
    -(if upper { product(factor, common) } else { product(common, factor) })
}

fn root<'c>(at: &At<'c>) -> Cotangents<'c> {
    let spectrum = at.prim.library("eigh", &[], &[at.x(0)], &[]);
    let (roots, vectors, g) = (spectrum[0].maximum(0).sqrt(), spectrum[1], at.g());
    let sums = roots.unsqueeze(roots.rank() - 1) + roots.unsqueeze(roots.rank());
    let inner = product(product(vectors.adjoint(), hermitian(g)), vectors);
    vec![Some(product(product(vectors, inner / sums.convert(inner.dtype())), vectors.adjoint()))]
}

fn pseudo_inverse<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (a, y, g) = (at.x(0), at.y(0), at.g().adjoint());
    let yh = y.adjoint();
    let wide = a.rows().known() <= a.cols().known();
    vec![Some(if wide {
        let k = product(g, y);
        let kyh = product(k, yh);
        kyh - product(y, k).adjoint() - product(product(a, y), kyh) + product(product(yh, y), g - product(k, a))
    } else {
        let k = product(y, g);
        let yhk = product(yh, k);
        product(product(g - product(a, k), y), yh) - product(k, y).adjoint() + yhk - product(product(yhk, y), a)
    })]
}

fn qr<'c>(at: &At<'c>, a: &Args<'c>) -> Cotangents<'c> {
    let (q, r, rank) = (at.y(0), at.y(1), at.y(1).rank());
    let (rows, cols) = (r.rows(), r.cols());
    let wide = !rows.same(cols) && rows.known() < cols.known();
    if a.str("mode") == "r" || !(wide || rows.same(cols)) {
        return at.refuse("it has one with mode='reduced', or with mode='complete' where the matrix is not higher than it is wide");
    }
    let (mut by_q, mut by_r) = (at.cotangent(0), at.cotangent(1));
    if !wide {
        return vec![Some(of_square(at, (q, r), (by_q, by_r)))];
    }
    // A = (X, Y) with X = Q R of square R, and Q^H Y is the rest.
    let part = |m: Tensor<'c>, from: Size<'c>, to: Size<'c>| m.slice(rank - 1, from, to - from, 1);
    let rest = part(at.x(0), rows, cols);
    let mut by_rest = rest.filled(Scalar::Int(0));
    if let Some(g) = by_r {
        let turned = product(rest, part(g, rows, cols).adjoint());
        by_q = Some(by_q.map_or(turned, |g| g + turned));
        by_r = Some(part(g, Size::Const(0), rows));
        by_rest = product(q, part(g, rows, cols));
    }
    let square = of_square(at, (q, part(r, Size::Const(0), rows)), (by_q, by_r));
    vec![Some(at.prim.concat(&[square, by_rest], rank - 1))]
}

/// The gradient where R is square.
fn of_square<'c>(at: &At<'c>, (q, r): (Tensor<'c>, Tensor<'c>), (by_q, by_r): (Option<Tensor<'c>>, Option<Tensor<'c>>)) -> Tensor<'c> {
    let mut inner = r.filled(Scalar::Int(0));
    if let Some(g) = by_r {
        inner = inner + product(g, r.adjoint());
    }
    if let Some(g) = by_q {
        inner = inner - product(q.adjoint(), g);
    }
    let upper = inner.upper();
    let turned = product(q, upper + upper.flipped().lower(false).conj());
    let whole = by_q.map_or(turned, |g| turned + g);
    // X R^H = whole, so R X^H = whole^H.
    solved(at, r, whole.adjoint(), &["upper"]).adjoint()
}
