//! The results of a call on their way to Python.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use pyo3::exceptions::PyValueError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use strata_runtime::manifest::OutputKind;
use strata_runtime::session::OutputMaker;
use strata_runtime::{DType, Tensor};

use crate::error;
use crate::function::{Function, Place};
use crate::torch::Owned;

/// The results of a call: tensors of PyTorch, and blocks for the new values of arguments.
pub struct Made<'f> {
    function: &'f Function,
    outputs: Vec<Option<Output<'f>>>,
    /// The memory of the arguments whose new values outputs are, where those are written over the old ones.
    places: Vec<Option<*mut c_void>>,
}

enum Output<'f> {
    Torch(Owned<'f>),
    Own(Tensor),
    /// In the argument that it is the new value of.
    InPlace,
}

impl OutputMaker for Made<'_> {
    fn output(&mut self, k: usize, sizes: &[i64], bytes: usize) -> *mut c_void {
        let Some(declared) = self.function.artefact.manifest.outputs.get(k) else { return null_mut() };
        let (data, made) = if let Some(place) = self.places[k] {
            (place, Output::InPlace)
        } else if declared.kind == OutputKind::Mutation || self.function.numbers[k] {
            let Ok(tensor) = Tensor::uninit_in(declared.dtype, sizes, &declared.dim_order) else { return null_mut() };
            (tensor.dlpack().data, Output::Own(tensor))
        } else {
            let Some(tensor) = self.function.torch.empty(declared.dtype, sizes, &declared.dim_order.strides(sizes), bytes) else {
                return null_mut();
            };
            (tensor.data(), Output::Torch(tensor))
        };
        self.outputs[k] = Some(made);
        data
    }
}

impl<'f> Made<'f> {
    /// For a call of this function; some outputs are written to memory that is there.
    pub fn new(function: &'f Function, places: Vec<Option<*mut c_void>>) -> Self {
        Made { function, outputs: function.artefact.manifest.outputs.iter().map(|_| None).collect(), places }
    }

    /// Writes the new values of arguments and gives the call's results, as Python's tuple.
    ///
    /// # Safety
    /// `objects` are the call's, and the GIL is held.
    pub unsafe fn results(mut self, py: Python<'_>, objects: &[*mut PyObject]) -> PyResult<NonNull<PyObject>> {
        for &(output, argument) in &self.function.written {
            // SAFETY: the caller's promise.
            let target = unsafe { self.function.torch.describe(py, objects[argument]) }?;
            if let Some(Output::Own(value)) = &self.outputs[output] {
                // SAFETY: the target is a tensor that the program changes in place, alive while its object is.
                unsafe { value.write_to(&target) }.map_err(error::python)?;
            }
        }
        // SAFETY: the tuple is new and each place of it is filled once, with a reference that it takes over.
        unsafe {
            let tuple = NonNull::new(ffi::PyTuple_New(self.function.places.len() as Py_ssize_t)).ok_or_else(|| PyErr::fetch(py))?;
            let whole: Bound<'_, PyAny> = Bound::from_owned_ptr(py, tuple.as_ptr());
            for (k, place) in self.function.places.iter().enumerate() {
                let object = match *place {
                    Place::None => py.None().into_ptr(),
                    Place::Argument(argument) => {
                        ffi::Py_INCREF(objects[argument]);
                        objects[argument]
                    }
                    Place::Tensor(output) | Place::Number(output) => self.take(py, output)?.as_ptr(),
                };
                ffi::PyTuple_SetItem(tuple.as_ptr(), k as Py_ssize_t, object);
            }
            let _ = whole.into_ptr();
            Ok(tuple)
        }
    }

    /// An output as a new reference.
    fn take(&mut self, py: Python<'_>, k: usize) -> PyResult<NonNull<PyObject>> {
        let lost = || PyValueError::new_err(format!("the program gave no output {k}"));
        match self.outputs[k].take().ok_or_else(lost)? {
            Output::Torch(tensor) => tensor.into_object(py),
            Output::InPlace => Err(lost()),
            Output::Own(tensor) => {
                let number = match tensor.dtype() {
                    DType::F64 => {
                        tensor.values::<f64>().and_then(|v| v.first()).map(|v| v.into_pyobject(py).map(|v| v.into_any().unbind()))
                    }
                    DType::Bool => {
                        tensor.values::<u8>().and_then(|v| v.first()).map(|v| Ok(PyBool::new(py, *v != 0).to_owned().into_any().unbind()))
                    }
                    _ => tensor.values::<i64>().and_then(|v| v.first()).map(|v| v.into_pyobject(py).map(|v| v.into_any().unbind())),
                };
                let number = number.ok_or_else(lost)??;
                NonNull::new(number.into_ptr()).ok_or_else(lost)
            }
        }
    }
}
