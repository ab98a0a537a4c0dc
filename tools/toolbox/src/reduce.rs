//! Makes a program smaller as long as a test finds it interesting.
//!
//! MLIR's own reducer, with our dialects and passes, runs where its passes are named (`--reduction-tree`, `--opt-reduction-pass`).

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use strata_core::registry::Registry;
use strata_tools::start;

use crate::plugins::with_plugins;

/// Make a program smaller as long as it is interesting.
///
/// Ops, arguments, results and attributes go away one after the other while the test, which is called with the path of the
/// program, says by the exit status 1 that it is still interesting (as for MLIR's reducer). What is left cannot be made smaller
/// by any one step.
#[derive(Parser)]
#[command(name = "rs-reduce", version)]
struct Arguments {
    /// The program: .pt2 or .mlir
    program: PathBuf,
    /// What is run to find out; a shell script, for example
    #[arg(long, value_name = "COMMAND")]
    test: PathBuf,
    /// An argument of the test before the path of the program; may be given several times
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    test_arg: Vec<String>,
    /// Where the program is written; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The whole of a reducer.
pub fn reduce(registry: Registry, args: Vec<String>) -> ExitCode {
    start("rs-reduce", || {
        let (registry, args) = with_plugins(registry, &args)?;
        let upstream =
            |arg: &String| matches!(arg.trim_start_matches('-').split('=').next(), Some("reduction-tree" | "opt-reduction-pass"));
        if args.iter().any(upstream) {
            return Ok(strata_core::tool::reduce_main(registry, &args) == 0);
        }
        run(registry, &Arguments::parse_from(args))
    })
}

fn run(registry: &'static Registry, arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("strata-reduce-{}.mlir", std::process::id()));
    let mut interesting = |text: &str| {
        std::fs::write(&path, text)?;
        let mut test = Command::new(&arguments.test);
        test.args(&arguments.test_arg).arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(test.status()?.code() == Some(1))
    };
    let reduced = strata_driver::reduce(registry, &arguments.program, &mut interesting);
    // It was a text between two programs.
    let _ = std::fs::remove_file(&path);
    let reduced = reduced?;
    match &arguments.output {
        Some(file) => std::fs::write(file, &reduced.text)?,
        None => print!("{}", reduced.text),
    }
    eprintln!("rs-reduce: {} programs tried, {} changes kept", reduced.tried, reduced.kept);
    Ok(true)
}
