//! Numbers of several lines side by side, one in each lane, as plain arrays that the compiler makes vectors of.
//!
//! All is inlined into the function that has the vector instructions, see [`Vector::compiled`], so these are loops: iterators and `from_fn` may
//! be left as calls.

use std::ops::{Add, Sub};

use num_complex::Complex;
use num_traits::Float;
use rustfft::FftNum;

/// A number of each of several lines.
pub(super) trait Vector: Copy + Add<Output = Self> + Sub<Output = Self> {
    /// The numbers.
    type Number: FftNum + Float;
    /// How many.
    const LANES: usize;

    /// The same number for each line.
    fn splat(x: Self::Number) -> Self;
    /// The numbers that a function gives for the lanes.
    fn of(lane: impl FnMut(usize) -> Self::Number) -> Self;
    /// The number of one lane.
    fn lane(&self, at: usize) -> Self::Number;
    /// All numbers times one.
    fn times(self, by: Self::Number) -> Self;
    /// The sum with `other` times a number.
    fn plus(self, other: Self, by: Self::Number) -> Self;
    /// The numbers that a slice begins with.
    fn read(from: &[Self::Number]) -> Self;
    /// Writes the numbers to the beginning of a slice.
    fn write(self, to: &mut [Self::Number]);
    /// What `f` gives, compiled with the instructions that these lanes are for. It holds for what is inlined into `f`.
    fn compiled<R>(f: impl FnOnce() -> R) -> R;
    /// As many vectors as there are lanes, with the numbers of a lane of them in each.
    fn transpose(from: impl Fn(usize) -> Self, to: impl FnMut(usize, Self));
}

/// Whether a CPU fuses products with sums, and has the vectors of AVX2 if it is an x86-64.
pub(super) fn is_fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// `N` lanes. Fused ones are for CPUs of which [`is_fused`] says so.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Lanes<T, const N: usize, const FUSED: bool>([T; N]);

impl<T: Float, const N: usize, const FUSED: bool> Lanes<T, N, FUSED> {
    #[inline(always)]
    fn zipped(mut self, other: Self, with: impl Fn(T, T) -> T) -> Self {
        for k in 0..N {
            self.0[k] = with(self.0[k], other.0[k]);
        }
        self
    }
}

impl<T: Float, const N: usize, const FUSED: bool> Add for Lanes<T, N, FUSED> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zipped(
            other,
            #[inline(always)]
            |a, b| a + b,
        )
    }
}

impl<T: Float, const N: usize, const FUSED: bool> Sub for Lanes<T, N, FUSED> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zipped(
            other,
            #[inline(always)]
            |a, b| a - b,
        )
    }
}

impl<T: Transposed<N>, const N: usize, const FUSED: bool> Vector for Lanes<T, N, FUSED> {
    type Number = T;
    const LANES: usize = N;

    #[inline(always)]
    fn splat(x: T) -> Self {
        Lanes([x; N])
    }

    #[inline(always)]
    fn of(mut lane: impl FnMut(usize) -> T) -> Self {
        let mut lanes = [T::zero(); N];
        for (k, to) in lanes.iter_mut().enumerate() {
            *to = lane(k);
        }
        Lanes(lanes)
    }

    #[inline(always)]
    fn lane(&self, at: usize) -> T {
        self.0[at]
    }

    #[inline(always)]
    fn times(self, by: T) -> Self {
        self.zipped(
            self,
            #[inline(always)]
            |a, _| a * by,
        )
    }

    #[inline(always)]
    fn plus(self, other: Self, by: T) -> Self {
        self.zipped(
            other,
            #[inline(always)]
            |a, b| if FUSED { b.mul_add(by, a) } else { a + b * by },
        )
    }

    #[inline(always)]
    fn read(from: &[T]) -> Self {
        let mut lanes = [T::zero(); N];
        lanes.copy_from_slice(&from[..N]);
        Lanes(lanes)
    }

    #[inline(always)]
    fn write(self, to: &mut [T]) {
        to[..N].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn compiled<R>(f: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        if FUSED {
            // SAFETY: fused lanes are used where the CPU has these instructions.
            return unsafe { avx::wide(f) };
        }
        f()
    }

    #[inline(always)]
    fn transpose(from: impl Fn(usize) -> Self, mut to: impl FnMut(usize, Self)) {
        let mut rows = [[T::zero(); N]; N];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = from(r).0;
        }
        let columns = if FUSED { T::transposed(rows) } else { plainly(rows) };
        for (c, column) in columns.iter().enumerate() {
            to(c, Lanes(*column));
        }
    }
}

fn plainly<T: Copy, const N: usize>(rows: [[T; N]; N]) -> [[T; N]; N] {
    std::array::from_fn(|c| std::array::from_fn(|r| rows[r][c]))
}

/// Numbers of which a square of `N` is transposed in registers.
pub(super) trait Transposed<const N: usize>: FftNum + Float {
    /// The transpose. On x86-64 the CPU has AVX2.
    fn transposed(rows: [[Self; N]; N]) -> [[Self; N]; N];
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn wide<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn singles(rows: [[f32; 8]; 8]) -> [[f32; 8]; 8] {
        // SAFETY: arrays and registers of the same size hold any bits.
        let [a, b, c, d, e, f, g, h]: [__m256; 8] = unsafe { transmute(rows) };
        let (ab, cd, ef, gh) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d), _mm256_unpacklo_ps(e, f), _mm256_unpacklo_ps(g, h));
        let (ij, kl, mn, op) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d), _mm256_unpackhi_ps(e, f), _mm256_unpackhi_ps(g, h));
        // Columns 0 and 4, 1 and 5, 2 and 6, 3 and 7 of four rows each.
        let (a, e) = (_mm256_shuffle_ps::<0x44>(ab, cd), _mm256_shuffle_ps::<0x44>(ef, gh));
        let (b, f) = (_mm256_shuffle_ps::<0xee>(ab, cd), _mm256_shuffle_ps::<0xee>(ef, gh));
        let (c, g) = (_mm256_shuffle_ps::<0x44>(ij, kl), _mm256_shuffle_ps::<0x44>(mn, op));
        let (d, h) = (_mm256_shuffle_ps::<0xee>(ij, kl), _mm256_shuffle_ps::<0xee>(mn, op));
        let columns = [
            _mm256_permute2f128_ps::<0x20>(a, e),
            _mm256_permute2f128_ps::<0x20>(b, f),
            _mm256_permute2f128_ps::<0x20>(c, g),
            _mm256_permute2f128_ps::<0x20>(d, h),
            _mm256_permute2f128_ps::<0x31>(a, e),
            _mm256_permute2f128_ps::<0x31>(b, f),
            _mm256_permute2f128_ps::<0x31>(c, g),
            _mm256_permute2f128_ps::<0x31>(d, h),
        ];
        // SAFETY: as above.
        unsafe { transmute(columns) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn doubles(rows: [[f64; 4]; 4]) -> [[f64; 4]; 4] {
        // SAFETY: arrays and registers of the same size hold any bits.
        let [a, b, c, d]: [__m256d; 4] = unsafe { transmute(rows) };
        let (even, odd) = ((_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)), (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)));
        let columns = [
            _mm256_permute2f128_pd::<0x20>(even.0, even.1),
            _mm256_permute2f128_pd::<0x20>(odd.0, odd.1),
            _mm256_permute2f128_pd::<0x31>(even.0, even.1),
            _mm256_permute2f128_pd::<0x31>(odd.0, odd.1),
        ];
        // SAFETY: as above.
        unsafe { transmute(columns) }
    }
}

macro_rules! transposed {
    ($($float:ty: $lanes:literal $function:ident)*) => {$(
        impl Transposed<$lanes> for $float {
            #[inline(always)]
            fn transposed(rows: [[Self; $lanes]; $lanes]) -> [[Self; $lanes]; $lanes] {
                // SAFETY: the CPU has AVX2.
                #[cfg(target_arch = "x86_64")]
                return unsafe { avx::$function(rows) };
                #[cfg(not(target_arch = "x86_64"))]
                plainly(rows)
            }
        }
    )*};
}

transposed!(f32: 8 singles f64: 4 doubles);

/// Complex numbers of several lines.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub(super) re: V,
    pub(super) im: V,
}

impl<V: Vector> Pair<V> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        let zero = V::splat(num_traits::Zero::zero());
        Pair { re: zero, im: zero }
    }

    /// `-i z`.
    #[inline(always)]
    pub(super) fn quarter(self) -> Self {
        let zero = Pair::<V>::zero().re;
        Pair { re: self.im, im: zero - self.re }
    }

    /// Times a number.
    #[inline(always)]
    pub(super) fn times(self, by: V::Number) -> Self {
        Pair { re: self.re.times(by), im: self.im.times(by) }
    }

    /// The sum with `other` times a number.
    #[inline(always)]
    pub(super) fn plus(self, other: Self, by: V::Number) -> Self {
        Pair { re: self.re.plus(other.re, by), im: self.im.plus(other.im, by) }
    }

    /// Times a complex number.
    #[inline(always)]
    pub(super) fn turned(self, by: Complex<V::Number>) -> Self {
        Pair { re: self.re.times(by.re).plus(self.im, -by.im), im: self.im.times(by.re).plus(self.re, by.im) }
    }
}

impl<V: Vector> Add for Pair<V> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Pair { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<V: Vector> Sub for Pair<V> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Pair { re: self.re - other.re, im: self.im - other.im }
    }
}
