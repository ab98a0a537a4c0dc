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
