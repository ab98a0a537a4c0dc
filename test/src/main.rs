//! `rs-lit [OPTIONS] [PATH..]`: runs lit tests; see `docs/src/testing.md`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use strata_test::runner::{Options, run_all};

const USAGE: &str = "usage: rs-lit [OPTIONS] [PATH..]
Runs the lit tests in PATH (default: test/).

  --tools DIR      where rs-opt and the other tools are (default: where rs-lit itself is)
  --filter TEXT    only tests whose name contains the text
  --jobs N, -j N   so many tests at a time (default: one per CPU)
  --limit SECONDS  longest time of a command
  --bless          rewrite the check lines of failing tests
  -v               a line for every test
  --help, -h       this text";

fn main() -> ExitCode {
    if std::env::args().skip(1).any(|arg| matches!(arg.as_str(), "--help" | "-h")) {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("rs-lit: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    match run_all(&options) {
        Ok(summary) => {
            println!(
                "{} passed, {} failed, {} unsupported ({:.1} s)",
                summary.passed,
                summary.failed,
                summary.unsupported,
                start.elapsed().as_secs_f64()
            );
            ExitCode::from(u8::from(summary.failed > 0))
        }
        Err(error) => {
            eprintln!("rs-lit: {error}");
            ExitCode::from(2)
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut options = Options::new(root, exe.parent().unwrap_or(root));
    let mut paths = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--tools" => {
                options.tools = std::path::absolute(value()?).map_err(|error| error.to_string())?;
                options.out = options.tools.join("lit");
            }
            "--filter" => options.filter = Some(value()?),
            "--jobs" | "-j" => options.jobs = value()?.parse().map_err(|error| format!("--jobs: {error}"))?,
            "--limit" => options.limit = Duration::from_secs(value()?.parse().map_err(|error| format!("--limit: {error}"))?),
            "--bless" => options.bless = true,
            "-v" => options.verbose = true,
            flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            path => paths.push(PathBuf::from(path)),
        }
    }
    if !paths.is_empty() {
        options.paths = paths;
    }
    Ok(options)
}
