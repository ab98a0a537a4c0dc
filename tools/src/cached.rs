//! Compiled programs from the store: the compiler is opened only for what is not in it.

use std::error::Error;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::compiler;
use strata_runtime::compiler::Compiler;
use strata_runtime::{Artefact, cpu};
use strata_store::{Explanation, Kind, Parts, Place, Settings, Store, program_parts, source_hash};

/// What a compiled program depends on.
///
/// # Errors
/// When the source cannot be read.
pub fn parts(source: &Path, options: &str, build: &str) -> Result<Parts, Box<dyn Error>> {
    Ok(program_parts(&source_hash(source)?, &cpu::machine(), options, build))
}

/// The store of the environment; what is wrong with it is told on standard error and it is done without.
pub fn open_store() -> Option<Store> {
    Store::open_or_warn(&Settings::default())
}

/// Says what is wrong with the store. A program that runs goes on without it.
pub fn warn(reason: &dyn std::fmt::Display) {
    eprintln!("warning: {reason}");
}

/// The hash that the compiler library was built from. It is asked once for each library file and then kept.
///
/// # Errors
/// When there is no compiler library, it does not open, or it is of another build than this tool.
pub fn build(store: &Store) -> Result<String, Box<dyn Error>> {
    let path = Compiler::find()?;
    let meta = std::fs::metadata(&path)?;
    let time = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let parts = Parts::new().with("library", path.to_string_lossy()).with("bytes", meta.len().to_string()).with("time", time.to_string());
    if let Some(known) = store.get(&parts.key(Kind::Build)).data().and_then(|data| String::from_utf8(data).ok()) {
        compiler::check_build(&known)?;
        return Ok(known);
    }
    let build = compiler::open()?.build();
    if let Err(error) = store.put(Kind::Build, &parts, build.as_bytes()) {
        warn(&error);
    }
    Ok(build)
}

/// The artefact of a source, if the store has it. What is not there the compiler makes and puts there.
pub fn find(source: &Path, parts: &Parts, store: &Store) -> Option<Artefact> {
    let key = parts.key(Kind::Artefact);
    let artefact = Artefact::from_bytes(&store.get(&key).data()?);
    let artefact = artefact.map_err(|error| warn(&format!("cache entry {key} is not used: {error}"))).ok()?;
    // Else it was compiled with other measured schedules than there are now.
    let current = store.holds(artefact.manifest.tuned.iter().map(|tuned| (&*tuned.key, &*tuned.entry)));
    current.then(|| artefact.of_source(source))
}

/// Says in a line or more why a program is or is not in the store.
pub fn explain(store: &Store, parts: &Parts) -> String {
    match store.explain(Kind::Artefact, parts) {
        Explanation::Hit(Place::Disk) => "in the cache".into(),
        Explanation::Hit(Place::Remote) => "remote hit: taken from the team's cache".into(),
        Explanation::Nothing => "not in the cache: nothing was compiled yet".into(),
        Explanation::Nearest(differences) => {
            let short = |value: Option<String>| value.map_or_else(|| "none".into(), |value| value.chars().take(60).collect::<String>());
            let lines = differences
                .into_iter()
                .map(|part| format!("\n  {}: here {}, in the nearest entry {}", part.name, short(part.wanted), short(part.found)));
            format!("not in the cache; what differs:{}", lines.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program_parts;

    #[test]
    fn the_compilers_defaults_say_nothing() {
        let options = strata_driver::Options { autotune_budget: Some(strata_driver::BUDGET), ..Default::default() };
        let parts = |options: &str| program_parts("", "", options, "");
        assert_eq!(parts(&serde_json::to_string(&options).expect("options are JSON")), parts("{}"));
    }
}
