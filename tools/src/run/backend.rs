//! What runs a model: compiled code, or the reference interpreter.

use std::borrow::Cow;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strata_runtime::compiler::Compiler;
use strata_runtime::manifest::{Output, OutputKind};
use strata_runtime::{
    Artefact, DimOrder, LoadError, OpLibraryFile, PreparedFiles, Session, Specialised, Tensor, TensorError, TensorFile, TensorFileError,
    cuda, shared,
};
use strata_store::Store;
use strata_tools::cached;
use strata_tools::compiler;
use strata_tools::prepared::Prepared;
use strata_tools::signature::{self, SignatureError};

use super::case::{InputSet, signature_with_elements};

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    /// Native code for this CPU.
    Cpu,
    /// Code for a CUDA device.
    Cuda,
    /// Code for a CUDA device, its kernels run by an emulator: blocks, threads, shared memory.
    CudaEmulated,
    /// The reference interpreter: slow and obvious.
    Interp,
}

impl Backend {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cpu => "cpu",
            Backend::Cuda => "cuda",
            Backend::CudaEmulated => "cuda-emulated",
            Backend::Interp => "interp",
        }
    }
}

/// A model ready to run.
pub enum Program {
    /// Compiled code with its weights.
    Native(Box<Session>),
    /// Compiled code of a program that graph breaks divide: the host goes on from one part to the next.
    Parts(Vec<Session>),
    /// Code for each tuple of shapes, compiled when a call brings it.
    Specialised(Box<Specialised>),
    /// A model that the interpreter reads anew at each run.
    Interpreted {
        /// The interpreter's home.
        compiler: Compiler,
        /// The model.
        path: PathBuf,
        /// Options as JSON.
        options: String,
    },
}

/// One result of a run.
pub struct Named {
    /// Its name; for a mutation the name of what changed.
    pub name: String,
    /// Whether it is the new value of a buffer or input.
    pub mutation: bool,
    /// The value.
    pub tensor: Tensor,
}

/// How long it took to get a program.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadTimes {
    /// Compilation; `None` when the file was compiled already.
    pub compile: Option<Duration>,
    /// Mapping code and weights.
    pub load: Duration,
}

/// How a program is got.
#[derive(Clone, Copy)]
pub struct Compile<'a> {
    /// The compiler's options as JSON.
    pub options: &'a str,
    /// Whether compiled programs come from and go to the store.
    pub cache: bool,
    /// Whether what is prepared of the weights comes from and goes to the store.
    pub keep_prepared: bool,
    /// Whether to say where the program came from.
    pub explain: bool,
    /// The public key whose owner must have signed a compiled program.
    pub verify: Option<&'a Path>,
    /// The file of the weights, if not the one that the program names.
    pub weights: Option<&'a Path>,
    /// The libraries of the user whose kernels the program calls.
    pub op_libraries: &'a [OpLibraryFile],
}

impl Compile<'_> {
    /// The options, with word whether pieces of code may come from the store, and not from a remote that has failed here.
    fn compiler_options(&self, store: Option<&Store>) -> Result<String, serde_json::Error> {
        let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(self.options)?;
        options.insert("cache".into(), store.is_some().into());
        if store.is_some_and(Store::remote_failed) {
            options.insert("cache_local".into(), true.into());
        }
        Ok(serde_json::Value::Object(options).to_string())
    }

    /// An artefact of this source with its weights.
    fn load(&self, source: &Path, artefact: &Artefact) -> Result<Session, LoadError> {
        let prepared = self.keep_prepared.then(|| Prepared::of(source, artefact, self.weights)).flatten();
        Session::load_keeping(artefact, self.weights, prepared.as_ref().map(|files| files as &dyn PreparedFiles))
    }

    /// An artefact, and the time of its compilation if there was one.
    fn artefact(&self, path: &Path) -> Result<(Artefact, Option<Duration>), Box<dyn Error>> {
        let mut time = None;
        let mut compile = |store: Option<&Store>| -> Result<Artefact, Box<dyn Error>> {
            let compiler = compiler::open()?;
            let start = Instant::now();
            let artefact = compiler.compile(path, &self.compiler_options(store)?)?;
            time = Some(start.elapsed());
            Ok(artefact)
        };
        let Some(store) = self.cache.then(cached::open_store).flatten() else {
            let artefact = compile(None)?;
            return Ok((artefact, time));
        };
        let parts = cached::parts(path, self.options, &cached::build(&store)?)?;
        if self.explain {
            eprintln!("{}: {}", path.display(), cached::explain(&store, &parts));
        }
        let artefact = cached::find(path, &parts, &store).map_or_else(|| compile(Some(&store)), Ok)?;
        Ok((artefact, time))
    }
}

impl Program {
    /// Compiles or loads a model.
    pub fn open(path: &Path, backend: Backend, how: &Compile<'_>) -> Result<(Program, LoadTimes), Box<dyn Error>> {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let mut times = LoadTimes::default();
        let with_cuda;
        let how = match backend {
            Backend::Cuda => {
                cuda::devices()?;
                with_cuda = with_device(how.options)?;
                &Compile { options: &with_cuda, ..*how }
            }
            _ => how,
        };
        let elsewhere = matches!(backend, Backend::Interp | Backend::CudaEmulated) || is_specialised(how.options)?;
        if how.weights.is_some() && elsewhere {
            return Err("--weights is for compiled programs of all sizes; leave out --dynamic=off, or the interpreter".into());
        }
        let artefact = match (kind, backend) {
            (kind, _) if how.verify.is_some() && kind != "strata" => return Err(SignatureError::Kind(path.into()).into()),
            ("strata" | "so", Backend::Interp | Backend::CudaEmulated) => {
                return Err(format!("{}: the interpreter needs the model, not compiled code", path.display()).into());
            }
            ("strata", _) => match how.verify {
                Some(key) => Artefact::from_bytes(&signature::read(path, key)?)?,
                None => Artefact::read(path)?,
            },
            ("so", _) => shared::read(path)?,
            ("pt2" | "pt" | "onnx" | "mlir" | "json", Backend::Interp | Backend::CudaEmulated) => {
                let (compiler, path) = (compiler::open()?, path.to_path_buf());
                let options = with_libraries(how)?;
                let options = if backend == Backend::Interp { options } else { with_device(&options)? };
                return Ok((Program::Interpreted { compiler, path, options }, times));
            }
            ("pt2" | "pt" | "onnx" | "mlir" | "json", Backend::Cpu | Backend::Cuda) if is_specialised(how.options)? => {
                let (path, options, cache, explain) = (path.to_path_buf(), how.options.to_owned(), how.cache, how.explain);
                let libraries = how.op_libraries.to_vec();
                let compile = move |sizes: &str| {
                    let options = with_sizes(&options, sizes)?;
                    let how = Compile {
                        options: &options,
                        cache,
                        keep_prepared: false,
                        explain,
                        verify: None,
                        weights: None,
                        op_libraries: &libraries,
                    };
                    Ok(how.artefact(&path)?.0.with_op_libraries(&libraries)?)
                };
                return Ok((Program::Specialised(Box::new(Specialised::new(compile))), times));
            }
            ("pt2" | "pt" | "onnx" | "mlir" | "json", Backend::Cpu | Backend::Cuda) => {
                let (artefact, time) = how.artefact(path)?;
                times.compile = time;
                artefact
            }
            _ => return Err(format!("{}: not a .pt2, .pt, .onnx, .mlir, .json, .so or .strata file", path.display()).into()),
        };
        let start = Instant::now();
        let artefact = artefact.with_op_libraries(how.op_libraries)?;
        let session = how.load(path, &artefact)?;
        times.load = start.elapsed();
        if artefact.manifest.resume.is_none() {
            return Ok((Program::Native(Box::new(session)), times));
        }
        if !matches!(kind, "pt2" | "pt" | "onnx" | "mlir" | "json") {
            return Err(format!("{}: holds one part of a program that goes on elsewhere; run the model itself", path.display()).into());
        }
        Ok((Program::Parts(rest(path, how, session)?), times))
    }

    /// Gives the buffers that the program changed their first values back.
    pub fn reset(&self) {
        match self {
            Program::Native(session) => session.reset(),
            Program::Parts(parts) => parts.iter().for_each(|part| part.reset()),
            Program::Specialised(program) => program.reset(),
            Program::Interpreted { .. } => {}
        }
    }

    /// Runs the program.
    pub fn run(&self, inputs: &[&Tensor]) -> Result<Vec<Named>, Box<dyn Error>> {
        match self {
            Program::Native(session) => named(session, inputs),
            Program::Parts(parts) => run_parts(parts, inputs),
            Program::Specialised(program) => named(&*program.session(inputs)?, inputs),
            Program::Interpreted { compiler, path, options } => {
                let results = match compiler.interpret(path, options, inputs) {
                    Err(error) if error.to_string().contains(WANTS_ELEMENTS) => {
                        let call = signature_with_elements(inputs.iter().copied());
                        compiler.interpret(path, &with_call(options, &call)?, inputs)?
                    }
                    results => results?,
                };
                let results = results.into_iter();
                Ok(results.map(|r| Named { name: r.name, mutation: r.mutation, tensor: r.tensor }).collect())
            }
        }
    }
}

/// Writes results as `out_k` and `mut_NAME` to a folder, under the name of the file that they are of.
pub fn dump(folder: &Path, of: &Path, results: &[Named]) -> Result<(), TensorFileError> {
    let (mutations, outputs): (Vec<_>, Vec<_>) = results.iter().partition(|result| result.mutation);
    let outputs = outputs.iter().enumerate().map(|(k, result)| (format!("out_{k}"), &result.tensor));
    let mutations = mutations.iter().map(|result| (format!("mut_{}", result.name), &result.tensor));
    let name = Path::new(of.file_name().unwrap_or_default()).with_extension("safetensors");
    TensorFile::write(&folder.join(name), &outputs.chain(mutations).collect::<Vec<_>>())
}

/// Calls the program on tensors that lie as those lay that it was captured with; files know no strides.
fn named(session: &Session, inputs: &[&Tensor]) -> Result<Vec<Named>, Box<dyn Error>> {
    let placed = in_order(session, inputs)?;
    let inputs: Vec<_> = placed.iter().map(|tensor| &**tensor).collect();
    let results = session.run_refs(&inputs)?.into_iter().zip(&session.manifest().outputs);
    Ok(results.map(|(tensor, out)| Named { name: out.name.clone(), mutation: out.kind == OutputKind::Mutation, tensor }).collect())
}

/// Inputs in the orders that the program takes them in.
pub fn in_order<'a>(session: &Session, inputs: &[&'a Tensor]) -> Result<Vec<Cow<'a, Tensor>>, TensorError> {
    let declared = &session.manifest().inputs;
    let place = |(k, tensor): (usize, &&'a Tensor)| tensor.in_order(declared.get(k).map_or(&DimOrder::ROW_MAJOR, |input| &input.dim_order));
    inputs.iter().enumerate().map(place).collect()
}

/// Compiles the parts that follow the first.
fn rest(path: &Path, how: &Compile<'_>, first: Session) -> Result<Vec<Session>, Box<dyn Error>> {
    let mut options: serde_json::Value = serde_json::from_str(how.options)?;
    let (mut parts, mut names) = (vec![first], Vec::new());
    while let Some(next) = parts.last().and_then(|part| part.manifest().resume.clone()) {
        if names.contains(&next.part) {
            return Err(format!("{}: the program resumes at `{}` for ever", path.display(), next.part).into());
        }
        options["part"] = next.part.as_str().into();
        let (artefact, _) = Compile { options: &options.to_string(), ..*how }.artefact(path)?;
        let changed = |name: &String| parts.iter().any(|part| part.manifest().outputs.iter().any(|out| is_mutation_of(out, name)));
        if let Some(weight) = artefact.manifest.weights.iter().map(|weight| &weight.name).find(|name| changed(name)) {
            return Err(format!("{}: `{}` reads `{weight}`, which a part before it changes", path.display(), next.part).into());
        }
        parts.push(how.load(path, &artefact.with_op_libraries(how.op_libraries)?)?);
        names.push(next.part);
    }
    Ok(parts)
}

fn is_mutation_of(output: &Output, name: &str) -> bool {
    output.kind == OutputKind::Mutation && output.name == name
}

/// Runs the parts in order: the outputs of each are the inputs of the next, and what each changes is a result.
fn run_parts(parts: &[Session], inputs: &[&Tensor]) -> Result<Vec<Named>, Box<dyn Error>> {
    let (mut values, mut changed) = (Vec::<Named>::new(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let inputs = if at == 0 { inputs.to_vec() } else { values.iter().map(|value| &value.tensor).collect() };
        let (mutations, outputs) = named(part, &inputs)?.into_iter().partition(|value| value.mutation);
        values = outputs;
        changed.extend::<Vec<Named>>(mutations);
        if let Some(next) = &part.manifest().resume {
            eprintln!("graph break after part {}: {}; resumes at `{}`", at + 1, next.reason, next.part);
        }
    }
    values.extend(changed);
    Ok(values)
}

/// The options with the sizes of a call.
fn with_sizes(options: &str, sizes: &str) -> Result<String, serde_json::Error> {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options)?;
    options.insert("sizes".into(), sizes.into());
    Ok(serde_json::Value::Object(options).to_string())
}

/// The options for calls of a signature, of a model that has no types of its own and options that give none.
pub fn with_signature(options: &str, model: &Path, signature: impl FnOnce() -> String) -> Result<String, serde_json::Error> {
    if model.extension().is_some_and(|kind| kind == "pt") { with_call(options, &signature()) } else { Ok(options.to_owned()) }
}

/// The options with the types of a call, if they say none.
fn with_call(options: &str, signature: &str) -> Result<String, serde_json::Error> {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options)?;
    options.entry("signature").or_insert_with(|| signature.into());
    Ok(serde_json::Value::Object(options).to_string())
}

/// The words of a model that wants to know sizes or elements of the call.
const WANTS_ELEMENTS: &str = "must be known when the model is imported";

impl Program {
    /// Opens a model for a call: one that must know elements of it is told them.
    pub fn open_for(
        path: &Path,
        backend: Backend,
        how: &Compile<'_>,
        call: Option<&InputSet>,
    ) -> Result<(Program, LoadTimes), Box<dyn Error>> {
        let opened = Program::open(path, backend, how);
        let (Some(call), Err(error)) = (call, &opened) else { return opened };
        if !error.to_string().contains(WANTS_ELEMENTS) {
            return opened;
        }
        Program::open(path, backend, &Compile { options: &with_call(how.options, &call.signature_with_elements())?, ..*how })
    }
}

/// The options with the files of the user's libraries, which the interpreter and the emulator open.
fn with_libraries(how: &Compile<'_>) -> Result<String, serde_json::Error> {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(how.options)?;
    options.insert("op_library_files".into(), serde_json::to_value(how.op_libraries)?);
    Ok(serde_json::Value::Object(options).to_string())
}

/// The options with a CUDA device to compile for, if they name none.
fn with_device(options: &str) -> Result<String, serde_json::Error> {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options)?;
    options.entry("target").or_insert_with(|| "cuda".into());
    Ok(serde_json::Value::Object(options).to_string())
}

/// Whether the options ask for code that knows the sizes of each call, and do not say which these are.
fn is_specialised(options: &str) -> Result<bool, Box<dyn Error>> {
    let options: serde_json::Value = serde_json::from_str(options)?;
    Ok(options["dynamic"] == "off" && options["sizes"].is_null())
}
