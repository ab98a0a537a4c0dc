//! Seeds of random numbers. A program asks for one wherever it draws numbers; the sequence of seeds follows from the one
//! that [`strata_seed`] sets.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::StrataCall;

static SEED: AtomicU64 = AtomicU64::new(0);
static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Starts the sequence of seeds anew. Programs then draw the same numbers again.
#[unsafe(no_mangle)]
pub extern "C" fn strata_seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
    DRAWN.store(0, Ordering::Relaxed);
}

/// The seed number `count` after a start: Steele, Lea and Flood's mixing of a counter.
fn mixed(start: u64, count: u64) -> u64 {
    let mut x = start.wrapping_add(count.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// An image's import: writes a fresh seed.
///
/// # Safety
/// `seed` points at one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_lib_seed(_call: *mut StrataCall, seed: *mut u64) {
    let count = DRAWN.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's.
    unsafe { seed.write(mixed(SEED.load(Ordering::Relaxed), count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_and_come_back() {
        let draw = || {
            let mut seed = 0;
            // SAFETY: it points at one number.
            unsafe { strata_lib_seed(std::ptr::null_mut(), &raw mut seed) };
            seed
        };
        strata_seed(7);
        let first = [draw(), draw()];
        assert_ne!(first[0], first[1]);
        strata_seed(7);
        assert_eq!([draw(), draw()], first);
    }
}
