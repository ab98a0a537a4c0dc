//! `rs-run`: runs a model or a conformance folder. It links the runtime only; the compiler is opened when needed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use regex::Regex;
use strata_tools::compile_options::CompileOptions;
use strata_tools::{exported_folder, start};

#[path = "../run/mod.rs"]
mod run;

/// Run a compiled or compilable tensor program, or check a folder of them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The model: .pt2, .pt, .onnx, .mlir, a folder saved by an exporter of transformers, or compiled .strata or .so
    #[arg(required_unless_present_any = ["suite", "worker"])]
    model: Option<PathBuf>,
    /// Who computes
    #[arg(long, value_enum, default_value = "cpu")]
    backend: run::Backend,
    /// safetensors file with the inputs in_0, in_1, ..., or by the names that the program has for them
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    inputs: Option<PathBuf>,
    /// safetensors file with the expected outputs out_0, out_1, ... (and the inputs, if --inputs is not given)
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    expect: Option<PathBuf>,
    /// Relative tolerance of --expect; default: the file's own, or PyTorch's for the element type
    #[arg(long, requires = "expect", value_parser = run::tolerance)]
    rtol: Option<f64>,
    /// Absolute tolerance of --expect
    #[arg(long, requires = "expect", value_parser = run::tolerance)]
    atol: Option<f64>,
    /// Print cold start, warm start, median and p99 of a call, kernels, bytes, memory
    #[arg(long, conflicts_with = "suite")]
    benchmark: bool,
    /// With --benchmark: each kernel's time, bytes, operations, and its share of what the machine can do
    #[arg(long, requires = "benchmark", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    roofline: Option<run::Form>,
    /// Show the model at each level: ops, kernels, times of each stage, memory, and the cost of a call
    #[arg(long, conflicts_with = "suite", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    report: Option<run::ReportForm>,
    /// Print the conditions that a call must meet, and what they cost
    #[arg(long, conflicts_with = "suite")]
    print_guards: bool,
    /// Compare the checksums of the weights' file with its bytes before anything runs
    #[arg(long, conflicts_with = "suite")]
    verify_weights: bool,
    /// Run every case of this folder's manifest.json
    #[arg(long, value_name = "DIR", conflicts_with = "model")]
    suite: Option<PathBuf>,
    /// Let the cases of --suite use the cache of compiled programs: a question about results alone, not about compiling
    #[arg(long, requires = "suite")]
    cached: bool,
    /// Run only cases whose name or group matches
    #[arg(long, value_name = "REGEX", conflicts_with = "model")]
    filter: Option<Regex>,
    /// Worker processes; default: one per CPU
    #[arg(short, long, value_name = "N", conflicts_with = "model")]
    jobs: Option<usize>,
    /// Write the outputs of each input set to this folder, as FILE.safetensors of the inputs' file, or of the model where there is none
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Write a table of the cases passed, by operator and element type
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    coverage: Option<PathBuf>,
    /// Longest time for a case in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", conflicts_with = "model")]
    time_limit: f64,
    /// Run a .strata file only if the owner of this public key signed it; see rs-compile --sign-key
    #[arg(long, value_name = "PEM", conflicts_with_all = ["suite", "worker"])]
    verify_key: Option<PathBuf>,
    /// Take the weights from this file, `.pt2` or safetensors, instead of the one that the program names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "worker"])]
    weights: Option<PathBuf>,
    /// Write the weights, as the call has left them, to this safetensors file, which --weights takes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "worker", "benchmark", "report"])]
    save_weights: Option<PathBuf>,
    /// Compute the gradients by these inputs and weights too (comma separated; those that require a gradient where none is named)
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["suite", "worker", "train"], num_args = 0..=1, require_equals = true, default_missing_value = "", value_delimiter = ',')]
    grad: Option<Vec<String>>,
    /// Compute the tangents of the outputs from those of these inputs and weights, tan_NAME in the inputs' file (all that are there where none is
    /// named)
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["suite", "worker", "train", "grad"], num_args = 0..=1, require_equals = true, default_missing_value = "", value_delimiter = ',')]
    jvp: Option<Vec<String>>,
    /// safetensors file with the cotangents cot_0, cot_1, .. of the outputs; default: the file of the inputs
    #[arg(long, value_name = "FILE", requires = "grad")]
    cotangents: Option<PathBuf>,
    #[command(flatten)]
    compile: CompileOptions,
    /// Serve cases on standard input; used by --suite
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    start("rs-run", || serve(Arguments::parse()))
}

fn serve(arguments: Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    if arguments.worker {
        run::worker::serve(arguments.backend)?;
        return Ok(true);
    }
    if let Some(folder) = arguments.suite {
        if arguments.compile.says_of_cache() {
            return Err(
                "--no-cache, --explain-cache and --explain-autotune do nothing with --suite, which always compiles but with --cached; leave them out".into(),
            );
        }
        if let Some(library) = arguments.compile.op_libraries().first() {
            return Err(format!("{} is for one model: a suite opens no libraries; leave it out", library.kind.flag()).into());
        }
        return run::suite::run(&run::suite::Options {
            folder,
            backend: arguments.backend,
            filter: arguments.filter,
            jobs: arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            dump: arguments.dump,
            coverage: arguments.coverage,
            time_limit: Duration::try_from_secs_f64(arguments.time_limit)?,
            compiler: arguments.compile.json()?,
            cached: arguments.cached,
        });
    }
    run::single::run(&run::single::Options {
        model: exported_folder::program(arguments.model.unwrap_or_default())?,
        backend: arguments.backend,
        inputs: arguments.inputs,
        expect: arguments.expect,
        benchmark: arguments.benchmark,
        roofline: arguments.roofline,
        report: arguments.report,
        print_guards: arguments.print_guards,
        verify_weights: arguments.verify_weights,
        rtol: arguments.rtol,
        atol: arguments.atol,
        verify_key: arguments.verify_key,
        weights: arguments.weights,
        save_weights: arguments.save_weights,
        dump: arguments.dump,
        jvp: arguments.jvp.is_some(),
        gradient: arguments.grad.or(arguments.jvp).map(|names| names.into_iter().filter(|name| !name.is_empty()).collect()),
        cotangents: arguments.cotangents,
        compile: arguments.compile.with_profile(arguments.roofline.is_some()),
    })
}
