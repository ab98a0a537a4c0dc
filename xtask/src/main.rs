//! The commands behind `./x`; `./x --help` lists them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod aarch64;
mod assembler;
mod aten_table;
mod bench;
mod cargo;
mod crates_picture;
mod docs;
mod examples;
mod made_cases;
mod python;
mod sanitize;
mod scaffold;
mod suite;
mod tensor_methods;
mod tidy;

use cargo::{Profile, Result};

#[derive(Parser)]
#[command(name = "./x", about = "Builds, runs and checks Strata.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The main job: takes a model through all levels, shows each, times it and checks the result
    Run {
        /// A program saved by `torch.export.save`; without one, the models of `test/models`
        model: Option<PathBuf>,
        /// Use the development build
        #[arg(long)]
        dev: bool,
        /// Further arguments for `rs-run`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Run the tests, or the named parts of them
    Test(suite::Args),
    /// Build every crate and tool, or the tools named
    Build {
        /// Tools, as in `rs-opt`; they are built as they are with all the others, so that nothing is built twice
        tools: Vec<String>,
        /// Optimise, without debug information
        #[arg(long)]
        release: bool,
        /// Release tools with LLVM and MLIR inside, in `target/static/release`
        #[arg(long = "static", conflicts_with_all = ["release", "tools"])]
        alone: bool,
    },
    /// Wheels of the Python package with LLVM inside, in `target/wheels`
    Wheel,
    /// Format the tree
    Fmt,
    /// Clippy, rustdoc and the format; warnings are errors
    Lint,
    /// Check the rules of the tree
    Tidy,
    /// Rewrite the check lines of failing lit tests and the expected text of unit tests
    Bless {
        /// Only lit tests whose name contains this text
        filter: Option<String>,
    },
    /// Generate the reference pages and build the book
    Docs {
        /// Only write the generated pages
        #[arg(long)]
        generate: bool,
    },
    /// Make random inputs: programs, compiled and interpreted (`./x fuzz prim --count 10000`), edits, broken files (`archives`, `text`, ..),
    /// lying servers (`remote`), and what nobody should give the runtime, under AddressSanitizer (`c|artefact|manifest|safetensors`)
    Fuzz {
        /// What, and arguments for it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        args: Vec<String>,
    },
    /// Run the benchmarks
    Bench(bench::Args),
    /// Write a new pass: its file, its test and its registry line
    NewPass {
        /// Its name, as in `fuse_elementwise`
        name: String,
    },
    /// Write a new op: its file, its test and its registry line
    NewOp {
        /// `capture`, `prim`, `loop` or `host`
        dialect: String,
        /// Its name, as in `logical_not`
        name: String,
    },
    /// Write a crate of your own with a dialect, a pass, tests and all tools
    NewCrate {
        /// Its folder, whose last part is its name: `../row-statistics`
        path: PathBuf,
    },
    /// Write the aten schema table and the constants of its operators
    AtenTable {
        /// PyTorch's schema facts as JSON; without them the table stays, and only the constants are written
        json: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("x: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command; false means that a check failed and has said so.
fn dispatch(command: Command) -> Result<bool> {
    std::env::set_current_dir(cargo::root())?;
    match command {
        Command::Run { model, dev, args } => suite::run_models(model, if dev { Profile::Dev } else { Profile::Release }, &args),
        Command::Test(args) => suite::test(&args),
        Command::Build { alone: true, .. } => cargo::build_static(),
        Command::Build { tools, release, .. } => {
            let profile = if release { Profile::Release } else { Profile::Dev };
            if tools.is_empty() { cargo::build(profile) } else { cargo::build_tools(profile, &tools) }
        }
        Command::Wheel => python::wheel(),
        Command::Fmt => cargo::run(&["fmt", "--all"]),
        Command::Lint => cargo::lint(),
        Command::Tidy => {
            let faults = tidy::check()?;
            tidy::report(&faults);
            Ok(faults.is_empty())
        }
        Command::Bless { filter } => suite::bless(filter),
        Command::Docs { generate } => docs::docs(generate),
        Command::Fuzz { args } if sanitize::TARGETS.contains(&args[0].as_str()) => sanitize::fuzz(&args),
        Command::Fuzz { args } => {
            // Broken files are given to the tools.
            if !cargo::build(Profile::Dev)? {
                return Ok(false);
            }
            let mut all = vec!["run", "--quiet", "--package", "strata-fuzz", "--"];
            all.extend(args.iter().map(String::as_str));
            cargo::run(&all)
        }
        Command::Bench(args) => bench::run(&args),
        Command::NewPass { name } => scaffold::new_pass(&name),
        Command::NewOp { dialect, name } => scaffold::new_op(&dialect, &name),
        Command::NewCrate { path } => scaffold::new_crate(&path),
        Command::AtenTable { json } => Ok(aten_table::run(json.as_deref()).map(|()| true)?),
    }
}
