//! `./x fuzz prim`: random programs, interpreted and compiled, with the same results or a small program that shows the difference.
//! `./x fuzz gradients`: the gradients of random programs, beside finite differences.
//! `./x fuzz edits`: random edits, where passes run again only for what changed.
//! `./x fuzz remote`: servers that lie to a cache, which must give their lies to nobody.
//! `./x fuzz archives|models|text|expectations|artefacts`: broken files, which the tools accept or refuse.

mod case;
mod check;
mod data;
mod edits;
mod emit;
mod generate;
mod gradients;
mod graph;
mod hostile;
mod infer;
mod remote;
mod rng;
mod shrink;
mod worker;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};

use case::Case;
use check::Verdict;
use emit::{Style, emit};
use hostile::Kind;
use worker::Worker;

#[derive(Parser)]
#[command(name = "strata-fuzz", about = "Differential fuzzing of the compiler.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Random programs of `prim`
    Prim {
        /// How many
        #[arg(long, default_value_t = 300)]
        count: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Processes at a time
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// Seconds to make each wrong program smaller
        #[arg(long, default_value_t = 30)]
        shrink: u64,
        /// Print every program that the interpreter refuses
        #[arg(long)]
        verbose: bool,
    },
    /// Gradients of random programs of `prim` beside finite differences
    Gradients {
        /// How many
        #[arg(long, default_value_t = 300)]
        count: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Threads
        #[arg(long, default_value_t = 2)]
        jobs: usize,
    },
    /// Random edits of programs, incremental passes against all passes
    Edits {
        /// How many
        #[arg(long, default_value_t = 300)]
        count: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Servers of a team's cache that answer with damaged, poisoned and slow bytes
    Remote {
        /// How long
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Broken .pt2 files, given to the tools
    Archives(hostile::Options),
    /// Broken `.onnx` models, given to the tools
    Models(hostile::Options),
    /// Broken .mlir files, given to the tools
    Text(hostile::Options),
    /// Broken files of --operators, given to rs-opt
    Registrations(hostile::Options),
    /// Broken .stablehlo.mlir files, given to the tools
    Stablehlo(hostile::Options),
    /// Broken files of expected values, given to rs-run
    Expectations(hostile::Options),
    /// Broken .strata files, given to rs-run
    Artefacts(hostile::Options),
    /// Print a case, as reports name it, with its inputs
    Show {
        /// A seed with changes
        case: Case,
    },
    /// Check one case in this process
    Check {
        /// A seed with changes
        case: Case,
    },
    /// Check the cases that come in
    #[command(hide = true)]
    Worker,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Prim { count, seed, jobs, shrink, verbose } => {
            prim(count, seed, jobs, Duration::from_secs(shrink), verbose).map_err(Into::into)
        }
        Command::Gradients { count, seed, jobs } => Ok(gradients::gradients(count, seed, jobs)),
        Command::Edits { count, seed } => Ok(edits::edits(count, seed)),
        Command::Remote { seconds, seed } => remote::remote(seed, seconds).map_err(Into::into),
        Command::Archives(options) => hostile::run(Kind::Archives, &options),
        Command::Models(options) => hostile::run(Kind::Models, &options),
        Command::Text(options) => hostile::run(Kind::Text, &options),
        Command::Registrations(options) => hostile::run(Kind::Registrations, &options),
        Command::Stablehlo(options) => hostile::run(Kind::Stablehlo, &options),
        Command::Expectations(options) => hostile::run(Kind::Expectations, &options),
        Command::Artefacts(options) => hostile::run(Kind::Artefacts, &options),
        Command::Show { case } => {
            println!("{}", describe(&case));
            Ok(true)
        }
        Command::Check { case } => {
            let verdict = check::check(&case, &check::Scratch::new());
            println!("{verdict:?}");
            Ok(verdict == Verdict::Same)
        }
        Command::Worker => worker::serve().map(|()| true).map_err(Into::into),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("strata-fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a run has seen.
#[derive(Default)]
struct Seen {
    same: usize,
    invalid: BTreeMap<String, usize>,
    wrong: BTreeMap<String, Vec<u64>>,
}

/// Runs seeds; true when all agreed.
fn prim(count: u64, seed: u64, jobs: usize, patience: Duration, verbose: bool) -> std::io::Result<bool> {
    let (next, seen, start) = (AtomicU64::new(seed), Mutex::new(Seen::default()), Instant::now());
    let lock = || seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = || -> std::io::Result<()> {
        let mut worker = Worker::default();
        loop {
            let now = next.fetch_add(1, Ordering::Relaxed);
            if now >= seed.saturating_add(count) {
                return Ok(());
            }
            let case = Case { seed: now, edits: Vec::new() };
            let verdict = worker.check(&case)?;
            match &verdict {
                Verdict::Same => lock().same += 1,
                Verdict::Invalid(text) => {
                    if verbose {
                        println!("{now}: {text}");
                    }
                    *lock().invalid.entry(text.split(": ").skip(1).collect::<Vec<_>>().join(": ")).or_default() += 1;
                }
                Verdict::Wrong(kind, _) => {
                    let first = {
                        let mut seen = lock();
                        let seeds = seen.wrong.entry(kind.clone()).or_default();
                        seeds.push(now);
                        seeds.len() <= 3
                    };
                    // One small program of each kind says more than many.
                    let (small, verdict) = if first { shrink::shrink(&mut worker, &case, verdict, patience)? } else { (case, verdict) };
                    if let Verdict::Wrong(kind, text) = verdict {
                        let program = if first { format!("\n{}", describe(&small)) } else { String::new() };
                        println!("== {kind}: case {small}\n{text}{program}");
                    }
                }
            }
        }
    };
    let done: Vec<std::io::Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread failed")))).collect()
    });
    done.into_iter().collect::<std::io::Result<()>>()?;
    let seen = lock();
    for (text, times) in &seen.invalid {
        println!("{times} refused by the interpreter: {text}");
    }
    for (kind, seeds) in &seen.wrong {
        println!("{} wrong, {kind}: seeds {seeds:?}", seeds.len());
    }
    let (refused, wrong) = (seen.invalid.values().sum::<usize>(), seen.wrong.values().map(Vec::len).sum::<usize>());
    println!("fuzz prim: {} agree, {refused} refused, {wrong} wrong in {:.1} s", seen.same, start.elapsed().as_secs_f64());
    Ok(wrong == 0)
}

/// The program of a case with its inputs, as a report shows it.
fn describe(case: &Case) -> String {
    let Some(graph) = case.graph() else { return "a change makes no sense".into() };
    let mut text = format!("// numerics {}, left out: {:?}\n", if graph.strict { "strict" } else { "ulp" }, graph.skip);
    if let Ok(inputs) = data::inputs(&graph, case.seed) {
        for (tensor, (value, ..)) in inputs.iter().zip(emit::arguments(&graph)) {
            text += &format!("// v{value}: {:?} {}\n", tensor.shape(), strata_runtime::compare::preview(tensor, 24));
        }
    }
    text + &emit(&graph, Style::default())
}
