//! `rs-run MODEL`: one model, one input set.

use std::error::Error;
use std::path::{Path, PathBuf};

use strata_runtime::compare::{Tolerance, preview};
use strata_runtime::manifest::{Input, Scalar};
use strata_runtime::{DType, Manifest, Tensor};
use strata_tools::compile_options::CompileOptions;
use strata_tools::{saved, tuning, verify_weights};

use super::backend::{Backend, Compile, Named, Program, dump, with_signature};
use super::benchmark;
use super::case::{Check, InputSet};
use super::gradient::{Gradient, Mode, with_gradient};
use super::judge::{Rules, judge};
use super::levels_report;
use super::page::Page;
use super::roofline::Form;

/// What to do with the model.
pub struct Options {
    /// The model.
    pub model: PathBuf,
    /// Who computes.
    pub backend: Backend,
    /// The inputs `in_0..`.
    pub inputs: Option<PathBuf>,
    /// The expected outputs `out_0..`.
    pub expect: Option<PathBuf>,
    /// Measure.
    pub benchmark: bool,
    /// Measure kernels by themselves.
    pub roofline: Option<Form>,
    /// Show the levels, the kernels, and where the time goes.
    pub report: Option<levels_report::Form>,
    /// Show the conditions on a call.
    pub print_guards: bool,
    /// Compare checksums of weights first.
    pub verify_weights: bool,
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Absolute tolerance.
    pub atol: Option<f64>,
    /// The public key whose owner must have signed the model.
    pub verify_key: Option<PathBuf>,
    /// The file of the weights, if not the one that the program names.
    pub weights: Option<PathBuf>,
    /// The file to write the weights to after the call.
    pub save_weights: Option<PathBuf>,
    /// The folder of the results, if they are kept.
    pub dump: Option<PathBuf>,
    /// The arguments to differentiate by, if gradients are asked for: those that require a gradient where none is named.
    pub gradient: Option<Vec<String>>,
    /// Whether tangents of the outputs are asked for, from those of the arguments.
    pub jvp: bool,
    /// The cotangents `cot_0..`.
    pub cotangents: Option<PathBuf>,
    /// How to compile, and whether to ask the cache.
    pub compile: CompileOptions,
}

/// Refuses options that would do nothing.
fn heeded(options: &Options) -> Result<(), Box<dyn Error>> {
    let name = options.model.display();
    if let Some(kind @ ("strata" | "so")) = kind(&options.model) {
        if options.compile.says_how() || options.compile.no_cache || options.compile.explain_cache {
            return Err(format!(
                "{name}: a .{kind} file is compiled; options of the compilation and of its cache do nothing, give them to rs-compile"
            )
            .into());
        }
        if options.gradient.is_some() {
            return Err(format!("{name}: a .{kind} file computes what it was compiled for; --grad and --jvp are for models").into());
        }
    }
    if options.backend == Backend::Interp && (options.compile.asks_why() || options.compile.says_mode() || options.roofline.is_some()) {
        return Err(
            "the interpreter compiles nothing: --mode, --autotune-budget, --explain-cache, --explain-autotune and --roofline do nothing \
             with --backend=interp"
                .into(),
        );
    }
    Ok(())
}

/// Runs the model; false if the results are not the expected ones.
pub fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    heeded(options)?;
    // What is measured is a compilation, so it must be one.
    let cache = !(options.compile.no_cache || options.benchmark || options.report.is_some());
    let file = options.inputs.as_deref().or(options.expect.as_deref());
    let call = file.filter(|_| matches!(kind(&options.model), Some("pt" | "onnx"))).map(InputSet::read).transpose();
    // Inputs may bear the names of the program's, which are not known yet.
    let call = if kind(&options.model) == Some("onnx") { call.unwrap_or(None) } else { call? };
    let json = match &call {
        Some(call) => with_signature(&options.compile.json()?, &options.model, || call.signature())?,
        None => options.compile.json()?,
    };
    let seeds = Seeds::read(options)?;
    let (json, verify) = (seeds.options(&json)?, options.verify_key.as_deref());
    let op_libraries = &options.compile.op_libraries();
    let how = Compile {
        options: &json,
        cache,
        keep_prepared: !options.compile.no_cache,
        explain: options.compile.explain_cache,
        verify,
        weights: options.weights.as_deref(),
        op_libraries,
    };
    let about = |error| about(&options.model, error);
    if options.report == Some(levels_report::Form::Html) {
        return page(options).map_err(about).map(|()| true);
    }
    if options.verify_weights && matches!(kind(&options.model), Some("pt2" | "pt" | "onnx" | "mlir")) {
        verify_weights::of_model(&options.model)?;
    }
    let (program, times) = Program::open_for(&options.model, options.backend, &how, call.as_ref()).map_err(about)?;
    let manifest = match &program {
        Program::Native(session) => Some(session.manifest()),
        Program::Parts(parts) => parts.first().map(|part| part.manifest()),
        Program::Specialised(_) | Program::Interpreted { .. } => None,
    };
    if let Some(manifest) = manifest.filter(|_| options.compile.explain_autotune) {
        eprintln!("{}: {}", options.model.display(), tuning::explain(manifest));
    }
    if let Some(line) = manifest.filter(|_| options.compile.asks_to_rematerialise()).and_then(saved::line) {
        eprintln!("{}: {line}", options.model.display());
    }
    let asked = options.weights.as_ref().map(|_| "--weights").or(options.save_weights.as_ref().map(|_| "--save-weights"));
    if let (Some(option), true) = (asked, manifest.is_some_and(|manifest| manifest.weights.is_empty())) {
        return Err(about(format!("the program has no weights, so {option} does nothing; leave it out").into()));
    }
    if let (true, Some(manifest), Some("strata" | "so")) = (options.verify_weights, manifest, kind(&options.model)) {
        verify_weights::of_manifest(&options.model, manifest)?;
    }
    let names: Vec<_> = manifest.iter().flat_map(|manifest| &manifest.inputs).map(|input| input.name.as_str()).collect();
    let set = options.inputs.as_deref().or(options.expect.as_deref()).map(|path| InputSet::read_for(path, &names)).transpose()?;
    let made = match (&set, manifest) {
        (None, Some(manifest)) => sample_inputs(manifest).map_err(about)?,
        // The interpreter and --dynamic=off make up no values: a program that takes none runs, others say what they lack.
        _ => Vec::new(),
    };
    let mut inputs = set.as_ref().map_or_else(|| made.iter().collect(), InputSet::inputs);
    if set.is_some() {
        inputs.extend(seeds.tensors()?);
    }
    if let Some(manifest) = manifest.filter(|_| options.report.is_some()) {
        levels_report::print(&options.model, manifest, times)?;
    }
    if options.print_guards {
        let manifest =
            manifest.ok_or("the interpreter and --dynamic=off have no guards of their own; use --backend=cpu with --dynamic=auto")?;
        benchmark::print_guards(manifest, &program, &inputs);
    }
    let results = program.run(&inputs).map_err(|error| match (&set, manifest) {
        (None, None) => {
            let (error, model) = (error.to_string(), options.model.display().to_string());
            // An error of the file names it, and has nothing to do with inputs.
            let of_file = error.starts_with(&model);
            let hint = "without --inputs the interpreter and --dynamic=off have none";
            if of_file { error.into() } else { format!("{model}: {error}; {hint}").into() }
        }
        (None, _) => about(error),
        (Some(_), _) => {
            let file = options.inputs.as_deref().or(options.expect.as_deref()).unwrap_or(Path::new("--inputs"));
            format!("{} (inputs of {})", about(error), file.display()).into()
        }
    })?;
    if let Some(path) = &options.save_weights {
        match &program {
            Program::Native(session) => session.save_weights(path)?,
            _ => return Err("--save-weights needs native code of one program (--backend=cpu, --dynamic=auto, no graph breaks)".into()),
        }
    }
    if let Some(folder) = &options.dump {
        let name = options.inputs.as_deref().or(options.expect.as_deref()).unwrap_or(&options.model);
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let (from, to) = (name.canonicalize(), folder.canonicalize().map(|folder| folder.join(name.file_name().unwrap_or_default())));
        if matches!((from, to), (Ok(from), Ok(to)) if from == to && kind(&from) == Some("safetensors")) {
            return Err(format!("{}: the results would be written over the inputs; give another folder", name.display()).into());
        }
        dump(folder, name, &results)?;
    }
    let right = match &options.expect {
        Some(path) => check(&results, path, options)?,
        None => {
            results.iter().for_each(print_result);
            true
        }
    };
    if options.benchmark {
        benchmark::run(&program, &inputs, times, options.roofline)?;
    } else if options.report.is_some() {
        benchmark::calls(&program, &inputs, None)?;
        println!();
    }
    Ok(right)
}

/// The gradients or tangents that are asked for.
struct Seeds<'a> {
    /// What is differentiated by, if anything.
    wrt: Option<&'a [String]>,
    mode: Mode,
    set: Option<InputSet>,
}

impl<'a> Seeds<'a> {
    /// The file of the cotangents is that of the inputs where no other is given.
    fn read(options: &'a Options) -> Result<Self, Box<dyn Error>> {
        let file = options.cotangents.as_ref().or(options.inputs.as_ref()).or(options.expect.as_ref());
        let set = options.gradient.as_ref().and(file).map(|path| InputSet::read(path)).transpose()?;
        let mode = if options.jvp { Mode::Jvp } else { Mode::Vjp };
        Ok(Self { wrt: options.gradient.as_deref(), mode, set })
    }

    /// What the file says, where the command line names nothing.
    fn said(&self) -> Option<&Gradient> {
        let said = self.set.as_ref().and_then(InputSet::gradient).filter(|_| self.wrt.is_some_and(<[String]>::is_empty));
        said.filter(|said| said.mode() == self.mode)
    }

    /// The names of what is differentiated by; in forward mode all that have a tangent where none is named.
    fn names(&self) -> Vec<String> {
        match (self.wrt, &self.set) {
            (Some([]), Some(set)) if self.mode == Mode::Jvp => set.names_of_tangents(),
            (wrt, _) => wrt.unwrap_or_default().to_vec(),
        }
    }

    fn places(&self) -> Vec<usize> {
        self.set.as_ref().map(InputSet::places_of_cotangents).unwrap_or_default()
    }

    /// The compiler's options with what is asked for.
    fn options(&self, options: &str) -> Result<String, Box<dyn Error>> {
        if self.wrt.is_none() {
            return Ok(options.to_owned());
        }
        if let Some(said) = self.said() {
            return Ok(said.options(options)?);
        }
        let names = self.names();
        if self.mode == Mode::Jvp && names.is_empty() {
            return Err("--jvp: the inputs' file has no tangent; give one as tan_NAME for each input or weight to differentiate by".into());
        }
        let places = if self.mode == Mode::Jvp { Vec::new() } else { self.places() };
        Ok(with_gradient(options, &names.iter().map(String::as_str).collect::<Vec<_>>(), &places, 1, self.mode)?)
    }

    fn tensors(&self) -> Result<Vec<&Tensor>, String> {
        let Some(set) = &self.set else { return Ok(Vec::new()) };
        let named = || match self.mode {
            Mode::Vjp => self.places().iter().map(|place| format!("cot_{place}")).collect(),
            Mode::Jvp => self.names().iter().map(|name| format!("tan_{name}")).collect(),
        };
        set.seeds(&self.said().map_or_else(named, Gradient::seeds))
    }
}

/// Writes the model's page.
fn page(options: &Options) -> Result<(), Box<dyn Error>> {
    if !matches!(options.backend, Backend::Cpu) || !matches!(kind(&options.model), Some("pt2" | "pt" | "onnx" | "mlir" | "json")) {
        return Err("--report=html is about the compilation of a model (.pt2, .pt, .onnx, .mlir, .json) for --backend=cpu".into());
    }
    if options.benchmark || options.print_guards || options.expect.is_some() {
        return Err("--report=html writes a page and does nothing else; leave out --benchmark, --print-guards and --expect".into());
    }
    let set = options.inputs.as_deref().map(InputSet::read).transpose()?;
    let json = options.compile.json()?;
    let page = Page {
        model: &options.model,
        options: &json,
        cache: !options.compile.no_cache,
        weights: options.weights.as_deref(),
        op_libraries: &options.compile.op_libraries(),
    };
    page.write(set.as_ref().map(InputSet::inputs), |session| sample_inputs(session.manifest()))
}

fn kind(model: &Path) -> Option<&str> {
    model.extension().and_then(|kind| kind.to_str())
}

/// The error with the file that it is about, where it does not name it.
fn about(model: &Path, error: Box<dyn Error>) -> Box<dyn Error> {
    let (name, text) = (model.display().to_string(), error.to_string());
    if text.contains(&name) || error.is::<std::io::Error>() { error } else { format!("{name}: {text}").into() }
}

fn check(results: &[Named], path: &Path, options: &Options) -> Result<bool, Box<dyn Error>> {
    let expected = InputSet::read(path)?;
    // What the file says is looked at also where the command line says it otherwise.
    let (rtol, atol, check) = (expected.tolerance("rtol")?, expected.tolerance("atol")?, expected.check()?);
    let tolerance = match (options.rtol.or(rtol), options.atol.or(atol)) {
        (None, None) => None,
        (rtol, atol) => Some(Tolerance { rtol: rtol.unwrap_or(0.0), atol: atol.unwrap_or(0.0) }),
    };
    let rules = Rules { tolerance, shape_only: check == Check::Shape, skip_outputs: &[] };
    match judge(results, &expected, &rules) {
        Ok(errors) => {
            println!("as expected: max abs error {:.3e}, max rel error {:.3e}", errors.abs, errors.rel);
            Ok(true)
        }
        Err(reason) => {
            println!("not as expected: {reason}");
            Ok(false)
        }
    }
}

/// Inputs for a model that came without: small numbers that repeat from run to run. Symbolic sizes are 4.
fn sample_inputs(manifest: &Manifest) -> Result<Vec<Tensor>, Box<dyn Error>> {
    eprintln!("no --inputs: made-up values of sizes that the program takes");
    let named = |(k, input): (usize, &Input)| sample_input(input).map_err(|error| format!("input {k} `{}`: {error}", input.name).into());
    manifest.inputs.iter().enumerate().map(named).collect()
}

fn sample_input(input: &Input) -> Result<Tensor, Box<dyn Error>> {
    let sampled = |(dim, size): (usize, &Option<i64>)| size.or_else(|| input.sample.get(dim).copied()).unwrap_or(4);
    let shape: Vec<i64> = input.shape.iter().enumerate().map(sampled).collect();
    let mut tensor = Tensor::uninit_in(input.dtype, &shape, &input.dim_order)?;
    fill(&mut tensor);
    let Some(value) = input.value else { return Ok(tensor) };
    let bytes = match value {
        Scalar::Int(value) => value.to_le_bytes().to_vec(),
        Scalar::Float(value) => value.to_le_bytes().to_vec(),
        Scalar::Bool(value) => vec![value.into()],
    };
    if bytes.len() != tensor.bytes().len() {
        return Err(format!("its value {value:?} is no {} of shape {shape:?}", input.dtype).into());
    }
    tensor.bytes_mut().copy_from_slice(&bytes);
    Ok(tensor)
}

/// Floats in [-1, 1), integers 0 or 1.
fn fill(tensor: &mut Tensor) {
    let (dtype, mut seed) = (tensor.dtype(), 0x9e37_79b9_7f4a_7c15u64);
    let part = if matches!(dtype, DType::C64 | DType::C128) { dtype.size() / 2 } else { dtype.size() };
    for bytes in tensor.bytes_mut().chunks_exact_mut(part) {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (seed >> 40) as f64 / (1u64 << 23) as f64 - 1.0;
        match dtype {
            DType::F64 | DType::C128 => bytes.copy_from_slice(&unit.to_le_bytes()),
            DType::F32 | DType::C64 => bytes.copy_from_slice(&(unit as f32).to_le_bytes()),
            DType::BF16 => bytes.copy_from_slice(&((unit as f32).to_bits() >> 16).to_le_bytes()[..2]),
            // Halves and bytes: a sign and a mantissa below one.
            DType::F16 => bytes.copy_from_slice(&(0x3800 | (seed >> 48) as u16 & 0x83ff).to_le_bytes()),
            DType::F8E4M3FN => bytes[0] = 0x30 | (seed >> 56) as u8 & 0x87,
            DType::F8E5M2 => bytes[0] = 0x38 | (seed >> 56) as u8 & 0x83,
            _ => {
                bytes.fill(0);
                bytes[0] = (seed >> 63) as u8;
            }
        }
    }
}

fn print_result(result: &Named) {
    let (tensor, name) = (&result.tensor, &result.name);
    let kind = if result.mutation { "mutation" } else { "output" };
    println!("{kind} {name}: {}{:?} = {}", tensor.dtype(), tensor.shape(), preview(tensor, 8));
}
