//! `./x bench`: criterion's benchmarks, and `./x bench cpu`, Strata beside its peers on this machine.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::cargo::{self, Profile, Result};

/// What `./x bench` takes.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    which: Option<Which>,
    /// Arguments for `cargo bench`
    #[arg(last = true)]
    args: Vec<String>,
}

#[derive(clap::Subcommand)]
enum Which {
    /// Beside PyTorch, Inductor, onnxruntime and others: writes bench/results/cpu.md, cpu.svg and kernels.svg
    Cpu {
        /// Workloads or patterns, as bench/peers/run.py --list names them
        #[arg(default_values = ["chain_30", "sincos_*", "loop_*", "numpy_*", "kernel_*"])]
        workloads: Vec<String>,
        /// Peers, comma-separated, a mode behind a colon; those that are not installed say so in the table
        #[arg(
            long,
            default_value = "eager,inductor,jax,onnxruntime,openvino,strata,strata_file,strata_file:reduce-overhead,strata_file:max-autotune"
        )]
        peers: String,
        /// A Python that has PyTorch and the peers
        #[arg(long, default_value = "python3")]
        python: String,
        /// Measure the development build
        #[arg(long)]
        dev: bool,
    },
    /// Programs at sizes, layouts and element types that a seed draws, beside eager: writes bench/results/ops.md and .svg (or nets.md and .svg)
    Ops {
        /// Another seed is another set
        #[arg(long, default_value_t = 1)]
        seed: u32,
        /// Programs
        #[arg(long, default_value_t = 500)]
        count: u32,
        /// Only what has this in its name; the results are printed, and not written
        #[arg(long, default_value = "")]
        filter: String,
        /// Blocks of operators as networks combine them, instead of single operators
        #[arg(long)]
        random_nets: bool,
        /// A Python that has PyTorch
        #[arg(long, default_value = "python3")]
        python: String,
        /// Measure the development build
        #[arg(long)]
        dev: bool,
    },
    /// Steps of training beside eager PyTorch, Inductor and JAX, each with its optimizer fused: writes bench/results/train.md
    Train {
        /// Of mlp, resnet18, transformer, lstm, bert; all without any. The results are printed then, and not written
        names: Vec<String>,
        /// The optimizer
        #[arg(long, default_value = "adamw", value_parser = ["sgd", "adam", "adamw"])]
        optimizer: String,
        /// A Python that has PyTorch, torchvision for resnet18, and transformers for bert
        #[arg(long, default_value = "python3")]
        python: String,
        /// Measure the development build
        #[arg(long)]
        dev: bool,
    },
    /// Kernels at named and at odd sizes: share of the limit, and what the cost model predicts
    Cost {
        /// Kinds of kernels; default: all
        families: Vec<String>,
        /// Measure the development build
        #[arg(long)]
        dev: bool,
    },
}

/// Runs the benchmarks.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(Which::Cpu { workloads, peers, python, dev }) = &args.which {
        return cpu(workloads, peers, python, if *dev { Profile::Dev } else { Profile::Release });
    }
    if let Some(Which::Ops { seed, count, filter, random_nets, python, dev }) = &args.which {
        return ops((*seed, *count), filter, *random_nets, python, if *dev { Profile::Dev } else { Profile::Release });
    }
    if let Some(Which::Train { names, optimizer, python, dev }) = &args.which {
        return train(names, optimizer, python, if *dev { Profile::Dev } else { Profile::Release });
    }
    if let Some(Which::Cost { families, dev }) = &args.which {
        return cost(families, if *dev { Profile::Dev } else { Profile::Release });
    }
    // Not `--benches`: that takes the unit tests in too, which know no option of criterion's.
    let mut all = vec!["bench", "--workspace", "--bench", "*", "--"];
    all.extend(args.args.iter().map(String::as_str));
    cargo::run(&all)
}

fn cost(families: &[String], profile: Profile) -> Result<bool> {
    if !cargo::build(profile)? {
        return Ok(false);
    }
    let mut args = vec!["bench", "--package", "strata-bench", "--bench", "kernels"];
    args.extend(["--profile", "dev"].into_iter().filter(|_| profile == Profile::Dev));
    args.push("--");
    args.extend(families.iter().map(String::as_str));
    Ok(cargo::command(&args).env("STRATA_COMPILER", cargo::tools(profile).join("libstrata_compiler.so")).status()?.success())
}

/// The side-by-side runner.
const RUNNER: &str = "bench/peers/run.py";
/// The table and the pictures.
const RESULTS: &str = "bench/results";

/// A script of the benchmarks on this build, which is made first; nothing where it does not build.
fn runner(runner: &'static str, python: &str, profile: Profile) -> Result<Option<impl Fn() -> Result<Command>>> {
    let torch = Command::new(python).args(["-c", "import torch"]).output().map_err(|e| format!("{python}: {e}"))?;
    if !torch.status.success() {
        return Err(format!("{python} has no PyTorch; name one that has it with --python").into());
    }
    if !cargo::build(profile)? {
        return Ok(None);
    }
    let (tools, python) = (cargo::tools(profile), python.to_owned());
    let package = package(&tools)?;
    Ok(Some(move || {
        let mut command = Command::new(&python);
        let paths = std::env::var_os("PYTHONPATH");
        let paths = std::iter::once(package.clone()).chain(paths.iter().flat_map(std::env::split_paths));
        command
            .arg(runner)
            .current_dir(cargo::root())
            .env("PYTHONPATH", std::env::join_paths(paths)?)
            .env("STRATA_COMPILER", tools.join("libstrata_compiler.so"))
            .env("STRATA_BENCH", tools.join("libstrata_bench.so"));
        Ok(command)
    }))
}

fn train(names: &[String], optimizer: &str, python: &str, profile: Profile) -> Result<bool> {
    let Some(script) = runner("bench/peers/train.py", python, profile)? else { return Ok(false) };
    let mut script = script()?;
    script.args(names).args(["--optimizer", optimizer]);
    if names.is_empty() {
        script.arg("--table").arg(cargo::root().join(RESULTS).join("train.md"));
    }
    Ok(script.status()?.success())
}

fn ops((seed, count): (u32, u32), filter: &str, nets: bool, python: &str, profile: Profile) -> Result<bool> {
    let Some(script) = runner(RUNNER, python, profile)? else { return Ok(false) };
    let mut script = script()?;
    script.args(["--drawn", &format!("{seed}:{count}"), "--filter", filter, "--peers", "eager,strata,strata_file"]);
    script.args(nets.then_some("--random-nets"));
    if filter.is_empty() {
        let results = cargo::root().join(RESULTS);
        fs::create_dir_all(&results)?;
        let table = results.join(if nets { "nets.md" } else { "ops.md" });
        script.arg("--table").arg(&table).arg("--plot").arg(table.with_extension("svg"));
    }
    Ok(script.status()?.success())
}

fn cpu(workloads: &[String], peers: &str, python: &str, profile: Profile) -> Result<bool> {
    let Some(script) = runner(RUNNER, python, profile)? else { return Ok(false) };
    let tools = cargo::tools(profile);
    let results = cargo::root().join(RESULTS);
    fs::create_dir_all(&results)?;
    let table = results.join("cpu.md");
    let measured = script()?
        .args(workloads)
        .args(["--peers", peers])
        .arg("--table")
        .arg(&table)
        .arg("--plot")
        .arg(results.join("cpu.svg"))
        .status()?;
    if !measured.success() {
        return Ok(false);
    }
    fs::write(&table, format!("# Strata beside its peers\n\n{}", fs::read_to_string(&table)?))?;
    let exported = cargo::target().join("bench/exported");
    let listed = script()?.args(workloads).arg("--export").arg(&exported).output()?;
    let mut plot = Vec::new();
    for model in String::from_utf8_lossy(&listed.stdout).lines().map(Path::new) {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let output = Command::new(tools.join("rs-run")).arg(model).args(["--benchmark", "--roofline=json"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let kernels = text.lines().find_map(|line| line.strip_prefix("roofline "));
        match kernels.map(serde_json::from_str::<Vec<Kernel>>) {
            Some(Ok(kernels)) => plot.push((name, kernels)),
            _ => println!("{name}: its kernels cannot be measured: {}", String::from_utf8_lossy(&output.stderr).trim()),
        }
    }
    fs::write(results.join("kernels.svg"), svg(&plot)?)?;
    println!("written: {RESULTS}/cpu.md, {RESULTS}/cpu.svg, {RESULTS}/kernels.svg");
    Ok(true)
}

/// A folder with the Python package of this build.
fn package(tools: &Path) -> Result<PathBuf> {
    let folder = cargo::target().join("bench/python");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("strata"))?;
    for source in fs::read_dir(cargo::root().join("python/strata"))? {
        let source = source?.path();
        if source.extension().is_some_and(|end| end == "py") {
            fs::copy(&source, folder.join("strata").join(source.file_name().unwrap_or_default()))?;
        }
    }
    fs::copy(tools.join("lib_native.so"), folder.join("strata/_native.abi3.so"))?;
    Ok(folder)
}

/// What `rs-run --roofline=json` says of a kernel.
#[derive(Deserialize)]
struct Kernel {
    name: String,
    /// Microseconds of a launch.
    micros: f64,
    /// Its part of the call, 0 to 1.
    part: f64,
    /// The least time that the machine needs for its bytes or operations, of the time it took; unknown for symbolic sizes.
    share: Option<f64>,
    /// `memory` or `arithmetic`.
    limit: Option<String>,
}

/// Kernels below this part of their call are not drawn.
const DRAWN: f64 = 0.02;

/// A bar for each kernel: how much of what the machine can do it reaches.
fn svg(workloads: &[(String, Vec<Kernel>)]) -> Result<String> {
    let (left, bar, line) = (330.0, 400.0, 18.0);
    let rows: Vec<_> = workloads.iter().flat_map(|(name, kernels)| kernels.iter().map(move |kernel| (name, kernel))).collect();
    let rows: Vec<_> = rows.into_iter().filter(|(_, kernel)| kernel.part >= DRAWN).collect();
    let (width, height) = (left + bar + 190.0, line * (rows.len() as f64 + 2.0));
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    writeln!(page, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>")?;
    writeln!(page, "<text x=\"{left}\" y=\"14\">share of the machine's limit: memory (blue), arithmetic (orange)</text>")?;
    for quarter in 0..=4 {
        let x = left + bar * f64::from(quarter) / 4.0;
        writeln!(page, "<line x1=\"{x}\" y1=\"{line}\" x2=\"{x}\" y2=\"{height}\" stroke=\"#ccc\"/>")?;
    }
    for (at, (workload, kernel)) in rows.iter().enumerate() {
        let y = line * (at as f64 + 1.5);
        writeln!(page, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{workload} {}</text>", left - 8.0, y + 11.0, kernel.name)?;
        let (share, color) = match (&kernel.limit, kernel.share) {
            (Some(limit), Some(share)) => (share, if limit == "memory" { "#4878a8" } else { "#e08030" }),
            _ => (0.0, "none"),
        };
        writeln!(page, "<rect x=\"{left}\" y=\"{y}\" width=\"{:.1}\" height=\"14\" fill=\"{color}\"/>", bar * share.min(1.25))?;
        let share = if color == "none" { "symbolic sizes".to_owned() } else { format!("{:.0}%", 100.0 * share) };
        let label = format!("{share}, {:.1} us", kernel.micros);
        writeln!(page, "<text x=\"{}\" y=\"{}\">{label}</text>", left + bar + 110.0, y + 11.0)?;
    }
    page.push_str("</svg>\n");
    Ok(page)
}
