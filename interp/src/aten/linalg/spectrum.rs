//! Eigenvalues, singular values, and what is defined by them.

use super::*;

pub(super) fn eigh(args: &Args, name: &str) -> Results {
    eigh_of(args.tensor(name)?, args.opt_str("UPLO")?.unwrap_or("L").eq_ignore_ascii_case("u"))
}

/// Eigenvalues and vectors of the Hermitian matrix in one triangle.
pub(crate) fn eigh_of(x: &Tensor, upper: bool) -> Results {
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
    many([
        numbers(x.dtype().real(), &[&batch[..], &[n]].concat(), parts.iter().flat_map(|p| p.0.clone()))?,
        tensor(x.dtype(), &batch, [n, n], &parts.iter().map(|p| p.1.clone()).collect::<Vec<_>>())?,
    ])
}

pub(crate) fn eig(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
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
pub(super) fn pair(w: &mut [Complex64], v: &mut Matrix) {
    let mut k = 0;
    while k + 1 < w.len() {
        let small = 1e-9 * w[k].norm().max(1e-300);
        if (w[k] - w[k + 1].conj()).norm() > small || w[k].im.abs() <= small {
            k += 1;
            continue;
        }
        if w[k].im < 0.0 {
            w.swap(k, k + 1);
            *v = Matrix::build(v.rows, v.cols, |r, c| {
                v[(
                    r,
                    if c == k {
                        k + 1
                    } else if c == k + 1 {
                        k
                    } else {
                        c
                    },
                )]
            });
        }
        k += 2;
    }
}

pub(crate) fn svd(x: &Tensor, full: bool) -> Result<(Tensor, Tensor, Tensor), InterpError> {
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
pub(super) fn svd_v(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let (u, s, vh) = svd(x, !args.flag("some")?)?;
    let (batch, ms) = matrices(&vh)?;
    let [rows, cols] = sides(&vh);
    many([u, s, tensor(x.dtype(), &batch, [cols, rows], &ms.iter().map(Matrix::adjoint).collect::<Vec<_>>())?])
}

/// The Hermitian matrix that the lower triangle spells.
pub(super) fn from_lower(m: &Matrix) -> Matrix {
    Matrix::build(m.rows, m.cols, |r, c| {
        if r == c {
            m[(r, r)].re.into()
        } else if r > c {
            m[(r, c)]
        } else {
            m[(c, r)].conj()
        }
    })
}

/// A function of the eigenvalues of Hermitian matrices.
pub(super) fn spectral(x: &Tensor, f: impl Fn(f64) -> f64) -> Results {
    square(x)?;
    mapped(x, sides(x), |m| {
        let (values, v) = from_lower(m).eigh();
        let mapped: Vec<f64> = values.into_iter().map(&f).collect();
        v.times(&Matrix::diagonal(m.rows, m.rows, &mapped)).times(&v.adjoint())
    })
}

/// `A = U H` with orthonormal columns in U and a positive semidefinite H.
pub(super) fn polar(args: &Args) -> Results {
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
pub(super) type Bounds = (Option<Tensor>, Option<Tensor>);

fn bound(args: &Args, name: &str) -> Result<Option<Tensor>, InterpError> {
    Ok(match args.opt(name) {
        None => None,
        Some(Value::Tensor(t)) => Some(t.clone()),
        Some(_) => Some(Tensor::scalar(DType::F64, args.scalar(name)?)),
    })
}

pub(super) fn bounds(args: &Args) -> Result<Bounds, InterpError> {
    Ok((bound(args, "atol")?, bound(args, "rtol")?))
}

/// The bound of the older overloads: `tol` is an absolute one, `rcond` a relative one.
pub(super) fn one_bound(args: &Args, name: &str) -> Result<Bounds, InterpError> {
    let given = bound(args, name)?;
    // An absolute bound of zero still switches the relative one off.
    let none = || Some(Tensor::scalar(DType::F64, Scalar::Int(0)));
    Ok(if name == "tol" && given.is_some() { (given, none()) } else { (None, given) })
}

/// The matrices and their bounds, one for each in the batch that both broadcast to.
fn in_one_batch(x: &Tensor, b: &Bounds) -> Result<(Tensor, Bounds), InterpError> {
    if x.rank() < 2 {
        return Err(fail("a matrix was expected"));
    }
    let (batch, sides) = x.shape().split_at(x.rank() - 2);
    let bounds = [&b.0, &b.1];
    let shapes: Vec<&[usize]> = bounds.iter().filter_map(|bound| Some(bound.as_ref()?.shape())).chain([batch]).collect();
    let batch = broadcast_shape(&shapes)?;
    let [atol, rtol] = bounds.map(|bound| bound.as_ref().map(|bound| bound.expand(&batch)).transpose());
    Ok((x.expand(&[&batch, sides].concat())?, (atol?, rtol?)))
}

pub(super) fn threshold(b: &Bounds, largest: f64, size: usize, eps: f64, k: usize) -> f64 {
    let at = |t: &Tensor| t.at(if t.len() == 1 { 0 } else { k }).float();
    let atol = b.0.as_ref().map_or(0.0, at);
    // An absolute bound alone switches the relative one off.
    let rtol = b.1.as_ref().map_or(if atol > 0.0 { 0.0 } else { eps * size as f64 }, at);
    atol.max(rtol * largest)
}

pub(super) fn pinv(x: &Tensor, b: Bounds, hermitian: bool) -> Results {
    let (x, b) = &in_one_batch(x, &b)?;
    let (batch, ms) = matrices(x)?;
    let [rows, cols] = sides(x);
    let eps = x.dtype().epsilon();
    let out: Vec<Matrix> = ms
        .iter()
        .enumerate()
        .map(|(k, m)| {
            let (u, s, vh) = if hermitian { from_lower(m).svd(false) } else { m.svd(false) };
            let limit = threshold(b, s.first().copied().unwrap_or(0.0), rows.max(cols), eps, k);
            let inverse: Vec<f64> = s.iter().map(|&v| if v > limit { 1.0 / v } else { 0.0 }).collect();
            vh.adjoint().times(&Matrix::diagonal(s.len(), s.len(), &inverse)).times(&u.adjoint())
        })
        .collect();
    one(tensor(x.dtype(), &batch, [cols, rows], &out)?)
}

pub(super) fn matrix_rank(args: &Args, b: Bounds) -> Results {
    let (x, b) = &in_one_batch(args.tensor(if args.opt("input").is_some() { "input" } else { "self" })?, &b)?;
    let (batch, ms) = matrices(x)?;
    let ([rows, cols], hermitian) = (sides(x), args.flag("hermitian")?);
    let ranks: Vec<Scalar> = ms
        .iter()
        .enumerate()
        .map(|(k, m)| {
            let s = if hermitian { from_lower(m).svd(false).1 } else { m.svd(false).1 };
            let limit = threshold(b, s.first().copied().unwrap_or(0.0), rows.max(cols), x.dtype().epsilon(), k);
            Scalar::Int(s.iter().filter(|&&v| v > limit).count() as i128)
        })
        .collect();
    one(Tensor::from_scalars(DType::I64, &batch, ranks)?)
}
