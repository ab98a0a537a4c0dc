//! Gradients of calls of the runtime library: transforms here, factorisations in [`super::factor`].

use strata_dialects::aten::dtype::DType;
use strata_dialects::prim;
use strata_dialects::prim::library::{FFT, FFT_COLUMNS, FFT_TURNED};
use strata_dialects::prim_builder::{Scalar, Size, Tensor, coordinates};

use super::factor;
use super::rule::Rule::Custom;
use super::rule::{At, Cotangents, Row, prim_rows};

prim_rows! {
    /// By function: triangular formulas for `cholesky`, `lu` and `triangular_solve`; gaps of eigenvalues and of singular values for `eig`, `eigh`
    /// and `svd`; reflection by reflection for `householder`; the adjoint for `fft`, `fft_columns`, `fft_turned`, `rfft` (zeros for the other half) and `irfft` (inner bins twice); the exponential of a block matrix for
    /// `matrix_exp`; `ctc_gradient` for `ctc`; back to their places for `order_statistics`. PyTorch: `cholesky_backward`,
    /// `lu_factor_ex_backward`, `linalg_eig_backward`, `svd_backward`, `householder_product_backward`, `fft_c2r_backward`, `linalg_matrix_exp_differential`.
    Library => Custom(library);
}

fn library<'c>(at: &At<'c>) -> Cotangents<'c> {
    let name = at.word("function");
    match name.as_str() {
        "cholesky" => vec![Some(factor::cholesky(at, at.g().flipped(), at.y(0).flipped()).flipped())],
        "eig" => vec![Some(factor::eig(at))],
        "eigh" => vec![Some(factor::eigh(at))],
        "householder" => factor::householder(at),
        "lu" => vec![Some(factor::lu(at))],
        "svd" => vec![Some(factor::svd(at))],
        "triangular_solve" => factor::triangular_solve(at),
        "matrix_exp" => vec![Some(matrix_exp(at))],
        FFT | FFT_COLUMNS | FFT_TURNED => {
            let inverse = options(at).is_empty();
            // The cotangent of a turned result has the columns as its rows.
            let turns = name == FFT_TURNED;
            let adjoint = call(at, if turns { FFT } else { &name }, if inverse { &["inverse"] } else { &[] }, &[at.g()], &[]);
            vec![adjoint.map(|g| if turns { g.flipped() } else { g })]
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
            let Some(gradient) = call(at, "ctc_gradient", &[], &operands, &[]) else { return Vec::new() };
            // An infinite loss that nothing depends on, as with `zero_infinity`: the gradient itself is no number there.
            let unused = at.y(0).equal(f64::INFINITY).and(at.g().equal(0)).unsqueeze(1).unsqueeze(2);
            vec![Some(gradient.fill_where(unused.broadcast_to(&gradient.shape()), 0))]
        }
        "lexsort" | "nms" | "permutation" => Vec::new(),
        name => at.refuse(format!("the library's `{name}` has none; PyTorch's operators that use it have rows at aten")),
    }
}

pub(super) fn options(at: &At<'_>) -> Vec<String> {
    let attr = at.op.attr("options").and_then(strata_core::ir::Attr::as_array).unwrap_or_default();
    attr.into_iter().filter_map(|option| option.as_str()).collect()
}

/// The first result of a function of the library.
pub(super) fn call<'c>(at: &At<'c>, name: &str, options: &[&str], operands: &[Tensor<'c>], new: &[Size<'c>]) -> Option<Tensor<'c>> {
    at.prim.library(name, options, operands, new).first().copied()
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
