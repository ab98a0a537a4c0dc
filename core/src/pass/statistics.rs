//! What passes counted, added up over all runs in the process.

use super::PassDef;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// One counter of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistic {
    /// The pass.
    pub pass: &'static str,
    /// The counter.
    pub name: &'static str,
    /// What it counts.
    pub doc: &'static str,
    /// How much.
    pub count: u64,
}

type Counts = BTreeMap<(&'static str, &'static str), (&'static str, u64)>;

static COUNTS: Mutex<Counts> = Mutex::new(BTreeMap::new());

/// Adds the counts of one run.
pub(crate) fn record(def: &PassDef, counts: &[u64]) {
    if counts.is_empty() {
        return;
    }
    let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    for (statistic, count) in def.statistics.iter().zip(counts) {
        all.entry((def.argument, statistic.name)).or_insert((statistic.doc, 0)).1 += count;
    }
}

/// All counters so far, by pass and name.
pub fn statistics() -> Vec<Statistic> {
    let all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().map(|(&(pass, name), &(doc, count))| Statistic { pass, name, doc, count }).collect()
}
