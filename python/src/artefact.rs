//! A compiled program in Python's hands. What is made of it shares it: there is one copy of its code and of what it says about itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use strata_runtime::origin::Origin;
use strata_runtime::{ArtefactError, OpLibraryFile};

use crate::error;
use crate::torch::Torch;

/// A compiled program.
#[pyclass(frozen, module = "strata._native")]
pub struct Artefact {
    pub program: Arc<strata_runtime::Artefact>,
}

impl From<strata_runtime::Artefact> for Artefact {
    fn from(program: strata_runtime::Artefact) -> Self {
        Artefact { program: Arc::new(program) }
    }
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn refused(path: &Path, error: ArtefactError) -> PyErr {
    match error {
        ArtefactError::Io { source, .. } => PyErr::from(source),
        error => wrong(format!("{}: {error}", path.display())),
    }
}

#[pymethods]
impl Artefact {
    /// Reads the bytes of a `.strata` file.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Artefact> {
        strata_runtime::Artefact::from_bytes(bytes).map(Artefact::from).map_err(wrong)
    }

    /// Opens a `.strata` file. Weights in it are read where they are mapped.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Artefact> {
        strata_runtime::Artefact::read(&path).map(Artefact::from).map_err(|error| refused(&path, error))
    }

    /// The bytes of a `.strata` file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.program.to_bytes())
    }

    /// How `pickle` writes it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (slf.get_type(), (slf.get().to_bytes(slf.py()),))
    }

    /// Writes a `.strata` file with these weights in it, by name.
    fn write_with(&self, py: Python<'_>, path: PathBuf, weights: HashMap<String, Bound<'_, PyAny>>) -> PyResult<()> {
        let torch = Torch::get(py)?;
        let find = |name: &String| weights.get(name).ok_or_else(|| wrong(format!("the weight {name} is not given")));
        let listed = self.program.manifest.weights.iter().map(|weight| find(&weight.name)).collect::<PyResult<Vec<_>>>()?;
        // SAFETY: the tensors live through this function.
        let described = listed.iter().map(|tensor| unsafe { torch.describe(py, tensor.as_ptr()) }).collect::<PyResult<Vec<_>>>()?;
        let pointers: Vec<_> = described.iter().map(|tensor| &raw const *tensor).collect();
        // SAFETY: as above.
        let packed = unsafe { (*self.program).clone().pack_given(&pointers) }.map_err(wrong)?;
        packed.write(&path).map_err(|error| refused(&path, error))
    }

    /// The same program with these libraries open, whose kernels it calls.
    fn with_op_libraries(&self, paths: Vec<PathBuf>) -> PyResult<Artefact> {
        let libraries: Vec<_> = paths.into_iter().map(OpLibraryFile::kernels).collect();
        let opened = (*self.program).clone().with_op_libraries(&libraries);
        opened.map(Artefact::from).map_err(error::python)
    }

    /// The same program with another word of where it came from: what was captured, and by what.
    fn with_origin(&self, file: String, format: String) -> Artefact {
        let mut program = (*self.program).clone();
        program.manifest.origin = Some(Origin { file, format });
        program.into()
    }

    /// What the program says about itself, as JSON.
    #[getter]
    fn manifest(&self) -> PyResult<String> {
        serde_json::to_string(&self.program.manifest).map_err(wrong)
    }

    /// How many kernels the program has.
    #[getter]
    fn kernels(&self) -> usize {
        self.program.manifest.kernels.len()
    }
}
