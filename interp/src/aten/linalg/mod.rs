//! Linear algebra on batches of matrices.

mod factor;
mod norms;
mod solve;
mod spectrum;

use num_complex::Complex64;

pub(crate) use factor::{ldl_parts, ldl_solved, lu_parts, packed_qr, reflected};
pub(crate) use spectrum::{eig, eigh_of, svd};

use factor::*;
use norms::*;
use solve::*;
use spectrum::*;

use super::Arm::{self, Op};
use super::matmul::matmul;
use super::reduce::{magnitude, p_norm, reduce};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar, promote};
use crate::math::matrix::Matrix;
use crate::tensor::{Tensor, broadcast_shape};
use crate::value::{Args, InterpError, Results, Value, fail, many, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_LINALG_DET, Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = kept_factors(x)?; many([determinant(x)?, lu, p]) })),
    (_LINALG_EIGH, Op(|a| eigh(a, "A"))),
    (_LINALG_EIGVALS, Op(|a| one(eig(a.tensor("self")?)?.0))),
    (_LINALG_SLOGDET, Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = kept_factors(x)?; let (s, l) = slogdet(x)?; many([s, l, lu, p]) })),
    (_LINALG_SOLVE_EX, Op(|a| { let (x, info) = solve(a)?; let (lu, p, _) = lu_parts(a.tensor("A")?, true)?; many([x, lu, p, info]) })),
    (_LINALG_SVD, Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
    (_LU_WITH_INFO, Op(|a| { let (lu, p, i) = lu_parts(a.tensor("self")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    (CHOLESKY_INVERSE, Op(cholesky_inverse)),
    (CHOLESKY_SOLVE, Op(cholesky_solve)),
    (DET, Op(|a| one(determinant(a.tensor("self")?)?))),
    (GEQRF, Op(|a| packed_qr(a.tensor("self")?))),
    (INVERSE, Op(|a| one(inverse(a.tensor("self")?)?.0))),
    (LINALG_CHOLESKY, Op(|a| one(cholesky(a)?.0))),
    (LINALG_CHOLESKY_EX, Op(|a| { let (l, i) = cholesky(a)?; many([l, i]) })),
    (LINALG_COND, Op(cond)),
    (LINALG_COND_P_STR, Op(cond)),
    (LINALG_DET, Op(|a| one(determinant(a.tensor("A")?)?))),
    (LINALG_EIG, Op(|a| { let (w, v) = eig(a.tensor("self")?)?; many([w, v]) })),
    (LINALG_EIGH, Op(|a| eigh(a, "self"))),
    (LINALG_EIGVALS, Op(|a| one(eig(a.tensor("self")?)?.0))),
    (LINALG_EIGVALSH, Op(|a| Ok(eigh(a, "self")?.into_iter().take(1).collect()))),
    (LINALG_HOUSEHOLDER_PRODUCT, Op(|a| reflected(a.tensor("input")?, a.tensor("tau")?))),
    (LINALG_INV, Op(|a| one(inverse(a.tensor("A")?)?.0))),
    (LINALG_INV_EX, Op(|a| { let (x, i) = inverse(a.tensor("A")?)?; many([x, i]) })),
    (LINALG_LDL_FACTOR, Op(|a| { let (ld, p, _) = ldl(a)?; many([ld, p]) })),
    (LINALG_LDL_FACTOR_EX, Op(|a| { let (ld, p, i) = ldl(a)?; many([ld, p, i]) })),
    (LINALG_LDL_SOLVE, Op(ldl_solve)),
    (LINALG_LU, Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; unpacked(&lu, &p) })),
    (LINALG_LU_FACTOR, Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p]) })),
    (LINALG_LU_FACTOR_EX, Op(|a| { let (lu, p, i) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    (LINALG_LU_SOLVE, Op(|a| lu_solve(a.tensor("LU")?, a.tensor("pivots")?, a.tensor("B")?, a.flag("left")?, a.flag("adjoint")?))),
    (LINALG_MATRIX_EXP, Op(matrix_exp)),
    (LINALG_MATRIX_NORM, Op(matrix_norm_arm)),
    (LINALG_MATRIX_NORM_STR_ORD, Op(matrix_norm_arm)),
    (LINALG_MATRIX_POWER, Op(matrix_power)),
    (LINALG_MATRIX_RANK, Op(|a| matrix_rank(a, one_bound(a, "tol")?))),
    (LINALG_MATRIX_RANK_ATOL_RTOL_FLOAT, Op(|a| matrix_rank(a, bounds(a)?))),
    (LINALG_MATRIX_RANK_ATOL_RTOL_TENSOR, Op(|a| matrix_rank(a, bounds(a)?))),
    (LINALG_MATRIX_RANK_TOL_TENSOR, Op(|a| matrix_rank(a, one_bound(a, "tol")?))),
    (LINALG_MATRIX_SQRTH, Op(|a| spectral(a.tensor("self")?, |v| v.max(0.0).sqrt()))),
    (LINALG_NORM, Op(norm)),
    (LINALG_NORM_ORD_STR, Op(norm)),
    (LINALG_PINV, Op(|a| pinv(a.tensor("self")?, one_bound(a, "rcond")?, a.flag("hermitian")?))),
    (LINALG_PINV_ATOL_RTOL_FLOAT, Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
    (LINALG_PINV_ATOL_RTOL_TENSOR, Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
    (LINALG_PINV_RCOND_TENSOR, Op(|a| pinv(a.tensor("self")?, one_bound(a, "rcond")?, a.flag("hermitian")?))),
    (LINALG_POLAR, Op(polar)),
    (LINALG_QR, Op(qr)),
    (LINALG_SLOGDET, Op(|a| { let (s, l) = slogdet(a.tensor("A")?)?; many([s, l]) })),
    (LINALG_SOLVE, Op(|a| one(solve(a)?.0))),
    (LINALG_SOLVE_EX, Op(|a| { let (x, i) = solve(a)?; many([x, i]) })),
    (LINALG_SOLVE_TRIANGULAR, Op(solve_triangular)),
    (LINALG_SVD, Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
    (LINALG_SVDVALS, Op(|a| one(svd(a.tensor("A")?, false)?.1))),
    (LINALG_TENSORINV, Op(tensorinv)),
    (LINALG_TENSORSOLVE, Op(tensorsolve)),
    (LOGDET, Op(|a| { let (s, l) = slogdet(a.tensor("self")?)?; one(Tensor::from_scalars(s.dtype(), s.shape(), (0..s.len()).map(|k| log_determinant(s.at(k), l.at(k))))?) })),
    (LU_SOLVE, Op(|a| lu_solve(a.tensor("LU_data")?, a.tensor("LU_pivots")?, a.tensor("self")?, true, false))),
    (LU_UNPACK, Op(lu_unpack)),
    (MATRIX_EXP, Op(matrix_exp)),
    (MATRIX_POWER, Op(matrix_power)),
    (NUCLEAR_NORM, Op(|a| nuclear_norm(a, &[0, 1]))),
    (NUCLEAR_NORM_DIM, Op(|a| nuclear_norm(a, &a.ints("dim")?))),
    (ORGQR, Op(|a| reflected(a.tensor("self")?, a.tensor("input2")?))),
    (ORMQR, Op(ormqr)),
    (PINVERSE, Op(|a| { let r = a.float("rcond")?; pinv(a.tensor("self")?, (None, Some(Tensor::scalar(DType::F64, Scalar::Float(r)))), false) })),
    (SLOGDET, Op(|a| { let (s, l) = slogdet(a.tensor("self")?)?; many([s, l]) })),
    (SVD, Op(svd_v)),
    (TRIANGULAR_SOLVE, Op(triangular_solve)),
    (prims::SVD, Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
];

/// The batch's shape and its matrices.
pub(crate) fn matrices(x: &Tensor) -> Result<(Vec<usize>, Vec<Matrix>), InterpError> {
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
pub(crate) fn tensor(dtype: DType, batch: &[usize], size: [usize; 2], ms: &[Matrix]) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, &[batch, &size].concat(), ms.iter().flat_map(|m| m.elements().iter().map(|&v| Scalar::Complex(v)).collect::<Vec<_>>()))
}

pub(super) fn numbers(dtype: DType, shape: &[usize], v: impl IntoIterator<Item = f64>) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, shape, v.into_iter().map(Scalar::Float))
}

/// Maps every matrix to one of a known size.
pub(crate) fn mapped(x: &Tensor, size: [usize; 2], f: impl Fn(&Matrix) -> Matrix) -> Results {
    let (batch, ms) = matrices(x)?;
    one(tensor(x.dtype(), &batch, size, &ms.iter().map(f).collect::<Vec<_>>())?)
}

pub(crate) fn sides(x: &Tensor) -> [usize; 2] {
    [x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]]
}

/// A batch shape with the matrices of two tensors.
pub(crate) type Paired = (Vec<usize>, Vec<Matrix>, Vec<Matrix>);

/// Two tensors with one broadcast batch.
pub(crate) fn paired(a: &Tensor, b: &Tensor) -> Result<Paired, InterpError> {
    if a.rank() < 2 || b.rank() < 2 {
        return Err(fail("matrices were expected"));
    }
    let batch = broadcast_shape(&[&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]])?;
    let wide = |t: &Tensor| t.expand(&[&batch[..], &sides(t)].concat());
    Ok((batch.clone(), matrices(&wide(a)?)?.1, matrices(&wide(b)?)?.1))
}
