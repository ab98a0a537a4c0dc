//! The thread team of a host that computes by OpenMP, as PyTorch does.
//!
//! Such a team stays awake for milliseconds after its work. A second set of threads beside it would wait for its CPUs after each
//! operator of eager PyTorch, so kernels in such a host run on the host's own threads.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libloading::os::unix::Library;

/// `GOMP_parallel`, the entry of parallel regions in GNU's library; LLVM's and Intel's have it too.
type Parallel = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, threads: u32, flags: u32);

/// A team of OpenMP, by its library's entry points.
pub struct OpenMp {
    parallel: Parallel,
    number: unsafe extern "C" fn() -> i32,
}

/// Set in a process that was forked off: the team's threads stayed in the other one, and a parallel region would wait for them for ever.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn forked() {
    FORKED.store(true, Relaxed);
}

/// Has the system say when this process is forked, from the first call on; gives whether it will.
fn watches_forks() -> bool {
    static WATCHES: OnceLock<bool> = OnceLock::new();
    // SAFETY: the handler only stores to an atomic.
    *WATCHES.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(forked)) } == 0)
}

/// Whether a library that computes by OpenMP may be called: this process was not forked off one where that was asked before.
pub fn may_be_called() -> bool {
    watches_forks() && !FORKED.load(Relaxed)
}

impl OpenMp {
    /// The library that this process has loaded for all to see, if any.
    pub fn of_process() -> Option<OpenMp> {
        let process = Library::this();
        // SAFETY: the names have these types in every OpenMP library, and what a process has loaded for all stays.
        let (parallel, number) = unsafe { (*process.get(b"GOMP_parallel\0").ok()?, *process.get(b"omp_get_thread_num\0").ok()?) };
        watches_forks().then_some(OpenMp { parallel, number })
    }

    /// Whether the team's threads are in this process.
    pub fn is_here(&self) -> bool {
        may_be_called()
    }

    /// Calls `body` with each member's number, on its thread; 0 is the caller's. Ends when all have ended.
    pub fn run<F: Fn(usize) + Sync>(&self, body: &F) {
        struct Region<'a, F> {
            body: &'a F,
            number: unsafe extern "C" fn() -> i32,
        }
        extern "C" fn member<F: Fn(usize) + Sync>(region: *mut c_void) {
            // SAFETY: `run` passes its own region, which outlives the parallel one.
            let region = unsafe { &*region.cast::<Region<F>>() };
            // SAFETY: it takes nothing and may be called anywhere.
            (region.body)(unsafe { (region.number)() } as usize);
        }
        let region = Region { body, number: self.number };
        // SAFETY: members get the region, whose body may run on several threads; 0 threads are as many as the host says.
        unsafe { (self.parallel)(member::<F>, (&raw const region).cast_mut().cast(), 0, 0) }
    }
}
