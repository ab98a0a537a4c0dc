//! `./x fuzz archives|models|text|registrations|stablehlo|expectations|artefacts`: files that somebody broke, given to the tools. A tool may accept one or refuse
//! it with a message that names it; it must not crash, abort, hang or take all memory.

mod archives;
mod artefacts;
mod expectations;
mod json;
mod models;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::rng::Rng;

/// The longest that a tool may think about a file.
const PATIENCE: Duration = Duration::from_secs(30);

/// KiB of address space that a tool may use: the libraries and the stacks of threads take about one GiB.
const MEMORY: u64 = 6 << 20;

/// How many wrong files of one kind of fault are kept.
const KEPT: usize = 3;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.pt2` and `.pt`: the zip, its JSON or its text and pickles, its weights.
    Archives,
    /// `.onnx`.
    Models,
    /// `.mlir` of every level.
    Text,
    /// Files of `--operators`.
    Registrations,
    /// `.stablehlo.mlir`.
    Stablehlo,
    /// safetensors files of `rs-run --expect`.
    Expectations,
    /// `.strata`.
    Artefacts,
}

/// How long to look, and where.
#[derive(clap::Args, Clone)]
pub struct Options {
    /// Stop after so many seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Stop after so many files
    #[arg(long)]
    count: Option<u64>,
    /// The first seed; each file has one
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Processes at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// A folder with more files to break
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Print what the tools say
    #[arg(long)]
    verbose: bool,
}

/// A broken file.
struct Broken {
    bytes: Vec<u8>,
    /// How its name ends.
    ending: &'static str,
    /// What is run, in terms of a shell; `%s` is the file.
    command: String,
}

/// Files to break.
trait Corpus: Sync {
    /// One of them, broken as the seed says.
    fn broken(&self, rng: &mut Rng) -> Broken;
}

/// What a tool made of a file.
#[derive(Debug, PartialEq)]
enum Verdict {
    Accepted,
    /// A program that was compiled and does not end.
    Endless,
    Refused,
    /// MLIR's parser crashed, and the tool said so.
    Upstream,
    /// A kind of fault.
    Wrong(String),
}

/// Something that cannot be done at all.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a run has seen.
#[derive(Default)]
struct Seen {
    accepted: u64,
    endless: u64,
    refused: u64,
    upstream: Vec<u64>,
    wrong: BTreeMap<String, Vec<u64>>,
}

/// Breaks files until the time is over; true when no tool did wrong.
pub fn run(kind: Kind, options: &Options) -> Result<bool, Failure> {
    let scratch = std::env::temp_dir().join(format!("strata-fuzz-{kind:?}-{}", std::process::id()).to_lowercase());
    std::fs::create_dir_all(&scratch)?;
    let done = search(kind, options, &scratch);
    // The files that show a fault lie elsewhere.
    let _ = std::fs::remove_dir_all(&scratch);
    done
}

fn search(kind: Kind, options: &Options, scratch: &Path) -> Result<bool, Failure> {
    let folder = options.corpus.as_deref();
    let corpus: Box<dyn Corpus> = match kind {
        Kind::Archives => Box::new(archives::Archives::read(folder)?),
        Kind::Models => Box::new(models::Models::read(folder)?),
        Kind::Text => Box::new(text::Texts::read(folder)?),
        Kind::Registrations => Box::new(text::Texts::registrations(folder)?),
        Kind::Stablehlo => Box::new(text::Texts::stablehlo(folder)?),
        Kind::Expectations => Box::new(expectations::Expectations::read(scratch)?),
        Kind::Artefacts => Box::new(artefacts::Artefacts::read()?),
    };
    let (next, seen, start) = (AtomicU64::new(options.seed), Mutex::new(Seen::default()), Instant::now());
    let lock = || seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = |job: usize| -> Result<(), Failure> {
        let folder = scratch.join(job.to_string());
        std::fs::create_dir_all(&folder)?;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let enough = options.count.is_some_and(|count| seed - options.seed >= count);
            if enough || start.elapsed() >= Duration::from_secs(options.seconds) {
                return Ok(());
            }
            let broken = corpus.broken(&mut Rng::new(seed, kind as u64));
            let file = folder.join(format!("broken.{}", broken.ending));
            std::fs::write(&file, &broken.bytes)?;
            let (verdict, said) = attempt(&broken, &file, &folder)?;
            if options.verbose {
                println!("{seed}: {verdict:?}: {}", one_line(&said));
            }
            let mut seen = lock();
            match verdict {
                Verdict::Accepted => seen.accepted += 1,
                Verdict::Endless => seen.endless += 1,
                Verdict::Refused => seen.refused += 1,
                Verdict::Upstream => seen.upstream.push(seed),
                Verdict::Wrong(fault) => {
                    let seeds = seen.wrong.entry(fault.clone()).or_default();
                    seeds.push(seed);
                    if seeds.len() <= KEPT {
                        let kept = keep(kind, seed, &broken)?;
                        println!(
                            "== {fault}: seed {seed}\n{}\n{}",
                            broken.command.replace("%s", &kept.display().to_string()),
                            one_line(&said)
                        );
                    }
                }
            }
        }
    };
    let done: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.jobs.max(1)).map(|job| scope.spawn(move || work(job))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a thread failed".into()))).collect()
    });
    done.into_iter().collect::<Result<(), _>>()?;
    let seen = lock();
    for (fault, seeds) in &seen.wrong {
        println!("{} wrong, {fault}: seeds {:?}", seeds.len(), &seeds[..seeds.len().min(8)]);
    }
    if !seen.upstream.is_empty() {
        println!("{} crashed MLIR's parser: seeds {:?}", seen.upstream.len(), &seen.upstream[..seen.upstream.len().min(8)]);
    }
    let wrong: usize = seen.wrong.values().map(Vec::len).sum();
    println!(
        "fuzz {}: {} accepted, {} of them without an end, {} refused, {} upstream's, {wrong} wrong in {:.1} s from seed {}",
        format!("{kind:?}").to_lowercase(),
        seen.accepted + seen.endless,
        seen.endless,
        seen.refused,
        seen.upstream.len(),
        start.elapsed().as_secs_f64(),
        options.seed
    );
    Ok(wrong == 0)
}

/// Puts a file where it stays: `target/fuzz`.
fn keep(kind: Kind, seed: u64, broken: &Broken) -> std::io::Result<PathBuf> {
    let folder = root().join("target/fuzz");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{}-{seed}.{}", format!("{kind:?}").to_lowercase(), broken.ending));
    std::fs::write(&file, &broken.bytes)?;
    Ok(file)
}

/// Runs a command on a file, with bounds on time and memory; what it wrote to standard error comes too.
fn attempt(broken: &Broken, file: &Path, folder: &Path) -> Result<(Verdict, String), Failure> {
    let (name, messages, output) = (file.display().to_string(), folder.join("messages"), folder.join("output"));
    let script = format!("ulimit -v {MEMORY}; ulimit -c 0; exec {}", broken.command.replace("%s", &name));
    let tools = std::env::current_exe()?;
    let tools = tools.parent().ok_or("the fuzzer lies in no folder")?;
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder).env("PATH", &path);
        command
    };
    let mut child = shell(&script).stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(&messages)?).spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said = String::from_utf8_lossy(&std::fs::read(&messages)?).into_owned();
    // A program that loops on its data need not end; it is compiled all the same.
    let loops = || shell(&format!("timeout {} rs-opt {name} --to=prim | grep -q scf.while", PATIENCE.as_secs())).status();
    if status.is_none() && broken.command.starts_with("rs-run") && loops()?.success() {
        return Ok((Verdict::Endless, said));
    }
    // Values that are not the expected ones are an answer, and no message.
    let answered = status.is_some_and(|status| status.code() == Some(1)) && std::fs::read(&output)?.starts_with(b"not as expected");
    // A location is shown as text of a program or as a line of messages.
    let lines = said.replace("\":", ":");
    // What registers operators is called by its option, as in `--operators:3:5`, or told of at the program that calls it.
    let tells = |word: &str| word.ends_with(".json") && said.contains(word);
    let of_option = broken.command.contains("--operators=%s") && (said.contains("--operators:") || broken.command.split(' ').any(tells));
    let is_named = said.contains(&name) || of_option || places(&broken.bytes).iter().any(|place| lines.contains(place));
    Ok((if answered { Verdict::Accepted } else { judge(status, &said, is_named) }, said))
}

/// The places of its source that a text names, as messages show them: `layers.py:3` for `loc("layers.py":3:5)`.
fn places(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let place = |(at, _): (usize, &str)| {
        let rest = &text[at + 2..];
        let (line, start) = (number(rest), text[..at].rfind('"')? + 1);
        let is_place = line > 0 && start < at && rest[line..].starts_with(':') && number(&rest[line + 1..]) > 0;
        is_place.then(|| format!("{}:{}", &text[start..at], &rest[..line]))
    };
    text.match_indices("\":").filter_map(place).collect()
}

/// What an end and its messages mean; no status is a hang. A message names the file, or a place that the file names.
fn judge(status: Option<ExitStatus>, said: &str, is_named: bool) -> Verdict {
    const DEFECTS: &[&str] = &["panicked", "failed inside", "please report", "memory allocation of", "LLVM ERROR"];
    let Some(status) = status else { return Verdict::Wrong(format!("hang of more than {} s", PATIENCE.as_secs())) };
    if said.contains("MLIR's parser crashed") {
        return Verdict::Upstream;
    }
    match status.code() {
        Some(0) => Verdict::Accepted,
        Some(126 | 127) => Verdict::Wrong("the tool is not there".into()),
        Some(1..=2) => match DEFECTS.iter().find(|text| said.contains(**text)) {
            Some(text) => Verdict::Wrong(format!("{text} [{}]", fault(said, text))),
            None if is_named => Verdict::Refused,
            None => Verdict::Wrong(format!("a message without the file's name [{}]", fault(said, ""))),
        },
        _ => Verdict::Wrong(format!("crash, {status} [{}]", fault(said, ""))),
    }
}

/// The words of the line that says what is wrong, without numbers and names.
fn fault(said: &str, about: &str) -> String {
    let line = said.lines().find(|line| line.contains(about) && !line.trim().is_empty()).unwrap_or_default();
    let words = line.split(|c: char| !c.is_ascii_alphabetic() && c != '.' && c != '_').filter(|word| word.len() > 2);
    words.filter(|word| !word.contains("tmp") && !word.contains("broken")).take(8).collect::<Vec<_>>().join(" ")
}

fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(4).collect::<Vec<_>>().join(" | ").chars().take(600).collect()
}

/// The folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// All files below a folder whose name ends so, in order.
fn files(folder: &Path, ending: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path, ending)?),
            false if path.extension().is_some_and(|kind| kind == ending) => found.push(path),
            false => {}
        }
    }
    found.sort();
    Ok(found)
}

/// Changes some bytes: one bit, one byte, a piece that is gone, doubled or another's.
fn break_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len());
        let end = (at + 1 + rng.below(40)).min(bytes.len());
        match rng.below(7) {
            _ if bytes.is_empty() => return,
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.pick(&[0, 1, 0x7f, 0x80, 0xff, b'"', b'{', b'9']),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let number = rng.pick(&json::NUMBERS).to_le_bytes();
                let width = rng.pick(&[2, 4, 8]).min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn places_are_those_that_the_text_names() {
        let text =
            br##"%0 = prim.neg %x loc("layers.py":3:5) #l = loc(callsite("f"("a b.py":12:0) at unknown)) {"key": 1, "n":2, "":1:1}"##;
        assert_eq!(Vec::from_iter(places(text)), ["a b.py:12", "layers.py:3"]);
    }
}
