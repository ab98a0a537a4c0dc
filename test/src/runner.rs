//! Finds the tests, runs them on all cores and reports each failure with the command that failed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::process::{Place, run, substitute};
use crate::script::{self, Script};

/// What to run and how.
#[derive(Clone)]
pub struct Options {
    /// Files or folders; folders are searched.
    pub paths: Vec<PathBuf>,
    /// The folder that test names are relative to.
    pub root: PathBuf,
    /// Where `rs-opt` and the other built tools are.
    pub tools: PathBuf,
    /// Where LLVM's `FileCheck`, `not` and `mlir-opt` are.
    pub llvm: PathBuf,
    /// Where the tests may write.
    pub out: PathBuf,
    /// Run only tests whose name contains this text.
    pub filter: Option<String>,
    /// Tests at a time.
    pub jobs: usize,
    /// Limit for each command.
    pub limit: Duration,
    /// Print a line for every test.
    pub verbose: bool,
    /// Rewrite the check lines of failing tests instead of failing.
    pub bless: bool,
}

/// How a whole run ended.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Tests that did what they should, expected failures among them.
    pub passed: usize,
    /// Tests that did not.
    pub failed: usize,
    /// Tests whose features this machine lacks.
    pub unsupported: usize,
}

enum Verdict {
    Pass,
    Unsupported(String),
    Fail(String),
}

/// Folders that hold no tests.
const SKIPPED: [&str; 3] = ["src", "models", "Inputs"];

impl Options {
    /// The usual settings for the tests under `root` with tools in `tools`.
    pub fn new(root: &Path, tools: &Path) -> Options {
        let llvm = std::env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
        Options {
            paths: vec![root.to_path_buf()],
            root: root.to_path_buf(),
            tools: tools.to_path_buf(),
            llvm: llvm.join("bin"),
            out: tools.join("lit"),
            filter: None,
            jobs: thread::available_parallelism().map_or(1, usize::from),
            limit: Duration::from_secs(30),
            verbose: false,
            bless: false,
        }
    }
}

/// Runs the tests and prints the failures and a last line; errors are those of the runner's own files.
pub fn run_all(options: &Options) -> io::Result<Summary> {
    let mut tests = Vec::new();
    for path in &options.paths {
        find(path, &mut tests)?;
    }
    tests.sort();
    tests.retain(|test| options.filter.as_ref().is_none_or(|text| name(test, options).contains(text.as_str())));
    let path = search_path(options)?;
    let features = features();
    let (next, summary, times) = (AtomicUsize::new(0), Mutex::new(Summary::default()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, tests.len().max(1)) {
            scope.spawn(|| {
                while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let verdict = run_test(test, options, &path, &features);
                    let elapsed = start.elapsed();
                    report(&name(test, options), &verdict, elapsed, options, &mut summary.lock().expect("no holder panics"));
                    times.lock().expect("no holder panics").push((elapsed, name(test, options)));
                }
            });
        }
    });
    let mut times = times.into_inner().expect("no holder panics");
    times.sort_by(|a, b| b.cmp(a));
    let slow: Vec<_> = times
        .iter()
        .filter(|(time, _)| time.as_secs_f64() > 0.5)
        .take(5)
        .map(|(time, name)| format!("{name} {:.1} s", time.as_secs_f64()))
        .collect();
    if !slow.is_empty() {
        println!("slowest: {}", slow.join(", "));
    }
    Ok(summary.into_inner().expect("no holder panics"))
}

/// Test files below `path`: `.mlir` and `.test`.
fn find(path: &Path, tests: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        tests.push(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if path.is_dir() {
            if !SKIPPED.contains(&file) {
                find(&path, tests)?;
            }
        } else if file.ends_with(".mlir") || file.ends_with(".test") {
            tests.push(path);
        }
    }
    Ok(())
}

fn name(test: &Path, options: &Options) -> String {
    test.strip_prefix(&options.root).unwrap_or(test).display().to_string()
}

/// What this machine has, for `REQUIRES` and `XFAIL`; a name outside of [`KNOWN`] is an error of the test.
fn features() -> BTreeSet<String> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags: BTreeSet<&str> = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or("").split_whitespace().collect();
    let mut found: BTreeSet<String> =
        KNOWN.iter().filter(|name| flags.contains(**name) || **name == std::env::consts::ARCH).map(|name| name.to_string()).collect();
    if Path::new("/proc/driver/nvidia/version").exists() {
        found.insert("cuda".into());
    }
    found.insert("*".into());
    found
}

/// The features a test may name.
const KNOWN: [&str; 6] = ["*", "x86_64", "aarch64", "avx2", "avx512f", "cuda"];

/// PATH for the commands: a folder with `FileCheck` as ours, the built tools and examples, LLVM's tools, the caller's PATH.
fn search_path(options: &Options) -> io::Result<OsString> {
    let bin = options.out.join("bin");
    let _ = fs::remove_dir_all(&bin);
    fs::create_dir_all(&bin)?;
    let ours = options.tools.join("rs-filecheck");
    let command = match (ours.exists(), options.bless) {
        (true, true) => format!("{} --bless", ours.display()),
        (true, false) => ours.display().to_string(),
        (false, _) => options.llvm.join("FileCheck").display().to_string(),
    };
    for name in ["FileCheck", "rs-filecheck"] {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\nexec {command} \"$@\"\n"))?;
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    let mut parts = vec![bin, options.tools.clone(), options.tools.join("examples"), options.llvm.clone()];
    parts.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    std::env::join_paths(parts).map_err(io::Error::other)
}

fn run_test(test: &Path, options: &Options, path: &std::ffi::OsStr, features: &BTreeSet<String>) -> Verdict {
    let text = match fs::read_to_string(test) {
        Ok(text) => text,
        Err(error) => return Verdict::Fail(format!("  cannot be read: {error}\n")),
    };
    let script = match script::parse(&text) {
        Ok(script) => script,
        Err(faults) => {
            return Verdict::Fail(
                faults.iter().map(|fault| format!("  {}:{}: {}\n", name(test, options), fault.line, fault.message)).collect(),
            );
        }
    };
    if let Some(unknown) = script.requires.iter().chain(&script.xfail).find(|feature| !KNOWN.contains(&feature.as_str())) {
        return Verdict::Fail(format!("  unknown feature `{unknown}`; known are {}\n", KNOWN.join(", ")));
    }
    if let Some(missing) = script.requires.iter().find(|feature| !features.contains(*feature)) {
        return Verdict::Unsupported(missing.clone());
    }
    let failure = run_script(&script, test, options, path);
    let expected = script.xfail.iter().any(|feature| features.contains(feature));
    match (failure, expected) {
        (None, false) | (Some(_), true) => Verdict::Pass,
        (Some(text), false) => Verdict::Fail(text),
        (None, true) => Verdict::Fail("  passes, though XFAIL says that it fails: take the XFAIL line out\n".into()),
    }
}

/// Runs the commands in order; the text of the first failure.
fn run_script(script: &Script, test: &Path, options: &Options, path: &std::ffi::OsStr) -> Option<String> {
    let place = Place {
        source: fs::canonicalize(test).unwrap_or_else(|_| test.to_path_buf()),
        temp: options.out.join(name(test, options).trim_start_matches('/')),
    };
    let _ = fs::remove_dir_all(&place.temp);
    if let Err(error) = fs::create_dir_all(&place.temp) {
        return Some(format!("  cannot make {}: {error}\n", place.temp.display()));
    }
    for run_line in &script.runs {
        let command = substitute(&run_line.command, &place);
        let outcome = run(&command, &place, path, options.limit);
        if let Some(failure) = outcome.failure {
            return Some(format!("  line {}: {}\n  {failure}\n{}", run_line.line, command, indent(&outcome.output)));
        }
        if options.bless {
            print!("{}", outcome.output);
        }
    }
    None
}

/// The first and last lines of a command's output; the middle of a long one is left out.
fn indent(output: &str) -> String {
    const SHOWN: usize = 60;
    let lines: Vec<&str> = output.lines().collect();
    let cut = lines.len().saturating_sub(SHOWN);
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index == SHOWN / 2 && cut > 0 {
            text.push_str(&format!("  | ... {cut} lines left out ...\n"));
        }
        if index < SHOWN / 2 || index >= SHOWN / 2 + cut {
            text.push_str(&format!("  | {line}\n"));
        }
    }
    text
}

fn report(name: &str, verdict: &Verdict, elapsed: Duration, options: &Options, summary: &mut Summary) {
    let time = elapsed.as_secs_f64();
    match verdict {
        Verdict::Pass => summary.passed += 1,
        Verdict::Unsupported(_) => summary.unsupported += 1,
        Verdict::Fail(_) => summary.failed += 1,
    }
    match verdict {
        Verdict::Fail(text) => println!("FAIL {name} ({time:.2} s)\n{text}"),
        Verdict::Pass if options.verbose => println!("pass {name} ({time:.2} s)"),
        Verdict::Unsupported(feature) if options.verbose => println!("skip {name}: needs {feature}"),
        _ => {}
    }
}
