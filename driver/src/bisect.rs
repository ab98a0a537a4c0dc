//! The first pass that changes a program's meaning, by binary search over how many passes run: few runs for long pipelines.

use std::fmt;

use strata_core::ir::{Module, Op};

use crate::check_semantics::{Change, CheckError, CheckOptions, Runner, Runs, run_pass};

/// What a search found.
#[derive(Clone, Debug)]
pub struct Bisection {
    /// The passes one of which is guilty; more than one where the program between them cannot be run. Empty: none is.
    pub guilty: Vec<String>,
    /// The place of the first of them among the passes, from 0.
    pub at: usize,
    /// The function that shows it, the input set, and what is different after the guilty pass.
    pub change: Option<(String, usize, Change)>,
    /// How often the program was run.
    pub runs: usize,
    /// Passes behind the last program that could be run, each with the reason.
    pub not_checked: Vec<(String, String)>,
}

impl Bisection {
    /// One line that shows the difference again.
    pub fn reproducer(&self, file: &str, passes: &[String]) -> Option<String> {
        let end = self.at + self.guilty.len();
        (!self.guilty.is_empty())
            .then(|| format!("rs-opt {file} --check-semantics --pass-pipeline='builtin.module({})'", passes[..end].join(",")))
    }
}

impl fmt::Display for Bisection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.change {
            Some((function, set, change)) => {
                let names: Vec<_> = self.guilty.iter().map(|pass| format!("'{pass}'")).collect();
                write!(
                    f,
                    "guilty: pass {} ({}) changed what @{function} computes (input set {set}): {change}",
                    self.at + 1,
                    names.join(" or ")
                )
            }
            None => write!(f, "no pass is guilty ({} runs, {} passes not checked)", self.runs, self.not_checked.len()),
        }
    }
}

/// The function that shows a difference, the input set, and what is different.
type Seen = Option<(String, usize, Change)>;

/// One state of the search: the program behind some of the passes.
struct Search<'a, 'c, 'o> {
    module: &'a Module<'c>,
    passes: &'a [String],
    runner: Runner<'o>,
    original: Runs,
    runs: usize,
}

impl Search<'_, '_, '_> {
    /// What is different behind the first `count` passes; an error says why that cannot be known.
    fn at(&mut self, count: usize, after: &mut dyn FnMut(&str, Op<'_>)) -> Result<Result<Seen, String>, CheckError> {
        let module = self.module.duplicate();
        for pass in &self.passes[..count] {
            self.runner.note_signature(module.op());
            run_pass(&module, pass)?;
            after(pass, module.op());
        }
        self.runs += 1;
        Ok(self.runner.run(module.op()).map(|runs| self.runner.compare(&self.original, &runs)))
    }
}

/// Searches for the first guilty pass. The module stays as it is.
///
/// `after` is called behind each pass, before the program is run.
pub fn bisect(
    module: &Module<'_>,
    passes: &[String],
    options: &CheckOptions,
    after: &mut dyn FnMut(&str, Op<'_>),
) -> Result<Bisection, CheckError> {
    let (runner, original) = Runner::new(module.op(), options)?;
    let mut found = Bisection { guilty: Vec::new(), at: 0, change: None, runs: 1, not_checked: Vec::new() };
    let original = match original {
        Ok(original) => original,
        Err(reason) => {
            found.not_checked = passes.iter().map(|pass| (pass.clone(), reason.clone())).collect();
            return Ok(found);
        }
    };
    let mut search = Search { module, passes, runner, original, runs: 1 };
    // Below the last level of the interpreter there is nothing to run: the search ends where it still can.
    let mut bad = passes.len();
    let mut change = loop {
        if bad == 0 {
            break None;
        }
        match search.at(bad, after)? {
            Ok(change) => break change,
            Err(reason) => found.not_checked.push((passes[bad - 1].clone(), reason)),
        }
        bad -= 1;
    };
    found.not_checked.reverse();
    let mut good = 0;
    while change.is_some() && bad - good > 1 {
        let middle = good + (bad - good) / 2;
        // The nearest state that can be run, from the middle downwards, then upwards.
        let mut known = None;
        for count in (good + 1..=middle).rev().chain(middle + 1..bad) {
            if let Ok(state) = search.at(count, after)? {
                known = Some((count, state));
                break;
            }
        }
        match known {
            Some((count, Some(earlier))) => (bad, change) = (count, Some(earlier)),
            Some((count, None)) => good = count,
            None => break,
        }
    }
    found.runs = search.runs;
    if change.is_some() {
        found.guilty = passes[good..bad].to_vec();
        found.at = good;
    }
    found.change = change;
    Ok(found)
}
