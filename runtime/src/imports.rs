//! The functions that a code image may import: ours from sorted tables, then libm, libmvec and libc.

use std::ffi::{CString, c_void};
use std::sync::OnceLock;

use libloading::os::unix::Library;

use crate::abi::{Body, StrataCall};
use crate::copy;
use crate::device;
use crate::library;
use crate::op_call;
use crate::pool;
use crate::session::CallState;

/// What the runtime does for an image, and its larger library functions.
static OWN: &[(&str, Address)] = &[
    ("strata_copy", Address(copy::strata_copy as *const c_void)),
    ("strata_extendhfsf2", Address(library::half::strata_extendhfsf2 as *const c_void)),
    ("strata_launches", Address(strata_launches as *const c_void)),
    ("strata_lib_cholesky", Address(library::linalg::strata_lib_cholesky as *const c_void)),
    ("strata_lib_ctc", Address(library::ctc::strata_lib_ctc as *const c_void)),
    ("strata_lib_ctc_gradient", Address(library::ctc::strata_lib_ctc_gradient as *const c_void)),
    ("strata_lib_eig", Address(library::linalg::strata_lib_eig as *const c_void)),
    ("strata_lib_eigh", Address(library::linalg::strata_lib_eigh as *const c_void)),
    ("strata_lib_fft", Address(library::fft::strata_lib_fft as *const c_void)),
    ("strata_lib_fft_columns", Address(library::fft::strata_lib_fft_columns as *const c_void)),
    ("strata_lib_fft_turned", Address(library::fft::strata_lib_fft_turned as *const c_void)),
    ("strata_lib_householder", Address(library::linalg::strata_lib_householder as *const c_void)),
    ("strata_lib_irfft", Address(library::fft::strata_lib_irfft as *const c_void)),
    ("strata_lib_ldl", Address(library::linalg::strata_lib_ldl as *const c_void)),
    ("strata_lib_ldl_solve", Address(library::linalg::strata_lib_ldl_solve as *const c_void)),
    ("strata_lib_lexsort", Address(library::lexsort::strata_lib_lexsort as *const c_void)),
    ("strata_lib_lu", Address(library::linalg::strata_lib_lu as *const c_void)),
    ("strata_lib_matrix_exp", Address(library::linalg::strata_lib_matrix_exp as *const c_void)),
    ("strata_lib_nms", Address(library::nms::strata_lib_nms as *const c_void)),
    ("strata_lib_order_statistics", Address(library::sort::strata_lib_order_statistics as *const c_void)),
    ("strata_lib_permutation", Address(library::linalg::strata_lib_permutation as *const c_void)),
    ("strata_lib_qr", Address(library::linalg::strata_lib_qr as *const c_void)),
    ("strata_lib_rfft", Address(library::fft::strata_lib_rfft as *const c_void)),
    ("strata_lib_seed", Address(library::random::strata_lib_seed as *const c_void)),
    ("strata_lib_sort", Address(library::sort::strata_lib_sort as *const c_void)),
    ("strata_lib_svd", Address(library::linalg::strata_lib_svd as *const c_void)),
    ("strata_lib_triangular_solve", Address(library::linalg::strata_lib_triangular_solve as *const c_void)),
    ("strata_lib_true_positions", Address(library::true_positions::strata_lib_true_positions as *const c_void)),
    ("strata_mark", Address(strata_mark as *const c_void)),
    ("strata_math_lgamma_f32", Address(library::math::strata_math_lgamma_f32 as *const c_void)),
    ("strata_math_lgamma_f64", Address(library::math::strata_math_lgamma_f64 as *const c_void)),
    ("strata_op_begin", Address(op_call::strata_op_begin as *const c_void)),
    ("strata_output", Address(strata_output as *const c_void)),
    ("strata_parallel", Address(strata_parallel as *const c_void)),
    ("strata_truncdfbf2", Address(library::half::strata_truncdfbf2 as *const c_void)),
    ("strata_truncdfhf2", Address(library::half::strata_truncdfhf2 as *const c_void)),
    ("strata_truncsfbf2", Address(library::half::strata_truncsfbf2 as *const c_void)),
    ("strata_truncsfhf2", Address(library::half::strata_truncsfhf2 as *const c_void)),
    ("strata_workspace", Address(strata_workspace as *const c_void)),
];

/// The tables of our own functions, each sorted by name.
static TABLES: [&[(&str, Address)]; 4] = [OWN, device::FUNCTIONS, library::special::FLOAT, library::special::INTEGER];

/// The address of a C function.
pub struct Address(pub *const c_void);

// SAFETY: the addresses of functions are constants.
unsafe impl Sync for Address {}

/// The names of our own importable functions.
pub fn own_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|table| table.iter()).map(|(name, _)| *name)
}

/// The address of an importable function.
pub fn resolve(name: &str) -> Option<*const c_void> {
    let own = |table: &&'static [(&str, Address)]| Some(table[table.binary_search_by_key(&name, |(own, _)| own).ok()?].1.0);
    own(&library::special::of_cpu()).or_else(|| TABLES.iter().find_map(own)).or_else(|| system(name))
}

/// The address of a function of the C and maths libraries. libmvec is opened only when something asks for it.
fn system(name: &str) -> Option<*const c_void> {
    static LIBRARIES: [(&str, OnceLock<Option<Library>>); 3] =
        [("libm.so.6", OnceLock::new()), ("libmvec.so.1", OnceLock::new()), ("libc.so.6", OnceLock::new())];
    let symbol = CString::new(name).ok()?;
    LIBRARIES.iter().find_map(|(file, library)| {
        // SAFETY: these are the system's own libraries, whose initialisers are safe to run at any time.
        let library = library.get_or_init(|| unsafe { Library::new(*file) }.ok());
        // SAFETY: the symbol is only used as an address; the library stays open for good.
        let found = unsafe { library.as_ref()?.get::<*const c_void>(symbol.as_bytes_with_nul()) }.ok()?;
        Some(found.into_raw().cast_const()).filter(|address| !address.is_null())
    })
}

/// The running call's state. Images call these functions only on the thread of their entry.
///
/// # Safety
/// `call` is the argument of a running entry, set up by a session.
pub(crate) unsafe fn state<'a>(call: *mut StrataCall) -> &'a mut CallState {
    // SAFETY: the session put its own state there and does not touch it while the entry runs.
    unsafe { &mut *(*call).runtime.cast::<CallState>() }
}

/// An image's import; see the architecture page.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_workspace(call: *mut StrataCall, bytes: i64) -> *mut c_void {
    // SAFETY: the image passes its own argument.
    let state = unsafe { state(call) };
    // The compiler checks sizes where they are made: a negative one is more than there can be.
    state.workspace(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// An image's import; see the architecture page.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_output(call: *mut StrataCall, index: i64, bytes: i64) -> *mut c_void {
    // SAFETY: the image passes its own argument.
    let state = unsafe { state(call) };
    let Ok(index) = usize::try_from(index) else { return std::ptr::null_mut() };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: the entry's outputs are as many as the manifest says, which `output` checks against.
    unsafe { state.output((*call).outputs, index, bytes) }
}

/// An image's import; see the architecture page.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_parallel(_call: *mut StrataCall, body: Body, ctx: *mut c_void, n: i64, grain: i64) {
    // SAFETY: the compiler passes bodies whose disjoint ranges are independent.
    unsafe { pool::global().run(body, ctx, n, grain) }
}

/// Most arguments of a launch in a table.
const ARGUMENTS: usize = 64;

/// An image's import; see the architecture page. Goes through a table of launches of at most 64 arguments each; the words of a row are
/// said in the compiler's `loop_to_cpu/table.rs`.
///
/// # Safety
/// Called by an image with the argument of its running entry, and with a table that belongs to the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_launches(
    call: *mut StrataCall,
    tasks: *const Body,
    bases: *const *mut u8,
    mut row: *const i64,
    count: i64,
) {
    let mut next = || {
        // SAFETY: the table has as many words as its rows say.
        let word = unsafe { row.read_unaligned() };
        row = row.wrapping_add(1);
        word
    };
    let mut arguments = [std::ptr::null_mut::<u8>(); ARGUMENTS];
    for _ in 0..count {
        let (task, parts, grain, number) = (next(), next(), next(), next() as usize);
        for argument in &mut arguments[..number] {
            let (base, offset) = (next(), next() as usize);
            // SAFETY: bases and weights are as many as the table names.
            *argument =
                unsafe { if base < 0 { (*(*call).weights.add(offset)).cast() } else { (*bases.add(base as usize)).wrapping_add(offset) } };
        }
        // SAFETY: tasks are as many as the table names; each takes these arguments, and disjoint ranges are independent.
        unsafe {
            let (body, context) = (*tasks.add(task as usize), arguments.as_mut_ptr().cast());
            if grain < 0 { body(context, 0, parts) } else { pool::global().run(body, context, parts, grain) }
        }
    }
}

/// An image's import; see the architecture page.
///
/// # Safety
/// Called by an image with the argument of its running entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_mark(call: *mut StrataCall, kernel: i64) {
    // SAFETY: the image passes its own argument.
    unsafe { state(call) }.profile.mark(kernel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found() {
        assert!(TABLES.iter().all(|table| table.is_sorted_by_key(|(name, _)| *name)));
        // The vector library of x86-64 has no functions for AArch64.
        let vectors = cfg!(target_arch = "x86_64").then_some("_ZGVdN8v_expf");
        for name in own_names().chain(["expf", "memcpy"]).chain(vectors) {
            assert!(resolve(name).is_some(), "{name}");
        }
        assert!(resolve("no_such_function_anywhere").is_none());
    }
}
