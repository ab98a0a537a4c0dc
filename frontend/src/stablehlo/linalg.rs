//! Linear algebra and Fourier transforms: ops of StableHLO, and LAPACK's routines as JAX calls them on the CPU.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::op;

use super::attributes::{ints, text, word};
use super::importer::{Importer, dtype};
use super::operators::Made;
use super::{sizes, window};
use crate::args::{self, b, d, i, is, s, t};

/// A transform along the last dimensions.
pub(super) fn fft<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, x: ir::Value<'c>) -> Made<'c> {
    let lengths = ints(op, "fft_length")?;
    let rank = x.ty().rank() as i64;
    let dims: Vec<_> = (rank - lengths.len() as i64..rank).collect();
    let last = lengths.last().copied().ok_or("it has no fft_length")?;
    // Normalisations of `aten`: 0 is none, 2 a division by the number of elements.
    match word(op, "fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]) {
        Some("FFT") => m.emit(op::_FFT_C2C, &[t(x), is(&dims), i(0), b(true)]),
        Some("IFFT") => m.emit(op::_FFT_C2C, &[t(x), is(&dims), i(2), b(false)]),
        Some("RFFT") => m.emit(op::_FFT_R2C, &[t(x), is(&dims), i(0), b(true)]),
        Some("IRFFT") => m.emit(op::_FFT_C2R, &[t(x), is(&dims), i(2), i(last)]),
        _ => Err(format!("its fft_type {} is not known", text(op, "fft_type"))),
    }
}

/// `triangular_solve`, on either side, with the matrix as it is, transposed or adjoint.
pub(super) fn triangular_solve<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, a: ir::Value<'c>, y: ir::Value<'c>) -> Made<'c> {
    let flag = |name: &str| op.attr(name).and_then(|value| value.as_bool()).ok_or_else(|| format!("it has no flag `{name}`"));
    let how = text(op, "transpose_a");
    let (transposed, adjoint) = (!how.contains("NO_TRANSPOSE"), how.contains("ADJOINT"));
    solve(m, a, y, flag("left_side")?, flag("lower")?, flag("unit_diagonal")?, transposed, adjoint)
}

fn solve<'c>(
    m: &mut Importer<'_, '_, 'c>,
    a: ir::Value<'c>,
    y: ir::Value<'c>,
    left: bool,
    lower: bool,
    unit: bool,
    transposed: bool,
    adjoint: bool,
) -> Made<'c> {
    let mut a = a;
    if transposed {
        a = m.emit(op::TRANSPOSE_INT, &[t(a), i(-2), i(-1)])?;
        if adjoint && dtype(a).is_complex() {
            a = m.emit(op::CONJ_PHYSICAL, &[t(a)])?;
        }
    }
    m.emit(op::LINALG_SOLVE_TRIANGULAR, &[t(a), t(y), b(lower == transposed), b(left), b(unit)])
}

/// `cholesky`: only the triangle that it reads is told.
pub(super) fn cholesky<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, a: ir::Value<'c>) -> Made<'c> {
    let lower = op.attr("lower").and_then(|lower| lower.as_bool()).unwrap_or(false);
    m.emit(op::LINALG_CHOLESKY_EX, &[t(a), b(!lower), b(false)])
}

/// The vectors of length 1 that an eigenvalue is one of from the left: `V^-H`.
fn left_vectors<'c>(m: &mut Importer<'_, '_, 'c>, right: ir::Value<'c>) -> Made<'c> {
    let inverse = m.emit_many(op::LINALG_INV_EX, &[t(right), b(false)])?.first().copied().unwrap_or(right);
    let turned = m.emit(op::TRANSPOSE_INT, &[t(inverse), i(-2), i(-1)])?;
    let adjoint = m.emit(op::CONJ_PHYSICAL, &[t(turned)])?;
    let length = m.emit(op::LINALG_VECTOR_NORM, &[t(adjoint), s(2), is(&[-2]), b(true)])?;
    m.emit(op::DIV_TENSOR, &[t(adjoint), t(length)])
}

/// A call of a routine that is not in the program.
pub(super) fn custom_call<'s, 'c>(
    m: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, String> {
    let target = op.str("call_target_name").unwrap_or_default();
    let config = op.attr("mhlo.backend_config");
    let number = |name: &str| config.and_then(|config| config.entry(name)).and_then(|value| value.as_int());
    // LAPACK's flags are letters.
    let flag = |name: &str, letter: u8| number(name).is_some_and(|value| value == i64::from(letter));
    // The routines of each element type: `s`, `d`, `c` or `z` in front.
    let routine = target.strip_prefix("lapack_").and_then(|name| name.strip_suffix("_ffi")).and_then(|name| name.get(1..));
    let zero = |m: &mut Importer<'_, 's, 'c>, place: usize| {
        let shape = op.result(place).ty().shape();
        m.emit(op::FULL, &[is(&shape), s(0), d(ElementType::I32)])
    };
    match (routine.unwrap_or(&target), operands) {
        ("stablehlo.dynamic_reduce_window", all) => window::dynamic_reduce(m, op, all),
        ("shape_assertion", all) => sizes::assertion(m, op, all).map(|()| Vec::new()),
        ("potrf", [a]) => {
            let upper = flag("uplo", b'U');
            let [factor, info] = m.emit_many(op::LINALG_CHOLESKY_EX, &[t(*a), b(upper), b(false)])?[..] else {
                return Err("a factor has no status".to_owned());
            };
            // The other triangle stays as it is.
            let (other, place) = if upper { (op::TRIL, -1) } else { (op::TRIU, 1) };
            let rest = m.emit(other, &[t(*a), i(place)])?;
            Ok(vec![m.emit(op::ADD_TENSOR, &[t(factor), t(rest)])?, info])
        }
        ("trsm", [a, y]) => {
            let (left, lower, unit) = (flag("side", b'L'), flag("uplo", b'L'), flag("diag", b'U'));
            let (plain, adjoint) = (flag("trans_x", b'N'), flag("trans_x", b'C'));
            Ok(vec![solve(m, *a, *y, left, lower, unit, !plain, adjoint)?])
        }
        ("getrf", [a]) => m.emit_many(op::LINALG_LU_FACTOR_EX, &[t(*a), b(true), b(false)]),
        ("geqrf", [a]) => m.emit_many(op::GEQRF, &[t(*a)]),
        ("orgqr" | "ungqr", [a, tau]) => Ok(vec![m.emit(op::LINALG_HOUSEHOLDER_PRODUCT, &[t(*a), t(*tau)])?]),
        ("syevd" | "heevd", [a]) => {
            let side = args::text(if flag("uplo", b'L') { "L" } else { "U" });
            let [values, vectors] = m.emit_many(op::_LINALG_EIGH, &[t(*a), side, b(true)])?[..] else {
                return Err("eigenvalues have no vectors".to_owned());
            };
            Ok(vec![vectors, values, zero(m, 2)?])
        }
        ("gesdd", [a]) if !flag("mode", b'N') => {
            let found = m.emit_many(op::_LINALG_SVD, &[t(*a), b(flag("mode", b'A')), b(true)])?;
            let [u, values, v] = found[..] else { return Err("a decomposition has other parts than three".to_owned()) };
            Ok(vec![*a, values, u, v, zero(m, 4)?])
        }
        ("gesdd", [a]) => {
            // The vectors that it does not compute are nobody's.
            let values = m.emit(op::LINALG_SVDVALS, &[t(*a)])?;
            let none = |m: &mut Importer<'_, 's, 'c>, place: usize| {
                let shape = op.result(place).ty().shape();
                m.emit(op::FULL, &[is(&shape), s(0), d(dtype(*a))])
            };
            Ok(vec![*a, values, none(m, 2)?, none(m, 3)?, zero(m, 4)?])
        }
        ("geev", [a]) => {
            let [values, right] = m.emit_many(op::LINALG_EIG, &[t(*a)])?[..] else {
                return Err("eigenvalues have no vectors".to_owned());
            };
            let left = if flag("compute_left", b'V') { left_vectors(m, right)? } else { right };
            let mut results =
                if dtype(*a).is_complex() { vec![values] } else { vec![m.emit(op::REAL, &[t(values)])?, m.emit(op::IMAG, &[t(values)])?] };
            results.extend([left, right, zero(m, op.num_results() - 1)?]);
            Ok(results)
        }
        ("ApproxTopK", [x, places, ..]) => {
            let count = number("top_k").ok_or("it has no number `top_k`")?;
            super::sort::approximate_top_k(m, op, *x, *places, count, number("reduction_dim").ok_or("it has no number `reduction_dim`")?)
        }
        _ => Err(format!("there is no routine `{target}` here")),
    }
}
