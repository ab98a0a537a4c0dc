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
    /// Beside PyTorch, Inductor, onnxruntime and others: writes bench/results/cpu.md and cpu.svg
    Cpu {
        /// Workloads or patterns, as the runner lists them
        #[arg(default_value = "w1_30_fix,w2_*,w3_*,w8_*")]
        workloads: String,
        /// Peers, comma-separated; those that are not installed say so in the table
        #[arg(long, default_value = "eager,inductor,jax,ort,openvino,iree")]
        peers: String,
        /// Strata's modes, comma-separated
        #[arg(long, value_delimiter = ',', default_value = "default,reduce-overhead,max-autotune")]
        modes: Vec<String>,
        /// A Python that has PyTorch and the peers
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
    if let Some(Which::Cpu { workloads, peers, modes, python, dev }) = &args.which {
        return cpu(workloads, (peers, modes), python, if *dev { Profile::Dev } else { Profile::Release });
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

/// The side-by-side runner, beside the repository.
const RUNNER: &str = "../shared/bench";
/// Where it is copied to, since it keeps its measurements of the machine beside itself.
const COPY: &str = "target/bench/runner";
/// The table and the plot.
const RESULTS: &str = "bench/results";

fn cpu(workloads: &str, (peers, modes): (&str, &[String]), python: &str, profile: Profile) -> Result<bool> {
    if !Path::new(RUNNER).exists() {
        return Err(format!("{RUNNER} is not there; the runner that measures all peers lies beside the repository").into());
    }
    let torch = Command::new(python).args(["-c", "import torch"]).output().map_err(|e| format!("{python}: {e}"))?;
    if !torch.status.success() {
        return Err(format!("{python} has no PyTorch; name one that has it with --python, as in {RUNNER}/README.md").into());
    }
    if !cargo::build(profile)? {
        return Ok(false);
    }
    fs::create_dir_all("target/bench")?;
    if !Command::new("cp").args(["-r", "--no-target-directory", RUNNER, COPY]).status()?.success() {
        return Err(format!("{RUNNER} cannot be copied to {COPY}").into());
    }
    let tools = cargo::tools(profile);
    let script = |name: &str| {
        let mut command = Command::new(python);
        command
            .arg(format!("../runner/{name}"))
            .current_dir("target/bench/out")
            .env("STRATA_COMPILER", tools.join("libstrata_compiler.so"));
        command
    };
    let _ = fs::remove_dir_all("target/bench/out");
    fs::create_dir_all("target/bench/out")?;
    fs::create_dir_all(RESULTS)?;
    if !Path::new(COPY).join("limits.json").exists() {
        script("limits.py").status()?;
    }
    let ours = modes.iter().map(|mode| ours(&tools, mode)).collect::<Result<Vec<_>>>()?;
    let specs: Vec<_> = ours.iter().map(|(label, library)| format!("{label}=cabi:{}", library.display())).collect();
    let peers = std::iter::once(peers).chain(specs.iter().map(String::as_str)).collect::<Vec<_>>().join(",");
    if !script("peers.py").args(["--workload", workloads, "--peer", &peers, "--json", "cpu.json"]).status()?.success() {
        return Ok(false);
    }
    let table = script("report.py").arg("cpu.json").output()?;
    let mut table = String::from_utf8_lossy(&table.stdout).into_owned();
    for (spec, (label, _)) in specs.iter().zip(&ours) {
        table = table.replace(spec, label);
    }
    fs::write(format!("{RESULTS}/cpu.md"), format!("# Strata beside its peers\n\n{table}"))?;
    let listed = script("peers.py").args(["--workload", workloads, "--list"]).output()?;
    let mut plot = Vec::new();
    for name in String::from_utf8_lossy(&listed.stdout).lines().filter_map(|line| line.split_whitespace().next()) {
        script("peers.py").args(["--workload", name, "--bundle", name]).output()?;
        let model = format!("target/bench/out/{name}/bundle/model.pt2");
        let told = Command::new(tools.join("rs-run")).args([model.as_str(), "--benchmark", "--roofline=json"]).output()?;
        let text = String::from_utf8_lossy(&told.stdout);
        let kernels = text.lines().find_map(|line| line.strip_prefix("roofline "));
        match kernels.map(serde_json::from_str::<Vec<Kernel>>) {
            Some(Ok(kernels)) => plot.push((name.to_owned(), kernels)),
            _ => println!("{name}: its kernels cannot be measured: {}", String::from_utf8_lossy(&told.stderr).trim()),
        }
    }
    fs::write(format!("{RESULTS}/cpu.svg"), svg(&plot)?)?;
    println!("written: {RESULTS}/cpu.md, {RESULTS}/cpu.svg");
    Ok(true)
}

/// What Strata is called in a mode, and the library that is it: a copy whose name says the mode.
fn ours(tools: &Path, mode: &str) -> Result<(String, PathBuf)> {
    let library = tools.join("libstrata_bench.so");
    if mode == "default" {
        return Ok(("strata".to_owned(), library));
    }
    let copy = tools.join(format!("libstrata_bench-{mode}.so"));
    fs::copy(&library, &copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    Ok((format!("strata-{mode}"), copy))
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
