//! From a program that goes wrong to a small one that goes wrong in the same way.

use std::time::{Duration, Instant};

use crate::case::{Case, Edit};
use crate::check::Verdict;
use crate::worker::Worker;

/// How much of a program there is.
fn weight(case: &Case) -> Option<usize> {
    let graph = case.graph()?;
    let live = graph.live();
    let values = (0..live.len()).filter(|&v| live[v]);
    Some(
        values
            .map(|v| 60 + 30 * graph.uses(v).len() + graph.types[v].elements() as usize + 20 * usize::from(graph.types[v].is_dynamic()))
            .sum::<usize>()
            + 40 * graph.outputs.len()
            + 40 * graph.skip.len()
            + 30 * usize::from(graph.special),
    )
}

/// The smallest case found before the time is over, and its verdict.
pub fn shrink(worker: &mut Worker, case: &Case, verdict: Verdict, most: Duration) -> std::io::Result<(Case, Verdict)> {
    let (mut best, mut shown, start) = (case.clone(), verdict, Instant::now());
    let Verdict::Wrong(kind, _) = shown.clone() else { return Ok((best, shown)) };
    'smaller: while let Some(graph) = best.graph() {
        for edit in Edit::of(&graph) {
            if start.elapsed() > most {
                break 'smaller;
            }
            let next = best.with(edit);
            if weight(&next).zip(weight(&best)).is_none_or(|(a, b)| a >= b) {
                continue;
            }
            let found = worker.check(&next)?;
            if matches!(&found, Verdict::Wrong(other, _) if *other == kind) {
                (best, shown) = (next, found);
                continue 'smaller;
            }
        }
        break;
    }
    Ok((best, shown))
}
