//! `--explain-autotune`: which schedules were measured, and what that gained.

use std::collections::BTreeMap;

use strata_runtime::Manifest;
use strata_runtime::manifest::{Tuned, Tuning};

/// A line for each kernel, and one for all.
pub fn explain(manifest: &Manifest) -> String {
    let tuned = &manifest.tuned;
    if tuned.is_empty() {
        return "no schedule was measured; that is what --mode=max-autotune is for".to_owned();
    }
    let count = |wanted: fn(&Tuning) -> bool| tuned.iter().filter(|tuned| wanted(&tuned.how)).count();
    let (searched, stored) = (count(|how| *how == Tuning::Searched), count(|how| *how == Tuning::Stored));
    // Equal kernels share an entry, and were searched for once.
    let gains: BTreeMap<_, _> = tuned.iter().filter(|tuned| tuned.how == Tuning::Searched).map(|tuned| (&tuned.key, &tuned.gain)).collect();
    let tried: u64 = gains.into_values().flatten().map(|gain| gain.tried).sum();
    let head = format!("{} kernels: {searched} searched with {tried} schedules tried, {stored} stored", tuned.len());
    std::iter::once(head).chain(tuned.iter().map(line)).collect::<Vec<_>>().join("\n")
}

fn line(tuned: &Tuned) -> String {
    let how = match &tuned.how {
        Tuning::Searched => "searched".to_owned(),
        Tuning::Stored => "stored".to_owned(),
        Tuning::Untuned(reason) => format!("not measured: {reason}"),
    };
    let gain = tuned.gain.as_ref().map(|gain| {
        let ratio = gain.before / gain.after;
        format!(", {} tried: {:.2} -> {:.2} us ({ratio:.2}x)", gain.tried, gain.before, gain.after)
    });
    format!("  {:<28} {how}{}", tuned.kernel, gain.unwrap_or_default())
}
