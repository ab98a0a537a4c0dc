//! The search for a kernel's schedule: from the cost model's choice in steps, each of which must be faster than what is known, and
//! where no step is, by two at once.

use super::Tuner;
use super::bench::{Bench, Candidate, LONG, ROUND};
use crate::Error;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use strata_core::ir::{Attr, Op};
use strata_lowering::schedule_cpu::{apply, choice, elsewhere, steps};
use strata_runtime::manifest::Gain;

/// A schedule is taken when it needs less than this part of the time of the best one.
const BETTER: f64 = 0.985;
/// Steps at random from the best schedule that may all fail before a search ends.
const LEAPS: usize = 64;
/// Rounds in which two candidates take turns, and those of the last word.
const ROUNDS: usize = 5;
const LAST: usize = 7;
/// Candidates that may have the last word, where those after them do not win it.
const SECOND: usize = 3;

/// Looks for the fastest schedule of a kernel in this time and leaves it on the kernel. One other than the present is tried at least.
pub fn search(tuner: &Tuner<'_>, kernel: Op<'_>, time: Duration) -> Result<Gain, Error> {
    let begin = Instant::now();
    let untuned = choice(kernel);
    let bench = Bench::new(tuner, kernel)?;
    let mut first = bench.candidate(untuned)?;
    let mut known = HashSet::from([untuned.to_string()]);
    // Each faster than the one before it.
    let mut found: Vec<(Attr<'_>, Candidate)> = Vec::new();
    let mut others = bench.scratch(|scratch| elsewhere(scratch, &tuner.code.target));
    others.splice(0..0, bench.steps_from(untuned));
    let (mut tried, mut at, mut leaps) = (1, 0, Leaps::default());
    // Half of the time is for the last word.
    let length = (time / 2 / (4 * LAST * SECOND) as u32).clamp(ROUND, LONG);
    while tried < 2 || begin.elapsed() < time / 2 {
        let next = match others.get(at) {
            Some(&next) => next,
            // No step is faster; two at once may be.
            None if leaps.failed < LEAPS => bench.leap(found.last().map_or(untuned, |best| best.0), &mut leaps),
            None => break,
        };
        at += 1;
        if !known.insert(next.to_string()) {
            continue;
        }
        // A schedule that has no code, or whose results are others, is none.
        let Ok(mut candidate) = bench.candidate(next) else { continue };
        tried += 1;
        let present = found.last_mut().map_or(&mut first, |(_, best)| best);
        if !bench.beats(&mut candidate, present, (ROUNDS, ROUND))? || !bench.agrees(&mut candidate) {
            continue;
        }
        found.push((next, candidate));
        leaps.failed = 0;
        // Go on from here; what was not tried from the last place waits.
        at = at.min(others.len());
        others.splice(at..at, bench.steps_from(next));
    }
    let (mut chosen, mut after) = (untuned, None);
    for (schedule, mut candidate) in found.into_iter().rev().take(SECOND) {
        if bench.beats(&mut candidate, &mut first, (LAST, length))? {
            (chosen, after) = (schedule, Some(candidate.usual));
            break;
        }
    }
    let before = first.usual;
    let after = after.unwrap_or(before);
    apply(kernel, chosen);
    Ok(Gain { tried, before: 1e6 * before, after: 1e6 * after })
}

/// Steps at random: the same ones in every search.
#[derive(Default)]
struct Leaps {
    state: u64,
    failed: usize,
}

impl Leaps {
    fn pick<'c>(&mut self, of: &[Attr<'c>]) -> Option<Attr<'c>> {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        of.get((self.state >> 33) as usize % of.len().max(1)).copied()
    }
}

impl<'c> Bench<'_, 'c> {
    /// A choice two steps away from one.
    fn leap(&self, from: Attr<'c>, leaps: &mut Leaps) -> Attr<'c> {
        leaps.failed += 1;
        let first = leaps.pick(&self.steps_from(from)).unwrap_or(from);
        leaps.pick(&self.steps_from(first)).unwrap_or(first)
    }

    /// The choices one step away from one.
    fn steps_from(&self, from: Attr<'c>) -> Vec<Attr<'c>> {
        self.scratch(|scratch| {
            apply(scratch, from);
            steps(scratch)
        })
    }

    /// Whether one is faster than the other: in its usual round and in nearly all of them, taken in turn. A round that is luckier than the
    /// others says nothing: where memory decides, some calls find more in the caches than callers ever will.
    fn beats(&self, one: &mut Candidate, other: &mut Candidate, (rounds, length): (usize, Duration)) -> Result<bool, Error> {
        // What is much slower needs no rounds.
        if one.first > 1.5 * other.usual && self.round(one, length)? > 1.25 * other.usual {
            return Ok(false);
        }
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            if round % 2 == 0 {
                mine.push(self.round(one, length)?);
                theirs.push(self.round(other, length)?);
            } else {
                theirs.push(self.round(other, length)?);
                mine.push(self.round(one, length)?);
            }
            if round == 1 && mine.iter().zip(&theirs).all(|(mine, theirs)| mine > theirs) {
                return Ok(false);
            }
        }
        let won = mine.iter().zip(&theirs).filter(|(mine, theirs)| mine < theirs).count();
        (one.usual, other.usual) = (middle(mine), middle(theirs));
        // All rounds but one: other work on the machine may spoil that.
        Ok(one.usual < BETTER * other.usual && won + 1 >= rounds)
    }
}

/// The median.
fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::INFINITY)
}
