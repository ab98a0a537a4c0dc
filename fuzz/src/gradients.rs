//! Gradients of random programs beside finite differences.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use strata_driver::{CheckOptions, GradientReport, check_gradients, standard};

use crate::case::Case;
use crate::emit::{Style, emit};

/// What a run has seen.
#[derive(Default)]
struct Seen {
    /// Programs with directions that were compared.
    right: usize,
    directions: usize,
    /// Programs that bend or jump everywhere.
    nothing: usize,
    /// Programs that write to places of which some may be the same.
    left_out: usize,
    refused: BTreeMap<String, usize>,
    wrong: Vec<u64>,
}

/// Compares the gradients of so many programs; true when none is wrong.
pub fn gradients(count: u64, seed: u64, jobs: usize) -> bool {
    let (next, seen, start) = (AtomicU64::new(seed), Mutex::new(Seen::default()), Instant::now());
    let lock = || seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = || {
        loop {
            let now = next.fetch_add(1, Ordering::Relaxed);
            if now >= seed.saturating_add(count) {
                return;
            }
            let Some(text) = Case { seed: now, edits: Vec::new() }.graph().map(|graph| emit(&graph, Style::default())) else { continue };
            // Of several updates of one element PyTorch gives each the cotangent, and only the last is seen in a slope.
            if text.contains("kind = \"set\"") {
                lock().left_out += 1;
                continue;
            }
            match compare(now, &text) {
                Ok(report) if !report.is_right() => {
                    println!("== wrong: seed {now}\n{report}{text}");
                    lock().wrong.push(now);
                }
                Ok(report) => {
                    let mut seen = lock();
                    seen.directions += report.directions();
                    if report.directions() > 0 { seen.right += 1 } else { seen.nothing += 1 }
                }
                Err(Fault::Refused(reason)) => *lock().refused.entry(reason).or_default() += 1,
                Err(Fault::Panicked) => {
                    println!("== panic: seed {now}\n{text}");
                    lock().wrong.push(now);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..jobs.max(1)).for_each(|_| drop(scope.spawn(work)));
    });
    let seen = lock();
    seen.refused.iter().for_each(|(reason, times)| println!("{times} refused: {reason}"));
    let (right, nothing, refused, wrong) = (seen.right, seen.nothing, seen.refused.values().sum::<usize>(), seen.wrong.len());
    println!(
        "fuzz gradients: {right} right along {} directions, {nothing} that bend everywhere, {} left out, {refused} refused, {wrong} wrong {:?} in {:.1} s",
        seen.directions,
        seen.left_out,
        seen.wrong,
        start.elapsed().as_secs_f64()
    );
    wrong == 0
}

enum Fault {
    Refused(String),
    Panicked,
}

fn compare(seed: u64, text: &str) -> Result<GradientReport, Fault> {
    let options = CheckOptions { sets: 1, seed, ..CheckOptions::default() };
    let check = || check_gradients(standard(), &format!("seed {seed}"), text, &options);
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(found) => found.map_err(|error| Fault::Refused(reason(&error.to_string()))),
        Err(_) => Err(Fault::Panicked),
    }
}

/// The message without places and numbers: one for all programs that are refused for it.
fn reason(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.take(24).collect::<Vec<_>>().join(" ")
}
