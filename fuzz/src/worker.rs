//! Processes that check cases: compiled code that crashes ends one of them, not the run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::case::Case;
use crate::check::{Scratch, Verdict, check};

/// The longest that a case may take. Cases take parts of a second, but on a machine that is busy with other things, many of them.
const PATIENCE: Duration = Duration::from_secs(300);

/// A worker process.
struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

/// Checks cases in a process, with a new one after a crash.
#[derive(Default)]
pub struct Worker(Option<Process>);

impl Process {
    fn start() -> std::io::Result<Process> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || std::io::Error::other("the worker has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(verdict) = line.strip_prefix("verdict\t") {
                    let _ = sender.send(verdict.to_owned());
                }
            }
        });
        Ok(Process { child, stdin, lines })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// The verdict on a case.
    pub fn check(&mut self, case: &Case) -> std::io::Result<Verdict> {
        let process = match &mut self.0 {
            Some(process) => process,
            none => none.insert(Process::start()?),
        };
        let sent = writeln!(process.stdin, "{case}").and_then(|()| process.stdin.flush());
        let answer = match sent {
            Ok(()) => process.lines.recv_timeout(PATIENCE),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        Ok(match answer {
            Ok(line) => parse(&line),
            Err(RecvTimeoutError::Timeout) => {
                self.0 = None;
                Verdict::Wrong("timeout".into(), "no answer within five minutes".into())
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = process.child.wait()?;
                self.0 = None;
                Verdict::Wrong("crash".into(), status.to_string())
            }
        })
    }
}

fn parse(line: &str) -> Verdict {
    let mut parts = line.splitn(3, '\t').map(str::to_owned);
    match (parts.next().as_deref(), parts.next(), parts.next()) {
        (Some("same"), ..) => Verdict::Same,
        (Some("wrong"), Some(kind), Some(text)) => Verdict::Wrong(kind, text),
        (_, text, _) => Verdict::Invalid(text.unwrap_or_default()),
    }
}

/// The worker's side: cases come in, verdicts go out.
pub fn serve() -> std::io::Result<()> {
    let scratch = Scratch::new();
    for line in std::io::stdin().lock().lines() {
        let answer = match line?.parse::<Case>() {
            Ok(case) => match check(&case, &scratch) {
                Verdict::Same => "same".to_owned(),
                Verdict::Invalid(text) => format!("invalid\t{}", text.replace('\t', " ")),
                Verdict::Wrong(kind, text) => format!("wrong\t{}\t{}", kind.replace('\t', " "), text.replace('\t', " ")),
            },
            Err(text) => format!("invalid\t{text}"),
        };
        println!("verdict\t{answer}");
    }
    Ok(())
}
