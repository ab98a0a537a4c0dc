//! A compiled program as a Python function of PyTorch's tensors. It is a plain C function of Python's, which is what calls fastest.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use strata_runtime::dlpack::{DLDataType, DLDevice, DLTensor};
use strata_runtime::manifest::{InputKind, OutputKind};
use strata_runtime::{Artefact, RunError, Session};

use crate::error;
use crate::in_place;
use crate::results::Made;
use crate::torch::Torch;

/// What an argument of the call is for.
#[derive(Clone, Copy)]
enum Argument {
    /// Input of the program.
    Input(usize),
    /// Weight of the program.
    Weight(usize),
    /// Nothing that the program reads.
    Unused,
}

/// What a function is made with beside its program.
pub struct Brought {
    /// Values that follow the caller's arguments.
    pub constants: Vec<Py<PyAny>>,
    /// Makes the same function without anything prepared from weights, for when these change at every call.
    pub unprepared: Option<Py<PyAny>>,
    /// Gives a seed for the random numbers of a call.
    pub seed: Option<Py<PyAny>>,
    /// The file of the weights, of a program whose weights are no arguments.
    pub weights: Option<PathBuf>,
}

/// What stands in one place of the result.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    None,
    /// The argument itself.
    Argument(usize),
    /// The program's output as a tensor.
    Tensor(usize),
    /// The program's output of no dimensions as a number.
    Number(usize),
}

/// What was seen of a weight when the program was made ready for it.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    data: usize,
    version: i64,
}

/// The program made ready for the weights of the last call.
struct Ready {
    session: Arc<Session>,
    seen: Vec<Seen>,
    /// The weights' memory: while it is held nothing else can come to lie at these addresses.
    _held: Vec<Py<PyAny>>,
    /// How many calls in a row came with other weights than the one before.
    changes: u32,
}

/// A compiled program and how a call's arguments and results go with it.
pub struct Function {
    pub(crate) torch: &'static Torch,
    pub(crate) artefact: Arc<Artefact>,
    arguments: Vec<Argument>,
    pub(crate) places: Vec<Place>,
    /// Which outputs become numbers.
    pub(crate) numbers: Vec<bool>,
    /// The argument that each mutation of the program is the new value of, by output.
    pub(crate) written: Vec<(usize, usize)>,
    /// Values that follow the caller's arguments.
    constants: Vec<Py<PyAny>>,
    weights: usize,
    /// Gives a seed before each call, of a program that draws random numbers.
    seed: Option<Py<PyAny>>,
    /// Calls long enough that others should run Python meanwhile.
    releases: bool,
    ready: Mutex<Option<Ready>>,
    /// Makes the same function without anything prepared from weights; then that function.
    unprepared: Option<Py<PyAny>>,
    instead: PyOnceLock<Py<PyAny>>,
    /// Python's description of the function, which must stay where it is.
    definition: UnsafeCell<ffi::PyMethodDef>,
    name: CString,
}

// SAFETY: the definition is written once, before anybody has the function.
unsafe impl Sync for Function {}
// SAFETY: its pointers lead to static memory and to `name`.
unsafe impl Send for Function {}

/// What programs that draw random numbers import.
const SEED: &str = "strata_lib_seed";

/// After so many calls in a row that came with changed weights the program prepares nothing any more: a training loop changes them each time.
const CHANGES: u32 = 3;

/// Nanoseconds of a program for whose call others get Python's lock: giving it up and taking it again costs 45.
const RELEASE_NANOS: u64 = 10_000;

/// How long calls are measured for a report.
const MEASURED: Duration = Duration::from_millis(300);

/// The name of the capsule that holds a function.
const CAPSULE: &CStr = c"strata.Function";

impl Function {
    /// Makes a Python function. `arguments` are the names of the call's arguments; `places` say what the call gives: `None`, the number of an
    /// argument that is given back as it is, -1 for the program's next output and -2 for the next one as a number.
    pub fn make(
        py: Python<'_>,
        artefact: Arc<Artefact>,
        arguments: &[String],
        places: &[Option<i64>],
        brought: Brought,
    ) -> PyResult<Py<PyAny>> {
        let Brought { constants, unprepared, seed, weights } = brought;
        if constants.len() > arguments.len() {
            return Err(PyValueError::new_err("there are more constants than arguments"));
        }
        let torch = Torch::get(py)?;
        let manifest = &artefact.manifest;
        let find = |name: &String| {
            let input = manifest.inputs.iter().position(|input| input.name == *name).map(Argument::Input);
            input
                .or_else(|| manifest.weights.iter().position(|weight| weight.name == *name).map(Argument::Weight))
                .unwrap_or(Argument::Unused)
        };
        let mut outputs = 0;
        let mut next = || {
            outputs += 1;
            outputs - 1
        };
        let place = |place: &Option<i64>| match place {
            None => Ok(Place::None),
            Some(-1) => Ok(Place::Tensor(next())),
            Some(-2) => Ok(Place::Number(next())),
            Some(argument) => usize::try_from(*argument).map(Place::Argument),
        };
        let places = places
            .iter()
            .map(place)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| PyValueError::new_err("a place of the result is no place"))?;
        let written = manifest.outputs.iter().enumerate().filter(|(_, out)| out.kind == OutputKind::Mutation);
        // What is no argument is a buffer of the program's own, which the session keeps.
        let written = written.filter_map(|(k, out)| Some((k, arguments.iter().position(|name| *name == out.name)?))).collect();
        let given = manifest.outputs.iter().filter(|out| out.kind == OutputKind::Output).count();
        if outputs != given {
            return Err(PyValueError::new_err(format!("the program has {given} outputs, the call gives {outputs}")));
        }
        if places.iter().any(|place| matches!(place, Place::Argument(k) if *k >= arguments.len())) {
            return Err(PyValueError::new_err("a place of the result names an argument that is not there"));
        }
        let nanos = manifest.kernels.iter().map(|kernel| Some(kernel.launches * kernel.predicted_nanos?)).sum::<Option<u64>>();
        let name = CString::new(manifest.name.clone()).unwrap_or_default();
        let function = Box::new(Function {
            torch,
            arguments: arguments.iter().map(find).collect(),
            numbers: numbers(&places, manifest.outputs.len()),
            places,
            constants,
            written,
            weights: manifest.weights.len(),
            seed: seed.filter(|_| manifest.layout.imports.iter().any(|import| import.name == SEED)),
            releases: nanos.is_none_or(|nanos| nanos >= RELEASE_NANOS),
            ready: Mutex::new(None),
            unprepared: unprepared.filter(|_| !artefact.manifest.prepared.is_empty()),
            instead: PyOnceLock::new(),
            definition: UnsafeCell::new(ffi::PyMethodDef::zeroed()),
            name,
            artefact,
        });
        if !function.arguments.iter().any(|argument| matches!(argument, Argument::Weight(_))) {
            let session = Session::load(&function.artefact, weights.as_deref()).map_err(error::python)?;
            *function.ready.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Ready { session: Arc::new(session), seen: Vec::new(), _held: Vec::new(), changes: 0 });
        }
        function.into_object(py)
    }

    fn into_object(self: Box<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let definition = self.definition.get();
        // SAFETY: nobody else has the function yet; name and definition stay in their box.
        unsafe {
            *definition = ffi::PyMethodDef {
                ml_name: self.name.as_ptr(),
                ml_meth: ffi::PyMethodDefPointer { PyCFunctionFast: call },
                ml_flags: ffi::METH_FASTCALL,
                ml_doc: c"A program compiled by Strata.".as_ptr(),
            };
        }
        let function = Box::into_raw(self);
        // SAFETY: the capsule owns the box from here on and gives it to `drop_function`.
        unsafe {
            let capsule = ffi::PyCapsule_New(function.cast(), CAPSULE.as_ptr(), Some(drop_function));
            if capsule.is_null() {
                drop(Box::from_raw(function));
                return Err(PyErr::fetch(py));
            }
            let object = ffi::PyCFunction_NewEx(definition, capsule, null_mut());
            ffi::Py_DECREF(capsule);
            Bound::from_owned_ptr_or_err(py, object).map(Bound::unbind)
        }
    }

    /// The function behind a Python function of ours.
    ///
    /// # Safety
    /// `object` is a Python object, and the GIL is held.
    unsafe fn of(py: Python<'_>, object: *mut PyObject) -> PyResult<*const Function> {
        // SAFETY: the caller's promise; both calls look at the types of what they are given.
        unsafe {
            let capsule = ffi::PyCFunction_GetSelf(object);
            let function = if capsule.is_null() { null_mut() } else { ffi::PyCapsule_GetPointer(capsule, CAPSULE.as_ptr()) };
            if function.is_null() { Err(PyErr::fetch(py)) } else { Ok(function.cast()) }
        }
    }

    /// Calls the program on Python's objects.
    ///
    /// # Safety
    /// `objects` are borrowed from the caller for the time of the call, and the GIL is held.
    unsafe fn call(&self, py: Python<'_>, objects: &[*mut PyObject]) -> PyResult<NonNull<PyObject>> {
        let wanted = self.arguments.len() - self.constants.len();
        if objects.len() != wanted {
            return Err(PyTypeError::new_err(format!("the program takes {wanted} arguments, {} are given", objects.len())));
        }
        if let Some(instead) = self.instead.get(py) {
            // SAFETY: what `unprepared` makes is a function of ours, kept alive here; the objects are the caller's.
            return unsafe { (*Function::of(py, instead.as_ptr())?).call(py, objects) };
        }
        let with_constants: Vec<*mut PyObject>;
        let objects = if self.constants.is_empty() {
            objects
        } else {
            with_constants = objects.iter().copied().chain(self.constants.iter().map(Py::as_ptr)).collect();
            &with_constants
        };
        // SAFETY: the caller's promise.
        let call = unsafe { Call::of(self, py, objects) }?;
        // SAFETY: the weights stay while their objects do, and the program is made ready again when others come.
        let session = unsafe { self.session(py, &call) }?;
        let pointers: Vec<*const DLTensor> = call.inputs.iter().map(|input| &raw const *input).collect();
        // SAFETY: the inputs describe the caller's tensors.
        let mut made = Made::new(self, unsafe { self.in_place(&call) });
        if let Some(seed) = &self.seed {
            strata_runtime::library::random::strata_seed(seed.call0(py)?.extract(py)?);
        }
        let run = Run { session: &session, inputs: &pointers, made: &mut made };
        // SAFETY: the tensors stay while the caller holds their objects; what is made has the size that is asked for.
        let done = if self.releases { py.detach(|| unsafe { run.run() }) } else { unsafe { run.run() } };
        done.map_err(error::python)?;
        // SAFETY: the caller's promise.
        unsafe { made.results(py, objects) }
    }

    /// The memory of the arguments whose new values are written over the old ones, by output.
    ///
    /// # Safety
    /// The call's inputs describe memory.
    unsafe fn in_place(&self, call: &Call) -> Vec<Option<*mut c_void>> {
        let manifest = &self.artefact.manifest;
        let written = self.written.iter().filter_map(|&(output, argument)| match self.arguments[argument] {
            Argument::Input(k) => Some((output, k)),
            _ => None,
        });
        let weights = manifest.weights.iter().map(|weight| weight.dtype.size()).zip(&call.weights);
        // SAFETY: the caller's promise.
        unsafe { in_place::places((&manifest.inputs, &call.inputs), weights, &manifest.outputs, written) }
    }

    /// Measures calls of a Python function of ours. The arguments stay as they are, and nothing is made of the results.
    pub fn measure(py: Python<'_>, function: &Bound<'_, PyAny>, arguments: &[Bound<'_, PyAny>]) -> PyResult<strata_report::Call> {
        // SAFETY: the object lives through this function, and the capsule in it is looked at before it is used.
        let function = unsafe { &*Function::of(py, function.as_ptr())? };
        let objects = arguments.iter().map(Bound::as_ptr).chain(function.constants.iter().map(Py::as_ptr)).collect::<Vec<_>>();
        // SAFETY: the arguments live through this function, as do the constants of ours; nobody else reads the results.
        unsafe {
            let call = Call::of(function, py, &objects)?;
            let session = function.session(py, &call)?;
            let inputs: Vec<*const DLTensor> = call.inputs.iter().map(|input| &raw const *input).collect();
            let results = session.run_pointers(&inputs).map_err(error::python)?;
            let outputs: Vec<DLTensor> = results.iter().map(strata_runtime::Tensor::dlpack).collect();
            let outputs: Vec<*const DLTensor> = outputs.iter().map(|output| &raw const *output).collect();
            let measured = session.measure_pointers(&inputs, &outputs, MEASURED).map_err(error::python)?;
            Ok(strata_report::Call::of(&session, &measured))
        }
    }

    /// The program with the weights of this call.
    ///
    /// # Safety
    /// The weights are readable, and stay until a call comes with others.
    unsafe fn session(&self, py: Python<'_>, call: &Call) -> PyResult<Arc<Session>> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = &mut *ready
            && ready.seen == call.seen
        {
            ready.changes = 0;
            return Ok(ready.session.clone());
        }
        let changes = ready.as_ref().map_or(0, |ready| ready.changes + 1);
        if let Some(make) = &self.unprepared
            && changes == CHANGES
        {
            self.instead.get_or_try_init(py, || make.call0(py))?;
        }
        let pointers: Vec<*const DLTensor> = call.weights.iter().map(|weight| &raw const *weight).collect();
        // SAFETY: the caller's promise.
        let session = unsafe {
            match &*ready {
                Some(ready) => ready.session.with_weights(&pointers),
                None => Session::load_given(&self.artefact, &pointers),
            }
        };
        let session = Arc::new(session.map_err(error::python)?);
        let detached = |&object: &*mut PyObject| {
            // SAFETY: the caller holds the objects for the time of the call.
            unsafe { Borrowed::from_ptr(py, object) }.call_method0(intern!(py, "detach")).map(Bound::unbind)
        };
        let held = call.objects.iter().map(detached).collect::<PyResult<_>>()?;
        *ready = Some(Ready { session: session.clone(), seen: call.seen.clone(), _held: held, changes });
        Ok(session)
    }
}

/// The part of a call that needs nothing of Python.
struct Run<'a, 'f> {
    session: &'a Session,
    inputs: &'a [*const DLTensor],
    made: &'a mut Made<'f>,
}

// SAFETY: it stays on its thread; to Python this says only that no object is touched while others hold the lock.
unsafe impl Send for Run<'_, '_> {}

impl Run<'_, '_> {
    /// # Safety
    /// As for [`Session::run_making`].
    unsafe fn run(self) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.session.run_making(self.inputs, self.made) }
    }
}

/// A tensor that nobody described yet.
const BLANK: DLTensor = DLTensor {
    data: null_mut(),
    device: DLDevice::CPU,
    ndim: 0,
    dtype: DLDataType { code: 0, bits: 64, lanes: 1 },
    shape: null_mut(),
    strides: null_mut(),
    byte_offset: 0,
};

/// The arguments of a call as the program reads them.
struct Call {
    inputs: Vec<DLTensor>,
    /// The numbers among the inputs, as the bits of what their tensors hold.
    numbers: Vec<u64>,
    weights: Vec<DLTensor>,
    seen: Vec<Seen>,
    /// The weights as objects, in the order of `seen`.
    objects: Vec<*mut PyObject>,
}

impl Call {
    /// Reads all arguments, constants among them.
    ///
    /// # Safety
    /// `objects` are Python objects, and the GIL is held.
    unsafe fn of(function: &Function, py: Python<'_>, objects: &[*mut PyObject]) -> PyResult<Call> {
        let inputs = function.artefact.manifest.inputs.len();
        let mut call = Call {
            inputs: vec![BLANK; inputs],
            numbers: vec![0; inputs],
            weights: vec![BLANK; function.weights],
            seen: Vec::new(),
            objects: Vec::new(),
        };
        for (argument, &object) in function.arguments.iter().zip(objects) {
            // SAFETY: the caller's promise.
            unsafe { call.read(function, py, *argument, object) }?;
        }
        Ok(call)
    }

    /// Reads an argument.
    ///
    /// # Safety
    /// `object` is a Python object, and the GIL is held.
    unsafe fn read(&mut self, function: &Function, py: Python<'_>, argument: Argument, object: *mut PyObject) -> PyResult<()> {
        match argument {
            Argument::Unused => {}
            Argument::Weight(k) => {
                // SAFETY: the caller's promise.
                let (tensor, version) = unsafe { (function.torch.describe(py, object)?, version(py, object)?) };
                self.weights[k] = tensor;
                self.objects.push(object);
                self.seen.push(Seen { data: tensor.first_element() as usize, version });
            }
            Argument::Input(k) => {
                let declared = &function.artefact.manifest.inputs[k];
                self.inputs[k] = if declared.kind == InputKind::Tensor {
                    // SAFETY: the caller's promise.
                    unsafe { function.torch.describe(py, object) }?
                } else {
                    // SAFETY: the caller's promise.
                    let object = unsafe { Borrowed::from_ptr(py, object) };
                    self.numbers[k] = match declared.kind {
                        InputKind::Float => object.extract::<f64>()?.to_bits(),
                        InputKind::Bool => u64::from(object.extract::<bool>()?),
                        _ => object.extract::<i64>()?.cast_unsigned(),
                    };
                    DLTensor { data: (&raw mut self.numbers[k]).cast(), dtype: declared.dtype.dlpack(), ..BLANK }
                };
            }
        }
        Ok(())
    }
}

/// PyTorch's count of the writes to a tensor. Tensors of inference mode have none, and nobody may write to them.
///
/// # Safety
/// `object` is a Python object, and the GIL is held.
unsafe fn version(py: Python<'_>, object: *mut PyObject) -> PyResult<i64> {
    // SAFETY: the caller's promise.
    let object = unsafe { Borrowed::from_ptr(py, object) };
    match object.getattr(intern!(py, "_version")) {
        Ok(version) => version.extract(),
        Err(_) if object.call_method0(intern!(py, "is_inference"))?.is_truthy()? => Ok(0),
        Err(error) => Err(error),
    }
}

/// Which outputs become numbers.
fn numbers(places: &[Place], outputs: usize) -> Vec<bool> {
    let mut numbers = vec![false; outputs];
    for place in places {
        if let Place::Number(k) = place
            && let Some(number) = numbers.get_mut(*k)
        {
            *number = true;
        }
    }
    numbers
}

/// What Python calls.
unsafe extern "C" fn call(capsule: *mut PyObject, objects: *mut *mut PyObject, count: Py_ssize_t) -> *mut PyObject {
    // SAFETY: Python calls with the GIL held, with the capsule that the function was made with and `count` objects.
    unsafe {
        let py = Python::assume_attached();
        let function = ffi::PyCapsule_GetPointer(capsule, CAPSULE.as_ptr()).cast::<Function>();
        let objects = if count == 0 { &[][..] } else { std::slice::from_raw_parts(objects, count as usize) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (*function).call(py, objects)));
        match result {
            Ok(Ok(result)) => result.as_ptr(),
            Ok(Err(error)) => {
                error.restore(py);
                null_mut()
            }
            Err(_) => {
                error::panicked().restore(py);
                null_mut()
            }
        }
    }
}

/// Frees a function with its capsule.
unsafe extern "C" fn drop_function(capsule: *mut PyObject) {
    // SAFETY: the capsule has held the box since it was made, and is gone after this.
    unsafe { drop(Box::from_raw(ffi::PyCapsule_GetPointer(capsule, CAPSULE.as_ptr()).cast::<Function>())) };
}
