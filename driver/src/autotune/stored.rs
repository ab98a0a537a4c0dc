//! Measured schedules in the store.

use crate::units::Make;
use serde::{Deserialize, Serialize};
use strata_core::ir::Op;
use strata_lowering::schedule::cpu::{apply, choice};
use strata_runtime::manifest::Gain;
use strata_runtime::{cpu, pool};
use strata_store::{Kind, Lookup, Parts, Store, content_hash};

/// What an entry holds.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The choice, as MLIR writes attributes.
    choice: String,
    gain: Gain,
}

/// What a measured schedule depends on: the kernel, the compiler, and the machine with the threads that share the work.
pub fn parts(kernel: &str, make: Make<'_>) -> Parts {
    let parts = Parts::new().with("build", make.registry.build()).with("machine", cpu::machine());
    let parts = parts.with("threads", pool::global().threads().to_string()).with("cpu", &*make.target.cpu);
    parts.with("contract", make.options.contract.to_string()).with_content("kernel", kernel.as_bytes())
}

/// The name of an entry.
pub fn key(parts: &Parts) -> String {
    parts.key(Kind::Schedule).to_string()
}

/// Puts the stored schedule on a kernel; what its search had found, and the hash of the entry. An entry that cannot be used is told
/// and counts as none.
pub fn get(store: &Store, parts: &Parts, kernel: Op<'_>) -> Option<(Gain, String)> {
    let refused = |reason: &dyn std::fmt::Display| eprintln!("warning: cache entry {} is not used: {reason}", key(parts));
    let data = match store.get(&parts.key(Kind::Schedule)) {
        Lookup::Hit(entry) => entry.data,
        Lookup::Miss | Lookup::Unusable(_) => return None,
    };
    let stored: Stored = match serde_json::from_slice(&data) {
        Ok(stored) => stored,
        Err(error) => {
            refused(&error);
            return None;
        }
    };
    if !kernel.cx().parse_attr(&stored.choice).is_some_and(|choice| apply(kernel, choice)) {
        refused(&"it is no schedule of this kernel");
        return None;
    }
    Some((stored.gain, content_hash(&data)))
}

/// Stores the schedule that a kernel has; the hash of the entry, or nothing where the store takes none.
pub fn put(store: &Store, parts: &Parts, kernel: Op<'_>, gain: &Gain) -> String {
    let stored = Stored { choice: choice(kernel).to_string(), gain: gain.clone() };
    let Ok(data) = serde_json::to_vec(&stored) else { return String::new() };
    // A store that takes nothing costs the next compilation a search, not this one its result.
    store.put(Kind::Schedule, parts, &data).map_or_else(|_| String::new(), |_| content_hash(&data))
}
