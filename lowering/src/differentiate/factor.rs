//! Gradients of factorisations.
//!
//! The formulas are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), and
//! PyTorch's in `FunctionsManual.cpp`.

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim::library::TURNED;
use strata_dialects::prim_builder::{Scalar, Tensor, coordinates};

use super::library::{call, options};
use super::rule::{At, Cotangents};

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

/// `L^-H M L^-1` with a half of the lower triangle of `L^H g` in both triangles of `M`.
pub(super) fn cholesky<'c>(at: &At<'c>, g: Tensor<'c>, l: Tensor<'c>) -> Tensor<'c> {
    let inner = product(l.adjoint(), g.lower(true));
    let phi = (inner.lower(true) + inner.lower(false).adjoint()) * inner.number(Scalar::Float(0.5));
    let left = solved(at, l.adjoint(), phi, &["upper"]);
    solved(at, l.adjoint(), left.adjoint(), &["upper"]).adjoint()
}

/// The Hermitian part of matrices.
pub(super) fn hermitian(x: Tensor<'_>) -> Tensor<'_> {
    (x + x.adjoint()) * x.number(Scalar::Float(0.5))
}

/// `gB = A^-H gX`, `gA = -gB X^H` in the triangle.
pub(super) fn triangular_solve<'c>(at: &At<'c>) -> Cotangents<'c> {
    let (x, options) = (at.y(0), options(at));
    let has = |name: &str| options.iter().any(|option| option == name);
    let as_given = |a: Tensor<'c>| if has(TURNED) { a.flipped() } else { a };
    let of_adjoint: Vec<&str> =
        [("unit", has("unit")), ("upper", !has("upper"))].into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let by_rhs = solved(at, as_given(at.x(0)).adjoint(), at.g(), &of_adjoint);
    let whole = -product(by_rhs, x.adjoint());
    let triangle = match (has("upper"), has("unit")) {
        (false, unit) => whole.lower(!unit),
        (true, unit) => whole.flipped().lower(!unit).flipped(),
    };
    vec![Some(as_given(triangle)), Some(by_rhs)]
}

/// `P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H` of the square part. What is below it is `gL' U^-H`, what is right of it `L^-H gU'`, and the
/// square part loses by them what they depend on it.
pub(super) fn lu<'c>(at: &At<'c>) -> Tensor<'c> {
    let (g, packed) = (at.g().flipped(), at.y(0).flipped());
    let (rows, cols, rank) = (packed.rows(), packed.cols(), packed.rank());
    let least = rows.min(cols);
    let square = |x: Tensor<'c>| x.top(least).slice(rank - 1, 0, least, 1);
    let (factors, inner) = (square(packed), square(g));
    let l = diagonal(factors).select(factors.number(Scalar::Int(1)), factors.lower(false));
    let u = factors.upper();
    let (mut by_l, mut by_u) = (product(l.adjoint(), inner.lower(false)), product(inner.upper(), u.adjoint()));
    // X U^H = M, so U X^H = M^H.
    let over_u = |m: Tensor<'c>| solved(at, u, m.adjoint(), &["upper"]).adjoint();
    let over_l = |m: Tensor<'c>| solved(at, l.adjoint(), m, &["unit", "upper"]);
    let (mut below, mut right) = (None, None);
    if !rows.same(least) {
        let (rest, g) = (packed.slice(rank - 2, least, rows - least, 1), g.slice(rank - 2, least, rows - least, 1));
        by_u = by_u - product(rest.adjoint(), g);
        below = Some(over_u(g));
    }
    if !cols.same(least) {
        let (rest, g) = (packed.slice(rank - 1, least, cols - least, 1), g.slice(rank - 1, least, cols - least, 1));
        by_l = by_l - product(g, rest.adjoint());
        right = Some(over_l(g));
    }
    let mut whole = over_u(over_l(by_l.lower(false) + by_u.upper()));
    whole = right.map_or(whole, |right| at.prim.concat(&[whole, right], rank - 1));
    whole = below.map_or(whole, |below| at.prim.concat(&[whole, below], rank - 2));
    if options(at).iter().any(|option| option == "nopivot") {
        return whole.flipped();
    }
    let rows = at.y(2).unsqueeze(rank - 1).broadcast_to(&whole.shape());
    whole.filled(Scalar::Int(0)).scatter(whole, &coordinates(rows, rank - 2), &whole.all_dims(), "set").flipped()
}

/// `V (diag(gL) + V^H gV / gaps) V^H`, and of it the Hermitian part.
pub(super) fn eigh<'c>(at: &At<'c>) -> Tensor<'c> {
    let (values, vectors) = (at.y(0), at.y(1));
    let mut inner = as_diagonal(at.cotangent_or_zero(0), vectors);
    if let Some(g) = at.cotangent(1) {
        let gaps = values.unsqueeze(values.rank() - 1) - values.unsqueeze(values.rank());
        let gaps = diagonal(vectors).select(gaps.number(Scalar::Int(1)), gaps).convert(vectors.dtype());
        let turned = product(vectors.adjoint(), g);
        if vectors.dtype().is_complex() {
            let along = diagonal_of(turned).imag();
            one_phase(at, along, along.filled(Scalar::Int(0)), "eigh");
        }
        inner = diagonal(vectors).select(inner, turned / gaps);
    }
    product(product(vectors, hermitian(inner)), vectors.adjoint())
}

/// `U ((skew(U^H gU) / gaps) S + S (skew(V^H gV) / gaps) + diag(gS)) V^H`, and what is orthogonal to the vectors. Vectors beyond the singular
/// values have none, as in PyTorch.
pub(super) fn svd<'c>(at: &At<'c>) -> Tensor<'c> {
    let (x, u, values, vh) = (at.x(0), at.y(0), at.y(1), at.y(2));
    let (least, last) = (values.size(values.rank() - 1), u.rank() - 1);
    let left = |m: Tensor<'c>| if m.cols().same(least) { m } else { m.slice(last, 0, least, 1) };
    let (gu, gvh) = (at.cotangent(0).map(left), at.cotangent(2).map(|g| g.top(least)));
    let (u, vh) = (left(u), vh.top(least));
    let square = values.square();
    let zero = product(u.adjoint(), u).filled(Scalar::Int(0));
    let gaps = square.unsqueeze(square.rank() - 1) - square.unsqueeze(square.rank());
    let gaps = diagonal(zero).select(gaps.number(Scalar::Int(1)), gaps).convert(zero.dtype());
    let skew = |m: Tensor<'c>| m - m.adjoint();
    let by_u = gu.map_or(zero, |g| skew(product(u.adjoint(), g)));
    let by_v = gvh.map_or(zero, |g| skew(product(vh, g.adjoint())));
    let numbers = values.convert(zero.dtype());
    let (across, down) = (numbers.unsqueeze(values.rank() - 1), numbers.unsqueeze(values.rank()));
    // Equal values have no gap, and need none where nobody asks for vectors.
    let mut inner = if gu.is_some() || gvh.is_some() { (by_u * across + by_v * down) / gaps } else { zero };
    let mut single = at.cotangent_or_zero(1).convert(zero.dtype()).unsqueeze(values.rank() - 1);
    if x.dtype().is_complex() && (gu.is_some() || gvh.is_some()) {
        one_phase(at, diagonal_of(by_u + by_v), diagonal_of(by_v), "svd");
        // A vector pair may turn by a common phase: what turns one alone turns the product.
        single = single + by_u / (across * 2.0);
    }
    inner = diagonal(zero).select(single.broadcast_to(&inner.shape()), inner);
    let mut gradient = product(product(u, inner), vh);
    if let Some(g) = gu.filter(|_| !x.rows().same(least)) {
        let rest = g - product(u, product(u.adjoint(), g));
        gradient = gradient + product(rest / across, vh);
    }
    if let Some(g) = gvh.filter(|_| !x.cols().same(least)) {
        let rest = g - product(product(g, vh.adjoint()), vh);
        gradient = gradient + product(u, rest / down);
    }
    gradient
}

/// `V^-H (diag(gL) + (V^H gV - V^H V diag(V^H gV)) / gaps^*) V^H` of vectors of length 1.
pub(super) fn eig<'c>(at: &At<'c>) -> Tensor<'c> {
    let (values, vectors) = (at.y(0), at.y(1));
    let mut inner = as_diagonal(at.cotangent_or_zero(0), vectors);
    if let Some(g) = at.cotangent(1) {
        let turned = product(vectors.adjoint(), g);
        let own = diagonal_of(turned);
        one_phase(at, own.imag(), own.imag().filled(Scalar::Int(0)), "eig");
        let lengths = product(vectors.adjoint(), vectors.columns_times(own.real()));
        let gaps = (values.unsqueeze(values.rank() - 1) - values.unsqueeze(values.rank())).conj();
        let gaps = diagonal(vectors).select(gaps.number(Scalar::Int(1)), gaps);
        inner = diagonal(vectors).select(inner, (turned - lengths) / gaps);
    }
    system(at, vectors.adjoint(), product(inner, vectors.adjoint()))
}

/// The cotangents of `H_1 .. H_k E` with `H = I - tau v v^H`, one reflection after the other: `-v^H M v` of `tau`, and of `v` what is below its 1 of
/// `-(tau^* M v + tau M^H v)`, where `M` is the cotangent before the reflection times the adjoint of what follows it.
pub(super) fn householder<'c>(at: &At<'c>) -> Cotangents<'c> {
    // Both matrices are given in columns.
    let (packed, taus, rank) = (at.x(0).flipped(), at.x(1), at.x(0).rank());
    let Some(count) = taus.size(rank - 2).known() else { return at.refuse("an unknown number of reflections") };
    let steps = at.prim.steps("the gradient of a product of reflections", count);
    let vectors = packed.lower(false);
    let ones = at.prim.identity(packed.dtype(), packed.rows(), packed.cols());
    let column = |k: i64| (vectors + ones).slice(rank - 1, k, 1, 1);
    let tau = |k: i64| taus.slice(rank - 2, k, 1, 1).unsqueeze(rank - 1);
    // What follows each reflection.
    let mut after = vec![ones.broadcast_to(&packed.shape())];
    for k in (1..steps.end).rev() {
        let (v, next) = (column(k), after[after.len() - 1]);
        after.push(next - product(v * tau(k), product(v.adjoint(), next)));
    }
    let (mut g, mut by_vectors, mut by_taus) = (at.g().flipped(), Vec::new(), Vec::new());
    for k in steps {
        let (v, tau) = (column(k), tau(k));
        let Some(next) = after.pop() else { break };
        let (forth, back) = (product(g, product(next.adjoint(), v)), product(next, product(g.adjoint(), v)));
        by_taus.push(-product(v.adjoint(), forth).squeeze(&[rank - 1]));
        by_vectors.push(-(forth * tau.conj() + back * tau));
        g = g - product(v * tau.conj(), product(v.adjoint(), g));
    }
    if by_taus.is_empty() {
        return Vec::new();
    }
    let by_vectors = at.prim.concat(&by_vectors, rank - 1);
    vec![Some(by_vectors.left(packed.cols()).lower(false).flipped()), Some(at.prim.concat(&by_taus, rank - 2))]
}

/// What of a cotangent of complex vectors is along their phase, which nothing says, is nothing beside `size`: PyTorch fails otherwise, and so
/// does the call.
fn one_phase<'c>(at: &At<'c>, along: Tensor<'c>, size: Tensor<'c>, name: &str) {
    let small = along.abs().less_equal(size.abs() * 1e-2 + 1e-2).reduce("and", &along.all_dims(), false);
    let text = format!("linalg.{name}: the vectors of complex numbers are given up to a phase, and the loss depends on it");
    at.prim.guard(small, &text, &[]);
}

/// The elements on the diagonal.
fn diagonal_of<'c>(x: Tensor<'c>) -> Tensor<'c> {
    diagonal(x).select(x, Scalar::Int(0)).reduce("sum", &[x.rank() - 1], false)
}

/// The solution X of `A X = B`.
fn system<'c>(at: &At<'c>, a: Tensor<'c>, b: Tensor<'c>) -> Tensor<'c> {
    let lu = at.prim.library("lu", &[], &[a.flipped()], &[a.rows()]);
    let [factors, _, order, ..] = lu.as_slice() else { return b };
    let factors = factors.flipped();
    let below = solved(at, factors, b.ordered(*order), &["unit"]);
    solved(at, factors, below, &["upper"])
}
