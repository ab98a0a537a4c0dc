//! What extensions register when they are opened: schemas and kernels.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::status;

/// A kernel: a stack of words, how many are arguments, how many become results.
pub(crate) type Kernel = unsafe extern "C" fn(*mut u64, u64, u64);

/// An operator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operator {
    /// Its schema, behind the name.
    pub schema: Option<String>,
    /// Its kernel for the CPU.
    pub kernel: Option<Kernel>,
}

static OPERATORS: Mutex<BTreeMap<String, Operator>> = Mutex::new(BTreeMap::new());

/// All operators by name, as in `ns::name.overload`.
pub(crate) fn operators() -> MutexGuard<'static, BTreeMap<String, Operator>> {
    // No code panics while it holds the lock.
    OPERATORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an extension registers with.
pub(crate) struct Registration {
    namespace: String,
    /// Whether its kernels run on tensors of the CPU.
    runs: bool,
    /// Whether they are for the CPU alone: those go before others.
    own: bool,
}

impl Registration {
    /// The name of an operator with its namespace.
    fn full(&self, name: &str) -> String {
        if name.contains("::") { name.to_owned() } else { format!("{}::{name}", self.namespace) }
    }
}

/// What runs on tensors of the CPU as on others.
const KEYS: [&str; 3] = ["CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd"];

/// # Safety
/// `text` is a terminated text.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// # Safety
/// The texts are terminated, and `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_library_init_impl(
    namespace: *const c_char,
    key: *const c_char,
    _file: *const c_char,
    _line: u32,
    result: *mut *mut Registration,
) -> i32 {
    // SAFETY: the extension's promise.
    unsafe {
        let (key, namespace) = (text(key), text(namespace));
        let (own, runs) = (key == "CPU", key == "CPU" || KEYS.contains(&key.as_str()));
        *result = Box::into_raw(Box::new(Registration { namespace, runs, own }));
    }
    0
}

/// # Safety
/// As for [`aoti_torch_library_init_impl`].
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_library_init_def(
    namespace: *const c_char,
    file: *const c_char,
    line: u32,
    result: *mut *mut Registration,
) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { aoti_torch_library_init_impl(namespace, c"CompositeImplicitAutograd".as_ptr(), file, line, result) }
}

/// # Safety
/// As for [`aoti_torch_library_init_impl`].
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_library_init_fragment(
    namespace: *const c_char,
    file: *const c_char,
    line: u32,
    result: *mut *mut Registration,
) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { aoti_torch_library_init_def(namespace, file, line, result) }
}

/// # Safety
/// The registration lives, and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_delete_library_object(registration: *mut Registration) -> i32 {
    if !registration.is_null() {
        // SAFETY: it came from `Box`, and the extension gives it up.
        drop(unsafe { Box::from_raw(registration) });
    }
    0
}

/// # Safety
/// The registration lives, and the text is terminated.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_library_def(registration: *mut Registration, schema: *const c_char) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let (registration, schema) = unsafe { (&*registration, text(schema)) };
        let (name, rest) = schema.split_once('(').ok_or_else(|| format!("`{schema}` is no schema"))?;
        let full = registration.full(name.trim());
        match operators().entry(full.clone()).or_default().schema.replace(format!("({rest}")) {
            Some(_) => Err(format!("the operator {full} is defined twice")),
            None => Ok(()),
        }
    })
}

/// # Safety
/// As for [`aoti_torch_library_def`]; tags say what optimisers of PyTorch may do.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_library_def_with_tags(
    registration: *mut Registration,
    schema: *const c_char,
    _tags: *const i32,
    _count: i32,
) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { aoti_torch_library_def(registration, schema) }
}

/// # Safety
/// The registration lives, and the text is terminated.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_library_impl(registration: *mut Registration, name: *const c_char, kernel: Kernel) -> i32 {
    // SAFETY: the extension's promise.
    let (registration, name) = unsafe { (&*registration, text(name)) };
    if registration.runs {
        let mut known = operators();
        let operator = known.entry(registration.full(&name)).or_default();
        if registration.own || operator.kernel.is_none() {
            operator.kernel = Some(kernel);
        }
    }
    0
}

/// # Safety
/// As for [`aoti_torch_library_impl`].
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_library_impl(registration: *mut Registration, name: *const c_char, kernel: Kernel, _version: u64) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { aoti_torch_library_impl(registration, name, kernel) }
}

/// # Safety
/// Nothing is read: Python modules are not here.
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_library_set_python_module(_: *mut Registration, _: *const c_char, _: *const c_char) -> i32 {
    0
}
