//! A compiled file as Python calls it with tensors of any library, by DLPack.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strata_runtime::Session;
use strata_runtime::dlpack::{DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use strata_runtime::manifest::OutputKind;

use crate::artefact::Artefact;
use crate::error;

/// The name of a capsule with a tensor that nobody has taken, and of one that somebody has.
const NEW: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
/// [`NEW`] of DLPack's version 1.
const NEW_VERSIONED: &CStr = c"dltensor_versioned";

/// A loaded program.
#[pyclass(frozen)]
pub struct Program {
    session: Session,
}

#[pymethods]
impl Program {
    /// Loads a compiled program; `weights` stands in for the files that it names.
    #[new]
    #[pyo3(signature = (program, weights=None))]
    fn new(program: PyRef<'_, Artefact>, weights: Option<PathBuf>) -> PyResult<Program> {
        Ok(Program { session: Session::load(&program.program, weights.as_deref()).map_err(error::python)? })
    }

    /// Calls the program on objects with `__dlpack__`; gives its outputs, without the new values of buffers and inputs.
    fn run(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Tensor>> {
        let inputs = inputs.iter().map(Taken::new).collect::<PyResult<Vec<_>>>()?;
        // SAFETY: each is a tensor that its producer keeps until we release it.
        let pointers: Vec<_> = inputs.iter().map(|input| Pointer(unsafe { &raw const (*input.managed).dl_tensor })).collect();
        let results = py.detach(|| {
            let pointers: Vec<*const DLTensor> = pointers.iter().map(|pointer| pointer.0).collect();
            // SAFETY: as above.
            unsafe { self.session.run_pointers(&pointers) }
        });
        let outputs = self.session.manifest().outputs.iter();
        let kept = results.map_err(error::python)?.into_iter().zip(outputs).filter(|(_, out)| out.kind == OutputKind::Output);
        Ok(kept.map(|(tensor, _)| Tensor(Arc::new(tensor))).collect())
    }

    /// Gives the buffers that calls have changed their first values back.
    fn reset(&self) {
        self.session.reset();
    }
}

/// A pointer to a tensor on its way to another part of the call.
struct Pointer(*const DLTensor);

// SAFETY: the call stays on its thread; to Python this says only that no object is touched while others hold the lock.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

/// A tensor of another library, ours until it is dropped.
struct Taken {
    managed: *mut DLManagedTensor,
}

impl Taken {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Taken> {
        let py = object.py();
        let capsule = object.call_method0("__dlpack__").map_err(|error| {
            let kind = object.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
            PyTypeError::new_err(format!("an input of type {kind} is no tensor that can be read: {error}"))
        })?;
        // SAFETY: the capsule is one of DLPack if it has this name, and the name says afterwards that its tensor is taken.
        unsafe {
            let managed = ffi::PyCapsule_GetPointer(capsule.as_ptr(), NEW.as_ptr());
            if managed.is_null() || ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) != 0 {
                return Err(PyErr::fetch(py));
            }
            Ok(Taken { managed: managed.cast() })
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: the tensor is ours, and is released once.
        unsafe {
            if let Some(release) = (*self.managed).deleter {
                release(self.managed);
            }
        }
    }
}

/// A result, for any library that takes DLPack: `numpy.from_dlpack(tensor)`.
#[pyclass(frozen)]
pub struct Tensor(Arc<strata_runtime::Tensor>);

#[pymethods]
impl Tensor {
    /// The sizes.
    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.0.shape().to_vec()
    }

    /// The element type by its short name, as in `f32`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.dtype().name()
    }

    /// DLPack's kind and number of the device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (DLDevice::CPU.device_type, DLDevice::CPU.device_id)
    }

    /// A capsule with the tensor; its memory is shared. Consumers that know version 1 of DLPack may write to it.
    #[pyo3(signature = (*, max_version=None, **_options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        max_version: Option<(u32, u32)>,
        _options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let manager_ctx = Box::into_raw(Box::new(self.0.clone())).cast::<c_void>();
        let dl_tensor = self.0.dlpack();
        // SAFETY: the capsule owns the box until somebody takes the tensor out of it.
        unsafe {
            let capsule = if max_version.is_some_and(|(major, _)| major >= 1) {
                let deleter = Some(release_versioned as unsafe extern "C" fn(_));
                let managed = Box::new(DLManagedTensorVersioned { version: [1, 0], manager_ctx, deleter, flags: 0, dl_tensor });
                ffi::PyCapsule_New(Box::into_raw(managed).cast(), NEW_VERSIONED.as_ptr(), Some(drop_capsule))
            } else {
                let managed = Box::new(DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(release) });
                ffi::PyCapsule_New(Box::into_raw(managed).cast(), NEW.as_ptr(), Some(drop_capsule))
            };
            Bound::from_owned_ptr_or_err(py, capsule)
        }
    }
}

/// Releases a tensor that was given out.
unsafe extern "C" fn release(managed: *mut DLManagedTensor) {
    // SAFETY: both boxes were made by `__dlpack__`, and a consumer calls this once.
    unsafe { drop(Box::from_raw(Box::from_raw(managed).manager_ctx.cast::<Arc<strata_runtime::Tensor>>())) };
}

/// [`release`] for consumers that know version 1.
unsafe extern "C" fn release_versioned(managed: *mut DLManagedTensorVersioned) {
    // SAFETY: as above.
    unsafe { drop(Box::from_raw(Box::from_raw(managed).manager_ctx.cast::<Arc<strata_runtime::Tensor>>())) };
}

/// Releases the tensor of a capsule that nobody has taken.
unsafe extern "C" fn drop_capsule(capsule: *mut PyObject) {
    // SAFETY: a capsule of one of these names still has its tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NEW.as_ptr()) == 1 {
            release(ffi::PyCapsule_GetPointer(capsule, NEW.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, NEW_VERSIONED.as_ptr()) == 1 {
            release_versioned(ffi::PyCapsule_GetPointer(capsule, NEW_VERSIONED.as_ptr()).cast());
        }
    }
}
