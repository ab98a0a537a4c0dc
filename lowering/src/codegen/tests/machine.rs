//! A loader for tests: maps an image, fills its slots from the process, calls it.

use crate::codegen::{ENTRY, LinkedImage, Target, lower_to_llvm};
use crate::target::MathTarget;
use std::ffi::{CString, c_void};
use strata_core::ir::{Context, Module};
use strata_core::registry::Registry;
use strata_dialects::loops;

unsafe extern "C" {
    /// The C library's error function.
    pub(crate) safe fn erf(x: f64) -> f64;
    /// Its complement.
    pub(crate) safe fn erfc(x: f64) -> f64;
    /// Its inverse hyperbolic functions, which are nearer to the truth than Rust's.
    pub(crate) safe fn acosh(x: f64) -> f64;
    pub(crate) safe fn asinh(x: f64) -> f64;
    pub(crate) safe fn atanh(x: f64) -> f64;
    /// Its Bessel functions.
    pub(crate) safe fn j0(x: f64) -> f64;
    pub(crate) safe fn j1(x: f64) -> f64;
    pub(crate) safe fn y0(x: f64) -> f64;
    pub(crate) safe fn y1(x: f64) -> f64;
    /// The logarithm of its gamma function, and the sign of that.
    pub(crate) safe fn lgamma_r(x: f64, sign: &mut i32) -> f64;
}

/// A context that knows every upstream dialect.
pub(crate) fn context() -> Context {
    Registry::new().with_upstream().with_dialects(&[&loops::LOOP]).context()
}

/// Parses a module and lowers it to the llvm dialect.
pub(crate) fn lowered<'c>(context: &'c Context, text: &str, target: &Target) -> Module<'c> {
    let module = Module::parse(context, &format!("module {{\n{text}\n}}"), "kernel").unwrap_or_else(|error| panic!("{error}"));
    lower_to_llvm(module.op(), &MathTarget::of(target)).unwrap_or_else(|error| panic!("{error}\n{module}"));
    module
}

/// An image in memory, never unmapped.
pub(crate) struct Loaded {
    base: *mut u8,
    image: LinkedImage,
}

impl Loaded {
    pub(crate) fn new(image: &LinkedImage) -> Self {
        let length = image.bytes.len();
        // SAFETY: the mapping is new and as long as the image; slots lie inside of it.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let base = libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            let base = base.cast::<u8>();
            base.copy_from_nonoverlapping(image.bytes.as_ptr(), length);
            for (name, slot) in &image.imports {
                base.add(*slot as usize).cast::<usize>().write(resolve(name));
            }
            for (slot, target) in &image.relocations {
                base.add(*slot as usize).cast::<usize>().write(base as usize + *target as usize);
            }
            let text = (image.text.end - image.text.start) as usize;
            let sealed = libc::mprotect(base.add(image.text.start as usize).cast(), text, libc::PROT_READ | libc::PROT_EXEC);
            assert_eq!(sealed, 0);
            Self { base, image: image.clone() }
        }
    }

    /// The address of a function of the image.
    pub(crate) fn function(&self, name: &str) -> *const c_void {
        let offset = self.image.symbol(name).unwrap_or_else(|| panic!("no function {name}"));
        self.base.wrapping_add(offset as usize).cast_const().cast()
    }

    /// Calls the entry with a structure of the test's own, which must be what the code expects.
    pub(crate) fn call<T>(&self, argument: &mut T) -> i32 {
        // SAFETY: tests pass the structure that their code reads, with buffers as long as it says.
        unsafe { self.entry()((&raw mut *argument).cast()) }
    }

    fn entry(&self) -> unsafe extern "C" fn(*mut c_void) -> i32 {
        // SAFETY: every entry has this signature.
        unsafe { std::mem::transmute(self.function(ENTRY)) }
    }
}

pub(crate) fn resolve(name: &str) -> usize {
    if name == "strata_parallel" {
        return parallel as *const () as usize;
    }
    let symbol = CString::new(name).unwrap();
    // SAFETY: the names are C strings, the libraries stay open.
    unsafe {
        for library in [c"libm.so.6", c"libmvec.so.1", c"libc.so.6"] {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
            let found = libc::dlsym(library, symbol.as_ptr());
            if !found.is_null() {
                return found as usize;
            }
        }
    }
    panic!("nobody has {name}");
}

unsafe extern "C" fn parallel(
    _call: *mut c_void,
    body: unsafe extern "C" fn(*mut c_void, i64, i64),
    context: *mut c_void,
    n: i64,
    grain: i64,
) {
    for begin in (0..n).step_by(grain as usize) {
        // SAFETY: the image passes its own body and context.
        unsafe { body(context, begin, n.min(begin + grain)) };
    }
}
