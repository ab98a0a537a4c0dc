//! The machine code of the Python package: compiling, loading, and functions that PyTorch's tensors go through.

mod artefact;
mod error;
mod function;
mod in_place;
mod program;
mod results;
mod torch;

use std::path::PathBuf;

use artefact::Artefact;
use function::{Brought, Function};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use serde::Serialize;
use strata_report::{Program, Report};
use strata_runtime::compiler::Compiler;
use strata_runtime::{OpLibraryFile, pool};

/// The compiler, opened when something is compiled for the first time.
static COMPILER: PyOnceLock<Compiler> = PyOnceLock::new();

/// Compiles a program to an artefact. `library` is the path of the compiler; `name` is a file, or says what `text` is (`.json`, `.mlir`);
/// `options` are the compiler's, as JSON.
#[pyfunction]
fn compile(py: Python<'_>, library: PathBuf, name: PathBuf, text: Option<&str>, options: &str) -> PyResult<Artefact> {
    let compiler = compiler(py, library)?;
    let compiled = py.detach(|| match text {
        Some(text) => compiler.compile_text(&name, text, options),
        None => compiler.compile(&name, options),
    });
    compiled.map(Artefact::from).map_err(error::python)
}

fn compiler(py: Python<'_>, library: PathBuf) -> PyResult<&'static Compiler> {
    COMPILER.get_or_try_init(py, || Compiler::open_at(&library)).map_err(error::python)
}

/// [`compile`], told which kernel runs when; gives the artefact, and the record of the compilation as JSON.
#[pyfunction]
fn record(py: Python<'_>, library: PathBuf, name: PathBuf, text: Option<&str>, options: &str) -> PyResult<(Artefact, String)> {
    let compiler = compiler(py, library)?;
    let (artefact, record) = py.detach(|| compiler.record(&name, text, options)).map_err(error::python)?;
    Ok((artefact.into(), record))
}

/// What calls of a function take that [`make_function`] made, as JSON.
#[pyfunction]
fn measure(py: Python<'_>, function: &Bound<'_, PyAny>, arguments: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    json(&Function::measure(py, function, &arguments)?)
}

/// The page of a report, and its timeline. A program is its artefact, the record of its compilation, and what [`measure`] gave or nothing.
#[pyfunction]
fn page(title: &str, notes: Vec<String>, programs: Vec<(PyRef<'_, Artefact>, String, Option<String>)>) -> PyResult<(String, String)> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let mut report = Report { notes, ..Report::new(title) };
    for (artefact, record, call) in programs {
        let call = call.map(|call| serde_json::from_str(&call)).transpose().map_err(wrong)?;
        report.programs.push(Program::new(&artefact.program.manifest, serde_json::from_str(&record).map_err(wrong)?, call));
    }
    Ok((report.page().map_err(wrong)?, report.timeline()))
}

/// The operators that are compiled, by PyTorch's names.
#[pyfunction]
fn operators(py: Python<'_>, library: PathBuf) -> PyResult<Vec<String>> {
    Ok(compiler(py, library)?.operators())
}

/// What a program that is compiled for a library of kernels notes of it, as JSON.
#[pyfunction]
fn op_library(path: PathBuf) -> PyResult<String> {
    json(&strata_runtime::op_library::describe(&OpLibraryFile::kernels(path)).map_err(error::python)?)
}

/// Sets the process's threads for kernels, at most so many, unless they are set already. They are PyTorch's own where it computes by
/// OpenMP. Gives how many there are.
#[pyfunction]
fn threads(most: usize) -> usize {
    pool::limit(most);
    pool::share_openmp();
    pool::global().threads()
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A program as a function of PyTorch's tensors: see `Function::make`.
#[pyfunction]
#[pyo3(name = "function")]
fn make_function(
    py: Python<'_>,
    program: PyRef<'_, Artefact>,
    arguments: Vec<String>,
    places: Vec<Option<i64>>,
    constants: Vec<Py<PyAny>>,
    unprepared: Option<Py<PyAny>>,
    seed: Option<Py<PyAny>>,
    weights: Option<PathBuf>,
) -> PyResult<Py<PyAny>> {
    Function::make(py, program.program.clone(), &arguments, &places, Brought { constants, unprepared, seed, weights })
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(operators, module)?)?;
    module.add_class::<Artefact>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<program::Tensor>()?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(op_library, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(record, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(make_function, module)?)
}
