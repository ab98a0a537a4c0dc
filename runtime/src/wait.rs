//! Waiting for another thread: awake for a moment, then asleep on a futex.

use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// How long an idle thread stays awake for what comes next: the pause between two calls through `torch.compile`, 30 to 60 µs on a
/// slow core, with room for what a user's Python does in between.
pub const SPIN: Duration = Duration::from_micros(200);
/// A spinning thread that misses so much time may have been put aside for another one.
const ASIDE: Duration = Duration::from_micros(20);

/// How waiting awake ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spin {
    /// With what was waited for.
    Done,
    /// With nothing.
    Vain,
    /// Another thread had the CPU meanwhile.
    Aside,
}

/// Waits awake until `done`, for about [`SPIN`] at most.
pub fn spin(done: impl Fn() -> bool) -> Spin {
    let start = Instant::now();
    let (mut last, mut before) = (Duration::ZERO, None);
    loop {
        for _ in 0..32 {
            if done() {
                return Spin::Done;
            }
            std::hint::spin_loop();
        }
        let now = start.elapsed();
        match before {
            None => before = Some(times_put_aside()),
            // Time that an interrupt or a hypervisor took is not another thread's.
            Some(before) if now - last > ASIDE && times_put_aside() != before => return Spin::Aside,
            Some(_) => {}
        }
        if now > SPIN {
            return Spin::Vain;
        }
        last = now;
    }
}

/// How often the scheduler gave this thread's CPU to another one.
fn times_put_aside() -> libc::c_long {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the struct outlives the call, which fills it, or leaves it zero where it fails.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_nivcsw
    }
}

pub fn futex_wait(word: &AtomicU32, seen: u32) {
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call and the null time-out means none; a spurious return is allowed for by callers.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, seen, std::ptr::null::<libc::timespec>()) };
}

pub fn futex_wake(word: &AtomicU32, count: u32) {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is only used as an address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, count) };
}
