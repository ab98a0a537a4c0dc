//! The thread pool behind `strata_parallel`.
//!
//! Kernels are short, so handing out work must be cheap, and machines are shared, so idle workers must not burn a core.
//! Workers sleep on a futex. Before sleeping they spin for some microseconds, and only while spinning has lately paid off
//! and nobody else wants the CPU: who was put aside while spinning sleeps at once.
//! Waking a sleeper costs the caller microseconds too (7 on a virtual machine), so the caller first does a grain of the
//! work itself and wakes the others only if the rest is worth it.
//! Each thread has its own share of the work, the same at each job of the same size: what a core has in its caches is there for the
//! next call, and for the next kernel. A share is handed out in parts of what is left of it, down to a grain. Who is done with
//! its own takes from the end of another's: all threads end within a grain of each other, whoever came late.
//! A worker that finds itself on the caller's CPU moves to another one: schedulers put who is woken beside who woke it, and two
//! threads on one CPU are slower than one.
//! A caller never waits for a worker that has not started: it closes the job and goes on alone.
//! In a host that computes by OpenMP the workers are the host's: from the start where it asks for that ([`share_openmp`]), else from the first
//! call of one of its libraries on ([`Pool::share_openmp`]).

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::time::{Duration, Instant};

use crate::abi::Body;
use crate::cpus::{self, Cpus};
use crate::openmp::OpenMp;
use crate::wait::{SPIN, Spin, futex_wait, futex_wake, spin};

/// Parts of what is left of a share: enough to even out a late worker, few enough to keep the counters quiet.
const PARTS: u32 = 4;
/// Work that is worth waking a sleeper for.
const WORTH: Duration = Duration::from_micros(16);
/// How long after the beginning of a job the host's threads are taken to be awake still. GNU's library keeps them awake for 300,000 pauses: 5 ms or more.
const AWAKE: Duration = Duration::from_millis(2);
/// Set in `gate` while a job takes workers; the bits below count the workers inside.
const OPEN: u64 = 1 << 32;

/// A pool of workers that run one job at a time.
pub struct Pool {
    threads: usize,
    /// The host's workers, if it has any, once they have taken the place of ours.
    team: OnceLock<Option<OpenMp>>,
    busy: AtomicBool,
    epoch: AtomicU32,
    sleepers: AtomicU32,
    gate: AtomicU64,
    drained: AtomicU32,
    /// What is left of each thread's share; the caller's is the first.
    shares: Box<[Share]>,
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
    /// The most grains that are handed out at once.
    most: u32,
    /// Where the caller runs.
    cpu: Option<usize>,
}

/// Grains that nobody has taken yet: the first one in the low half, the end in the high half. A cache line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Share(AtomicU64);

impl Share {
    fn reset(&self, grains: Range<u32>) {
        self.0.store(u64::from(grains.end) << 32 | u64::from(grains.start), Relaxed);
    }

    /// Takes a part of what is left, `most` grains at most: from the front, or from the end.
    fn take(&self, most: u32, front: bool) -> Option<Range<u32>> {
        let mut now = self.0.load(Relaxed);
        loop {
            let (start, end) = (now as u32, (now >> 32) as u32);
            if start >= end {
                return None;
            }
            let part = ((end - start) / PARTS).clamp(1, most);
            let (left, taken) = if front { (start + part..end, start..start + part) } else { (start..end - part, end - part..end) };
            match self.0.compare_exchange_weak(now, u64::from(left.end) << 32 | u64::from(left.start), Relaxed, Relaxed) {
                Ok(_) => return Some(taken),
                Err(other) => now = other,
            }
        }
    }
}

impl Job {
    fn grains(&self) -> u64 {
        (self.n as u64).div_ceil(self.grain as u64)
    }
}

// SAFETY: `job` is written only by the holder of `busy` while the gate is closed and nobody is inside, and read only by threads that entered
// through the open gate, or by members of a team, which the holder of `busy` starts later and waits for; all else is atomic.
unsafe impl Sync for Pool {}
// SAFETY: as above; `ctx` belongs to the caller, who stays in `run` for as long as a worker may use it.
unsafe impl Send for Pool {}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The process's pool, started on first use.
pub fn global() -> &'static Pool {
    static POOL: OnceLock<&'static Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let pool = Pool::new(default_threads());
        if SHARED.load(Relaxed) {
            pool.share_openmp();
        }
        pool.start_workers()
    })
}

/// Threads asked for by [`limit`]; 0 is no wish.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Asks for at most `threads` threads. It counts for the process's pool if that has not been used yet.
pub fn limit(threads: usize) {
    LIMIT.store(threads, Relaxed);
}

/// Whether [`share_openmp`] was called.
static SHARED: AtomicBool = AtomicBool::new(false);

/// Lets kernels run on the threads of the OpenMP library that the process has loaded, as many as both it and [`limit`] allow. It
/// counts for the process's pool if that has not been used yet.
pub fn share_openmp() {
    SHARED.store(true, Relaxed);
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
        Pool::new(threads).start_workers()
    }

    fn new(threads: usize) -> Pool {
        Pool {
            threads,
            team: OnceLock::new(),
            busy: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            gate: AtomicU64::new(0),
            drained: AtomicU32::new(0),
            shares: (0..threads).map(|_| Share::default()).collect(),
            luck: AtomicU32::new(8),
            posted: AtomicU64::new(0),
            start: Instant::now(),
            cpus: Cpus::allowed(),
            job: UnsafeCell::new(Job { body: None, ctx: std::ptr::null_mut(), n: 0, grain: 1, most: 1, cpu: None }),
        }
    }

    /// Starts workers, unless those of the host are there for the jobs.
    fn start_workers(self) -> &'static Pool {
        let pool: &'static Pool = Box::leak(Box::new(self));
        let workers = if pool.team().is_some() { 0 } else { pool.threads - 1 };
        for k in 1..=workers {
            let thread = std::thread::Builder::new().name(format!("strata-{k}")).stack_size(8 << 20);
            // Without a worker the caller does its share: slower, not wrong.
            let _ = thread.spawn(move || pool.work(k));
        }
        pool
    }

    /// Has the threads of the OpenMP library that the process has loaded run all jobs from the next one on; workers of our own sleep then. A library
    /// of the host that computes by OpenMP would find them spinning on its CPUs, and they its threads on theirs.
    pub fn share_openmp(&self) {
        self.team.get_or_init(OpenMp::of_process);
    }

    fn team(&self) -> Option<&OpenMp> {
        self.team.get()?.as_ref()
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
        let grain = grain.max(1).max(n >> 31); // grains are counted in 32 bits
        let alone = n <= grain || self.threads == 1 || INSIDE.get();
        if alone || self.busy.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            // SAFETY: the caller's promise covers one call with the whole range.
            return unsafe { body(ctx, 0, n) };
        }
        let job = Job { body: Some(body), ctx, n, grain, most: if heavy { 1 } else { u32::MAX }, cpu: cpus::current() };
        // SAFETY: we hold `busy`, the gate is closed and empty: nobody reads the job now.
        unsafe { *self.job.get() = job };
        self.share(&job);
        let before = self.posted.swap(self.now(), Relaxed);
        INSIDE.set(true);
        match self.team() {
            Some(team) => self.run_on(team, job, heavy || self.now() - before < AWAKE.as_nanos() as u64),
            None => self.run_on_workers(job, heavy),
        }
        INSIDE.set(false);
        self.busy.store(false, Release);
    }

    fn run_on_workers(&self, job: Job, heavy: bool) {
        self.gate.store(OPEN, SeqCst);
        self.epoch.fetch_add(1, SeqCst);
        if heavy || self.sleepers.load(SeqCst) > 0 && self.is_worth(job) {
            futex_wake(&self.epoch, (job.grains() - 1).min(self.threads as u64 - 1) as u32);
        }
        self.chunks(0, job);
        self.close();
    }

    /// The threads of the team are awake, or worth waking, if `awake`.
    fn run_on(&self, team: &OpenMp, job: Job, awake: bool) {
        if !team.is_here() || !awake && !self.is_worth(job) {
            return self.chunks(0, job);
        }
        team.run(&|me| {
            if me < self.threads {
                let inside = INSIDE.replace(true);
                // SAFETY: the caller holds `busy` until the team has ended: the job stays as it is.
                self.chunks(me, unsafe { *self.job.get() });
                INSIDE.set(inside);
            }
        });
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

    /// Gives each thread its share; the first ones have the larger ones.
    fn share(&self, job: &Job) {
        let (grains, threads) = (job.grains(), self.threads as u64);
        let begin = |thread: u64| (grains * thread).div_ceil(threads) as u32;
        for (thread, share) in (0..).zip(&self.shares) {
            share.reset(begin(thread)..begin(thread + 1));
        }
    }

    /// Does one grain of the job, which tells whether the rest of it is worth waking others.
    fn is_worth(&self, job: Job) -> bool {
        let (Some(body), Some((begin, end))) = (job.body, self.take(0, &job, 1)) else { return false };
        let start = Instant::now();
        // SAFETY: as in `chunks`.
        unsafe { body(job.ctx, begin, end) };
        start.elapsed().as_nanos() as f64 * job.grains() as f64 > WORTH.as_nanos() as f64
    }

    /// Does parts of the job until none is left, as thread `me`.
    fn chunks(&self, me: usize, job: Job) {
        let Some(body) = job.body else { return };
        while let Some((begin, end)) = self.take(me, &job, job.most) {
            // SAFETY: `run`'s caller promised that disjoint ranges may run anywhere; each begin is handed out once.
            unsafe { body(job.ctx, begin, end) };
        }
    }

    /// The next part of the job for thread `me`, of at most `most` grains: of its own share while there is any, else of the others'.
    fn take(&self, me: usize, job: &Job, most: u32) -> Option<(i64, i64)> {
        let (before, from) = self.shares.split_at(me);
        let (own, after) = from.split_first()?;
        let part = own.take(most, true).or_else(|| after.iter().chain(before).find_map(|other| other.take(most, false)))?;
        Some((i64::from(part.start) * job.grain, (i64::from(part.end) * job.grain).min(job.n)))
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

    /// The life of worker `me`.
    fn work(&self, me: usize) {
        INSIDE.set(true);
        loop {
            let seen = self.epoch.load(SeqCst);
            if self.enter() {
                // SAFETY: we are inside: the job stays as it is until we leave.
                let job = unsafe { *self.job.get() };
                self.cpus.leave(job.cpu);
                self.chunks(me, job);
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
    fn a_thread_takes_its_own_share_in_shrinking_parts_and_then_the_end_of_another() {
        let pool = Pool::start(2);
        let job = Job { body: None, ctx: std::ptr::null_mut(), n: 1003, grain: 4, most: u32::MAX, cpu: None };
        pool.share(&job);
        let mut parts = std::iter::from_fn(|| pool.take(1, &job, job.most));
        let own: Vec<_> = parts.by_ref().take_while(|part| part.0 >= 504).collect();
        assert_eq!((own[0], own.last()), ((504, 628), Some(&(1000, 1003))));
        assert!(own.iter().zip(&own[1..]).all(|(part, next)| part.1 == next.0 && part.1 - part.0 >= next.1 - next.0));
        let last = parts.last();
        assert_eq!(last, Some((0, 4)));
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
