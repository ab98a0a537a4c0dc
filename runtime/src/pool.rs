//! The thread pool behind `strata_parallel`.
//!
//! Kernels are short, so handing out work must be cheap, and machines are shared, so idle workers must not burn a core.
//! Workers sleep on a futex. Before sleeping they spin for some microseconds, and only while spinning has lately paid off.
//! Waking a sleeper costs the caller microseconds too (7 on a virtual machine), so the caller first does a grain of the
//! work itself and wakes the others only if the rest is worth it.
//! A caller never waits for a worker that has not started: it closes the job and goes on alone.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::time::{Duration, Instant};

use crate::abi::Body;

/// Chunks per thread: enough to even out a late worker, few enough to keep the counter quiet.
const CHUNKS_PER_THREAD: i64 = 4;
/// How long an idle thread stays awake for what comes next.
const SPIN: Duration = Duration::from_micros(20);
/// Work that is worth waking a sleeper for.
const WORTH: Duration = Duration::from_micros(16);
/// Set in `gate` while a job takes workers; the bits below count the workers inside.
const OPEN: u64 = 1 << 32;

/// A pool of workers that run one job at a time.
pub struct Pool {
    threads: usize,
    busy: AtomicBool,
    epoch: AtomicU32,
    sleepers: AtomicU32,
    gate: AtomicU64,
    drained: AtomicU32,
    next: AtomicI64,
    /// How often spinning caught work, minus how often it did not; spinning stops when it falls to zero.
    luck: AtomicU32,
    job: UnsafeCell<Job>,
}

#[derive(Clone, Copy)]
struct Job {
    body: Option<Body>,
    ctx: *mut c_void,
    n: i64,
    chunk: i64,
}

// SAFETY: `job` is written only by the holder of `busy` while the gate is closed and nobody is inside,
// and read only by threads that entered through the open gate; all else is atomic.
unsafe impl Sync for Pool {}
// SAFETY: as above; `ctx` belongs to the caller, who stays in `run` for as long as a worker may use it.
unsafe impl Send for Pool {}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The process's pool, started on first use.
pub fn global() -> &'static Pool {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool::start(default_threads()))
}

/// Threads asked for by [`limit`]; 0 is no wish.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Asks for at most `threads` threads. It counts for the process's pool if that has not been used yet.
pub fn limit(threads: usize) {
    LIMIT.store(threads, Relaxed);
}

/// The least of [`limit`], `STRATA_THREADS` and the CPUs this process may use.
fn default_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = LIMIT.load(Relaxed);
    let set = std::env::var("STRATA_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(cores);
    let limit = if asked == 0 { set } else { asked.min(set) };
    limit.clamp(1, cores)
}

impl Pool {
    /// Starts a pool of `threads` threads, the caller of [`Pool::run`] being one of them. It lives as long as the process.
    pub fn start(threads: usize) -> &'static Pool {
        let pool: &'static Pool = Box::leak(Box::new(Pool {
            threads,
            busy: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            gate: AtomicU64::new(0),
            drained: AtomicU32::new(0),
            next: AtomicI64::new(0),
            luck: AtomicU32::new(8),
            job: UnsafeCell::new(Job { body: None, ctx: std::ptr::null_mut(), n: 0, chunk: 1 }),
        }));
        for k in 1..threads {
            let thread = std::thread::Builder::new().name(format!("strata-{k}")).stack_size(8 << 20);
            // Without a worker the caller does its share: slower, not wrong.
            let _ = thread.spawn(move || pool.work());
        }
        pool
    }

    /// Threads that take part in a job.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `body(ctx, begin, end)` over `0..n` in pieces of at least `grain`, and returns when all are done. With a grain of 0
    /// each element is known to be worth a thread: workers are woken at once, and elements are handed out one by one.
    /// Inside a body, or while another caller uses the pool, everything runs on the calling thread.
    ///
    /// # Safety
    /// `body` may be called from any thread, at the same time, with disjoint ranges.
    pub unsafe fn run(&self, body: Body, ctx: *mut c_void, n: i64, grain: i64) {
        if n <= 0 {
            return;
        }
        let heavy = grain == 0;
        let grain = grain.max(1);
        let alone = n <= grain || self.threads == 1 || INSIDE.get();
        if alone || self.busy.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            // SAFETY: the caller's promise covers one call with the whole range.
            return unsafe { body(ctx, 0, n) };
        }
        let even = (n + self.threads as i64 * CHUNKS_PER_THREAD - 1) / (self.threads as i64 * CHUNKS_PER_THREAD);
        let chunk = if heavy { 1 } else { ((even.max(grain) - 1) / grain + 1).saturating_mul(grain) };
        let job = Job { body: Some(body), ctx, n, chunk };
        // SAFETY: we hold `busy`, the gate is closed and empty: nobody reads the job now.
        unsafe { *self.job.get() = job };
        self.next.store(0, Relaxed);
        self.gate.store(OPEN, SeqCst);
        self.epoch.fetch_add(1, SeqCst);
        INSIDE.set(true);
        if heavy {
            futex_wake(&self.epoch, (job.n - 1).min(self.threads as i64 - 1) as u32);
        } else {
            self.wake(job, grain);
        }
        self.chunks(job);
        INSIDE.set(false);
        self.close();
        self.busy.store(false, Release);
    }

    /// Runs `body(begin, end)` over `0..n` in pieces, as [`Pool::run`] does.
    pub fn each<F: Fn(i64, i64) + Sync>(&self, n: i64, grain: i64, body: F) {
        unsafe extern "C" fn call<F: Fn(i64, i64) + Sync>(ctx: *mut c_void, begin: i64, end: i64) {
            // SAFETY: `each` passes its own body, which outlives the job.
            let body = unsafe { &*ctx.cast::<F>() };
            body(begin, end);
        }
        // SAFETY: a `Sync` closure may be called from any thread at the same time.
        unsafe { self.run(call::<F>, (&raw const body).cast_mut().cast(), n, grain) }
    }

    /// Wakes sleeping workers if the job is worth it, which one grain of it tells.
    fn wake(&self, job: Job, grain: i64) {
        let Some(body) = job.body else { return };
        if self.sleepers.load(SeqCst) == 0 {
            return;
        }
        let begin = self.next.fetch_add(grain, Relaxed);
        if begin >= job.n {
            return;
        }
        let start = Instant::now();
        // SAFETY: as in `chunks`.
        unsafe { body(job.ctx, begin, begin.saturating_add(grain).min(job.n)) };
        let grains = (job.n - begin) / grain;
        if start.elapsed().as_nanos() as f64 * grains as f64 > WORTH.as_nanos() as f64 {
            let helpers = ((job.n - 1) / job.chunk).min(self.threads as i64 - 1);
            futex_wake(&self.epoch, helpers as u32);
        }
    }

    /// Takes chunks of the job until none is left.
    fn chunks(&self, job: Job) {
        let Some(body) = job.body else { return };
        loop {
            let begin = self.next.fetch_add(job.chunk, Relaxed);
            if begin >= job.n {
                return;
            }
            // SAFETY: `run`'s caller promised that disjoint ranges may run anywhere; each begin is handed out once.
            unsafe { body(job.ctx, begin, begin.saturating_add(job.chunk).min(job.n)) };
        }
    }

    /// Lets no more workers in and waits for those inside.
    fn close(&self) {
        if self.gate.fetch_and(!OPEN, SeqCst) == OPEN {
            return;
        }
        if spin(SPIN, || self.gate.load(Acquire) == 0) {
            return;
        }
        loop {
            let seen = self.drained.load(SeqCst);
            if self.gate.load(SeqCst) == 0 {
                return;
            }
            futex_wait(&self.drained, seen);
        }
    }

    /// A worker's life.
    fn work(&self) {
        INSIDE.set(true);
        loop {
            let seen = self.epoch.load(SeqCst);
            if self.enter() {
                // SAFETY: we are inside: the job stays as it is until we leave.
                let job = unsafe { *self.job.get() };
                self.chunks(job);
                if self.gate.fetch_sub(1, SeqCst) == 1 {
                    self.drained.fetch_add(1, SeqCst);
                    futex_wake(&self.drained, 1);
                }
            }
            self.rest(seen);
        }
    }

    /// Joins the job if it still takes workers.
    fn enter(&self) -> bool {
        let mut gate = self.gate.load(SeqCst);
        while gate & OPEN != 0 {
            match self.gate.compare_exchange_weak(gate, gate + 1, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(now) => gate = now,
            }
        }
        false
    }

    /// Waits for the next job: awake for a moment if that has paid off lately, then asleep.
    fn rest(&self, seen: u32) {
        let luck = self.luck.load(Relaxed);
        if luck > 0 {
            if spin(SPIN, || self.epoch.load(Relaxed) != seen) {
                self.luck.store((luck + 2).min(16), Relaxed);
                return;
            }
            self.luck.store(luck - 1, Relaxed);
        }
        self.sleepers.fetch_add(1, SeqCst);
        let slept = Instant::now();
        futex_wait(&self.epoch, seen);
        self.sleepers.fetch_sub(1, SeqCst);
        // Work that comes so soon that a spin would have caught it earns the spin another try.
        if slept.elapsed() < SPIN {
            self.luck.fetch_max(1, Relaxed);
        }
    }
}

/// Waits awake until `done`, for about `time` at most; whether it came.
fn spin(time: Duration, done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..32 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() > time {
            return false;
        }
    }
}

fn futex_wait(word: &AtomicU32, seen: u32) {
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word outlives the call and the null time-out means none; a spurious return is allowed for by callers.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, seen, std::ptr::null::<libc::timespec>()) };
}

fn futex_wake(word: &AtomicU32, count: u32) {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is only used as an address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), op, count) };
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn count(ctx: *mut c_void, begin: i64, end: i64) {
        // SAFETY: the tests pass a slice of atomics that is longer than any range.
        let hits = unsafe { &*ctx.cast::<Vec<AtomicU32>>() };
        for k in begin..end {
            hits[k as usize].fetch_add(1, Relaxed);
        }
    }

    fn hit_all(pool: &Pool, n: usize, grain: i64) {
        let hits: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        // SAFETY: `count` only touches atomics.
        unsafe { pool.run(count, (&raw const hits).cast_mut().cast(), n as i64, grain) };
        assert!(hits.iter().all(|hit| hit.load(Relaxed) == 1));
    }

    #[test]
    fn every_index_runs_once_whatever_the_grain() {
        let pool = Pool::start(4);
        for round in 0..2000 {
            hit_all(pool, round % 97, 1 + (round % 13) as i64);
        }
        hit_all(pool, 100_000, 1);
    }

    #[test]
    fn concurrent_callers_all_finish() {
        let pool = Pool::start(3);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| hit_all(pool, 200, 3)));
            }
        });
    }

    #[test]
    fn a_call_inside_a_body_runs_serially() {
        unsafe extern "C" fn nested(ctx: *mut c_void, begin: i64, end: i64) {
            // SAFETY: the test passes the pool.
            let pool = unsafe { &*ctx.cast::<Pool>() };
            (begin..end).for_each(|_| hit_all(pool, 50, 1));
        }
        let pool = Pool::start(4);
        // SAFETY: `nested` shares nothing but the pool.
        unsafe { pool.run(nested, (&raw const *pool).cast_mut().cast(), 40, 1) };
    }
}
