//! Systems of equations, inverses, determinants.

use super::*;

pub(super) fn determinant(x: &Tensor) -> Result<Tensor, InterpError> {
    let (batch, ms) = square(x)?;
    Tensor::from_scalars(x.dtype(), &batch, ms.iter().map(|m| Scalar::Complex(m.determinant())))
}

/// Sign and logarithm of the absolute value of the determinant.
pub(super) fn slogdet(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let parts: Vec<(Complex64, f64)> = ms
        .iter()
        .map(|m| {
            let (lu, pivots, _) = m.lu(true);
            let odd = pivots.iter().enumerate().filter(|(k, p)| k != *p).count() % 2 == 1;
            (0..m.rows).map(|k| lu[(k, k)]).fold((Complex64::new(if odd { -1.0 } else { 1.0 }, 0.0), 0.0), |(s, l), d| {
                if d.norm() == 0.0 { (0.0.into(), f64::NEG_INFINITY) } else { (s * d / d.norm(), l + d.norm().ln()) }
            })
        })
        .collect();
    Ok((
        Tensor::from_scalars(x.dtype(), &batch, parts.iter().map(|p| Scalar::Complex(p.0)))?,
        numbers(x.dtype().real(), &batch, parts.iter().map(|p| p.1))?,
    ))
}

pub(super) fn log_determinant(sign: Scalar, log: Scalar) -> Scalar {
    match sign {
        Scalar::Complex(s) => Scalar::Complex(s.ln() + log.float()),
        s if s.float() < 0.0 => Scalar::Float(f64::NAN),
        _ => log,
    }
}

/// 0-based pivots of each matrix of a batch.
pub(super) fn pivots_of(p: &Tensor) -> Result<Vec<Vec<usize>>, InterpError> {
    let n = p.shape().last().copied().ok_or_else(|| fail("no pivots"))?;
    let natural = |v: i128| usize::try_from(v - 1).ok().ok_or_else(|| fail("a pivot below one"));
    let flat: Vec<usize> = p.ints().into_iter().map(natural).collect::<Result<_, _>>()?;
    Ok(if n == 0 { Vec::new() } else { flat.chunks(n).map(<[usize]>::to_vec).collect() })
}

pub(super) fn lu_solve(lu: &Tensor, p: &Tensor, b: &Tensor, left: bool, adjoint: bool) -> Results {
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
pub(super) fn solve(args: &Args) -> Result<(Tensor, Tensor), InterpError> {
    let (a, b) = (args.tensor("A")?, args.tensor("B")?);
    let left = args.flag("left")?;
    let vector = b.rank() == 1 || (b.rank() + 1 == a.rank() && b.shape() == &a.shape()[..a.rank() - 1]);
    let wide = if vector { b.unsqueeze(b.rank()) } else { b.clone() };
    let (batch, ms, bs) = paired(a, &wide)?;
    let solved: Vec<(Matrix, usize)> = ms
        .iter()
        .zip(&bs)
        .map(|(m, b)| {
            if left || vector {
                m.solve(b)
            } else {
                let (x, i) = m.transpose().solve(&b.transpose());
                (x.transpose(), i)
            }
        })
        .collect();
    let x = tensor(promote(a.dtype(), b.dtype()), &batch, sides(&wide), &solved.iter().map(|s| s.0.clone()).collect::<Vec<_>>())?;
    let lead = &a.shape()[..a.rank() - 2];
    let count: usize = lead.iter().product();
    let info = Tensor::from_scalars(DType::I32, lead, solved.iter().take(count).map(|s| Scalar::Int(s.1 as i128)))?;
    Ok((if vector { x.reshape(&x.shape()[..x.rank() - 1])? } else { x }, info))
}

pub(super) fn inverse(x: &Tensor) -> Result<(Tensor, Tensor), InterpError> {
    let (batch, ms) = square(x)?;
    let parts: Vec<(Matrix, usize)> = ms.iter().map(|m| m.solve(&Matrix::identity(m.rows))).collect();
    let y = tensor(x.dtype(), &batch, sides(x), &parts.iter().map(|p| p.0.clone()).collect::<Vec<_>>())?;
    Ok((y, Tensor::from_scalars(DType::I32, &batch, parts.iter().map(|p| Scalar::Int(p.1 as i128)))?))
}

/// The matrix whose Cholesky factor is given; the other triangle is not read.
pub(super) fn from_factor(m: &Matrix, upper: bool) -> Matrix {
    let l = Matrix::build(m.rows, m.cols, |r, c| if upper && r <= c || !upper && r >= c { m[(r, c)] } else { 0.0.into() });
    if upper { l.adjoint().times(&l) } else { l.times(&l.adjoint()) }
}

pub(super) fn cholesky_inverse(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let upper = args.flag("upper")?;
    square(x)?;
    mapped(x, sides(x), |m| from_factor(m, upper).solve(&Matrix::identity(m.rows)).0)
}

pub(super) fn cholesky_solve(args: &Args) -> Results {
    let (b, l) = (args.tensor("self")?, args.tensor("input2")?);
    let upper = args.flag("upper")?;
    let (batch, ls, bs) = paired(l, b)?;
    let x: Vec<Matrix> = ls.iter().zip(&bs).map(|(l, b)| from_factor(l, upper).solve(b).0).collect();
    one(tensor(b.dtype(), &batch, sides(b), &x)?)
}

pub(super) fn solve_triangular(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("B")?);
    let (upper, left, unit) = (args.flag("upper")?, args.flag("left")?, args.flag("unitriangular")?);
    let (batch, ms, bs) = paired(a, b)?;
    let x: Vec<Matrix> = ms
        .iter()
        .zip(&bs)
        .map(|(m, b)| {
            if left { m.solve_triangular(b, upper, unit) } else { m.transpose().solve_triangular(&b.transpose(), !upper, unit).transpose() }
        })
        .collect();
    one(tensor(a.dtype(), &batch, sides(b), &x)?)
}

pub(super) fn triangular_solve(args: &Args) -> Results {
    let (b, a) = (args.tensor("self")?, args.tensor("A")?);
    let (upper, transpose, unit) = (args.flag("upper")?, args.flag("transpose")?, args.flag("unitriangular")?);
    let (batch, ms, bs) = paired(a, b)?;
    let x: Vec<Matrix> = ms
        .iter()
        .zip(&bs)
        .map(|(m, b)| if transpose { m.transpose().solve_triangular(b, !upper, unit) } else { m.solve_triangular(b, upper, unit) })
        .collect();
    many([tensor(b.dtype(), &batch, sides(b), &x)?, tensor(a.dtype(), &batch, sides(a), &ms)?])
}

pub(super) fn matrix_power(args: &Args) -> Results {
    let (x, n) = (args.tensor("self")?, args.int("n")?);
    square(x)?;
    mapped(x, sides(x), |m| {
        let base = if n < 0 { m.solve(&Matrix::identity(m.rows)).0 } else { m.clone() };
        (0..n.unsigned_abs().min(1 << 16)).fold(Matrix::identity(m.rows), |p, _| p.times(&base))
    })
}

pub(super) fn tensorinv(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let ind = usize::try_from(args.int("ind")?).ok().filter(|&n| n > 0 && n <= x.rank()).ok_or_else(|| fail("ind is out of range"))?;
    let (head, tail) = x.shape().split_at(ind);
    let n: usize = head.iter().product();
    one(inverse(&x.reshape(&[n, tail.iter().product()])?)?.0.reshape(&[tail, head].concat())?)
}

pub(super) fn tensorsolve(args: &Args) -> Results {
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
