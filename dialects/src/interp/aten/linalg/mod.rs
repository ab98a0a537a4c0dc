//! Linear algebra on batches of matrices.

mod factor;
mod norms;
mod solve;
mod spectrum;

use num_complex::Complex64;

pub(in crate::interp) use factor::{ldl_parts, ldl_solved, lu_parts, packed_qr, reflected};
pub(in crate::interp) use spectrum::{eig, eigh_of, svd};

use factor::*;
use norms::*;
use solve::*;
use spectrum::*;

use super::Arm::{self, Op};
use super::matmul::matmul;
use super::reduce::{magnitude, p_norm, reduce};
use crate::interp::dtype::{DType, Scalar, promote};
use crate::interp::math::matrix::Matrix;
use crate::interp::tensor::{Tensor, broadcast_shape};
use crate::interp::value::{Args, InterpError, Results, Value, fail, many, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten._linalg_det", Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = kept_factors(x)?; many([determinant(x)?, lu, p]) })),
    ("aten._linalg_eigh", Op(|a| eigh(a, "A"))),
    ("aten._linalg_eigvals", Op(|a| one(eig(a.tensor("self")?)?.0))),
    ("aten._linalg_slogdet", Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = kept_factors(x)?; let (s, l) = slogdet(x)?; many([s, l, lu, p]) })),
    ("aten._linalg_solve_ex", Op(|a| { let (x, info) = solve(a)?; let (lu, p, _) = lu_parts(a.tensor("A")?, true)?; many([x, lu, p, info]) })),
    ("aten._linalg_svd", Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
    ("aten._lu_with_info", Op(|a| { let (lu, p, i) = lu_parts(a.tensor("self")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    ("aten.cholesky_inverse", Op(cholesky_inverse)),
    ("aten.cholesky_solve", Op(cholesky_solve)),
    ("aten.det", Op(|a| one(determinant(a.tensor("self")?)?))),
    ("aten.geqrf", Op(|a| packed_qr(a.tensor("self")?))),
    ("aten.inverse", Op(|a| one(inverse(a.tensor("self")?)?.0))),
    ("aten.linalg_cholesky", Op(|a| one(cholesky(a)?.0))),
    ("aten.linalg_cholesky_ex", Op(|a| { let (l, i) = cholesky(a)?; many([l, i]) })),
    ("aten.linalg_cond", Op(cond)),
    ("aten.linalg_cond.p_str", Op(cond)),
    ("aten.linalg_det", Op(|a| one(determinant(a.tensor("A")?)?))),
    ("aten.linalg_eig", Op(|a| { let (w, v) = eig(a.tensor("self")?)?; many([w, v]) })),
    ("aten.linalg_eigh", Op(|a| eigh(a, "self"))),
    ("aten.linalg_eigvals", Op(|a| one(eig(a.tensor("self")?)?.0))),
    ("aten.linalg_eigvalsh", Op(|a| Ok(eigh(a, "self")?.into_iter().take(1).collect()))),
    ("aten.linalg_householder_product", Op(|a| reflected(a.tensor("input")?, a.tensor("tau")?))),
    ("aten.linalg_inv", Op(|a| one(inverse(a.tensor("A")?)?.0))),
    ("aten.linalg_inv_ex", Op(|a| { let (x, i) = inverse(a.tensor("A")?)?; many([x, i]) })),
    ("aten.linalg_ldl_factor", Op(|a| { let (ld, p, _) = ldl(a)?; many([ld, p]) })),
    ("aten.linalg_ldl_factor_ex", Op(|a| { let (ld, p, i) = ldl(a)?; many([ld, p, i]) })),
    ("aten.linalg_ldl_solve", Op(ldl_solve)),
    ("aten.linalg_lu", Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; unpacked(&lu, &p) })),
    ("aten.linalg_lu_factor", Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p]) })),
    ("aten.linalg_lu_factor_ex", Op(|a| { let (lu, p, i) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    ("aten.linalg_lu_solve", Op(|a| lu_solve(a.tensor("LU")?, a.tensor("pivots")?, a.tensor("B")?, a.flag("left")?, a.flag("adjoint")?))),
    ("aten.linalg_matrix_exp", Op(matrix_exp)),
    ("aten.linalg_matrix_norm", Op(matrix_norm_arm)),
    ("aten.linalg_matrix_norm.str_ord", Op(matrix_norm_arm)),
    ("aten.linalg_matrix_power", Op(matrix_power)),
    ("aten.linalg_matrix_rank", Op(|a| matrix_rank(a, one_bound(a, "tol")?))),
    ("aten.linalg_matrix_rank.atol_rtol_float", Op(|a| matrix_rank(a, bounds(a)?))),
    ("aten.linalg_matrix_rank.atol_rtol_tensor", Op(|a| matrix_rank(a, bounds(a)?))),
    ("aten.linalg_matrix_rank.tol_tensor", Op(|a| matrix_rank(a, one_bound(a, "tol")?))),
    ("aten.linalg_matrix_sqrth", Op(|a| spectral(a.tensor("self")?, |v| v.max(0.0).sqrt()))),
    ("aten.linalg_norm", Op(norm)),
    ("aten.linalg_norm.ord_str", Op(norm)),
    ("aten.linalg_pinv", Op(|a| pinv(a.tensor("self")?, one_bound(a, "rcond")?, a.flag("hermitian")?))),
    ("aten.linalg_pinv.atol_rtol_float", Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
    ("aten.linalg_pinv.atol_rtol_tensor", Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
    ("aten.linalg_pinv.rcond_tensor", Op(|a| pinv(a.tensor("self")?, one_bound(a, "rcond")?, a.flag("hermitian")?))),
    ("aten.linalg_polar", Op(polar)),
    ("aten.linalg_qr", Op(qr)),
    ("aten.linalg_slogdet", Op(|a| { let (s, l) = slogdet(a.tensor("A")?)?; many([s, l]) })),
    ("aten.linalg_solve", Op(|a| one(solve(a)?.0))),
    ("aten.linalg_solve_ex", Op(|a| { let (x, i) = solve(a)?; many([x, i]) })),
    ("aten.linalg_solve_triangular", Op(solve_triangular)),
    ("aten.linalg_svd", Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
    ("aten.linalg_svdvals", Op(|a| one(svd(a.tensor("A")?, false)?.1))),
    ("aten.linalg_tensorinv", Op(tensorinv)),
    ("aten.linalg_tensorsolve", Op(tensorsolve)),
    ("aten.logdet", Op(|a| { let (s, l) = slogdet(a.tensor("self")?)?; one(Tensor::from_scalars(s.dtype(), s.shape(), (0..s.len()).map(|k| log_determinant(s.at(k), l.at(k))))?) })),
    ("aten.lu_solve", Op(|a| lu_solve(a.tensor("LU_data")?, a.tensor("LU_pivots")?, a.tensor("self")?, true, false))),
    ("aten.lu_unpack", Op(lu_unpack)),
    ("aten.matrix_exp", Op(matrix_exp)),
    ("aten.matrix_power", Op(matrix_power)),
    ("aten.nuclear_norm", Op(|a| nuclear_norm(a, &[0, 1]))),
    ("aten.nuclear_norm.dim", Op(|a| nuclear_norm(a, &a.ints("dim")?))),
    ("aten.orgqr", Op(|a| reflected(a.tensor("self")?, a.tensor("input2")?))),
    ("aten.ormqr", Op(ormqr)),
    ("aten.pinverse", Op(|a| { let r = a.float("rcond")?; pinv(a.tensor("self")?, (None, Some(Tensor::scalar(DType::F64, Scalar::Float(r)))), false) })),
    ("aten.slogdet", Op(|a| { let (s, l) = slogdet(a.tensor("self")?)?; many([s, l]) })),
    ("aten.svd", Op(svd_v)),
    ("aten.triangular_solve", Op(triangular_solve)),
    ("prims.svd", Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
];

/// The batch's shape and its matrices.
pub(in crate::interp) fn matrices(x: &Tensor) -> Result<(Vec<usize>, Vec<Matrix>), InterpError> {
    let r = x.rank();
    if r < 2 {
        return Err(fail("a matrix was expected"));
    }
    let (batch, rows, cols) = (x.shape()[..r - 2].to_vec(), x.shape()[r - 2], x.shape()[r - 1]);
    let count: usize = batch.iter().product();
    Ok((batch, (0..count).map(|b| Matrix::build(rows, cols, |i, j| x.at((b * rows + i) * cols + j).complex())).collect()))
}

pub(super) fn square(x: &Tensor) -> Result<(Vec<usize>, Vec<Matrix>), InterpError> {
    let n = x.rank();
    if n < 2 || x.shape()[n - 1] != x.shape()[n - 2] {
        return Err(fail("a square matrix was expected"));
    }
    matrices(x)
}

/// A batch of matrices as a tensor; `size` is known even when the batch is empty.
pub(in crate::interp) fn tensor(dtype: DType, batch: &[usize], size: [usize; 2], ms: &[Matrix]) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, &[batch, &size].concat(), ms.iter().flat_map(|m| m.elements().iter().map(|&v| Scalar::Complex(v)).collect::<Vec<_>>()))
}

pub(super) fn numbers(dtype: DType, shape: &[usize], v: impl IntoIterator<Item = f64>) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, shape, v.into_iter().map(Scalar::Float))
}

/// Maps every matrix to one of a known size.
pub(in crate::interp) fn mapped(x: &Tensor, size: [usize; 2], f: impl Fn(&Matrix) -> Matrix) -> Results {
    let (batch, ms) = matrices(x)?;
    one(tensor(x.dtype(), &batch, size, &ms.iter().map(f).collect::<Vec<_>>())?)
}

pub(in crate::interp) fn sides(x: &Tensor) -> [usize; 2] {
    [x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]]
}

/// A batch shape with the matrices of two tensors.
pub(in crate::interp) type Paired = (Vec<usize>, Vec<Matrix>, Vec<Matrix>);

/// Two tensors with one broadcast batch.
pub(in crate::interp) fn paired(a: &Tensor, b: &Tensor) -> Result<Paired, InterpError> {
    if a.rank() < 2 || b.rank() < 2 {
        return Err(fail("matrices were expected"));
    }
    let batch = broadcast_shape(&[&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]])?;
    let wide = |t: &Tensor| t.expand(&[&batch[..], &sides(t)].concat());
    Ok((batch.clone(), matrices(&wide(a)?)?.1, matrices(&wide(b)?)?.1))
}
