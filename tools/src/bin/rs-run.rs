//! `rs-run`: runs a model or a conformance folder. It links the runtime only; the compiler is opened when needed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use regex::Regex;
use serde_json::json;

#[path = "../run/mod.rs"]
mod run;

/// Run a compiled or compilable tensor program, or check a folder of them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The model: .pt2, .mlir, or compiled .strata or .so
    #[arg(required_unless_present_any = ["suite", "worker"])]
    model: Option<PathBuf>,
    /// Who computes
    #[arg(long, value_enum, default_value = "cpu")]
    backend: run::Backend,
    /// safetensors file with the inputs in_0, in_1, ...
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// safetensors file with the expected outputs out_0, out_1, ... (and the inputs, if --inputs is not given)
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Relative tolerance of --expect; default: the file's own, or PyTorch's for the element type
    #[arg(long)]
    rtol: Option<f64>,
    /// Absolute tolerance of --expect
    #[arg(long)]
    atol: Option<f64>,
    /// Print cold start, warm start, median and p99 of a call, kernels, bytes, memory
    #[arg(long)]
    benchmark: bool,
    /// Show the model's road through the levels: ops, kernels, times of each stage, memory, and the cost of a call
    #[arg(long)]
    report: bool,
    /// Print the conditions that a call must meet, and what they cost
    #[arg(long)]
    print_guards: bool,
    /// Run every case of this folder's manifest.json
    #[arg(long, value_name = "DIR", conflicts_with = "model")]
    suite: Option<PathBuf>,
    /// Run only cases whose name or group matches
    #[arg(long, value_name = "REGEX", requires = "suite")]
    filter: Option<Regex>,
    /// Worker processes; default: one per CPU
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Write the outputs of each input set to this folder
    #[arg(long, value_name = "DIR", requires = "suite")]
    dump: Option<PathBuf>,
    /// Longest time for a case in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    time_limit: f64,
    /// How much time compilation may take for faster code
    #[arg(long, value_parser = ["default", "reduce-overhead", "max-autotune"])]
    mode: Option<String>,
    /// Which sizes stay symbolic
    #[arg(long, value_parser = ["auto", "on", "off"])]
    dynamic: Option<String>,
    /// How closely results follow the program's own order of operations
    #[arg(long, value_parser = ["bitwise", "ulp", "fast"])]
    numerics: Option<String>,
    /// Leave these passes out of the pipeline (comma separated)
    #[arg(long, value_name = "PASSES", value_delimiter = ',')]
    skip: Vec<String>,
    /// Serve cases on standard input; used by --suite
    #[arg(long, hide = true)]
    worker: bool,
}

impl Arguments {
    /// The compiler's options as JSON; what was not given is left to the compiler.
    fn compiler_options(&self) -> String {
        let mut options = serde_json::Map::new();
        for (name, value) in [("mode", &self.mode), ("dynamic", &self.dynamic), ("numerics", &self.numerics)] {
            if let Some(value) = value {
                options.insert(name.into(), json!(value));
            }
        }
        if !self.skip.is_empty() {
            options.insert("skip".into(), json!(self.skip));
        }
        serde_json::Value::Object(options).to_string()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("rs-run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    let compiler = arguments.compiler_options();
    if arguments.worker {
        run::worker::serve(arguments.backend)?;
        return Ok(true);
    }
    if let Some(folder) = arguments.suite {
        return run::suite::run(&run::suite::Options {
            folder,
            backend: arguments.backend,
            filter: arguments.filter,
            jobs: arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            dump: arguments.dump,
            time_limit: Duration::try_from_secs_f64(arguments.time_limit)?,
            compiler,
        });
    }
    run::single::run(&run::single::Options {
        model: arguments.model.unwrap_or_default(),
        backend: arguments.backend,
        inputs: arguments.inputs,
        expect: arguments.expect,
        benchmark: arguments.benchmark,
        report: arguments.report,
        print_guards: arguments.print_guards,
        rtol: arguments.rtol,
        atol: arguments.atol,
        compiler,
    })
}
