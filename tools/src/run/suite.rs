//! `rs-run --suite`: feeds the cases of a folder to worker processes, so that a crash or a hang costs one case.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use regex::Regex;
use strata_tools::compiler;

use super::backend::Backend;
use super::case::{Case, Manifest};
use super::report::Report;
use super::worker::{Answer, Failure, Kind, Task};

/// Cases after which a worker makes room for a fresh one, so that nothing a compiler keeps grows without end.
const CASES_PER_WORKER: usize = 400;
/// Lines of a worker's error output that are kept to explain its end.
const LAST_LINES: usize = 8;

/// What to run and how.
pub struct Options {
    /// The conformance folder.
    pub folder: PathBuf,
    /// Who computes.
    pub backend: Backend,
    /// Names or groups to run; all if `None`.
    pub filter: Option<Regex>,
    /// Worker processes.
    pub jobs: usize,
    /// Where outputs are written, if anywhere.
    pub dump: Option<PathBuf>,
    /// Where the table of operators and element types is written, if anywhere.
    pub coverage: Option<PathBuf>,
    /// Longest time for a case.
    pub time_limit: Duration,
    /// The compiler's options as JSON.
    pub compiler: String,
    /// Whether the cache is used.
    pub cached: bool,
}

/// Runs the suite and prints the report; true if nothing failed.
pub fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    let mut cases = Manifest::read(&options.folder)?.cases;
    if let Some(filter) = &options.filter {
        cases.retain(|case| filter.is_match(&case.name) || filter.is_match(&case.group));
    }
    // Without a compiler no case can run: say so once.
    compiler::open()?;
    if let Some(folder) = &options.dump {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let (next, (sender, results)) = (AtomicUsize::new(0), mpsc::channel());
    let mut report = Report::default();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, cases.len().max(1)) {
            let (sender, next, cases) = (sender.clone(), &next, &cases);
            scope.spawn(move || {
                let mut worker = None;
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(k) else { return };
                    if sender.send((k, run_case(&mut worker, case, options))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        in_order(&results, |k, answer| report.add(&cases[k], answer));
    });
    report.print();
    if let Some(path) = &options.coverage {
        std::fs::write(path, report.coverage()).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(report.failed() == 0)
}

/// Hands results on in the order of the cases, each as soon as all before it are there.
fn in_order(results: &Receiver<(usize, Answer)>, mut take: impl FnMut(usize, Answer)) {
    let (mut early, mut turn) = (BTreeMap::new(), 0);
    for (k, answer) in results {
        early.insert(k, answer);
        while let Some(answer) = early.remove(&turn) {
            take(turn, answer);
            turn += 1;
        }
    }
}

/// Runs one case in the worker, starting one if there is none.
fn run_case(slot: &mut Option<Worker>, case: &Case, options: &Options) -> Answer {
    if slot.as_ref().is_some_and(|worker| worker.cases >= CASES_PER_WORKER) {
        *slot = None;
    }
    let failed = |kind, reason| Answer { failure: Some(Failure { kind, reason }), ..Answer::default() };
    let worker = match slot.take() {
        Some(worker) => Ok(worker),
        None => Worker::start(options.backend),
    };
    let mut worker = match worker {
        Ok(worker) => worker,
        Err(e) => return failed(Kind::Crash, format!("no worker process: {e}")),
    };
    let Options { folder, dump, compiler, cached, .. } = options;
    let task = Task { case: case.clone(), folder: folder.clone(), dump: dump.clone(), options: compiler.clone(), cached: *cached };
    match worker.ask(&task, options.time_limit) {
        Ok(mut answer) => {
            if answer.compiled.len() > 1 && answer.failure.is_none() {
                let reason = format!("{} compilations for one program", answer.compiled.len());
                answer.failure = Some(Failure { kind: Kind::Recompiled, reason });
            }
            *slot = Some(worker);
            answer
        }
        Err(Lost::TimeLimit) => failed(Kind::TimeLimit, format!("no result after {} s", options.time_limit.as_secs_f64())),
        Err(Lost::Died) => failed(Kind::Crash, worker.last_words()),
    }
}

/// A worker process.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: Arc<Mutex<VecDeque<String>>>,
    cases: usize,
}

/// Why a worker gave no answer.
enum Lost {
    TimeLimit,
    Died,
}

impl Worker {
    fn start(backend: Backend) -> std::io::Result<Worker> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--worker", "--backend", backend.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let kept = last.clone();
        std::thread::spawn(move || {
            let lines = errors.into_iter().flat_map(|errors| BufReader::new(errors).split(b'\n'));
            for line in lines.map_while(Result::ok) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push_back(String::from_utf8_lossy(&line).into_owned());
                if kept.len() > LAST_LINES {
                    kept.pop_front();
                }
            }
        });
        Ok(Worker { child, input, answers, errors: last, cases: 0 })
    }

    fn ask(&mut self, task: &Task, limit: Duration) -> Result<Answer, Lost> {
        self.cases += 1;
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let line = serde_json::to_string(task).map_err(|_| Lost::Died)?;
        let sent = self.input.as_mut().map(|input| writeln!(input, "{line}"));
        if !matches!(sent, Some(Ok(()))) {
            return Err(Lost::Died);
        }
        match self.answers.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| Lost::Died),
            Err(RecvTimeoutError::Timeout) => Err(Lost::TimeLimit),
            Err(RecvTimeoutError::Disconnected) => Err(Lost::Died),
        }
    }

    /// How the process ended and the last it message.
    fn last_words(&mut self) -> String {
        self.input = None;
        let status = self.child.wait();
        let end = match status {
            Ok(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("signal {signal}{}", signal_name(signal)),
                (None, code) => format!("exit code {}", code.unwrap_or(0)),
            },
            Err(e) => e.to_string(),
        };
        // The reader of the error output ends with the process; a moment lets it take the last lines.
        std::thread::sleep(Duration::from_millis(20));
        let lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let message = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        if message.is_empty() { end } else { format!("{end}: {message}") }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An idle worker ends when its input closes; a hanging one must be told. It is our own child either way.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (killed)",
        11 => " (segmentation fault)",
        _ => "",
    }
}
