//! `./x test`, `./x bless` and `./x run`: the parts of the test suite, their times and the one last line.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use strata_test::runner::{self, Options};

use crate::cargo::{self, Profile, Result};
use crate::{aarch64, assembler, docs, examples, made_cases, python, sanitize, scaffold, tidy};

/// What `./x test` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Only these parts; all without any
    parts: Vec<Part>,
    /// Only lit tests and conformance cases whose name contains this text
    #[arg(long)]
    filter: Option<String>,
    /// Print a line for every lit test
    #[arg(long, short)]
    verbose: bool,
}

/// A part of the suite.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// The rules of the tree
    Tidy,
    /// Unit tests of every crate
    Unit,
    /// The code in doc comments
    Doc,
    /// The files of `test/`
    Lit,
    /// Programs exported from PyTorch, on each back end
    Conformance,
    /// The node tests of the `onnx` package; only where it is named
    Onnx,
    /// JAX's tests of its primitives as StableHLO, which take ten minutes to make; only where it is named
    Stablehlo,
    /// The runtime's tests and programs exported from PyTorch, compiled for Arm and run by an emulator; only where it is named
    Aarch64,
    /// The runtime's tests under AddressSanitizer; only where it is named
    Asan,
    /// The runtime's tests under ThreadSanitizer; only where it is named
    Tsan,
    /// A crate by `./x new-crate`, which builds Strata once more, with the features that it needs; only where it is named
    NewCrate,
    /// The Python package in a virtual environment with PyTorch; left out with a message where PyPI is out of reach
    Python,
    /// Broken files of every kind, given to the tools for a minute
    Fuzz,
    /// The generated pages and the links of the book
    Docs,
}

/// How many tests did what they should.
#[derive(Default, Clone, Copy)]
pub struct Count {
    pub passed: usize,
    pub failed: usize,
}

impl Count {
    /// A part that is one check.
    fn one(good: bool) -> Count {
        Count { passed: usize::from(good), failed: usize::from(!good) }
    }
}

/// The cases of ours, beside the scripts that make them.
pub const OWN: &[&str] = &["test/conformance/own", "test/conformance/torchscript", "test/conformance/onnx", "test/conformance/stablehlo"];
/// The conformance corpus, beside the repository.
pub const CORPUS: &str = "../shared/conformance";

/// Runs the parts and prints the table and the last line.
pub fn test(args: &Args) -> Result<bool> {
    let wanted = |part: Part| args.parts.is_empty() || args.parts.contains(&part);
    let mut rows: Vec<(String, Count, Duration)> = Vec::new();
    let mut part = |name: &str, work: &mut dyn FnMut() -> Result<Count>| {
        println!("== {name}");
        let start = Instant::now();
        let count = work().unwrap_or_else(|error| {
            println!("{name}: {error}");
            Count::one(false)
        });
        rows.push((name.into(), count, start.elapsed()));
        count.failed == 0
    };
    if wanted(Part::Tidy) {
        part("tidy", &mut tidy);
    }
    let built = part("build", &mut || match cargo::build(Profile::Dev)? {
        true => Ok(Count::default()),
        false => Err("the build failed".into()),
    });
    if built {
        if wanted(Part::Unit) {
            part("unit", &mut unit);
        }
        if wanted(Part::Doc) {
            part("doc", &mut || cargo_test(&["test", "--workspace", "--doc", "--no-fail-fast"], None));
        }
        if wanted(Part::Lit) {
            part("lit", &mut || lit(args.filter.clone(), args.verbose, false));
        }
        if wanted(Part::Conformance) {
            for backend in ["cpu", "interp"] {
                part(&format!("conformance {backend}"), &mut || conformance(backend, args.filter.as_deref(), None));
                part(&format!("own cases {backend}"), &mut || own_cases(backend, args.filter.as_deref()));
            }
            part("conformance cuda-emulated", &mut || conformance("cuda-emulated", args.filter.as_deref(), None));
            part("without each pass", &mut || without_each_pass(args.filter.as_deref()));
        }
        if wanted(Part::Python) {
            part("python", &mut python::test);
        }
        if wanted(Part::Fuzz) {
            part("fuzz", &mut fuzz);
        }
        if args.parts.contains(&Part::Onnx) {
            part("onnx", &mut || made_cases::ONNX.test(args.filter.as_deref()));
        }
        if args.parts.contains(&Part::Stablehlo) {
            part("stablehlo", &mut || made_cases::STABLEHLO.test(args.filter.as_deref()));
        }
        if args.parts.contains(&Part::Aarch64) {
            part("aarch64", &mut || aarch64::test(args.filter.as_deref()));
        }
        if args.parts.contains(&Part::NewCrate) {
            part("new-crate", &mut || Ok(Count::one(scaffold::test_new_crate()?)));
        }
        if args.parts.contains(&Part::Asan) {
            part("asan", &mut sanitize::address);
        }
        if args.parts.contains(&Part::Tsan) {
            part("tsan", &mut sanitize::thread);
        }
        if wanted(Part::Docs) {
            part("docs", &mut pages);
        }
    }
    Ok(summary(&rows))
}

fn summary(rows: &[(String, Count, Duration)]) -> bool {
    println!("\n{:<20} {:>8} {:>8} {:>8}", "part", "seconds", "passed", "failed");
    let mut sum = Count::default();
    for (name, count, time) in rows {
        println!("{name:<20} {:>8.1} {:>8} {:>8}", time.as_secs_f64(), count.passed, count.failed);
        sum.passed += count.passed;
        sum.failed += count.failed;
    }
    println!("{} passed, {} failed", sum.passed, sum.failed);
    sum.failed == 0
}

fn tidy() -> Result<Count> {
    let faults = tidy::check()?;
    tidy::report(&faults);
    Ok(Count::one(faults.is_empty()))
}

/// Links of the book, and the examples in the documentation of passes.
fn pages() -> Result<Count> {
    let links = docs::check()?;
    let (good, faults) = examples::check()?;
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(Count { passed: good + usize::from(links == 0), failed: faults.len() + links })
}

fn unit() -> Result<Count> {
    let mut args = vec!["test", "--workspace", "--lib", "--no-fail-fast"];
    let integration = std::fs::read_dir(cargo::root())?
        .flatten()
        .any(|folder| folder.path().join("Cargo.toml").exists() && folder.path().join("tests").is_dir());
    if integration {
        args.extend(["--test", "*"]);
    }
    cargo_test(&args, assembler::ptxas())
}

/// Runs `cargo test`, adds up its result lines and shows its output when something failed.
fn cargo_test(args: &[&str], ptxas: Option<OsString>) -> Result<Count> {
    count(cargo::command(args).envs(ptxas.map(|path| (assembler::VARIABLE, path))))
}

/// The result lines of a `cargo test`.
pub fn count(command: &mut Command) -> Result<Count> {
    let done = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&done.stdout);
    let mut count = Count::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        count.passed += number_before(line, "passed");
        count.failed += number_before(line, "failed");
    }
    if !done.status.success() {
        print!("{text}");
        count.failed = count.failed.max(1);
    }
    Ok(count)
}

/// The number that stands before `word`, as in `12 passed`.
pub fn number_before(line: &str, word: &str) -> usize {
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

fn lit(filter: Option<String>, verbose: bool, bless: bool) -> Result<Count> {
    let options = Options { filter, verbose, bless, ..Options::new(&cargo::root().join("test"), &cargo::tools(Profile::Dev)) };
    let summary = runner::run_all(&options)?;
    if summary.unsupported > 0 {
        println!("{} tests need what this machine lacks", summary.unsupported);
    }
    Ok(Count { passed: summary.passed, failed: summary.failed })
}

/// Broken files of every kind, for a quarter of a minute each.
fn fuzz() -> Result<Count> {
    let mut count = Count::default();
    for kind in ["archives", "models", "text", "registrations", "stablehlo", "expectations", "artefacts"] {
        let command = Command::new(cargo::tools(Profile::Dev).join("strata-fuzz")).args([kind, "--seconds", "15"]).status()?;
        count.passed += usize::from(command.success());
        count.failed += usize::from(!command.success());
    }
    Ok(count)
}

/// Runs the cases of ours on one back end.
fn own_cases(backend: &str, filter: Option<&str>) -> Result<Count> {
    let mut all = Count::default();
    for folder in OWN {
        let count = own_folder(folder, backend, filter)?;
        all = Count { passed: all.passed + count.passed, failed: all.failed + count.failed };
    }
    Ok(all)
}

fn own_folder(folder: &str, backend: &str, filter: Option<&str>) -> Result<Count> {
    let mut command = Command::new(cargo::tools(Profile::Dev).join("rs-run"));
    command.arg("--suite").arg(cargo::root().join(folder)).arg(format!("--backend={backend}"));
    command.args(filter.map(|filter| format!("--filter={filter}")));
    let done = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&done.stdout);
    print!("{text}");
    let last = text.lines().rev().find(|line| line.contains(" passed, ")).ok_or("rs-run printed no line `N passed, M failed`")?;
    Ok(Count { passed: number_before(last, "passed"), failed: number_before(last, "failed") })
}

/// Runs the corpus on one back end, or without a pass and with a cache in a folder; without the corpus, says so.
fn conformance(backend: &str, filter: Option<&str>, without: Option<(&str, &Path)>) -> Result<Count> {
    let corpus = cargo::root().join(CORPUS);
    if !corpus.exists() {
        println!("{CORPUS} is not there: nothing is checked");
        return Ok(Count::default());
    }
    let mut command = Command::new(cargo::tools(Profile::Dev).join("rs-run"));
    command.arg("--suite").arg(&corpus).args(["--filter", filter.unwrap_or("^(seeds|models)"), &format!("--backend={backend}")]);
    if let Some((pass, cache)) = without {
        command.args(["--cached", &format!("--skip={pass}")]).env("STRATA_CACHE_DIR", cache);
    }
    let done = command.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&done.stdout);
    match without {
        None => print!("{text}"),
        Some((pass, _)) => println!("without {pass}: {}", text.lines().last().unwrap_or_default()),
    }
    let last = text.lines().rev().find(|line| line.contains(" passed, ")).ok_or("rs-run printed no line `N passed, M failed`")?;
    let failing = text.lines().filter_map(|line| line.strip_prefix("FAIL ")?.split(':').next()).map(str::to_string).collect();
    let (passed, failed) = (number_before(last, "passed"), number_before(last, "failed"));
    let gaps = gaps(&std::fs::read_to_string(cargo::root().join(GAPS)).unwrap_or_default(), backend);
    let surprises = surprises(&failing, &gaps, filter.is_none());
    surprises.iter().for_each(|text| println!("{text}"));
    let known = failing.intersection(&gaps).count();
    if known > 0 {
        println!("{known} failures are known gaps, listed in {GAPS}");
    }
    // A failure without a line of its own still counts.
    Ok(Count { passed, failed: surprises.len().max(failed.saturating_sub(known)) })
}

/// No optimisation is needed for right results: the corpus passes with any one of them left out. Kernels that come out the same are compiled
/// once.
fn without_each_pass(filter: Option<&str>) -> Result<Count> {
    if !cargo::root().join(CORPUS).exists() {
        return Ok(Count::default());
    }
    let passes = optional_passes(&std::fs::read_to_string(cargo::root().join(PIPELINES))?);
    if passes.is_empty() {
        return Err(format!("{PIPELINES} lists no optional pass").into());
    }
    let cache = tempfile::tempdir()?;
    let mut count = Count::default();
    for pass in passes {
        let good = conformance("cpu", filter, Some((&pass, cache.path())))?.failed == 0;
        count.passed += usize::from(good);
        count.failed += usize::from(!good);
    }
    Ok(count)
}

/// The page of the book with the passes of each pipeline; `./x docs` checks that it is what the program says.
const PIPELINES: &str = "docs/src/reference/pipelines.md";

/// The flags of passes on the way to the CPU whose row on the page says that they are optional.
fn optional_passes(page: &str) -> BTreeSet<String> {
    let sections = page.split("\n## ").filter(|section| !DEVICE.iter().any(|level| section.starts_with(level)));
    let rows = sections.flat_map(str::lines).filter(|line| line.ends_with("| optional |"));
    rows.filter_map(|row| row.split(['`', '{']).nth(1)).map(str::to_owned).collect()
}

/// How pipelines begin that lead to a CUDA device alone.
const DEVICE: &[&str] = &["strata-to-cuda", "strata-to-gpu", "strata-to-nvvm"];

/// Cases that are known to fail, one `back end <tab> case <tab> reason` per line.
const GAPS: &str = "test/known_gaps.tsv";

/// The cases of the table for one back end.
fn gaps(table: &str, backend: &str) -> BTreeSet<String> {
    let rows = table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row.len() == 3 && row[0] == backend).map(|row| row[1].to_string()).collect()
}

/// What differs from the table: failures that it lacks, and (when all cases ran) lines that are not true any more.
fn surprises(failing: &BTreeSet<String>, gaps: &BTreeSet<String>, all: bool) -> Vec<String> {
    let new = failing.difference(gaps).map(|name| format!("{name} fails and is no known gap"));
    let closed = gaps.difference(failing).filter(|_| all).map(|name| format!("{name} passes: take its line out of {GAPS}"));
    new.chain(closed).collect()
}

/// Rewrites what the tests expect.
pub fn bless(filter: Option<String>) -> Result<bool> {
    if !cargo::build(Profile::Dev)? {
        return Ok(false);
    }
    if filter.is_none() {
        cargo::command(&["test", "--workspace", "--lib", "--quiet"]).env("UPDATE_EXPECT", "1").status()?;
    }
    Ok(lit(filter, false, true)?.failed == 0)
}

/// The main job on one model or on those of the repository.
pub fn run_models(model: Option<PathBuf>, profile: Profile, args: &[String]) -> Result<bool> {
    if !cargo::build(profile)? {
        return Ok(false);
    }
    let models = match model {
        Some(model) => vec![std::env::var_os("X_FROM").map_or(model.clone(), |from| PathBuf::from(from).join(model))],
        None => models(&cargo::root().join("test/models"))?,
    };
    let mut good = true;
    for model in models {
        let expected = model.with_extension("safetensors");
        let mut command = Command::new(cargo::tools(profile).join("rs-run"));
        command.arg("--report").arg(&model).args(args);
        if expected.exists() {
            command.arg("--expect").arg(&expected);
        }
        good &= command.status()?.success();
    }
    Ok(good)
}

/// The `.pt2` files of a folder, in order of size, so that the smallest tells its story first.
fn models(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|end| end == "pt2") {
            found.push((entry.metadata()?.len(), entry.path()));
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!("no .pt2 file in {}", folder.display()).into());
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_passes_are_read_off_the_page() {
        let page = "| [`fold-scales{numerics=ulp}`](passes.md#--fold-scales) | each function | optional |\n| `cse` of MLIR | the module | optional |\n| [`loop-to-host`](passes.md) | the module | |\n";
        let device = format!("{page}\n## strata-to-gpu\n\n| [`split-scans`](passes.md) | each function | optional |\n");
        assert_eq!(optional_passes(&device).into_iter().collect::<Vec<_>>(), ["cse", "fold-scales"]);
    }

    #[test]
    fn holds_the_table_of_gaps_to_the_truth() {
        let gaps = gaps("# comment\ncpu\ta\tno sort\ncpu\tb\tno fft\ninterp\tc\tx\n", "cpu");
        let failing = ["b", "d"].map(String::from).into();
        assert_eq!(surprises(&failing, &gaps, true), ["d fails and is no known gap", "a passes: take its line out of test/known_gaps.tsv"]);
        assert_eq!(surprises(&failing, &gaps, false).len(), 1);
    }

    #[test]
    fn reads_result_lines() {
        assert_eq!(number_before("ok. 12 passed; 3 failed; 0 ignored", "failed"), 3);
        assert_eq!(number_before("70 passed, 10 failed, 2 skipped", "passed"), 70);
        assert_eq!(number_before("nothing", "passed"), 0);
    }
}
