//! The machine code of the Python package: compiling, loading, and functions that PyTorch's tensors go through.

mod error;
mod function;
mod program;
mod results;
mod torch;

use std::collections::HashMap;
use std::path::PathBuf;

use function::{Brought, Function};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use serde::Serialize;
use strata_report::{Program, Report};
use strata_runtime::compiler::Compiler;
use strata_runtime::{Artefact, ArtefactError, pool};

/// The compiler, opened when something is compiled for the first time.
static COMPILER: PyOnceLock<Compiler> = PyOnceLock::new();

/// Compiles a program to an artefact. `library` is the path of the compiler; `name` is a file, or says what `text` is (`.json`, `.mlir`);
/// `options` are the compiler's, as JSON.
#[pyfunction]
fn compile<'py>(py: Python<'py>, library: PathBuf, name: PathBuf, text: Option<&str>, options: &str) -> PyResult<Bound<'py, PyBytes>> {
    let compiler = compiler(py, library)?;
    let artefact = py
        .detach(|| match text {
            Some(text) => compiler.compile_text(&name, text, options),
            None => compiler.compile(&name, options),
        })
        .map_err(error::python)?;
    Ok(PyBytes::new(py, &artefact.to_bytes()))
}

fn compiler(py: Python<'_>, library: PathBuf) -> PyResult<&'static Compiler> {
    COMPILER.get_or_try_init(py, || Compiler::open_at(&library)).map_err(error::python)
}

/// [`compile`], told which kernel runs when; gives the artefact, and the record of the compilation as JSON.
#[pyfunction]
fn record<'py>(
    py: Python<'py>,
    library: PathBuf,
    name: PathBuf,
    text: Option<&str>,
    options: &str,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let compiler = compiler(py, library)?;
    let (artefact, record) = py.detach(|| compiler.record(&name, text, options)).map_err(error::python)?;
    Ok((PyBytes::new(py, &artefact.to_bytes()), record))
}

/// What calls of a function take that [`make_function`] made, as JSON.
#[pyfunction]
fn measure(py: Python<'_>, function: &Bound<'_, PyAny>, arguments: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    json(&Function::measure(py, function, &arguments)?)
}

/// The page of a report, and its timeline. A program is its artefact, the record of its compilation, and what [`measure`] gave or nothing.
#[pyfunction]
fn page(title: &str, notes: Vec<String>, programs: Vec<(Vec<u8>, String, Option<String>)>) -> PyResult<(String, String)> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let mut report = Report { notes, ..Report::new(title) };
    for (artefact, record, call) in programs {
        let call = call.map(|call| serde_json::from_str(&call)).transpose().map_err(wrong)?;
        report.programs.push(Program::new(&read(&artefact)?.manifest, serde_json::from_str(&record).map_err(wrong)?, call));
    }
    Ok((report.page().map_err(wrong)?, report.timeline()))
}

/// The operators that are compiled, by PyTorch's names.
#[pyfunction]
fn operators(py: Python<'_>, library: PathBuf) -> PyResult<Vec<String>> {
    Ok(compiler(py, library)?.operators())
}

/// An artefact with its weights in it, by name.
#[pyfunction]
fn pack<'py>(py: Python<'py>, artefact: &[u8], weights: HashMap<String, Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyBytes>> {
    let (artefact, torch) = (read(artefact)?, torch::Torch::get(py)?);
    let find = |name: &String| weights.get(name).ok_or_else(|| PyValueError::new_err(format!("the weight {name} is not given")));
    let listed = artefact.manifest.weights.iter().map(|weight| find(&weight.name)).collect::<PyResult<Vec<_>>>()?;
    // SAFETY: the tensors live through this function.
    let described = listed.iter().map(|tensor| unsafe { torch.describe(py, tensor.as_ptr()) }).collect::<PyResult<Vec<_>>>()?;
    let pointers: Vec<_> = described.iter().map(|tensor| &raw const *tensor).collect();
    // SAFETY: as above.
    let packed = unsafe { artefact.pack_given(&pointers) }.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &packed.to_bytes()))
}

/// Starts the process's threads for kernels, at most so many, unless they run already. Gives how many there are.
#[pyfunction]
fn threads(most: usize) -> usize {
    pool::limit(most);
    pool::global().threads()
}

/// A `.strata` file. Weights in it are read where they are mapped.
#[pyclass(frozen)]
struct File {
    artefact: Artefact,
}

#[pymethods]
impl File {
    /// Opens the file.
    #[new]
    fn new(path: PathBuf) -> PyResult<File> {
        let failed = |error: ArtefactError| match error {
            ArtefactError::Io { source, .. } => PyErr::from(source),
            error => PyValueError::new_err(format!("{}: {error}", path.display())),
        };
        Ok(File { artefact: Artefact::read(&path).map_err(failed)? })
    }
}

/// A compiled program: an opened file, or the bytes of one.
#[derive(FromPyObject)]
enum Compiled<'py> {
    File(Bound<'py, File>),
    Bytes(Bound<'py, PyBytes>),
}

impl Compiled<'_> {
    fn artefact(&self) -> PyResult<Artefact> {
        match self {
            Compiled::File(file) => Ok(file.get().artefact.clone()),
            Compiled::Bytes(bytes) => read(bytes.as_bytes()),
        }
    }
}

/// What a compiled program says about itself, as JSON.
#[pyfunction]
fn manifest(program: Compiled<'_>) -> PyResult<String> {
    json(&program.artefact()?.manifest)
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// How many kernels a program has.
#[pyfunction]
fn kernels(artefact: &[u8]) -> PyResult<usize> {
    Ok(read(artefact)?.manifest.kernels.len())
}

fn read(artefact: &[u8]) -> PyResult<Artefact> {
    Artefact::from_bytes(artefact).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A program as a function of PyTorch's tensors: see `Function::make`.
#[pyfunction]
#[pyo3(name = "function")]
fn make_function(
    py: Python<'_>,
    program: Compiled<'_>,
    arguments: Vec<String>,
    places: Vec<Option<i64>>,
    constants: Vec<Py<PyAny>>,
    unprepared: Option<Py<PyAny>>,
    seed: Option<Py<PyAny>>,
    weights: Option<PathBuf>,
) -> PyResult<Py<PyAny>> {
    Function::make(py, program.artefact()?, &arguments, &places, Brought { constants, unprepared, seed, weights })
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(operators, module)?)?;
    module.add_class::<File>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<program::Tensor>()?;
    module.add_function(wrap_pyfunction!(kernels, module)?)?;
    module.add_function(wrap_pyfunction!(manifest, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(pack, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(record, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(make_function, module)?)
}
