//! Linear algebra on batches of matrices.

use num_complex::Complex64;

use super::Arm::{self, Op};
use super::matmul::matmul;
use super::reduce::{p_norm, reduce};
use crate::interp::dtype::{DType, Scalar, promote};
use crate::interp::math::matrix::Matrix;
use crate::interp::tensor::{Tensor, broadcast_shape};
use crate::interp::value::{Args, InterpError, Results, Value, fail, many, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("aten._linalg_det", Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = lu_parts(x, true)?; many([determinant(x)?, lu, p]) })),
    ("aten._linalg_eigh", Op(|a| eigh(a, "A"))),
    ("aten._linalg_slogdet", Op(|a| { let x = a.tensor("A")?; let (lu, p, _) = lu_parts(x, true)?; let (s, l) = slogdet(x)?; many([s, l, lu, p]) })),
    ("aten._linalg_solve_ex", Op(|a| { let (x, info) = solve(a)?; let (lu, p, _) = lu_parts(a.tensor("A")?, true)?; many([x, lu, p, info]) })),
    ("aten._linalg_svd", Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
    ("aten._lu_with_info", Op(|a| { let (lu, p, i) = lu_parts(a.tensor("self")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    ("aten.cholesky_inverse", Op(cholesky_inverse)),
    ("aten.cholesky_solve", Op(cholesky_solve)),
    ("aten.det", Op(|a| one(determinant(a.tensor("self")?)?))),
    ("aten.geqrf", Op(geqrf)),
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
    ("aten.linalg_householder_product", Op(householder)),
    ("aten.linalg_inv", Op(|a| one(inverse(a.tensor("A")?)?.0))),
    ("aten.linalg_inv_ex", Op(|a| { let (x, i) = inverse(a.tensor("A")?)?; many([x, i]) })),
    ("aten.linalg_lu", Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; unpacked(&lu, &p) })),
    ("aten.linalg_lu_factor", Op(|a| { let (lu, p, _) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p]) })),
    ("aten.linalg_lu_factor_ex", Op(|a| { let (lu, p, i) = lu_parts(a.tensor("A")?, a.flag("pivot")?)?; many([lu, p, i]) })),
    ("aten.linalg_lu_solve", Op(|a| lu_solve(a.tensor("LU")?, a.tensor("pivots")?, a.tensor("B")?, a.flag("left")?, a.flag("adjoint")?))),
    ("aten.linalg_matrix_exp", Op(matrix_exp)),
    ("aten.linalg_matrix_norm", Op(matrix_norm_arm)),
    ("aten.linalg_matrix_norm.str_ord", Op(matrix_norm_arm)),
    ("aten.linalg_matrix_power", Op(matrix_power)),
    ("aten.linalg_matrix_rank.atol_rtol_float", Op(matrix_rank)),
    ("aten.linalg_matrix_rank.atol_rtol_tensor", Op(matrix_rank)),
    ("aten.linalg_matrix_sqrth", Op(|a| spectral(a.tensor("self")?, |v| v.max(0.0).sqrt()))),
    ("aten.linalg_norm", Op(norm)),
    ("aten.linalg_norm.ord_str", Op(norm)),
    ("aten.linalg_pinv.atol_rtol_float", Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
    ("aten.linalg_pinv.atol_rtol_tensor", Op(|a| pinv(a.tensor("self")?, bounds(a)?, a.flag("hermitian")?))),
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
    ("aten.lu_unpack", Op(|a| unpacked(a.tensor("LU_data")?, a.tensor("LU_pivots")?))),
    ("aten.matrix_exp", Op(matrix_exp)),
    ("aten.matrix_power", Op(matrix_power)),
    ("aten.ormqr", Op(ormqr)),
    ("aten.pinverse", Op(|a| { let r = a.float("rcond")?; pinv(a.tensor("self")?, (None, Some(Tensor::scalar(DType::F64, Scalar::Float(r)))), false) })),
    ("aten.slogdet", Op(|a| { let (s, l) = slogdet(a.tensor("self")?)?; many([s, l]) })),
    ("aten.svd", Op(svd_v)),
    ("aten.triangular_solve", Op(triangular_solve)),
    ("prims.svd", Op(|a| { let (u, s, v) = svd(a.tensor("A")?, a.flag("full_matrices")?)?; many([u, s, v]) })),
];

/// The batch's shape and its matrices.
fn matrices(x: &Tensor) -> Result<(Vec<usize>, Vec<Matrix>), InterpError> {
    let r = x.rank();
    if r < 2 {
        return Err(fail("a matrix was expected"));
    }
    let (batch, rows, cols) = (x.shape()[..r - 2].to_vec(), x.shape()[r - 2], x.shape()[r - 1]);
    let count: usize = batch.iter().product();
    Ok((batch, (0..count).map(|b| Matrix::build(rows, cols, |i, j| x.at((b * rows + i) * cols + j).complex())).collect()))
}

fn square(x: &Tensor) -> Result<(Vec<usize>, Vec<Matrix>), InterpError> {
    let n = x.rank();
    if n < 2 || x.shape()[n - 1] != x.shape()[n - 2] {
        return Err(fail("a square matrix was expected"));
    }
    matrices(x)
}

/// A batch of matrices as a tensor; `size` is known even when the batch is empty.
fn tensor(dtype: DType, batch: &[usize], size: [usize; 2], ms: &[Matrix]) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, &[batch, &size].concat(), ms.iter().flat_map(|m| m.elements().iter().map(|&v| Scalar::Complex(v)).collect::<Vec<_>>()))
}

fn numbers(dtype: DType, shape: &[usize], v: impl IntoIterator<Item = f64>) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, shape, v.into_iter().map(Scalar::Float))
}

/// Maps every matrix to one of a known size.
fn mapped(x: &Tensor, size: [usize; 2], f: impl Fn(&Matrix) -> Matrix) -> Results {
    let (batch, ms) = matrices(x)?;
    one(tensor(x.dtype(), &batch, size, &ms.iter().map(f).collect::<Vec<_>>())?)
}

fn sides(x: &Tensor) -> [usize; 2] {
    [x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]]
}

/// A batch shape with the matrices of two tensors.
type Paired = (Vec<usize>, Vec<Matrix>, Vec<Matrix>);

/// Two tensors with one broadcast batch.
fn paired(a: &Tensor, b: &Tensor) -> Result<Paired, InterpError> {
    if a.rank() < 2 || b.rank() < 2 {
        return Err(fail("matrices were expected"));
    }
    let batch = broadcast_shape(&[&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]])?;
    let wide = |t: &Tensor| t.expand(&[&batch[..], &sides(t)].concat());
    Ok((batch.clone(), matrices(&wide(a)?)?.1, matrices(&wide(b)?)?.1))
}

fn determinant(x: &Tensor) -> Result<Tensor, InterpError> {
    let (batch, ms) = square(x)?;
    Tensor::from_scalars(x.dtype(), &batch, ms.iter().map(|m| Scalar::Complex(m.determinant())))
}

/// Sign and logarithm of the absolute value of the determinant.
fn slogdet(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let parts: Vec<(Complex64, f64)> = ms
        .iter()
        .map(|m| {
            let (lu, pivots, _) = m.lu(true);
            let odd = pivots.iter().enumerate().filter(|(k, p)| k != *p).count() % 2 == 1;
            (0..m.rows).map(|k| lu[(k, k)]).fold((Complex64::new(if odd { -1.0 } else { 1.0 }, 0.0), 0.0), |(s, l), d| if d.norm() == 0.0 { (0.0.into(), f64::NEG_INFINITY) } else { (s * d / d.norm(), l + d.norm().ln()) })
        })
        .collect();
    Ok((Tensor::from_scalars(x.dtype(), &batch, parts.iter().map(|p| Scalar::Complex(p.0)))?, numbers(x.dtype().real(), &batch, parts.iter().map(|p| p.1))?))
}

fn log_determinant(sign: Scalar, log: Scalar) -> Scalar {
    match sign {
        Scalar::Complex(s) => Scalar::Complex(s.ln() + log.float()),
        s if s.float() < 0.0 => Scalar::Float(f64::NAN),
        _ => log,
    }
}

/// Packed factors, 1-based pivots, and the first zero pivot.
fn lu_parts(x: &Tensor, pivot: bool) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let parts: Vec<_> = ms.iter().map(|m| m.lu(pivot)).collect();
    let lu = tensor(x.dtype(), &batch, [rows, cols], &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    let pivots = Tensor::from_scalars(DType::I32, &[&batch[..], &[rows.min(cols)]].concat(), parts.iter().flat_map(|p| p.1.iter().map(|&k| Scalar::Int(k as i128 + 1))))?;
    let info = Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.2 as i128)))?;
    Ok((lu, pivots, info))
}

/// 0-based pivots of each matrix of a batch.
fn pivots_of(p: &Tensor) -> Result<Vec<Vec<usize>>, InterpError> {
    let n = p.shape().last().copied().ok_or_else(|| fail("no pivots"))?;
    let natural = |v: i128| usize::try_from(v - 1).ok().ok_or_else(|| fail("a pivot below one"));
    let flat: Vec<usize> = p.ints().into_iter().map(natural).collect::<Result<_, _>>()?;
    Ok(if n == 0 { Vec::new() } else { flat.chunks(n).map(<[usize]>::to_vec).collect() })
}

fn unpacked(lu: &Tensor, p: &Tensor) -> Results {
    let (batch, ms) = matrices(lu)?;
    let ([rows, cols], pivots) = (sides(lu), pivots_of(p)?);
    let n = rows.min(cols);
    let zero = Complex64::new(0.0, 0.0);
    if pivots.iter().flatten().any(|&k| k >= rows) {
        return Err(fail("a pivot is out of range"));
    }
    let lower: Vec<Matrix> = ms.iter().map(|m| Matrix::build(rows, n, |r, c| if r == c { 1.0.into() } else if r > c { m[(r, c)] } else { zero })).collect();
    let upper: Vec<Matrix> = ms.iter().map(|m| Matrix::build(n, cols, |r, c| if r <= c { m[(r, c)] } else { zero })).collect();
    let none = Vec::new();
    let perms: Vec<Matrix> = (0..ms.len()).map(|k| Matrix::identity(rows).exchanged(pivots.get(k).unwrap_or(&none), false).transpose()).collect();
    many([tensor(lu.dtype(), &batch, [rows, rows], &perms)?, tensor(lu.dtype(), &batch, [rows, n], &lower)?, tensor(lu.dtype(), &batch, [n, cols], &upper)?])
}

fn lu_solve(lu: &Tensor, p: &Tensor, b: &Tensor, left: bool, adjoint: bool) -> Results {
    let batch = broadcast_shape(&[&lu.shape()[..lu.rank().saturating_sub(2)], &b.shape()[..b.rank().saturating_sub(2)]])?;
    let wide_p = p.expand(&[&batch[..], &p.shape()[p.rank() - 1..]].concat())?;
    let (batch, ms, bs) = paired(lu, b)?;
    let pivots = pivots_of(&wide_p)?;
    let none = Vec::new();
    let x: Vec<Matrix> = (0..ms.len())
        .map(|k| {
            let (m, p) = (&ms[k], pivots.get(k).unwrap_or(&none));
            // A x = b, and x A = b as A^T x^T = b^T.
            let rhs = if left { bs[k].clone() } else { bs[k].adjoint() };
            let x = if left != adjoint {
                m.solve_triangular(&m.solve_triangular(&rhs.exchanged(p, false), false, true), true, false)
            } else {
                let h = m.adjoint();
                h.solve_triangular(&h.solve_triangular(&rhs, false, false), true, true).exchanged(p, true)
            };
            if left { x } else { x.adjoint() }
        })
        .collect();
    one(tensor(b.dtype(), &batch, sides(b), &x)?)
}

/// `A x = B` (or `x A = B`); a vector B is told by its shape.
fn solve(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let (a, b) = (args.tensor("A")?, args.tensor("B")?);
    let left = args.flag("left")?;
    let vector = b.rank() == 1 || (b.rank() + 1 == a.rank() && b.shape() == &a.shape()[..a.rank() - 1]);
    let wide = if vector { b.unsqueeze(b.rank()) } else { b.clone() };
    let (batch, ms, bs) = paired(a, &wide)?;
    let solved: Vec<(Matrix, usize)> = ms.iter().zip(&bs).map(|(m, b)| if left || vector { m.solve(b) } else { let (x, i) = m.transpose().solve(&b.transpose()); (x.transpose(), i) }).collect();
    let x = tensor(promote(a.dtype(), b.dtype()), &batch, sides(&wide), &solved.iter().map(|s| s.0.clone()).collect::<Vec<_>>())?;
    let lead = &a.shape()[..a.rank() - 2];
    let count: usize = lead.iter().product();
    let info = Tensor::from_scalars(DType::I32, lead, solved.iter().take(count).map(|s| Scalar::Int(s.1 as i128)))?;
    Ok((if vector { x.reshape(&x.shape()[..x.rank() - 1])? } else { x }, info))
}

fn inverse(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let parts: Vec<(Matrix, usize)> = ms.iter().map(|m| m.solve(&Matrix::identity(m.rows))).collect();
    let y = tensor(x.dtype(), &batch, sides(x), &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    Ok((y, Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.1 as i128)))?))
}

fn cholesky(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let x = args.tensor("self")?;
    let upper = args.flag("upper")?;
    let (batch, ms) = square(x)?;
    let parts: Vec<(Matrix, usize)> = ms.iter().map(|m| if upper { let (l, i) = m.adjoint().cholesky(); (l.adjoint(), i) } else { m.cholesky() }).collect();
    let l = tensor(x.dtype(), &batch, sides(x), &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    Ok((l, Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.1 as i128)))?))
}

/// The matrix whose Cholesky factor is given; the other triangle is not read.
fn from_factor(m: &Matrix, upper: bool) -> Matrix {
    let l = Matrix::build(m.rows, m.cols, |r, c| if upper && r <= c || !upper && r >= c { m[(r, c)] } else { 0.0.into() });
    if upper { l.adjoint().times(&l) } else { l.times(&l.adjoint()) }
}

fn cholesky_inverse(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let upper = args.flag("upper")?;
    square(x)?;
    mapped(x, sides(x), |m| from_factor(m, upper).solve(&Matrix::identity(m.rows)).0)
}

fn cholesky_solve(args: &Args) -> Results {
    let (b, l) = (args.tensor("self")?, args.tensor("input2")?);
    let upper = args.flag("upper")?;
    let (batch, ls, bs) = paired(l, b)?;
    let x: Vec<Matrix> = ls.iter().zip(&bs).map(|(l, b)| from_factor(l, upper).solve(b).0).collect();
    one(tensor(b.dtype(), &batch, sides(b), &x)?)
}

fn solve_triangular(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("B")?);
    let (upper, left, unit) = (args.flag("upper")?, args.flag("left")?, args.flag("unitriangular")?);
    let (batch, ms, bs) = paired(a, b)?;
    let x: Vec<Matrix> = ms.iter().zip(&bs).map(|(m, b)| if left { m.solve_triangular(b, upper, unit) } else { m.transpose().solve_triangular(&b.transpose(), !upper, unit).transpose() }).collect();
    one(tensor(b.dtype(), &batch, sides(b), &x)?)
}

fn triangular_solve(args: &Args) -> Results {
    let (b, a) = (args.tensor("self")?, args.tensor("A")?);
    let (upper, transpose, unit) = (args.flag("upper")?, args.flag("transpose")?, args.flag("unitriangular")?);
    let (batch, ms, bs) = paired(a, b)?;
    let x: Vec<Matrix> = ms.iter().zip(&bs).map(|(m, b)| if transpose { m.transpose().solve_triangular(b, !upper, unit) } else { m.solve_triangular(b, upper, unit) }).collect();
    many([tensor(b.dtype(), &batch, sides(b), &x)?, tensor(a.dtype(), &batch, sides(a), &ms)?])
}

fn taus(t: &Tensor) -> Vec<Vec<Complex64>> {
    let n = t.shape().last().copied().unwrap_or(0);
    if n == 0 { Vec::new() } else { t.complexes().chunks(n).map(<[Complex64]>::to_vec).collect() }
}

fn geqrf(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let parts: Vec<_> = ms.iter().map(Matrix::geqrf).collect();
    let a = tensor(x.dtype(), &batch, [rows, cols], &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    let tau = Tensor::from_scalars(x.dtype(), &[&batch[..], &[rows.min(cols)]].concat(), parts.iter().flat_map(|p| p.1.iter().map(|&t| Scalar::Complex(t))))?;
    many([a, tau])
}

fn householder(args: &Args) -> Results {
    let x = args.tensor("input")?;
    let t = taus(args.tensor("tau")?);
    let (batch, ms) = matrices(x)?;
    let none = Vec::new();
    let q: Vec<Matrix> = ms.iter().enumerate().map(|(k, m)| m.reflections(t.get(k).unwrap_or(&none), m.cols)).collect();
    one(tensor(x.dtype(), &batch, sides(x), &q)?)
}

fn ormqr(args: &Args) -> Results {
    let (x, c) = (args.tensor("self")?, args.tensor("input3")?);
    let t = taus(args.tensor("input2")?);
    let (left, transpose) = (args.flag("left")?, args.flag("transpose")?);
    let ((_, ms), (batch, cs)) = (matrices(x)?, matrices(c)?);
    let none = Vec::new();
    let out: Vec<Matrix> = ms
        .iter()
        .zip(&cs)
        .enumerate()
        .map(|(k, (m, c))| {
            let q = m.reflections(t.get(k).unwrap_or(&none), m.rows);
            let q = if transpose { q.adjoint() } else { q };
            if left { q.times(c) } else { c.times(&q) }
        })
        .collect();
    one(tensor(c.dtype(), &batch, sides(c), &out)?)
}

fn qr(args: &Args) -> Results {
    let x = args.tensor("A")?;
    let (batch, ms) = matrices(x)?;
    let ([rows, cols], mode) = (sides(x), args.str("mode")?);
    let k = if mode == "complete" { rows } else { rows.min(cols) };
    let parts: Vec<_> = ms.iter().map(Matrix::geqrf).collect();
    let q: Vec<Matrix> = parts.iter().map(|(a, t)| a.reflections(t, k)).collect();
    let r: Vec<Matrix> = parts.iter().map(|(a, _)| Matrix::build(k, cols, |i, j| if i <= j { a[(i, j)] } else { 0.0.into() })).collect();
    let q = if mode == "r" { Tensor::zeros(x.dtype(), &[0])? } else { tensor(x.dtype(), &batch, [rows, k], &q)? };
    many([q, tensor(x.dtype(), &batch, [k, cols], &r)?])
}

fn eigh(args: &Args, name: &str) -> Results {
    let x = args.tensor(name)?;
    let upper = args.opt_str("UPLO")?.unwrap_or("L").eq_ignore_ascii_case("u");
    let (batch, ms) = square(x)?;
    let n = sides(x)[0];
    let parts: Vec<_> = ms
        .iter()
        .map(|m| {
            // Only one triangle is read.
            let read = |r: usize, c: usize| if (r < c) == upper { m[(r, c)] } else { m[(c, r)].conj() };
            Matrix::build(n, n, |r, c| if r == c { m[(r, r)].re.into() } else { read(r, c) }).eigh()
        })
        .collect();
    many([numbers(x.dtype().real(), &[&batch[..], &[n]].concat(), parts.iter().flat_map(|p| p.0.clone()))?, tensor(x.dtype(), &batch, [n, n], &parts.iter().map(|p| p.1.clone()).collect::<Vec<_>>())?])
}

fn eig(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let n = sides(x)[0];
    let mut parts: Vec<_> = ms.iter().map(Matrix::eig).collect();
    if !x.dtype().is_complex() {
        parts.iter_mut().for_each(|(w, v)| pair(w, v));
    }
    let dtype = x.dtype().complex();
    Ok((
        Tensor::from_scalars(dtype, &[&batch[..], &[n]].concat(), parts.iter().flat_map(|p| p.0.iter().map(|&v| Scalar::Complex(v))))?,
        tensor(dtype, &batch, [n, n], &parts.iter().map(|p| p.1.clone()).collect::<Vec<_>>())?,
    ))
}

/// Of two conjugate eigenvalues the one above the real axis comes first, as in LAPACK.
fn pair(w: &mut [Complex64], v: &mut Matrix) {
    let mut k = 0;
    while k + 1 < w.len() {
        let small = 1e-9 * w[k].norm().max(1e-300);
        if (w[k] - w[k + 1].conj()).norm() > small || w[k].im.abs() <= small {
            k += 1;
            continue;
        }
        if w[k].im < 0.0 {
            w.swap(k, k + 1);
            *v = Matrix::build(v.rows, v.cols, |r, c| v[(r, if c == k { k + 1 } else if c == k + 1 { k } else { c })]);
        }
        k += 2;
    }
}

fn svd(x: &Tensor, full: bool) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let n = rows.min(cols);
    let parts: Vec<_> = ms.iter().map(|m| m.svd(full)).collect();
    let (left, right) = if full { (rows, cols) } else { (n, n) };
    Ok((
        tensor(x.dtype(), &batch, [rows, left], &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?,
        numbers(x.dtype().real(), &[&batch[..], &[n]].concat(), parts.iter().flat_map(|p| p.1.clone()))?,
        tensor(x.dtype(), &batch, [right, cols], &parts.iter().map(|p| p.2.clone()).collect::<Vec<_>>())?,
    ))
}

/// The old spelling gives V, not its adjoint.
fn svd_v(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (u, s, vh) = svd(x, !args.flag("some")?)?;
    let (batch, ms) = matrices(&vh)?;
    let [rows, cols] = sides(&vh);
    many([u, s, tensor(x.dtype(), &batch, [cols, rows], &ms.iter().map(Matrix::adjoint).collect::<Vec<_>>())?])
}

/// The Hermitian matrix that the lower triangle spells.
fn from_lower(m: &Matrix) -> Matrix {
    Matrix::build(m.rows, m.cols, |r, c| if r == c { m[(r, r)].re.into() } else if r > c { m[(r, c)] } else { m[(c, r)].conj() })
}

/// A function of the eigenvalues of Hermitian matrices.
fn spectral(x: &Tensor, f: impl Fn(f64) -> f64) -> Results {
    square(x)?;
    mapped(x, sides(x), |m| {
        let (values, v) = from_lower(m).eigh();
        let mapped: Vec<f64> = values.into_iter().map(&f).collect();
        v.times(&Matrix::diagonal(m.rows, m.rows, &mapped)).times(&v.adjoint())
    })
}

/// `A = U H` with orthonormal columns in U and a positive semidefinite H.
fn polar(args: &Args) -> Results {
    let x = args.tensor("A")?;
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let parts: Vec<(Matrix, Matrix)> = ms
        .iter()
        .map(|m| {
            let (u, s, vh) = m.svd(false);
            (u.times(&vh), vh.adjoint().times(&Matrix::diagonal(s.len(), s.len(), &s)).times(&vh))
        })
        .collect();
    let (u, h): (Vec<Matrix>, Vec<Matrix>) = parts.into_iter().unzip();
    many([tensor(x.dtype(), &batch, [rows, cols], &u)?, tensor(x.dtype(), &batch, [cols, cols], &h)?])
}

/// Absolute and relative bounds below which singular values count as zero.
type Bounds = (Option<Tensor>, Option<Tensor>);

fn bounds(args: &Args) -> Result<Bounds, InterpError> {
    let read = |name: &str| -> Result<Option<Tensor>, InterpError> {
        Ok(match args.opt(name) {
            None => None,
            Some(Value::Tensor(t)) => Some(t.clone()),
            Some(_) => Some(Tensor::scalar(DType::F64, args.scalar(name)?)),
        })
    };
    Ok((read("atol")?, read("rtol")?))
}

fn threshold(b: &Bounds, largest: f64, size: usize, eps: f64, k: usize) -> f64 {
    let at = |t: &Tensor| t.at(if t.len() == 1 { 0 } else { k.min(t.len().saturating_sub(1)) }).float();
    let atol = b.0.as_ref().map_or(0.0, at);
    // An absolute bound alone switches the relative one off.
    let rtol = b.1.as_ref().map_or(if atol > 0.0 { 0.0 } else { eps * size as f64 }, at);
    atol.max(rtol * largest)
}

fn pinv(x: &Tensor, b: Bounds, hermitian: bool) -> Results {
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let eps = x.dtype().epsilon();
    let out: Vec<Matrix> = ms
        .iter()
        .enumerate()
        .map(|(k, m)| {
            let (u, s, vh) = if hermitian { from_lower(m).svd(false) } else { m.svd(false) };
            let limit = threshold(&b, s.first().copied().unwrap_or(0.0), rows.max(cols), eps, k);
            let inverse: Vec<f64> = s.iter().map(|&v| if v > limit { 1.0 / v } else { 0.0 }).collect();
            vh.adjoint().times(&Matrix::diagonal(s.len(), s.len(), &inverse)).times(&u.adjoint())
        })
        .collect();
    one(tensor(x.dtype(), &batch, [cols, rows], &out)?)
}

fn matrix_rank(args: &Args) -> Results {
    let x = args.tensor(if args.opt("input").is_some() { "input" } else { "self" })?;
    let (batch, ms) = matrices(x)?;
    let (b, [rows, cols], hermitian) = (bounds(args)?, sides(x), args.flag("hermitian")?);
    let ranks: Vec<Scalar> = ms
        .iter()
        .enumerate()
        .map(|(k, m)| {
            let s = if hermitian { from_lower(m).svd(false).1 } else { m.svd(false).1 };
            let limit = threshold(&b, s.first().copied().unwrap_or(0.0), rows.max(cols), x.dtype().epsilon(), k);
            Scalar::Int(s.iter().filter(|&&v| v > limit).count() as i128)
        })
        .collect();
    one(Tensor::from_scalars(DType::I64, &batch, ranks)?)
}

fn matrix_exp(args: &Args) -> Results {
    let x = args.tensor("self")?;
    square(x)?;
    mapped(x, sides(x), Matrix::exponential)
}

fn matrix_power(args: &Args) -> Results {
    let (x, n) = (args.tensor("self")?, args.int("n")?);
    square(x)?;
    mapped(x, sides(x), |m| {
        let base = if n < 0 { m.solve(&Matrix::identity(m.rows)).0 } else { m.clone() };
        (0..n.unsigned_abs().min(1 << 16)).fold(Matrix::identity(m.rows), |p, _| p.times(&base))
    })
}

/// An order of a norm: a number, or a name.
enum Order {
    Number(f64),
    Frobenius,
    Nuclear,
}

fn order(args: &Args, name: &str) -> Result<Option<Order>, InterpError> {
    Ok(match args.opt(name) {
        None => None,
        Some(Value::Str(s)) if s == "fro" => Some(Order::Frobenius),
        Some(Value::Str(s)) if s == "nuc" => Some(Order::Nuclear),
        Some(Value::Str(s)) => Some(Order::Number(s.parse().map_err(|_| fail(format!("the norm `{s}` is not known")))?)),
        Some(_) => Some(Order::Number(args.float(name)?)),
    })
}

fn norm_of(m: &Matrix, o: &Order) -> Result<f64, InterpError> {
    let extreme = |v: Vec<f64>, largest: bool| v.into_iter().fold(if largest { 0.0 } else { f64::INFINITY }, |a, b| if a.is_nan() || (a > b) == largest { a } else { b });
    let columns = |m: &Matrix| (0..m.cols).map(|c| (0..m.rows).map(|r| m[(r, c)].norm()).sum()).collect::<Vec<f64>>();
    Ok(match o {
        Order::Frobenius => m.elements().iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt(),
        Order::Nuclear => m.svd(false).1.iter().sum(),
        Order::Number(p) if p.abs() == 1.0 => extreme(columns(m), *p > 0.0),
        Order::Number(p) if p.is_infinite() => extreme(columns(&m.transpose()), *p > 0.0),
        Order::Number(p) if p.abs() == 2.0 => extreme(m.svd(false).1, *p > 0.0),
        Order::Number(p) => return Err(fail(format!("there is no matrix norm of order {p}"))),
    })
}

/// Norms of the matrices in two dimensions.
fn matrix_norm(x: &Tensor, o: &Order, dims: &[usize], keep: bool, dtype: DType) -> Results {
    let [a, b] = *dims else { return Err(fail("a matrix norm takes two dimensions")) };
    let mut perm: Vec<usize> = (0..x.rank()).filter(|&d| d != a && d != b).collect();
    perm.extend([a, b]);
    let (batch, ms) = matrices(&x.permute(&perm)?)?;
    let values: Vec<f64> = ms.iter().map(|m| norm_of(m, o)).collect::<Result<_, _>>()?;
    let shape = if keep { x.shape().iter().enumerate().map(|(d, &s)| if d == a || d == b { 1 } else { s }).collect() } else { batch };
    one(numbers(dtype, &shape, values)?)
}

fn matrix_norm_arm(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let o = order(args, "ord")?.unwrap_or(Order::Frobenius);
    matrix_norm(&x.cast(dtype), &o, &wrap_dims(&args.ints("dim")?, x.rank())?, args.flag("keepdim")?, dtype.real())
}

/// A vector norm, or a matrix norm where two dimensions are meant.
fn norm(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (o, keep) = (order(args, "ord")?, args.flag("keepdim")?);
    let dtype = args.dtype("dtype")?.unwrap_or(x.dtype());
    let dims = args.opt_ints("dim")?.map(|d| wrap_dims(&d, x.rank())).transpose()?;
    let x = x.cast(dtype);
    match (&o, &dims) {
        (Some(o), Some(d)) if d.len() == 2 => matrix_norm(&x, o, d, keep, dtype.real()),
        (Some(o), None) if x.rank() == 2 => matrix_norm(&x, o, &[0, 1], keep, dtype.real()),
        _ => {
            let p = match o {
                Some(Order::Number(p)) => p,
                Some(_) if x.rank() != 1 => return Err(fail("a named norm needs a matrix")),
                _ => 2.0,
            };
            let dims = dims.unwrap_or_else(|| (0..x.rank()).collect());
            one(reduce(&x, &dims, keep, dtype.real(), |v| Ok(Scalar::Float(p_norm(v.iter().map(|&v| super::reduce::magnitude(v)), p))))?)
        }
    }
}

fn cond(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (batch, ms) = matrices(x)?;
    let o = order(args, "p")?.unwrap_or(Order::Number(2.0));
    let values: Vec<f64> = ms
        .iter()
        .map(|m| match o {
            Order::Number(p) if p.abs() == 2.0 => {
                let s = m.svd(false).1;
                let (top, low) = (s.first().copied().unwrap_or(0.0), s.last().copied().unwrap_or(0.0));
                Ok(if p > 0.0 { top / low } else { low / top })
            }
            _ => {
                let (inverse, info) = m.solve(&Matrix::identity(m.rows));
                if info > 0 { Ok(f64::INFINITY) } else { Ok(norm_of(m, &o)? * norm_of(&inverse, &o)?) }
            }
        })
        .collect::<Result<_, InterpError>>()?;
    one(numbers(x.dtype().real(), &batch, values)?)
}

fn tensorinv(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let ind = usize::try_from(args.int("ind")?).ok().filter(|&n| n > 0 && n <= x.rank()).ok_or_else(|| fail("ind is out of range"))?;
    let (head, tail) = x.shape().split_at(ind);
    let n: usize = head.iter().product();
    one(inverse(&x.reshape(&[n, tail.iter().product()])?)?.0.reshape(&[tail, head].concat())?)
}

fn tensorsolve(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    let a = match args.opt_ints("dims")? {
        Some(d) => {
            let moved = wrap_dims(&d, a.rank())?;
            let perm: Vec<usize> = (0..a.rank()).filter(|d| !moved.contains(d)).chain(moved.iter().copied()).collect();
            a.permute(&perm)?
        }
        None => a.clone(),
    };
    let shape = a.shape().get(b.rank()..).ok_or_else(|| fail("the right side has too many dimensions"))?.to_vec();
    let inverse = inverse(&a.reshape(&[b.len(), shape.iter().product()])?)?.0;
    one(matmul(&inverse, &b.reshape(&[b.len()])?)?.reshape(&shape)?)
}
