//! `rs-opt --watch`: runs a pipeline again whenever its input is saved, and shows what that changed.

use super::{Database, Form, How, Pipeline, Source, run_unless_cancelled};
use salsa::Setter;
use similar::{ChangeTag, TextDiff};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How often the file is looked at: faster than anybody saves, slower than anybody notices on the processor.
const PAUSE: Duration = Duration::from_millis(50);

/// Watches a file until `go_on` says to stop. Texts that do not parse are reported, and the last good output stays. A save while passes
/// run cancels them.
///
/// # Errors
/// When the answer cannot be written.
pub fn watch(
    db: &mut Database,
    path: &Path,
    read: &mut dyn FnMut(&Path) -> Result<String, String>,
    pipeline: Pipeline,
    out: &mut dyn Write,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<()> {
    let (answers, answered) = mpsc::channel();
    let (mut source, mut shown, mut seen): (Option<Source>, _, _) = (None, String::new(), None);
    while go_on() {
        let now = stamp(path);
        if now.is_some() && now != seen {
            seen = now;
            let start = Instant::now();
            match read(path) {
                Err(error) => writeln!(out, "{error}")?,
                Ok(text) => {
                    let source = match source {
                        Some(source) => {
                            // What still runs ends before its next query.
                            source.set_text(db).to(text);
                            source
                        }
                        None => *source.insert(Source::new(db, path.display().to_string(), text, Form::Written)),
                    };
                    let (db, answers) = (db.clone(), answers.clone());
                    thread::spawn(move || {
                        if let Some(answer) = run_unless_cancelled(db, source, pipeline) {
                            // Nobody waits for it when the watch has ended.
                            _ = answers.send((answer, start));
                        }
                    });
                }
            }
        }
        if let Ok((answer, start)) = answered.recv_timeout(PAUSE) {
            match answer {
                Err(error) => writeln!(out, "{error}")?,
                Ok((text, report)) => {
                    write_changes(&shown, &text, out)?;
                    let [computed, disk, memory] = [How::Computed, How::Disk, How::Memory].map(|how| report.count(how));
                    let time = start.elapsed().as_secs_f64() * 1e3;
                    writeln!(out, "// {computed} computed, {disk} from disk, {memory} from memory in {time:.1} ms")?;
                    shown = text;
                }
            }
        }
        out.flush()?;
    }
    Ok(())
}

/// When the file was changed last, and its size; nothing while it is not there.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// The lines that went and came; all of them the first time.
fn write_changes(old: &str, new: &str, out: &mut dyn Write) -> io::Result<()> {
    if old.is_empty() {
        return out.write_all(new.as_bytes());
    }
    for change in TextDiff::from_lines(old, new).iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => write!(out, "-{change}")?,
            ChangeTag::Insert => write!(out, "+{change}")?,
            ChangeTag::Equal => {}
        }
    }
    Ok(())
}
