//! Linear algebra with LAPACK's conventions: pivots, packed factors, order of eigenvalues. Each function computes a batch
//! of dense row-major matrices; its arguments are what `prim.library` says: the element type, operands and results,
//! the size of the batch, the sizes, the options.
//!
//! The crate `faer` does what has no packing of LAPACK's; docs/src/rationale/library.md says why the rest is our own.

pub mod cholesky;
pub mod eig;
pub mod eigh;
pub mod exponential;
pub mod lapack;
pub mod ldl;
pub mod lu;
pub mod matrix;
pub mod number;
pub mod product;
pub mod reflect;
pub mod svd;
#[cfg(test)]
mod tests;
pub mod triangular;

use num_complex::Complex64;

use self::number::Element;
use self::triangular::Triangle;
use super::array::{Array, Cost, batched, each};
use crate::abi::StrataCall;

/// Steps of an algorithm that is cubic in the sizes; as many as are worth all threads where there are more.
fn work(m: usize, n: usize) -> usize {
    area(m, n).saturating_mul(m.min(n)).clamp(1, 1 << 32)
}

/// Numbers of a matrix.
fn area(m: usize, n: usize) -> usize {
    m * n
}

/// Matrices of single precision with so many rows or columns at most are computed with in double precision, which costs little then.
const DOUBLED: usize = 64;

/// Defines the C functions: arguments after the call and the element type, then the number of the batch's item, its steps, and the
/// numbers that are put aside for it.
macro_rules! exported {
    ($($name:ident($($array:ident),*; $($size:ident),*; $options:ident)
        |$T:ident, $N:ident, $item:ident| $work:expr, $room:expr => $body:expr;)*) => {$(
        /// See `prim.library` for what it computes.
        ///
        /// # Safety
        /// The arrays hold as many elements as the batch and the sizes say, and results do not overlap operands.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)] // It is a C function of the image ABI.
        pub unsafe extern "C" fn $name(
            call: *mut StrataCall,
            dtype: i32,
            $($array: Array,)*
            batch: i64,
            $($size: i64,)*
            $options: i32,
        ) {
            let _ = $options;
            $(let $size = usize::try_from($size).unwrap_or(0);)*
            // SAFETY: the caller promises the call and the sizes; each item is this call's own.
            unsafe { batched!(call, dtype, batch, ($work, $room), [$($size),*].into_iter().any(|size| size > DOUBLED), |$T, $N, $item| $body) }
        }
    )*};
}

exported! {
    strata_lib_cholesky(a, l, info; n; options) |T, N, b| work(n, n), 4 * area(n, n) => {
        let status = cholesky::by_host(a.item::<T>(b, n * n), l.item_mut::<T>(b, n * n), n);
        info.write(b, status.unwrap_or_else(|| {
            let (factor, status) = cholesky::cholesky(&a.matrix::<T, N>(b, n, n).transposed());
            l.put::<T, N>(b, &factor.transposed().data);
            status
        }));
    };
    strata_lib_eig(a, values, vectors; n; options) |T, N, b| 20 * work(n, n), 12 * area(n, n) => {
        let (w, v) = eig::by_host(a.item::<T>(b, n * n), n, options & 1 == 0).unwrap_or_else(|| {
            let (w, v) = eig::eig(a.matrix::<T, <T as Element>::Double>(b, n, n));
            (w, v.data)
        });
        values.put::<<T as Element>::Complex, Complex64>(b, &w);
        vectors.put::<<T as Element>::Complex, Complex64>(b, &v);
    };
    strata_lib_eigh(a, values, vectors; n; options) |T, N, b| 10 * work(n, n), 4 * area(n, n) => {
        let alone = options & 1 != 0;
        let wanted = if alone { None } else { Some(vectors.item_mut::<T>(b, n * n)) };
        let w = eigh::by_host(a.item::<T>(b, n * n), n, wanted).unwrap_or_else(|| {
            let a = a.matrix::<T, N>(b, n, n);
            if alone {
                return eigh::values(&a);
            }
            let (w, v) = eigh::eigh(&a);
            vectors.put::<T, N>(b, &v.data);
            w
        });
        values.put::<<T as Element>::Real, f64>(b, &w);
    };
    strata_lib_householder(a, taus, q; n, m, k; options) |T, N, b| work(m, n), 4 * area(m, n) => {
        let host = reflect::product_by_host(a.item::<T>(b, m * n), taus.item::<T>(b, k), (m, n), q.item_mut::<T>(b, m * n));
        host.unwrap_or_else(|| {
            let product = reflect::product(&a.matrix::<T, N>(b, n, m).transposed(), &taus.line::<T, N>(b, k), n, 0);
            q.put::<T, N>(b, &product.transposed().data);
        });
    };
    strata_lib_ldl(a, ld, pivots, info; n; options) |T, N, b| work(n, n), 2 * area(n, n) => {
        let hermitian = options & 1 != 0;
        let host = ldl::by_host(a.item::<T>(b, n * n), ld.item_mut::<T>(b, n * n), pivots.item_mut(b, n), hermitian);
        info.write(b, host.unwrap_or_else(|| {
            let (factors, exchanges, status) = ldl::ldl(a.matrix::<T, N>(b, n, n), hermitian);
            ld.put::<T, N>(b, &factors.data);
            pivots.put_plain(b, &exchanges);
            status
        }));
    };
    strata_lib_ldl_solve(ld, pivots, rhs, x; n, k; options) |T, N, b| area(n, n).saturating_mul(k + 1), area(n, n) + 2 * area(n, k) => {
        let (exchanges, hermitian) = (pivots.item::<i32>(b, n), options & 1 != 0);
        let host = ldl::solve_by_host(ld.item::<T>(b, n * n), exchanges, rhs.item::<T>(b, n * k), x.item_mut::<T>(b, n * k), hermitian);
        host.unwrap_or_else(|| {
            let solution = ldl::solve(&ld.matrix::<T, N>(b, n, n), exchanges, rhs.matrix::<T, N>(b, n, k), hermitian);
            x.put::<T, N>(b, &solution.data);
        });
    };
    strata_lib_lu(a, factors, pivots, order, info; n, m, k; options) |T, N, b| work(m, n), 4 * area(m, n) => {
        let (nopivot, exchanges) = (options & 1 != 0, pivots.item_mut::<i32>(b, k));
        let host = (!nopivot).then(|| lu::by_host(a.item::<T>(b, m * n), (m, n), factors.item_mut(b, m * n), exchanges)).flatten();
        let status = host.unwrap_or_else(|| {
            let parts = lu::lu(a.matrix::<T, N>(b, n, m).transposed(), nopivot);
            factors.put::<T, N>(b, &parts.factors.transposed().data);
            exchanges.copy_from_slice(&parts.pivots[..k]);
            parts.info
        });
        order.put_plain(b, &lu::permutation(exchanges, m));
        info.write(b, status);
    };
    strata_lib_matrix_exp(a, result; n; options) |T, N, b| 10 * work(n, n), 10 * area(n, n) => {
        result.put::<T, N>(b, &exponential::exponential(&a.matrix::<T, N>(b, n, n)).data);
    };
    strata_lib_qr(a, packed, taus; n, m, k; options) |T, N, b| work(m, n), 4 * area(m, n) => {
        let host = reflect::qr_by_host(a.item::<T>(b, m * n), (m, n), packed.item_mut::<T>(b, m * n), taus.item_mut::<T>(b, k));
        host.unwrap_or_else(|| {
            let (factors, tau) = reflect::qr(a.matrix::<T, N>(b, n, m).transposed());
            packed.put::<T, N>(b, &factors.transposed().data);
            taus.put::<T, N>(b, &tau[..k]);
        });
    };
    strata_lib_svd(a, u, s, vh; m, n, p, k, q; options) |T, N, b| 20 * work(m, n), 4 * area(m, n) + 2 * area(m, p) + 2 * area(n, q) => {
        let alone = options & 1 != 0;
        let wanted = if alone { None } else { Some([u.item_mut::<T>(b, m * p), vh.item_mut::<T>(b, q * n)]) };
        let values = svd::by_host(a.item::<T>(b, m * n), (m, n), wanted).unwrap_or_else(|| {
            let a = a.matrix::<T, N>(b, m, n);
            if alone {
                return svd::values(&a);
            }
            let parts = svd::svd(&a, p > k || q > k);
            u.put::<T, N>(b, &parts.u.data);
            vh.put::<T, N>(b, &parts.vh.data);
            parts.s
        });
        s.put::<<T as Element>::Real, f64>(b, &values[..k]);
    };
    strata_lib_triangular_solve(a, rhs, x; n, k; options) |T, N, b| area(n, n).saturating_mul(k + 1), area(n, n) + 2 * area(n, k) => {
        let kind = Triangle::of(options);
        let (triangle, right) = (a.item::<T>(b, n * n), rhs.item::<T>(b, n * k));
        let one = if k == 1 { triangular::solve_one(triangle, right, kind) } else { None };
        if let Some(solution) = one {
            x.put::<T, T>(b, &solution);
        } else if triangular::by_host(triangle, right, x.item_mut::<T>(b, n * k), n, kind).is_none() {
            let a = a.matrix::<T, N>(b, n, n);
            let a = if kind.turned { a.transposed() } else { a };
            let solution = triangular::solve(&a, rhs.matrix::<T, N>(b, n, k), kind.upper, kind.unit);
            x.put::<T, N>(b, &solution.data);
        }
    };
}

/// See `prim.library` for what it computes.
///
/// # Safety
/// The arrays hold as many elements as the batch and the sizes say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_lib_permutation(
    call: *mut StrataCall,
    _dtype: i32,
    pivots: Array,
    order: Array,
    batch: i64,
    k: i64,
    m: i64,
    _options: i32,
) {
    let (k, m) = (k as usize, m as usize);
    let cost = Cost { work: m, room: 8 * m + 4 * k };
    // SAFETY: the caller promises the call and the sizes; each item is this call's own.
    unsafe { each(call, batch, cost, |b| order.put_plain(b, &lu::permutation(&pivots.integers(b, k), m))) }
}
