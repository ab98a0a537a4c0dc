//! What this machine can do at most, measured: products and sums in registers, bytes copied. All threads of the pool take part.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::memory::Block;
use crate::pool;

/// Measurements of one limit; the best counts.
const ROUNDS: usize = 5;
/// About how long a measurement takes.
const LONG: Duration = Duration::from_millis(4);

/// Single-precision operations in a second, a fused product and sum being two.
pub fn flops() -> f64 {
    // Some milliseconds: threads that are only being started take part before the last round. Each has one element, worth waking for.
    let (steps, threads) = (2_000_000, pool::global().threads() as i64);
    let done = AtomicUsize::new(0);
    let round = || pool::global().each(threads, 0, |first, end| (first..end).for_each(|_| _ = done.fetch_add(products(steps), Relaxed)));
    let time = best(round);
    (done.into_inner() / ROUNDS) as f64 / time.as_secs_f64()
}

/// Bytes in a second that a copy reads and writes, where both together are this many bytes; 0 where there is no memory for them.
pub fn bandwidth(bytes: u64) -> f64 {
    let half = (bytes.clamp(1 << 13, 1 << 28) / 2) as usize;
    let (Ok(from), Ok(to)) = (Block::new(half), Block::new(half)) else { return 0.0 };
    let (from, to) = (from.as_ptr() as usize, to.as_ptr() as usize);
    // A piece is at least a page, so that threads do not share lines.
    let copy = || {
        pool::global().each(half as i64, 1 << 14, |first, end| {
            // SAFETY: both blocks have `half` bytes and live to the end of this function; the ranges of threads are disjoint.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    (from as *const u8).add(first as usize),
                    (to as *mut u8).add(first as usize),
                    (end - first) as usize,
                )
            }
        });
    };
    copy(); // pages are mapped
    let start = Instant::now();
    copy();
    let repeats = (LONG.as_nanos() / start.elapsed().as_nanos().max(1)).clamp(1, 100_000) as usize;
    (2 * half * repeats) as f64 / best(|| (0..repeats).for_each(|_| copy())).as_secs_f64()
}

fn best(mut round: impl FnMut()) -> Duration {
    let mut time = || {
        let start = Instant::now();
        round();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| time()).min().unwrap_or_default().max(Duration::from_nanos(1))
}

/// Independent sums, enough to hide the latency of one.
const CHAINS: usize = 12;

/// Adds products in registers with the widest instructions of this CPU; gives the operations of all steps.
fn products(steps: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the CPU has AVX-512.
            return unsafe { products_avx512(steps) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has AVX2 and FMA.
            return unsafe { products_avx2(steps) };
        }
    }
    let mut sums = [0f32; CHAINS];
    (0..steps).for_each(|_| sums.iter_mut().for_each(|sum| *sum = *sum * 0.999 + 1.0));
    black_box(sums);
    2 * CHAINS * steps
}

macro_rules! products {
    ($name:ident $features:literal $lanes:literal $set:ident $fma:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $name(steps: usize) -> usize {
            use std::arch::x86_64::{$fma, $set};
            let (mut sums, factor, one) = ([$set(0.0); CHAINS], $set(0.999), $set(1.0));
            for _ in 0..steps {
                for sum in &mut sums {
                    *sum = $fma(*sum, factor, one);
                }
            }
            black_box(sums);
            2 * $lanes * CHAINS * steps
        }
    };
}

products!(products_avx512 "avx512f" 16 _mm512_set1_ps _mm512_fmadd_ps);
products!(products_avx2 "avx2,fma" 8 _mm256_set1_ps _mm256_fmadd_ps);

#[cfg(test)]
mod tests {
    use super::{bandwidth, flops};

    #[test]
    fn limits_are_measured() {
        assert!(flops() > 1e8);
        assert!(bandwidth(0) > 1e7 && bandwidth(1 << 20) > 1e7);
    }
}
