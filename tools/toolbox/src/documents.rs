//! Documents on their way from an editor to MLIR's language server: text that may crash or exhaust the parser does not reach it.
//!
//! The server is a process of its own. What an editor says goes there message by message, with an empty text in place of a refused
//! document; where the server then says what it finds in that document, the editor is told why it was refused.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use strata_core::registry::Registry;

/// What is wrong with a text: the line, from 1, and why.
pub type Refuse = fn(&[u8]) -> Option<(usize, String)>;

/// Set for the process that is the server.
const SERVER: &str = "STRATA_LSP_SERVER";

/// Whether this process is the server.
pub fn is_server() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// Starts this program again as the server, and stands between it and the editor; gives the server's exit status.
pub fn serve(registry: &Registry, refuse: Refuse) -> io::Result<i32> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut server =
        Command::new(std::env::current_exe()?).args(&args).env(SERVER, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut to), Some(from)) = (server.stdin.take(), server.stdout.take()) else { return Ok(1) };
    let framing = Framing::of(&args);
    let (refused, docs) = (Refused::default(), Docs::of(registry));
    let mut from = BufReader::new(from);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut editor = io::stdin().lock();
            while let Ok(Some(message)) = framing.read(&mut editor) {
                if framing.write(&mut to, &refused.hide(&message, refuse)).is_err() {
                    break;
                }
            }
            drop(to);
        });
        let mut editor = io::stdout().lock();
        while let Some(message) = Framing::Lengths.read(&mut from)? {
            Framing::Lengths.write(&mut editor, &docs.tell(&refused.explain(&message)))?;
        }
        let status = server.wait()?.code().unwrap_or(1);
        // The editor may never say anything again.
        std::process::exit(status);
    })
}

/// How messages are told from each other.
#[derive(Clone, Copy)]
enum Framing {
    /// Each has its length before it.
    Lengths,
    /// A line `// -----` ends each: the form of tests.
    Lines,
}

impl Framing {
    /// What the server's arguments ask for.
    fn of(args: &[String]) -> Framing {
        let lines = |arg: &String| arg.ends_with("-lit-test") || arg.ends_with("delimited");
        if args.iter().any(lines) { Framing::Lines } else { Framing::Lengths }
    }

    /// The next message; none at the end.
    fn read(self, input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
        let (mut message, mut length) = (Vec::new(), None);
        loop {
            let mut line = Vec::new();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Ok((!message.is_empty()).then_some(message));
            }
            match self {
                Framing::Lines if line.starts_with(b"// -----") => return Ok(Some(message)),
                Framing::Lines if line.starts_with(b"//") => {}
                Framing::Lines => message.extend(line),
                Framing::Lengths => match (line.trim_ascii(), length) {
                    (b"", Some(length)) => {
                        // Room comes with what is read: a length is only a claim.
                        let read = input.take(length).read_to_end(&mut message)?;
                        return Ok((read as u64 == length).then_some(message));
                    }
                    (header, _) => {
                        let text = String::from_utf8_lossy(header).to_ascii_lowercase();
                        length = text.strip_prefix("content-length:").and_then(|number| number.trim().parse().ok()).or(length);
                    }
                },
            }
        }
    }

    fn write(self, output: &mut impl Write, message: &[u8]) -> io::Result<()> {
        match self {
            Framing::Lengths => write!(output, "Content-Length: {}\r\n\r\n", message.len())?,
            Framing::Lines => {}
        }
        output.write_all(message)?;
        if let Framing::Lines = self {
            output.write_all(b"\n// -----\n")?;
        }
        output.flush()
    }
}

/// A document and its version.
type Document = (String, Option<i64>);

/// Documents that were refused, with where and why.
#[derive(Default)]
struct Refused(Mutex<HashMap<Document, (usize, String)>>);

impl Refused {
    fn known(&self) -> MutexGuard<'_, HashMap<Document, (usize, String)>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message of the editor, without text that is refused.
    fn hide(&self, message: &[u8], refuse: Refuse) -> Vec<u8> {
        let Ok(mut value) = serde_json::from_slice::<Value>(message) else { return message.to_vec() };
        let Some(document) = document(&value["params"]["textDocument"]) else { return message.to_vec() };
        let texts = match value["method"].as_str() {
            Some("textDocument/didOpen") => vec![&mut value["params"]["textDocument"]["text"]],
            Some("textDocument/didChange") => match value["params"]["contentChanges"].as_array_mut() {
                Some(changes) => changes.iter_mut().map(|change| &mut change["text"]).collect(),
                None => Vec::new(),
            },
            _ => return message.to_vec(),
        };
        for text in texts {
            if let Some(reason) = text.as_str().and_then(|text| refuse(text.as_bytes())) {
                self.known().insert(document.clone(), reason);
                *text = json!("");
            }
        }
        value.to_string().into_bytes()
    }

    /// A message of the server; about a refused document it says why that is so.
    fn explain(&self, message: &[u8]) -> Vec<u8> {
        let Ok(mut value) = serde_json::from_slice::<Value>(message) else { return message.to_vec() };
        let about = document(&value["params"]).filter(|_| value["method"] == "textDocument/publishDiagnostics");
        // (The server says this once of each version.)
        let Some((line, reason)) = about.and_then(|document| self.known().remove(&document)) else { return message.to_vec() };
        let place = json!({"line": line.saturating_sub(1), "character": 0});
        value["params"]["diagnostics"] =
            json!([{"range": {"start": place, "end": place}, "severity": 1, "source": "mlir", "message": reason}]);
        value.to_string().into_bytes()
    }
}

/// What ops are documented to do, by name.
struct Docs(HashMap<&'static str, String>);

impl Docs {
    fn of(registry: &Registry) -> Docs {
        let ops = registry.dialects().iter().flat_map(|dialect| (dialect.ops)());
        let text = |doc: &str| doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
        Docs(ops.map(|op| (op.name, text(if op.doc.is_empty() { op.summary } else { op.doc }))).collect())
    }

    /// A message of the server; where it tells of an op that somebody points at, the op's documentation follows.
    fn tell(&self, message: &[u8]) -> Vec<u8> {
        let documented = || {
            let mut value = serde_json::from_slice::<Value>(message).ok()?;
            let contents = &mut value["result"]["contents"]["value"];
            let text = contents.as_str()?;
            let name = text.strip_prefix('"')?.split('"').next()?;
            *contents = json!(format!("{text}\n\n{}", self.0.get(name)?));
            Some(value.to_string().into_bytes())
        };
        documented().unwrap_or_else(|| message.to_vec())
    }
}

/// The document that this part of a message names.
fn document(part: &Value) -> Option<Document> {
    Some((part["uri"].as_str()?.to_owned(), part["version"].as_i64()))
}
