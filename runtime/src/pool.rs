//! The thread pool behind `strata_parallel`.
//!
//! Kernels are short, so handing out work must be cheap, and machines are shared, so idle workers must not burn a core.
//! Workers sleep on a futex. Before sleeping they spin for some microseconds, and only while spinning has lately paid off
//! and nobody else wants the CPU: who was put aside while spinning sleeps at once.
//! Waking a sleeper costs the caller microseconds too (7 on a virtual machine), so the caller first does a grain of the
//! work itself and wakes the others only if the rest is worth it.
//! Work is handed out in parts of what is left, down to a grain: all threads end within a grain of each other, whoever came late.
//! A worker that finds itself on the caller's CPU moves to another one: schedulers put who is woken beside who woke it, and two
//! threads on one CPU are slower than one.
//! A caller never waits for a worker that has not started: it closes the job and goes on alone.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::time::{Duration, Instant};

use crate::abi::Body;
use crate::cpus::{self, Cpus};
use crate::wait::{SPIN, Spin, futex_wait, futex_wake, spin};

/// Parts for each thread of the work that is left: enough to even out a late worker, few enough to keep the counter quiet.
const PARTS: i64 = 4;
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
    /// Since when, in nanoseconds since `start`, there is the newest job.
    posted: AtomicU64,
    start: Instant,
    /// Where the pool's threads may run.
    cpus: Cpus,
    job: UnsafeCell<Job>,
}

#[derive(Clone, Copy)]
struct Job {
    body: Option<Body>,
    ctx: *mut c_void,
    n: i64,
    /// The least that is handed out.
    grain: i64,
    /// The most that is handed out.
    most: i64,
    /// Where the caller runs.
    cpu: Option<usize>,
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
            posted: AtomicU64::new(0),
            start: Instant::now(),
            cpus: Cpus::allowed(),
            job: UnsafeCell::new(Job { body: None, ctx: std::ptr::null_mut(), n: 0, grain: 1, most: 1, cpu: None }),
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
        let job = Job { body: Some(body), ctx, n, grain, most: if heavy { 1 } else { n }, cpu: cpus::current() };
        // SAFETY: we hold `busy`, the gate is closed and empty: nobody reads the job now.
        unsafe { *self.job.get() = job };
        self.next.store(0, Relaxed);
        self.posted.store(self.now(), Relaxed);
        self.gate.store(OPEN, SeqCst);
        self.epoch.fetch_add(1, SeqCst);
        INSIDE.set(true);
        if heavy {
            futex_wake(&self.epoch, (job.n - 1).min(self.threads as i64 - 1) as u32);
        } else {
            self.wake(job);
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
    fn wake(&self, job: Job) {
        let Some(body) = job.body else { return };
        if self.sleepers.load(SeqCst) == 0 {
            return;
        }
        let Some((begin, end)) = self.take(&job, job.grain) else { return };
        let start = Instant::now();
        // SAFETY: as in `chunks`.
        unsafe { body(job.ctx, begin, end) };
        let grains = (job.n - begin) / job.grain;
        if start.elapsed().as_nanos() as f64 * grains as f64 > WORTH.as_nanos() as f64 {
            let helpers = ((job.n - 1) / job.grain).min(self.threads as i64 - 1);
            futex_wake(&self.epoch, helpers as u32);
        }
    }

    /// Does parts of the job until none is left.
    fn chunks(&self, job: Job) {
        let Some(body) = job.body else { return };
        while let Some((begin, end)) = self.take(&job, job.most) {
            // SAFETY: `run`'s caller promised that disjoint ranges may run anywhere; each begin is handed out once.
            unsafe { body(job.ctx, begin, end) };
        }
    }

    /// The next part of the job, in whole grains: a share of what is left, `most` at most.
    fn take(&self, job: &Job, most: i64) -> Option<(i64, i64)> {
        let mut begin = self.next.load(Relaxed);
        while begin < job.n {
            let left = job.n - begin;
            let share = (left / (self.threads as i64 * PARTS)).min(most);
            let end = begin + (share - share % job.grain).max(job.grain).min(left);
            match self.next.compare_exchange_weak(begin, end, Relaxed, Relaxed) {
                Ok(_) => return Some((begin, end)),
                Err(now) => begin = now,
            }
        }
        None
    }

    /// Lets no more workers in and waits for those inside.
    fn close(&self) {
        if self.gate.fetch_and(!OPEN, SeqCst) == OPEN {
            return;
        }
        if spin(|| self.gate.load(Acquire) == 0) == Spin::Done {
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
                self.cpus.leave(job.cpu);
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
            match spin(|| self.epoch.load(Relaxed) != seen) {
                Spin::Done => return self.luck.store((luck + 2).min(16), Relaxed),
                Spin::Vain => self.luck.store(luck - 1, Relaxed),
                Spin::Aside => self.luck.store(0, Relaxed),
            }
        }
        self.sleepers.fetch_add(1, SeqCst);
        let asleep = self.now();
        futex_wait(&self.epoch, seen);
        self.sleepers.fetch_sub(1, SeqCst);
        // Work that comes so soon that a spin would have caught it earns the spin another try. What counts is when the work
        // came: waking up takes longer than many a pause.
        let pause = Duration::from_nanos(self.posted.load(Relaxed).saturating_sub(asleep));
        if pause < SPIN {
            self.luck.fetch_max(1, Relaxed);
        }
    }

    /// Nanoseconds since the pool's start.
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
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
    fn parts_are_whole_grains_and_shrink_to_one() {
        let pool = Pool::start(2);
        let job = Job { body: None, ctx: std::ptr::null_mut(), n: 1003, grain: 4, most: 1003, cpu: None };
        let parts: Vec<_> = std::iter::from_fn(|| pool.take(&job, job.most)).collect();
        assert!(parts.iter().zip(&parts[1..]).all(|(part, next)| part.1 == next.0 && part.1 - part.0 >= next.1 - next.0));
        assert!(parts.iter().rev().skip(1).all(|(begin, end)| (end - begin) % 4 == 0));
        assert_eq!((parts[0], parts.last()), ((0, 124), Some(&(1000, 1003))));
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
