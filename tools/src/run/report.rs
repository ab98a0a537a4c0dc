//! The report of a suite: failing cases as they come, then tables, then the one line that scripts read.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::worker::{Answer, Kind};

/// Longest reason printed for a case.
const REASON: usize = 400;
/// Most frequent reasons printed.
const REASONS: usize = 12;

/// Counts by group, and of reasons.
#[derive(Default)]
pub struct Report {
    groups: BTreeMap<String, Counts>,
    reasons: BTreeMap<String, usize>,
    /// Microseconds of each compilation, with the case.
    compiled: Vec<(u64, String)>,
    sets: usize,
    /// By operator and element type: cases passed, and all.
    operators: BTreeMap<String, BTreeMap<String, (usize, usize)>>,
}

#[derive(Default, Clone)]
struct Counts {
    passed: usize,
    skipped: usize,
    failed: BTreeMap<Kind, usize>,
}

impl Counts {
    fn failed(&self) -> usize {
        self.failed.values().sum()
    }
}

impl Report {
    /// Counts a case, and prints it if it failed. A case whose values are not determined may be wrong, nothing else.
    pub fn add(&mut self, case: &Case, answer: Answer) {
        self.compiled.extend(answer.compiled.iter().map(|&micros| (micros, case.name.clone())));
        self.sets += answer.sets;
        let counts = self.groups.entry(case.group.clone()).or_default();
        let skipped = case.skipped().is_some();
        let (passed, all) = self.operators.entry(case.op.clone()).or_default().entry(case.dtype.clone()).or_default();
        *all += 1;
        *passed += usize::from(answer.failure.is_none());
        let Some(failure) = answer.failure.filter(|failure| !(skipped && failure.kind == Kind::Wrong)) else {
            *(if skipped { &mut counts.skipped } else { &mut counts.passed }) += 1;
            return;
        };
        *counts.failed.entry(failure.kind).or_default() += 1;
        *self.reasons.entry(format!("{}: {}", failure.kind.name(), general(&failure.reason))).or_default() += 1;
        println!("FAIL {}: {}: {}", case.name, failure.kind.name(), cut(&failure.reason, REASON));
    }

    /// Failed cases.
    pub fn failed(&self) -> usize {
        self.groups.values().map(Counts::failed).sum()
    }

    /// A page with a row for each operator: cases passed of all, by element type.
    pub fn coverage(&self) -> String {
        let types: BTreeSet<&String> = self.operators.values().flat_map(BTreeMap::keys).collect();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let header = std::iter::once("operator".to_owned()).chain(types.iter().map(|t| t.to_string())).collect::<Vec<_>>();
        let rule = header.iter().map(|_| "---".to_owned()).collect();
        let mut page = format!("# Cases passed, by operator and element type\n\n{}{}", line(header), line(rule));
        for (operator, counts) in &self.operators {
            let cell = |t: &&String| counts.get(*t).map_or(String::new(), |(passed, all)| format!("{passed} of {all}"));
            page += &line(std::iter::once(format!("`{operator}`")).chain(types.iter().map(cell)).collect());
        }
        page
    }

    /// Prints the tables and the closing lines.
    pub fn print(&self) {
        const KINDS: [Kind; 6] = [Kind::Refused, Kind::Run, Kind::Wrong, Kind::Crash, Kind::TimeLimit, Kind::Recompiled];
        let row = |name: &str, c: &Counts| {
            print!("{name:<12} {:>7} {:>7} {:>8}", c.passed, c.failed(), c.skipped);
            KINDS.iter().for_each(|kind| print!(" {:>12}", c.failed.get(kind).copied().unwrap_or(0)));
            println!();
        };
        print!("{:<12} {:>7} {:>7} {:>8}", "group", "passed", "failed", "skipped");
        KINDS.iter().for_each(|kind| print!(" {:>12}", kind.name()));
        println!();
        let mut total = Counts::default();
        for (name, counts) in &self.groups {
            row(name, counts);
            total.passed += counts.passed;
            total.skipped += counts.skipped;
            counts.failed.iter().for_each(|(kind, n)| *total.failed.entry(*kind).or_default() += n);
        }
        row("total", &total);
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if !reasons.is_empty() {
            println!("most frequent reasons:");
        }
        reasons.iter().take(REASONS).for_each(|(reason, count)| println!("{count:>7}  {reason}"));
        match self.compiled.len() {
            // The emulator and the interpreter read the model anew for each set.
            0 => println!("{} input sets", self.sets),
            compiled => println!("compiled {compiled} programs for {} input sets", self.sets),
        }
        if let Some(times) = self.times() {
            println!("{times}");
        }
        println!("{} passed, {} failed, {} skipped", total.passed, total.failed(), total.skipped);
    }
}

impl Report {
    /// How long compilations took, workers beside each other included.
    fn times(&self) -> Option<String> {
        let mut times: Vec<_> = self.compiled.iter().collect();
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0 as f64 / 1e3;
        let (longest, name) = times.last()?;
        Some(format!(
            "compilation took {:.1} ms in the median, {:.1} ms in nine cases of ten, {:.1} ms at most ({name})",
            at(0.5),
            at(0.9),
            *longest as f64 / 1e3
        ))
    }
}

/// A reason without what differs from case to case: numbers become `#`, and the rest of the line is dropped.
fn general(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.chars() {
        if c.is_ascii_digit() || c == '-' && text.ends_with(' ') {
            if !text.ends_with('#') {
                text.push('#');
            }
        } else {
            text.push(c);
        }
    }
    cut(&text, 110)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}
