//! Compiled programs from the store: the compiler is opened only for what is not in it.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::compiler;
use serde_json::{Value, json};
use strata_runtime::compiler::Compiler;
use strata_runtime::{Artefact, cpu};
use strata_store::{Explanation, Key, Kind, Lookup, Parts, Place, Settings, Store, content_hash, source_hash};

/// What a compiled program depends on.
///
/// # Errors
/// When the source cannot be read.
pub fn parts(source: &Path, options: &str, build: &str) -> Result<Parts, Box<dyn Error>> {
    Ok(parts_of(source_hash(source)?, options, build))
}

/// [`parts`] of a program that never was on disk; its ending says what the text is.
pub fn parts_of_text(name: &Path, text: &str, options: &str, build: &str) -> Parts {
    let kind = name.extension().unwrap_or_default().to_string_lossy();
    parts_of(format!("{kind} {}", content_hash(text.as_bytes())), options, build)
}

fn parts_of(source: String, options: &str, build: &str) -> Parts {
    Parts::new().with("build", build).with("machine", cpu::machine()).with("options", canonical(options)).with("source", source)
}

/// Values of options that mean what another value means; the default is to say nothing.
fn same() -> [(&'static str, Value, Value); 8] {
    [
        ("autotune_budget", json!(30.0), Value::Null),
        ("cpu", json!(""), Value::Null),
        ("dynamic", json!("auto"), Value::Null),
        ("dynamic", json!("on"), Value::Null),
        ("mode", json!("default"), Value::Null),
        ("numerics", json!("ulp"), Value::Null),
        ("target", json!("cpu"), Value::Null),
        ("target", json!("cuda"), json!("cuda:sm_80")),
    ]
}

/// Options that make no other code.
const NO_MATTER: &[&str] = &["cache", "cache_local", "verify"];

/// The options in the one form that all have which ask for the same code. What is no object of options is left to the compiler.
fn canonical(options: &str) -> String {
    let Ok(mut options) = serde_json::from_str::<BTreeMap<String, Value>>(options) else { return options.to_owned() };
    for (name, value, meaning) in same() {
        if let Some(found) = options.get_mut(name).filter(|found| **found == value) {
            *found = meaning;
        }
    }
    // A device records calls in that mode.
    if options.get("target").is_none_or(Value::is_null) && options.get("mode").is_some_and(|mode| mode == "reduce-overhead") {
        options.remove("mode");
    }
    if let Some(Value::Array(skip)) = options.get_mut("skip") {
        skip.sort_unstable_by_key(Value::to_string);
        skip.dedup();
    }
    let nothing = |value: &Value| [Value::Null, json!(false), json!([]), json!("")].contains(value);
    options.retain(|name, value| !nothing(value) && !NO_MATTER.contains(&name.as_str()));
    json!(options).to_string()
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

/// The artefact of a source: from the store, or compiled now and put there.
///
/// # Errors
/// What the compiler says, or that the source cannot be read. A store that fails is a warning.
pub fn artefact(
    source: &Path,
    parts: &Parts,
    store: &Store,
    compile: impl FnOnce() -> Result<Artefact, Box<dyn Error>>,
) -> Result<Artefact, Box<dyn Error>> {
    let key = parts.key(Kind::Artefact);
    if let Lookup::Hit(entry) = store.get(&key) {
        match Artefact::from_bytes(&entry.data) {
            Ok(artefact) if has_schedules(store, &artefact) => return Ok(of(artefact, source)),
            // It was compiled with other measured schedules than there are now.
            Ok(_) => {}
            Err(error) => warn(&format!("cache entry {key} is not used: {error}")),
        }
    }
    let artefact = compile()?;
    if let Err(error) = store.put(Kind::Artefact, parts, &artefact.to_bytes()) {
        warn(&error);
    }
    Ok(artefact)
}

/// Whether the measured schedules that a program was compiled with are those that are stored.
fn has_schedules(store: &Store, artefact: &Artefact) -> bool {
    artefact.manifest.tuned.iter().all(|tuned| {
        let data = Key::parse(&tuned.key).and_then(|key| store.get(&key).data());
        data.map(|data| content_hash(&data)).unwrap_or_default() == tuned.entry
    })
}

/// A stored program under the name of this source, with the weights of this source.
fn of(mut artefact: Artefact, source: &Path) -> Artefact {
    let file = source.canonicalize().unwrap_or_else(|_| source.to_owned()).display().to_string();
    artefact.manifest.name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Weights that whoever loads the program brings are in no file.
    for weight in artefact.manifest.weights.iter_mut().filter(|weight| !weight.source.file.is_empty()) {
        weight.source.file.clone_from(&file);
    }
    artefact
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
    use super::canonical;

    fn check(options: &str, wanted: &str) {
        assert_eq!(canonical(options), wanted, "{options}");
    }

    #[test]
    fn equal_options_have_one_form() {
        check("{}", "{}");
        check(r#"{"numerics": "ulp", "dynamic": "auto", "mode": "default", "target": "cpu", "cpu": "", "part": ""}"#, "{}");
        check(
            r#"{"mode": "reduce-overhead", "dynamic": "on", "cache": true, "cache_local": true, "verify": true, "profile": false}"#,
            "{}",
        );
        check(r#"{"skip": ["winograd", "cse", "winograd"]}"#, r#"{"skip":["cse","winograd"]}"#);
        check(r#"{"mode": "max-autotune", "autotune_budget": 30.0}"#, r#"{"mode":"max-autotune"}"#);
        check(r#"{"target": "cuda"}"#, r#"{"target":"cuda:sm_80"}"#);
    }

    #[test]
    fn other_options_have_other_forms() {
        check(r#"{"numerics": "fast", "dynamic": "off", "sizes": "4x8"}"#, r#"{"dynamic":"off","numerics":"fast","sizes":"4x8"}"#);
        check(r#"{"mode": "reduce-overhead", "target": "cuda:sm_80"}"#, r#"{"mode":"reduce-overhead","target":"cuda:sm_80"}"#);
        check(r#"{"autotune_budget": 3.0, "mode": "max-autotune"}"#, r#"{"autotune_budget":3.0,"mode":"max-autotune"}"#);
        check("no options", "no options");
    }

    #[test]
    fn the_compilers_defaults_say_nothing() {
        let options = strata_driver::Options { autotune_budget: Some(strata_driver::BUDGET), ..Default::default() };
        check(&serde_json::to_string(&options).expect("options are JSON"), "{}");
    }
}
