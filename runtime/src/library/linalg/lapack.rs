//! BLAS and LAPACK of the host, where it has them; without them the crate `faer` and our own algorithms compute the same.
//!
//! Their matrices lie column after column: one of ours, which lies row after row, is the transpose of what they see. What a function cannot
//! compute (`None`), because it did not converge or a size has more than 31 bits, is computed without it.

use std::ffi::c_void;
use std::mem::transmute_copy;
use std::ptr::{from_ref, null_mut};

use faer::Accum;
use faer::traits::ComplexField;
use num_complex::Complex64;

use super::super::host;
use super::number::Number;
use super::product::Rows;

/// Rows and columns up to which decompositions are not worth a call.
pub const LEAST: usize = 4;

/// Real numbers of the precision of `N`.
type Real<N> = <N as ComplexField>::Real;

/// Types of functions: what their arguments point to, then the lengths of those that are texts, which Fortran passes behind all else.
macro_rules! fortran {
    ($($(#[$doc:meta])* $name:ident($($argument:ty),*; $($length:ty),*);)*) => {$(
        $(#[$doc])*
        type $name<N> = unsafe extern "C" fn($(*mut $argument,)* $($length),*);
    )*};
}

fortran! {
    /// Transpose a?, transpose b?, m, n, k, alpha, a, its stride, b, its stride, beta, c, its stride.
    Gemm(u8, u8, i32, i32, i32, N, N, i32, N, i32, N, N, i32; usize, usize);
    /// Side, triangle, transpose a?, unit diagonal?, m, n, alpha, a, its stride, b, its stride.
    Trsm(u8, u8, u8, u8, i32, i32, N, N, i32, N, i32; usize, usize, usize, usize);
    /// Triangle, n, a, its stride, info.
    Potrf(u8, i32, N, i32, i32; usize);
    /// m, n, a, its stride, pivots, info.
    Getrf(i32, i32, N, i32, i32, i32;);
    /// m, n, a, its stride, taus, numbers to work on and how many, info.
    Geqrf(i32, i32, N, i32, N, N, i32, i32;);
    /// m, n, number of reflections, a, its stride, taus, numbers to work on and how many, info.
    Orgqr(i32, i32, i32, N, i32, N, N, i32, i32;);
    /// Triangle, n, a, its stride, pivots, numbers to work on and how many, info.
    Sytrf(u8, i32, N, i32, i32, N, i32, i32; usize);
    /// Triangle, n, columns, a, its stride, pivots, right sides, their stride, info.
    Sytrs(u8, i32, i32, N, i32, i32, N, i32, i32; usize);
    /// Vectors?, triangle, n, a, its stride, values, numbers to work on and how many, integers to work on and how many, info.
    Syevd(u8, u8, i32, N, i32, Real<N>, N, i32, i32, i32, i32; usize, usize);
    /// The same, with real numbers to work on and how many before the integers.
    Heevd(u8, u8, i32, N, i32, Real<N>, N, i32, Real<N>, i32, i32, i32, i32; usize, usize);
    /// Vectors?, m, n, a, its stride, s, u, its stride, vh, its stride, numbers to work on and how many, integers to work on, info.
    RealGesdd(u8, i32, i32, N, i32, Real<N>, N, i32, N, i32, N, i32, i32, i32; usize);
    /// The same, with real numbers to work on before the integers.
    ComplexGesdd(u8, i32, i32, N, i32, Real<N>, N, i32, N, i32, N, i32, Real<N>, i32, i32; usize);
    /// Left vectors?, right vectors?, n, a, its stride, real and imaginary parts of the values, left vectors, their stride, right vectors,
    /// their stride, numbers to work on and how many, info.
    RealGeev(u8, u8, i32, N, i32, N, N, N, i32, N, i32, N, i32, i32; usize, usize);
    /// The same with complex values, and real numbers to work on before info.
    ComplexGeev(u8, u8, i32, N, i32, N, N, i32, N, i32, N, i32, Real<N>, i32; usize, usize);
}

/// The functions for one kind of number.
pub struct Lapack<N: Number> {
    gemm: Gemm<N>,
    trsm: Trsm<N>,
    potrf: Potrf<N>,
    getrf: Getrf<N>,
    geqrf: Geqrf<N>,
    orgqr: Orgqr<N>,
    symmetric: Indefinite<N>,
    hermitian: Indefinite<N>,
    spectra: Spectra<N>,
}

/// Factors an indefinite matrix, and solves systems by the factors.
struct Indefinite<N> {
    factor: Sytrf<N>,
    solve: Sytrs<N>,
}

/// The functions that differ for real and complex numbers.
enum Spectra<N: Number> {
    Real { eigh: Syevd<N>, svd: RealGesdd<N>, eig: RealGeev<N> },
    Complex { eigh: Heevd<N>, svd: ComplexGesdd<N>, eig: ComplexGeev<N> },
}

/// A singular value decomposition whose matrices lie column after column.
pub struct Columns<N: Number> {
    /// Left vectors.
    pub u: Vec<N>,
    /// Descending singular values.
    pub s: Vec<f64>,
    /// The adjoint of the right vectors.
    pub vh: Vec<N>,
}

impl<N: Number> Lapack<N> {
    /// The functions whose names begin with this letter, if the host has them.
    pub fn of_host(letter: char) -> Option<Lapack<N>> {
        if !has_short_integers()? {
            return None;
        }
        // SAFETY: only the address is read.
        let find = |name: &str| unsafe { host::function::<*const c_void>(&format!("{letter}{name}_")) };
        let kind = if N::IS_REAL { ["orgqr", "sytrf", "sytrs"] } else { ["ungqr", "hetrf", "hetrs"] };
        // SAFETY: these are the types of the functions in every BLAS and LAPACK whose integers have 32 bits.
        let lapack = unsafe {
            Lapack {
                gemm: transmute_copy(&find("gemm")?),
                trsm: transmute_copy(&find("trsm")?),
                potrf: transmute_copy(&find("potrf")?),
                getrf: transmute_copy(&find("getrf")?),
                geqrf: transmute_copy(&find("geqrf")?),
                orgqr: transmute_copy(&find(kind[0])?),
                symmetric: Indefinite { factor: transmute_copy(&find("sytrf")?), solve: transmute_copy(&find("sytrs")?) },
                hermitian: Indefinite { factor: transmute_copy(&find(kind[1])?), solve: transmute_copy(&find(kind[2])?) },
                spectra: if !N::IS_REAL {
                    let (eigh, svd, eig) = (find("heevd")?, find("gesdd")?, find("geev")?);
                    Spectra::Complex { eigh: transmute_copy(&eigh), svd: transmute_copy(&svd), eig: transmute_copy(&eig) }
                } else {
                    let (eigh, svd, eig) = (find("syevd")?, find("gesdd")?, find("geev")?);
                    Spectra::Real { eigh: transmute_copy(&eigh), svd: transmute_copy(&svd), eig: transmute_copy(&eig) }
                },
            }
        };
        Some(lapack)
    }

    /// `c = alpha a b`, or that added to `c`, for matrices whose rows begin so far apart.
    ///
    /// # Safety
    /// The matrices are there, `(m, k, n)` their sizes, and `c` is this call's alone.
    pub unsafe fn multiply(
        &self,
        (c, accum, alpha): (Rows<*mut N>, Accum, f64),
        a: Rows<*const N>,
        b: Rows<*const N>,
        (m, k, n): (usize, usize, usize),
    ) -> Option<()> {
        let [m, k, n, to, left, right] = sizes([m, k, n, c.1, a.1, b.1])?;
        let (alpha, beta) = (N::real(alpha), if matches!(accum, Accum::Add) { N::ONE } else { N::ZERO });
        let (a, b, plain) = (a.0.cast_mut(), b.0.cast_mut(), at(&b'N'));
        // SAFETY: the caller's. As the transposes lie there, it is b' a' that makes c'.
        unsafe {
            (self.gemm)(plain, plain, at(&n), at(&m), at(&k), at(&alpha), b, at(&right), a, at(&left), at(&beta), c.0, at(&to), 1, 1)
        };
        Some(())
    }

    /// Solves `A X = B` in the place of B, which has `k` columns; only one triangle of A is read, which lies in rows.
    pub fn triangular_solve(&self, a: &[N], x: &mut [N], (n, k): (usize, usize), upper: bool, unit: bool) -> Option<()> {
        assert!(a.len() == n * n && x.len() == n * k, "the sizes of a system fit");
        let [n, k] = sizes([n, k])?;
        // It is seen as its transpose.
        let (side, plain) = (at(&b'R'), at(&b'N'));
        let (triangle, diagonal, one) = (if upper { b'L' } else { b'U' }, if unit { b'U' } else { b'N' }, N::ONE);
        let (triangle, diagonal, one) = (at(&triangle), at(&diagonal), at(&one));
        let (a, x) = (a.as_ptr().cast_mut(), x.as_mut_ptr());
        // SAFETY: the matrices have these sizes. As the transposes lie there, it is X' A' = B' that is solved.
        unsafe { (self.trsm)(side, triangle, plain, diagonal, at(&k), at(&n), one, a, at(&n), x, at(&k), 1, 1, 1, 1) };
        Some(())
    }

    /// Makes the lower triangle of a matrix that lies column after column the factor of the Hermitian matrix in it; the order of the first minor
    /// that is not positive, or 0.
    pub fn cholesky(&self, a: &mut [N], n: usize) -> Option<usize> {
        assert!(a.len() == n * n, "a matrix with a factor is square");
        let ([n], mut info) = (sizes([n])?, 0);
        // SAFETY: the matrix has this size.
        unsafe { (self.potrf)(at(&b'L'), at(&n), a.as_mut_ptr(), at(&n), &raw mut info, 1) };
        usize::try_from(info).ok()
    }

    /// Eliminates in a matrix that lies column after column, with the largest pivot of each; the first step whose pivot is zero, or 0.
    pub fn lu(&self, columns: &mut [N], (m, n): (usize, usize), pivots: &mut [i32]) -> Option<i32> {
        assert!(columns.len() == m * n && pivots.len() == m.min(n), "the sizes of a factorisation fit");
        let ([m, n], mut info) = (sizes([m, n])?, 0);
        // SAFETY: the matrix has this size, and there is a pivot for each step.
        unsafe { (self.getrf)(at(&m), at(&n), columns.as_mut_ptr(), at(&m), pivots.as_mut_ptr(), &raw mut info) };
        (info >= 0).then_some(info)
    }

    /// Reflects a matrix that lies column after column to a triangle; the vectors of the reflections stay below it.
    pub fn qr(&self, columns: &mut [N], (m, n): (usize, usize), taus: &mut [N]) -> Option<()> {
        assert!(columns.len() == m * n && taus.len() == m.min(n), "the sizes of a factorisation fit");
        let ([m, n], mut info) = (sizes([m, n])?, 0);
        let (a, taus) = (columns.as_mut_ptr(), taus.as_mut_ptr());
        // SAFETY: the matrix has this size, and there is a tau for each step.
        with_work(|work, count| unsafe { (self.geqrf)(at(&m), at(&n), a, at(&m), taus, work, count, &raw mut info) })?;
        (info == 0).then_some(())
    }

    /// Makes a matrix that lies column after column the product of the reflections whose vectors are in it.
    pub fn reflections(&self, columns: &mut [N], (m, n): (usize, usize), taus: &[N]) -> Option<()> {
        assert!(columns.len() == m * n && taus.len() <= n && n <= m, "the sizes of reflections fit");
        let ([m, n, k], mut info) = (sizes([m, n, taus.len()])?, 0);
        let (a, taus) = (columns.as_mut_ptr(), taus.as_ptr().cast_mut());
        // SAFETY: the matrix has this size, and no more reflections than columns.
        with_work(|work, count| unsafe { (self.orgqr)(at(&m), at(&n), at(&k), a, at(&m), taus, work, count, &raw mut info) })?;
        (info == 0).then_some(())
    }

    fn indefinite(&self, hermitian: bool) -> &Indefinite<N> {
        if hermitian { &self.hermitian } else { &self.symmetric }
    }

    /// Makes the lower triangle of a matrix that lies column after column the factors L and D of the symmetric or Hermitian matrix in it; the
    /// first block that is zero, or 0.
    pub fn ldl(&self, columns: &mut [N], n: usize, pivots: &mut [i32], hermitian: bool) -> Option<i32> {
        assert!(columns.len() == n * n && pivots.len() == n, "the sizes of a factorisation fit");
        let ([n], mut info) = (sizes([n])?, 0);
        let (a, pivots, factor) = (columns.as_mut_ptr(), pivots.as_mut_ptr(), self.indefinite(hermitian).factor);
        // SAFETY: the matrix has this size, and there is a pivot for each row.
        with_work(|work, count| unsafe { factor(at(&b'L'), at(&n), a, at(&n), pivots, work, count, &raw mut info, 1) })?;
        (info >= 0).then_some(info)
    }

    /// Solves `A X = B` in the place of B by the factors of A; both lie column after column.
    pub fn ldl_solve(&self, factors: &[N], pivots: &[i32], x: &mut [N], hermitian: bool) -> Option<()> {
        let n = pivots.len();
        assert!(factors.len() == n * n && x.len().is_multiple_of(n), "the sizes of a system fit");
        let ([n, k], mut info) = (sizes([n, x.len() / n])?, 0);
        let (a, pivots, x) = (factors.as_ptr().cast_mut(), pivots.as_ptr().cast_mut(), x.as_mut_ptr());
        // SAFETY: the matrices have these sizes.
        unsafe { (self.indefinite(hermitian).solve)(at(&b'L'), at(&n), at(&k), a, at(&n), pivots, x, at(&n), &raw mut info, 1) };
        (info == 0).then_some(())
    }

    /// Ascending eigenvalues of the Hermitian matrix in the lower triangle. It lies column after column, and becomes its eigenvectors if
    /// they are wanted.
    pub fn eigh(&self, columns: &mut [N], n: usize, vectors: bool) -> Option<Vec<f64>> {
        assert!(columns.len() == n * n, "a matrix with eigenvalues is square");
        let job = if vectors { b'V' } else { b'N' };
        let (mut values, mut integers, mut reals) = (reals::<N>(n), vec![0; 3 + 5 * n], Vec::new());
        if !N::IS_REAL {
            reals = self::reals::<N>(1 + 5 * n + 2 * n * n);
        }
        let ([n, integer_count, real_count], mut info) = (sizes([n, integers.len(), reals.len()])?, 0);
        with_work(|work, count| {
            let (job, lower, n, integer_count, real_count, info) =
                (at(&job), at(&b'L'), at(&n), at(&integer_count), at(&real_count), &raw mut info);
            let (a, w, integers, reals) = (columns.as_mut_ptr(), values.as_mut_ptr(), integers.as_mut_ptr(), reals.as_mut_ptr());
            // SAFETY: the arrays are as long as the functions want them for this size.
            unsafe {
                match self.spectra {
                    Spectra::Real { eigh, .. } => eigh(job, lower, n, a, n, w, work, count, integers, integer_count, info, 1, 1),
                    Spectra::Complex { eigh, .. } => {
                        eigh(job, lower, n, a, n, w, work, count, reals, real_count, integers, integer_count, info, 1, 1);
                    }
                }
            }
        })?;
        (info == 0).then(|| doubles::<N>(&values))
    }

    /// Singular values of a matrix that lies column after column and is overwritten, and `p` left and `q` right vectors if they are wanted:
    /// as many as there are values, or as there are rows and columns.
    pub fn svd(&self, columns: &mut [N], (m, n): (usize, usize), vectors: Option<(usize, usize)>) -> Option<Columns<N>> {
        assert!(columns.len() == m * n, "the sizes of a matrix fit");
        let (least, most) = (m.min(n), m.max(n));
        let (job, p, q) = match vectors {
            None => (b'N', 0, 0),
            Some((p, q)) => (if p.max(q) > least { b'A' } else { b'S' }, p, q),
        };
        let (mut u, mut s, mut vh) = (vec![N::ZERO; m * p], reals::<N>(least), vec![N::ZERO; q * n]);
        let (mut integers, mut reals) = (vec![0; 8 * least], Vec::new());
        if !N::IS_REAL {
            reals = self::reals::<N>(least * (5 * least + 7).max(2 * most + 2 * least + 1));
        }
        let ([m, n, ldvh], mut info) = (sizes([m, n, q.max(1)])?, 0);
        with_work(|work, count| {
            let (job, m, n, ldvh, info) = (at(&job), at(&m), at(&n), at(&ldvh), &raw mut info);
            let (a, s, u, vh) = (columns.as_mut_ptr(), s.as_mut_ptr(), u.as_mut_ptr(), vh.as_mut_ptr());
            let (integers, reals) = (integers.as_mut_ptr(), reals.as_mut_ptr());
            // SAFETY: the arrays are as long as the functions want them for these sizes.
            unsafe {
                match self.spectra {
                    Spectra::Real { svd, .. } => svd(job, m, n, a, m, s, u, m, vh, ldvh, work, count, integers, info, 1),
                    Spectra::Complex { svd, .. } => svd(job, m, n, a, m, s, u, m, vh, ldvh, work, count, reals, integers, info, 1),
                }
            }
        })?;
        (info == 0).then(|| Columns { u, s: doubles::<N>(&s), vh })
    }

    /// Eigenvalues of a square matrix that lies column after column and is overwritten, and eigenvectors of length one, one after the other,
    /// if they are wanted.
    pub fn eig(&self, columns: &mut [N], n: usize, vectors: bool) -> Option<(Vec<Complex64>, Vec<Complex64>)> {
        assert!(columns.len() == n * n, "a matrix with eigenvalues is square");
        let job = if vectors { b'V' } else { b'N' };
        let (mut values, mut imaginary) = (vec![N::ZERO; n], vec![N::ZERO; n]);
        let (mut found, mut reals) = (vec![N::ZERO; if vectors { n * n } else { 0 }], reals::<N>(2 * n));
        let ([order], mut info) = (sizes([n])?, 0);
        with_work(|work, count| {
            let (none, job, n, info) = (at(&b'N'), at(&job), at(&order), &raw mut info);
            let (a, w, v, left) = (columns.as_mut_ptr(), values.as_mut_ptr(), found.as_mut_ptr(), null_mut());
            let (imaginary, reals) = (imaginary.as_mut_ptr(), reals.as_mut_ptr());
            // SAFETY: the arrays are as long as the functions want them for this size.
            unsafe {
                match self.spectra {
                    Spectra::Real { eig, .. } => eig(none, job, n, a, n, w, imaginary, left, n, v, n, work, count, info, 1, 1),
                    Spectra::Complex { eig, .. } => eig(none, job, n, a, n, w, left, n, v, n, work, count, reals, info, 1, 1),
                }
            }
        })?;
        let complex = |x: &N| Complex64::new(x.re(), x.im());
        let values: Vec<_> = values.iter().zip(&imaginary).map(|(re, im)| complex(re) + Complex64::I * im.re()).collect();
        // Of a pair of conjugate values of a real matrix the columns are the real and the imaginary part of the first one's vector.
        let vector = |k: usize, r: usize| match values[k].im {
            im if !N::IS_REAL || im == 0.0 => complex(&found[k * n + r]),
            im if im > 0.0 => Complex64::new(found[k * n + r].re(), found[(k + 1) * n + r].re()),
            _ => Complex64::new(found[(k - 1) * n + r].re(), -found[k * n + r].re()),
        };
        let vectors = (0..found.len()).map(|at| vector(at / n, at % n)).collect();
        (info == 0).then_some((values, vectors))
    }
}

/// Whether integers have 32 bits, as nearly everywhere, and not 64: asks for the product of two lines, whose count is 1 in the former and
/// negative in the latter.
fn has_short_integers() -> Option<bool> {
    type Ddot = unsafe extern "C" fn(n: *const i64, x: *const f64, x_step: *const i64, y: *const f64, y_step: *const i64) -> f64;
    let (count, step) = (1 - (1_i64 << 32), 1);
    // SAFETY: `ddot_` is BLAS's; there is one element, or none is read.
    let product = unsafe { host::function::<Ddot>("ddot_")?(&raw const count, &2.0, &raw const step, &3.0, &raw const step) };
    Some(product == 6.0)
}

/// The address of an argument, which is only read.
fn at<T>(argument: &T) -> *mut T {
    from_ref(argument).cast_mut()
}

fn sizes<const COUNT: usize>(sizes: [usize; COUNT]) -> Option<[i32; COUNT]> {
    let mut narrow = [0; COUNT];
    for (narrow, size) in narrow.iter_mut().zip(sizes) {
        *narrow = i32::try_from(size).ok()?;
    }
    Some(narrow)
}

/// Calls a function with numbers to work on and their count: first with -1, for which it says how many it wants.
fn with_work<N: Number>(mut call: impl FnMut(*mut N, *mut i32)) -> Option<()> {
    let mut wanted = N::ZERO;
    call(&raw mut wanted, at(&-1));
    // (Single precision rounds large counts.)
    let count = (wanted.re() * (1.0 + f64::from(f32::EPSILON))).ceil().max(1.0) as usize;
    let [size] = sizes([count])?;
    call(vec![N::ZERO; count].as_mut_ptr(), at(&size));
    Some(())
}

fn reals<N: Number>(count: usize) -> Vec<Real<N>> {
    vec![Real::<N>::zero_impl(); count]
}

fn doubles<N: Number>(reals: &[Real<N>]) -> Vec<f64> {
    reals.iter().map(|x| N::from_real_impl(x).re()).collect()
}
