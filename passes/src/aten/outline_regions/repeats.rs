//! The layers of a program that names no modules: operations that come again in the same order.

use std::collections::{BTreeSet, HashMap};

use strata_core::ir::Op;
use strata_core::likeness::Likeness;

use super::region::{Modules, steps};

/// Shorter runs are statements rather than layers.
const SHORTEST: usize = 8;

/// Runs of operations that follow each other at least twice, the one period that covers most of the function.
///
/// Here operations are equal when their names, attributes and types are; whether a run also reads and gives the same is for the
/// caller to see. Where a run may begin at several operations it begins where the fewest values cross.
pub(super) fn repeats<'c>(function: Op<'c>) -> Vec<Modules<'c>> {
    let ops = steps(function);
    let kinds = kinds(&ops);
    let Some((period, runs)) = periods(&kinds).into_iter().map(|period| (period, runs(&kinds, period))).max_by_key(|(period, runs)| {
        let covered: usize = runs.iter().map(|(_, length)| length / period * period).sum();
        (covered, std::cmp::Reverse(*period))
    }) else {
        return Vec::new();
    };
    let crossing = crossing(&ops);
    let begins = runs.into_iter().flat_map(|(first, length)| {
        // Between the first two layers: before the first one less is computed.
        let begin = (first..=first + length % period).min_by_key(|&at| crossing[at + period]).unwrap_or(first);
        (begin..).step_by(period).take(length / period)
    });
    let layer = |(at, begin): (usize, usize)| Modules {
        name: format!("repeat.{at}"),
        kind: "repeat.*".to_owned(),
        depth: 1,
        ops: ops[begin..begin + period].to_vec(),
    };
    begins.enumerate().map(layer).collect()
}

/// A number for each operation, the same for those that are alike but for what they read.
fn kinds(ops: &[Op<'_>]) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let mut kinds = Vec::new();
    for op in ops {
        // Values that it was not told of are one and the same to it.
        let mut like = Likeness::default();
        like.op(*op);
        let next = numbers.len();
        kinds.push(*numbers.entry(like).or_insert(next));
    }
    kinds
}

/// How far operations are from the next one of their kind: a period is among these, for some operation is in each layer once.
fn periods(kinds: &[usize]) -> BTreeSet<usize> {
    let mut next = HashMap::new();
    let distances = kinds.iter().enumerate().rev().filter_map(|(at, kind)| next.insert(kind, at).map(|later: usize| later - at));
    distances.filter(|&distance| distance >= SHORTEST).collect()
}

/// Where operations are those a period before, for a period or longer: the first of each run, and its length.
fn runs(kinds: &[usize], period: usize) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut same = 0;
    for at in period..=kinds.len() {
        if at < kinds.len() && kinds[at] == kinds[at - period] {
            same += 1;
            continue;
        }
        if same >= period {
            runs.push((at - same - period, same + period));
        }
        same = 0;
    }
    runs
}

/// How many values are computed before each operation and read at it or after.
fn crossing(ops: &[Op<'_>]) -> Vec<usize> {
    let places: HashMap<_, _> = ops.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let mut last: Vec<usize> = (0..ops.len()).collect();
    for (at, op) in ops.iter().enumerate() {
        for value in op.operands() {
            if let Some(&place) = value.defining_op().and_then(|op| places.get(&op)) {
                last[place] = at;
            }
        }
    }
    let (mut begin, mut end) = (vec![0; ops.len() + 1], vec![0; ops.len() + 1]);
    for (place, &last) in last.iter().enumerate().filter(|&(place, &last)| last > place) {
        begin[place + 1] += 1;
        end[last + 1] += 1;
    }
    let mut open = 0;
    let counts = begin.iter().zip(&end).map(|(begin, end)| {
        open = open + begin - end;
        open
    });
    counts.collect()
}
