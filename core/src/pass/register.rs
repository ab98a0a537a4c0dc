//! Puts passes into MLIR's registry, once per process.

use super::{OptionDef, OptionKind, OptionReader, PassContext, PassDef, PassEntry, PassError, PipelineDef};
use crate::guard;
use crate::ir::{Op, print_into, string_ref};
use crate::registry::Registry;
use crate::remark::Remarks;
use mlir_sys::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};
use strata_core_sys::*;

/// Registers a pass; a second registration under the same argument is ignored when it is the same pass, refused otherwise.
pub(crate) fn register_pass(entry: &PassEntry) {
    static KNOWN: OnceLock<Mutex<HashMap<&'static str, &'static str>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let (argument, name) = (entry.def.argument, entry.def.name);
    if let Some(other) = known.get(argument) {
        assert_eq!(*other, name, "two passes are called '{argument}'");
        return;
    }
    // SAFETY: the string is alive for the call; the definition is leaked.
    unsafe {
        assert!(!strata_pass_exists(string_ref(argument)), "'{argument}' is the name of an upstream pass");
        strata_register_pass(leak_def(entry));
    }
    known.insert(argument, name);
}

/// Registers a pipeline by name, once: MLIR keeps the text of the first registry that is used.
pub(crate) fn register_pipeline(def: &PipelineDef, registry: &Registry) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the strings are alive for the calls, MLIR copies them.
    unsafe {
        if !strata_pass_exists(string_ref(def.name)) {
            strata_register_pipeline(string_ref(def.name), string_ref(def.description), string_ref(&(def.text)(registry)));
        }
    }
}

fn leak_def(entry: &PassEntry) -> &'static StrataPassDef {
    let entry: &'static PassEntry = Box::leak(Box::new(*entry));
    let PassDef { name, argument, description, anchor, options, .. } = entry.def;
    assert!(options.iter().all(|option| option.name != REMARKS.name), "'{argument}' has an option '{}', as every pass has", REMARKS.name);
    let options: &'static [StrataOptionDef] = options
        .iter()
        .chain([&REMARKS])
        .map(|option| StrataOptionDef {
            name: string_ref(option.name),
            description: string_ref(option.doc),
            kind: option.kind as i32,
            initial: string_ref(option.default),
        })
        .collect::<Vec<_>>()
        .leak();
    Box::leak(Box::new(StrataPassDef {
        name: string_ref(name),
        argument: string_ref(argument),
        description: string_ref(description),
        anchor: string_ref(anchor),
        num_options: options.len(),
        options: options.as_ptr(),
        user: std::ptr::from_ref(entry).cast(),
        dependents: Some(dependents),
        run: Some(run),
    }))
}

unsafe extern "C" fn dependents(user: *const c_void, registry: MlirDialectRegistry) {
    // SAFETY: [`leak_def`] stored the entry.
    let entry = unsafe { &*user.cast::<PassEntry>() };
    for name in entry.def.dependents {
        crate::registry::insert_by_name(registry, name);
    }
}

unsafe extern "C" fn run(user: *const c_void, op: MlirOperation, pass: *mut StrataPass) -> bool {
    // SAFETY: [`leak_def`] stored the entry; the op is alive.
    let (entry, op) = unsafe { (&*user.cast::<PassEntry>(), Op::from_raw(op)) };
    // SAFETY: [`leak_def`] put the option behind those of the definition.
    let asked = unsafe { strata_pass_bool(pass, entry.def.options.len()) };
    let mut cx = PassContext { raw: pass, op, remarks: Remarks::of(entry.def.argument, asked) };
    let panics = guard::panics_here();
    let outcome = guard::at_op(op, &format!("the pass '{}'", entry.def.argument), || (entry.run)(op, &mut cx, &Options { pass }));
    let Some((result, counts)) = outcome else { return false };
    super::statistics::record(&entry.def, &counts);
    match result {
        // A pattern that panicked inside has reported, but its driver went on.
        Ok(()) => guard::panics_here() == panics,
        Err(PassError::Reported) => false,
        Err(PassError::Message(message)) => {
            op.error(&format!("the pass '{}' failed: {message}", entry.def.argument));
            false
        }
    }
}

/// The options of a running pass.
struct Options {
    pass: *mut StrataPass,
}

/// The option that every pass has behind its own.
const REMARKS: OptionDef =
    OptionDef { name: "remarks", doc: "Say at each op that this pass refuses why, as a remark.", kind: OptionKind::Bool, default: "false" };

// SAFETY of this impl: the pass is running, and indices and kinds are those of its definition.
impl OptionReader for Options {
    fn bool(&self, index: usize) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_pass_bool(self.pass, index) }
    }
    fn int(&self, index: usize) -> i64 {
        // SAFETY: see the impl.
        unsafe { strata_pass_int(self.pass, index) }
    }
    fn float(&self, index: usize) -> f64 {
        // SAFETY: see the impl.
        unsafe { strata_pass_float(self.pass, index) }
    }
    fn str(&self, index: usize) -> String {
        let mut text = String::new();
        // SAFETY: see the impl; `text` outlives the call.
        unsafe { strata_pass_string(self.pass, index, print_into, (&raw mut text).cast()) };
        text
    }
    fn ints(&self, index: usize) -> Vec<i64> {
        unsafe extern "C" fn push(data: *mut c_void, value: i64) {
            // SAFETY: `data` is the list below, alive for the call.
            unsafe { (*data.cast::<Vec<i64>>()).push(value) }
        }
        let mut values = Vec::new();
        // SAFETY: see the impl; `values` outlives the call.
        unsafe { strata_pass_ints(self.pass, index, push, (&raw mut values).cast()) };
        values
    }
    fn strs(&self, index: usize) -> Vec<String> {
        unsafe extern "C" fn push(text: MlirStringRef, data: *mut c_void) {
            // SAFETY: `data` is the list below, alive for the call; MLIR passes a valid string.
            unsafe { (*data.cast::<Vec<String>>()).push(crate::ir::string_from(text)) }
        }
        let mut values: Vec<String> = Vec::new();
        // SAFETY: see the impl; `values` outlives the call.
        unsafe { strata_pass_strings(self.pass, index, push, (&raw mut values).cast()) };
        values
    }
}
