//! Gradients of calls of the runtime library: factorisations and transforms.
//!
//! The formulas of factorisations are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
//! differentiation" (2008), as PyTorch has them in `FunctionsManual.cpp`.

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, coordinates};

use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row, prim_rows};

prim_rows! {
    /// By function: triangular formulas for `cholesky`, `lu` and `triangular_solve`; gaps of eigenvalues and of singular values for `eigh` and
    /// `svd`; the adjoint for `fft`, `rfft` (zeros for the other half) and `irfft` (inner bins twice); the exponential of a block matrix for
    /// `matrix_exp`; `ctc_gradient` for `ctc`; back to their places for `order_statistics`. PyTorch: `cholesky_backward`,
    /// `lu_factor_ex_backward`, `linalg_eig_backward`, `svd_backward`, `fft_c2r_backward`, `linalg_matrix_exp_differential`.
    Library => Custom(library);
}

fn library<'c>(at: &At<'c>) -> Cotangents<'c> {
    let name = at.word("function");
    match name.as_str() {
        "cholesky" => vec![Some(cholesky(at))],
        "triangular_solve" => triangular_solve(at),
        "lu" => lu(at),
        "eigh" => vec![Some(eigh(at))],
        "svd" => svd(at),
        "matrix_exp" => vec![Some(matrix_exp(at))],
        "fft" => {
            let inverse = options(at).is_empty();
            vec![call(at, "fft", if inverse { &["inverse"] } else { &[] }, &[at.g()], &[])]
        }
        "rfft" => {
            let (g, x) = (at.g(), at.x(0));
            let last = g.rank() - 1;
            let whole = g.pad_dim(last, Scalar::Int(0), 0, x.size(last) - g.size(last));
            vec![call(at, "fft", &["inverse"], &[whole], &[]).map(|line| line.real())]
        }
        "irfft" => {
            let (g, x) = (at.g(), at.x(0));
            let last = g.rank() - 1;
            let Some(bins) = call(at, "rfft", &[], &[g], &[x.size(last)]) else { return Vec::new() };
            let place = at.prim.range(DType::I64, x.size(last));
            let single = place.equal(0).or((place * 2).equal(g.size(last)));
            let weight = single.select(at.prim.constant(g.dtype(), Scalar::Int(1)), Scalar::Int(2));
            vec![Some(bins * weight.convert(bins.dtype()))]
        }
        "order_statistics" => {
            let (g, x) = (at.g(), at.x(0));
            let zeros = x.filled(Scalar::Int(0));
            vec![Some(zeros.scatter(g, &coordinates(at.y(1), x.rank() - 1), &x.all_dims(), "add"))]
        }
        "ctc" => {
            let others: Vec<_> = (1..5).map(|operand| at.x(operand)).collect();
            let operands = [&[at.x(0), at.y(1), at.y(0), at.g()], others.as_slice()].concat();
            vec![call(at, "ctc_gradient", &[], &operands, &[])]
        }
        "lexsort" | "nms" | "permutation" => Vec::new(),
        name => at.refuse(format!("the library's `{name}` has none; PyTorch's operators that use it have rows at aten")),
    }
}

fn options(at: &At<'_>) -> Vec<String> {
    let attr = at.op.attr("options").and_then(strata_core::ir::Attr::as_array).unwrap_or_default();
    attr.into_iter().filter_map(|option| option.as_str()).collect()
}

/// The first result of a function of the library.
fn call<'c>(at: &At<'c>, name: &str, options: &[&str], operands: &[Tensor<'c>], new: &[Size<'c>]) -> Option<Tensor<'c>> {
    at.prim.library(name, options, operands, new).first().copied()
}

/// The product of two batches of matrices.
pub(super) fn product<'c>(a: Tensor<'c>, b: Tensor<'c>) -> Tensor<'c> {
    let rank = a.rank();
    let batch: Vec<_> = (0..rank.saturating_sub(2)).collect();
    a.dot(b, (&batch, &batch), (&[rank.wrapping_sub(1)], &[rank.wrapping_sub(2)]))
}

/// The solution X of `A X = B` for triangular matrices.
pub(super) fn solved<'c>(at: &At<'c>, a: Tensor<'c>, b: Tensor<'c>, options: &[&str]) -> Tensor<'c> {
    call(at, "triangular_solve", options, &[a, b], &[]).unwrap_or(b)
}

/// Ones on the diagonal, as a condition.
fn diagonal<'c>(x: Tensor<'c>) -> Tensor<'c> {
    let shape = [x.rows(), x.cols()];
    x.prim().iota(DType::I64, &shape, 0).equal(x.prim().iota(DType::I64, &shape, 1))
}

/// A vector as a diagonal matrix.
fn as_diagonal<'c>(vector: Tensor<'c>, like: Tensor<'c>) -> Tensor<'c> {
    diagonal(like).select(vector.convert(like.dtype()).unsqueeze(vector.rank()), Scalar::Int(0))
}

/// The lower triangle with half of the diagonal.
fn half_lower<'c>(x: Tensor<'c>) -> Tensor<'c> {
    diagonal(x).select(x * x.number(Scalar::Float(0.5)), x.lower(false))
}

/// `S = L^-H phi(L^H g) L^-1`, and of it the Hermitian part.
fn cholesky<'c>(at: &At<'c>) -> Tensor<'c> {
    let (g, l) = (at.g(), at.y(0));
    let phi = half_lower(product(l.adjoint(), g.lower(true)));
    let left = solved(at, l.adjoint(), phi, &["upper"]);
    let both = solved(at, l.adjoint(), left.adjoint(), &["upper"]).adjoint();
    (both + both.adjoint()) * both.number(Scalar::Float(0.5))
}

/// `gB = A^-H gX`, `gA = -gB X^H` in the triangle.
fn triangular_solve<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (a, x, options) = (at.x(0), at.y(0), options(at));
    let has = |name: &str| options.iter().any(|option| option == name);
    let turned: Vec<&str> =
        [("unit", has("unit")), ("upper", !has("upper"))].into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let by_rhs = solved(at, a.adjoint(), at.g(), &turned);
    let whole = -product(by_rhs, x.adjoint());
    let triangle = match (has("upper"), has("unit")) {
        (false, unit) => whole.lower(!unit),
        (true, unit) => whole.flipped().lower(!unit).flipped(),
    };
    vec![Some(triangle), Some(by_rhs)]
}

/// `P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H` of square matrices.
fn lu<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (g, packed) = (at.g(), at.y(0));
    if !packed.rows().same(packed.cols()) {
        return at.refuse("the factors of matrices that are not square");
    }
    let one = packed.number(Scalar::Int(1));
    let l = diagonal(packed).select(one, packed.lower(false));
    let u = packed.upper();
    let phi = product(l.adjoint(), g.lower(false)).lower(false) + product(g.upper(), u.adjoint()).upper();
    let left = solved(at, l.adjoint(), phi, &["unit", "upper"]);
    // X U^H = left, so U X^H = left^H.
    let both = solved(at, u, left.adjoint(), &["upper"]).adjoint();
    if options(at).iter().any(|option| option == "nopivot") {
        return vec![Some(both)];
    }
    let (order, rank) = (at.y(2), both.rank());
    let rows = order.unsqueeze(rank - 1).broadcast_to(&both.shape());
    vec![Some(both.filled(Scalar::Int(0)).scatter(both, &coordinates(rows, rank - 2), &both.all_dims(), "set"))]
}

/// `V (diag(gL) + V^H gV / gaps) V^H`.
fn eigh<'c>(at: &At<'c>) -> Tensor<'c> {
    let (values, vectors) = (at.y(0), at.y(1));
    let mut inner = as_diagonal(at.cotangent_or_zero(0), vectors);
    if let Some(g) = at.cotangent(1) {
        let gaps = values.unsqueeze(values.rank() - 1) - values.unsqueeze(values.rank());
        let gaps = diagonal(vectors).select(gaps.number(Scalar::Int(1)), gaps).convert(vectors.dtype());
        let turned = product(vectors.adjoint(), g) / gaps;
        inner = diagonal(vectors).select(inner, turned);
    }
    product(product(vectors, inner), vectors.adjoint())
}

/// `U ((skew(U^H gU) / gaps) S + S (skew(V^H gV) / gaps) + diag(gS)) V^H`, and what is orthogonal to the vectors.
fn svd<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (x, u, values, vh) = (at.x(0), at.y(0), at.y(1), at.y(2));
    let (gu, gvh) = (at.cotangent(0), at.cotangent(2));
    let least = values.size(values.rank() - 1);
    if !u.cols().same(least) && gu.is_some() || !vh.rows().same(least) && gvh.is_some() {
        return at.refuse("singular vectors beyond the singular values; ask for full_matrices=False");
    }
    if x.dtype().is_complex() && (gu.is_some() || gvh.is_some()) {
        return at.refuse("singular vectors of complex matrices, which are defined up to a phase");
    }
    let (u, vh) = (if u.cols().same(least) { u } else { u.slice(u.rank() - 1, 0, least, 1) }, vh.top(least));
    let square = values.square();
    let core = product(u.adjoint(), u);
    let mut inner = as_diagonal(at.cotangent_or_zero(1), core);
    let gaps = square.unsqueeze(square.rank() - 1) - square.unsqueeze(square.rank());
    let gaps = diagonal(core).select(gaps.number(Scalar::Int(1)), gaps);
    let skew = |m: Tensor<'c>| (m - m.adjoint()) / gaps;
    let (across, down) = (values.unsqueeze(values.rank() - 1), values.unsqueeze(values.rank()));
    if let Some(g) = gu {
        inner = inner + skew(product(u.adjoint(), g)) * across;
    }
    if let Some(g) = gvh {
        inner = inner + skew(product(vh, g.adjoint())) * down;
    }
    let mut gradient = product(product(u, inner), vh);
    if let Some(g) = gu.filter(|_| !x.rows().same(least)) {
        let rest = g - product(u, product(u.adjoint(), g));
        gradient = gradient + product(rest / across, vh);
    }
    if let Some(g) = gvh.filter(|_| !x.cols().same(least)) {
        let rest = g - product(product(g, vh.adjoint()), vh);
        gradient = gradient + product(u, rest / down);
    }
    vec![Some(gradient)]
}

/// The upper right block of `exp [[A^H, g], [0, A^H]]`.
fn matrix_exp<'c>(at: &At<'c>) -> Tensor<'c> {
    let (g, a) = (at.g(), at.x(0).adjoint());
    let (rank, n) = (a.rank(), a.rows());
    let top = at.prim.concat(&[a, g], rank - 1);
    let bottom = at.prim.concat(&[a.filled(Scalar::Int(0)), a], rank - 1);
    let whole = call(at, "matrix_exp", &[], &[at.prim.concat(&[top, bottom], rank - 2)], &[]).unwrap_or(g);
    whole.top(n).slice(rank - 1, n, n, 1)
}
