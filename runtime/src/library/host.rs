//! PyTorch, where the process has loaded it: what it has beside tensors are mathematical libraries (MKL on x86, OpenBLAS elsewhere). Nothing is
//! linked.

use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY};

use crate::{openmp, pool};

/// PyTorch's library.
const HOST: &str = "libtorch_cpu.so";

/// `RTLD_NOLOAD` of Linux: find a library only if it is loaded.
const RTLD_NOLOAD: i32 = 4;

/// PyTorch's library, if the process has loaded it by now.
pub fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    if let Some(library) = LIBRARY.get() {
        return Some(library);
    }
    // SAFETY: a library that is loaded already is not initialised again.
    let library = unsafe { Library::open(Some(HOST), RTLD_LAZY | RTLD_NOLOAD) }.ok()?;
    Some(LIBRARY.get_or_init(|| library))
}

/// A function of the host.
///
/// # Safety
/// The function has this type wherever it has this name.
pub(super) unsafe fn function<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: the caller's; the library is never closed.
    unsafe { library()?.get::<F>(format!("{name}\0").as_bytes()) }.map(|found| *found).ok()
}

/// Functions of a library of the host, which are looked up once; none in a process where they would wait for threads of another one. They compute
/// by OpenMP, so all else does from now on.
pub(super) fn functions<T>(found: &'static OnceLock<Option<T>>, find: impl FnOnce() -> Option<T>) -> Option<&'static T> {
    let found = openmp::may_be_called().then(|| found.get_or_init(find).as_ref()).flatten();
    if found.is_some() {
        pool::global().share_openmp();
    }
    found
}

/// Sets the threads of MKL's calls on this thread, 0 for those of the process, and gives what was set.
type SetThreads = unsafe extern "C" fn(i32) -> i32;

/// What `f` gives, which runs on several threads at once: the host's functions take no threads of their own in it. PyTorch asks MKL for as many as
/// `torch.set_num_threads` says wherever it is called, and on the threads of a parallel region MKL's factors of a matrix are then not the matrix.
pub(super) fn side_by_side<R>(f: impl FnOnce() -> R) -> R {
    /// Restores the number of threads.
    struct Before(SetThreads, i32);
    impl Drop for Before {
        fn drop(&mut self) {
            // SAFETY: the number was set before.
            unsafe { (self.0)(self.1) };
        }
    }
    static SET: OnceLock<Option<SetThreads>> = OnceLock::new();
    // SAFETY: this is the type of MKL's function in C.
    let set = library().and_then(|_| *SET.get_or_init(|| unsafe { function("MKL_Set_Num_Threads_Local") }));
    // SAFETY: it may be called at any time.
    let _before = set.map(|set| Before(set, unsafe { set(1) }));
    f()
}
