//! Copies of whole tensors, shared out among threads: `strata_copy`.

use std::ffi::c_void;
use std::sync::OnceLock;

use crate::abi::StrataCall;
use crate::pool;

/// Bytes that one thread copies at a time: as long as waking another one takes, 2 us at 16 GB/s.
const PIECE: i64 = 1 << 15;

/// Bytes of a last-level cache where the system does not say.
const CACHE: i64 = 8 << 20;

/// From so many bytes on a copy is stored past the caches: with what it is made of, it takes all of the last-level cache, as for kernels
/// (`lowering/src/schedule/cpu/non_temporal.rs`).
fn beyond() -> i64 {
    static BEYOND: OnceLock<i64> = OnceLock::new();
    *BEYOND.get_or_init(|| {
        // SAFETY: it asks for a number of the system's.
        let cache = unsafe { libc::sysconf(libc::_SC_LEVEL3_CACHE_SIZE) };
        let cache = if cache > 0 { cache } else { CACHE };
        cache / 2
    })
}

/// An image's import; see the architecture page. What is to be copied to where it is already stays.
///
/// # Safety
/// Both are memory of so many bytes, which do not overlap unless they are one, and nobody writes them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_copy(_call: *mut StrataCall, to: *mut c_void, from: *const c_void, bytes: i64) {
    if std::ptr::eq(to, from) {
        return;
    }
    let (to, from, past) = (to as usize, from as usize, bytes >= beyond());
    pool::global().each(bytes, PIECE, |begin, end| {
        let (at, count) = (begin as usize, (end - begin) as usize);
        let (to, from) = ((to + at) as *mut u8, (from + at) as *const u8);
        // SAFETY: a part of the caller's memory, of which no other thread has any.
        unsafe { if past { past_caches(to, from, count) } else { std::ptr::copy_nonoverlapping(from, to, count) } }
    });
}

/// Copies with non-temporal stores, which write memory without reading it first.
///
/// # Safety
/// As for [`strata_copy`].
#[cfg(target_arch = "x86_64")]
unsafe fn past_caches(to: *mut u8, from: *const u8, count: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    const REGISTER: usize = size_of::<__m128i>();
    let head = to.align_offset(LINE).min(count);
    let lines = (count - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail are parts of what the caller has; lines are aligned to their size, and so are registers in them.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let registers: [__m128i; LINE / REGISTER] = std::array::from_fn(|k| _mm_loadu_si128(from.add(at + k * REGISTER).cast()));
            registers.into_iter().enumerate().for_each(|(k, x)| _mm_stream_si128(to.add(at + k * REGISTER).cast(), x));
        }
        std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), count - tail);
        _mm_sfence();
    }
}

/// As above; the stores of other machines find out by themselves that whole lines are written.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn past_caches(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(from, to, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied_wherever_they_begin() {
        let from: Vec<u8> = (0..beyond() as usize + 300).map(|k| (k * 7 % 251) as u8).collect();
        for bytes in [0, 1, 63, 1000, PIECE as usize * 3 + 5, beyond() as usize + 77] {
            for offset in [0, 1, 30, 64] {
                let mut to = vec![255u8; bytes + offset + 2];
                // SAFETY: both have so many bytes behind their offsets.
                unsafe {
                    strata_copy(
                        std::ptr::null_mut(),
                        to.as_mut_ptr().add(offset + 1).cast(),
                        from.as_ptr().add(offset).cast(),
                        bytes as i64,
                    )
                };
                assert_eq!(to[offset + 1..][..bytes], from[offset..][..bytes]);
                assert!(to[..=offset].iter().chain(&to[offset + 1 + bytes..]).all(|x| *x == 255), "{bytes} {offset}");
            }
        }
    }
}
