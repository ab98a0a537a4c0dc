//! `rs-compile`: a model to the text of a level, to LLVM IR, assembly, an object, a shared library or an artefact.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use strata_driver::{Options, compile, lower};
use strata_lowering::codegen;
use strata_runtime::{header, shared};

/// Compile a tensor program.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The model: .pt2 or .mlir
    model: PathBuf,
    /// The machine to compile for
    #[arg(long, value_enum, default_value = "cpu")]
    target: Target,
    /// LLVM's name of the CPU; default: this machine's
    #[arg(long, default_value = "")]
    cpu: String,
    /// What to write
    #[arg(long, value_enum, default_value = "strata")]
    emit: Emit,
    /// The level of --emit=mlir
    #[arg(long, value_name = "LEVEL", default_value = "aten", value_parser = clap::builder::PossibleValuesParser::new(strata_driver::LEVELS.iter().map(|level| level.name)))]
    to: String,
    /// The file to write; texts go to standard output by default. --emit=so writes a C header beside it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
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
    /// Verify the IR after every pass
    #[arg(long)]
    verify: bool,
}

/// A machine.
#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// x86-64 Linux
    Cpu,
}

/// A form of the program.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Emit {
    /// The text of a level
    Mlir,
    /// LLVM IR
    Llvm,
    /// Assembly
    Asm,
    /// A relocatable object
    Obj,
    /// A shared library and its C header
    So,
    /// An artefact for rs-run
    Strata,
}

impl Arguments {
    fn options(&self) -> Result<Options, Box<dyn Error>> {
        let mut options = serde_json::json!({ "skip": self.skip, "verify": self.verify, "cpu": self.cpu });
        for (name, value) in [("mode", &self.mode), ("dynamic", &self.dynamic), ("numerics", &self.numerics)] {
            if let Some(value) = value {
                options[name] = value.as_str().into();
            }
        }
        Ok(serde_json::from_value(options)?)
    }

    /// The file to write, for forms that are no text.
    fn file(&self, kind: &str) -> PathBuf {
        self.output.clone().unwrap_or_else(|| Path::new(self.model.file_name().unwrap_or_default()).with_extension(kind))
    }

    fn write_text(&self, text: &str) -> Result<(), Box<dyn Error>> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => write(path, text.as_bytes()),
            _ => Ok(std::io::stdout().write_all(text.as_bytes())?),
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?)
}

fn main() -> ExitCode {
    match start(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rs-compile: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (Target::Cpu, options) = (arguments.target, arguments.options()?);
    if arguments.emit == Emit::Mlir {
        return arguments.write_text(&lower(&arguments.model, &arguments.to, &options)?);
    }
    let wanted =
        codegen::Options { ir: arguments.emit == Emit::Llvm, assembly: arguments.emit == Emit::Asm, ..codegen::Options::default() };
    let compiled = compile(&arguments.model, &options, &wanted)?;
    match arguments.emit {
        Emit::Mlir => Ok(()),
        Emit::Llvm => arguments.write_text(&compiled.ir.unwrap_or_default()),
        Emit::Asm => arguments.write_text(&compiled.assembly.unwrap_or_default()),
        Emit::Obj => write(&arguments.file("o"), &compiled.object),
        Emit::So => {
            let path = arguments.file("so");
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write(&path, &shared::library(&compiled.artefact, &name))?;
            write(&path.with_extension("h"), header::header(&compiled.artefact.manifest).as_bytes())
        }
        Emit::Strata => Ok(compiled.artefact.write(&arguments.file("strata"))?),
    }
}
