//! `./x test asan`, `./x test tsan`: the runtime's tests in builds that see every wrong access and every race of its own code.
//! `./x fuzz c --seconds 60`: the C interface, and what the runtime reads from files, by libFuzzer under AddressSanitizer.
//!
//! Sanitizers are options of rustc that only nightly toolchains take without being told to; a stable one has their libraries too.

use std::path::Path;
use std::process::Command;

use clap::Parser;

use crate::cargo::{self, Result};
use crate::suite::{self, Count};

/// What libFuzzer needs of a build: a place in the code for each branch and comparison, as `cargo fuzz` asks for.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// The targets, each a file of `runtime/fuzz/src`.
pub const TARGETS: [&str; 4] = ["artefact", "c", "manifest", "safetensors"];

/// `cargo ARGS`, built with a sanitizer, beside other builds.
fn sanitized(args: &[&str], kind: &str, flags: &str) -> Command {
    let target = cargo::root().join("target").join(kind);
    let mut command = cargo::command(args);
    // A target that is named keeps build scripts and macros apart from what is sanitized.
    command.args(["--target", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]).arg("--target-dir").arg(target);
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags);
    command
}

/// The runtime's tests under AddressSanitizer.
pub fn address() -> Result<Count> {
    let args = ["test", "--package", "strata-runtime", "--lib", "--tests", "--no-fail-fast"];
    suite::count(sanitized(&args, "asan", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0"))
}

/// The runtime's tests under ThreadSanitizer. The standard library is built with it: where its locks and joins are not seen, all that
/// they order looks like a race.
pub fn thread() -> Result<Count> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output()?.stdout;
    let source = Path::new(String::from_utf8_lossy(&sysroot).trim()).join("lib/rustlib/src/rust/library");
    if !source.exists() {
        return Err("ThreadSanitizer needs the source of the standard library: `rustup component add rust-src`".into());
    }
    let args = ["test", "-Zbuild-std", "--package", "strata-runtime", "--lib", "--tests", "--no-fail-fast"];
    suite::count(&mut sanitized(&args, "tsan", "-Zsanitizer=thread"))
}

/// How long a target runs, and where its random numbers start.
#[derive(clap::Parser)]
#[command(name = "./x fuzz", about = "libFuzzer on the runtime, under AddressSanitizer.")]
struct Args {
    /// What is fuzzed
    #[arg(value_parser = TARGETS)]
    target: String,
    /// The time box
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed; 0 is a new one each time
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Runs a target of libFuzzer for a time; false where it finds something.
pub fn fuzz(args: &[String]) -> Result<bool> {
    let args = std::iter::once("./x fuzz").chain(args.iter().map(String::as_str));
    let Args { target, seconds, seed } = Args::try_parse_from(args).map_err(|error| error.to_string())?;
    let manifest = cargo::root().join("runtime/fuzz/Cargo.toml");
    let corpus = cargo::root().join("target/fuzz").join(&target);
    std::fs::create_dir_all(&corpus)?;
    let args = ["run", "--release", "--quiet", "--bin", &target];
    let mut command = sanitized(&args, "fuzz/build", &format!("-Zsanitizer=address -Ccodegen-units=1 {COVERAGE}"));
    command.arg("--manifest-path").arg(manifest).arg("--");
    let artifacts = format!("-artifact_prefix={}/found-", corpus.display());
    command.args([format!("-max_total_time={seconds}"), format!("-seed={seed}"), artifacts]);
    // A single input that takes longer is a hang; memory beyond the bound is an error of the runtime, not of the process.
    command.args(["-timeout=30", "-rss_limit_mb=4096", "-print_final_stats=1"]).arg(&corpus);
    command.env("STRATA_MEMORY_LIMIT", "1G").env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
    Ok(command.status()?.success())
}
