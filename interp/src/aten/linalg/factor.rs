//! Factorisations as LAPACK packs them, and unpacked.

use super::*;

/// Packed factors, 1-based pivots, and the first zero pivot.
pub(crate) fn lu_parts(x: &Tensor, pivot: bool) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let parts: Vec<_> = ms.iter().map(|m| m.lu(pivot)).collect();
    let lu = tensor(x.dtype(), &batch, [rows, cols], &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    let pivots = Tensor::from_scalars(
        DType::I32,
        &[&batch[..], &[rows.min(cols)]].concat(),
        parts.iter().flat_map(|p| p.1.iter().map(|&k| Scalar::Int(k as i128 + 1))),
    )?;
    let info = Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.2 as i128)))?;
    Ok((lu, pivots, info))
}

/// The factors that PyTorch keeps for the gradient of a determinant: of a real matrix, those of its transpose.
pub(super) fn kept_factors(x: &Tensor) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let n = x.rank();
    if x.dtype().is_complex() || n < 2 { lu_parts(x, true) } else { lu_parts(&x.transpose(n - 2, n - 1)?, true) }
}

pub(super) fn unpacked(lu: &Tensor, p: &Tensor) -> Results {
    let (batch, ms) = matrices(lu)?;
    let ([rows, cols], pivots) = (sides(lu), pivots_of(p)?);
    let n = rows.min(cols);
    let zero = Complex64::new(0.0, 0.0);
    if pivots.iter().flatten().any(|&k| k >= rows) {
        return Err(fail("a pivot is out of range"));
    }
    let lower: Vec<Matrix> = ms
        .iter()
        .map(|m| {
            Matrix::build(rows, n, |r, c| {
                if r == c {
                    1.0.into()
                } else if r > c {
                    m[(r, c)]
                } else {
                    zero
                }
            })
        })
        .collect();
    let upper: Vec<Matrix> = ms.iter().map(|m| Matrix::build(n, cols, |r, c| if r <= c { m[(r, c)] } else { zero })).collect();
    let none = Vec::new();
    let perms: Vec<Matrix> =
        (0..ms.len()).map(|k| Matrix::identity(rows).exchanged(pivots.get(k).unwrap_or(&none), false).transpose()).collect();
    many([
        tensor(lu.dtype(), &batch, [rows, rows], &perms)?,
        tensor(lu.dtype(), &batch, [rows, n], &lower)?,
        tensor(lu.dtype(), &batch, [n, cols], &upper)?,
    ])
}

/// Of the factors and the permutation, those that are asked for.
pub(super) fn lu_unpack(args: &Args) -> Results {
    let (lu, pivots) = (args.tensor("LU_data")?, args.tensor("LU_pivots")?);
    let asked = [args.flag("unpack_pivots")?, args.flag("unpack_data")?, args.flag("unpack_data")?];
    // Pivots that are not asked for may be anything.
    let none = Tensor::build(pivots.dtype(), pivots.shape(), |i| Scalar::Int(i.last().map_or(1, |k| *k as i128 + 1)))?;
    let parts = unpacked(lu, if asked[0] { pivots } else { &none })?;
    let empty = || Ok(Value::Tensor(Tensor::zeros(lu.dtype(), &[0])?));
    parts.into_iter().zip(asked).map(|(part, asked)| if asked { Ok(part) } else { empty() }).collect()
}

pub(super) fn cholesky(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let x = args.tensor("self")?;
    let upper = args.flag("upper")?;
    let (batch, ms) = square(x)?;
    let parts: Vec<(Matrix, usize)> = ms
        .iter()
        .map(|m| {
            if upper {
                let (l, i) = m.adjoint().cholesky();
                (l.adjoint(), i)
            } else {
                m.cholesky()
            }
        })
        .collect();
    let l = tensor(x.dtype(), &batch, sides(x), &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    Ok((l, Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.1 as i128)))?))
}

pub(super) fn taus(t: &Tensor) -> Vec<Vec<Complex64>> {
    let n = t.shape().last().copied().unwrap_or(0);
    if n == 0 { Vec::new() } else { t.complexes().chunks(n).map(<[Complex64]>::to_vec).collect() }
}

/// Reflection vectors below R, and their factors.
pub(crate) fn packed_qr(x: &Tensor) -> Results {
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let parts: Vec<_> = ms.iter().map(Matrix::geqrf).collect();
    let a = tensor(x.dtype(), &batch, [rows, cols], &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    let tau = Tensor::from_scalars(
        x.dtype(),
        &[&batch[..], &[rows.min(cols)]].concat(),
        parts.iter().flat_map(|p| p.1.iter().map(|&t| Scalar::Complex(t))),
    )?;
    many([a, tau])
}

/// The first columns of products of reflections.
pub(crate) fn reflected(x: &Tensor, tau: &Tensor) -> Results {
    let t = taus(tau);
    let (batch, ms) = matrices(x)?;
    let none = Vec::new();
    let q: Vec<Matrix> = ms.iter().enumerate().map(|(k, m)| m.reflections(t.get(k).unwrap_or(&none), m.cols)).collect();
    one(tensor(x.dtype(), &batch, sides(x), &q)?)
}

pub(super) fn ormqr(args: &Args) -> Results {
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

pub(super) fn qr(args: &Args) -> Results {
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

pub(super) fn matrix_exp(args: &Args) -> Results {
    let x = args.tensor("self")?;
    square(x)?;
    mapped(x, sides(x), Matrix::exponential)
}

/// Packed factors, pivots and the first zero pivot of symmetric or Hermitian matrices.
pub(super) fn ldl(args: &Args) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    ldl_parts(args.tensor("self")?, args.flag("hermitian")?)
}

pub(crate) fn ldl_parts(x: &Tensor, hermitian: bool) -> Result<(Tensor, Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let n = sides(x)[0];
    let parts: Vec<_> = ms.iter().map(|m| m.ldl(hermitian)).collect();
    let factors: Vec<Matrix> = parts.iter().map(|p| p.0.clone()).collect();
    let pivots = parts.iter().flat_map(|p| p.1.iter().map(|&k| Scalar::Int(k.into())));
    let pivots = Tensor::from_scalars(DType::I32, &[&batch[..], &[n]].concat(), pivots)?;
    let info = Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.2 as i128)))?;
    Ok((tensor(x.dtype(), &batch, [n, n], &factors)?, pivots, info))
}

/// The matrices that factors come from, and their systems' solutions.
pub(super) fn ldl_solve(args: &Args) -> Results {
    let (ld, b) = (args.tensor("LD")?, args.tensor("B")?);
    ldl_solved(ld, args.tensor("pivots")?, b, args.flag("hermitian")?)
}

pub(crate) fn ldl_solved(ld: &Tensor, pivots: &Tensor, b: &Tensor, hermitian: bool) -> Results {
    let (batch, ms, bs) = paired(ld, b)?;
    let n = sides(ld)[0];
    let pivots: Vec<i128> = pivots.expand(&[&batch[..], &[n]].concat())?.ints();
    let x: Vec<Matrix> =
        (ms.iter().zip(&bs).enumerate()).map(|(k, (m, b))| m.from_ldl(&pivots[k * n..(k + 1) * n], hermitian).solve(b).0).collect();
    one(tensor(b.dtype(), &batch, sides(b), &x)?)
}
