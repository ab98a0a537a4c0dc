//! `./x test aarch64`: what is compiled for 64-bit Arm computes what PyTorch computed. An emulator of the CPU runs it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde::Deserialize;

use crate::cargo::{self, Profile, Result};
use crate::suite::{self, Count};

/// As Rust names the architecture.
const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// Debian's cross compiler, whose linker Rust uses, and the emulator of single processes.
const PACKAGES: [&str; 3] = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"];
const EMULATOR: [&str; 3] = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];
/// CPUs to compile for, in turns: a small one, and one that also has vectors of any length (SVE), of which the emulator has all features.
const CPUS: [&str; 2] = ["cortex-a72", "a64fx"];

#[derive(Deserialize)]
struct Manifest {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(rename = "pt2", alias = "pt")]
    model: String,
    io: Vec<String>,
    check: String,
}

/// Tests the runtime, then runs our cases and the corpus's seeds and models, or those of both whose names contain the filter.
pub fn test(filter: Option<&str>) -> Result<Count> {
    prepare()?;
    let mut count = match filter {
        None => suite::count(&mut cross(&["test", "--package", "strata-runtime", "--lib", "--no-fail-fast"]))?,
        Some(_) => Count::default(),
    };
    let runner = ["build", "--package", "strata-tools", "--bin", "rs-run"];
    if !cross(&runner).status()?.success() {
        return Err("rs-run cannot be built for this architecture".into());
    }
    let mut cases = Vec::new();
    for (folder, all) in suite::OWN.iter().map(|own| (*own, true)).chain([(suite::CORPUS, false)]) {
        let folder = cargo::root().join(folder);
        let Ok(text) = std::fs::read_to_string(folder.join("manifest.json")) else { continue };
        let manifest: Manifest = serde_json::from_str(&text)?;
        let wanted = |name: &str| match filter {
            Some(filter) => name.contains(filter),
            None => all || name.starts_with("seeds") || name.starts_with("models"),
        };
        cases.extend(manifest.cases.into_iter().filter(|case| wanted(&case.name)).map(|case| (folder.clone(), case)));
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((k, (folder, case))) = Some(next.fetch_add(1, Relaxed)).and_then(|k| Some((k, cases.get(k)?))) {
                    if let Err(error) = run(folder, case, CPUS[k % CPUS.len()]) {
                        failures.lock().expect("no thread panics here").push(format!("FAIL {}: {error}", case.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner()?;
    failures.iter().for_each(|line| println!("{line}"));
    count.passed += cases.len() - failures.len();
    count.failed += failures.len();
    Ok(count)
}

/// Installs what is missing.
fn prepare() -> Result<()> {
    if Command::new(EMULATOR[0]).arg("--version").output().is_err() || Command::new(linker()).arg("--version").output().is_err() {
        println!("installing {}", PACKAGES.join(" "));
        let done = Command::new("apt-get").args(["install", "-y", "-q", "--no-install-recommends"]).args(PACKAGES).output();
        if !done.is_ok_and(|done| done.status.success()) {
            return Err(format!("this part needs the packages {}; install them", PACKAGES.join(", ")).into());
        }
    }
    // Where the standard library is not managed by rustup, the build says what it lacks.
    let _ = Command::new("rustup").args(["target", "add", TRIPLE]).output();
    Ok(())
}

fn linker() -> String {
    TRIPLE.replace("-unknown", "") + "-gcc"
}

/// `cargo ARGS` for the architecture, whose programs the emulator runs.
fn cross(args: &[&str]) -> Command {
    let variable = |end: &str| format!("CARGO_TARGET_{}_{end}", TRIPLE.to_uppercase().replace('-', "_"));
    let mut command = cargo::command(args);
    command.args(["--target", TRIPLE]);
    command.env(variable("LINKER"), linker()).env(variable("RUNNER"), EMULATOR.join(" ")).env(variable("RUSTFLAGS"), "");
    command
}

/// Compiles a case here and runs it there, once for each set of inputs.
fn run(folder: &Path, case: &Case, cpu: &str) -> Result<()> {
    let tools = cargo::tools(Profile::Dev);
    let there = tools.with_file_name(TRIPLE).join("debug/rs-run");
    let out = tools.join("aarch64");
    std::fs::create_dir_all(&out)?;
    let artefact: PathBuf = out.join(format!("{}.strata", case.name));
    let compile = [format!("--cpu={cpu}"), "-o".to_owned(), artefact.display().to_string()];
    succeed(Command::new(tools.join("rs-compile")).arg(folder.join(&case.model)).args(compile))?;
    // Random numbers are not compared, only drawn.
    let option = if case.check == "shape" { "--inputs" } else { "--expect" };
    let ran = case.io.iter().try_for_each(|io| {
        succeed(Command::new(EMULATOR[0]).args(&EMULATOR[1..]).arg(&there).arg(&artefact).arg(option).arg(folder.join(io)))
    });
    std::fs::remove_file(&artefact)?;
    ran
}

/// Runs a tool of ours; what it says when it fails is the error.
fn succeed(command: &mut Command) -> Result<()> {
    let done = command.env("STRATA_CACHE_SIZE", "0").output()?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).trim().into()),
    }
}
