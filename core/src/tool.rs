//! Drivers of command line tools: MLIR's own, on a [`Registry`] of ours. An opt tool is a `main` that calls [`opt_main`].

use crate::crash;
use crate::guard;
use crate::ir::string_ref;
use crate::limits;
use crate::pass::{Statistic, statistics};
use crate::registry::Registry;
use crate::remark::ask_remarks;
use mlir_sys::MlirStringRef;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use strata_core_sys::*;

/// Arguments as C wants them.
struct Args {
    pointers: Vec<*mut c_char>,
}

impl Args {
    /// Leaks the strings: LLVM keeps references to them.
    fn new(args: &[String]) -> Self {
        let to_raw = |arg: &String| CString::new(arg.replace('\0', " ")).unwrap_or_default().into_raw();
        let mut pointers: Vec<_> = args.iter().map(to_raw).collect();
        pointers.push(std::ptr::null_mut());
        Self { pointers }
    }

    fn count(&self) -> c_int {
        self.pointers.len() as c_int - 1
    }
}

/// The whole of an opt tool: parses, runs passes, prints; `args` starts with the program's name. Gives the exit status.
///
/// A panic in a callback is a diagnostic and the exit status 1.
pub fn opt_main(registry: &Registry, name: &str, args: &[String]) -> i32 {
    add_flags();
    registry.register_pipelines();
    let mut args = Args::new(args);
    let help = string_ref(name);
    // SAFETY: the registry and the arguments are alive for the call.
    let status = unsafe { strata_opt_main(args.count(), args.pointers.as_mut_ptr(), help, registry.to_raw(), check, crashed) };
    if SHOW_COUNTS.load(Ordering::Relaxed) {
        for Statistic { pass, name, doc, count } in statistics() {
            eprintln!("{count:>10}  {pass}  {name} - {doc}");
        }
    }
    finish(status)
}

static SHOW_COUNTS: AtomicBool = AtomicBool::new(false);

/// The language server on standard input and output.
pub fn lsp_main(registry: &Registry, args: &[String]) -> i32 {
    let mut args = Args::new(args);
    // SAFETY: the registry and the arguments are alive for the call.
    unsafe { strata_lsp_main(args.count(), args.pointers.as_mut_ptr(), registry.to_raw(), crashed) }
}

/// The test case reducer.
pub fn reduce_main(registry: &Registry, args: &[String]) -> i32 {
    // The reducer opens its input itself, so whatever is a file among the arguments is looked at here.
    for file in args.iter().skip(1).filter(|arg| !arg.starts_with('-')) {
        if let Ok(source) = std::fs::read(file)
            && !is_accepted(file, &source)
        {
            return 1;
        }
    }
    let mut args = Args::new(args);
    // SAFETY: the registry and the arguments are alive for the call.
    finish(unsafe { strata_reduce_main(args.count(), args.pointers.as_mut_ptr(), registry.to_raw()) })
}

fn finish(status: c_int) -> i32 {
    if status == 0 && guard::panics() > 0 { 1 } else { status }
}

unsafe extern "C" fn check(file: MlirStringRef, text: MlirStringRef) -> bool {
    // SAFETY: MLIR passes valid strings; an empty one may have no address.
    let (file, text) = unsafe {
        let bytes = if text.length == 0 { &[] } else { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
        (crate::ir::string_from(file), bytes)
    };
    is_accepted(if file == "-" { "<stdin>" } else { &file }, text)
}

unsafe extern "C" fn crashed(file: MlirStringRef, signal: c_int) {
    // SAFETY: the shim passes a valid string.
    let file = unsafe { crate::ir::string_from(file) };
    eprintln!("{}", crash::report(if file == "-" { "<stdin>" } else { &file }, signal));
}

/// Why text is refused before MLIR's parser sees it, with the line.
pub fn refusal(source: &[u8]) -> Option<(usize, String)> {
    let refused = limits::check(source).err()?.to_string();
    let (line, reason) = refused.split_once(": ")?;
    Some((line.parse().ok()?, reason.to_owned()))
}

/// Reports what the limits refuse.
fn is_accepted(file: &str, source: &[u8]) -> bool {
    match limits::check(source) {
        Ok(()) => true,
        Err(refused) => {
            eprintln!("{file}:{}", refused.to_string().replacen(": ", ":1: error: ", 1));
            false
        }
    }
}

/// Flags of ours beside MLIR's.
fn add_flags() {
    unsafe extern "C" fn remarks(_user: *mut c_void) {
        ask_remarks(true);
    }
    unsafe extern "C" fn show_counts(_user: *mut c_void) {
        SHOW_COUNTS.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let flags: [(&str, &str, unsafe extern "C" fn(*mut c_void)); 2] = [
            ("remarks", "Say at each op, as a remark, why a pass or a pattern of ours does not change it", remarks),
            ("pass-counts", "Print what passes of ours counted", show_counts),
        ];
        for (name, text, set) in flags {
            // SAFETY: both strings are static.
            unsafe { strata_add_flag(string_ref(name), string_ref(text), std::ptr::null_mut(), set) };
        }
    });
}
