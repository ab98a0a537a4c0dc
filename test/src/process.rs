//! Runs one shell command under a time limit, with the test's variables replaced.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where a test reads and writes.
pub struct Place {
    /// The test file, `%s`; its folder is `%S`.
    pub source: PathBuf,
    /// A folder of the test's own, empty at its start, `%T`; `%t` is a path in it.
    pub temp: PathBuf,
}

/// What a command did.
pub struct Outcome {
    /// Why it failed; none if it succeeded.
    pub failure: Option<String>,
    /// Both output streams, standard output first.
    pub output: String,
}

/// Replaces `%s %S %t %T` and `%%`.
pub fn substitute(command: &str, place: &Place) -> String {
    let folder = place.source.parent().unwrap_or(Path::new("."));
    let mut text = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        let mut tail = rest[at + 1..].chars();
        let key = tail.next();
        let ends_word = !tail.clone().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        rest = match key {
            Some('%') => {
                text.push('%');
                tail.as_str()
            }
            Some(key @ ('s' | 'S' | 't' | 'T')) if ends_word => {
                let path = match key {
                    's' => place.source.clone(),
                    'S' => folder.to_path_buf(),
                    't' => place.temp.join("t"),
                    _ => place.temp.clone(),
                };
                text.push_str(&path.display().to_string());
                tail.as_str()
            }
            _ => {
                text.push('%');
                &rest[at + 1..]
            }
        };
    }
    text.push_str(rest);
    text
}

/// Runs `command` in `place.temp` by bash, where any failing part of a pipe fails the whole.
///
/// coreutils' `timeout` enforces the limit, because it ends the whole process group without a signal handler of ours.
pub fn run(command: &str, place: &Place, path: &OsStr, limit: Duration) -> Outcome {
    let result = Command::new("timeout")
        .args([
            "--kill-after=2",
            &format!("{}", limit.as_secs_f64()),
            "bash",
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            command,
        ])
        .current_dir(&place.temp)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .env("RUST_BACKTRACE", "0")
        // What a test sees must come from the tools of now.
        .env("STRATA_CACHE_SIZE", "0")
        // And nothing goes into the user's configuration.
        .env("STRATA_CACHE_KEY", "07".repeat(32))
        .stdin(Stdio::null())
        .output();
    match result {
        Err(error) => Outcome { failure: Some(format!("could not start `timeout bash`: {error}")), output: String::new() },
        Ok(done) => {
            let mut output = String::from_utf8_lossy(&done.stdout).into_owned();
            output.push_str(&String::from_utf8_lossy(&done.stderr));
            let failure = match done.status.code() {
                Some(0) => None,
                Some(124 | 137) => Some(format!("still running after {} s", limit.as_secs_f64())),
                Some(127) => Some("a program was not found (exit status 127)".into()),
                Some(code) => Some(format!("exit status {code}")),
                None => Some(format!("{}", done.status)),
            };
            Outcome { failure, output }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { source: "/a/b.mlir".into(), temp: std::env::temp_dir() }
    }

    #[test]
    fn replaces_only_variables() {
        let place = Place { source: "/a/b.mlir".into(), temp: "/o".into() };
        assert_eq!(substitute("x %s %S %t.o %t2 %T %% %so %0 100%", &place), "x /a/b.mlir /a /o/t.o /o/t2 /o % %so %0 100%");
    }

    #[test]
    fn a_failing_pipe_fails() {
        let path = std::env::var_os("PATH").unwrap();
        let limit = Duration::from_secs(20);
        assert!(run("false | cat", &place(), &path, limit).failure.is_some());
        assert!(run("true | cat", &place(), &path, limit).failure.is_none());
        assert!(run("sleep 20", &place(), &path, Duration::from_millis(100)).failure.unwrap().contains("still running"));
    }
}
