//! The search for a kernel's schedule: from the cost model's choice in steps, each of which must be faster than what is known, and
//! where no step is, by two at once.

use super::Tuner;
use super::bench::{Bench, Candidate};
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
/// Rounds in which two candidates take turns; for the last word some more.
const ROUNDS: usize = 5;
const LAST: usize = 11;

/// Looks for the fastest schedule of a kernel in this time and leaves it on the kernel. One other than the present is tried at least.
pub fn search(tuner: &Tuner<'_>, kernel: Op<'_>, time: Duration) -> Result<Gain, Error> {
    let begin = Instant::now();
    let untuned = choice(kernel);
    let bench = Bench::new(tuner, kernel)?;
    let mut first = bench.candidate(untuned)?;
    let mut known = HashSet::from([untuned.to_string()]);
    let mut best: Option<(Attr<'_>, Candidate)> = None;
    let mut others = bench.scratch(|scratch| elsewhere(scratch, tuner.vector_bits()));
    others.splice(0..0, bench.steps_from(untuned));
    let (mut tried, mut at, mut leaps) = (1, 0, Leaps::default());
    while tried < 2 || begin.elapsed() < time {
        let next = match others.get(at) {
            Some(&next) => next,
            // No step is faster; two at once may be.
            None if leaps.failed < LEAPS => bench.leap(best.as_ref().map_or(untuned, |best| best.0), &mut leaps),
            None => break,
        };
        at += 1;
        if !known.insert(next.to_string()) {
            continue;
        }
        // A schedule that has no code, or whose results are others, is none.
        let Ok(mut candidate) = bench.candidate(next) else { continue };
        tried += 1;
        let present = best.as_mut().map_or(&mut first, |(_, best)| best);
        if !bench.beats(&mut candidate, present, ROUNDS)? || !bench.agrees(&mut candidate) {
            continue;
        }
        best = Some((next, candidate));
        leaps.failed = 0;
        // Go on from here; what was not tried from the last place waits.
        at = at.min(others.len());
        others.splice(at..at, bench.steps_from(next));
    }
    let (mut before, mut after) = (bench.time(&mut first)?, None);
    if let Some((found, mut candidate)) = best
        && bench.beats(&mut candidate, &mut first, LAST)?
    {
        before = first.best;
        after = Some((found, candidate.best));
    }
    let (chosen, after) = after.unwrap_or((untuned, before));
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

    /// Whether one is faster than the other: in its best round and in most of them, taken in turn.
    fn beats(&self, one: &mut Candidate, other: &mut Candidate, rounds: usize) -> Result<bool, Error> {
        // What is much slower needs no rounds.
        if one.first > 1.5 * other.best && self.round(one)? > 1.25 * other.best {
            return Ok(false);
        }
        (one.best, other.best) = (f64::INFINITY, f64::INFINITY);
        let mut won = 0;
        for round in 0..rounds {
            let (mine, theirs) = if round % 2 == 0 {
                (self.round(one)?, self.round(other)?)
            } else {
                let theirs = self.round(other)?;
                (self.round(one)?, theirs)
            };
            won += usize::from(mine < theirs);
            if round == 1 && won == 0 && one.best > other.best {
                return Ok(false);
            }
        }
        Ok(one.best < BETTER * other.best && 2 * won > rounds)
    }

    /// The time of a call, in the best of some rounds.
    fn time(&self, one: &mut Candidate) -> Result<f64, Error> {
        for _ in 0..ROUNDS {
            self.round(one)?;
        }
        Ok(one.best)
    }
}
