//! What a change costs in a process that holds the database: an edited layer, an edited schedule of a kernel, nothing at all.
//!
//! `./x bench -- database` measures a program of twelve layers that it writes; `cargo bench --bench database -- BASE.pt2 EDITED.pt2`
//! two exported ones, such as `bench/bert_layers.py` makes. Nothing is on disk. Times are the least of several; a share is one of the cold time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use strata_driver::incremental::{How, Report};
use strata_driver::{Held, Options, SourceFile, lower, standard};
use strata_runtime::Artefact;

mod layers_program;
use layers_program::program;

/// Runs of each measurement.
const RUNS: usize = 15;

/// A compilation: its milliseconds, and what it did.
struct Run {
    time: f64,
    artefact: Arc<Artefact>,
    report: Report,
}

fn compile(held: &Held, file: SourceFile<'_>) -> Run {
    let start = Instant::now();
    let (artefact, report) = held.compile(file, &Options::default(), None).expect("it compiles");
    Run { time: 1e3 * start.elapsed().as_secs_f64(), artefact, report }
}

fn least(runs: impl Iterator<Item = Run>) -> Run {
    runs.min_by(|a, b| a.time.total_cmp(&b.time)).expect("there are runs")
}

/// The second program behind the first: with a new database each time, and with one that knows the first.
fn change(name: &str, before: SourceFile<'_>, after: SourceFile<'_>) {
    let cold = least((0..RUNS).map(|_| compile(&Held::new(standard()), after)));
    let warm = least((0..RUNS).map(|_| {
        let held = Held::new(standard());
        compile(&held, before);
        compile(&held, after)
    }));
    let row = |what: &str, run: Run| {
        let computed: Vec<_> = run.report.records.iter().filter(|record| record.how == How::Computed).collect();
        println!("{name}: {what:<12} {:>9.2} ms {:>6.1}%  {:>3} computed", run.time, 100.0 * run.time / cold.time, computed.len());
        if computed.len() < 8 {
            computed.iter().for_each(|record| println!("    {} {}", record.subject(), record.work()));
            let long = run.artefact.manifest.timings.iter().filter(|stage| stage.micros >= 500);
            println!("    {}", long.map(|stage| format!("{} {:.1}", stage.name, stage.micros as f64 / 1e3)).collect::<Vec<_>>().join(", "));
        }
    };
    println!("{name}: {:<12} {:>9.2} ms", "cold", cold.time);
    row("edited", warm);
    let held = Held::new(standard());
    compile(&held, after);
    // A file that was written just now might be written again without anybody seeing it.
    std::thread::sleep(std::time::Duration::from_millis(50));
    compile(&held, after);
    row("unchanged", least((0..RUNS).map(|_| compile(&held, after))));
}

/// The program with another schedule for its first kernel that is vectorised.
fn schedule(base: &Path) {
    let text = lower(standard(), base, "loop-scheduled", &Options::default()).expect("it lowers");
    let edited = text.replacen("width = 16 : i64", "width = 8 : i64", 1);
    assert!(text != edited, "a kernel is vectorised");
    let file = |text| SourceFile { path: Path::new("scheduled.mlir"), text: Some(text) };
    change("schedule", file(&text), file(&edited));
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args().skip(1).filter(|arg| arg.ends_with(".pt2")).map(PathBuf::from).collect();
    let [base, edited] = match <[PathBuf; 2]>::try_from(paths) {
        Ok(paths) => paths,
        Err(_) => {
            let dir = tempfile::tempdir().expect("there is room").keep();
            let write = |name: &str, edited| {
                let path = dir.join(name);
                std::fs::write(&path, program(12, edited)).expect("the folder is ours");
                path
            };
            [write("base.mlir", None), write("edited.mlir", Some(5))]
        }
    };
    // What a process pays once.
    compile(&Held::new(standard()), (&*base).into());
    schedule(&base);
    // One name for both, as an edited file has: what a program was before is known by its name.
    change("layer", (&*base).into(), (&*edited).into());
}
