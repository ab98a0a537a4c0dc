//! Mathematical libraries of the host: what PyTorch brings along (MKL on x86, OpenBLAS elsewhere) is used in its processes. Nothing is linked.

use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY};

/// The library of the host that has them.
const HOST: &str = "libtorch_cpu.so";

/// `RTLD_NOLOAD` of Linux: find a library only if it is loaded.
const RTLD_NOLOAD: i32 = 4;

/// The host's library, if the process has loaded it when it is first asked for.
fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: a library that is loaded already is not initialised again.
    LIBRARY.get_or_init(|| unsafe { Library::open(Some(HOST), RTLD_LAZY | RTLD_NOLOAD) }.ok()).as_ref()
}

/// A function of the host.
///
/// # Safety
/// The function has this type wherever it has this name.
pub unsafe fn function<F: Copy>(name: &str) -> Option<F> {
    // SAFETY: the caller's; the library is never closed.
    unsafe { library()?.get::<F>(format!("{name}\0").as_bytes()) }.map(|found| *found).ok()
}
